// FoldConstant: what depends on constants only is computed now.
//
// Before: lv = R.add(R.const(1), R.const(2)); gv = R.reshape(x, s), where s = R.shape([2, 3])
// After:  gv = R.add(x, R.const(3));          gv = R.reshape(x, R.shape([2, 3]))
//
// Calls of PrimFuncs are run by the interpreter; in a dataflow block operators are legalised for
// that. Results of more than 1024 elements that are made of nothing (R.zeros, R.arange) stay
// calls. What cannot be run stays, too, and with keep_written what a later call may write over: a constant is
// the same in each run. With sizes only vectors and numbers of 64 elements at most are folded, and
// shapes made of them: what says sizes before operators are lowered. Bindings that are not used any
// more go.
// TVM: relax.transform.FoldConstant.
#include "interp/interp.h"
#include "interp/prim.h"
#include "ir/build.h"
#include "ir/omitted.h"
#include "ir/tir_op.h"
#include "ir/walk.h"
#include "passes/relax/analysis/overwritten.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/lower/expand_ops.h"
#include "passes/relax/mutator.h"
#include "passes/relax/retype.h"
#include "passes/remarks.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"
#include "support/trial.h"
#include "te/legalize_call.h"

#include <string.h>

enum { MOST_ELEMENTS = 1024, MOST_AXES = 64 };

typedef struct {
  tvms_pass_run *run;
  tvms_node_map bound;  // VAR -> what a binding gives it now
  tvms_relax_overwritten *TVMS_NULLABLE overwritten;  // with keep_written
  bool kept;  // a call may write over what the binding at hand gives
  bool only_sizes;
} folder;

static folder *folder_of(const tvms_rewriter *r) {
  return ((const tvms_relax_mutator *)r->self)->self;
}

// ---- Running a PrimFunc ----

// The sizes as numbers, and the bytes of a tensor that has them; false if there is none such.
static bool read_sizes(tvms_dtype dtype, tvms_list sizes, int64_t *shape,
                       uint64_t *bytes) {
  if (sizes.len > MOST_AXES || tvms_dtype_is_void(dtype)) return false;
  for (uint32_t i = 0; i < sizes.len; i++) {
    if (sizes.items[i]->kind != TVMS_NODE_INT_IMM) return false;
    shape[i] = tvms_as_int_imm(sizes.items[i])->value;
  }
  tvms_dl_type type = tvms_interp_dl_type_of(dtype);
  return tvms_dl_element_size(type)
         && tvms_tensor_measure(type, (int32_t)sizes.len, shape, bytes)
         && *bytes <= UINT32_MAX;
}

// Whether a function writes into what it is given.
typedef struct {
  const tvms_prim_func *function;
  uint32_t inputs;
  bool writes;  // into an input, as far as can be seen
} reader;

// Another name of memory, over which a buffer may stand that nothing declares.
static bool names_memory(const tvms_node *node) {
  if (node->kind == TVMS_NODE_BIND)
    return tvms_dtype_is_handle(tvms_as_bind(node)->var->dtype);
  return node->kind == TVMS_NODE_ATTR_STMT
         && tvms_bytes_is(tvms_as_attr_stmt(node)->key, "buffer_bind_scope");
}

static tvms_walk_step find_write(void *self, tvms_node *node, tvms_field_role role) {
  reader *r = self;
  (void)role;
  if (node->kind == TVMS_NODE_STORE) {
    const tvms_buffer *buffer = tvms_as_buffer(tvms_as_store(node)->buffer);
    for (uint32_t i = 0; i < r->inputs; i++) {
      const tvms_node *input = r->function->buffers.items[i];
      r->writes |= input && tvms_as_buffer(input)->data == buffer->data;
    }
  } else if (node->kind == TVMS_NODE_MATCH_BUFFER_REGION
             || node->kind == TVMS_NODE_DECL_BUFFER || names_memory(node)) {
    r->writes = true;
  } else if (node->kind == TVMS_NODE_CALL) {
    tvms_tir_opcode opcode = tvms_call_opcode(node);
    r->writes |= opcode == TVMS_TIR_NONE
                 || tvms_tir_op_row_of(opcode)->effect > TVMS_EFFECT_READ;
  }
  return r->writes ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// May a call write into its inputs?
static bool writes_inputs(tvms_memory *memory, const tvms_member *member,
                          uint32_t inputs) {
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  if (inputs > function->buffers.len) return true;
  reader r = {.function = function, .inputs = inputs};
  tvms_visitor visitor = {.self = &r, .enter = find_write};
  tvms_walk(memory, function->body, &visitor);
  return r.writes;
}

static tvms_walk_step find_sum_of_truths(void *self, tvms_node *node,
                                         tvms_field_role role) {
  (void)self;
  (void)role;
  bool sum = node->kind == TVMS_NODE_ADD || node->kind == TVMS_NODE_SUB
             || node->kind == TVMS_NODE_MUL;
  return sum && tvms_dtype_is_bool(node->dtype) ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// TVM folds by code that it compiles, and its code generator refuses sums of truths.
static bool sums_truths(tvms_memory *memory, const tvms_member *member) {
  tvms_visitor visitor = {.enter = find_sum_of_truths};
  return !tvms_walk(memory, tvms_as_prim_func(member->function)->body, &visitor);
}

// A constant as an argument: what is only read is not copied.
static tvms_tensor *TVMS_NULLABLE tensor_of(tvms_heap *heap, const tvms_node *node,
                                            bool copied) {
  const tvms_constant *constant = tvms_as_constant(node);
  int64_t shape[MOST_AXES];
  uint64_t bytes;
  if (!read_sizes(constant->element, constant->shape, shape, &bytes)
      || bytes != constant->data.len)
    return NULL;
  tvms_dl_type type = tvms_interp_dl_type_of(constant->element);
  int32_t ndim = (int32_t)constant->shape.len;
  void *data = (void *)(uintptr_t)constant->data.text;
  if (!copied) return tvms_tensor_over(heap, type, ndim, shape, data, bytes);
  tvms_tensor *tensor = tvms_tensor_new(heap, type, ndim, shape);
  if (!tensor) return NULL;
  if (tensor->bytes) memcpy(tensor->view.data, constant->data.text, tensor->bytes);
  return tensor;
}

// A result is computed where the constant has it.
static tvms_tensor *TVMS_NULLABLE output_of(tvms_unit *unit, tvms_heap *heap,
                                            const tvms_node *type) {
  tvms_list sizes;
  int64_t shape[MOST_AXES];
  uint64_t bytes;
  bool known = tvms_sinfo_is_tensor(type) && tvms_sinfo_tensor_dims(type, &sizes)
               && read_sizes(type->dtype, sizes, shape, &bytes)
               && bytes <= heap->largest;
  if (!known) return NULL;
  char *place = tvms_bytes_new(unit, bytes);
  memset(place, 0xFF, bytes);
  return tvms_tensor_over(heap, tvms_interp_dl_type_of(type->dtype), (int32_t)sizes.len,
                          shape, place, bytes);
}

static tvms_node *constant_of(tvms_unit *unit, const tvms_tensor *tensor,
                              tvms_node *type, tvms_span span) {
  tvms_constant *constant = tvms_node_make(unit, CONSTANT, span);
  tvms_list sizes;
  (void)tvms_sinfo_tensor_dims(type, &sizes);
  constant->element = type->dtype;
  constant->shape = sizes;
  constant->data =
      (tvms_bytes){tensor->bytes ? tensor->view.data : "", (uint32_t)tensor->bytes};
  constant->head.sinfo =
      tvms_sinfo_tensor_new(unit, tvms_as_sinfo_tensor(type)->shape, type->dtype, NULL);
  return &constant->head;
}

// Inputs and outputs of one call; all of them are to be dropped.
typedef TVMS_VEC(tvms_value) values;

static bool push_tensor(tvms_memory *memory, values *all,
                        tvms_tensor *TVMS_NULLABLE tensor) {
  if (tensor) tvms_vec_push(memory, all, tvms_value_of_tensor(tensor));
  return tensor != NULL;
}

static bool call_now(tvms_pass_run *run, tvms_heap *heap, const tvms_member *member,
                     const values *all) {
  tvms_context *context = run->context;
  tvms_interp interp = {.context = context, .module = run->module, .heap = heap};
  tvms_value result = {0};
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  tvms_status status = tvms_interp_call(&interp, member, all->items, all->len, &result);
  tvms_trial_drop(&trial);
  if (status == TVMS_OK) tvms_value_drop(result);
  bool faulty = status == TVMS_FOUND_ERRORS;
  if (status != TVMS_OK && !faulty) tvms_memory_unwind(&context->memory, status);
  return status == TVMS_OK;
}

// Runs a PrimFunc on constants and gives its outputs, whose types are `types`, as nodes of the
// unit of the rewriter. False if that cannot be done.
static bool evaluate(tvms_rewriter *r, const tvms_member *member, tvms_list args,
                     tvms_list types, tvms_node **outputs) {
  tvms_pass_run *run = folder_of(r)->run;
  tvms_memory *memory = &run->context->memory;
  tvms_heap heap;
  tvms_heap_init(&heap, memory);
  values all = {0};
  bool fits = true, copied = writes_inputs(memory, member, args.len);
  for (uint32_t i = 0; i < args.len && fits; i++)
    fits = push_tensor(memory, &all, tensor_of(&heap, args.items[i], copied));
  for (uint32_t i = 0; i < types.len && fits; i++)
    fits = push_tensor(memory, &all, output_of(r->unit, &heap, types.items[i]));
  fits = fits && call_now(run, &heap, member, &all);
  for (uint32_t i = 0; i < types.len && fits; i++) {
    const tvms_tensor *tensor = all.items[args.len + i].tensor;
    outputs[i] = constant_of(r->unit, tensor, types.items[i],
                             args.len ? args.items[0]->span : TVMS_NO_SPAN);
  }
  for (uint32_t i = 0; i < all.len; i++)
    tvms_value_drop(all.items[i]);
  tvms_vec_fini(memory, &all);
  tvms_heap_fini(&heap);
  return fits;
}

static bool are_constants(tvms_list args) {
  for (uint32_t i = 0; i < args.len; i++) {
    if (args.items[i]->kind != TVMS_NODE_CONSTANT) return false;
  }
  return true;
}

static bool have_values(const tvms_rewriter *r, tvms_list args) {
  for (uint32_t i = 0; i < args.len; i++) {
    if (!tvms_node_refuse_omitted(r->unit->context, args.items[i], "FoldConstant"))
      return false;
  }
  return true;
}

// The value of a call of the member with these arguments, or NULL.
static tvms_node *TVMS_NULLABLE folded(tvms_rewriter *r, const tvms_member *member,
                                       tvms_list args, tvms_node *type) {
  tvms_memory *memory = &r->unit->context->memory;
  if (!are_constants(args) || !have_values(r, args) || sums_truths(memory, member))
    return NULL;
  bool several = type->kind == TVMS_NODE_SINFO_TUPLE;
  tvms_list types = {&type, 1};
  if (several) types = tvms_as_sinfo_tuple(type)->fields;
  tvms_list outputs = tvms_list_copy(r->unit, types.items, types.len);
  if (!evaluate(r, member, args, types, outputs.items)) return NULL;
  return several ? tvms_relax_make_tuple(r->self, outputs.items, outputs.len)
                 : outputs.items[0];
}

// ---- Calls ----

static bool holds_tensor(const tvms_node *node) {
  if (node->kind == TVMS_NODE_TUPLE) {
    tvms_list fields = tvms_as_tuple(node)->fields;
    for (uint32_t i = 0; i < fields.len; i++) {
      if (holds_tensor(fields.items[i])) return true;
    }
  }
  return tvms_sinfo_is_tensor(node->sinfo);
}

// How many elements a tensor has, or `most` + 1 if they are more; 0 if it is none, or nothing is
// known of that.
static int64_t count_elements(const tvms_node *TVMS_NULLABLE type, int64_t most) {
  tvms_list sizes;
  if (!tvms_sinfo_is_tensor(type) || !tvms_sinfo_tensor_dims(type, &sizes)) return 0;
  int64_t elements = 1;
  for (uint32_t i = 0; i < sizes.len; i++) {
    if (sizes.items[i]->kind != TVMS_NODE_INT_IMM) return 0;
    int64_t size = tvms_as_int_imm(sizes.items[i])->value;
    if (size <= 0) return 0;
    elements = elements > most / size ? most + 1 : elements * size;
  }
  return elements;
}

// Whether a call makes a shape, or what may be a size, the sizes of a shape or their indices.
static bool tells_sizes(const tvms_node *node) {
  if (tvms_op_called(node) == TVMS_R_tensor_to_shape) return true;
  int64_t elements = count_elements(node->sinfo, MOST_AXES);
  return elements > 0 && elements <= MOST_AXES;
}

// A large tensor that is made of nothing is better made when it is needed.
static bool is_worth(const folder *f, const tvms_node *node) {
  if (f->only_sizes) return tells_sizes(node);
  tvms_list args = tvms_as_call(node)->args;
  bool small = count_elements(node->sinfo, MOST_ELEMENTS) <= MOST_ELEMENTS;
  for (uint32_t i = 0; i < args.len && !small; i++)
    small = holds_tensor(args.items[i]);
  return small;
}

static tvms_node *fold_call_tir(tvms_rewriter *r, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  bool plain = call->args.len >= 2 && call->args.items[1]->kind == TVMS_NODE_TUPLE
               && call->type_args.len == 1;
  if (!plain) return node;
  const tvms_module *module = folder_of(r)->run->module;
  const tvms_member *member =
      tvms_module_function_named(module, call->args.items[0], TVMS_NODE_PRIM_FUNC);
  if (!member) return node;
  tvms_node *value = folded(r, member, tvms_as_tuple(call->args.items[1])->fields,
                            call->type_args.items[0]);
  return value ? value : node;
}

// A variable that holds a shape of numbers, which its type says.
static bool is_known_shape(const tvms_node *arg) {
  tvms_list sizes;
  bool known = arg->sinfo && arg->sinfo->kind == TVMS_NODE_SINFO_SHAPE
               && tvms_sinfo_dims(arg->sinfo, &sizes);
  for (uint32_t i = 0; known && i < sizes.len; i++)
    known = sizes.items[i]->kind == TVMS_NODE_INT_IMM;
  return known;
}

// Every tensor among the arguments is a constant.
static bool is_closed(tvms_list args) {
  for (uint32_t i = 0; i < args.len; i++) {
    const tvms_node *arg = args.items[i];
    if (arg->kind == TVMS_NODE_CONSTANT) continue;
    if (arg->kind == TVMS_NODE_TUPLE) {
      if (!is_closed(tvms_as_tuple(arg)->fields)) return false;
    } else if (arg->kind == TVMS_NODE_VAR && tvms_dtype_is_void(arg->dtype)
               && !is_known_shape(arg)) {
      return false;
    }
  }
  return true;
}

static tvms_node *fold_operator(tvms_rewriter *r, tvms_node *node) {
  tvms_pass_run *run = folder_of(r)->run;
  const tvms_call *call = tvms_as_call(node);
  // TVM folds what is legalised to a call of a PrimFunc.
  if (!is_closed(call->args) || tvms_relax_becomes_constant(node)) return node;
  if (tvms_legalize_describes(tvms_op_called(node)) && !have_values(r, call->args))
    return node;
  tvms_unit *unit = tvms_functions_open_unit(run);
  tvms_legalized legalized = {0};
  tvms_node *value = NULL;
  if (tvms_legalize_call(unit, r->unit, call, &legalized)) {
    tvms_member member = {.unit = unit, .function = legalized.function};
    tvms_node *type = legalized.types.items[0];
    if (node->sinfo && node->sinfo->kind == TVMS_NODE_SINFO_TUPLE)
      type = tvms_sinfo_tuple_new(r->unit, legalized.types.items, legalized.types.len);
    value = folded(r, &member, legalized.args, type);
  }
  tvms_functions_drop_unit(run, unit);
  return value ? value : node;
}

// The sizes in a constant of int64.
static tvms_node *fold_to_shape(tvms_rewriter *r, tvms_node *node) {
  const tvms_node *arg = tvms_as_call(node)->args.items[0];
  if (arg->kind != TVMS_NODE_CONSTANT) return node;
  if (!tvms_node_refuse_omitted(r->unit->context, arg, "FoldConstant")) return node;
  const tvms_constant *constant = tvms_as_constant(arg);
  bool fits = tvms_dtype_same(constant->element, TVMS_DTYPE(INT, 64))
              && constant->shape.len == 1 && constant->data.len % 8 == 0;
  if (!fits) return node;
  uint32_t count = constant->data.len / 8;
  tvms_node_vec sizes = {0};
  tvms_memory *memory = &r->unit->context->memory;
  for (uint32_t i = 0; i < count; i++) {
    int64_t size;
    memcpy(&size, constant->data.text + i * 8, sizeof size);
    tvms_vec_push(memory, &sizes, tvms_sinfo_dim_new(r->unit, size));
  }
  tvms_node *shape =
      tvms_sinfo_shape_value_new(r->unit, sizes.items, count, node->span);
  tvms_vec_fini(memory, &sizes);
  return shape;
}

// The call with the shapes that its arguments are bound to. Its type is inferred again, so that
// a variable which was said to be less gets it.
static tvms_node *with_shapes(tvms_rewriter *r, tvms_node *node) {
  const folder *f = folder_of(r);
  tvms_list old = tvms_as_call(node)->args;
  tvms_list args = tvms_list_copy(r->unit, old.items, old.len);
  for (uint32_t i = 0; i < args.len; i++) {
    tvms_node *value = args.items[i]->kind == TVMS_NODE_VAR
                           ? tvms_node_map_get(&f->bound, args.items[i])
                           : NULL;
    if (value && value->kind == TVMS_NODE_SHAPE_EXPR) args.items[i] = value;
  }
  return tvms_relax_recall(r->self, node, args.items);
}

static tvms_node *fold_worthy(tvms_rewriter *r, tvms_node *node) {
  tvms_opcode opcode = tvms_op_called(node);
  const folder *f = folder_of(r);
  if (opcode == TVMS_R_NONE || f->kept || !is_worth(f, node)) return node;
  if (opcode == TVMS_R_call_tir) return fold_call_tir(r, node);
  node = with_shapes(r, node);
  bool dataflow = r->sequence && r->sequence->flags & TVMS_FLAG_DATAFLOW;
  if (!dataflow) return node;
  if (opcode == TVMS_R_tensor_to_shape) return fold_to_shape(r, node);
  return fold_operator(r, node);
}

static tvms_node *fold_call(tvms_rewriter *r, tvms_node *node) {
  node = tvms_relax_leave_call(r, node);
  tvms_span span = node->span;
  tvms_node *value = fold_worthy(r, node);
  const tvms_pass_run *run = folder_of(r)->run;
  bool constant = value->kind == TVMS_NODE_CONSTANT || value->kind == TVMS_NODE_TUPLE;
  if (constant && value->sinfo && tvms_pass_wants_remarks(run))
    tvms_pass_remark(run, TVMS_REMARK_PASSED, TVMS_D_folded, span,
                     tvms_sinfo_describe(r->unit, value->sinfo));
  return value;
}

// ---- Variables ----

static tvms_node *put_constant(tvms_rewriter *r, tvms_node *node) {
  if (r->role != TVMS_ROLE_USE) return TVMS_REWRITE_BELOW;
  tvms_node *value = tvms_node_map_get(&folder_of(r)->bound, node);
  return value && value->kind == TVMS_NODE_CONSTANT ? value : TVMS_REWRITE_BELOW;
}

static tvms_node *enter_binding(tvms_rewriter *r, tvms_node *node) {
  folder *f = folder_of(r);
  tvms_node *var = tvms_as_var_binding(node)->var;
  f->kept = f->overwritten && tvms_relax_is_overwritten(f->overwritten, var);
  return TVMS_REWRITE_BELOW;
}

// The binding after the hook that keeps its type true.
static tvms_node *note_binding(tvms_rewriter *r, tvms_node *node) {
  const tvms_node *old = tvms_as_var_binding(r->old)->var;
  bool same = node == r->old
              || tvms_as_var_binding(node)->value == tvms_as_var_binding(r->old)->value;
  if (!same) node = tvms_relax_retype_binding(r, node);
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  folder *f = folder_of(r);
  tvms_node_map_put(&f->bound, binding->var, binding->value);
  tvms_node_map_put(&f->bound, old, binding->value);
  return node;
}

static tvms_node *fold(tvms_pass_run *run, tvms_unit *unit, tvms_node *function,
                       tvms_relax_overwritten *TVMS_NULLABLE overwritten) {
  folder f = {.run = run,
              .overwritten = overwritten,
              .only_sizes = TVMS_OPTION(run, FoldConstant, sizes).number};
  tvms_node_map_init(&f.bound, &run->context->memory);
  tvms_relax_mutator m;
  tvms_relax_mutator_init(&m, run, unit, &f);
  m.rewriter.enter[TVMS_NODE_VAR] = put_constant;
  m.rewriter.leave[TVMS_NODE_CALL] = fold_call;
  m.rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  m.rewriter.leave[TVMS_NODE_VAR_BINDING] = note_binding;
  tvms_node *changed = tvms_relax_mutate(&m, function);
  tvms_relax_mutator_fini(&m);
  tvms_node_map_fini(&f.bound);
  return tvms_dead_code_clean(run, unit, changed);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  if (!TVMS_OPTION(run, FoldConstant, keep_written).number)
    return fold(run, unit, function, NULL);
  tvms_relax_overwritten overwritten;
  tvms_relax_overwritten_init(&overwritten, run, function);
  function = fold(run, unit, function, &overwritten);
  tvms_relax_overwritten_fini(&overwritten);
  return function;
}

void tvms_pass_fold_constant(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
