// Packed functions in C text: arguments in an array of words, tensors beside them.
//
// What a text needs for them stands in its head once: prototypes of libtvms_rt.a, and the search for
// functions of whoever loaded the library. backend/llvm/packed.c and boxes.c make the same.
#include "backend/c/packed.h"

#include "backend/c/entry.h"
#include "backend/c/expr.h"
#include "backend/c/memory.h"
#include "backend/core/boxes.h"
#include "backend/core/layout.h"
#include "backend/core/place.h"
#include "interp/meaning.h"
#include "interp/result.h"
#include "interp/structs.h"
#include "ir/build.h"
#include "ir/op.h"
#include "runtime/abi.h"

static const char host_text[] =
    "__attribute__((weak)) int TVMFFIEnvModLookupFromImports(void *, const char *, void **);\n"
    "__attribute__((weak)) int TVMFFIFunctionCall(void *, void *, i32, void *);\n"
    "__attribute__((weak)) int (*__TVMFFIEnvModLookupFromImports)(void *, const char *, void **) = 0;\n"
    "__attribute__((weak)) int (*__TVMFFIFunctionCall)(void *, void *, i32, void *) = 0;\n"
    "__attribute__((weak)) void *__tvm_ffi__library_ctx = 0;\n"
    "static int hold_alone(struct held *held) {\n"
    "  return hold(held, \"RuntimeError\", \"packed functions are called by TVM's run time, which did not load this library\");\n"
    "}\n"
    "static int find_host(struct held *held, const char *name, void **function) {\n"
    "  int (*find)(void *, const char *, void **) = __TVMFFIEnvModLookupFromImports;\n"
    "  if (!find) find = TVMFFIEnvModLookupFromImports;\n"
    "  if (!find) return hold_alone(held);\n"
    "  return find(__tvm_ffi__library_ctx, name, function) ? hold_nothing(held) : 0;\n"
    "}\n"
    "static int call_host(struct held *held, const char *name, i64 *args, i32 count, i64 *result) {\n"
    "  int (*call)(void *, void *, i32, void *) = __TVMFFIFunctionCall;\n"
    "  void *function = 0;\n"
    "  if (!call) call = TVMFFIFunctionCall;\n"
    "  if (!call) return hold_alone(held);\n"
    "  if (find_host(held, name, &function)) return -1;\n"
    "  return call(function, args, count, result) ? hold_nothing(held) : 0;\n"
    "}\n"
    // The number that a function gave: 1 is an integer, 2 a truth, 3 a float, 4 a pointer.
    "static inline f64 given_real(const i64 *result) {\n"
    "  i32 kind = (i32)result[0];\n"
    "  return kind == 3 ? real_of(result[1]) : kind > 0 && kind < 5 ? (f64)result[1] : 0;\n"
    "}\n"
    "static inline i64 given_whole(const i64 *result) {\n"
    "  i32 kind = (i32)result[0];\n"
    "  return kind == 3 ? to_i64(real_of(result[1])) : kind > 0 && kind < 5 ? result[1] : 0;\n"
    "}\n";

static const char box_text[] =
    "void tvms_box_drop(void *, i64);\n"
    "void tvms_box_put(void *, const void *);\n"
    "int tvms_box_call(int (*)(void *, const void *, i32, void *), void *, const void *, i32, void *);\n"
    // What the run time calls, with the address of the field `raise` or without.
    "static void hold_text(void *self, const char *kind, const char *text) {\n"
    "  struct held *held = (void *)((char *)self - __builtin_offsetof(struct held, raise));\n"
    "  if (!self) fail(kind, text);\n"
    "  else filled(held, kind, 0, __builtin_snprintf(held->room, sizeof held->room, \"%s\", text));\n"
    "}\n"
    "static void *raiser_of(struct held *held) {\n"
    "  held->kind = 0, held->raise = hold_text;\n"
    "  return &held->raise;\n"
    "}\n";

static void need(c_emitter *e, bool *there, const char *text) {
  if (!*there) tvms_strbuf_puts(&e->head, text);
  *there = true;
}

static void need_boxes(c_emitter *e) {
  need(e, &e->has_boxes, box_text);
}

// Goes on if a call gave 0.
static void check_status(c_emitter *e, const char *call, tvms_span span) {
  const char *place = "-1";
  if (e->room == C_RELAX)
    place = tvms_c_text(
        e, "add_place(held, %s, \"\")",
        tvms_c_literal(e, tvms_place_text(e->context, e->member, span, "", false)));
  tvms_c_open(e, "if (%s)", call);
  tvms_c_free_from(e, 0);
  tvms_c_line(e, "return %s;", place);
  tvms_c_close(e);
}

// ---- Tensors ----

static bool is_shape(const tvms_node *node) {
  return node->kind == TVMS_NODE_CALL
         && tvms_call_opcode(node) == TVMS_TIR_tvm_stack_make_shape;
}

// The numbers of a T.tvm_stack_make_shape; "0" if it is none.
static const char *sizes_of(c_emitter *e, const tvms_node *node) {
  if (!is_shape(node)) return "(ptr)0";
  tvms_list items = tvms_as_call(node)->args;
  const char *name = tvms_c_text(e, "a%u", e->next++);
  tvms_c_line(e, "i64 %s[%u];", name, items.len ? items.len : 1);
  for (uint32_t i = 0; i < items.len; i++)
    tvms_c_line(e, "%s[%u] = %s;", name, i, tvms_c_index(e, items.items[i]));
  return name;
}

// tvm_stack_make_array(data, shape, strides, ndim, an element, offset in elements)
static const char *tensor_of(c_emitter *e, const tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  bool good = args.len == 6 && is_shape(args.items[1])
              && tvms_node_is_int(args.items[3], tvms_as_call(args.items[1])->args.len);
  if (!good) tvms_c_refuse(e, node->span, "T.tvm_stack_make_array");
  tvms_dl_type type = tvms_interp_dl_type_of(args.items[4]->dtype);
  uint32_t word = type.code | (uint32_t)type.bits << 8 | (uint32_t)type.lanes << 16;
  const char *data = is_shape(args.items[0]) ? sizes_of(e, args.items[0])
                                             : tvms_c_expr(e, args.items[0]);
  const char *shape = sizes_of(e, args.items[1]), *strides = sizes_of(e, args.items[2]);
  const char *offset = tvms_c_index(e, args.items[5]);
  const char *name = tvms_c_text(e, "a%u", e->next++);
  tvms_c_line(
      e,
      "struct tensor %s = {.data = (ptr)%s, .device_type = %d, .ndim = %lld, .dtype = %uu, "
      ".shape = (ptr)%s, .strides = (ptr)%s, .byte_offset = (u64)%s * %llu};",
      name, data, TVMS_DL_CPU, (long long)tvms_as_int_imm(args.items[3])->value, word,
      shape, strides, offset, (unsigned long long)tvms_dl_element_size(type));
  return tvms_c_text(e, "&%s", name);
}

// ---- Arguments ----

static bool is_call_of(const tvms_node *node, tvms_tir_opcode op) {
  return node->kind == TVMS_NODE_CALL && tvms_call_opcode(node) == op;
}

// The address of an item of a list.
static const char *item_at(c_emitter *e, const tvms_node *list,
                           const tvms_node *index) {
  const char *base = tvms_c_expr(e, list);
  return tvms_c_text(e, "((i64m *)(%s) + 2 * (i64)(%s))", base, tvms_c_index(e, index));
}

// The name of the entry of a function of the module, which may come later.
static const char *entry_of(c_emitter *e, const tvms_member *member) {
  const char *name = tvms_c_entry_name(e, member);
  tvms_vec_push(&e->context->memory, &e->called, member);
  tvms_strbuf_printf(&e->head, "%sint %s(void *, const void *, i32, void *);\n",
                     tvms_c_is_exported(e, member) ? "" : "static ", name);
  return name;
}

static void put_argument(c_emitter *e, const tvms_node *node, const char *name,
                         uint32_t at) {
  const char *value;
  int kind;
  if (is_call_of(node, TVMS_TIR_anylist_getitem) && tvms_as_call(node)->args.len == 2) {
    tvms_list args = tvms_as_call(node)->args;
    const char *item = item_at(e, args.items[0], args.items[1]);
    tvms_c_line(e, "%s[%u] = %s[0], %s[%u] = %s[1];", name, 2 * at, item, name,
                2 * at + 1, item);
    return;
  }
  if (node->kind == TVMS_NODE_STRING_IMM) {
    kind = TVMS_ANY_TEXT;
    value = tvms_c_text(e, "WORD(%s)",
                        tvms_c_literal(e, tvms_as_string_imm(node)->value.text));
  } else if (is_call_of(node, TVMS_TIR_tvm_stack_make_array)) {
    kind = TVMS_ANY_DL_TENSOR;
    value = tvms_c_text(e, "WORD(%s)", tensor_of(e, node));
  } else {
    tvms_dtype dtype = node->dtype;
    if (dtype.lanes != 1) tvms_c_refuse(e, node->span, "a vector as argument");
    bool real = tvms_dtype_is_real(dtype);
    kind = real                          ? TVMS_ANY_FLOAT
           : tvms_dtype_is_handle(dtype) ? TVMS_ANY_POINTER
           : tvms_dtype_is_bool(dtype)   ? TVMS_ANY_BOOL
                                         : TVMS_ANY_INT;
    value = tvms_c_text(e,
                        real                       ? "bits_of(%s)"
                        : kind == TVMS_ANY_POINTER ? "WORD(%s)"
                                                   : "(i64)%s",
                        tvms_c_expr(e, node));
  }
  tvms_c_line(e, "%s[%u] = %d, %s[%u] = %s;", name, 2 * at, kind, name, 2 * at + 1,
              value);
}

// The entry of a function of the module, or a function of others, as argument `at`; false: argument `i` of the call is
// neither.
static bool put_function(c_emitter *e, tvms_list args, uint32_t first, uint32_t i,
                         const char *name, uint32_t at) {
  const tvms_member *member = tvms_boxes_entry_of(e->program, args, first, i);
  const char *external = tvms_boxes_external_of(e->program, args, first, i);
  if (!member && !external) return false;
  const char *value = member ? entry_of(e, member) : tvms_c_text(e, "f%u", e->next++);
  if (external) {
    need(e, &e->has_host, host_text);
    tvms_c_line(e, "void *%s = 0;", value);
    check_status(
        e,
        tvms_c_text(e, "find_host(held, %s, &%s)", tvms_c_literal(e, external), value),
        args.items[i]->span);
  }
  tvms_c_line(e, "%s[%u] = %d, %s[%u] = WORD(%s);", name, 2 * at,
              member ? TVMS_ANY_POINTER : TVMS_ANY_FUNCTION, name, 2 * at + 1, value);
  return true;
}

// The arguments behind number `first`, which is the name.
static const char *arguments_of(c_emitter *e, tvms_list args, uint32_t first) {
  const char *name = tvms_c_text(e, "a%u", e->next++);
  tvms_c_line(e, "i64 %s[%u];", name, 2 * (args.len - first));
  for (uint32_t i = first + 1; i < args.len; i++) {
    uint32_t at = i - first - 1;
    if (!put_function(e, args, first, i, name, at))
      put_argument(e, args.items[i], name, at);
  }
  return name;
}

// ---- Calls ----

static const char *new_result(c_emitter *e) {
  const char *name = tvms_c_text(e, "a%u", e->next++);
  tvms_c_line(e, "i64 %s[2] = {0, 0};", name);
  return name;
}

// Declares a function of the run time.
static void declare(c_emitter *e, const char *symbol) {
  need_boxes(e);
  for (uint32_t i = 0; i < e->boxes.len; i++) {
    if (e->boxes.items[i] == symbol) return;
  }
  tvms_vec_push(&e->context->memory, &e->boxes, symbol);
  tvms_strbuf_printf(&e->head, "int %s(void *, const void *, i32, void *);\n", symbol);
}

static void call_box(c_emitter *e, const char *symbol, const char *args, uint32_t count,
                     const char *box, tvms_span span) {
  declare(e, symbol);
  check_status(e,
               tvms_c_text(e, "tvms_box_call(%s, raiser_of(held), %s, %u, %s)", symbol,
                           args, count, box),
               span);
}

static void call_by_host(c_emitter *e, const char *name, const char *args,
                         uint32_t count, const char *result, tvms_span span) {
  need(e, &e->has_host, host_text);
  check_status(e,
               tvms_c_text(e, "call_host(held, %s, %s, %u, %s)",
                           tvms_c_literal(e, name), args, count, result),
               span);
}

static const char *call_own(c_emitter *e, const tvms_call *call,
                            const tvms_member *member, const char *args) {
  const char *name = entry_of(e, member), *result = new_result(e);
  check_status(e,
               tvms_c_text(e, "%s(0, %s, %u, %s) && hold_nothing(held)", name, args,
                           call->args.len - 1, result),
               call->head.span);
  tvms_dtype dtype = call->head.dtype,
             made = tvms_interp_result_dtype(&e->context->memory, member->function);
  if (tvms_dtype_is_void(dtype) || tvms_dtype_is_void(made)) return "0";
  bool real = tvms_dtype_is_real(made);
  tvms_dtype wide = real ? TVMS_DTYPE(FLOAT, 64) : TVMS_DTYPE(INT, 64);
  const char *value = tvms_c_text(e, real ? "real_of(%s[1])" : "%s[1]", result);
  return tvms_c_value(e, dtype, call->head.span, tvms_c_convert(e, wide, dtype, value));
}

// The number in what a function of the host gave, as a value of the call.
static const char *number_in(c_emitter *e, const tvms_call *call, const char *result) {
  tvms_dtype dtype = call->head.dtype;
  if (tvms_dtype_is_void(dtype)) return "0";
  bool real = tvms_dtype_is_real(dtype);
  tvms_dtype wide = real ? TVMS_DTYPE(FLOAT, 64) : TVMS_DTYPE(INT, 64);
  const char *value =
      tvms_c_text(e, real ? "given_real(%s)" : "given_whole(%s)", result);
  return tvms_c_convert(e, wide, dtype, value);
}

const char *tvms_c_call_packed(c_emitter *e, const tvms_call *call) {
  const tvms_node *first = call->args.len ? call->args.items[0] : NULL;
  if (!first || first->kind != TVMS_NODE_STRING_IMM)
    tvms_c_refuse(e, call->head.span, "a packed function without a name");
  const char *name = tvms_as_string_imm(first)->value.text;
  const tvms_member *member = tvms_meaning_of_named(e->program, first);
  const char *args = arguments_of(e, call->args, 0);
  if (member) return call_own(e, call, member, args);
  const char *symbol = tvms_boxes_symbol(name), *result = new_result(e);
  if (symbol)
    call_box(e, symbol, args, call->args.len - 1, result, call->head.span);
  else
    call_by_host(e, name, args, call->args.len - 1, result, call->head.span);
  tvms_c_line(e, "if ((i32)%s[0] >= %d) drop_object(POINTER(%s[1]));", result,
              TVMS_ANY_OBJECT, result);
  return symbol ? "0" : number_in(e, call, result);
}

const char *tvms_c_set_item(c_emitter *e, const tvms_call *call) {
  tvms_list all = call->args;
  if (all.len < 3 || all.items[2]->kind != TVMS_NODE_STRING_IMM)
    tvms_c_refuse(e, call->head.span, "T.anylist_setitem_call_packed");
  const char *name = tvms_as_string_imm(all.items[2])->value.text;
  const char *box = item_at(e, all.items[0], all.items[1]);
  const char *args = arguments_of(e, all, 2), *symbol = tvms_boxes_symbol(name);
  need_boxes(e);
  if (symbol) {
    call_box(e, symbol, args, all.len - 3, box, call->head.span);
  } else {
    const char *result = new_result(e);
    call_by_host(e, name, args, all.len - 3, result, call->head.span);
    tvms_c_line(e, "tvms_box_put(%s, %s);", box, result);
  }
  return "0";
}

const char *tvms_c_reset_item(c_emitter *e, const tvms_call *call) {
  if (call->args.len != 2) tvms_c_refuse(e, call->head.span, "T.anylist_resetitem");
  need_boxes(e);
  tvms_c_line(e, "tvms_box_drop(%s, 1);",
              item_at(e, call->args.items[0], call->args.items[1]));
  return "0";
}

const char *tvms_c_stack_alloca(c_emitter *e, const tvms_call *call) {
  int64_t count = tvms_boxes_of(call);
  if (count < 0) tvms_c_refuse(e, call->head.span, "T.tvm_stack_alloca");
  need_boxes(e);
  const char *name = tvms_c_text(e, "a%u", e->next++);
  tvms_c_line(e, "i64 %s[%lld] = {0};", name, (long long)(2 * count));
  c_live live = {name, (uint32_t)count};
  tvms_vec_push(&e->context->memory, &e->memory, live);
  return tvms_c_text(e, "(ptr)%s", name);
}

// What is `wide` bytes from the begin of a tensor, or of a value, where pointers have 64 bits.
static const char *in_structure(c_emitter *e, bool tensor, int64_t wide) {
  if (!tensor) return tvms_c_text(e, "%lld", (long long)wide);
  int64_t rest;
  tvms_layout_field field = tvms_layout_in_tensor(wide, &rest);
  return tvms_c_text(e, "(AT_%s + %lld)", tvms_layout_name(field), (long long)rest);
}

const char *tvms_c_struct_get(c_emitter *e, const tvms_call *call) {
  tvms_list args = call->args;
  tvms_interp_field field = {0};
  if (args.len == 3 && tvms_node_is_int_imm(args.items[2]))
    field = tvms_interp_field_of(e->dialect, tvms_as_int_imm(args.items[2])->value);
  if (!field.type.lanes) tvms_c_refuse(e, call->head.span, "T.tvm_struct_get");
  tvms_dtype wanted = call->head.dtype, dtype = tvms_interp_field_dtype(&field, wanted);
  const char *base = tvms_c_expr(e, args.items[0]);
  bool tensor = field.stride == sizeof(tvms_dl_tensor);
  const char *at =
      tvms_c_text(e, "%s + (i64)(%s) * %s + %s", base, tvms_c_index(e, args.items[1]),
                  in_structure(e, tensor, (int64_t)field.stride),
                  in_structure(e, tensor, (int64_t)field.offset));
  const char *type = tvms_c_memory_type(e, dtype, call->head.span);
  const char *value = tvms_c_text(e, "*(%s *)(%s)", type, at);
  return tvms_c_value(e, wanted, call->head.span,
                      tvms_c_convert(e, dtype, wanted, value));
}
