// The hooks come in two groups. Those of expressions put operands of different widths
// together by casting to the wider one, as TVM's operators do. Those of statements say where
// indices are: in loads and stores, in the bounds of loops and block variables, in shapes.
// TVM: src/tirx/ir/data_type_rewriter.cc, DataTypeLegalizer and IndexDataTypeRewriter.
#include "ir/index_dtype.h"

#include "ir/fold.h"
#include "ir/fold_ops.h"

static tvms_index_dtypes *of(tvms_rewriter *r) {
  return r->self;
}

tvms_node *tvms_index_dtypes_rewrite(tvms_index_dtypes *d, tvms_node *node,
                                     bool enabled) {
  bool outer = d->enabled;
  d->enabled = enabled;
  node = tvms_rewrite(&d->rewriter, node);
  d->enabled = outer;
  return node;
}

static tvms_node *rewrite_condition(tvms_index_dtypes *d, tvms_node *node) {
  bool outer = d->condition;
  d->condition = true;
  node = tvms_rewrite(&d->rewriter, node);
  d->condition = outer;
  return node;
}

static tvms_list rewrite_indices(tvms_index_dtypes *d, tvms_list list) {
  bool outer = d->enabled;
  d->enabled = true;
  list = tvms_rewrite_list(&d->rewriter, list);
  d->enabled = outer;
  return list;
}

tvms_node *tvms_index_dtypes_var(const tvms_index_dtypes *d, tvms_node *var) {
  tvms_node *made = tvms_node_map_get(&d->vars, var);
  return made ? made : var;
}

void tvms_index_dtypes_replace(tvms_index_dtypes *d, tvms_node *var, tvms_dtype dtype) {
  tvms_node *made =
      tvms_var_new(d->rewriter.unit, tvms_as_var(var)->name, dtype, var->span);
  tvms_node_map_put(&d->vars, var, made);
}

static tvms_node *cast(tvms_index_dtypes *d, tvms_dtype dtype, tvms_node *value) {
  return tvms_build_cast(d->rewriter.unit, dtype, value, value->span);
}

// ---- Expressions ----

static tvms_node *enter_binary(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = of(r);
  const tvms_binary *op = tvms_as_binary(node);
  bool compares = node->kind >= TVMS_NODE_EQ && node->kind <= TVMS_NODE_GE;
  bool enabled = d->enabled;
  if (compares && !d->retries) {
    enabled = d->condition && tvms_dtype_is_int(op->a->dtype)
              && tvms_dtype_is_int(op->b->dtype);
  }
  tvms_node *a = tvms_index_dtypes_rewrite(d, op->a, enabled);
  tvms_node *b = tvms_index_dtypes_rewrite(d, op->b, enabled);
  bool match = tvms_dtype_same(a->dtype, b->dtype);
  if (a == op->a && b == op->b && match) return node;
  if (!match && d->retries && !enabled) {
    a = tvms_index_dtypes_rewrite(d, op->a, true);
    b = tvms_index_dtypes_rewrite(d, op->b, true);
  }
  return tvms_build_binary(r->unit, (tvms_node_kind)node->kind, a, b, node->span);
}

static void match_widths(tvms_index_dtypes *d, tvms_node **a, tvms_node **b) {
  tvms_dtype dtype = (*a)->dtype;
  if ((*b)->dtype.bits > dtype.bits) dtype.bits = (*b)->dtype.bits;
  if (!tvms_dtype_same((*a)->dtype, dtype)) *a = cast(d, dtype, *a);
  if (!tvms_dtype_same((*b)->dtype, dtype)) *b = cast(d, dtype, *b);
}

static tvms_node *enter_select(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = of(r);
  const tvms_select *select = tvms_as_select(node);
  tvms_node *condition = rewrite_condition(d, select->condition);
  tvms_node *yes = tvms_rewrite(r, select->true_value);
  tvms_node *no = tvms_rewrite(r, select->false_value);
  bool same = condition == select->condition && yes == select->true_value
              && no == select->false_value;
  if (same) return node;
  match_widths(d, &yes, &no);
  return tvms_select_new(r->unit, condition, yes, no, node->span);
}

static tvms_node *leave_ramp(tvms_rewriter *r, tvms_node *node) {
  if (node == r->old) return node;
  tvms_node *base = tvms_as_ramp(node)->base, *stride = tvms_as_ramp(node)->stride;
  match_widths(of(r), &base, &stride);
  return tvms_ramp_new(r->unit, base, stride, node->dtype.lanes, node->span);
}

static tvms_node *leave_broadcast(tvms_rewriter *r, tvms_node *node) {
  if (node == r->old) return node;
  tvms_node *value = tvms_as_broadcast(node)->value;
  return tvms_broadcast_new(r->unit, value, node->dtype.lanes, node->span);
}

// clz counts the zeros of the width that its argument had. TVM writes the difference out
// even if there is none.
static tvms_node *adjust_clz(tvms_rewriter *r, tvms_node *node) {
  tvms_unit *unit = r->unit;
  int before = tvms_as_call(r->old)->args.items[0]->dtype.bits;
  int after = tvms_as_call(node)->args.items[0]->dtype.bits;
  tvms_node *less = tvms_int_imm_new(unit, node->dtype, after, node->span);
  tvms_node *more = tvms_int_imm_new(unit, node->dtype, before, node->span);
  node = tvms_build_binary(unit, TVMS_NODE_SUB, node, less, node->span);
  return tvms_build_binary(unit, TVMS_NODE_ADD, node, more, node->span);
}

static tvms_node *enter_call(tvms_rewriter *r, tvms_node *node) {
  if (tvms_call_opcode(node) != TVMS_TIR_if_then_else
      || tvms_as_call(node)->args.len != 3)
    return TVMS_REWRITE_BELOW;
  tvms_list args = tvms_as_call(node)->args;
  tvms_node *parts[] = {rewrite_condition(of(r), args.items[0]),
                        tvms_rewrite(r, args.items[1]), tvms_rewrite(r, args.items[2])};
  if (parts[0] == args.items[0] && parts[1] == args.items[1]
      && parts[2] == args.items[2])
    return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_call(copy)->args = tvms_list_copy(r->unit, parts, 3);
  return copy;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  tvms_tir_opcode op = tvms_call_opcode(node);
  tvms_list args = tvms_as_call(node)->args;
  if (op == TVMS_TIR_clz && args.len == 1) return adjust_clz(r, node);
  if (node == r->old) return node;
  bool bitwise = op == TVMS_TIR_shift_left || op == TVMS_TIR_shift_right
                 || op == TVMS_TIR_bitwise_and || op == TVMS_TIR_bitwise_or
                 || op == TVMS_TIR_bitwise_xor;
  if (!bitwise || args.len != 2) return node;
  return tvms_build_bitwise(r->unit, op, args.items[0], args.items[1], node->span);
}

static tvms_node *enter_let(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = of(r);
  const tvms_let *let = tvms_as_let(node);
  tvms_node *value = tvms_rewrite(r, let->value);
  if (!tvms_dtype_same(value->dtype, let->var->dtype))
    tvms_index_dtypes_replace(d, let->var, value->dtype);
  tvms_node *body = tvms_rewrite(r, let->body);
  if (value == let->value && body == let->body) return node;
  tvms_node *var = tvms_index_dtypes_var(d, let->var);
  return tvms_let_new(r->unit, var, value, body, node->span);
}

static tvms_node *enter_load(tvms_rewriter *r, tvms_node *node) {
  tvms_buffer_load now = *tvms_as_buffer_load(node);
  now.buffer = tvms_rewrite(r, now.buffer);
  now.indices = rewrite_indices(of(r), now.indices);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

// ---- Definitions ----

static tvms_node *enter_buffer(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = of(r);
  bool outer = d->enabled;
  d->enabled = true;
  node = tvms_rewrite_below(r, node);
  d->enabled = outer;
  return node;
}

static tvms_node *range_of(tvms_index_dtypes *d, tvms_node *node, tvms_dtype dtype) {
  tvms_range now = *tvms_as_range(node);
  now.min = cast(d, dtype, tvms_index_dtypes_rewrite(d, now.min, true));
  now.extent = cast(d, dtype, tvms_index_dtypes_rewrite(d, now.extent, true));
  return tvms_node_copy_changed(d->rewriter.unit, node, &now.head);
}

static tvms_node *enter_iter_var(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = of(r);
  tvms_iter_var now = *tvms_as_iter_var(node);
  now.var = tvms_index_dtypes_rewrite(d, now.var, true);
  if (now.dom) now.dom = range_of(d, now.dom, now.var->dtype);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

static tvms_node *enter_range(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = of(r);
  tvms_range now = *tvms_as_range(node);
  now.min = tvms_index_dtypes_rewrite(d, now.min, true);
  now.extent = tvms_index_dtypes_rewrite(d, now.extent, true);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

// ---- Statements ----

static tvms_node *enter_for(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = of(r);
  const tvms_for *loop = tvms_as_for(node);
  tvms_node *var = tvms_index_dtypes_rewrite(d, loop->var, true);
  tvms_node *min = tvms_index_dtypes_rewrite(d, loop->min, true);
  tvms_node *extent = tvms_index_dtypes_rewrite(d, loop->extent, true);
  tvms_node *body = tvms_rewrite(r, loop->body);
  if (!body) body = tvms_stmt_none(r->unit, node->span);
  bool same = var == loop->var && min == loop->min && extent == loop->extent;
  if (same && body == loop->body) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_for *made = tvms_as_for(copy);
  made->var = var;
  made->min = cast(d, var->dtype, min);
  made->extent = cast(d, var->dtype, extent);
  if (loop->step) made->step = cast(d, var->dtype, tvms_rewrite(r, loop->step));
  made->body = body;
  if (loop->thread) {
    const tvms_iter_var *old = tvms_as_iter_var(loop->thread);
    made->thread = tvms_node_copy(r->unit, loop->thread);
    tvms_node *axis =
        tvms_var_new(r->unit, tvms_as_var(old->var)->name, var->dtype, old->var->span);
    tvms_as_iter_var(made->thread)->var = old->var == loop->var ? var : axis;
  }
  return copy;
}

static tvms_node *enter_attr(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = of(r);
  tvms_attr_stmt now = *tvms_as_attr_stmt(node);
  if (!tvms_attr_stmt_threads(node)) {  // what it is about stays as it is
    now.value = tvms_rewrite(r, now.value);
    return tvms_node_copy_changed(r->unit, node, &now.head);
  }
  now.node = tvms_index_dtypes_rewrite(d, now.node, true);
  now.value = tvms_index_dtypes_rewrite(d, now.value, true);
  now.value = cast(d, tvms_as_iter_var(now.node)->var->dtype, now.value);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

// A variable that is an index elsewhere makes its value one.
static tvms_node *enter_bind(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = of(r);
  const tvms_bind *old = tvms_as_bind(node);
  tvms_bind now = *old;
  now.value = tvms_rewrite(r, old->value);
  bool scalar = !tvms_dtype_is_handle(old->var->dtype);
  if (scalar && !tvms_dtype_same(now.value->dtype, old->var->dtype)) {
    tvms_index_dtypes_replace(d, old->var, now.value->dtype);
  } else if (scalar && tvms_node_map_get(&d->vars, old->var)) {
    now.value = tvms_index_dtypes_rewrite(d, old->value, true);
    now.value = cast(d, tvms_index_dtypes_var(d, old->var)->dtype, now.value);
  }
  now.var = tvms_index_dtypes_var(d, old->var);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

static tvms_node *enter_store(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = of(r);
  const tvms_store *old = tvms_as_store(node);
  tvms_store now = *old;
  now.buffer = tvms_rewrite(r, old->buffer);
  now.value = tvms_rewrite(r, old->value);
  tvms_dtype element = tvms_as_buffer(now.buffer)->element;
  bool narrowed = now.value != old->value && tvms_dtype_is_scalar(now.value->dtype)
                  && !tvms_dtype_same(now.value->dtype, old->value->dtype);
  if (narrowed && !tvms_dtype_same(now.value->dtype, element))
    now.value = cast(d, element, now.value);
  now.indices = rewrite_indices(d, old->indices);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

static tvms_node *enter_if(tvms_rewriter *r, tvms_node *node) {
  tvms_if_then_else now = *tvms_as_if_then_else(node);
  now.condition = rewrite_condition(of(r), now.condition);
  now.then_case = tvms_rewrite(r, now.then_case);
  if (!now.then_case) now.then_case = tvms_stmt_none(r->unit, node->span);
  if (now.else_case) now.else_case = tvms_rewrite(r, now.else_case);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

static tvms_node *enter_realize(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = of(r);
  tvms_block_realize now = *tvms_as_block_realize(node);
  now.predicate = rewrite_condition(d, now.predicate);
  now.iter_values = rewrite_indices(d, now.iter_values);
  now.block = tvms_rewrite(r, now.block);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

void tvms_index_dtypes_init(tvms_index_dtypes *d, tvms_unit *unit, void *self) {
  *d = (tvms_index_dtypes){.self = self};
  tvms_rewriter *r = &d->rewriter;
  tvms_rewriter_init(r, unit, d);
  tvms_node_map_init(&d->vars, &unit->context->memory);
  // Buffers that are defined outside keep their form.
  r->roles = TVMS_IN(USE) | TVMS_IN(BODY) | TVMS_IN(DEFINE) | TVMS_IN(DEFINE_REC)
             | TVMS_IN(ACCESS);
  for (int kind = TVMS_NODE_ADD; kind <= TVMS_NODE_GE; kind++)
    r->enter[kind] = enter_binary;
  r->enter[TVMS_NODE_SELECT] = enter_select;
  r->leave[TVMS_NODE_RAMP] = leave_ramp;
  r->leave[TVMS_NODE_BROADCAST] = leave_broadcast;
  r->enter[TVMS_NODE_CALL] = enter_call;
  r->leave[TVMS_NODE_CALL] = leave_call;
  r->enter[TVMS_NODE_LET] = enter_let;
  r->enter[TVMS_NODE_BUFFER_LOAD] = enter_load;
  r->enter[TVMS_NODE_BUFFER] = enter_buffer;
  r->enter[TVMS_NODE_ITER_VAR] = enter_iter_var;
  r->enter[TVMS_NODE_RANGE] = enter_range;
  r->enter[TVMS_NODE_FOR] = enter_for;
  r->enter[TVMS_NODE_ATTR_STMT] = enter_attr;
  r->enter[TVMS_NODE_BIND] = enter_bind;
  r->enter[TVMS_NODE_STORE] = enter_store;
  r->enter[TVMS_NODE_IF_THEN_ELSE] = enter_if;
  r->enter[TVMS_NODE_BLOCK_REALIZE] = enter_realize;
}

void tvms_index_dtypes_fini(tvms_index_dtypes *d) {
  tvms_node_map_fini(&d->vars);
  tvms_rewriter_fini(&d->rewriter);
}
