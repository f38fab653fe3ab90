// Passes that options name.
#include "cli/pass_names.h"

#include "passes/tables.h"
#include "support/diag.h"

#include <string.h>

// TVM's spelling and the kebab spelling of all.
static const char *TVMS_NULLABLE near_name(tvms_memory *memory, const char *name,
                                           char room[TVMS_KEBAB_SIZE]) {
  uint32_t count;
  const tvms_pass *passes = tvms_pass_rows(&count);
  const char **names = tvms_memory_alloc(memory, 2 * count * sizeof *names);
  char(*kebabs)[TVMS_KEBAB_SIZE] = tvms_memory_alloc(memory, count * sizeof *kebabs);
  for (uint32_t i = 0; i < count; i++) {
    tvms_pass_kebab(passes[i].name, kebabs[i]);
    names[2 * i] = passes[i].name;
    names[2 * i + 1] = kebabs[i];
  }
  const char *near = tvms_diag_nearest_name(name, names, 2 * count);
  if (near) near = strcpy(room, near);
  tvms_memory_free(memory, kebabs);
  tvms_memory_free(memory, names);
  return near;
}

static bool is_pipeline(const char *name) {
  uint32_t count;
  const tvms_pipeline_row *rows = tvms_pipeline_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (!strcmp(rows[i].name, name)) return true;
  }
  return false;
}

void tvms_pass_names_complain(tvms_run *run, const char *before, const char *name) {
  const tvms_missing_pass *lack = tvms_pass_find_missing(name, strlen(name));
  char releases[TVMS_RELEASES_SIZE], room[TVMS_KEBAB_SIZE];
  if (lack) {
    tvms_pass_releases(lack->since, lack->until, releases);
    (void)tvms_run_complain(run, "%stvms does not have TVM's pass %s (%s)", before,
                            lack->name, releases);
    return;
  }
  const char *near = is_pipeline(name) ? NULL : near_name(run->memory, name, room);
  if (near)
    (void)tvms_run_complain(run, "%sthere is no pass '%s'; did you mean '%s'?", before,
                            name, near);
  else
    (void)tvms_run_complain(run, "%sthere is no pass '%s'", before, name);
}

static bool runs(const tvms_pipeline *pipeline, const tvms_pass *pass) {
  for (uint32_t i = 0; i < pipeline->count; i++) {
    if (pipeline->steps[i].pass == pass) return true;
  }
  return false;
}

static bool is_all(const char *name, size_t len) {
  return len == 3 && memcmp(name, "all", 3) == 0;
}

static bool check_name(tvms_run *run, const char *option, const char *name, size_t len,
                       const tvms_pipeline *TVMS_NULLABLE pipeline) {
  if (is_all(name, len)) return true;
  const tvms_pass *pass = tvms_pass_find(name, len);
  if (pass) {
    if (pipeline && !runs(pipeline, pass))
      tvms_run_tell(run, "option '%s': %s is not in the pipeline", option, pass->name);
    return true;
  }
  tvms_strbuf before, text;
  tvms_strbuf_init(&before, run->memory);
  tvms_strbuf_init(&text, run->memory);
  tvms_strbuf_printf(&before, "option '%s': ", option);
  tvms_strbuf_add(&text, name, len);
  tvms_pass_names_complain(run, tvms_strbuf_text(&before), tvms_strbuf_text(&text));
  tvms_strbuf_fini(&text);
  tvms_strbuf_fini(&before);
  return false;
}

// The next of the names in a text; `*len` gets its length. NULL behind the last one.
static const char *TVMS_NULLABLE next_name(const char **at, size_t *len) {
  if (!*at) return NULL;
  const char *name = *at;
  *len = strcspn(name, ",");
  *at = name[*len] ? name + *len + 1 : NULL;
  return name;
}

bool tvms_pass_names_check(tvms_run *run, const char *option, const tvms_texts *given,
                           const tvms_pipeline *pipeline) {
  bool good = true;
  for (uint32_t i = 0; i < given->len; i++) {
    const char *at = given->items[i], *name;
    size_t len;
    while ((name = next_name(&at, &len)))
      good = check_name(run, option, name, len, pipeline) && good;
  }
  return good;
}

bool tvms_pass_names_have(const tvms_texts *given, const tvms_pass *pass) {
  for (uint32_t i = 0; i < given->len; i++) {
    const char *at = given->items[i], *name;
    size_t len;
    while ((name = next_name(&at, &len))) {
      if (is_all(name, len) || tvms_pass_find(name, len) == pass) return true;
    }
  }
  return false;
}
