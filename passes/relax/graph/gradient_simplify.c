// Products and transposes that Gradient leaves behind. TVM: relax/transform/gradient_simplifier.cc.
#include "passes/relax/graph/gradient_simplify.h"

#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/graph/op_calls.h"
#include "structinfo/sinfo.h"

typedef struct {
  tvms_relax_mutator m;
  tvms_node_map values;  // VAR → value
} simplifier;

// Tensors with more axes are left alone.
enum { MOST_AXES = 64 };

// -1: not known, or too many.
static int64_t ndim_of(const tvms_node *expr) {
  const tvms_node *type = expr->sinfo;
  int64_t ndim = tvms_sinfo_is_tensor(type) ? tvms_as_sinfo_tensor(type)->ndim : -1;
  return ndim <= MOST_AXES ? ndim : -1;
}

static bool is_transpose(const tvms_node *value) {
  return tvms_relax_op_is_transpose(value)
         && ndim_of(tvms_as_call(value)->args.items[0]) >= 2;
}

// The transpose of `expr`: what it is the transpose of, if it is one.
static tvms_node *transpose_of(simplifier *s, tvms_node *expr) {
  tvms_node *value = tvms_node_map_get(&s->values, expr);
  if (value && is_transpose(value)) return tvms_as_call(value)->args.items[0];
  return tvms_relax_op_transpose(&s->m, expr, (uint32_t)ndim_of(expr));
}

static tvms_node *transposed_product(simplifier *s, const tvms_call *product) {
  tvms_node *a = product->args.items[0], *b = product->args.items[1];
  if (ndim_of(a) < 2 || ndim_of(b) < 2) return NULL;
  tvms_node *parts[] = {transpose_of(s, b), transpose_of(s, a)};
  for (uint32_t i = 0; i < 2; i++) {
    tvms_node *value = parts[i];
    parts[i] = tvms_relax_settle_leaf(&s->m, value);
    if (parts[i] != value) tvms_node_map_put(&s->values, parts[i], value);
  }
  tvms_dtype dtype = tvms_attr_dtype(product, TVMS_ATTR_out_dtype_out_dtype);
  return tvms_relax_op_matmul(&s->m, parts[0], parts[1], dtype);
}

static tvms_node *TVMS_NULLABLE enter_binding(tvms_rewriter *r, tvms_node *binding) {
  const tvms_relax_mutator *m = r->self;
  simplifier *s = m->self;
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  tvms_node *value = tvms_rewrite(r, bound->value);
  if (is_transpose(value)) {
    tvms_node *arg = tvms_as_call(value)->args.items[0];
    tvms_node *before = tvms_node_map_get(&s->values, arg), *made = NULL;
    if (before && is_transpose(before)) {
      tvms_node *origin = tvms_as_call(before)->args.items[0];
      if (origin->kind == TVMS_NODE_VAR && bound->var->flags & TVMS_FLAG_DATAFLOW) {
        tvms_node_map_put(&r->known, bound->var, origin);
        return NULL;
      }
    } else if (before && tvms_op_called(before) == TVMS_R_matmul) {
      made = transposed_product(s, tvms_as_call(before));
    }
    if (made) value = made;
  }
  tvms_node *made =
      value == bound->value ? binding : tvms_relax_rebind(&s->m, binding, value);
  tvms_node_map_put(&s->values, tvms_as_var_binding(made)->var, value);
  return made;
}

tvms_node *tvms_relax_gradient_simplify(tvms_pass_run *run, tvms_unit *unit,
                                        tvms_node *function) {
  simplifier s;
  tvms_relax_mutator_init(&s.m, run, unit, &s);
  tvms_node_map_init(&s.values, &run->context->memory);
  s.m.rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  tvms_node *changed = tvms_relax_mutate(&s.m, function);
  tvms_node_map_fini(&s.values);
  tvms_relax_mutator_fini(&s.m);
  return tvms_dead_code_clean(run, unit, changed);
}
