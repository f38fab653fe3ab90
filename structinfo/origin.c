// Inferring a call again with fresh dimensions, to see where each goes.
#include "structinfo/origin.h"

#include "ir/walk.h"
#include "structinfo/make.h"
#include "support/trial.h"

#include <stdio.h>
#include <string.h>

// ---- Words of rules -------------------------------------------------------------------------

enum {
#define RULE(name, words) RULE_##name,
#include "structinfo/rules.def"
  RULE_none,
};

const char *TVMS_NULLABLE tvms_infer_words(tvms_opcode op) {
  static const char *const words[] = {
#define RULE(name, words) words,
#include "structinfo/rules.def"
  };
  static const uint8_t rules[] = {
#define OP(ident, name, schema, bind, signature, infer, ...)                           \
  [TVMS_R_##ident] = RULE_##infer,
#include "ir/ops.def"
  };
  if (op == TVMS_R_NONE || rules[op] == RULE_none) return NULL;
  return words[rules[op]];
}

// ---- Fresh dimensions -----------------------------------------------------------------------

// How dimensions are replaced, from the most telling way to the one that always works.
typedef enum { EACH_ITS_OWN, EQUAL_ONES_TOGETHER, SYMBOLS_ONLY, WAYS } way;

typedef struct {
  tvms_node *fresh;
  tvms_node *dim;  // what it stands for
  tvms_dim_source source;
} tag;

typedef struct {
  tvms_inference *in;
  way way;
  TVMS_VEC(tag) tags;
} tagging;

bool tvms_dims_at(const tvms_node *TVMS_NULLABLE type, int32_t field, tvms_list *dims) {
  if (type && field != TVMS_NO_FIELD) {
    bool has = type->kind == TVMS_NODE_SINFO_TUPLE
               && (uint32_t)field < tvms_as_sinfo_tuple(type)->fields.len;
    type = has ? tvms_as_sinfo_tuple(type)->fields.items[field] : NULL;
  }
  return type && tvms_sinfo_dims(type, dims);
}

static tvms_node *TVMS_NULLABLE equal_tag(tagging *t, tvms_node *dim) {
  for (uint32_t i = 0; i < t->tags.len; i++) {
    if (tvms_dim_equal(t->in->prover, t->tags.items[i].dim, dim))
      return t->tags.items[i].fresh;
  }
  return NULL;
}

// A variable that is called as the dimension is: x[0], or x[1][0] of a tuple.
static tvms_node *fresh_var(tagging *t, tvms_dim_source source) {
  enum { LONGEST = 64 };
  tvms_unit *unit = t->in->unit;
  const tvms_node *owner = t->in->call->args.items[source.argument];
  tvms_dim_place at = source.place;
  if (owner->kind == TVMS_NODE_TUPLE && at.field != TVMS_NO_FIELD) {
    owner = tvms_as_tuple(owner)->fields.items[at.field];
    at.field = TVMS_NO_FIELD;
  }
  const char *called = owner->kind == TVMS_NODE_VAR
                           ? tvms_symbol_text(unit->context, tvms_as_var(owner)->name)
                           : "shape";
  char name[LONGEST];
  if (at.field == TVMS_NO_FIELD)
    snprintf(name, sizeof name, "%.40s[%u]", called, at.dim);
  else
    snprintf(name, sizeof name, "%.40s[%d][%u]", called, (int)at.field, at.dim);
  return tvms_var_new(unit, tvms_symbol_intern(unit->context, name, strlen(name)),
                      TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
}

// What stands for a dimension in this trial. A 1 is broadcast, so it stays.
static tvms_node *fresh_dim(tagging *t, tvms_node *dim, tvms_dim_source source) {
  int64_t value;
  bool number = tvms_sinfo_dim_int(dim, &value);
  if (number && (value == 1 || t->way == SYMBOLS_ONLY)) return dim;
  tvms_node *fresh = t->way == EACH_ITS_OWN ? NULL : equal_tag(t, dim);
  if (!fresh) fresh = fresh_var(t, source);
  tag made = {fresh, dim, source};
  tvms_vec_push(&t->in->unit->context->memory, &t->tags, made);
  return fresh;
}

static tvms_node **fresh_dims(tagging *t, tvms_list dims, uint32_t argument,
                              int32_t field) {
  tvms_node **fresh = tvms_arena_array(&t->in->unit->arena, tvms_node *, dims.len);
  for (uint32_t i = 0; i < dims.len; i++) {
    fresh[i] = fresh_dim(t, dims.items[i], (tvms_dim_source){argument, {field, i}});
  }
  return fresh;
}

static tvms_node *fresh_type(tagging *t, tvms_node *type, uint32_t argument,
                             int32_t field) {
  tvms_unit *unit = t->in->unit;
  tvms_list dims;
  if (type->kind == TVMS_NODE_SINFO_TUPLE && field == TVMS_NO_FIELD) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    tvms_node **fresh = tvms_arena_array(&unit->arena, tvms_node *, fields.len);
    for (uint32_t i = 0; i < fields.len; i++) {
      fresh[i] = fresh_type(t, fields.items[i], argument, (int32_t)i);
    }
    return tvms_sinfo_tuple_new(unit, fresh, fields.len);
  }
  if (type->kind == TVMS_NODE_SINFO_SHAPE && tvms_sinfo_dims(type, &dims)) {
    return tvms_sinfo_shape_new(unit, fresh_dims(t, dims, argument, field), dims.len);
  }
  if (!tvms_sinfo_is_tensor(type) || !tvms_sinfo_tensor_dims(type, &dims)) return type;
  tvms_node *shape = tvms_sinfo_shape_value_new(
      unit, fresh_dims(t, dims, argument, field), dims.len, TVMS_NO_SPAN);
  return tvms_sinfo_tensor_new(unit, shape, type->dtype,
                               tvms_as_sinfo_tensor(type)->vdevice);
}

static tvms_node *fresh_value(tagging *t, tvms_node *value, uint32_t argument,
                              int32_t field) {
  tvms_unit *unit = t->in->unit;
  if (value->kind == TVMS_NODE_SHAPE_EXPR) {
    tvms_list dims = tvms_as_shape_expr(value)->values;
    return tvms_sinfo_shape_value_new(unit, fresh_dims(t, dims, argument, field),
                                      dims.len, value->span);
  }
  if (value->kind == TVMS_NODE_TUPLE && field == TVMS_NO_FIELD) {
    tvms_list fields = tvms_list_copy(unit, tvms_as_tuple(value)->fields.items,
                                      tvms_as_tuple(value)->fields.len);
    tvms_struct_TUPLE *tuple = tvms_node_make(unit, TUPLE, value->span);
    tvms_list types = tvms_list_copy(unit, fields.items, fields.len);
    for (uint32_t i = 0; i < fields.len; i++) {
      fields.items[i] = fresh_value(t, fields.items[i], argument, (int32_t)i);
      types.items[i] = tvms_sinfo_of(unit, fields.items[i]);
    }
    tuple->fields = fields;
    tuple->head.sinfo = tvms_sinfo_tuple_new(unit, types.items, types.len);
    return &tuple->head;
  }
  bool typed = value->kind == TVMS_NODE_VAR || value->kind == TVMS_NODE_CONSTANT;
  if (!typed || !value->sinfo || !tvms_dtype_is_void(value->dtype)) return value;
  tvms_node *fresh = tvms_var_new(unit, tvms_symbol_intern(unit->context, "v", 1),
                                  (tvms_dtype){0}, value->span);
  fresh->sinfo = fresh_type(t, value->sinfo, argument, field);
  return fresh;
}

// ---- The call again -------------------------------------------------------------------------

static tvms_node *TVMS_NULLABLE original_of(void *data, tvms_node *var) {
  const tagging *t = data;
  for (uint32_t i = 0; i < t->tags.len; i++) {
    if (t->tags.items[i].fresh == var) return t->tags.items[i].dim;
  }
  return NULL;
}

// The formula for the dimension in this trial; NULL if the rule says less of it than before.
static tvms_node *TVMS_NULLABLE formula_of(tagging *t, tvms_dim_place place,
                                           tvms_node *dim) {
  tvms_inference *in = t->in;
  tvms_unit *unit = in->unit;
  tvms_struct_CALL *call = tvms_node_make(unit, CALL, in->call->head.span);
  call->callee = in->call->callee;
  call->attrs = in->call->attrs;
  call->type_args = in->call->type_args;
  call->args = tvms_list_copy(unit, in->call->args.items, in->call->args.len);
  for (uint32_t i = 0; i < call->args.len; i++) {
    call->args.items[i] = fresh_value(t, call->args.items[i], i, TVMS_NO_FIELD);
  }
  tvms_inference again = *in;
  again.call = call;
  tvms_trial trial;
  tvms_trial_begin(&trial, &unit->context->diags);
  tvms_node *type = tvms_infer_call(&again);
  tvms_trial_drop(&trial);
  tvms_list dims;
  if (!tvms_dims_at(type, place.field, &dims) || place.dim >= dims.len) return NULL;
  tvms_node *formula = dims.items[place.dim];
  tvms_node *back = tvms_dim_substitute(unit, formula, original_of, t);
  return tvms_dim_equal(in->prover, back, dim) ? formula : NULL;
}

typedef struct {
  const tagging *tagging;
  bool *used;
} use_search;

static tvms_walk_step see_use(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  use_search *search = self;
  for (uint32_t i = 0; i < search->tagging->tags.len; i++) {
    if (search->tagging->tags.items[i].fresh == node) search->used[i] = true;
  }
  return TVMS_WALK_ON;
}

static tvms_dim_origin origin_of(tagging *t, tvms_node *formula) {
  tvms_unit *unit = t->in->unit;
  bool *used = tvms_arena_array(&unit->arena, bool, t->tags.len);
  tvms_dim_source *sources =
      tvms_arena_array(&unit->arena, tvms_dim_source, t->tags.len);
  for (uint32_t i = 0; i < t->tags.len; i++) {
    used[i] = false;
  }
  use_search search = {t, used};
  tvms_visitor visitor = {.self = &search, .enter = see_use};
  (void)tvms_walk(&unit->context->memory, formula, &visitor);
  tvms_dim_origin origin = {.formula = formula, .sources = sources};
  for (uint32_t i = 0; i < t->tags.len; i++) {
    if (used[i]) sources[origin.count++] = t->tags.items[i].source;
  }
  return origin;
}

tvms_dim_origin tvms_infer_origin(tvms_inference *in, tvms_dim_place place) {
  tvms_dim_origin origin = {0};
  tvms_list dims;
  const tvms_node *type = in->call->head.sinfo;
  if (!tvms_dims_at(type, place.field, &dims) || place.dim >= dims.len) return origin;
  for (way by = 0; by < WAYS && !origin.formula; by++) {
    tagging t = {.in = in, .way = by};
    tvms_node *formula = formula_of(&t, place, dims.items[place.dim]);
    if (formula) origin = origin_of(&t, formula);
    tvms_vec_fini(&in->unit->context->memory, &t.tags);
  }
  return origin;
}
