// Tile programs: layouts, scope ids, tile primitives, and buffers that are views of others.
#include "printer/tile.h"

#include "ir/object.h"
#include "printer/buffer.h"
#include "printer/expr.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/state.h"
#include "printer/stmt.h"
#include "printer/text.h"

// ---- Layouts ----

// `value @ Axis.name`; the memory axis m is not said. `summand`: behind a plus sign.
static void print_on_axis(tvms_printer *p, const tvms_node *value, tvms_sym axis,
                          bool summand) {
  const char *name = tvms_symbol_text(p->context, axis);
  if (strcmp(name, "m") == 0) {
    tvms_print_expr(p, value, summand ? LEVEL_MUL : LEVEL_ANY);
    return;
  }
  tvms_print_expr(p, value, LEVEL_MUL);
  PUT(p, " @ Axis.");
  tvms_print_put(p, name);
}

// T.S[extents:strides].
static void print_iters(tvms_printer *p, const char *head, tvms_list iters) {
  tvms_print_t(p, head);
  tvms_print_put(p, iters.len == 1 ? "[" : "[(");
  for (uint32_t i = 0; i < iters.len; i++) {
    if (i) PUT(p, ", ");
    tvms_print_any(p, tvms_as_layout_iter(iters.items[i])->extent);
  }
  tvms_print_put(p, iters.len == 1 ? ":" : "):(");
  for (uint32_t i = 0; i < iters.len; i++) {
    const tvms_layout_iter *iter = tvms_as_layout_iter(iters.items[i]);
    if (i) PUT(p, ", ");
    print_on_axis(p, iter->stride, iter->axis, false);
  }
  tvms_print_put(p, iters.len == 1 ? "]" : ")]");
}

// The axis that comes next in byte order after `last`; NULL at the end.
static const tvms_layout_iter *next_offset(const tvms_printer *p, tvms_list offset,
                                           const char *TVMS_NULLABLE last) {
  const tvms_layout_iter *best = NULL;
  for (uint32_t i = 0; i < offset.len; i++) {
    const tvms_layout_iter *iter = tvms_as_layout_iter(offset.items[i]);
    const char *name = tvms_symbol_text(p->context, iter->axis);
    if (last && strcmp(name, last) <= 0) continue;
    if (!best || strcmp(name, tvms_symbol_text(p->context, best->axis)) < 0)
      best = iter;
  }
  return best;
}

static void print_offset(tvms_printer *p, tvms_list offset) {
  const tvms_layout_iter *iter = next_offset(p, offset, NULL);
  bool first = true;
  while (iter) {
    if (!first) PUT(p, " + ");
    print_on_axis(p, iter->stride, iter->axis, offset.len == 1 || !first);
    first = false;
    iter = next_offset(p, offset, tvms_symbol_text(p->context, iter->axis));
  }
}

static void print_from_iters(tvms_printer *p, const tvms_tile_layout *layout) {
  tvms_print_t(p, "TileLayout.from_iters(");
  for (uint32_t i = 0; i < layout->offset.len; i++) {
    const tvms_layout_iter *iter = tvms_as_layout_iter(layout->offset.items[i]);
    tvms_print_put(p, i ? ", \"" : "offset={\"");
    tvms_print_sym(p, iter->axis);
    PUT(p, "\": ");
    tvms_print_any(p, iter->stride);
  }
  tvms_print_put(p, layout->offset.len ? "})" : ")");
}

static void print_tile_layout(tvms_printer *p, const tvms_tile_layout *layout) {
  if (layout->shard.len == 0 && layout->replica.len == 0) {
    print_from_iters(p, layout);
    return;
  }
  tvms_print_t(p, "TileLayout(");
  if (layout->shard.len) print_iters(p, "S", layout->shard);
  if (layout->replica.len) {
    if (layout->shard.len) PUT(p, " + ");
    print_iters(p, "R", layout->replica);
  }
  if (layout->offset.len) {
    PUT(p, " + ");
    bool several = layout->offset.len > 1;
    if (several) PUT(p, "(");
    print_offset(p, layout->offset);
    if (several) PUT(p, ")");
  }
  PUT(p, ")");
}

static void print_compose_layout(tvms_printer *p, const tvms_compose_layout *layout) {
  if (!layout->tile_layout
      && !tvms_release_has(p->dialect, TVMS_FACT_swizzles_are_layouts)) {
    tvms_print_cannot(p, &layout->head, "T.SwizzleLayout");
    return;
  }
  bool apart = tvms_release_has(p->dialect, TVMS_FACT_swizzles_are_layouts);
  if (layout->tile_layout) tvms_print_t(p, "ComposeLayout(");
  if (apart) tvms_print_t(p, "SwizzleLayout(");
  tvms_print_int(p, layout->per_element);
  PUT(p, ", ");
  tvms_print_int(p, layout->swizzle_len);
  PUT(p, ", ");
  tvms_print_int(p, layout->atom_len);
  if (apart) {
    tvms_print_put(p, layout->swizzle_inner ? ", swizzle_inner=True)"
                                            : ", swizzle_inner=False)");
  }
  if (!layout->tile_layout) return;
  PUT(p, ", ");
  tvms_print_layout_value(p, layout->tile_layout);
  if (!apart && !layout->swizzle_inner) PUT(p, ", swizzle_inner=False");
  PUT(p, ")");
}

void tvms_print_layout_value(tvms_printer *p, const tvms_node *layout) {
  if (layout->kind == TVMS_NODE_TILE_LAYOUT)
    print_tile_layout(p, tvms_as_tile_layout(layout));
  else if (layout->kind == TVMS_NODE_COMPOSE_LAYOUT)
    print_compose_layout(p, tvms_as_compose_layout(layout));
  else
    tvms_print_object(p, layout);
}

// ---- Scope ids ----

void tvms_print_scope_id(tvms_printer *p, const tvms_node *stmt) {
  const tvms_scope_id *node = tvms_as_scope_id(stmt);
  if (!tvms_release_has(p->dialect, TVMS_FACT_tile_programs_exist))
    tvms_print_cannot(p, stmt, "scope ids");
  for (uint32_t i = 0; i < node->vars.len; i++) {
    if (i) PUT(p, ", ");
    tvms_print_sym(p,
                   tvms_print_define(p, node->vars.items[i], tvms_print_top_index(p)));
  }
  PUT(p, " = ");
  tvms_print_t(p, tvms_symbol_text(p->context, node->scope));
  PUT(p, "(");
  bool first = true;
  bool pair = strcmp(tvms_symbol_text(p->context, node->scope), "cta_id_in_pair") == 0;
  if (node->extents.len && !pair) {
    tvms_print_comma(p, &first);
    PUT(p, "[");
    tvms_print_list(p, node->extents);
    PUT(p, "]");
  }
  if (node->preferred.len) {
    tvms_print_comma(p, &first);
    PUT(p, "preferred=[");
    tvms_print_list(p, node->preferred);
    PUT(p, "]");
  }
  tvms_dtype dtype = node->vars.len ? node->vars.items[0]->dtype : TVMS_DTYPE(INT, 32);
  if (tvms_release_has(p->dialect, TVMS_FACT_scope_ids_have_dtypes)
      && !tvms_dtype_same(dtype, TVMS_DTYPE(INT, 32))) {
    tvms_print_comma(p, &first);
    PUT(p, "dtype=");
    tvms_print_quoted_dtype(p, dtype);
  }
  PUT(p, ")");
}

// ---- Tile primitives ----

static void print_tile_callee(tvms_printer *p, const tvms_tile_call *call) {
  const char *scope = tvms_symbol_text(p->context, call->scope);
  tvms_print_t(p, *scope ? scope : "tile");
  PUT(p, ".");
  tvms_print_sym(p, call->op);
}

static bool same_region(const tvms_node *a, const tvms_node *b) {
  if (!a || !b || a->kind != TVMS_NODE_BUFFER_REGION
      || b->kind != TVMS_NODE_BUFFER_REGION) {
    return false;
  }
  const tvms_buffer_region *x = tvms_as_buffer_region(a);
  const tvms_buffer_region *y = tvms_as_buffer_region(b);
  if (x->buffer != y->buffer || x->region.len != y->region.len) return false;
  for (uint32_t i = 0; i < x->region.len; i++) {
    const tvms_range *u = tvms_as_range(x->region.items[i]);
    const tvms_range *v = tvms_as_range(y->region.items[i]);
    if (!tvms_print_same(u->min, v->min) || !tvms_print_same(u->extent, v->extent)) {
      return false;
    }
  }
  return true;
}

static bool is_none(const tvms_node *arg) {
  return !arg || arg->kind == TVMS_NODE_OBJECT_NONE;
}

static void print_tile_args(tvms_printer *p, const tvms_tile_call *call, bool *first) {
  uint32_t count = call->args.len;
  while (count && is_none(call->args.items[count - 1])) {
    count--;
  }
  if (count == 2 && same_region(call->args.items[0], call->args.items[1])) count = 1;
  for (uint32_t i = 0; i < count; i++) {
    const tvms_node *arg = call->args.items[i];
    tvms_print_comma(p, first);
    if (arg && arg->kind == TVMS_NODE_INDEX_MAP)
      tvms_print_lambda(p, arg);
    else if (arg)
      tvms_print_object(p, arg);
    else
      PUT(p, "None");
  }
}

static void print_config(tvms_printer *p, const tvms_node *config, bool *first) {
  if (!tvms_object_map_count(config)) return;
  const tvms_object_map *map = tvms_as_object_map(config);
  for (uint32_t i = 0; i < map->keys.len; i++) {
    const char *key = tvms_object_as_text(map->keys.items[i]);
    tvms_print_comma(p, first);
    tvms_print_put(p, key ? key : "");
    PUT(p, "=");
    tvms_print_object(p, map->values.items[i]);
  }
}

// The keywords of a call: workspace, dispatch and its configuration.
static void print_options(tvms_printer *p, const tvms_tile_call *call, bool *first) {
  if (tvms_object_map_count(call->workspace)) {
    tvms_print_comma(p, first);
    PUT(p, "workspace=");
    tvms_print_object(p, call->workspace);
  }
  if (call->dispatch.len) {
    tvms_print_comma(p, first);
    PUT(p, "dispatch=");
    tvms_print_quoted(p, call->dispatch.text, call->dispatch.len);
  }
  print_config(p, call->config, first);
}

static void print_compose_op(tvms_printer *p, const tvms_node *stmt) {
  const tvms_tile_call *call = tvms_as_tile_call(stmt);
  bool first = true;
  PUT(p, "with ");
  print_tile_callee(p, call);
  PUT(p, "(");
  print_options(p, call, &first);
  PUT(p, "):");
  tvms_print_end(p);
  p->indent++;
  tvms_print_push(p, FRAME_TIR, stmt);
  for (uint32_t i = 0; i < call->args.len; i++) {
    tvms_print_stmt(p, call->args.items[i]);
  }
  tvms_print_pop(p);
  p->indent--;
}

void tvms_print_tile_call(tvms_printer *p, const tvms_node *stmt) {
  const tvms_tile_call *call = tvms_as_tile_call(stmt);
  if (!tvms_release_has(p->dialect, TVMS_FACT_tile_programs_exist))
    tvms_print_cannot(p, stmt, "tile primitives");
  if (strcmp(tvms_symbol_text(p->context, call->op), "compose_op") == 0) {
    print_compose_op(p, stmt);
    return;
  }
  bool first = true;
  print_tile_callee(p, call);
  PUT(p, "(");
  print_tile_args(p, call, &first);
  print_options(p, call, &first);
  PUT(p, ")");
  tvms_print_end(p);
}
