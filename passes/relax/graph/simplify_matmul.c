// SimplifyMatmul: products take their operands in front of what only repeats them or joins their batch axes.
//
// Before: lv = R.reshape(a, R.shape([4, 64, 32])); lv1 = R.reshape(b, R.shape([4, 32, 64]))    with a: (1, 4, 64, 32), b: (1, 4, 32, 64)
//         lv2 = R.matmul(lv, lv1); gv = R.reshape(lv2, R.shape([1, 4, 64, 64]))
// After:  gv = R.matmul(a, b)
//
// Before: lv = R.broadcast_to(w, R.shape([24, 256, 1024])); gv = R.matmul(x, lv)    with x: (24, 1, 256), w: (256, 1024)
// After:  gv = R.matmul(x, w)
//
// PyTorch writes products of more than three axes so, and those with one matrix for all. As constants, broadcast
// matrices are larger than the weights that they repeat; and behind the reshapes FuseAttention finds its scores. The last two axes must
// stay as they are, the result must have the shape that it had, and nothing else may use the product that is reshaped.
// TVM has no such pass.
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/graph/simplifier.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

typedef tvms_relax_simplifier simplifier;

static bool dims_of(const tvms_node *value, tvms_list *dims) {
  return value->sinfo && tvms_sinfo_is_tensor(value->sinfo)
         && tvms_sinfo_dims(value->sinfo, dims);
}

// Does a call leave the last two axes of its argument as they are?
static bool keeps_matrix(simplifier *s, const tvms_call *call) {
  tvms_list from, to;
  if (!dims_of(call->args.items[0], &from) || !dims_of(&call->head, &to)) return false;
  for (uint32_t i = 1; i <= 2; i++) {
    if (from.len < i || to.len < i) return false;
    tvms_node *a = from.items[from.len - i], *b = to.items[to.len - i];
    if (!tvms_dim_equal(&s->m.prover, a, b)) return false;
  }
  return true;
}

// What an operand repeats, or the operand.
static tvms_node *repeated(simplifier *s, tvms_node *operand) {
  const tvms_call *call =
      tvms_relax_definitions_call(&s->definitions, operand, TVMS_R_broadcast_to);
  return call && keeps_matrix(s, call) ? call->args.items[0] : operand;
}

// What an operand has joined axes of, or NULL.
static tvms_node *TVMS_NULLABLE joined(simplifier *s, const tvms_node *operand) {
  const tvms_call *call =
      tvms_relax_definitions_call(&s->definitions, operand, TVMS_R_reshape);
  return call && keeps_matrix(s, call) ? call->args.items[0] : NULL;
}

// Have products of these operands the batch axes `dims`, in front of the last two?
static bool gives(simplifier *s, const tvms_node *a, const tvms_node *b,
                  tvms_list dims) {
  tvms_list left, right;
  if (!dims_of(a, &left) || !dims_of(b, &right) || left.len > dims.len
      || right.len > dims.len)
    return false;
  for (uint32_t i = 3; i <= dims.len; i++) {
    tvms_node *x = i <= left.len ? left.items[left.len - i] : NULL;
    tvms_node *y = i <= right.len ? right.items[right.len - i] : NULL;
    tvms_node *dim = dims.items[dims.len - i];
    bool by_x = x && tvms_dim_equal(&s->m.prover, x, dim);
    bool by_y = y && tvms_dim_equal(&s->m.prover, y, dim);
    bool fits = (by_x || !x || tvms_node_is_int(x, 1))
                && (by_y || !y || tvms_node_is_int(y, 1));
    if (!fits || (!by_x && !by_y)) return false;
  }
  return true;
}

// `binding` as the product of two operands, without what repeats one or both of them if the other one has all batch
// axes of the result; NULL if that is `old`, or does not fit.
static tvms_node *TVMS_NULLABLE product_of(simplifier *s, const tvms_node *binding,
                                           const tvms_call *old, tvms_node *a,
                                           tvms_node *b) {
  tvms_list dims;
  if (!dims_of(tvms_relax_binding_value(binding), &dims)) return NULL;
  tvms_node *pairs[][2] = {{repeated(s, a), repeated(s, b)},
                           {a, repeated(s, b)},
                           {repeated(s, a), b},
                           {a, b}};
  for (uint32_t i = 0; i < 4; i++) {
    tvms_node *const *args = pairs[i];
    if (args[0] == old->args.items[0] && args[1] == old->args.items[1]) return NULL;
    if (!gives(s, args[0], args[1], dims)) continue;
    s->any = true;
    // Values in front may have new variables, whose types say the same in other words.
    tvms_node *now[] = {tvms_rewrite(&s->m.rewriter, args[0]),
                        tvms_rewrite(&s->m.rewriter, args[1])};
    return tvms_relax_rebind(&s->m, binding,
                             tvms_relax_recall(&s->m, &old->head, now));
  }
  return NULL;
}

// The product that only a reshape uses, or NULL.
static const tvms_call *TVMS_NULLABLE reshaped_product(simplifier *s,
                                                       const tvms_call *reshape) {
  const tvms_node *var = reshape->args.items[0];
  tvms_relax_definition definition = tvms_relax_definitions_of(&s->definitions, var);
  if (definition.uses != 1 || definition.elsewhere) return NULL;
  const tvms_call *product =
      tvms_relax_definitions_call(&s->definitions, var, TVMS_R_matmul);
  return product && keeps_matrix(s, reshape) ? product : NULL;
}

static tvms_node *enter_binding(tvms_rewriter *r, tvms_node *binding) {
  tvms_relax_mutator *m = r->self;
  simplifier *s = m->self;
  tvms_node *value = tvms_relax_binding_value(binding), *made = NULL;
  if (tvms_op_called(value) == TVMS_R_matmul) {
    tvms_list args = tvms_as_call(value)->args;
    made = product_of(s, binding, tvms_as_call(value), args.items[0], args.items[1]);
  } else if (tvms_op_called(value) == TVMS_R_reshape) {
    const tvms_call *product = reshaped_product(s, tvms_as_call(value));
    tvms_node *a = product ? joined(s, product->args.items[0]) : NULL;
    tvms_node *b = product ? joined(s, product->args.items[1]) : NULL;
    made = a && b ? product_of(s, binding, product, a, b) : NULL;
  }
  return made ? made : TVMS_REWRITE_BELOW;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_relax_simplify(run, unit, function, enter_binding);
}

void tvms_pass_simplify_matmul(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
