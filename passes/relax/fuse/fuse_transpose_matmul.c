// FuseTransposeMatmul: a product with a transposed matrix becomes a PrimFunc that reads it as it lies.
//
// Before: lv = R.permute_dims(w); gv = R.matmul(x, lv)
// After:  gv = R.call_tir(cls.NT_matmul, (x, w), out_ty=R.Tensor((n, m), "float32")), and a private
//         PrimFunc NT_matmul, which sums x[i, k] * w[j, k]
//
// It is the second operand whose last two axes must be exchanged, and no others. Run it before
// LegalizeOps. As in TVM the two operators stay in the module, as a private function
// fused_relax_permute_dims_relax_matmul that nobody calls. A product stays as it is where TVM fails: if the
// transposed matrix is used elsewhere, if both operands are the same value, or if shapes are not
// known. TVM: relax.transform.FuseTransposeMatmul.
#include "ir/object.h"
#include "passes/relax/fuse/pattern_groups.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/lower/legalized_call.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

static const char composite[] = "transpose_matmul_fuse";

typedef struct {
  tvms_pattern *x;
  tvms_pattern *w;
  tvms_pattern *transposed;
  tvms_pattern *product;
} parts;

static tvms_pattern *build(const tvms_fuse_pattern *self, tvms_pattern_set *set,
                           tvms_unit *unit) {
  (void)unit;
  parts *p = self->data;
  p->w = tvms_relax_pattern_any(set);
  p->x = tvms_relax_pattern_any(set);
  p->transposed = tvms_relax_pattern_op(set, TVMS_R_permute_dims, 1, p->w);
  p->product = tvms_relax_pattern_op(set, TVMS_R_matmul, 2, p->x, p->transposed);
  return p->product;
}

static bool is_known(const tvms_node *type) {
  if (!tvms_sinfo_is_tensor(type) || tvms_dtype_is_void(type->dtype)) return false;
  const tvms_node *shape = tvms_as_sinfo_tensor(type)->shape;
  return shape && shape->kind == TVMS_NODE_SHAPE_EXPR;
}

static bool fits(const tvms_fuse_pattern *self, const tvms_pattern_match *match,
                 const tvms_relax_definitions *definitions) {
  const parts *p = self->data;
  const tvms_node *transposed = tvms_relax_pattern_value(match, p->transposed);
  if (!tvms_relax_op_is_transpose(transposed)) return false;
  const tvms_node *product = tvms_relax_pattern_value(match, p->product);
  const tvms_node *x = tvms_as_call(product)->args.items[0];
  const tvms_node *w = tvms_as_call(transposed)->args.items[0];
  if (x == w || !is_known(product->sinfo) || !is_known(transposed->sinfo)) return false;
  const tvms_node *var = tvms_as_call(product)->args.items[1];
  tvms_relax_definition definition = tvms_relax_definitions_of(definitions, var);
  return var->flags & TVMS_FLAG_DATAFLOW && definition.uses == 1
         && !definition.elsewhere
         && tvms_relax_definitions_value(definitions, var) == transposed;
}

static bool is_composite(const tvms_module *module, const tvms_node *callee) {
  const tvms_member *member =
      tvms_module_function_named(module, callee, TVMS_NODE_FUNCTION);
  if (!member) return false;
  const tvms_node *attrs = tvms_as_function(member->function)->attrs;
  const char *name = tvms_object_as_text(tvms_object_map_get(attrs, "Composite"));
  return name && strcmp(name, composite) == 0;
}

// The function takes the matrix first, as its permute_dims comes first.
static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  tvms_relax_mutator *m = r->self;
  node = tvms_relax_leave_call(r, node);
  tvms_list args = tvms_as_call(node)->args;
  if (args.len < 2 || !is_composite(m->run->module, tvms_as_call(node)->callee))
    return node;
  tvms_node *both[] = {args.items[1], args.items[0]};
  if (!is_known(tvms_sinfo_of(m->unit, both[0]))
      || !is_known(tvms_sinfo_of(m->unit, both[1])))
    return node;
  tvms_node *callee = tvms_op_operator_new(m->unit, TVMS_R_matmul);
  tvms_node *product =
      tvms_call_new(m->unit, (tvms_dtype){0}, callee, both, 2, node->span);
  product->sinfo = node->sinfo;
  tvms_unit *unit = tvms_functions_open_unit(m->run);
  tvms_legalized legalized = {0};
  if (!tvms_legalize_nt_matmul(unit, m->unit, tvms_as_call(product), &legalized)) {
    tvms_functions_drop_unit(m->run, unit);
    return node;
  }
  tvms_sym name =
      tvms_functions_add_unique(m->run, legalized.name, unit, legalized.function);
  return tvms_relax_call_legalized(m->unit, tvms_as_call(product), name, &legalized);
}

static tvms_node *group(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  parts p;
  tvms_fuse_pattern pattern = {
      .name = composite, .names = run->state, .data = &p, .build = build, .fits = fits};
  return tvms_fuse_pattern_groups(run, unit, function, &pattern);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_relax_change_calls(run, unit, function, leave_call);
}

void tvms_pass_fuse_transpose_matmul(tvms_pass_run *run) {
  tvms_relax_emitter names = {.memory = &run->context->memory};
  void *outer = run->state;
  run->state = &names;
  tvms_functions_change_by_name(run, TVMS_NODE_FUNCTION, group);
  run->state = outer;
  tvms_relax_emitter_fini(&names);
  tvms_functions_change_by_name(run, TVMS_NODE_FUNCTION, change);
}
