// What the syntax check says of files: their names are read from standard input, and for each mistake
// the name, the line, the column and the message are written, with tabs between them. For tests/syntax/agree.py.
#include "grammar/syntax.h"
#include "support/names.h"
#include "support/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  tvms_context context;
  const char *name;
  const char *text;
  size_t size;
} work;

static void check(void *self) {
  work *w = self;
  tvms_source *source =
      tvms_source_create(&w->context.memory, w->name, w->text, w->size);
  w->context.diags.source = source;
  tvms_syntax_faults faults = {0};
  tvms_trial trial;
  tvms_trial_begin(&trial, &w->context.diags);
  tvms_syntax_check(&w->context, source, NULL, 0, &faults);
  tvms_trial_drop(&trial);
  for (uint32_t i = 0; i < faults.len; i++) {
    tvms_place place =
        tvms_source_place(&w->context.memory, source, faults.items[i].diag->span.begin);
    printf("%s\t%u\t%u\t%s\n", w->name, place.line, place.column,
           faults.items[i].diag->text);
  }
  tvms_vec_fini(&w->context.memory, &faults);
}

static char *read_all(const char *name, size_t *size) {
  FILE *file = fopen(name, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(*size + 1);
  *size = fread(text, 1, *size, file);
  fclose(file);
  return text;
}

int main(void) {
  static char name[4096];
  while (fgets(name, sizeof name, stdin)) {
    name[strcspn(name, "\n")] = '\0';
    work w = {.name = name};
    char *text = read_all(name, &w.size);
    if (!text) continue;
    w.text = text;
    tvms_context_init(&w.context, &tvms_names);
    if (tvms_memory_protect_deep(&w.context.memory, check, &w) != TVMS_OK)
      printf("%s\t0\t0\tlimits\n", name);
    tvms_context_fini(&w.context);
    free(text);
  }
  return 0;
}
