// Looks up the rows of ir/meant.def.
#include "ir/meant.h"

#include <string.h>

static const struct {
  tvms_meant_place place;
  const char *written;
  const char *meant;
} rows[] = {
#define MEANT(place, written, meant) {TVMS_MEANT_##place, written, meant},
#include "ir/meant.def"
};

const char *tvms_meant_next(tvms_meant_place place, const char *written, uint32_t *at) {
  for (; *at < sizeof rows / sizeof rows[0]; ++*at) {
    if (rows[*at].place == place && strcmp(rows[*at].written, written) == 0) {
      return rows[(*at)++].meant;
    }
  }
  return NULL;
}

const char *tvms_meant_find(tvms_meant_place place, const char *written) {
  uint32_t at = 0;
  return tvms_meant_next(place, written, &at);
}
