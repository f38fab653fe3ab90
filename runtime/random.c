// See random.h for the definition of every number.
#include "runtime/random.h"

static uint64_t start(uint64_t seed, const char *name) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (; *name; name++) {
    hash = (hash ^ (unsigned char)*name) * 0x100000001B3u;
  }
  return seed ^ hash;
}

static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static tvms_scalar draw(uint64_t *state, tvms_dl_type type) {
  uint64_t u = next(state);
  if (tvms_scalar_kind_is_real(type.code)) {
    return tvms_scalar_fit((tvms_scalar){.f = (double)(u >> 40) / 8388608.0 - 1.0},
                           type);
  }
  if (type.code == TVMS_DL_BOOL) return (tvms_scalar){.i = (int64_t)(u >> 32 & 1)};
  return tvms_scalar_fit((tvms_scalar){.i = (int64_t)((u >> 32) % 8)}, type);
}

void tvms_random_fill(tvms_tensor *tensor, uint64_t seed, const char *name) {
  uint64_t state = start(seed, name);
  tvms_dl_type type = tensor->view.dtype;
  size_t size = tvms_dl_element_size(type);
  char *at = tensor->view.data;
  for (uint64_t done = 0; done < tensor->bytes; done += size) {
    tvms_dl_element_set(at + done, type, draw(&state, type));
  }
}

tvms_scalar tvms_random_scalar(tvms_dl_type type, uint64_t seed, const char *name) {
  uint64_t state = start(seed, name);
  return draw(&state, type);
}
