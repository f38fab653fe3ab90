// Entry point of libFuzzer for every target: one context per input, bounded in memory,
// depth and steps. Running into a bound is a fine end.
#include "fuzz.h"
#include "support/names.h"

static void work(void *argument) {
  fuzz_one(argument);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input input = {.text = (const char *)data, .size = size};
  tvms_context_init(&input.context, &tvms_names);
  input.context.memory.limit = (size_t)512 << 20;
  input.context.memory.depth_limit = 2000;
  input.context.step_limit = 200 * 1000;
  tvms_status status = tvms_memory_protect_deep(&input.context.memory, work, &input);
  FUZZ_CHECK(status == TVMS_OK || status == TVMS_OVER_LIMIT);
  tvms_context_fini(&input.context);
  return 0;
}
