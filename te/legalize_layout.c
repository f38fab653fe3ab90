// Description of layout_transform: the elements at the places that an index map gives them.
//
// Where every place of the result has an element, the loops go over the data; else they go over
// the result, and places without element get the padding value. TVM makes the first of these
// with a schedule (transform_layout), which is where its names come from.
#include "arith/index_map.h"
#include "ir/clone.h"
#include "ir/rewrite.h"
#include "te/element.h"
#include "te/index_dtype.h"
#include "te/legalizers.h"
#include "te/nest.h"

#include <stdio.h>

typedef struct {
  tvms_te *te;
  const tvms_index_map *map;
  tvms_list from, shape;
} layout;

// What `node`, over the variables of a map, is for the axes of a stage.
static tvms_node *at_axes(layout *l, const tvms_index_map *map, tvms_stage *stage,
                          tvms_node *node) {
  tvms_te *te = l->te;
  tvms_node_map known;
  tvms_node_map_init(&known, &te->unit->context->memory);
  for (uint32_t i = 0; i < map->initial_indices.len; i++)
    tvms_node_map_put(&known, map->initial_indices.items[i], stage->axes.items[i]);
  tvms_node *made = tvms_substitute(te->unit, node, &known);
  tvms_node_map_fini(&known);
  // The map may have another dtype than the axes; what it says is built again in theirs.
  return tvms_te_normalize_index(te->unit, made, TVMS_DTYPE(INT, 64));
}

// The indices of the result for an element of the data.
static tvms_list places_of(layout *l, tvms_stage *stage) {
  tvms_list final = l->map->final_indices;
  tvms_list places = tvms_list_copy(l->te->unit, final.items, final.len);
  for (uint32_t i = 0; i < final.len; i++)
    places.items[i] = tvms_analyzer_simplify(l->te->analyzer,
                                             at_axes(l, l->map, stage, final.items[i]));
  return places;
}

static bool scatter_elements(tvms_legal *legal, layout *l, tvms_node *x) {
  tvms_te *te = l->te;
  const char **names =
      tvms_arena_array(&te->unit->arena, const char *, l->from.len + 1);
  char *texts = tvms_arena_array(&te->unit->arena, char, 16 * (l->from.len + 1));
  for (uint32_t i = 0; i < l->from.len; i++) {
    names[i] = "self";
    if (i == 0) continue;
    snprintf(texts + (size_t)16 * i, 16, "i%u", i - 1);
    names[i] = texts + (size_t)16 * i;
  }
  tvms_stage stage;
  tvms_te_open_named(te, &stage, l->from, names);
  tvms_node *out = tvms_te_tensor(te, legal->name, l->shape, tvms_te_dtype(x));
  tvms_store *store = tvms_node_make(te->unit, STORE, TVMS_NO_SPAN);
  store->buffer = out;
  store->value = tvms_te_load(te, x, stage.axes.items, l->from.len);
  store->indices = places_of(l, &stage);
  tvms_te_nest(&stage, legal->name, NULL, &store->head);
  (void)tvms_te_close(&stage, legal->name, NULL);  // frees the stage
  return tvms_legal_return(legal, out);
}

static bool gather_elements(tvms_legal *legal, layout *l,
                            const tvms_index_inverse *inverse, tvms_node *x,
                            tvms_node *fill) {
  tvms_te *te = l->te;
  const tvms_index_map *back = tvms_as_index_map(inverse->map);
  const char **names =
      tvms_arena_array(&te->unit->arena, const char *, l->shape.len + 1);
  for (uint32_t i = 0; i < l->shape.len; i++)
    names[i] = tvms_symbol_text(te->unit->context,
                                tvms_as_var(back->initial_indices.items[i])->name);
  tvms_stage stage;
  tvms_te_open_named(te, &stage, l->shape, names);
  tvms_list indices =
      tvms_list_copy(te->unit, back->final_indices.items, back->final_indices.len);
  for (uint32_t i = 0; i < indices.len; i++)
    indices.items[i] = at_axes(l, back, &stage, indices.items[i]);
  tvms_node *none = at_axes(l, back, &stage, inverse->padding);
  tvms_node *value = IF(none, fill, tvms_te_load(te, x, indices.items, indices.len));
  return tvms_legal_return(legal, tvms_te_close(&stage, legal->name, value));
}

static tvms_node *fill_value(tvms_legal *legal, tvms_dtype dtype) {
  const tvms_node *attr = tvms_attr(legal->call, TVMS_ATTR_layout_transform_pad_value);
  if (!attr) return tvms_te_const(&legal->te, dtype, 0);
  const tvms_node *value =
      attr->kind == TVMS_NODE_PRIM_VALUE ? tvms_as_prim_value(attr)->value : attr;
  if (tvms_node_is_int_imm(value)) {
    return tvms_te_const(&legal->te, dtype, (double)tvms_as_int_imm(value)->value);
  }
  return value->kind == TVMS_NODE_FLOAT_IMM
             ? tvms_te_const(&legal->te, dtype, tvms_as_float_imm(value)->value)
             : NULL;
}

bool tvms_legalize_layout_transform(tvms_legal *legal) {
  tvms_te *te = &legal->te;
  const tvms_node *attr = tvms_attr(legal->call, TVMS_ATTR_layout_transform_index_map);
  if (!attr || attr->kind != TVMS_NODE_INDEX_MAP) return false;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  layout l = {.te = te,
              .map = tvms_as_index_map(tvms_clone(te->unit, attr, NULL)),
              .from = tvms_te_shape(x)};
  tvms_index_inverse inverse;
  if (!tvms_legal_result_shape(legal, &l.shape)
      || l.map->final_indices.len != l.shape.len
      || !tvms_arith_map_inverse(te->unit, te->analyzer, attr, l.from, &inverse)) {
    return false;
  }
  bool pads = !tvms_node_is_int(inverse.padding, 0);
  legal->name = pads ? "te_layout_transform_with_pad" : "te_layout_transform";
  if (!pads) return scatter_elements(legal, &l, x);
  tvms_node *fill = fill_value(legal, tvms_te_dtype(x));
  return fill && gather_elements(legal, &l, &inverse, x, fill);
}
