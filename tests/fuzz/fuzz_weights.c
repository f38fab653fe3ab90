// Files of weights, .npz and .safetensors: each tensor that is found in them is read whole.
#include "fuzz.h"
#include "ir/module.h"
#include "passes/weights.h"

#include <string.h>

static void read_all(fuzz_input *input, const char *name) {
  tvms_context *context = &input->context;
  tvms_shared *file = tvms_shared_new(&context->memory, &context->shares, input->size);
  memcpy(file->bytes, input->text, input->size);
  tvms_unit unit;
  tvms_unit_init(&unit, context, TVMS_DIALECT_CURRENT);
  tvms_relax_weights weights;
  const char *why;
  if (!tvms_relax_weights_read(&weights, context, name, file)) {
    for (uint32_t i = 0; i < weights.items.len; i++) {
      const tvms_relax_weight *weight = &weights.items.items[i];
      const char *found =
          tvms_arena_text(&context->arena, weight->name, weight->name_len);
      (void)tvms_relax_weights_find(&weights, &unit, found, TVMS_DTYPE(BFLOAT, 16),
                                    &why);
    }
  }
  tvms_relax_weights_fini(&weights);
  tvms_unit_fini(&unit);
}

void fuzz_one(fuzz_input *input) {
  read_all(input, "weights.npz");
  read_all(input, "weights.safetensors");
}
