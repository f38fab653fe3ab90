// Names of releases and the generations they belong to.
#include "ir/dialect.h"

#include <string.h>

static const struct {
  const char *text;
  tvms_dialect dialect;
} rows[] = {
    // The first row of a dialect is its own name.
    {"rfc", TVMS_DIALECT_RFC}, {"0.22", TVMS_DIALECT_22},    {"0.24", TVMS_DIALECT_24},
    {"0.25", TVMS_DIALECT_25}, {"0.26", TVMS_DIALECT_26},    {"0.27", TVMS_DIALECT_27},
    {"0.16", TVMS_DIALECT_22}, {"0.17", TVMS_DIALECT_22},    {"0.18", TVMS_DIALECT_22},
    {"0.19", TVMS_DIALECT_22}, {"0.20", TVMS_DIALECT_22},    {"0.21", TVMS_DIALECT_22},
    {"0.23", TVMS_DIALECT_22}, {"classic", TVMS_DIALECT_22},
};

tvms_dialect tvms_dialect_parse(const char *text) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (strcmp(rows[i].text, text) == 0) return rows[i].dialect;
  }
  return TVMS_DIALECT_NONE;
}

const char *tvms_dialect_text(tvms_dialect dialect) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].dialect == dialect) return rows[i].text;
  }
  return "none";
}
