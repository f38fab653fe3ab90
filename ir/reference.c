// The tables of names, one after the other.
#include "ir/reference.h"

#include "ir/calls.h"
#include "ir/tir_op.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  uint8_t kind;  // tvms_reference_kind
  uint8_t space;
  uint8_t since, until;
  const char *name;
  const char *TVMS_NULLABLE signature;
  const char *TVMS_NULLABLE doc;
} row;

#define ENTRY(kind, space, name, since, until, signature, doc)                         \
  {TVMS_REFERENCE_##kind,                                                              \
   TVMS_NS_##space,                                                                    \
   TVMS_DIALECT_##since,                                                               \
   TVMS_DIALECT_##until,                                                               \
   name,                                                                               \
   signature,                                                                          \
   doc},

static const row entries[] = {
#define CALL(ns, name, signature, since, until, handler)                               \
  ENTRY(CALL, ns, #name, since, until, signature, NULL)
#define ALSO(ns, name, signature, since, until, handler)                               \
  ENTRY(CALL, ns, #name, since, until, signature, NULL)
#define VALUE(ns, name, since, until, handler)                                         \
  ENTRY(VALUE, ns, #name, since, until, NULL, NULL)
#define VALUE_ALSO(ns, name, since, until, handler)                                    \
  ENTRY(VALUE, ns, #name, since, until, NULL, NULL)
#define DTYPE(ns, name, code, bits, since, until)                                      \
  ENTRY(TYPE, ns, #name, since, until, "expr=None", NULL)
#include "ir/calls.def"
#define WRAPPER(path, signature, since, until, op, dtype, raw, items)                  \
  ENTRY(CALL, T, path, since, until, signature, NULL)
#include "ir/device/wrappers.def"
#define PTX(op, family, modifiers, operands, rule)                                     \
  {TVMS_REFERENCE_INSTRUCTION,                                                         \
   TVMS_NS_T,                                                                          \
   TVMS_FACT_SINCE(ptx_has_forms),                                                     \
   TVMS_DIALECT_ever,                                                                  \
   "ptx." family,                                                                      \
   operands,                                                                           \
   modifiers},
#include "ir/device/ptx.def"
#define OP(ident, name, schema, bind, signature, infer, purity, legalize, since, doc)  \
  ENTRY(CALL, R, name, since, ever, signature, doc)
#include "ir/ops.def"
};

enum { ENTRIES = sizeof entries / sizeof entries[0] };

static bool is_listed(const char *name) {
  for (size_t i = 0; i < ENTRIES; i++) {
    if (entries[i].space == TVMS_NS_T && strcmp(entries[i].name, name) == 0)
      return true;
  }
  return false;
}

// The first release from `release` on that is written, TVMS_DIALECT_NONE if none is. Only
// they have spellings of their own.
static tvms_dialect next_written(unsigned release) {
  return tvms_release_written((tvms_dialect)release);
}

// An operator of TIR that no other table has: one entry for each of its spellings.
static void show_operator(tvms_tir_opcode opcode,
                          void (*see)(void *self, const tvms_reference *entry),
                          void *self) {
  const char *before = NULL;
  for (tvms_dialect i = next_written(0); i < TVMS_DIALECT_NONE;
       i = next_written(i + 1)) {
    const char *name = tvms_tir_op_spelling(opcode, i);
    bool begins = name && *name && !(before && strcmp(before, name) == 0);
    before = name;
    if (!begins || is_listed(name)) continue;
    tvms_dialect last = i, next;
    for (; (next = next_written(last + 1)) < TVMS_DIALECT_NONE; last = next) {
      const char *later = tvms_tir_op_spelling(opcode, next);
      if (!later || strcmp(later, name) != 0) break;
    }
    tvms_reference shown = {TVMS_REFERENCE_OPERATOR,
                            "T",
                            name,
                            NULL,
                            tvms_tir_op_row_of(opcode)->inputs,
                            NULL,
                            i,
                            next < TVMS_DIALECT_NONE ? last : TVMS_DIALECT_ever};
    see(self, &shown);
  }
}

void tvms_reference_each(void (*see)(void *self, const tvms_reference *entry),
                         void *self) {
  for (size_t i = 0; i < ENTRIES; i++) {
    const row *found = &entries[i];
    tvms_reference shown = {(tvms_reference_kind)found->kind,
                            tvms_namespace_text((tvms_namespace)found->space),
                            found->name,
                            found->signature,
                            -1,
                            found->doc,
                            (tvms_dialect)found->since,
                            (tvms_dialect)found->until};
    see(self, &shown);
  }
  for (int op = TVMS_TIR_NONE + 1; op < TVMS_TIR_COUNT; op++) {
    show_operator((tvms_tir_opcode)op, see, self);
  }
}

bool tvms_reference_is(const tvms_reference *entry, const char *text) {
  size_t len = strlen(entry->space);
  if (strncmp(text, entry->space, len) != 0 || text[len] != '.') return false;
  size_t name = strlen(entry->name);
  if (strncmp(text + len + 1, entry->name, name) != 0) return false;
  char behind = text[len + 1 + name];
  return !behind || (behind == '.' && entry->kind == TVMS_REFERENCE_INSTRUCTION);
}

void tvms_reference_releases(const tvms_reference *entry, char *out, size_t size) {
  bool from_start = entry->since <= next_written(0);
  const char *since = tvms_dialect_text(entry->since);
  if (entry->until >= TVMS_DIALECT_CURRENT)
    snprintf(out, size, from_start ? "every release" : "since %s", since);
  else if (from_start)
    snprintf(out, size, "up to %s", tvms_dialect_text(entry->until));
  else if (entry->since == entry->until)
    snprintf(out, size, "%s only", since);
  else
    snprintf(out, size, "%s to %s", since, tvms_dialect_text(entry->until));
}

// `d>:=type a:=type` gives `d, a`: operands by name.
static size_t add_operands(const char *at, char *out, size_t size) {
  size_t len = 0;
  while (*at) {
    size_t word = strcspn(at, " ");
    size_t name = strcspn(at, " ><~[:@*#");
    if (len + name + 3 > size) break;
    if (len) len += (size_t)sprintf(out + len, ", ");
    memcpy(out + len, at, name);
    len += name;
    at += word + (at[word] == ' ');
  }
  return len;
}

// Parameters as Python writes them; those of ir/ops.def have their kinds behind colons.
static size_t add_parameters(const tvms_reference *entry, char *out, size_t size) {
  bool skipping = false;
  size_t len = 0;
  for (const char *at = entry->signature ? entry->signature : ""; *at; at++) {
    if (*at == ':' && entry->doc) skipping = true;
    if (*at == ',' || *at == '=') skipping = false;
    if (!skipping && len + 1 < size) out[len++] = *at;
  }
  return len;
}

void tvms_reference_form(const tvms_reference *entry, char *out, size_t size) {
  int written_len = snprintf(out, size, "%s.%s", entry->space, entry->name);
  size_t len = (size_t)written_len;
  if (entry->kind == TVMS_REFERENCE_VALUE || len + 20 > size) return;
  out[len++] = '(';
  if (entry->kind == TVMS_REFERENCE_INSTRUCTION)
    len += add_operands(entry->signature, out + len, size - len - 1);
  else if (entry->kind != TVMS_REFERENCE_OPERATOR)
    len += add_parameters(entry, out + len, size - len - 1);
  else if (entry->inputs < 0)
    len += (size_t)sprintf(out + len, "*args");
  else if (entry->inputs > 0)
    len += (size_t)sprintf(
        out + len, entry->inputs == 1 ? "%d argument" : "%d arguments", entry->inputs);
  out[len] = ')';
  out[len + 1] = '\0';
}
