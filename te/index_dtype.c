// Bringing the indices of a function to one dtype, as TVM does it.
//
// The body is gone through twice. The first time shows which variables occur where an index
// is expected; the second time those have the new dtype wherever they stand, which is why an
// operand that is not an index gets a cast there. Comparisons count as indices in a condition
// only. A range of a block's variable that changes becomes (min, extent - min): TVM makes it
// from what it takes for begin and end.
#include "te/index_dtype.h"

#include "ir/fold_ops.h"
#include "ir/rewrite.h"

typedef struct {
  tvms_rewriter rewriter;
  tvms_dtype dtype;
  bool is_index;      // what is gone through is an index
  bool in_condition;  // and comparisons are
} normalizer;

static normalizer *self_of(tvms_rewriter *r) {
  return r->self;
}

static bool can_change(tvms_dtype dtype) {
  return dtype.code == TVMS_INT && dtype.bits >= 32 && dtype.lanes == 1;
}

static tvms_node *as_index(tvms_rewriter *r, tvms_node *node) {
  normalizer *n = self_of(r);
  bool outer = n->is_index;
  n->is_index = true;
  tvms_node *made = tvms_rewrite(r, node);
  n->is_index = outer;
  return made;
}

static tvms_list as_indices(tvms_rewriter *r, tvms_list list) {
  normalizer *n = self_of(r);
  bool outer = n->is_index;
  n->is_index = true;
  tvms_list made = tvms_rewrite_list(r, list);
  n->is_index = outer;
  return made;
}

static tvms_node *as_condition(tvms_rewriter *r, tvms_node *node) {
  normalizer *n = self_of(r);
  bool outer = n->in_condition;
  n->in_condition = true;
  tvms_node *made = tvms_rewrite(r, node);
  n->in_condition = outer;
  return made;
}

static tvms_node *cast(tvms_rewriter *r, tvms_dtype dtype, tvms_node *value) {
  tvms_node *made = tvms_build_cast(r->unit, dtype, value, value->span);
  TVMS_CHECK(made);
  return made;
}

static tvms_node *int_imm(tvms_rewriter *r, tvms_node *node) {
  normalizer *n = self_of(r);
  return n->is_index && can_change(node->dtype) ? cast(r, n->dtype, node) : node;
}

static tvms_node *var(tvms_rewriter *r, tvms_node *node) {
  normalizer *n = self_of(r);
  if (tvms_node_map_get(&r->known, node)) return TVMS_REWRITE_BELOW;
  if (!n->is_index || !can_change(node->dtype)
      || tvms_dtype_same(node->dtype, n->dtype)) {
    return node;
  }
  tvms_node *made = tvms_node_copy(r->unit, node);
  made->dtype = n->dtype;
  tvms_node_map_put(&r->known, node, made);
  return made;
}

static tvms_node *binary(tvms_rewriter *r, tvms_node *node) {
  const tvms_binary *old = tvms_as_binary(node);
  tvms_node *a = tvms_rewrite(r, old->a), *b = tvms_rewrite(r, old->b);
  if (a == old->a && b == old->b && tvms_dtype_same(a->dtype, b->dtype)) return node;
  tvms_node *made =
      tvms_build_binary(r->unit, (tvms_node_kind)node->kind, a, b, node->span);
  TVMS_CHECK(made);
  return made;
}

static tvms_node *comparison(tvms_rewriter *r, tvms_node *node) {
  normalizer *n = self_of(r);
  const tvms_binary *old = tvms_as_binary(node);
  bool outer = n->is_index;
  n->is_index = n->in_condition && old->a->dtype.code == TVMS_INT
                && old->b->dtype.code == TVMS_INT;
  tvms_node *made = binary(r, node);
  n->is_index = outer;
  return made;
}

static tvms_node *cast_node(tvms_rewriter *r, tvms_node *node) {
  normalizer *n = self_of(r);
  tvms_cast now = *tvms_as_cast(node);
  now.value = tvms_rewrite(r, now.value);
  if (!n->is_index || !can_change(node->dtype))
    return tvms_node_copy_changed(r->unit, node, &now.head);
  if (tvms_dtype_same(now.value->dtype, n->dtype)) return now.value;
  now.head.dtype = n->dtype;
  return tvms_node_copy(r->unit, &now.head);
}

static tvms_node *select(tvms_rewriter *r, tvms_node *node) {
  tvms_select *old = tvms_as_select(node);
  tvms_node *condition = as_condition(r, old->condition);
  tvms_node *yes = tvms_rewrite(r, old->true_value);
  tvms_node *no = tvms_rewrite(r, old->false_value);
  if (condition == old->condition && yes == old->true_value && no == old->false_value) {
    return node;
  }
  tvms_dtype dtype = yes->dtype.bits >= no->dtype.bits ? yes->dtype : no->dtype;
  return tvms_select_new(r->unit, condition, cast(r, dtype, yes), cast(r, dtype, no),
                         node->span);
}

// Operators on bits bring their operands to one dtype again.
static bool is_on_bits(tvms_tir_opcode op) {
  return op == TVMS_TIR_shift_left || op == TVMS_TIR_shift_right
         || op == TVMS_TIR_bitwise_and || op == TVMS_TIR_bitwise_or
         || op == TVMS_TIR_bitwise_xor;
}

static tvms_node *on_bits(tvms_rewriter *r, tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  tvms_node *a = tvms_rewrite(r, args.items[0]), *b = tvms_rewrite(r, args.items[1]);
  if (a == args.items[0] && b == args.items[1]) return node;
  tvms_node *made =
      tvms_build_bitwise(r->unit, tvms_call_opcode(node), a, b, node->span);
  TVMS_CHECK(made);
  return made;
}

// Both values of if_then_else keep their own dtype.
static tvms_node *call(tvms_rewriter *r, tvms_node *node) {
  tvms_call *old = tvms_as_call(node);
  if (is_on_bits(tvms_call_opcode(node))) return on_bits(r, node);
  if (tvms_call_opcode(node) != TVMS_TIR_if_then_else) return TVMS_REWRITE_BELOW;
  tvms_node *args[3] = {as_condition(r, old->args.items[0])};
  args[1] = tvms_rewrite(r, old->args.items[1]);
  args[2] = tvms_rewrite(r, old->args.items[2]);
  bool same = true;
  for (int i = 0; i < 3; i++)
    same = same && args[i] == old->args.items[i];
  if (same) return node;
  tvms_node *made = tvms_node_copy(r->unit, node);
  tvms_as_call(made)->args = tvms_list_copy(r->unit, args, 3);
  return made;
}

static tvms_node *load(tvms_rewriter *r, tvms_node *node) {
  tvms_buffer_load now = *tvms_as_buffer_load(node);
  now.indices = as_indices(r, now.indices);
  // Indices are a list anew, whatever is in it, which is a change of the block.
  return now.indices.len ? tvms_node_copy(r->unit, &now.head) : node;
}

static tvms_node *store(tvms_rewriter *r, tvms_node *node) {
  tvms_store now = *tvms_as_store(node);
  now.value = tvms_rewrite(r, now.value);
  now.indices = as_indices(r, now.indices);
  tvms_dtype element = tvms_as_buffer(now.buffer)->element;
  if (now.value->dtype.lanes == 1 && !tvms_dtype_same(now.value->dtype, element)) {
    now.value = cast(r, element, now.value);
  }
  if (now.indices.len) return tvms_node_copy(r->unit, &now.head);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

static tvms_node *loop(tvms_rewriter *r, tvms_node *node) {
  tvms_for now = *tvms_as_for(node);
  now.var = as_index(r, now.var);
  now.min = cast(r, now.var->dtype, as_index(r, now.min));
  now.extent = cast(r, now.var->dtype, as_index(r, now.extent));
  now.body = tvms_rewrite(r, now.body);
  return tvms_node_copy(r->unit, &now.head);
}

static tvms_node *iter_var(tvms_rewriter *r, tvms_node *node) {
  tvms_iter_var *old = tvms_as_iter_var(node);
  const tvms_range *dom = tvms_as_range(old->dom);
  tvms_node *var = as_index(r, old->var), *min = as_index(r, dom->min);
  tvms_node *extent = as_index(r, dom->extent);
  if (var == old->var && min == dom->min && extent == dom->extent) return node;
  if (!tvms_node_is_int(min, 0)) {
    extent = tvms_build_binary(r->unit, TVMS_NODE_SUB, extent, min, node->span);
  }
  tvms_iter_var *made = tvms_as_iter_var(tvms_node_copy(r->unit, node));
  made->var = var;
  made->dom = tvms_range_new(r->unit, min, extent, node->span);
  return &made->head;
}

static tvms_node *range(tvms_rewriter *r, tvms_node *node) {
  tvms_range now = *tvms_as_range(node);
  now.min = as_index(r, now.min);
  now.extent = as_index(r, now.extent);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

static tvms_node *region(tvms_rewriter *r, tvms_node *node) {
  tvms_buffer_region now = *tvms_as_buffer_region(node);
  now.region = tvms_rewrite_list(r, now.region);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

// In 0.26 a block of which nothing but the axes changes stays as it is, axes included.
static tvms_node *block(tvms_rewriter *r, tvms_node *node) {
  const tvms_block *old = tvms_as_block(node);
  tvms_block now = *old;
  now.reads = tvms_rewrite_list(r, old->reads);
  now.writes = tvms_rewrite_list(r, old->writes);
  now.iter_vars = tvms_rewrite_list(r, old->iter_vars);
  now.init = old->init ? tvms_rewrite(r, old->init) : NULL;
  now.body = tvms_rewrite(r, old->body);
  bool changed = now.reads.items != old->reads.items || now.init != old->init
                 || now.writes.items != old->writes.items || now.body != old->body;
  bool axes_stay =
      tvms_release_has(r->unit->dialect, TVMS_FACT_unchanged_blocks_keep_axes);
  if (!changed && axes_stay) return node;
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

static tvms_node *block_realize(tvms_rewriter *r, tvms_node *node) {
  tvms_block_realize now = *tvms_as_block_realize(node);
  now.predicate = as_condition(r, now.predicate);
  now.iter_values = as_indices(r, now.iter_values);
  now.block = tvms_rewrite(r, now.block);
  return tvms_node_copy(r->unit, &now.head);
}

static tvms_node *if_then_else(tvms_rewriter *r, tvms_node *node) {
  tvms_if_then_else now = *tvms_as_if_then_else(node);
  now.condition = as_condition(r, now.condition);
  now.then_case = tvms_rewrite(r, now.then_case);
  if (now.else_case) now.else_case = tvms_rewrite(r, now.else_case);
  return tvms_node_copy(r->unit, &now.head);
}

// A variable follows its value, and the value a variable that is an index elsewhere.
static tvms_node *bind(tvms_rewriter *r, tvms_node *node) {
  const tvms_bind *old = tvms_as_bind(node);
  tvms_bind now = *old;
  tvms_node *known = tvms_node_map_get(&r->known, old->var);
  now.value = known ? as_index(r, old->value) : tvms_rewrite(r, old->value);
  if (known) now.var = known;
  if (!known && !tvms_dtype_same(now.value->dtype, old->var->dtype)) {
    now.var = tvms_node_copy(r->unit, old->var);
    now.var->dtype = now.value->dtype;
    tvms_node_map_put(&r->known, old->var, now.var);
  }
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

static void setup(normalizer *n, tvms_unit *unit, tvms_dtype dtype) {
  *n = (normalizer){.dtype = dtype};
  tvms_rewriter *r = &n->rewriter;
  tvms_rewriter_init(r, unit, n);
  for (tvms_node_kind kind = TVMS_NODE_ADD; kind <= TVMS_NODE_MAX; kind++)
    r->enter[kind] = binary;
  for (tvms_node_kind kind = TVMS_NODE_EQ; kind <= TVMS_NODE_GE; kind++)
    r->enter[kind] = comparison;
  r->enter[TVMS_NODE_INT_IMM] = int_imm;
  r->enter[TVMS_NODE_VAR] = var;
  r->enter[TVMS_NODE_CAST] = cast_node;
  r->enter[TVMS_NODE_SELECT] = select;
  r->enter[TVMS_NODE_CALL] = call;
  r->enter[TVMS_NODE_BUFFER_LOAD] = load;
  r->enter[TVMS_NODE_STORE] = store;
  r->enter[TVMS_NODE_FOR] = loop;
  r->enter[TVMS_NODE_ITER_VAR] = iter_var;
  r->enter[TVMS_NODE_BUFFER_REGION] = region;
  r->enter[TVMS_NODE_RANGE] = range;
  r->enter[TVMS_NODE_BLOCK] = block;
  r->enter[TVMS_NODE_BLOCK_REALIZE] = block_realize;
  r->enter[TVMS_NODE_IF_THEN_ELSE] = if_then_else;
  r->enter[TVMS_NODE_BIND] = bind;
}

// Keeps what is known of variables: blocks and their ranges are to be seen again.
static void keep_variables(tvms_rewriter *r, const tvms_node_map *from) {
  for (uint32_t i = 0; i < from->cap; i++) {
    const tvms_node *key = from->pairs[i].key;
    if (key && key->kind == TVMS_NODE_VAR && from->pairs[i].value) {
      tvms_node_map_put(&r->known, key, from->pairs[i].value);
    }
  }
}

tvms_node *tvms_te_normalize_indices(tvms_unit *unit, tvms_node *body,
                                     tvms_dtype dtype) {
  normalizer first, second;
  setup(&first, unit, dtype);
  (void)tvms_rewrite(&first.rewriter, body);
  setup(&second, unit, dtype);
  keep_variables(&second.rewriter, &first.rewriter.known);
  tvms_node *made = tvms_rewrite(&second.rewriter, body);
  tvms_rewriter_fini(&first.rewriter);
  tvms_rewriter_fini(&second.rewriter);
  return made;
}

tvms_node *tvms_te_normalize_index(tvms_unit *unit, tvms_node *expr, tvms_dtype dtype) {
  normalizer n;
  setup(&n, unit, dtype);
  tvms_node *made = as_index(&n.rewriter, expr);
  tvms_rewriter_fini(&n.rewriter);
  return made;
}
