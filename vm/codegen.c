// One walk over each function: an expression becomes the word of an argument, and what has to
// be done for it is emitted on the way.
//
//   y: R.Tensor = R.vm.alloc_tensor(s, 0, sh, R.dtype("float32"), 0)
//   cls.relu(x, y)                      call  vm.builtin.alloc_tensor in: %1, i0, %2, c[0] dst: %3
//   return y                            call  relu             in: %0, %3       dst: %void
//                                       ret   %3
//
// A value gets a register when its call begins, so that the numbers are those of TVM
// (src/relax/backend/vm/codegen_vm.cc); vm/builder.c numbers them anew at the end.
#include "vm/codegen.h"

#include "ir/global_symbol.h"
#include "ir/object.h"
#include "ir/omitted.h"
#include "ir/op.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"
#include "vm/builder.h"

#include <string.h>

enum { UNBOUND = -1 };  // not a word

typedef struct {
  tvms_context *context;
  const tvms_module *module;
  tvms_vm_builder builder;
  int64_t *words;  // of variables, by id; UNBOUND: it has no value
  uint32_t registers;
  int64_t begin;  // of the function in progress
} codegen;

typedef TVMS_VEC(int64_t) word_list;

static int64_t word_of(codegen *g, const tvms_node *node);

static int64_t new_register(codegen *g) {
  return g->registers++;
}

static tvms_memory *memory_of(codegen *g) {
  return &g->context->memory;
}

static tvms_bytes bytes_of(const char *text) {
  return (tvms_bytes){text, (uint32_t)strlen(text)};
}

// Reports what has no code; the word stands for it until the end.
static int64_t refuse(codegen *g, const tvms_node *node, const char *what) {
  tvms_diag_report(&g->context->diags, TVMS_D_not_for_machine, node->span, what);
  return tvms_vm_word(TVMS_VM_REGISTER, TVMS_VM_VOID);
}

static void refuse_operator(codegen *g, const tvms_call *call) {
  tvms_strbuf what;
  tvms_strbuf_init(&what, memory_of(g));
  tvms_strbuf_printf(
      &what, "operator '%s'",
      tvms_symbol_text(g->context, tvms_as_operator(call->callee)->name));
  uint32_t place;
  const char *unknown = tvms_sinfo_unknown_of(call->args, &place);
  if (unknown)
    tvms_strbuf_printf(&what, ": the %s of argument %u is not known", unknown,
                       place + 1);
  refuse(g, &call->head, tvms_strbuf_text(&what));
  tvms_strbuf_fini(&what);
}

static void emit_builtin(codegen *g, const char *name, const int64_t *arguments,
                         uint32_t count, int64_t result) {
  int64_t function =
      tvms_vm_builder_declare(&g->builder, bytes_of(name), TVMS_VM_IS_PACKED);
  tvms_vm_builder_call(&g->builder, function, arguments, count, result);
}

static int64_t in_register(codegen *g, int64_t word) {
  if (tvms_vm_word_kind(word) == TVMS_VM_REGISTER) return word;
  int64_t copy = new_register(g);
  emit_builtin(g, "vm.builtin.copy", &word, 1, copy);
  return copy;
}

// ---- Constants ----

static tvms_dl_type dl_type_of(const codegen *g, tvms_dtype dtype) {
  if (tvms_dtype_is_void(dtype)) return (tvms_dl_type){TVMS_HANDLE, 0, 0};
  tvms_dl_type type = {dtype.code, dtype.bits, (uint16_t)dtype.lanes};
  if (dtype.code != TVMS_BOOL) return type;
  bool is_uint = tvms_release_has(g->module->dialect, TVMS_FACT_bools_are_uint1);
  return is_uint ? (tvms_dl_type){TVMS_UINT, 1, type.lanes}
                 : (tvms_dl_type){TVMS_BOOL, 8, type.lanes};
}

// The numbers of a list of INT_IMM, in the context's arena. NULL if something else is in it.
static int64_t *TVMS_NULLABLE sizes_of(codegen *g, tvms_list list) {
  int64_t *sizes = tvms_arena_array(&g->context->arena, int64_t, list.len + 1);
  for (uint32_t i = 0; i < list.len; i++) {
    if (list.items[i]->kind != TVMS_NODE_INT_IMM) return NULL;
    sizes[i] = tvms_as_int_imm(list.items[i])->value;
  }
  return sizes;
}

static int64_t tensor_word(codegen *g, const tvms_node *node) {
  if (!tvms_node_refuse_omitted(g->context, node, "The virtual machine"))
    return tvms_vm_word(TVMS_VM_REGISTER, TVMS_VM_VOID);
  const tvms_constant *constant = tvms_as_constant(node);
  tvms_vm_constant value = {
      .kind = TVMS_VM_TENSOR,
      .dtype = dl_type_of(g, constant->element),
      .ndim = (int32_t)constant->shape.len,
      .shape = sizes_of(g, constant->shape),
      .data = constant->data.text,
      .size = constant->data.len,
  };
  int64_t word = tvms_vm_builder_constant(&g->builder, &value);
  const tvms_node *type = node->sinfo;
  const tvms_node *device = type && type->kind == TVMS_NODE_SINFO_TENSOR
                                ? tvms_as_sinfo_tensor(type)->vdevice
                                : NULL;
  tvms_vm_executable *e = g->builder.executable;
  int64_t index = tvms_vm_word_value(word);
  for (uint32_t i = 0; device && i < e->scopes.len; i++) {
    if (e->scopes.items[i].constant == index) device = NULL;
  }
  if (device) {
    tvms_vm_scope scope = {index, tvms_as_object_vdevice(device)->scope};
    tvms_vec_push(e->memory, &e->scopes, scope);
  }
  return word;
}

static int64_t shape_word(codegen *g, const tvms_node *node) {
  tvms_list values = tvms_as_shape_expr(node)->values;
  int64_t *sizes = sizes_of(g, values);
  if (!sizes) return refuse(g, node, "a shape that is not constant");
  return tvms_vm_builder_constant(&g->builder,
                                  &(tvms_vm_constant){.kind = TVMS_VM_SHAPE,
                                                      .ndim = (int32_t)values.len,
                                                      .shape = sizes});
}

static int64_t text_word(codegen *g, tvms_bytes text) {
  return tvms_vm_builder_constant(
      &g->builder,
      &(tvms_vm_constant){.kind = TVMS_VM_TEXT, .data = text.text, .size = text.len});
}

static int64_t string_word(codegen *g, const tvms_node *node) {
  if (!tvms_node_refuse_omitted(g->context, node, "The virtual machine"))
    return tvms_vm_word(TVMS_VM_REGISTER, TVMS_VM_VOID);
  return text_word(g, tvms_as_string_imm(node)->value);
}

static int64_t number_word(codegen *g, const tvms_node *node) {
  if (node->kind == TVMS_NODE_INT_IMM)
    return tvms_vm_builder_number(&g->builder, tvms_as_int_imm(node)->value);
  if (node->kind == TVMS_NODE_VAR && g->words[node->id] != UNBOUND)
    return g->words[node->id];
  if (node->kind != TVMS_NODE_FLOAT_IMM)
    return refuse(g, node, "a number that is not constant");
  return tvms_vm_builder_constant(
      &g->builder,
      &(tvms_vm_constant){.kind = TVMS_VM_FLOAT, .f = tvms_as_float_imm(node)->value});
}

static int64_t dtype_word(codegen *g, tvms_dtype dtype) {
  return tvms_vm_builder_constant(
      &g->builder,
      &(tvms_vm_constant){.kind = TVMS_VM_DTYPE, .dtype = dl_type_of(g, dtype)});
}

// ---- Functions ----

static int64_t function_word(codegen *g, tvms_bytes name, tvms_vm_function_kind kind) {
  return tvms_vm_word(TVMS_VM_FUNCTION,
                      tvms_vm_builder_declare(&g->builder, name, kind));
}

static int64_t global_word(codegen *g, const tvms_node *node) {
  tvms_bytes name =
      bytes_of(tvms_symbol_text(g->context, tvms_as_global_var(node)->name));
  const tvms_member *member = tvms_module_named(g->module, node);
  const tvms_node *function = member ? member->function : NULL;
  if (function && function->kind == TVMS_NODE_FUNCTION)
    return function_word(g, name, TVMS_VM_IS_BYTECODE);
  if (function && function->kind == TVMS_NODE_EXTERN_FUNC)
    name = tvms_as_extern_func(function)->symbol;
  return function_word(g, name, TVMS_VM_IS_PACKED);
}

static int64_t extern_word(codegen *g, const tvms_node *node) {
  const tvms_extern_func *function = tvms_as_extern_func(node);
  if (function->attrs && tvms_object_map_get(function->attrs, "c_source"))
    return refuse(g, node, "a function that brings its own source text");
  return function_word(g, function->symbol, TVMS_VM_IS_PACKED);
}

// ---- Calls ----

static void add_words(codegen *g, word_list *words, tvms_list nodes, uint32_t count) {
  for (uint32_t i = 0; i < nodes.len && i < count; i++) {
    int64_t word = word_of(g, nodes.items[i]);
    tvms_vec_push(memory_of(g), words, word);
  }
}

static void emit_with(codegen *g, const char *name, const word_list *words,
                      int64_t result) {
  emit_builtin(g, name, words->items, words->len, result);
}

static void emit_ordinary_call(codegen *g, const tvms_call *call, word_list *words,
                               int64_t result) {
  int64_t function = word_of(g, call->callee);
  if (tvms_vm_word_kind(function) == TVMS_VM_FUNCTION) {
    add_words(g, words, call->args, UINT32_MAX);
    tvms_vm_builder_call(&g->builder, tvms_vm_word_value(function), words->items,
                         words->len, result);
    return;
  }
  tvms_vec_push(memory_of(g), words, TVMS_VM_SELF);
  tvms_vec_push(memory_of(g), words, function);
  add_words(g, words, call->args, UINT32_MAX);
  emit_with(g, "vm.builtin.invoke_closure", words, result);
}

static void emit_builtin_with_ctx(codegen *g, const tvms_call *call, word_list *words,
                                  int64_t result) {
  tvms_vec_push(memory_of(g), words, TVMS_VM_SELF);
  int64_t function = word_of(g, call->args.items[0]);
  const tvms_node *given = call->args.len > 1 ? call->args.items[1] : NULL;
  if (tvms_vm_word_kind(function) != TVMS_VM_FUNCTION || !given
      || given->kind != TVMS_NODE_TUPLE) {
    refuse(g, &call->head, "a call of this form");
    return;
  }
  add_words(g, words, tvms_as_tuple(given)->fields, UINT32_MAX);
  tvms_vm_builder_call(&g->builder, tvms_vm_word_value(function), words->items,
                       words->len, result);
}

// The memory that a tensor is to lie in, if the module says.
static const tvms_object_vdevice *TVMS_NULLABLE device_of(const codegen *g,
                                                          const tvms_node *index) {
  if (index->kind == TVMS_NODE_PRIM_VALUE) index = tvms_as_prim_value(index)->value;
  const tvms_node *infos = g->module->global_infos;
  const tvms_node *list = infos ? tvms_object_map_get(infos, "vdevice") : NULL;
  int64_t at;
  if (!list || list->kind != TVMS_NODE_OBJECT_ARRAY || !tvms_object_as_int(index, &at))
    return NULL;
  tvms_list devices = tvms_as_object_array(list)->items;
  if (at < 0 || at >= devices.len) return NULL;
  return devices.items[at]->kind == TVMS_NODE_OBJECT_VDEVICE
             ? tvms_as_object_vdevice(devices.items[at])
             : NULL;
}

static void emit_alloc_tensor(codegen *g, const tvms_call *call, word_list *words,
                              int64_t result) {
  add_words(g, words, call->args, 4);
  const tvms_object_vdevice *device =
      call->args.len > 4 ? device_of(g, call->args.items[4]) : NULL;
  if (device) {
    int64_t scope = text_word(g, device->scope);
    tvms_vec_push(memory_of(g), words, scope);
  }
  emit_with(g, "vm.builtin.alloc_tensor", words, result);
}

// Empties the register of its argument.
static int64_t emit_kill(codegen *g, const tvms_call *call) {
  int64_t word = word_of(g, call->args.items[0]);
  if (tvms_vm_word_kind(word) != TVMS_VM_REGISTER)
    return refuse(g, &call->head, "the end of a value that has no register");
  emit_builtin(g, "vm.builtin.null_value", NULL, 0, word);
  return word;
}

static bool is_void(const tvms_node *type) {
  return type && type->kind == TVMS_NODE_SINFO_TUPLE
         && tvms_as_sinfo_tuple(type)->fields.len == 0;
}

static int64_t call_word(codegen *g, const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  bool is_operator = call->callee->kind == TVMS_NODE_OPERATOR;
  tvms_opcode opcode = is_operator ? tvms_op_called(node) : TVMS_R_NONE;
  if (opcode == TVMS_R_null_value) return TVMS_VM_VOID;
  int64_t result = is_void(node->sinfo) ? TVMS_VM_VOID : new_register(g);
  word_list words = {0};
  if (!is_operator) {
    emit_ordinary_call(g, call, &words, result);
  } else if (opcode == TVMS_R_call_builtin_with_ctx) {
    emit_builtin_with_ctx(g, call, &words, result);
  } else if (opcode == TVMS_R_vm_alloc_storage) {
    tvms_vec_push(memory_of(g), &words, TVMS_VM_SELF);
    add_words(g, &words, call->args, UINT32_MAX);
    emit_with(g, "vm.builtin.alloc_storage", &words, result);
  } else if (opcode == TVMS_R_vm_alloc_tensor) {
    emit_alloc_tensor(g, call, &words, result);
  } else if (opcode == TVMS_R_vm_kill_object) {
    result = emit_kill(g, call);
  } else {
    refuse_operator(g, call);
  }
  tvms_vec_fini(memory_of(g), &words);
  return result;
}

// ---- Other values ----

static int64_t tuple_word(codegen *g, const tvms_node *node) {
  word_list words = {0};
  add_words(g, &words, tvms_as_tuple(node)->fields, UINT32_MAX);
  int64_t result = new_register(g);
  emit_with(g, "vm.builtin.make_tuple", &words, result);
  tvms_vec_fini(memory_of(g), &words);
  return result;
}

static int64_t item_word(codegen *g, const tvms_node *node) {
  const tvms_tuple_get_item *item = tvms_as_tuple_get_item(node);
  int64_t words[2] = {word_of(g, item->tuple)};
  words[1] = tvms_vm_builder_number(&g->builder, item->index);
  int64_t result = new_register(g);
  emit_builtin(g, "vm.builtin.tuple_getitem", words, 2, result);
  return result;
}

static void set_operand(codegen *g, int64_t instruction, uint32_t operand,
                        int64_t value) {
  tvms_vm_executable *e = g->builder.executable;
  e->words.items[e->offsets.items[instruction] + operand] = value;
}

static int64_t next_instruction(const codegen *g) {
  return g->builder.executable->offsets.len;
}

// Both branches copy what they give to one register.
static int64_t if_word(codegen *g, const tvms_node *node) {
  const tvms_if *branch = tvms_as_if(node);
  int64_t condition = word_of(g, branch->condition);
  int64_t tested = new_register(g);
  emit_builtin(g, "vm.builtin.read_if_cond", &condition, 1, tested);
  int64_t jump = tvms_vm_builder_if(&g->builder, tested, 0);
  int64_t value = word_of(g, branch->true_branch);
  int64_t merged = new_register(g);
  emit_builtin(g, "vm.builtin.copy", &value, 1, merged);
  int64_t leave = tvms_vm_builder_goto(&g->builder, 0);
  set_operand(g, jump, 2, next_instruction(g) - jump);
  value = word_of(g, branch->false_branch);
  emit_builtin(g, "vm.builtin.copy", &value, 1, merged);
  set_operand(g, leave, 1, next_instruction(g) - leave);
  return merged;
}

// What no text stands behind has no line.
static int64_t line_of(codegen *g, const tvms_node *node) {
  tvms_source *source = g->context->diags.source;
  if (!source || node->span.end <= node->span.begin) return 0;
  return tvms_source_place(memory_of(g), source, node->span.begin).line;
}

// Is an instruction a check of the value in a register, with a text that says nothing but that it is a match_cast?
static bool checks_cast(const codegen *g, int64_t instruction, int64_t word) {
  static const char *const checks[] = {
      "vm.builtin.match_shape",      "vm.builtin.check_tensor_info",
      "vm.builtin.check_shape_info", "vm.builtin.check_prim_value_info",
      "vm.builtin.match_prim_value", "vm.builtin.check_tuple_info"};
  static const char cast[] = "ErrorContext(match_cast";
  const tvms_vm_executable *e = g->builder.executable;
  const int64_t *words = tvms_vm_instruction(e, instruction);
  if (words[0] != TVMS_VM_CALL || words[3] < 2 || words[4] != word) return false;
  int64_t last = words[3 + words[3]];
  if (tvms_vm_word_kind(last) != TVMS_VM_CONSTANT) return false;
  const tvms_vm_constant *said = &e->constants.items[tvms_vm_word_value(last)];
  bool known = false;
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
    known |= tvms_bytes_is(e->functions.items[words[2]].name, checks[i]);
  return known && said->kind == TVMS_VM_TEXT && said->size >= sizeof cast
         && memcmp(said->data, cast, sizeof cast - 1) == 0;
}

// A match_cast was lowered to checks of a value, and a variable for it: that is whose name the checks are to say.
static void name_checks(codegen *g, int64_t word, const tvms_node *var) {
  int64_t end = next_instruction(g), first = end;
  while (first > g->begin && checks_cast(g, first - 1, word))
    first--;
  for (int64_t i = first; i < end; i++)
    tvms_vm_builder_name(
        &g->builder, i, bytes_of(tvms_symbol_text(g->context, tvms_as_var(var)->name)));
}

static void bind(codegen *g, const tvms_node *binding) {
  bool is_cast = binding->kind == TVMS_NODE_MATCH_CAST;
  const tvms_node *value = is_cast ? tvms_as_match_cast(binding)->value
                                   : tvms_as_var_binding(binding)->value;
  const tvms_node *var =
      is_cast ? tvms_as_match_cast(binding)->var : tvms_as_var_binding(binding)->var;
  const int64_t outer = g->builder.line, own = line_of(g, value);
  const int64_t line = own ? own : line_of(g, var);
  if (line) g->builder.line = line;
  int64_t word = word_of(g, value);
  if (value->kind == TVMS_NODE_VAR) name_checks(g, word, var);
  // A copy, so that the end of one variable does not take the value from the other.
  if (value->kind == TVMS_NODE_VAR) {
    int64_t copy = new_register(g);
    emit_builtin(g, "vm.builtin.copy", &word, 1, copy);
    word = copy;
  }
  g->words[var->id] = word;
  g->builder.line = outer;
}

static int64_t seq_word(codegen *g, const tvms_node *node) {
  const tvms_seq_expr *seq = tvms_as_seq_expr(node);
  for (uint32_t i = 0; i < seq->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(seq->blocks.items[i])->bindings;
    for (uint32_t j = 0; j < bindings.len; j++)
      bind(g, bindings.items[j]);
  }
  return word_of(g, seq->body);
}

static int64_t word_within(codegen *g, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_CONSTANT: return tensor_word(g, node);
  case TVMS_NODE_SHAPE_EXPR: return shape_word(g, node);
  case TVMS_NODE_STRING_IMM: return string_word(g, node);
  case TVMS_NODE_DTYPE_IMM: return dtype_word(g, tvms_as_dtype_imm(node)->value);
  case TVMS_NODE_PRIM_VALUE: return number_word(g, tvms_as_prim_value(node)->value);
  case TVMS_NODE_VAR:
  case TVMS_NODE_INT_IMM:
  case TVMS_NODE_FLOAT_IMM: return number_word(g, node);
  case TVMS_NODE_GLOBAL_VAR: return global_word(g, node);
  case TVMS_NODE_EXTERN_FUNC: return extern_word(g, node);
  case TVMS_NODE_CALL: return call_word(g, node);
  case TVMS_NODE_TUPLE: return tuple_word(g, node);
  case TVMS_NODE_TUPLE_GET_ITEM: return item_word(g, node);
  case TVMS_NODE_IF: return if_word(g, node);
  case TVMS_NODE_SEQ_EXPR: return seq_word(g, node);
  default: return refuse(g, node, "a value of this kind");
  }
}

static int64_t word_of(codegen *g, const tvms_node *node) {
  bool fits = tvms_memory_enter(memory_of(g));
  int64_t word = fits ? word_within(g, node) : refuse(g, node, "what nests so deeply");
  tvms_memory_leave(memory_of(g));
  return word;
}

static tvms_bytes *param_names(codegen *g, tvms_list params) {
  tvms_bytes *names = tvms_arena_array(&g->context->arena, tvms_bytes, params.len + 1);
  for (uint32_t i = 0; i < params.len; i++)
    names[i] =
        bytes_of(tvms_symbol_text(g->context, tvms_as_var(params.items[i])->name));
  return names;
}

static void add_function(codegen *g, const tvms_member *member) {
  const tvms_function *function = tvms_as_function(member->function);
  const char *symbol = tvms_global_symbol_of(g->context, member);
  if (!symbol) {
    refuse(g, member->function,
           "a private function; AttachGlobalSymbol gives it a name");
    return;
  }
  tvms_list params = function->params;
  int64_t index =
      tvms_vm_builder_declare(&g->builder, bytes_of(symbol), TVMS_VM_IS_BYTECODE);
  g->words =
      tvms_memory_alloc(memory_of(g), (member->unit->next_id + 1) * sizeof *g->words);
  for (uint32_t i = 0; i < member->unit->next_id; i++)
    g->words[i] = UNBOUND;
  g->registers = 0;
  for (uint32_t i = 0; i < params.len; i++)
    g->words[params.items[i]->id] = new_register(g);
  const int64_t begin = g->begin = next_instruction(g);
  g->builder.line = line_of(g, member->function);
  int64_t result = in_register(g, word_of(g, function->body));
  tvms_vm_builder_ret(&g->builder, result);
  tvms_vm_function *entry = &g->builder.executable->functions.items[index];
  entry->arity = params.len;
  entry->params = param_names(g, params);
  entry->param_count = params.len;
  entry->begin = begin;
  entry->end = next_instruction(g);
  tvms_vm_builder_number_registers(&g->builder, entry, g->registers);
  tvms_memory_free(memory_of(g), g->words);
}

bool tvms_vm_codegen(const tvms_module *module, tvms_vm_executable *executable) {
  tvms_context *context = module->context;
  uint32_t before = context->diags.errors;
  codegen g = {.context = context, .module = module};
  tvms_vm_builder_init(&g.builder, executable);
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    if (function && function->kind == TVMS_NODE_FUNCTION)
      add_function(&g, &module->members[i]);
  }
  tvms_vm_builder_fini(&g.builder);
  if (context->diags.errors != before) return false;
  const char *wrong = tvms_vm_executable_check(executable, &context->arena);
  if (wrong)
    tvms_diag_report(&context->diags, TVMS_D_not_for_machine, (tvms_span){0, 0}, wrong);
  return !wrong;
}
