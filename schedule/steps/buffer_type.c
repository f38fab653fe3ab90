// set_scope, unsafe_set_dtype, storage_align: what a buffer that the function allocates is like. set_axis_separator, up to 0.25: at which of its
// dimensions one of its memory begins. TVM: src/s_tir/schedule/primitive/block_annotate.cc, layout_transformation.cc.
#include "ir/object.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffer_argument.h"
#include "schedule/buffers.h"
#include "schedule/cache_stage.h"
#include "schedule/steps.h"
#include "schedule/storage_scope.h"

#include <string.h>

// The block that allocates the buffer; TVMS_NO_SITE after a refusal.
static int32_t allocation_of(tvms_sched *s, int32_t block, const tvms_node *buffer) {
  bool matched;
  int32_t site = tvms_sched_definer(s, block, buffer, &matched);
  if (site == TVMS_NO_SITE)
    (void)!tvms_sched_refuse(s, "'%s' is %s, not allocated in the function",
                             tvms_sched_buffer_name(s, buffer),
                             matched ? "matched" : "a parameter");
  return site;
}

// ---- New buffers for old ones ----

typedef struct {
  tvms_sched *sched;
  tvms_node_map buffers;                      // old -> new
  const char *TVMS_NULLABLE scope;            // that they get …
  const tvms_list *TVMS_NULLABLE separators;  // … or these …
  uint32_t rank;                              // of the buffer that has them
  tvms_dtype dtype;                           // … or this
} retyping;

// Is the type of the elements another one?
static bool casts(const retyping *t) {
  return !t->scope && !t->separators;
}

// A part of other dimensions gets as many zeros, as in TVM.
static tvms_list separators_of(const retyping *t, const tvms_node *buffer) {
  tvms_unit *unit = t->sched->unit;
  tvms_list given = *t->separators;
  tvms_list made = tvms_list_copy(unit, given.items, given.len);
  for (uint32_t i = 0; i < made.len; i++)
    if (tvms_as_buffer(buffer)->shape.len != t->rank)
      made.items[i] = tvms_sched_int(t->sched, TVMS_DTYPE(INT, 32), 0);
  return made;
}

static void replace_buffer(retyping *t, tvms_node *old) {
  tvms_sched *s = t->sched;
  const char *name = tvms_sched_buffer_name(s, old);
  const char *scope = tvms_storage_scope_of(s->context, old);
  tvms_node *made;
  if (t->scope) {
    made = tvms_sched_buffer_like(s, old, tvms_sched_joined(s, name, t->scope),
                                  t->scope, NULL);
  } else if (t->separators) {
    made = tvms_node_copy(s->unit, old);
    tvms_as_buffer(made)->axis_separators = separators_of(t, old);
  } else {
    tvms_buffer *copy = tvms_as_buffer(tvms_node_copy(s->unit, old));
    copy->element = t->dtype;
    copy->data = tvms_pointer_var_new(
        s->unit, copy->name, t->dtype,
        tvms_symbol_intern(s->context, scope, strlen(scope)), TVMS_NO_SPAN);
    made = &copy->head;
  }
  tvms_node_map_put(&t->buffers, old, made);
}

// Buffers that match a part of one change with it.
static tvms_walk_step see_match(void *self, tvms_node *node, tvms_field_role role) {
  retyping *t = self;
  (void)role;
  if (node->kind != TVMS_NODE_MATCH_BUFFER_REGION) return TVMS_WALK_ON;
  const tvms_match_buffer_region *match = tvms_as_match_buffer_region(node);
  const tvms_node *source = tvms_as_buffer_region(match->source)->buffer;
  if (tvms_node_map_get(&t->buffers, source)) replace_buffer(t, match->buffer);
  return TVMS_WALK_SKIP;
}

static tvms_node *cast_load(tvms_rewriter *r, tvms_node *node) {
  const retyping *t = r->self;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (!casts(t) || load->buffer == tvms_as_buffer_load(r->old)->buffer) return node;
  tvms_node *made =
      tvms_buffer_load_new(r->unit, load->buffer, load->indices.items,
                           load->indices.len, load->predicate, TVMS_NO_SPAN);
  return tvms_cast_new(r->unit, r->old->dtype, made, TVMS_NO_SPAN);
}

static tvms_node *cast_store(tvms_rewriter *r, tvms_node *node) {
  const retyping *t = r->self;
  if (!casts(t) || tvms_as_store(node)->buffer == tvms_as_store(r->old)->buffer)
    return node;
  tvms_store *store = tvms_as_store(tvms_node_copy(r->unit, node));
  store->value = tvms_cast_new(r->unit, t->dtype, store->value, TVMS_NO_SPAN);
  return &store->head;
}

// What the buffer became; everything below the site uses that.
static tvms_node *retype(retyping *t, int32_t site, tvms_node *buffer) {
  tvms_sched *s = t->sched;
  tvms_node *old = tvms_sched_at(s, site)->node;
  tvms_node_map_init(&t->buffers, &s->context->memory);
  replace_buffer(t, buffer);
  tvms_visitor visitor = {.self = t, .enter = see_match};
  (void)tvms_walk(&s->context->memory, old, &visitor);
  tvms_rewriter r;
  tvms_rewriter_init(&r, s->unit, t);
  for (uint32_t i = 0; i < t->buffers.cap; i++) {
    const tvms_node_pair *pair = &t->buffers.pairs[i];
    if (!pair->key || !pair->value) continue;
    tvms_node_map_put(&r.known, pair->key, pair->value);
    tvms_node_map_put(&r.known, tvms_as_buffer(pair->key)->data,
                      tvms_as_buffer(pair->value)->data);
  }
  r.leave[TVMS_NODE_BUFFER_LOAD] = cast_load;
  r.leave[TVMS_NODE_STORE] = cast_store;
  tvms_node *made = tvms_rewrite(&r, old);
  tvms_rewriter_fini(&r);
  tvms_node *type = tvms_node_map_get(&t->buffers, buffer);
  tvms_node_map_fini(&t->buffers);
  tvms_sched_replace_one(s, old, made);
  return type;
}

bool tvms_step_set_scope(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t block = tvms_step_site(step, TVMS_ARG(SetScope, block));
  if (block == TVMS_NO_SITE) return false;
  const char *scope = step->args[TVMS_ARG(SetScope, storage_scope)].text;
  tvms_node *buffer =
      tvms_step_numbered_buffer(step, TVMS_ARG(SetScope, buffer_index), block, true);
  if (!buffer) return false;
  if (strcmp(tvms_storage_scope_of(s->context, buffer), scope) == 0) return true;
  if (!tvms_cache_check_scope(s, scope)) return false;
  int32_t site = allocation_of(s, block, buffer);
  if (site == TVMS_NO_SITE) return false;
  retyping t = {.sched = s, .scope = scope};
  (void)retype(&t, site, buffer);
  return true;
}

bool tvms_step_unsafe_set_dtype(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t block = tvms_step_site(step, TVMS_ARG(UnsafeSetDType, block));
  if (block == TVMS_NO_SITE) return false;
  const char *text = step->args[TVMS_ARG(UnsafeSetDType, dtype)].text;
  retyping t = {.sched = s};
  if (!tvms_dtype_parse(text, strlen(text), &t.dtype))
    return tvms_sched_refuse(s, "'%s' is no data type", text);
  tvms_node *buffer = tvms_cache_buffer(
      s, block, step->args[TVMS_ARG(UnsafeSetDType, buffer_index)].number, true);
  if (!buffer) return false;
  if (tvms_dtype_same(tvms_as_buffer(buffer)->element, t.dtype)) return true;
  int32_t site = allocation_of(s, block, buffer);
  if (site == TVMS_NO_SITE) return false;
  (void)retype(&t, site, buffer);
  return true;
}

// ---- set_axis_separator ----

// As TVM asks where it makes a buffer, of what the step leaves to it.
static bool check_separators(tvms_sched *s, const tvms_sched_value *places,
                             const tvms_node *buffer) {
  uint32_t rank = tvms_as_buffer(buffer)->shape.len;
  int64_t last = 0;
  for (uint32_t i = 0; i < places->len; i++) {
    int64_t place = places->items[i].number;
    if (place < last || place > rank)
      return tvms_sched_refuse(s, "the separators do not increase from 0 to %u", rank);
    last = place;
  }
  return true;
}

bool tvms_step_set_axis_separator(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t block = tvms_step_site(step, TVMS_ARG(SetAxisSeparator, block));
  if (block == TVMS_NO_SITE) return false;
  if (!tvms_release_has(s->unit->dialect, TVMS_FACT_buffers_have_separators))
    return tvms_sched_refuse(s, "buffers of this release have no separators");
  bool write, parameter;
  tvms_node *buffer =
      tvms_step_buffer(step, TVMS_ARG(SetAxisSeparator, buffer), block, &write);
  const tvms_sched_value *places =
      &step->args[TVMS_ARG(SetAxisSeparator, axis_separators)];
  if (!buffer || !check_separators(s, places, buffer)) return false;
  int32_t site = tvms_sched_owner(s, block, buffer, &parameter);
  if (site == TVMS_NO_SITE) return false;
  tvms_node **items = tvms_arena_array(&s->unit->arena, tvms_node *, places->len + 1);
  for (uint32_t i = 0; i < places->len; i++)
    items[i] = tvms_sched_int(s, TVMS_DTYPE(INT, 32), places->items[i].number);
  tvms_list separators = {items, places->len};
  retyping t = {
      .sched = s, .separators = &separators, .rank = tvms_as_buffer(buffer)->shape.len};
  tvms_node *made = retype(&t, site, buffer);
  if (parameter) tvms_sched_replace_parameter(s, buffer, made);
  return true;
}

// ---- storage_align ----

static const char align_key[] = "buffer_dim_align";

// The list with the row for this buffer and axis set.
static tvms_node *align_rows(tvms_sched *s, const tvms_node *TVMS_NULLABLE old,
                             const int64_t *row) {
  tvms_list rows = {0};
  if (old && old->kind == TVMS_NODE_OBJECT_ARRAY)
    rows = tvms_as_object_array(old)->items;
  tvms_node **items = tvms_arena_array(&s->unit->arena, tvms_node *, rows.len + 1);
  tvms_node *numbers[4];
  for (uint32_t i = 0; i < 4; i++)
    numbers[i] = tvms_object_int_new(s->unit, row[i], TVMS_NO_SPAN);
  uint32_t at = rows.len;
  for (uint32_t i = 0; i < rows.len; i++) {
    items[i] = rows.items[i];
    tvms_list own = tvms_as_object_array(rows.items[i])->items;
    int64_t buffer = -1, axis = -1;
    bool same = own.len == 4 && tvms_object_as_int(own.items[0], &buffer)
                && tvms_object_as_int(own.items[1], &axis) && buffer == row[0]
                && axis == row[1];
    if (same) at = i;
  }
  items[at] = tvms_object_array_new(s->unit, numbers, 4, TVMS_NO_SPAN);
  return tvms_object_array_new(s->unit, items, at == rows.len ? at + 1 : rows.len,
                               TVMS_NO_SPAN);
}

bool tvms_step_storage_align(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t block = tvms_step_site(step, TVMS_ARG(StorageAlign, block));
  if (block == TVMS_NO_SITE) return false;
  int64_t row[4] = {step->args[TVMS_ARG(StorageAlign, buffer_index)].number,
                    step->args[TVMS_ARG(StorageAlign, axis)].number,
                    step->args[TVMS_ARG(StorageAlign, factor)].number,
                    step->args[TVMS_ARG(StorageAlign, offset)].number};
  tvms_node *buffer = tvms_cache_buffer(s, block, row[0], true);
  if (!buffer) return false;
  int64_t rank = tvms_as_buffer(buffer)->shape.len;
  if (row[2] <= 0) return tvms_sched_refuse(s, "the factor is not positive");
  if (row[1] < -rank || row[1] >= rank)
    return tvms_sched_refuse(s, "the buffer has no such axis");
  if (row[1] < 0) row[1] += rank;
  if (allocation_of(s, block, buffer) == TVMS_NO_SITE) return false;
  tvms_node *old = tvms_sched_at(s, block)->node;
  const tvms_node *known =
      tvms_object_map_get(tvms_as_block(old)->annotations, align_key);
  bool rows = !known || known->kind == TVMS_NODE_OBJECT_ARRAY;
  for (uint32_t i = 0; known && rows && i < tvms_as_object_array(known)->items.len; i++)
    rows = tvms_as_object_array(known)->items.items[i]->kind == TVMS_NODE_OBJECT_ARRAY;
  if (!rows)
    return tvms_sched_refuse(s, "the annotation '%s' is not a list of lists",
                             align_key);
  tvms_block *made = tvms_as_block(tvms_node_copy(s->unit, old));
  made->annotations = tvms_object_map_with(s->unit, made->annotations, align_key,
                                           align_rows(s, known, row));
  tvms_sched_replace_one(s, old, &made->head);
  return true;
}
