// Operands of PTX instructions: whether a value fits an operand of a form, and what it
// becomes in the call.
#include "parser/device/ptx_operand.h"

#include "ir/fold.h"
#include "parser/device/ptx_form.h"
#include "parser/tir/call.h"

#include <string.h>

bool tvms_ptx_unfit(tvms_ptx_work *w, const char *name, const char *wanted) {
  w->misfit = (tvms_ptx_misfit){
      .kind = TVMS_PTX_MISFIT_OPERAND, .name = name, .wanted = wanted};
  return false;
}

static bool is_literal(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_BOOL
         || value.kind == TVMS_EVAL_FLOAT;
}

static bool has_dtype(const tvms_node *node, const char *text) {
  char buffer[TVMS_DTYPE_TEXT];
  return node && tvms_node_class_of(node) == TVMS_CLASS_EXPR
         && strcmp(tvms_dtype_text(node->dtype, buffer), text) == 0;
}

static bool is_pointer(const tvms_node *node) {
  return node && tvms_node_class_of(node) == TVMS_CLASS_EXPR
         && tvms_dtype_is_handle(node->dtype);
}

bool tvms_ptx_is_integer(const tvms_node *node) {
  return node && tvms_node_class_of(node) == TVMS_CLASS_EXPR && node->dtype.lanes == 1
         && (node->dtype.code == TVMS_INT || node->dtype.code == TVMS_UINT);
}

tvms_node *tvms_ptx_constant(tvms_ptx_work *w, tvms_eval_value value,
                             tvms_dtype dtype) {
  tvms_span span = tvms_reader_span_of(w->reader, w->call);
  if (!tvms_dtype_is_real(dtype)) {
    return tvms_build_int(w->reader->unit, dtype, value.as.i, span);
  }
  double number = value.kind == TVMS_EVAL_FLOAT ? value.as.f : (double)value.as.i;
  return tvms_build_float(w->reader->unit, dtype, number, span);
}

// ---- Registers ------------------------------------------------------------------------------

static tvms_dtype uint32_dtype(void) {
  return TVMS_DTYPE(UINT, 32);
}

bool tvms_ptx_is_truth(const tvms_node *node) {
  return has_dtype(node, "bool") || has_dtype(node, "uint32")
         || has_dtype(node, "int32");
}

// A predicate: what is one by its type, or T.ptx.pred(x).
static bool put_predicate(tvms_ptx_work *w, const tvms_ptx_operand *operand,
                          uint32_t at) {
  tvms_eval_value value = w->operands[at];
  tvms_node *node = w->nodes[at];
  if (operand->written) {
    bool good =
        node && node->kind == TVMS_NODE_BUFFER_LOAD && has_dtype(node, "uint32");
    if (!good)
      return tvms_ptx_unfit(w, operand->name, "an element or a scalar of uint32");
    tvms_ptx_push(w, node);
    return true;
  }
  bool tagged = value.kind == TVMS_EVAL_PTX && value.len == TVMS_PTX_PREDICATE;
  tvms_eval_value inner = tagged ? value.as.items[0] : value;
  bool number = inner.kind == TVMS_EVAL_BOOL || (tagged && inner.kind == TVMS_EVAL_INT);
  if (number) {
    tvms_ptx_push(w, tvms_ptx_constant(w, inner, uint32_dtype()));
    return true;
  }
  if (!(tagged ? tvms_ptx_is_truth(node) : has_dtype(node, "bool"))) {
    return tvms_ptx_unfit(w, operand->name, "a bool, or an integer in T.ptx.pred(…)");
  }
  tvms_ptx_push(w, node);
  return true;
}

// The data type that the registers of an operand share; false if they share none, or its
// type has none that reads so.
static bool shared_dtype(tvms_ptx_work *w, const tvms_ptx_operand *operand, uint32_t at,
                         tvms_dtype *dtype) {
  const tvms_ptx_type *type = tvms_ptx_type_of(operand->what);
  bool known = false;
  *dtype = (tvms_dtype){0};
  for (uint32_t i = at; i < at + operand->count; i++) {
    if (w->operands[i].kind == TVMS_EVAL_PTX && w->operands[i].len == TVMS_PTX_SINK)
      continue;
    if (is_literal(w->operands[i])) continue;
    const tvms_node *node = w->nodes[i];
    if (!node || tvms_node_class_of(node) != TVMS_CLASS_EXPR) return false;
    if (known && !tvms_dtype_same(*dtype, node->dtype)) return false;
    *dtype = node->dtype;
    known = true;
  }
  if (!known && type->count) *dtype = type->dtypes[0];
  for (uint32_t i = 0; i < type->count; i++) {
    if (tvms_dtype_same(type->dtypes[i], *dtype)) return true;
  }
  return false;
}

// The text of a data type, to be said later.
static const char *kept_text(tvms_ptx_work *w, tvms_dtype dtype) {
  char buffer[TVMS_DTYPE_TEXT];
  const char *text = tvms_dtype_text(dtype, buffer);
  return tvms_arena_text(&w->reader->values, text, strlen(text));
}

static bool put_register(tvms_ptx_work *w, const tvms_ptx_operand *operand, uint32_t at,
                         tvms_dtype dtype) {
  tvms_eval_value value = w->operands[at];
  tvms_node *node = w->nodes[at];
  if (value.kind == TVMS_EVAL_PTX && value.len == TVMS_PTX_SINK) return true;
  if (value.kind == TVMS_EVAL_PTX) {
    return tvms_ptx_unfit(w, operand->name, tvms_ptx_type_of(operand->what)->text);
  }
  if (operand->written && !(node && node->kind == TVMS_NODE_BUFFER_LOAD)) {
    return tvms_ptx_unfit(w, operand->name,
                          "an element of a buffer or a mutable scalar");
  }
  if (is_literal(value)) {
    if (value.kind == TVMS_EVAL_FLOAT && dtype.code != TVMS_FLOAT) {
      return tvms_ptx_unfit(w, operand->name, kept_text(w, dtype));
    }
    node = tvms_ptx_constant(w, value, dtype);
  }
  tvms_ptx_push(w, node);
  return true;
}

static bool put_registers(tvms_ptx_work *w, const tvms_ptx_operand *operand,
                          uint32_t at) {
  tvms_dtype dtype;
  if (!shared_dtype(w, operand, at, &dtype)) {
    return tvms_ptx_unfit(w, operand->name, tvms_ptx_type_of(operand->what)->text);
  }
  for (uint32_t i = 0; i < operand->count; i++) {
    if (!put_register(w, operand, at + i, dtype)) return false;
  }
  return true;
}

// ---- Addresses and numbers ------------------------------------------------------------------

static tvms_node *call_of(tvms_ptx_work *w, tvms_node *like, tvms_dtype dtype,
                          tvms_tir_opcode opcode, tvms_node **args, uint32_t count) {
  tvms_node *call = tvms_call_new_of(w->reader->unit, dtype, opcode, args, count,
                                     tvms_reader_span_of(w->reader, w->call));
  if (like) call->sinfo = like->sinfo;
  return call;
}

static bool is_shared_pointer(const tvms_ptx_work *w, const tvms_node *node) {
  if (!node->sinfo || node->sinfo->kind != TVMS_NODE_SINFO_POINTER) return false;
  tvms_sym scope = tvms_as_sinfo_pointer(node->sinfo)->scope;
  return scope
         && strncmp(tvms_symbol_text(w->reader->context, scope), "shared", 6) == 0;
}

// What an address becomes in the call; NULL after a misfit.
static tvms_node *address(tvms_ptx_work *w, const tvms_ptx_operand *operand,
                          tvms_node *node) {
  const char *space = tvms_ptx_words[operand->what];
  bool shared = strncmp(space, "shared", strlen("shared")) == 0;
  const char *wanted = shared ? "a pointer, or an address of uint32"
                              : "a pointer that is not shared, or an address of uint64";
  if (strcmp(space, "tmem") == 0) {
    if (has_dtype(node, "uint32")) return node;
    wanted = "an address of uint32";
  } else if (shared && is_pointer(node)) {
    return call_of(w, NULL, uint32_dtype(), TVMS_TIR_cuda__cvta_generic_to_shared,
                   &node, 1);
  } else if (shared) {
    if (has_dtype(node, "uint32")) return node;
  } else if (is_pointer(node)) {
    if (!is_shared_pointer(w, node)) return node;
  } else if (has_dtype(node, "uint64")) {
    return call_of(w, NULL, TVMS_DTYPE(HANDLE, 64), TVMS_TIR_reinterpret, &node, 1);
  }
  (void)tvms_ptx_unfit(w, operand->name, wanted);
  return NULL;
}

static bool put_address(tvms_ptx_work *w, const tvms_ptx_operand *operand,
                        uint32_t at) {
  tvms_eval_value value = w->operands[at];
  if (value.kind == TVMS_EVAL_PTX && !(tvms_ptx_is_pair(value) && operand->offset)) {
    return tvms_ptx_unfit(w, operand->name, "an address without T.ptx.addr");
  }
  tvms_node *node = address(w, operand, w->nodes[at]);
  if (!node) return false;
  if (tvms_ptx_is_pair(value)) {
    tvms_node *pair[] = {node, value.as.items[1].as.node};
    node = call_of(w, node, node->dtype, TVMS_TIR_ptx__addr, pair, 2);
  }
  tvms_ptx_push(w, node);
  return true;
}

static bool put_pointer(tvms_ptx_work *w, const tvms_ptx_operand *operand,
                        uint32_t at) {
  if (!is_pointer(w->nodes[at])) return tvms_ptx_unfit(w, operand->name, "a pointer");
  tvms_ptx_push(w, w->nodes[at]);
  return true;
}

static bool is_listed(tvms_ptx_slice numbers, int64_t number) {
  for (uint32_t i = 0; i < numbers.count; i++) {
    if (tvms_ptx_numbers[numbers.first + i] == number) return true;
  }
  return false;
}

static bool put_number(tvms_ptx_work *w, const tvms_ptx_operand *operand, uint32_t at) {
  tvms_eval_value value = w->operands[at];
  tvms_node *node = w->nodes[at];
  bool known = value.kind == TVMS_EVAL_INT;
  if (node && node->kind == TVMS_NODE_INT_IMM) {
    value = tvms_eval_value_int(tvms_as_int_imm(node)->value);
    known = true;
  }
  if (!known) {
    if (operand->numbers.count || !tvms_ptx_is_integer(node)) {
      return tvms_ptx_unfit(w, operand->name, "a constant number");
    }
    tvms_ptx_push(w, node);
    return true;
  }
  if (operand->numbers.count && !is_listed(operand->numbers, value.as.i)) {
    return tvms_ptx_unfit(w, operand->name,
                          "one of the numbers that the instruction takes");
  }
  tvms_ptx_push(w, tvms_ptx_constant(w, value, TVMS_DTYPE(INT, 32)));
  return true;
}

// ---- Operands -------------------------------------------------------------------------------

// Notes what is sunk; what is written there must not be all of an operand.
static bool check_sinks(tvms_ptx_work *w, const tvms_ptx_operand *operand,
                        uint32_t at) {
  uint32_t sunk = 0;
  for (uint32_t i = at; i < at + operand->count; i++) {
    sunk += w->operands[i].kind == TVMS_EVAL_PTX && w->operands[i].len == TVMS_PTX_SINK;
  }
  if (!sunk) return true;
  if (!operand->sinks || operand->kind != TVMS_PTX_REGISTER) {
    return tvms_ptx_unfit(w, operand->name, "a value; T.ptx.SINK cannot stand for it");
  }
  if (sunk == operand->count) {
    return tvms_ptx_unfit(w, operand->name, "a value in at least one register");
  }
  return true;
}

bool tvms_ptx_is_predicate(const tvms_ptx_operand *operand) {
  return operand->kind == TVMS_PTX_REGISTER
         && strcmp(tvms_ptx_words[operand->what], "pred") == 0;
}

bool tvms_ptx_put_operand(tvms_ptx_work *w, const tvms_ptx_operand *operand,
                          uint32_t at) {
  if (!check_sinks(w, operand, at)) return false;
  if (operand->kind == TVMS_PTX_REGISTER && !tvms_ptx_is_predicate(operand)) {
    return operand->count == 0 || put_registers(w, operand, at);
  }
  for (uint32_t i = at; i < at + operand->count; i++) {
    bool good = false;
    switch (operand->kind) {
    case TVMS_PTX_REGISTER: good = put_predicate(w, operand, i); break;
    case TVMS_PTX_ADDRESS: good = put_address(w, operand, i); break;
    case TVMS_PTX_POINTER: good = put_pointer(w, operand, i); break;
    case TVMS_PTX_NUMBER: good = put_number(w, operand, i); break;
    }
    if (!good) return false;
  }
  return true;
}
