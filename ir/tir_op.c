// The rows of ir/tir_ops.def and the searches in them.
//
// An operator is found by its plain name, by bisection, because the rows are sorted by it. The
// prefix of the name in a text, "tir.", "tirx." or "prim.", tells the release and not the operator,
// and is skipped; so programs of all releases lead to one opcode.
#include "ir/tir_op.h"

#include <string.h>

#define TIRX false
#define PRIM true
#define FROM(since, spelling)                                                          \
  { spelling, TVMS_DIALECT_##since }
static const tvms_tir_row rows[] = {
    {0},
#define TIR_OP(ident, name, prefix, location, effect, inputs, ...)                     \
  {name, prefix, TVMS_LOCATION_##location, TVMS_EFFECT_##effect, inputs, {__VA_ARGS__}},
#include "ir/tir_ops.def"
};
#undef TIRX
#undef PRIM
#undef FROM

enum { SPELLINGS = sizeof rows[0].spellings / sizeof rows[0].spellings[0] };

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

// Spelling in a release that is written.
static const char *TVMS_NULLABLE spelling_in(unsigned opcode, tvms_dialect written) {
  const char *text = NULL;
  for (unsigned i = 0; i < SPELLINGS; i++) {
    uint8_t since = rows[opcode].spellings[i].since;
    if (!since || since > written) break;
    text = rows[opcode].spellings[i].text;
  }
  return text;
}

static bool is_spelled(unsigned opcode, tvms_dialect written, const char *text,
                       size_t len) {
  const char *spelling = spelling_in(opcode, written);
  // Most differ in their first letter already.
  return spelling && *spelling == *text && strncmp(spelling, text, len) == 0
         && !spelling[len];
}

tvms_tir_opcode tvms_tir_op_spelled(const char *text, size_t len, tvms_dialect dialect,
                                    tvms_tir_opcode after) {
  if (len == 0) return TVMS_TIR_NONE;
  tvms_dialect written = tvms_release_written(dialect);
  // Nearly every operator is spelled as it is named and shares that with no other.
  if (after == TVMS_TIR_NONE) {
    tvms_tir_opcode same = find_plain(text, len);
    if (same != TVMS_TIR_NONE && is_spelled(same, written, text, len)) return same;
  }
  for (unsigned i = (unsigned)after + 1; i < TVMS_TIR_COUNT; i++) {
    if (is_spelled(i, written, text, len)) return (tvms_tir_opcode)i;
  }
  return TVMS_TIR_NONE;
}

const char *tvms_tir_op_spelling(tvms_tir_opcode opcode, tvms_dialect dialect) {
  return spelling_in(opcode, tvms_release_written(dialect));
}

// What one operator is called by the releases that renamed it, as in tvms_tir_row.
typedef struct {
  tvms_tir_opcode opcode;
  uint8_t since;
} name_since;

static tvms_tir_opcode renamed_in(const name_since *names, tvms_dialect written) {
  tvms_tir_opcode opcode = TVMS_TIR_NONE;
  for (unsigned i = 0; i < SPELLINGS && names[i].since; i++) {
    if (names[i].since <= written) opcode = names[i].opcode;
  }
  return opcode;
}

static bool is_named(const name_since *names, tvms_tir_opcode opcode) {
  for (unsigned i = 0; i < SPELLINGS && names[i].since; i++) {
    if (names[i].opcode == opcode) return true;
  }
  return false;
}

tvms_tir_opcode tvms_tir_op_same(tvms_tir_opcode opcode, tvms_dialect from,
                                 tvms_dialect dialect) {
  static const name_since groups[][SPELLINGS] = {
#define FROM(since, ident)                                                             \
  { TVMS_TIR_##ident, TVMS_DIALECT_##since }
#define TIR_SAME(...) {__VA_ARGS__},
#define TIR_MORE(...)
#include "ir/tir_renamed.def"
#undef FROM
  };
  tvms_dialect source = tvms_release_written(from);
  tvms_dialect target = tvms_release_written(dialect);
  // Later releases gave classic names to other operators.
  bool reused =
      tvms_release_has(source, TVMS_FACT_ptx_names_are_classic) && source != target;
  for (size_t i = 0; i < sizeof groups / sizeof groups[0] && reused; i++) {
    tvms_tir_opcode other = renamed_in(groups[i], target);
    if (renamed_in(groups[i], source) == opcode && other) return other;
  }
  if (spelling_in(opcode, target)) return opcode;
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
    tvms_tir_opcode other = renamed_in(groups[i], target);
    if (other && is_named(groups[i], opcode)) return other;
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
#include "ir/device/ptx.def"
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
  bool prim = rows[opcode].prim && tvms_release_has(dialect, TVMS_FACT_math_is_prim);
  if (prim) return "prim.";
  return tvms_release_has(dialect, TVMS_FACT_tir_is_tirx) ? "tirx." : "tir.";
}
