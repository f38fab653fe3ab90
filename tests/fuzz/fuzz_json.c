// Texts in JSON, as checkpoints of caches are: every part of one is asked for what it is, what it holds and what it
// says, and is a text in JSON itself.
#include "fuzz.h"
#include "runtime/json_read.h"

#include <string.h>

enum { MOST_PARTS = 2000 };

// Numbers that 64 bits hold are those that C reads.
static void check_integer(fuzz_input *input, tvms_part value) {
  size_t len = (size_t)(value.end - value.begin);
  const char *text = tvms_arena_text(&input->context.arena, value.begin, len);
  FUZZ_CHECK(tvms_part_integer(value) == strtoll(text, NULL, 10));
}

static void look(fuzz_input *input, tvms_part value, uint32_t *left);

static void look_up(fuzz_input *input, tvms_part object, const char *key,
                    uint32_t *left) {
  tvms_part value;
  if (*left == 0 || !tvms_part_field(object, key, &value)) return;
  FUZZ_CHECK(value.begin > object.begin && value.end < object.end);
  look(input, value, left);
}

static void look_into(fuzz_input *input, tvms_part list, uint32_t *left) {
  tvms_part item = {0};
  const char *before = list.begin;
  for (; *left > 0 && tvms_part_next(list, &item); before = item.end) {
    FUZZ_CHECK(item.begin > before && item.end > item.begin && item.end < list.end);
    look(input, item, left);
  }
}

static void look(fuzz_input *input, tvms_part value, uint32_t *left) {
  tvms_part again;
  --*left;
  FUZZ_CHECK(tvms_part_read(value.begin, (uint64_t)(value.end - value.begin), &again));
  FUZZ_CHECK(again.begin == value.begin && again.end == value.end);
  switch (tvms_part_kind_of(value)) {
  case TVMS_PART_NULL: break;
  case TVMS_PART_INT: check_integer(input, value); break;
  case TVMS_PART_BOOL:
    FUZZ_CHECK((double)tvms_part_integer(value) == tvms_part_real(value));
    break;
  case TVMS_PART_REAL: (void)tvms_part_real(value); break;
  case TVMS_PART_TEXT: (void)tvms_part_is(value, "pages"); break;
  case TVMS_PART_LIST: look_into(input, value, left); break;
  case TVMS_PART_OBJECT:
    look_up(input, value, "groups", left);
    look_up(input, value, "shape", left);
    look_up(input, value, "", left);
    break;
  }
}

void fuzz_one(fuzz_input *input) {
  tvms_part value;
  uint32_t left = MOST_PARTS;
  if (tvms_part_read(input->text, input->size, &value)) look(input, value, &left);
}
