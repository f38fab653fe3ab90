// StructInfo: relations, joins, erasure, and the rules of operators on calls built here.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "structinfo/infer.h"
#include "structinfo/intern.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"
#include "support/names.h"

#include <criterion/criterion.h>

typedef struct {
  tvms_context context;
  tvms_unit unit;
  tvms_prover prover;
  tvms_node *n;  // a symbolic dimension
} fixture;

#define F32 TVMS_DTYPE(FLOAT, 32)
#define I64 TVMS_DTYPE(INT, 64)

static void open_fixture(fixture *f) {
  tvms_context_init(&f->context, &tvms_names);
  tvms_unit_init(&f->unit, &f->context, TVMS_DIALECT_27);
  tvms_prover_init(&f->prover, &f->unit);
  f->n = tvms_var_new(&f->unit, TVMS_SYM_main, I64, TVMS_NO_SPAN);
}

static void close_fixture(fixture *f) {
  tvms_prover_fini(&f->prover);
  tvms_unit_fini(&f->unit);
  tvms_context_fini(&f->context);
}

// A tensor type; -1 stands for n.
static tvms_node *tensor(fixture *f, int count, const int64_t *dims, tvms_dtype dtype) {
  tvms_node *items[8];
  for (int i = 0; i < count; i++) {
    items[i] = dims[i] < 0 ? f->n : tvms_sinfo_dim_new(&f->unit, dims[i]);
  }
  tvms_node *shape =
      tvms_sinfo_shape_value_new(&f->unit, items, (uint32_t)count, TVMS_NO_SPAN);
  return tvms_sinfo_tensor_new(&f->unit, shape, dtype, NULL);
}
#define TENSOR(f, dtype, ...)                                                          \
  tensor((f), sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__}, (dtype))

static tvms_node *value(fixture *f, tvms_node *type) {
  tvms_node *var = tvms_var_new(&f->unit, TVMS_SYM_main, (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = type;
  return var;
}

static tvms_node *infer(fixture *f, tvms_opcode op, int count, tvms_node *const *types,
                        int attr_count, tvms_node *const *attrs) {
  tvms_call *call = tvms_node_make(&f->unit, CALL, TVMS_NO_SPAN);
  tvms_node *args[8];
  for (int i = 0; i < count; i++) {
    args[i] = value(f, types[i]);
  }
  call->callee = tvms_op_operator_new(&f->unit, op);
  call->args = tvms_list_copy(&f->unit, args, (uint32_t)count);
  call->attrs = tvms_list_copy(&f->unit, attrs, (uint32_t)attr_count);
  tvms_inference in = {.prover = &f->prover, .unit = &f->unit, .call = call};
  return tvms_infer_call(&in);
}

static void is_tensor(fixture *f, const tvms_node *type, tvms_dtype dtype, int count,
                      const int64_t *dims) {
  tvms_list list;
  cr_assert_not_null(type);
  cr_assert_eq(type->kind, TVMS_NODE_SINFO_TENSOR);
  cr_assert(tvms_dtype_same(type->dtype, dtype));
  cr_assert(tvms_sinfo_tensor_dims(type, &list));
  cr_assert_eq(list.len, count);
  for (int i = 0; i < count; i++) {
    int64_t length;
    if (dims[i] < 0) {
      cr_assert_eq(list.items[i], f->n);
    } else {
      cr_assert(tvms_sinfo_dim_int(list.items[i], &length));
      cr_assert_eq(length, dims[i], "axis %d", i);
    }
  }
}
#define IS_TENSOR(f, type, dtype, ...)                                                 \
  is_tensor((f), (type), (dtype), sizeof((int64_t[]){__VA_ARGS__}) / 8,                \
            (int64_t[]){__VA_ARGS__})

Test(structinfo, matmul_broadcasts_and_checks) {
  fixture f;
  open_fixture(&f);
  tvms_node *types[] = {TENSOR(&f, F32, -1, 784), TENSOR(&f, F32, 784, 128)};
  IS_TENSOR(&f, infer(&f, TVMS_R_matmul, 2, types, 0, NULL), F32, -1, 128);
  types[1] = TENSOR(&f, F32, 2, 784, 128);
  IS_TENSOR(&f, infer(&f, TVMS_R_matmul, 2, types, 0, NULL), F32, 2, -1, 128);
  types[1] = TENSOR(&f, F32, 783, 128);
  cr_assert_null(infer(&f, TVMS_R_matmul, 2, types, 0, NULL));
  cr_assert_eq(f.context.diags.first->id, TVMS_D_op_unequal);
  close_fixture(&f);
}

Test(structinfo, broadcast_keeps_symbols_and_gives_up_when_undecided) {
  fixture f;
  open_fixture(&f);
  tvms_node *types[] = {TENSOR(&f, F32, -1, 1, 4), TENSOR(&f, F32, 3, 4)};
  IS_TENSOR(&f, infer(&f, TVMS_R_add, 2, types, 0, NULL), F32, -1, 3, 4);
  types[1] = TENSOR(&f, F32, 5, 1, 4);
  tvms_node *result = infer(&f, TVMS_R_add, 2, types, 0, NULL);
  cr_assert_null(tvms_as_sinfo_tensor(result)->shape);
  cr_assert_eq(tvms_as_sinfo_tensor(result)->ndim, 3);
  types[1] = TENSOR(&f, F32, 5);
  cr_assert_null(infer(&f, TVMS_R_add, 2, types, 0, NULL));
  cr_assert_eq(f.context.diags.last->id, TVMS_D_op_broadcast);
  types[1] = TENSOR(&f, I64, 4);
  cr_assert_null(infer(&f, TVMS_R_add, 2, types, 0, NULL));
  cr_assert_eq(f.context.diags.last->id, TVMS_D_op_dtypes_differ);
  close_fixture(&f);
}

Test(structinfo, reductions) {
  fixture f;
  open_fixture(&f);
  tvms_node *type = TENSOR(&f, F32, -1, 3, 4);
  tvms_node *axis = tvms_object_int_new(&f.unit, -1, TVMS_NO_SPAN);
  tvms_node *attrs[] = {tvms_object_array_new(&f.unit, &axis, 1, TVMS_NO_SPAN),
                        tvms_object_bool_new(&f.unit, true, TVMS_NO_SPAN)};
  IS_TENSOR(&f, infer(&f, TVMS_R_sum, 1, &type, 2, attrs), F32, -1, 3, 1);
  attrs[1] = NULL;
  IS_TENSOR(&f, infer(&f, TVMS_R_sum, 1, &type, 2, attrs), F32, -1, 3);
  attrs[0] = axis;
  IS_TENSOR(&f, infer(&f, TVMS_R_argmax, 1, &type, 2, attrs), I64, -1, 3);
  axis = tvms_object_int_new(&f.unit, 3, TVMS_NO_SPAN);
  attrs[0] = tvms_object_array_new(&f.unit, &axis, 1, TVMS_NO_SPAN);
  cr_assert_null(infer(&f, TVMS_R_sum, 1, &type, 2, attrs));
  cr_assert_eq(f.context.diags.last->id, TVMS_D_op_axis);
  close_fixture(&f);
}

Test(structinfo, relations_have_four_outcomes) {
  fixture f;
  open_fixture(&f);
  tvms_node *known = TENSOR(&f, F32, -1, 4), *ranked, *unranked, *object;
  ranked = tvms_sinfo_tensor_new_ndim(&f.unit, 2, F32, NULL);
  unranked = tvms_sinfo_tensor_new_ndim(&f.unit, TVMS_UNKNOWN_NDIM, F32, NULL);
  object = tvms_sinfo_object_new(&f.unit);
  cr_assert_eq(tvms_sinfo_relate(&f.prover, object, known), TVMS_FIT_PROVED);
  cr_assert_eq(tvms_sinfo_relate(&f.prover, ranked, known), TVMS_FIT_PROVED);
  cr_assert_eq(tvms_sinfo_relate(&f.prover, known, ranked), TVMS_FIT_RUNTIME);
  cr_assert_eq(tvms_sinfo_relate(&f.prover, known, unranked), TVMS_FIT_WEAK);
  cr_assert_eq(tvms_sinfo_relate(&f.prover, known, object), TVMS_FIT_WEAK);
  cr_assert_eq(tvms_sinfo_relate(&f.prover, known, TENSOR(&f, F32, -1, 5)),
               TVMS_FIT_NEVER);
  cr_assert_eq(tvms_sinfo_relate(&f.prover, known, TENSOR(&f, I64, -1, 4)),
               TVMS_FIT_NEVER);
  cr_assert_eq(tvms_sinfo_relate(&f.prover, known, TENSOR(&f, F32, 7, 4)),
               TVMS_FIT_RUNTIME);
  tvms_node *joined = tvms_sinfo_join(&f.prover, known, TENSOR(&f, F32, 7, 4));
  cr_assert_eq(tvms_as_sinfo_tensor(joined)->ndim, 2);
  cr_assert_null(tvms_as_sinfo_tensor(joined)->shape);
  cr_assert_eq(tvms_sinfo_join(&f.prover, known, object)->kind, TVMS_NODE_SINFO_OBJECT);
  close_fixture(&f);
}

static tvms_node *TVMS_NULLABLE seven(void *data, tvms_node *var) {
  (void)var;
  return data;
}

Test(structinfo, erasure_substitutes_or_forgets_the_shape) {
  fixture f;
  open_fixture(&f);
  tvms_node *known = TENSOR(&f, F32, -1, 4);
  tvms_node *erased =
      tvms_sinfo_erase(&f.prover, known, seven, tvms_sinfo_dim_new(&f.unit, 7));
  IS_TENSOR(&f, erased, F32, 7, 4);
  erased = tvms_sinfo_erase(&f.prover, known, seven, NULL);
  cr_assert_null(tvms_as_sinfo_tensor(erased)->shape);
  cr_assert_eq(tvms_as_sinfo_tensor(erased)->ndim, 2);
  close_fixture(&f);
}

Test(structinfo, calls_without_arguments_are_refused) {
  fixture f;
  open_fixture(&f);
  cr_assert_null(infer(&f, TVMS_R_sin, 0, NULL, 0, NULL));
  cr_assert_eq(f.context.diags.last->id, TVMS_D_op_arguments);
  cr_assert_null(infer(&f, TVMS_R_dist_annotate_sharding, 0, NULL, 0, NULL));
  cr_assert_eq(f.context.diags.last->id, TVMS_D_op_not_inferred);
  close_fixture(&f);
}

// Whatever the arguments are, a rule gives a type or exactly reports why not.
Test(structinfo, no_rule_crashes_on_wrong_arguments) {
  fixture f;
  open_fixture(&f);
  tvms_node *shape[] = {f.n};
  tvms_node *tuple[] = {TENSOR(&f, F32, 2, 3), TENSOR(&f, F32, 2, 3)};
  tvms_node *types[] = {
      TENSOR(&f, F32, 2, 3),
      TENSOR(&f, F32, 1, 2, 8, 8),
      tvms_sinfo_tensor_new_ndim(&f.unit, TVMS_UNKNOWN_NDIM, (tvms_dtype){0}, NULL),
      tvms_sinfo_tensor_new_ndim(&f.unit, 3, I64, NULL),
      tvms_sinfo_shape_new(&f.unit, shape, 1),
      tvms_sinfo_shape_new_ndim(&f.unit, 2),
      tvms_sinfo_prim_new(&f.unit, I64, NULL),
      tvms_sinfo_tuple_new(&f.unit, tuple, 2),
      tvms_sinfo_object_new(&f.unit),
  };
  enum { TYPES = sizeof types / sizeof types[0] };
  for (uint32_t op = 1; op <= TVMS_OP_COUNT; op++) {
    for (int count = 0; count < 7; count++) {
      for (int first = 0; first < TYPES; first++) {
        for (int rest = 0; rest < TYPES; rest++) {
          tvms_node *args[7];
          for (int i = 0; i < count; i++) {
            args[i] = types[i ? rest : first];
          }
          uint32_t before = f.context.diags.errors;
          tvms_node *result = infer(&f, (tvms_opcode)op, count, args, 0, NULL);
          cr_assert_eq(f.context.diags.errors - before, result ? 0 : 1,
                       "%s, %d arguments", tvms_op_of((tvms_opcode)op)->name, count);
        }
      }
    }
  }
  close_fixture(&f);
}

// ---- Interning ----

Test(structinfo, closed_types_are_the_same_pointer) {
  fixture f;
  open_fixture(&f);
  tvms_unit other;
  tvms_unit_init(&other, &f.context, TVMS_DIALECT_22);
  tvms_node *a = TENSOR(&f, F32, 2, 3);
  uint32_t nodes = other.next_id;
  tvms_node *dims[] = {tvms_sinfo_dim_new(&other, 2), tvms_sinfo_dim_new(&other, 3)};
  tvms_node *shape = tvms_sinfo_shape_value_new(&other, dims, 2, (tvms_span){4, 9});
  cr_assert_eq(tvms_sinfo_tensor_new(&other, shape, F32, NULL), a);
  cr_assert_eq(other.next_id, nodes + 3, "only the dimensions and the value are new");
  cr_assert(tvms_types_is_interned(a));
  cr_assert_eq(a->id, 0);
  cr_assert_neq(TENSOR(&f, I64, 2, 3), a);
  cr_assert_neq(TENSOR(&f, F32, 3, 2), a);
  cr_assert_neq(tvms_sinfo_tensor_new_ndim(&f.unit, 2, F32, NULL), a);
  tvms_node *pair[] = {a, tvms_sinfo_object_new(&f.unit)};
  tvms_node *tuple = tvms_sinfo_tuple_new(&f.unit, pair, 2);
  cr_assert_eq(tvms_sinfo_tuple_new(&other, pair, 2), tuple);
  cr_assert_eq(tvms_sinfo_func_new(&f.unit, pair, 2, tuple, true),
               tvms_sinfo_func_new(&other, pair, 2, tuple, true));
  cr_assert_neq(tvms_sinfo_func_new(&f.unit, pair, 2, tuple, true),
                tvms_sinfo_func_new(&other, pair, 2, tuple, false));
  cr_assert_eq(tvms_clone(&other, tuple, NULL), tuple);
  tvms_unit_fini(&other);
  close_fixture(&f);
}

Test(structinfo, open_types_live_with_their_function) {
  fixture f;
  open_fixture(&f);
  tvms_node *a = TENSOR(&f, F32, -1, 3), *b = TENSOR(&f, F32, -1, 3);
  cr_assert_neq(a, b);
  cr_assert_not(tvms_types_is_interned(a));
  cr_assert_eq(tvms_sinfo_relate(&f.prover, a, b), TVMS_FIT_PROVED);
  tvms_node *fields[] = {a, TENSOR(&f, F32, 3)};
  tvms_node *tuple = tvms_sinfo_tuple_new(&f.unit, fields, 2);
  cr_assert_not(tvms_types_is_interned(tuple));
  cr_assert_eq(tvms_as_sinfo_tuple(tuple)->fields.items[0], a);
  close_fixture(&f);
}

Test(structinfo, many_closed_types_stay_apart) {
  fixture f;
  open_fixture(&f);
  enum { MANY = 2000 };
  static tvms_node *types[MANY];
  for (int i = 0; i < MANY; i++) {
    types[i] = TENSOR(&f, F32, i, 7);
  }
  for (int i = 0; i < MANY; i++) {
    cr_assert_eq(TENSOR(&f, F32, i, 7), types[i]);
    tvms_list dims;
    int64_t first;
    cr_assert(tvms_sinfo_dims(types[i], &dims)
              && tvms_sinfo_dim_int(dims.items[0], &first));
    cr_assert_eq(first, i);
  }
  close_fixture(&f);
}
