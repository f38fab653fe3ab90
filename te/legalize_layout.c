// Description of layout_transform: the elements at the places that an index map gives them.
//
// Where every place of the result has an element, the loops go over the data; else they go over
// the result, and places without element get the padding value. TVM makes the first of these
// with a schedule (transform_layout), which is where its names come from; of maps that pad,
// those are known here that split axes and order the parts.
#include "ir/clone.h"
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

// What a place of the result is: all of an axis of the data, a quotient or a remainder.
typedef enum { PART_ALL, PART_QUOTIENT, PART_REMAINDER } part_kind;

typedef struct {
  part_kind kind;
  uint32_t axis;
  int64_t factor;
} part;

static bool part_of(const layout *l, const tvms_node *index, part *found) {
  const tvms_node *whole = index;
  *found = (part){.kind = PART_ALL, .factor = 1};
  if (index->kind == TVMS_NODE_FLOOR_DIV || index->kind == TVMS_NODE_FLOOR_MOD) {
    const tvms_binary *binary = (const tvms_binary *)index;
    if (!tvms_node_is_int_imm(binary->b)) return false;
    found->kind = index->kind == TVMS_NODE_FLOOR_DIV ? PART_QUOTIENT : PART_REMAINDER;
    found->factor = tvms_as_int_imm(binary->b)->value;
    whole = binary->a;
  }
  for (uint32_t i = 0; i < l->map->initial_indices.len; i++) {
    found->axis = i;
    if (l->map->initial_indices.items[i] == whole) return found->factor > 0;
  }
  return false;
}

static bool volume(tvms_list shape, int64_t *product) {
  *product = 1;
  for (uint32_t i = 0; i < shape.len; i++) {
    if (!tvms_node_is_int_imm(shape.items[i])) return false;
    if (__builtin_mul_overflow(*product, tvms_as_int_imm(shape.items[i])->value,
                               product)) {
      return false;
    }
  }
  return true;
}

// The indices of the result for an element of the data.
static tvms_list places_of(layout *l, tvms_stage *stage) {
  tvms_te *te = l->te;
  tvms_node_map known;
  tvms_node_map_init(&known, &te->unit->context->memory);
  tvms_list initial = l->map->initial_indices, final = l->map->final_indices;
  for (uint32_t i = 0; i < initial.len; i++)
    tvms_node_map_put(&known, initial.items[i], stage->axes.items[i]);
  tvms_list places = tvms_list_copy(te->unit, final.items, final.len);
  for (uint32_t i = 0; i < final.len; i++) {
    tvms_node *place = tvms_clone(te->unit, final.items[i], &known);
    // What was cloned has the dtype of the map; it is built again in that of the axes.
    place = tvms_te_normalize_index(te->unit, place, TVMS_DTYPE(INT, 64));
    places.items[i] = tvms_analyzer_simplify(te->analyzer, place);
  }
  tvms_node_map_fini(&known);
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

// `axis` of the result that is this part of an axis of the data, or NULL.
static tvms_node *axis_with(const layout *l, tvms_stage *stage, uint32_t axis,
                            part_kind kind, int64_t *factor) {
  part p;
  for (uint32_t i = 0; i < l->shape.len; i++) {
    if (part_of(l, l->map->final_indices.items[i], &p) && p.axis == axis
        && p.kind == kind) {
      *factor = p.factor;
      return stage->axes.items[i];
    }
  }
  return NULL;
}

// How long an axis of the data is.
static int64_t extent_at(const layout *l, uint32_t axis) {
  return tvms_as_int_imm(l->from.items[axis])->value;
}

// The index of the data along `axis` for a place of the result.
static tvms_node *source_index(const layout *l, tvms_stage *stage, uint32_t axis) {
  tvms_te *te = l->te;
  int64_t whole, over, rest;
  tvms_node *all = axis_with(l, stage, axis, PART_ALL, &whole);
  tvms_node *quotient = axis_with(l, stage, axis, PART_QUOTIENT, &over);
  tvms_node *remainder = axis_with(l, stage, axis, PART_REMAINDER, &rest);
  if (all) return quotient || remainder ? NULL : all;
  // An axis that is shorter than the divisor is its own remainder.
  if (!quotient && remainder && extent_at(l, axis) <= rest) return remainder;
  if (!quotient || !remainder || over != rest) return NULL;
  return ADD(MUL(quotient, INDEX(over)), remainder);
}

// Which places of the result have no element, in the order of their quotients.
static tvms_node *padding(const layout *l, tvms_stage *stage) {
  tvms_te *te = l->te;
  tvms_node *none = NULL;
  for (uint32_t i = 0; i < l->shape.len; i++) {
    part p;
    int64_t factor;
    if (!part_of(l, l->map->final_indices.items[i], &p) || p.kind == PART_ALL) continue;
    int64_t extent = extent_at(l, p.axis);
    bool alone = p.kind == PART_REMAINDER;
    if (alone && axis_with(l, stage, p.axis, PART_QUOTIENT, &factor)) continue;
    tvms_node *inner = axis_with(l, stage, p.axis, PART_REMAINDER, &factor);
    if (extent % p.factor == 0 || !inner) continue;
    int64_t rest = extent % p.factor;
    tvms_node *behind = rest == p.factor - 1 ? EQ(inner, INDEX(rest))  // the last one
                                             : LE(INDEX(rest), inner);
    if (extent > p.factor) {
      behind = AND(EQ(stage->axes.items[i], INDEX(extent / p.factor)), behind);
    }
    none = none ? OR(none, behind) : behind;
  }
  return none;
}

enum { NAME_SIZE = 16 };

// An axis that is one of the data has the name that the map gives it, the others a number.
static const char **names_of_axes(const layout *l) {
  tvms_arena *arena = &l->te->unit->arena;
  const char **names = tvms_arena_array(arena, const char *, l->shape.len + 1);
  for (uint32_t i = 0; i < l->shape.len; i++) {
    const tvms_node *index = l->map->final_indices.items[i];
    char *text = tvms_arena_array(arena, char, NAME_SIZE);
    snprintf(text, NAME_SIZE, "axis%u", i);
    names[i] = index->kind == TVMS_NODE_VAR
                   ? tvms_symbol_text(l->te->unit->context, tvms_as_var(index)->name)
                   : text;
  }
  return names;
}

static bool gather_elements(tvms_legal *legal, layout *l, tvms_node *x,
                            tvms_node *fill) {
  tvms_te *te = l->te;
  tvms_stage stage;
  tvms_te_open_named(te, &stage, l->shape, names_of_axes(l));
  tvms_node **indices =
      tvms_arena_array(&te->unit->arena, tvms_node *, l->from.len + 1);
  bool fine = l->map->final_indices.len >= l->from.len;
  for (uint32_t i = 0; i < l->from.len; i++) {
    indices[i] = source_index(l, &stage, i);
    fine = fine && indices[i];
  }
  tvms_node *none = padding(l, &stage), *value = NULL;
  if (fine && none) {
    value = IF(none, fill, tvms_te_load(te, x, indices, l->from.len));
  }
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
  layout l = {.te = te, .map = tvms_as_index_map(attr), .from = tvms_te_shape(x)};
  int64_t before, after;
  if (!tvms_legal_result_shape(legal, &l.shape)
      || l.map->initial_indices.len != l.from.len
      || l.map->final_indices.len != l.shape.len || !volume(l.from, &before)
      || !volume(l.shape, &after)) {
    return false;
  }
  legal->name =
      before == after ? "te_layout_transform" : "te_layout_transform_with_pad";
  if (before == after) return scatter_elements(legal, &l, x);
  tvms_node *fill = fill_value(legal, tvms_te_dtype(x));
  return fill && gather_elements(legal, &l, x, fill);
}
