// Which memory the values of a dataflow block may lie in.
#include "passes/relax/analysis/aliases.h"

#include "ir/walk.h"
#include "structinfo/definitions.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROOM = 1 << 24 };

typedef enum { NEW, FIRST, ANY } way;

static const uint8_t ways[TVMS_OP_COUNT + 1] = {
#define ALIAS(op, OF) [TVMS_R_##op] = OF,
#include "passes/relax/analysis/aliases.def"
};

bool tvms_relax_may_alias(tvms_opcode opcode) {
  return opcode == TVMS_R_NONE || ways[opcode] != NEW;
}

void tvms_relax_aliases_init(tvms_relax_aliases *a, const tvms_unit *unit) {
  *a = (tvms_relax_aliases){.memory = &unit->context->memory, .ids = unit->next_id};
  size_t size = a->ids * sizeof *a->entries;
  a->entries = memset(tvms_memory_alloc(a->memory, size + 1), 0, size);
  tvms_arena_init(&a->arena, a->memory);
  a->empty = tvms_arena_mark(&a->arena);
}

void tvms_relax_aliases_fini(tvms_relax_aliases *a) {
  tvms_vec_fini(a->memory, &a->places);
  tvms_vec_fini(a->memory, &a->found);
  tvms_arena_fini(&a->arena);
  tvms_memory_free(a->memory, a->entries);
}

// ---- Sets ----

static const tvms_alias_set nowhere = {NULL, 0, false};
static const tvms_alias_set anywhere = {NULL, 0, true};

// Room for a set; NULL: there are too many.
static uint32_t *TVMS_NULLABLE new_places(tvms_relax_aliases *a, uint32_t count) {
  if (a->room + count > MOST_ROOM) return NULL;
  a->room += count;
  return tvms_arena_array(&a->arena, uint32_t, count);
}

static tvms_alias_set one(tvms_relax_aliases *a, uint32_t place) {
  uint32_t *places = new_places(a, 1);
  if (!places) return anywhere;
  places[0] = place;
  return (tvms_alias_set){places, 1, false};
}

static tvms_alias_set unite(tvms_relax_aliases *a, tvms_alias_set x, tvms_alias_set y) {
  bool unknown = x.unknown || y.unknown;
  if (x.count == 0 || y.count == 0) {
    tvms_alias_set either = x.count ? x : y;
    return (tvms_alias_set){either.places, either.count, unknown};
  }
  uint32_t *places = new_places(a, x.count + y.count);
  if (!places) return anywhere;
  uint32_t i = 0, k = 0, count = 0;
  while (i < x.count || k < y.count) {
    bool first = k == y.count || (i < x.count && x.places[i] <= y.places[k]);
    uint32_t place = first ? x.places[i] : y.places[k];
    if (i < x.count && x.places[i] == place) i++;
    if (k < y.count && y.places[k] == place) k++;
    places[count++] = place;
  }
  return (tvms_alias_set){places, count, unknown};
}

bool tvms_relax_aliases_meet(tvms_alias_set a, tvms_alias_set b) {
  uint32_t i = 0, k = 0;
  while (i < a.count && k < b.count) {
    if (a.places[i] == b.places[k]) return true;
    if (a.places[i] < b.places[k])
      i++;
    else
      k++;
  }
  return false;
}

static void find(tvms_relax_aliases *a, tvms_alias_set set) {
  for (uint32_t i = 0; i < set.count; i++) {
    tvms_alias_place *place = &a->places.items[set.places[i]];
    if (place->seen == a->searches) continue;
    place->seen = a->searches;
    tvms_vec_push(a->memory, &a->found, set.places[i]);
  }
}

bool tvms_relax_aliases_reach(tvms_relax_aliases *a, tvms_alias_set set) {
  bool known = !set.unknown;
  a->searches++;
  a->found.len = 0;
  find(a, set);
  for (uint32_t i = 0; i < a->found.len; i++) {
    tvms_alias_place place = a->places.items[a->found.items[i]];
    for (uint32_t k = 0; k < place.count; k++) {
      known = known && !place.fields[k].unknown;
      find(a, place.fields[k]);
    }
  }
  return known;
}

static int compare_places(const void *x, const void *y) {
  uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  return a < b ? -1 : a > b;
}

// The set of all that is reached.
static tvms_alias_set whole(tvms_relax_aliases *a, tvms_alias_set set) {
  bool known = tvms_relax_aliases_reach(a, set);
  if (a->found.len == set.count) return (tvms_alias_set){set.places, set.count, !known};
  uint32_t *places = new_places(a, a->found.len);
  if (!places) return anywhere;
  memcpy(places, a->found.items, a->found.len * sizeof *places);
  qsort(places, a->found.len, sizeof *places, compare_places);
  return (tvms_alias_set){places, a->found.len, !known};
}

// ---- Values ----

static uint32_t new_place(tvms_relax_aliases *a) {
  tvms_vec_push(a->memory, &a->places, (tvms_alias_place){0});
  return a->places.len - 1;
}

static void set_fields(tvms_relax_aliases *a, uint32_t place,
                       const tvms_alias_set *fields, uint32_t count) {
  a->places.items[place].fields = fields;
  a->places.items[place].count = count;
}

// A new place for a value of this type, with new ones for the fields of tuples.
static uint32_t fresh(tvms_relax_aliases *a, const tvms_node *TVMS_NULLABLE type) {
  uint32_t place = new_place(a);
  if (!type || type->kind != TVMS_NODE_SINFO_TUPLE) return place;
  tvms_list types = tvms_as_sinfo_tuple(type)->fields;
  tvms_alias_set *fields = tvms_arena_array(&a->arena, tvms_alias_set, types.len + 1);
  for (uint32_t i = 0; i < types.len; i++)
    fields[i] = one(a, fresh(a, types.items[i]));
  set_fields(a, place, fields, types.len);
  return place;
}

// Adds `more` to the fields of a tuple that was just made, and to theirs.
static void add_to_fields(tvms_relax_aliases *a, uint32_t tuple, tvms_alias_set more) {
  tvms_alias_place place = a->places.items[tuple];
  if (place.count == 0) return;
  tvms_alias_set *fields = tvms_arena_array(&a->arena, tvms_alias_set, place.count);
  for (uint32_t i = 0; i < place.count; i++) {
    if (place.fields[i].count) add_to_fields(a, place.fields[i].places[0], more);
    fields[i] = unite(a, place.fields[i], more);
  }
  set_fields(a, tuple, fields, place.count);
}

tvms_alias_set tvms_relax_aliases_of(const tvms_relax_aliases *a,
                                     const tvms_node *node) {
  bool known = node->kind == TVMS_NODE_VAR && node->id < a->ids && a->block
               && a->entries[node->id].block == a->block;
  return known ? a->entries[node->id].set : anywhere;
}

static tvms_alias_set value_set(tvms_relax_aliases *a, tvms_node *value,
                                const tvms_node *TVMS_NULLABLE type);

static tvms_alias_set tuple_set(tvms_relax_aliases *a, tvms_list values) {
  tvms_alias_set *fields = tvms_arena_array(&a->arena, tvms_alias_set, values.len + 1);
  for (uint32_t i = 0; i < values.len; i++)
    fields[i] = value_set(a, values.items[i], values.items[i]->sinfo);
  uint32_t place = new_place(a);
  set_fields(a, place, fields, values.len);
  return one(a, place);
}

static tvms_alias_set item_set(tvms_relax_aliases *a, const tvms_tuple_get_item *item) {
  tvms_alias_set tuples = value_set(a, item->tuple, item->tuple->sinfo);
  if (tuples.unknown) return anywhere;
  tvms_alias_set all = nowhere;
  for (uint32_t i = 0; i < tuples.count; i++) {
    const tvms_alias_place *place = &a->places.items[tuples.places[i]];
    if (item->index < place->count) all = unite(a, all, place->fields[item->index]);
  }
  return all;
}

// What may give new memory, or any of its arguments.
static tvms_alias_set any_of(tvms_relax_aliases *a, const tvms_call *call,
                             const tvms_node *TVMS_NULLABLE type) {
  uint32_t result = fresh(a, type);
  tvms_alias_set all = whole(a, one(a, result));
  if (call->callee->kind == TVMS_NODE_VAR)
    all = unite(a, all, whole(a, tvms_relax_aliases_of(a, call->callee)));
  for (uint32_t i = 0; i < call->args.len; i++) {
    tvms_node *arg = call->args.items[i];
    all = unite(a, all, whole(a, value_set(a, arg, arg->sinfo)));
  }
  add_to_fields(a, result, all);
  return all;
}

typedef struct {
  tvms_relax_aliases *aliases;
  tvms_alias_set set;
} capture;

static tvms_walk_step capture_variable(void *self, tvms_node *node,
                                       tvms_field_role role) {
  capture *c = self;
  const tvms_relax_aliases *a = c->aliases;
  bool used = node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE && node->id < a->ids
              && a->entries[node->id].block == a->block;
  if (used)
    c->set = unite(c->aliases, c->set, whole(c->aliases, a->entries[node->id].set));
  return TVMS_WALK_ON;
}

// A function that is written out holds what it uses.
static tvms_alias_set function_set(tvms_relax_aliases *a, tvms_node *function) {
  capture c = {a, one(a, new_place(a))};
  tvms_visitor visitor = {.self = &c, .enter = capture_variable};
  tvms_walk(a->memory, function, &visitor);
  return c.set;
}

static tvms_alias_set call_set(tvms_relax_aliases *a, const tvms_call *call,
                               const tvms_node *TVMS_NULLABLE type) {
  tvms_opcode opcode = tvms_op_called(&call->head);
  if (opcode == TVMS_R_NONE || ways[opcode] == ANY) return any_of(a, call, type);
  if (ways[opcode] == FIRST && call->args.len)
    return value_set(a, call->args.items[0], call->args.items[0]->sinfo);
  return one(a, fresh(a, type));
}

static tvms_alias_set value_set(tvms_relax_aliases *a, tvms_node *value,
                                const tvms_node *type) {
  switch (value->kind) {
  case TVMS_NODE_VAR: return tvms_relax_aliases_of(a, value);
  case TVMS_NODE_CONSTANT: return one(a, new_place(a));
  case TVMS_NODE_FUNCTION: return function_set(a, value);
  case TVMS_NODE_TUPLE: return tuple_set(a, tvms_as_tuple(value)->fields);
  case TVMS_NODE_TUPLE_GET_ITEM: return item_set(a, tvms_as_tuple_get_item(value));
  case TVMS_NODE_CALL: return call_set(a, tvms_as_call(value), type);
  case TVMS_NODE_IF:
  case TVMS_NODE_SEQ_EXPR: return anywhere;
  default: return nowhere;
  }
}

void tvms_relax_aliases_look(tvms_relax_aliases *a, const tvms_node *block) {
  tvms_arena_reset(&a->arena, a->empty);
  a->places.len = 0;
  a->room = 0;
  a->block = block;
  tvms_list bindings = tvms_as_binding_block(block)->bindings;
  for (uint32_t i = 0; i < bindings.len; i++) {
    const tvms_node *var = tvms_relax_binding_var(bindings.items[i]);
    tvms_alias_set set =
        value_set(a, tvms_relax_binding_value(bindings.items[i]), var->sinfo);
    a->entries[var->id] = (tvms_alias_entry){set, block};
  }
}
