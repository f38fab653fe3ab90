// Memory that is read before it has a value.
//
// The walk goes through statements in the order in which the first iteration of all loops
// executes them. So a read that is executed there, before any statement that may write the
// memory, reads what nothing has written. Elements that no statement of the function writes
// are found at the end, from the hull of all that is written.
//
// Memory whose pointer is used may be written by whatever gets the pointer.

#include "lint/body_reads.h"

#include "lint/body_eval.h"
#include "support/diag_ids.h"

#include <inttypes.h>

// ---- The first read ----

// The innermost block, if it has an axis that reduces and no init; else NULL.
static const tvms_block *TVMS_NULLABLE reduction_of(const tvms_lint_body *body) {
  if (!body->blocks.len) return NULL;
  const tvms_lint_open_block *open = &body->blocks.items[body->blocks.len - 1];
  if (open->block->init) return NULL;
  for (uint32_t i = 0; i < open->block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(open->block->iter_vars.items[i]);
    if (iter->iter_type == TVMS_ITER_COMM_REDUCE) return open->block;
  }
  return NULL;
}

static bool is_reached_first(tvms_lint_body *body) {
  tvms_lint_path_restart(&body->path);
  return tvms_lint_path_is_reached(&body->path);
}

static const char *name_of(const tvms_lint_body *body, const tvms_lint_memory *memory,
                           const tvms_node *buffer) {
  return tvms_lint_name_of(body, memory->buffer ? memory->buffer : buffer);
}

static void report_first(tvms_lint_body *body, tvms_lint_memory *memory,
                         const tvms_lint_access *access) {
  memory->reported = true;
  if (!tvms_lint_is_first(body, access->node->span)) return;
  const char *name = name_of(body, memory, access->buffer);
  bool updates = body->store && body->store->buffer == access->buffer;
  const tvms_block *block = updates ? reduction_of(body) : NULL;
  tvms_diag_id id = block ? TVMS_D_reduction_without_init : TVMS_D_read_before_write;
  tvms_diag *diag = tvms_diag_report(body->diags, id, access->node->span, name);
  const tvms_node *buffer = memory->buffer ? memory->buffer : access->buffer;
  if (buffer->span.end)
    tvms_diag_note(body->diags, diag, buffer->span,
                   "it is allocated here, without values");
  if (block)
    tvms_diag_remark(
        body->diags, diag,
        "begin the block with 'with T.init():' and store the first value there");
}

// ---- Elements ----

// The element of the chosen iteration joins those that are read, if it is further out.
static void keep_element(tvms_lint_body *body, tvms_lint_memory *memory,
                         const tvms_lint_access *access, uint64_t loops) {
  tvms_lint_element element = {.node = access->node};
  if (memory->seen == TVMS_LINT_MOST_SEEN) return;
  for (uint32_t i = 0; i < access->indices.len; i++) {
    tvms_lint_value value = tvms_lint_path_value(&body->path, access->indices.items[i]);
    tvms_lint_range extent = tvms_lint_path_range(
        &body->path, tvms_as_buffer(memory->buffer)->shape.items[i]);
    // What is out of bounds is another finding.
    if (!tvms_lint_is_constant(&value) || value.constant < 0
        || value.constant >= extent.min)
      return;
    element.at[i] = value.constant;
  }
  bool further = memory->seen == 0;
  for (uint32_t i = 0; i < access->indices.len && !further; i++) {
    bool above = true, below = true;
    for (uint32_t k = 0; k < memory->seen; k++) {
      above = above && element.at[i] > memory->reads[k].at[i];
      below = below && element.at[i] < memory->reads[k].at[i];
    }
    further = above || below;
  }
  if (!further) return;
  element.text = tvms_lint_path_text(&body->path, loops);
  memory->reads[memory->seen++] = element;
}

static void keep_elements(tvms_lint_body *body, tvms_lint_memory *memory,
                          const tvms_lint_access *access) {
  if (access->buffer != memory->buffer || access->node->dtype.lanes != 1) return;
  if (access->indices.len == 0 || access->indices.len > TVMS_LINT_MOST_RANK) return;
  if (access->indices.len != tvms_as_buffer(memory->buffer)->shape.len) return;
  if (body->path.loops.len > 62) return;
  uint64_t loops = 0;
  for (uint32_t i = 0; i < access->indices.len; i++)
    loops |= tvms_lint_path_loops_of(&body->path, access->indices.items[i]);
  for (int end = 0; end < 2; end++) {
    tvms_lint_path_restart(&body->path);
    for (uint32_t i = 0; end && i < body->path.loops.len; i++)
      tvms_lint_path_choose(&body->path, i, loops >> i & 1, 0);
    if (tvms_lint_path_is_reached(&body->path))
      keep_element(body, memory, access, loops);
  }
  tvms_lint_path_restart(&body->path);
}

void tvms_lint_body_reads_load(tvms_lint_body *body, const tvms_lint_access *access) {
  tvms_lint_memory *memory = tvms_lint_memory_of(body, access->buffer);
  if (!memory || !memory->local || memory->unknown || body->path.uncertain) return;
  if (body->unused) return;
  if (!memory->written && !memory->reported && is_reached_first(body)) {
    report_first(body, memory, access);
    return;
  }
  if (!memory->reported) keep_elements(body, memory, access);
}

// ---- Writes ----

static void widen(tvms_lint_body *body, tvms_lint_memory *memory,
                  const tvms_lint_access *access) {
  bool known =
      access->buffer == memory->buffer && access->indices.len <= TVMS_LINT_MOST_RANK;
  if (!known) memory->hull_unknown = true;
  for (uint32_t i = 0; i < access->indices.len && known; i++) {
    tvms_lint_range range = tvms_lint_path_range(&body->path, access->indices.items[i]);
    tvms_lint_range *hull = &memory->hull[i];
    if (range.min < hull->min) hull->min = range.min;
    if (range.max > hull->max) hull->max = range.max;
  }
}

// A block that adds to a parameter which nothing has set: on request, since the caller may
// have done that.
static void check_argument(tvms_lint_body *body, const tvms_lint_memory *memory,
                           const tvms_lint_access *access) {
  if (memory->local || memory->written || !memory->buffer) return;
  if (!tvms_lint_wants(body->lint, TVMS_D_accumulates_into_argument)) return;
  const tvms_store *store = tvms_as_store(access->node);
  const tvms_block *block = reduction_of(body);
  if (!block || !tvms_lint_updates(body, store)) return;
  if (!tvms_lint_is_first(body, store->head.span)) return;
  tvms_diag *diag =
      tvms_diag_report(body->diags, TVMS_D_accumulates_into_argument, store->head.span,
                       tvms_lint_name_of(body, store->buffer));
  tvms_diag_remark(
      body->diags, diag,
      "begin the block with 'with T.init():' and store the first value there");
}

void tvms_lint_body_reads_store(tvms_lint_body *body, const tvms_lint_access *access) {
  tvms_lint_memory *memory = tvms_lint_memory_of(body, access->buffer);
  if (!memory) return;
  check_argument(body, memory, access);
  const tvms_block *block =
      body->blocks.len ? body->blocks.items[body->blocks.len - 1].block : NULL;
  if (!block || (memory->written && memory->writer != block))
    memory->many_writers = true;
  memory->writer = block;
  memory->written = true;
  if (memory->local && !memory->unknown) widen(body, memory, access);
}

// ---- The end ----

static bool is_in_hull(const tvms_lint_memory *memory, const tvms_lint_element *element,
                       uint32_t rank) {
  for (uint32_t i = 0; i < rank; i++) {
    const tvms_lint_range *hull = &memory->hull[i];
    if (element->at[i] < hull->min || element->at[i] > hull->max) return false;
  }
  return true;
}

static void report_element(tvms_lint_body *body, const tvms_lint_memory *memory,
                           const tvms_lint_element *element, uint32_t rank) {
  if (!tvms_lint_is_first(body, element->node->span)) return;
  tvms_strbuf text;
  tvms_strbuf_init(&text, body->memory);
  for (uint32_t i = 0; i < rank; i++)
    tvms_strbuf_printf(&text, "%s%" PRId64, i ? ", " : "", element->at[i]);
  const char *name = tvms_lint_name_of(body, memory->buffer);
  tvms_diag *diag =
      tvms_diag_report(body->diags, TVMS_D_element_never_written, element->node->span,
                       name, tvms_strbuf_text(&text));
  tvms_strbuf_fini(&text);
  if (element->text[0])
    tvms_diag_remark(body->diags, diag, "it is read with %s", element->text);
}

static void check_elements(tvms_lint_body *body, tvms_lint_memory *memory) {
  if (!memory->local || memory->unknown || memory->reported || memory->hull_unknown)
    return;
  if (!memory->buffer) return;
  uint32_t rank = tvms_as_buffer(memory->buffer)->shape.len;
  for (uint32_t i = 0; i < memory->seen; i++) {
    if (is_in_hull(memory, &memory->reads[i], rank)) continue;
    report_element(body, memory, &memory->reads[i], rank);
    return;
  }
}

void tvms_lint_body_reads_end(tvms_lint_body *body) {
  for (uint32_t i = 0; i < body->memories.len; i++)
    check_elements(body, &body->memories.items[i]);
}
