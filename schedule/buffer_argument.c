#include "schedule/buffer_argument.h"

#include "schedule/buffers.h"
#include "schedule/cache_stage.h"

#include <string.h>

static tvms_node *TVMS_NULLABLE refuse_name(tvms_step *step, const char *name) {
  (void)!tvms_sched_refuse(step->sched, "the block has no such buffer: '%s'", name);
  return NULL;
}

// Index of the buffer with a name in a list of regions, or -1.
static int64_t named(const tvms_sched *s, tvms_list regions, const char *name) {
  for (uint32_t i = 0; i < regions.len; i++)
    if (strcmp(tvms_sched_buffer_name(s, tvms_sched_region_buffer(regions, i)), name)
        == 0)
      return i;
  return -1;
}

static void put_pair(tvms_step *step, uint32_t index, bool write, int64_t number) {
  tvms_sched_value *items =
      tvms_arena_array(&step->schedule->arena, tvms_sched_value, 2);
  items[0] =
      (tvms_sched_value){.kind = TVMS_VALUE_TEXT, .text = write ? "write" : "read"};
  items[1] = (tvms_sched_value){.kind = TVMS_VALUE_INT, .number = number};
  step->args[index] = (tvms_sched_value){.kind = TVMS_VALUE_LIST,
                                         .span = step->args[index].span,
                                         .items = items,
                                         .len = 2};
}

tvms_node *TVMS_NULLABLE tvms_step_buffer(tvms_step *step, uint32_t index,
                                          int32_t block, bool *write) {
  const tvms_sched_value *value = &step->args[index];
  tvms_sched *s = step->sched;
  if (value->kind == TVMS_VALUE_LIST) {
    *write = strcmp(value->items[0].text, "write") == 0;
    return tvms_cache_buffer(s, block, value->items[1].number, *write);
  }
  const tvms_block *b = tvms_sched_block(s, block);
  int64_t read = named(s, b->reads, value->text);
  int64_t written = named(s, b->writes, value->text);
  *write = written >= 0;
  if (read < 0 && written < 0) return refuse_name(step, value->text);
  put_pair(step, index, *write, *write ? written : read);
  return tvms_cache_buffer(s, block, *write ? written : read, *write);
}

tvms_node *TVMS_NULLABLE tvms_step_numbered_buffer(tvms_step *step, uint32_t index,
                                                   int32_t block, bool write) {
  const tvms_sched_value *value = &step->args[index];
  tvms_sched *s = step->sched;
  if (value->kind != TVMS_VALUE_TEXT)
    return tvms_cache_buffer(s, block, value->number, write);
  const tvms_block *b = tvms_sched_block(s, block);
  int64_t found = named(s, write ? b->writes : b->reads, value->text);
  if (found < 0) return refuse_name(step, value->text);
  if (!write && named(s, b->writes, value->text) >= 0) {
    (void)!tvms_sched_refuse(s, "'%s' is written by the block, too", value->text);
    return NULL;
  }
  step->args[index] = (tvms_sched_value){
      .kind = TVMS_VALUE_INT, .span = step->args[index].span, .number = found};
  return tvms_cache_buffer(s, block, found, write);
}
