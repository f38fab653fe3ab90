// Build-time program: collects every name that a table (*.def) mentions into one
// ready-made hash table, and gives each a constant.
//
//   gen_names OUT.h OUT.c
//
// OUT.h has the enum of TVMS_SYM_<ident>, OUT.c the tvms_static_names `tvms_names` of
// support/intern.h. Ids follow the order of the tables below; equal texts share one id.
// support/names.def gives the C identifier of each of its texts; texts of other tables
// get theirs from the text: letters, digits and '_' stay, anything else becomes '_'.
// Two texts with one identifier are an error: name one of them in names.def.
#include "support/intern.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *TVMS_NULLABLE ident;  // NULL: made from the text
  const char *text;
} entry;

static const entry entries[] = {
#define NAME(ident, text) {#ident, text},
#include "support/names.def"
#define OP(ident, name, ...) {"relax_" #ident, "relax." name},
#include "ir/ops.def"
#define CALL(ns, name, ...)                                  {NULL, #name},
#define OP(ns, name, signature, since, until, op, rule)      {NULL, #name}, {NULL, #op},
#define OP_ALSO(ns, name, signature, since, until, op, rule) {NULL, #op},
#define SUBSPACE(ns, name, ...)                              {NULL, #name},
#define DTYPE(ns, name, ...)                                 {NULL, #name},
#include "ir/calls.def"
#define AXIS(name, ...) {#name, #name},
#include "ir/axes.def"
};

enum { ENTRY_COUNT = sizeof entries / sizeof entries[0], LONGEST_IDENT = 128 };

typedef struct {
  char ident[LONGEST_IDENT];
  const char *text;
  size_t len;
  uint32_t hash;
} row;

typedef struct {
  row *rows;  // [1 … count]
  uint32_t count;
  uint16_t *slots;
  uint32_t slot_mask;
} table;

static void fail(const char *what, const char *text) {
  fprintf(stderr, "gen_names: %s: '%s'\n", what, text);
  exit(1);
}

static void make_ident(char *ident, const entry *from) {
  const char *text = from->ident ? from->ident : from->text;
  if (strlen(text) >= LONGEST_IDENT) fail("name too long", text);
  size_t i = 0;
  for (; text[i]; i++) {
    ident[i] = isalnum((unsigned char)text[i]) ? text[i] : '_';
  }
  ident[i] = '\0';
}

static uint32_t slot_of(const table *names, const char *text, uint32_t hash) {
  uint32_t at = hash & names->slot_mask;
  while (names->slots[at] && strcmp(names->rows[names->slots[at]].text, text) != 0) {
    at = (at + 1) & names->slot_mask;
  }
  return at;
}

static void add(table *names, const entry *from) {
  size_t len = strlen(from->text);
  uint32_t hash = tvms_interner_hash(from->text, len);
  uint32_t slot = slot_of(names, from->text, hash);
  if (names->slots[slot]) return;
  row *added = &names->rows[++names->count];
  make_ident(added->ident, from);
  added->text = from->text;
  added->len = len;
  added->hash = hash;
  names->slots[slot] = (uint16_t)names->count;
}

static int by_ident(const void *a, const void *b) {
  return strcmp(((const row *)a)->ident, ((const row *)b)->ident);
}

static void check_idents(const table *names) {
  size_t count = names->count;
  row *sorted = calloc(count + 1, sizeof *sorted);
  if (!sorted) fail("out of memory", "check_idents");
  memcpy(sorted, names->rows + 1, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_ident);
  for (size_t i = 1; i < count; i++) {
    if (strcmp(sorted[i - 1].ident, sorted[i].ident) == 0) {
      fail("two texts share one identifier", sorted[i].ident);
    }
  }
  free(sorted);
}

static table collect(void) {
  table names = {0};
  uint32_t slots = 1024;
  while (slots < 3 * ENTRY_COUNT) {
    slots *= 2;
  }
  if (ENTRY_COUNT > UINT16_MAX) fail("too many names for 16 bits", "");
  names.slot_mask = slots - 1;
  names.slots = calloc(slots, sizeof *names.slots);
  names.rows = calloc(ENTRY_COUNT + 1, sizeof *names.rows);
  if (!names.slots || !names.rows) fail("out of memory", "collect");
  for (size_t i = 0; i < ENTRY_COUNT; i++) {
    add(&names, &entries[i]);
  }
  check_idents(&names);
  return names;
}

static void write_header(FILE *out, const table *names) {
  fputs("// Made by tools/gen_names.c from the tables. Not to be edited.\n"
        "#ifndef TVMS_SUPPORT_NAMES_H\n#define TVMS_SUPPORT_NAMES_H\n\n"
        "#include \"support/intern.h\"\n\nenum {\n",
        out);
  for (uint32_t i = 1; i <= names->count; i++) {
    fprintf(out, "  TVMS_SYM_%s = %u,\n", names->rows[i].ident, i);
  }
  fputs("};\n\nextern const tvms_static_names tvms_names;\n\n#endif\n", out);
}

static void write_string(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

static void write_source(FILE *out, const table *names) {
  fputs(
      "// Made by tools/gen_names.c from the tables. Not to be edited.\n"
      "#include \"support/names.h\"\n\nstatic const tvms_name names[] = {\n  {\"\", 0, 0},\n",
      out);
  for (uint32_t i = 1; i <= names->count; i++) {
    fputs("  {", out);
    write_string(out, names->rows[i].text);
    fprintf(out, ", %zu, %uu},\n", names->rows[i].len, names->rows[i].hash);
  }
  fputs("};\n\nstatic const uint16_t slots[] = {", out);
  for (uint32_t i = 0; i <= names->slot_mask; i++) {
    fprintf(out, "%s%u,", i % 16 ? " " : "\n  ", names->slots[i]);
  }
  fprintf(out, "\n};\n\nconst tvms_static_names tvms_names = {names, %u, slots, %u};\n",
          names->count, names->slot_mask);
}

static void write_file(const char *path, void (*writer)(FILE *, const table *),
                       const table *names) {
  FILE *out = fopen(path, "w");
  if (!out) fail("cannot write", path);
  writer(out, names);
  if (fclose(out) != 0) fail("cannot write", path);
}

int main(int argc, char **argv) {
  if (argc != 3) fail("usage: gen_names OUT.h OUT.c", "");
  table names = collect();
  write_file(argv[1], write_header, &names);
  write_file(argv[2], write_source, &names);
  free(names.rows);
  free(names.slots);
  return 0;
}
