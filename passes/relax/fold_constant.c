// FoldConstant: calls whose arguments are all constants are computed now.
//
// Before: lv = R.add(R.const([1, 2], "float32"), R.const([3, 4], "float32"))
// After:  the constant [4, 6] where lv was used
//
// call_tir of PrimFuncs of the module, and operators that te/ can describe, run in the
// reference interpreter. Calls that would make a large tensor out of small ones stay, and
// those that fail. Bindings that nothing uses any more go. TVM: relax.transform.FoldConstant.
#include "interp/interp.h"
#include "ir/build.h"
#include "passes/relax/bindings.h"
#include "passes/relax/dead_code.h"
#include "structinfo/sinfo.h"
#include "te/legalize.h"

#include <string.h>

// As TVM: a result of more elements is kept out of the program unless an argument has as
// many. And the most steps that one call may take here.
enum { MOST_NEW_ELEMENTS = 1024, MOST_STEPS = 1 << 28, MOST_RANK = 16 };

typedef struct {
  tvms_pass_run *run;
  tvms_binder binder;
  tvms_heap heap;
  TVMS_VEC(tvms_value) args;
} folder;

static tvms_memory *memory_of(const folder *f) {
  return &f->run->context->memory;
}

static bool sizes_of(tvms_list dims, int64_t *sizes) {
  if (dims.len > MOST_RANK) return false;
  for (uint32_t i = 0; i < dims.len; i++) {
    if (!tvms_is_int_imm(dims.items[i])) return false;
    sizes[i] = tvms_as_int_imm(dims.items[i])->value;
  }
  return true;
}

static bool push_tensor(folder *f, tvms_dtype dtype, tvms_list dims,
                        const tvms_bytes *TVMS_NULLABLE data) {
  int64_t sizes[MOST_RANK];
  if (!sizes_of(dims, sizes)) return false;
  tvms_dl_type type = tvms_dl_type_of(dtype);
  tvms_tensor *tensor = tvms_element_size(type)
                            ? tvms_tensor_new(&f->heap, type, (int32_t)dims.len, sizes)
                            : NULL;
  if (!tensor) return false;
  tvms_push(memory_of(f), &f->args, tvms_value_of_tensor(tensor));
  if (!data) return true;
  if (tensor->bytes != data->len) return false;
  if (data->len) memcpy(tensor->view.data, data->text, data->len);
  return true;
}

static bool push_constants(folder *f, tvms_list args, int64_t *most_elements) {
  for (uint32_t i = 0; i < args.len; i++) {
    if (args.items[i]->kind != TVMS_NODE_CONSTANT) return false;
    const tvms_constant *constant = tvms_as_constant(args.items[i]);
    if (!push_tensor(f, constant->element, constant->shape, &constant->data)) {
      return false;
    }
    int64_t elements = tvms_tensor_len(f->args.items[f->args.len - 1].tensor);
    if (elements > *most_elements) *most_elements = elements;
  }
  return true;
}

static bool push_output(folder *f, const tvms_node *type, int64_t most_elements) {
  tvms_list dims;
  if (!tvms_is_tensor(type) || !tvms_tensor_dims(type, &dims)) return false;
  if (!push_tensor(f, type->dtype, dims, NULL)) return false;
  return tvms_tensor_len(f->args.items[f->args.len - 1].tensor) <= most_elements;
}

static tvms_node *constant_of(folder *f, const tvms_tensor *tensor, tvms_node *type) {
  tvms_unit *unit = f->binder.unit;
  tvms_list dims;
  bool known = tvms_tensor_dims(type, &dims);
  TVMS_CHECK(known);
  tvms_constant *constant = tvms_make(unit, CONSTANT, TVMS_NO_SPAN);
  constant->element = type->dtype;
  constant->shape = dims;
  constant->data = tvms_bytes_copy(unit, tensor->view.data, tensor->bytes);
  constant->head.sinfo = type;
  return &constant->head;
}

static tvms_node *result_of(folder *f, uint32_t first, tvms_node *type) {
  if (tvms_is_tensor(type)) return constant_of(f, f->args.items[first].tensor, type);
  tvms_unit *unit = f->binder.unit;
  tvms_list types = tvms_as_sinfo_tuple(type)->fields;
  tvms_tuple *tuple = tvms_make(unit, TUPLE, TVMS_NO_SPAN);
  tuple->fields = tvms_list_copy(unit, types.items, types.len);
  for (uint32_t i = 0; i < types.len; i++) {
    tuple->fields.items[i] =
        constant_of(f, f->args.items[first + i].tensor, types.items[i]);
  }
  tuple->head.sinfo = type;
  return &tuple->head;
}

// Faults are no errors here: the call stays and fails when the program runs.
static bool run_member(folder *f, const tvms_member *member) {
  tvms_context *context = f->run->context;
  tvms_interp interp = {
      .context = context,
      .module = f->run->module,
      .heap = &f->heap,
      .step_limit = MOST_STEPS,
  };
  tvms_value result = {0};
  context->diags.muted++;
  tvms_status status =
      tvms_interp_call(&interp, member, f->args.items, f->args.len, &result);
  context->diags.muted--;
  if (status == TVMS_OK) tvms_drop(result);
  return status == TVMS_OK;
}

// The value of calling a PrimFunc with constants, or NULL.
static tvms_node *evaluate(folder *f, const tvms_member *member, tvms_list args,
                           tvms_node *type) {
  tvms_node *single = type;
  tvms_list types = {&single, 1};
  if (type->kind == TVMS_NODE_SINFO_TUPLE) types = tvms_as_sinfo_tuple(type)->fields;
  int64_t most = MOST_NEW_ELEMENTS;
  bool fine = push_constants(f, args, &most);
  uint32_t first = f->args.len;
  for (uint32_t i = 0; fine && i < types.len; i++) {
    fine = push_output(f, types.items[i], most);
  }
  fine = fine && run_member(f, member);
  tvms_node *result = fine ? result_of(f, first, type) : NULL;
  while (f->args.len)
    tvms_drop(f->args.items[--f->args.len]);
  return result;
}

static tvms_node *fold_call_tir(folder *f, const tvms_call *call) {
  const tvms_node *callee = call->args.items[0];
  if (callee->kind != TVMS_NODE_GLOBAL_VAR) return NULL;
  const tvms_member *member =
      tvms_module_find(f->run->module, tvms_as_global_var(callee)->name);
  bool known = member && member->function
               && member->function->kind == TVMS_NODE_PRIM_FUNC && call->args.len == 2
               && call->args.items[1]->kind == TVMS_NODE_TUPLE;
  if (!known) return NULL;
  tvms_list args = tvms_as_tuple(call->args.items[1])->fields;
  return evaluate(f, member, args, call->type_args.items[0]);
}

// Constants and shapes stand for themselves; a call of anything else is not folded.
static bool has_constants_only(const tvms_call *call) {
  for (uint32_t i = 0; i < call->args.len; i++) {
    const tvms_node *arg = call->args.items[i];
    bool fixed = arg->kind == TVMS_NODE_CONSTANT || arg->kind == TVMS_NODE_SHAPE_EXPR
                 || arg->kind == TVMS_NODE_PRIM_VALUE;
    if (!fixed) return false;
  }
  return call->args.len > 0;
}

static tvms_node *fold_operator(folder *f, const tvms_call *call) {
  if (!has_constants_only(call)) return NULL;
  tvms_unit *unit = tvms_open_unit(f->run);
  tvms_legalized legalized = {0};
  tvms_node *result = NULL;
  if (tvms_legalize_call(unit, f->binder.unit, call, &legalized)) {
    tvms_member member = {.unit = unit, .function = legalized.function};
    result = evaluate(f, &member, legalized.args, call->head.sinfo);
  }
  tvms_drop_unit(f->run, unit);
  return result;
}

static tvms_node *fold_call(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_binder *binder = rewriter->self;
  folder *f = binder->self;
  tvms_opcode opcode = tvms_called_relax_op(node);
  if (opcode == TVMS_R_NONE) return node;
  const tvms_call *call = tvms_as_call(node);
  tvms_node *folded =
      opcode == TVMS_R_call_tir ? fold_call_tir(f, call) : fold_operator(f, call);
  return folded ? folded : node;
}

// A variable bound to a constant is the constant wherever it is used.
static tvms_node *leave_binding(tvms_rewriter *rewriter, tvms_node *node) {
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  bool output = !(binding->var->flags & TVMS_FLAG_DATAFLOW);
  if (binding->value->kind == TVMS_NODE_CONSTANT && !output) {
    tvms_node_map_put(&rewriter->known, binding->var, binding->value);
  }
  return node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  folder f = {.run = run};
  tvms_heap_init(&f.heap, &run->context->memory);
  tvms_binder_init(&f.binder, unit, &f);
  f.binder.rewriter.leave[TVMS_NODE_CALL] = fold_call;
  f.binder.rewriter.leave[TVMS_NODE_VAR_BINDING] = leave_binding;
  tvms_node *changed = tvms_rewrite(&f.binder.rewriter, function);
  tvms_binder_fini(&f.binder);
  tvms_vec_free(&run->context->memory, &f.args);
  tvms_heap_fini(&f.heap);
  if (changed == function) return function;
  tvms_node *cleaned = tvms_without_dead_bindings(run, unit, changed);
  return cleaned;
}

void tvms_pass_fold_constant(tvms_pass_run *run) {
  tvms_change_functions(run, TVMS_NODE_FUNCTION, change);
}
