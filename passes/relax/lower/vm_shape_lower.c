// VMShapeLower: shapes are checked and computed when the program runs.
//
// Before: def main(x: R.Tensor((n, 4))): … R.shape([n + 1]) …
// After:  shape_heap = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (2,))
//         R.call_packed("vm.builtin.check_tensor_info", x, 2, R.dtype("float32"), "…")
//         R.call_packed("vm.builtin.match_shape", x, shape_heap, 2, 1, 0, 0, 4, "…")
//         cls.shape_func(shape_heap)      # H[1] = H[0] + T.int64(1)
//         … R.call_packed("vm.builtin.make_shape", shape_heap, 1, 1, 1) …
//
// Each size of the function has a place on a heap (passes/relax/lower/shape_slots.h). Where
// values come in, at the start and at a match_cast, their types are checked first; then
// variables are read from shapes, what can be computed of them is, in one PrimFunc, and what had
// to wait for that is checked. The result is checked where its type is not known to be the
// stated one. Parameters behind the attribute num_input are weights: their constant shapes are
// taken on trust. TVM: relax.transform.VMShapeLower.
#include "ir/object.h"
#include "passes/relax/binder.h"
#include "passes/relax/lower/shape_func.h"
#include "passes/relax/lower/type_text.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "structinfo/relate.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"

// What the run time does with a size of a shape that it matches.
typedef enum { ASSERT_NUMBER, STORE, SKIP, ASSERT_SLOT } match_code;
// Where it takes a size of a shape that it makes from.
typedef enum { USE_NUMBER, LOAD_SLOT } make_code;

// A value whose shape is still to be matched.
typedef struct {
  tvms_node *value;
  tvms_list sizes;
  tvms_node *
      where;  // text for an error: fields of a tuple have one, which has its whole type
} match;

typedef TVMS_VEC(match) matches;

typedef struct {
  tvms_relax_binder binder;
  tvms_pass_run *run;
  tvms_rewriter *rewriter;
  tvms_unit *unit;
  tvms_relax_slots slots;
  uint32_t buckets;
  TVMS_VEC(uint32_t) ready;  // slots of variables that have just got their values
  tvms_node_map named;       // fields of tuples that have been bound
  tvms_node *heap;
  tvms_prover prover;
  bool says_where;
} lowering;

// One round of checks.
typedef struct {
  lowering *l;
  tvms_node *where;
  bool always;        // also where the type of the value says it already
  bool dynamic_only;  // constant shapes are taken on trust
  matches *todo;
} check;

static tvms_memory *memory_of(const lowering *l) {
  return &l->unit->context->memory;
}

// ---- Calls ----

// A value that may stand as an argument.
static tvms_node *as_argument(lowering *l, tvms_node *value) {
  if (value->kind == TVMS_NODE_VAR && !tvms_dtype_is_void(value->dtype))
    return tvms_relax_make_prim_value(l->unit, value);
  bool leaf = value->kind != TVMS_NODE_CALL && value->kind != TVMS_NODE_TUPLE_GET_ITEM;
  if (leaf) return value;
  tvms_node *known = tvms_node_map_get(&l->named, value);
  if (known) return known;
  if (value->kind == TVMS_NODE_TUPLE_GET_ITEM) {
    tvms_tuple_get_item *item = tvms_as_tuple_get_item(value);
    item->tuple = as_argument(l, item->tuple);
  } else {
    tvms_list args = tvms_as_call(value)->args;
    for (uint32_t i = 0; i < args.len; i++)
      args.items[i] = as_argument(l, args.items[i]);
  }
  known = tvms_relax_binder_bind(l->rewriter, value, "gv");
  tvms_node_map_put(&l->named, value, known);
  return known;
}

static void call_packed(lowering *l, const char *name, tvms_node *const *args,
                        uint32_t count) {
  tvms_node *nothing = tvms_sinfo_tuple_new(l->unit, NULL, 0);
  tvms_node *call =
      tvms_relax_make_packed_call(l->unit, name, args, count, nothing, TVMS_NO_SPAN);
  tvms_relax_binder_do(l->rewriter, call);
}

static tvms_node *number(lowering *l, int64_t value) {
  return tvms_relax_make_int(l->unit, value);
}

// ---- Matching ----

static void report_size(lowering *l, const tvms_node *size) {
  tvms_diag_report(&l->unit->context->diags, TVMS_D_size_not_computed, size->span,
                   tvms_sinfo_describe(l->unit, size));
}

static match_code match_size(lowering *l, tvms_node *size, bool last,
                             int64_t *operand) {
  *operand = 0;
  if (size->kind == TVMS_NODE_INT_IMM) {
    *operand = tvms_as_int_imm(size)->value;
    return ASSERT_NUMBER;
  }
  tvms_relax_slot *slot = tvms_relax_slots_find(&l->slots, size);
  if (!slot) {
    report_size(l, size);
    return SKIP;
  }
  uint32_t index = tvms_relax_slot_index(&l->slots, slot);
  if (slot->computed) {
    *operand = index;
    return ASSERT_SLOT;
  }
  if (last) {
    report_size(l, size);
    return SKIP;
  }
  if (size->kind != TVMS_NODE_VAR) return SKIP;
  slot->computed = true;
  tvms_vec_push(memory_of(l), &l->ready, index);
  *operand = index;
  return STORE;
}

// Matches one value. Returns false if a size had to be left out.
static bool match_value(lowering *l, const match *m, bool last) {
  tvms_memory *memory = memory_of(l);
  tvms_node_vec args = {0};
  bool scalar = m->value->sinfo && m->value->sinfo->kind == TVMS_NODE_SINFO_PRIM;
  bool complete = true, idle = true;
  tvms_vec_push(memory, &args, m->value);
  tvms_vec_push(memory, &args, l->heap);
  if (!scalar) tvms_vec_push(memory, &args, number(l, m->sizes.len));
  for (uint32_t i = 0; i < m->sizes.len; i++) {
    int64_t operand;
    match_code code = match_size(l, m->sizes.items[i], last, &operand);
    complete &= code != SKIP;
    idle &= code == SKIP;
    tvms_vec_push(memory, &args, number(l, code));
    tvms_vec_push(memory, &args, number(l, operand));
  }
  tvms_vec_push(memory, &args, m->where);
  const char *name = scalar ? "vm.builtin.match_prim_value" : "vm.builtin.match_shape";
  if (!idle) {
    args.items[0] = as_argument(l, m->value);
    call_packed(l, name, args.items, args.len);
  }
  tvms_vec_fini(memory, &args);
  return complete;
}

// Matches all, and keeps those that are to be matched again.
static void match_all(lowering *l, matches *todo, bool last) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < todo->len; i++) {
    match m = todo->items[i];
    if (!match_value(l, &m, last)) todo->items[kept++] = m;
  }
  todo->len = kept;
}

// Computes what the variables that have just become known are enough for.
static void compute_ready(lowering *l) {
  tvms_memory *memory = memory_of(l);
  TVMS_VEC(uint32_t) order = {0};
  for (uint32_t i = 0; i < l->ready.len; i++) {
    const tvms_relax_slot *var = &l->slots.slots.items[l->ready.items[i]];
    for (uint32_t j = 0; j < var->users.len; j++) {
      tvms_relax_slot *user = &l->slots.slots.items[var->users.items[j]];
      if (--user->waiting > 0) continue;
      user->computed = true;
      tvms_vec_push(memory, &order, var->users.items[j]);
    }
  }
  l->ready.len = 0;
  if (order.len) {
    tvms_global_var *callee = tvms_node_make(l->unit, GLOBAL_VAR, TVMS_NO_SPAN);
    callee->name = tvms_relax_add_shape_func(l->run, &l->slots, order.items, order.len);
    tvms_node *call = tvms_call_new(l->unit, (tvms_dtype){0}, &callee->head, &l->heap,
                                    1, TVMS_NO_SPAN);
    call->sinfo = tvms_sinfo_tuple_new(l->unit, NULL, 0);
    tvms_relax_binder_do(l->rewriter, call);
  }
  tvms_vec_fini(memory, &order);
}

static void finish_matches(lowering *l, matches *todo) {
  match_all(l, todo, false);
  compute_ready(l);
  match_all(l, todo, true);
  tvms_vec_fini(memory_of(l), todo);
}

// ---- Checks by type ----

static bool says_already(check *c, tvms_node *type, const tvms_node *value) {
  return value->sinfo
         && tvms_sinfo_relate(&c->l->prover, type, value->sinfo) == TVMS_FIT_PROVED;
}

static void add_match(check *c, tvms_node *value, tvms_list sizes) {
  match m = {.value = value, .sizes = sizes, .where = c->where};
  tvms_vec_push(memory_of(c->l), c->todo, m);
}

static bool is_static(const tvms_node *TVMS_NULLABLE shape) {
  if (!shape || shape->kind != TVMS_NODE_SHAPE_EXPR) return false;
  tvms_list sizes = tvms_as_shape_expr(shape)->values;
  for (uint32_t i = 0; i < sizes.len; i++) {
    if (sizes.items[i]->kind != TVMS_NODE_INT_IMM) return false;
  }
  return true;
}

static void check_tensor(check *c, const tvms_node *type, tvms_node *value) {
  lowering *l = c->l;
  const tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(type);
  if (c->dynamic_only && is_static(tensor->shape)) return;
  tvms_node *rank =
      tvms_sinfo_tensor_new_ndim(l->unit, tensor->ndim, type->dtype, NULL);
  if (c->always || !says_already(c, rank, value)) {
    tvms_node *args[4] = {as_argument(l, value), number(l, tensor->ndim)};
    if (tvms_dtype_is_void(type->dtype)) {
      tvms_node *null = tvms_relax_make_operator_call(l->unit, TVMS_R_null_value, NULL,
                                                      0, TVMS_NO_SPAN);
      args[2] = as_argument(l, null);
    } else {
      args[2] = tvms_relax_make_dtype(l->unit, type->dtype);
    }
    args[3] = c->where;
    call_packed(l, "vm.builtin.check_tensor_info", args, 4);
  }
  if (tensor->shape && tensor->shape->kind == TVMS_NODE_SHAPE_EXPR)
    add_match(c, value, tvms_as_shape_expr(tensor->shape)->values);
}

static void check_shape(check *c, const tvms_node *type, tvms_node *value) {
  lowering *l = c->l;
  const tvms_sinfo_shape *shape = tvms_as_sinfo_shape(type);
  tvms_node *rank = tvms_sinfo_shape_new_ndim(l->unit, shape->ndim);
  if (c->always || !says_already(c, rank, value)) {
    tvms_node *args[] = {as_argument(l, value), number(l, shape->ndim), c->where};
    call_packed(l, "vm.builtin.check_shape_info", args, 3);
  }
  if (type->flags & TVMS_FLAG_KNOWN) add_match(c, value, shape->values);
}

static void check_prim(check *c, const tvms_node *type, tvms_node *value) {
  lowering *l = c->l;
  tvms_node *plain = tvms_sinfo_prim_new(l->unit, type->dtype, NULL);
  if (c->always || !says_already(c, plain, value)) {
    tvms_node *args[] = {as_argument(l, value),
                         tvms_relax_make_dtype(l->unit, type->dtype), c->where};
    call_packed(l, "vm.builtin.check_prim_value_info", args, 3);
  }
  tvms_node *stated = tvms_as_sinfo_prim(type)->value;
  bool older = !tvms_release_has(l->unit->dialect, TVMS_FACT_types_are_called_ty);
  if (stated && older) add_match(c, value, tvms_list_copy(l->unit, &stated, 1));
}

static void check_function(check *c, tvms_node *value) {
  bool known = value->sinfo && value->sinfo->kind == TVMS_NODE_SINFO_FUNC;
  if (!c->always && known) return;
  tvms_node *args[] = {as_argument(c->l, value), c->where};
  call_packed(c->l, "vm.builtin.check_func_info", args, 2);
}

static tvms_node *field_of(lowering *l, tvms_node *tuple, uint32_t index) {
  if (tuple->kind == TVMS_NODE_TUPLE) return tvms_as_tuple(tuple)->fields.items[index];
  if (tuple->sinfo && tuple->sinfo->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_tuple_get_item *item = tvms_node_make(l->unit, TUPLE_GET_ITEM, TVMS_NO_SPAN);
    item->tuple = tuple;
    item->index = index;
    item->head.sinfo = tvms_as_sinfo_tuple(tuple->sinfo)->fields.items[index];
    return &item->head;
  }
  tvms_node *args[] = {tuple, number(l, index)};
  return tvms_relax_make_packed_call(l->unit, "vm.builtin.tuple_getitem", args, 2,
                                     tvms_sinfo_object_new(l->unit), TVMS_NO_SPAN);
}

static void check_type(check *c, tvms_node *type, tvms_node *value);

static void check_tuple(check *c, const tvms_node *type, tvms_node *value) {
  lowering *l = c->l;
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  bool tuple = value->sinfo && value->sinfo->kind == TVMS_NODE_SINFO_TUPLE;
  if (tuple && tvms_as_sinfo_tuple(value->sinfo)->fields.len != fields.len) return;
  if (c->always || !tuple) {
    tvms_node *args[] = {as_argument(l, value), number(l, fields.len), c->where};
    call_packed(l, "vm.builtin.check_tuple_info", args, 3);
  }
  for (uint32_t i = 0; i < fields.len; i++)
    check_type(c, fields.items[i], field_of(l, value, i));
}

// What the value must be to have this type; shapes are left for later.
static void check_type(check *c, tvms_node *type, tvms_node *value) {
  if (!c->always && says_already(c, type, value)) return;
  switch ((int)type->kind) {
  case TVMS_NODE_SINFO_TENSOR: check_tensor(c, type, value); return;
  case TVMS_NODE_SINFO_SHAPE: check_shape(c, type, value); return;
  case TVMS_NODE_SINFO_PRIM: check_prim(c, type, value); return;
  case TVMS_NODE_SINFO_TUPLE: check_tuple(c, type, value); return;
  case TVMS_NODE_SINFO_FUNC: check_function(c, value); return;
  default: return;
  }
}

// ---- Shapes and scalars that are made ----

static tvms_node *made_size(lowering *l, tvms_node *size, int64_t *operand) {
  if (size->kind == TVMS_NODE_INT_IMM) {
    *operand = tvms_as_int_imm(size)->value;
    return number(l, USE_NUMBER);
  }
  const tvms_relax_slot *slot = tvms_relax_slots_find(&l->slots, size);
  if (!slot || !slot->computed) {
    report_size(l, size);
    *operand = 0;
    return number(l, USE_NUMBER);
  }
  *operand = tvms_relax_slot_index(&l->slots, slot);
  return number(l, LOAD_SLOT);
}

static tvms_node *make_shape(lowering *l, const tvms_node *shape) {
  tvms_memory *memory = memory_of(l);
  tvms_list sizes = tvms_as_shape_expr(shape)->values;
  tvms_node_vec args = {0};
  tvms_vec_push(memory, &args, l->heap);
  tvms_vec_push(memory, &args, number(l, sizes.len));
  for (uint32_t i = 0; i < sizes.len; i++) {
    int64_t operand;
    tvms_node *code = made_size(l, sizes.items[i], &operand);
    tvms_vec_push(memory, &args, code);
    tvms_vec_push(memory, &args, number(l, operand));
  }
  tvms_node *call = tvms_relax_make_packed_call(
      l->unit, "vm.builtin.make_shape", args.items, args.len,
      tvms_sinfo_shape_new_ndim(l->unit, sizes.len), shape->span);
  tvms_vec_fini(memory, &args);
  return call;
}

static tvms_node *make_scalar(lowering *l, tvms_node *size) {
  int64_t operand;
  tvms_node *code = made_size(l, size, &operand);
  tvms_node *args[] = {l->heap, code, number(l, operand)};
  return tvms_relax_make_packed_call(l->unit, "vm.builtin.make_prim_value", args, 3,
                                     tvms_sinfo_prim_new(l->unit, size->dtype, NULL),
                                     size->span);
}

static const tvms_relax_slot *TVMS_NULLABLE slot_of(const lowering *l,
                                                    const tvms_node *var) {
  bool scalar = !tvms_dtype_is_void(var->dtype) && !(var->flags & TVMS_FLAG_DATAFLOW);
  return scalar ? tvms_relax_slots_find(&l->slots, var) : NULL;
}

static tvms_node *TVMS_NULLABLE compute(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  if (node->kind == TVMS_NODE_SHAPE_EXPR)
    return is_static(node) ? node : make_shape(l, node);
  bool wrapped = node->kind == TVMS_NODE_PRIM_VALUE;
  tvms_node *scalar = wrapped ? tvms_as_prim_value(node)->value : node;
  if (scalar->kind == TVMS_NODE_VAR && slot_of(l, scalar))
    return make_scalar(l, scalar);
  return wrapped ? node : NULL;
}

// ---- Bindings ----

// A scalar that gets a value here, if a shape speaks of it.
static void match_scalar(lowering *l, tvms_node *var, tvms_node *where) {
  if (!slot_of(l, var)) return;
  matches todo = {0};
  match m = {var, tvms_list_copy(l->unit, &var, 1), where};
  tvms_vec_push(memory_of(l), &todo, m);
  match_all(l, &todo, false);
  tvms_vec_fini(memory_of(l), &todo);
  compute_ready(l);
}

static tvms_node *TVMS_NULLABLE after_binding(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  tvms_node *var = tvms_as_var_binding(node)->var;
  if (!slot_of(l, var)) return node;
  tvms_rewrite_emit(r, node);
  match_scalar(l, var, tvms_relax_make_text(l->unit, ""));
  return NULL;
}

// The text of a buffer, which is freed, for as long as the unit lives.
static tvms_node *kept(lowering *l, tvms_strbuf *text) {
  tvms_node *node =
      tvms_relax_make_text(l->unit, l->says_where ? tvms_strbuf_text(text) : "");
  tvms_strbuf_fini(text);
  return node;
}

static tvms_node *where_cast(lowering *l, const tvms_node *type) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, memory_of(l));
  bool newer = tvms_release_has(l->unit->dialect, TVMS_FACT_types_are_called_ty);
  tvms_strbuf_printf(&text, "ErrorContext(match_cast, %s=%s) ",
                     newer ? "ty" : "struct_info", tvms_relax_type_text(l->unit, type));
  return kept(l, &text);
}

static tvms_node *rewrite_match_cast(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  const tvms_match_cast *cast = tvms_as_match_cast(node);
  tvms_node *where = where_cast(l, cast->type);
  tvms_node *made = compute(r, cast->value);
  tvms_node *value = made ? made : tvms_rewrite(r, cast->value);
  matches todo = {0};
  tvms_node_map_clear(&l->named);
  check c = {.l = l, .where = where, .todo = &todo};
  check_type(&c, cast->type, value);
  finish_matches(l, &todo);
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_match_cast(copy)->value = as_argument(l, value);
  if (!slot_of(l, cast->var)) return copy;
  tvms_rewrite_emit(r, copy);
  match_scalar(l, cast->var, where);
  return NULL;
}

// ---- Functions ----

static void alloc_heap(lowering *l) {
  tvms_unit *unit = l->unit;
  uint32_t size = l->slots.slots.len;
  tvms_node *value;
  if (size == 0) {
    value =
        tvms_relax_make_operator_call(unit, TVMS_R_null_value, NULL, 0, TVMS_NO_SPAN);
  } else {
    tvms_node *type = tvms_sinfo_tensor_new_ndim(unit, 1, TVMS_DTYPE(INT, 64), NULL);
    tvms_tuple *sizes = tvms_node_make(unit, TUPLE, TVMS_NO_SPAN);
    tvms_node *one = number(l, size);
    sizes->fields = tvms_list_copy(unit, &one, 1);
    sizes->head.sinfo = tvms_sinfo_tuple_new(unit, &one->sinfo, 1);
    value = tvms_relax_make_context_call(unit, "vm.builtin.alloc_shape_heap",
                                         &sizes->head, type, TVMS_NO_SPAN);
  }
  tvms_node *var =
      tvms_var_new(unit, tvms_symbol_intern(unit->context, "shape_heap", 10),
                   (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = value->sinfo;
  tvms_var_binding *binding = tvms_node_make(unit, VAR_BINDING, TVMS_NO_SPAN);
  binding->value = value;
  binding->var = var;
  tvms_vec_push(memory_of(l), l->binder.tail, &binding->head);
  l->heap = var;
}

static uint32_t input_count(const tvms_function *function) {
  int64_t count;
  const tvms_node *given = tvms_object_map_get(function->attrs, "num_input");
  return tvms_object_as_int(given, &count) && count >= 0 ? (uint32_t)count
                                                         : function->params.len;
}

static tvms_node *where_param(lowering *l, const tvms_function *function, uint32_t i) {
  const tvms_context *context = l->unit->context;
  const tvms_node *param = function->params.items[i];
  tvms_strbuf text;
  tvms_strbuf_init(&text, memory_of(l));
  tvms_strbuf_printf(&text,
                     "ErrorContext(fn=%s, loc=param[%u], param=%s, annotation=%s) ",
                     tvms_symbol_text(context, function->name), i,
                     tvms_symbol_text(context, tvms_as_var(param)->name),
                     tvms_relax_type_text(l->unit, param->sinfo));
  return kept(l, &text);
}

static tvms_node *where_result(lowering *l, const tvms_function *function) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, memory_of(l));
  tvms_strbuf_printf(&text, "ErrorContext(fn=%s, loc=return, annotation=%s) ",
                     tvms_symbol_text(l->unit->context, function->name),
                     tvms_relax_type_text(l->unit, function->ret));
  return kept(l, &text);
}

static void check_params(lowering *l, const tvms_function *function) {
  matches todo = {0};
  uint32_t inputs = input_count(function);
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_node *param = function->params.items[i];
    tvms_node *where = where_param(l, function, i);
    check c = {l, where, true, i >= inputs, &todo};
    check_type(&c, param->sinfo, param);
    if (!slot_of(l, param)) continue;
    match m = {param, tvms_list_copy(l->unit, &param, 1), where};
    tvms_vec_push(memory_of(l), &todo, m);
  }
  finish_matches(l, &todo);
}

static void check_result(lowering *l, const tvms_function *function, tvms_node *value) {
  matches todo = {0};
  tvms_node_map_clear(&l->named);
  check c = {.l = l, .where = where_result(l, function), .todo = &todo};
  check_type(&c, function->ret, value);
  match_all(l, &todo, true);
  tvms_vec_fini(memory_of(l), &todo);
}

static tvms_node *lower_function(lowering *l, tvms_node *node) {
  const tvms_function *function = tvms_as_function(node);
  tvms_memory *memory = memory_of(l);
  tvms_node_vec first = {0}, last = {0};
  l->binder.tail = &first;
  alloc_heap(l);
  check_params(l, function);
  l->binder.tail = NULL;
  tvms_node *body = tvms_rewrite(l->rewriter, function->body);
  l->binder.tail = &last;
  check_result(l, function, tvms_as_seq_expr(body)->body);
  l->binder.tail = NULL;
  body = tvms_node_copy(l->unit, body);
  tvms_seq_expr *seq = tvms_as_seq_expr(body);
  seq->blocks = tvms_relax_binder_surround(l->unit, &first, seq->blocks, &last);
  tvms_node *copy = tvms_node_copy(l->unit, node);
  tvms_as_function(copy)->body = body;
  tvms_vec_fini(memory, &first);
  tvms_vec_fini(memory, &last);
  return copy;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  lowering *l = run->state;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, l);
  tvms_relax_binder_install(&rewriter);
  rewriter.enter[TVMS_NODE_MATCH_CAST] = rewrite_match_cast;
  l->rewriter = &rewriter;
  l->unit = unit;
  tvms_relax_binder_enter(&l->binder, unit);
  tvms_relax_slots_init(&l->slots, unit, l->buckets, function);
  tvms_node_map_init(&l->named, memory_of(l));
  tvms_prover_init(&l->prover, unit);
  tvms_node *changed = lower_function(l, function);
  l->buckets = l->slots.buckets;
  tvms_prover_fini(&l->prover);
  tvms_node_map_fini(&l->named);
  tvms_relax_slots_fini(&l->slots);
  tvms_vec_fini(memory_of(l), &l->ready);
  tvms_rewriter_fini(&rewriter);
  return changed;
}

void tvms_pass_vm_shape_lower(tvms_pass_run *run) {
  lowering l = {.run = run, .buckets = 1};
  l.says_where = TVMS_OPTION(run, VMShapeLower, emit_err_ctx).number;
  tvms_relax_binder_init(&l.binder, run, compute);
  l.binder.bound = after_binding;
  run->state = &l;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
  tvms_relax_binder_fini(&l.binder);
}
