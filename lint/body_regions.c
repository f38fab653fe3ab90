// What blocks say that they read and write, against what they do.
//
// Only lists that stand in the text count; those that were found from the body agree with it.
#include "lint/body_regions.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "lint/body_eval.h"
#include "support/diag_ids.h"

enum { MOST_KNOWN = 64, MOST_STORED = 16 };

// Which end of a range an index goes beyond.
typedef struct {
  const tvms_node *index;
  const tvms_range *range;
  bool below;
} question;

static tvms_lint_value distance(tvms_lint_path *path, const void *self) {
  const question *q = self;
  tvms_lint_value rest = tvms_lint_add(tvms_lint_path_value(path, q->index),
                                       tvms_lint_path_value(path, q->range->min), -1);
  if (q->below) return tvms_lint_add(tvms_lint_constant(-1), rest, -1);
  return tvms_lint_add(rest, tvms_lint_path_value(path, q->range->extent), -1);
}

// Is the index the begin of the range and what the other operand of a sum is, which stays
// within?
static bool adds_within(const tvms_lint_path *path, const tvms_range *range,
                        const tvms_node *index) {
  if (index->kind != TVMS_NODE_ADD) return false;
  const tvms_binary *add = tvms_as_binary(index);
  if (!tvms_node_same_expr(range->min, add->a)) return false;
  tvms_lint_range more = tvms_lint_path_range(path, add->b);
  return more.min >= 0 && more.max < tvms_lint_path_range(path, range->extent).min;
}

// Is the range provably one of the index, without a search?
static bool covers(const tvms_lint_path *path, const tvms_range *range,
                   const tvms_node *index) {
  if (range->min == index || tvms_node_same_expr(range->min, index)) return true;
  if (adds_within(path, range, index)) return true;
  if (tvms_node_is_int(range->min, 0)
      && tvms_lint_path_is_below(path, index, range->extent)
      && tvms_lint_path_range(path, index).min >= 0)
    return true;
  tvms_lint_range all = tvms_lint_path_range(path, index);
  tvms_lint_range min = tvms_lint_path_range(path, range->min);
  tvms_lint_range extent = tvms_lint_path_range(path, range->extent);
  if (min.min != min.max || extent.min != extent.max || all.max == INT64_MAX)
    return false;
  return all.min >= min.min && all.max - min.min < extent.min;
}

// Is the element of the chosen iteration outside of the region for certain?
static bool is_outside(tvms_lint_path *path, const tvms_buffer_region *region,
                       tvms_list indices) {
  for (uint32_t i = 0; i < indices.len; i++) {
    question q = {indices.items[i], tvms_as_range(region->region.items[i]), false};
    tvms_lint_value above = distance(path, &q);
    q.below = true;
    tvms_lint_value below = distance(path, &q);
    if (tvms_lint_at_least(&above, 0) || tvms_lint_at_least(&below, 0)) return true;
  }
  return false;
}

// Is it outside of all regions of the buffer?
static bool is_missed(tvms_lint_path *path, tvms_list regions,
                      const tvms_lint_access *access) {
  for (uint32_t i = 0; i < regions.len; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(regions.items[i]);
    if (region->buffer == access->buffer && !is_outside(path, region, access->indices))
      return false;
  }
  return true;
}

static bool find_outside(tvms_lint_body *body, const tvms_buffer_region *region,
                         tvms_list regions, const tvms_lint_access *access,
                         uint64_t *loops) {
  tvms_lint_path *path = &body->path;
  for (uint32_t i = 0; i < access->indices.len; i++) {
    const tvms_range *range = tvms_as_range(region->region.items[i]);
    const tvms_node *index = access->indices.items[i];
    if (covers(path, range, index)) continue;
    *loops = tvms_lint_path_loops_of(path, index)
             | tvms_lint_path_loops_of(path, range->min);
    uint64_t moving = *loops | tvms_lint_path_loops_of(path, range->extent);
    for (int below = 0; below < 2; below++) {
      question q = {index, range, below};
      if (tvms_lint_search(path, moving, false, distance, &q)
          && is_missed(path, regions, access))
        return true;
    }
  }
  return false;
}

// "A[3, 0]": the element of the chosen iteration.
static const char *element_text(tvms_lint_body *body, const tvms_lint_access *access) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, body->memory);
  tvms_strbuf_printf(&text, "%s[", tvms_lint_name_of(body, access->buffer));
  for (uint32_t i = 0; i < access->indices.len; i++) {
    tvms_lint_value value = tvms_lint_path_value(&body->path, access->indices.items[i]);
    if (i) tvms_strbuf_puts(&text, ", ");
    if (value.known)
      tvms_lint_value_text(body->lint->context, &value, &text);
    else
      tvms_strbuf_puts(&text, "...");
  }
  tvms_strbuf_putc(&text, ']');
  const char *kept =
      tvms_arena_text(&body->lint->context->arena, tvms_strbuf_text(&text), text.len);
  tvms_strbuf_fini(&text);
  return kept;
}

// One finding for a list and a buffer.
static bool is_first_of(tvms_lint_body *body, const tvms_block *block,
                        const tvms_lint_access *access) {
  for (uint32_t i = 0; i < body->undeclared.len; i++) {
    const tvms_lint_undeclared *old = &body->undeclared.items[i];
    if (old->block == block && old->buffer == access->buffer
        && old->writes == access->writes)
      return false;
  }
  tvms_lint_undeclared found = {block, access->buffer, access->writes};
  if (body->undeclared.len < MOST_KNOWN)
    tvms_vec_push(body->memory, &body->undeclared, found);
  return true;
}

static void report(tvms_lint_body *body, const tvms_block *block,
                   const tvms_lint_access *access,
                   const tvms_node *TVMS_NULLABLE region, tvms_span list,
                   uint64_t loops) {
  if (!is_first_of(body, block, access)) return;
  if (!tvms_lint_is_first(body, access->node->span)) return;
  tvms_diag_id id = access->writes ? TVMS_D_writes_contradict : TVMS_D_reads_contradict;
  const char *name = tvms_lint_name_of(body, access->buffer);
  tvms_diag *diag = tvms_diag_report(body->diags, id, access->node->span, name);
  if (!region) {
    tvms_diag_note(body->diags, diag, list, "'%s' is not in this list", name);
    return;
  }
  const char *text = tvms_lint_path_text(&body->path, loops);
  tvms_diag_note(body->diags, diag, region->span, "this is what the block declares");
  tvms_diag_remark(body->diags, diag, "it is %s%s%s", element_text(body, access),
                   text[0] ? " with " : "", text);
}

static void check_block(tvms_lint_body *body, const tvms_lint_open_block *open,
                        const tvms_lint_access *access) {
  const tvms_block *block = open->block;
  tvms_list regions = access->writes ? block->writes : block->reads;
  if (regions.len == 0 || regions.items[0]->span.end == 0) return;
  const tvms_node *first = NULL;
  for (uint32_t i = 0; i < regions.len && !first; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(regions.items[i]);
    if (region->buffer == access->buffer) first = regions.items[i];
    // The same memory under another name.
    else if (tvms_as_buffer(region->buffer)->data
             == tvms_as_buffer(access->buffer)->data)
      return;
  }
  uint64_t loops = 0;
  if (!first) {
    // Schedules can hide what stands in indices (unsafe_hide_buffer_access).
    if (body->in_index && !access->writes) return;
    tvms_lint_memory *memory = tvms_lint_memory_of(body, access->buffer);
    if (!memory || memory->buffer != access->buffer) return;
    if (memory >= body->memories.items + open->memories) return;
    tvms_lint_path_restart(&body->path);
    if (tvms_lint_path_is_reached(&body->path))
      report(body, block, access, NULL, regions.items[0]->span, 0);
    return;
  }
  if (tvms_as_buffer_region(first)->region.len != access->indices.len) return;
  if (find_outside(body, tvms_as_buffer_region(first), regions, access, &loops))
    report(body, block, access, first, regions.items[0]->span, loops);
}

// By convention of TVM a block that reduces does not say that it reads what it writes, even
// when its init has become a block of its own; without axes it may be one that did.
static bool is_left_out(const tvms_lint_open_block *open,
                        const tvms_lint_access *access) {
  bool reduces = open->block->init || !open->block->iter_vars.len;
  for (uint32_t i = 0; i < open->block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(open->block->iter_vars.items[i]);
    reduces = reduces || axis->iter_type != TVMS_ITER_DATA_PAR;
  }
  if (access->writes || !reduces) return false;
  for (uint32_t i = 0; i < open->block->writes.len; i++) {
    const tvms_node *region = open->block->writes.items[i];
    if (tvms_as_buffer_region(region)->buffer == access->buffer) return true;
  }
  return false;
}

// Has the block itself written the element before? Then it needs none from outside.
static bool is_own(const tvms_lint_body *body, const tvms_lint_open_block *open,
                   const tvms_lint_access *access) {
  for (uint32_t i = 0; i < body->stored.len && !access->writes; i++) {
    const tvms_lint_stored *stored = &body->stored.items[i];
    bool same = stored->block == open->block && stored->buffer == access->buffer
                && stored->indices.len == access->indices.len;
    for (uint32_t k = 0; same && k < stored->indices.len; k++)
      same = tvms_node_same_expr(stored->indices.items[k], access->indices.items[k]);
    if (same) return true;
  }
  return false;
}

static void note_store(tvms_lint_body *body, const tvms_lint_access *access) {
  const tvms_block *block = body->blocks.items[body->blocks.len - 1].block;
  if (body->stored.len && body->stored.items[0].block != block) body->stored.len = 0;
  tvms_lint_stored stored = {block, access->buffer, access->indices};
  if (body->stored.len < MOST_STORED)
    tvms_vec_push(body->memory, &body->stored, stored);
}

// What a block need not say that it reads, those around it need not say either: their lists are
// made of its own.
void tvms_lint_body_regions_access(tvms_lint_body *body,
                                   const tvms_lint_access *access) {
  if (!body->blocks.len) return;
  bool vector =
      access->node->dtype.lanes > 1
      || (access->writes && tvms_as_store(access->node)->value->dtype.lanes > 1);
  if (body->path.uncertain || vector) return;
  for (uint32_t i = body->blocks.len; i-- > 0;) {
    const tvms_lint_open_block *open = &body->blocks.items[i];
    if (is_left_out(open, access) || is_own(body, open, access)) break;
    check_block(body, open, access);
  }
  if (access->writes) note_store(body, access);
}
