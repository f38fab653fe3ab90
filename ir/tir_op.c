// The rows of ir/tir_ops.def and the searches in them.
#include "ir/tir_op.h"

#include <string.h>

#define TIRX false
#define PRIM true
static const tvms_tir_row rows[] = {
    {0},
#define TIR_OP(ident, name, prefix, location, effect, inputs, ...)                     \
  {name, prefix, TVMS_LOCATION_##location, TVMS_EFFECT_##effect, inputs, {__VA_ARGS__}},
#include "ir/tir_ops.def"
};
#undef TIRX
#undef PRIM

// Column of a dialect in tvms_tir_row.spellings.
static unsigned column_of(tvms_dialect dialect) {
  if (dialect <= TVMS_DIALECT_22) return 0;
  if (dialect <= TVMS_DIALECT_25) return 1;
  return dialect == TVMS_DIALECT_26 ? 2 : 3;
}

const tvms_tir_row *tvms_tir_op_row_of(tvms_tir_opcode opcode) {
  return &rows[opcode];
}

static int compare(const char *text, size_t len, const char *name) {
  size_t name_len = strlen(name);
  int order = memcmp(text, name, len < name_len ? len : name_len);
  return order ? order : (len > name_len) - (len < name_len);
}

static tvms_tir_opcode find_plain(const char *name, size_t len) {
  unsigned low = 1;
  unsigned high = TVMS_TIR_COUNT;
  while (low < high) {
    unsigned middle = (low + high) / 2;
    int order = compare(name, len, rows[middle].name);
    if (order == 0) return (tvms_tir_opcode)middle;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return TVMS_TIR_NONE;
}

tvms_tir_opcode tvms_tir_op_find(const char *name, size_t len) {
  static const char *const prefixes[] = {"tir.", "tirx.", "prim."};
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
    size_t prefix_len = strlen(prefixes[i]);
    if (len <= prefix_len || memcmp(name, prefixes[i], prefix_len) != 0) continue;
    return find_plain(name + prefix_len, len - prefix_len);
  }
  return find_plain(name, len);
}

static bool is_spelled(unsigned opcode, unsigned column, const char *text, size_t len) {
  const char *spelling = rows[opcode].spellings[column];
  return spelling && compare(text, len, spelling) == 0;
}

tvms_tir_opcode tvms_tir_op_spelled(const char *text, size_t len, tvms_dialect dialect,
                                    tvms_tir_opcode after) {
  if (len == 0) return TVMS_TIR_NONE;
  unsigned column = column_of(dialect);
  // Nearly every operator is spelled as it is named and shares that with no other.
  if (after == TVMS_TIR_NONE) {
    tvms_tir_opcode same = find_plain(text, len);
    if (same != TVMS_TIR_NONE && is_spelled(same, column, text, len)) return same;
  }
  for (unsigned i = (unsigned)after + 1; i < TVMS_TIR_COUNT; i++) {
    if (is_spelled(i, column, text, len)) return (tvms_tir_opcode)i;
  }
  return TVMS_TIR_NONE;
}

const char *tvms_tir_op_spelling(tvms_tir_opcode opcode, tvms_dialect dialect) {
  return rows[opcode].spellings[column_of(dialect)];
}

tvms_tir_opcode tvms_tir_op_same(tvms_tir_opcode opcode, tvms_dialect from,
                                 tvms_dialect dialect) {
  static const tvms_tir_opcode groups[][4] = {
#define TIR_SAME(a, b, c, d) {TVMS_TIR_##a, TVMS_TIR_##b, TVMS_TIR_##c, TVMS_TIR_##d},
#define TIR_MORE(...)
#include "ir/tir_renamed.def"
  };
  unsigned column = column_of(dialect), source = column_of(from);
  bool classic = from <= TVMS_DIALECT_22 && source != column;
  for (size_t i = 0; i < sizeof groups / sizeof groups[0] && classic; i++) {
    bool here = groups[i][source] == opcode && groups[i][column] != TVMS_TIR_NONE;
    if (here) return groups[i][column];
  }
  if (rows[opcode].spellings[column]) return opcode;
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
    for (unsigned k = 0; k < 4; k++) {
      bool found = groups[i][k] == opcode && groups[i][column] != TVMS_TIR_NONE;
      if (found) return groups[i][column];
    }
  }
  return opcode;
}

static const struct {
  tvms_tir_opcode opcode;
  uint32_t inputs;
  tvms_dialect since;
  const char *text;
} more[] = {
#define TIR_SAME(...)
#define TIR_MORE(ident, count, release, text)                                          \
  {TVMS_TIR_##ident, count, TVMS_DIALECT_##release, text},
#include "ir/tir_renamed.def"
};

bool tvms_tir_op_is_instruction(tvms_tir_opcode opcode) {
  static const bool instructions[TVMS_TIR_COUNT] = {
#define PTX(op, ...) [TVMS_TIR_##op] = true,
#include "ir/ptx.def"
  };
  return instructions[opcode];
}

const char *tvms_tir_op_more(tvms_tir_opcode opcode, uint32_t inputs,
                             tvms_dialect dialect) {
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
    bool found = more[i].opcode == opcode && more[i].inputs == inputs;
    if (found && dialect >= more[i].since) return more[i].text;
  }
  return NULL;
}

const char *tvms_tir_op_surplus(tvms_tir_opcode opcode, uint32_t inputs,
                                tvms_dialect dialect, uint32_t *kept) {
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
    bool found = more[i].opcode == opcode && more[i].inputs < inputs;
    *kept = more[i].inputs;
    if (found && dialect < more[i].since) return more[i].text;
  }
  return NULL;
}

const char *tvms_tir_op_prefix(tvms_tir_opcode opcode, tvms_dialect dialect) {
  if (dialect <= TVMS_DIALECT_22) return "tir.";
  return rows[opcode].prim && dialect >= TVMS_DIALECT_27 ? "prim." : "tirx.";
}
