// Statements of Python's form, and where the steps of a schedule come from.
#include "schedule/script.h"

#include "schedule/json.h"
#include "schedule/reader.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

static const tvms_surf *node_at(const tvms_sched_reader *r, tvms_ref ref) {
  return tvms_surface_at(r->surface, ref);
}

// ---- Statements ----

static bool assign(tvms_sched_reader *r, tvms_ref target,
                   const tvms_sched_value *value);

static bool expected_names(tvms_sched_reader *r, tvms_ref target,
                           const tvms_sched_value *value) {
  if (value->kind != TVMS_VALUE_LIST)
    return tvms_sched_reader_expected(r, target, "one name, for one value");
  char text[64];
  snprintf(text, sizeof text, "as many names as there are values, %u", value->len);
  return tvms_sched_reader_expected(r, target, text);
}

// Each name of a list gets a value; one with a star what remains for it.
static bool assign_each(tvms_sched_reader *r, tvms_ref target,
                        const tvms_sched_value *value) {
  tvms_ref items = node_at(r, target)->a;
  uint32_t count = tvms_surface_count(r->surface, items), stars = 0, at = 0;
  tvms_surface_each(r->surface, item, items) {
    stars += node_at(r, item)->kind == TVMS_SURF_STAR;
  }
  bool fits = value->kind == TVMS_VALUE_LIST && stars <= 1
              && (stars ? value->len + 1 >= count : value->len == count);
  if (!fits) return expected_names(r, target, value);
  tvms_surface_each(r->surface, item, items) {
    if (node_at(r, item)->kind != TVMS_SURF_STAR) {
      if (!assign(r, item, &value->items[at++])) return false;
      continue;
    }
    tvms_sched_value rest = *value;
    rest.items = value->items + at;
    rest.len = value->len + 1 - count;
    at += rest.len;
    if (!assign(r, node_at(r, item)->a, &rest)) return false;
  }
  return true;
}

static bool assign(tvms_sched_reader *r, tvms_ref target,
                   const tvms_sched_value *value) {
  const tvms_surf *node = node_at(r, target);
  if (node->kind == TVMS_SURF_NAME) {
    tvms_sched_reader_bind(r, node->a, *value);
    return true;
  }
  if (node->kind != TVMS_SURF_TUPLE && node->kind != TVMS_SURF_LIST)
    return tvms_sched_reader_expected(r, target, "a name or a list of names");
  return assign_each(r, target, value);
}

static bool run_statement(tvms_sched_reader *r, tvms_ref stmt) {
  const tvms_surf *node = node_at(r, stmt);
  tvms_sched_value value;
  switch ((int)node->kind) {
  case TVMS_SURF_EXPRESSION:
    return node_at(r, node->a)->kind == TVMS_SURF_STRING  // a docstring
           || tvms_sched_reader_value(r, node->a, &value);
  case TVMS_SURF_ASSIGN: {
    tvms_ref targets = node->a;
    if (!tvms_sched_reader_value(r, node->b, &value)) return false;
    tvms_surface_each(r->surface, target, targets) {
      if (!assign(r, target, &value)) return false;
    }
    return true;
  }
  case TVMS_SURF_IMPORT:
  case TVMS_SURF_IMPORT_FROM:
  case TVMS_SURF_PASS: return true;
  default: return tvms_sched_reader_expected(r, stmt, "a step of the schedule");
  }
}

// A trace in JSON is one list.
static tvms_ref json_list(const tvms_sched_reader *r) {
  tvms_ref stmt = r->surface->body;
  if (!stmt || node_at(r, stmt)->next) return 0;
  if (node_at(r, stmt)->kind != TVMS_SURF_EXPRESSION) return 0;
  tvms_ref value = node_at(r, stmt)->a;
  return node_at(r, value)->kind == TVMS_SURF_LIST ? value : 0;
}

static bool run(tvms_sched_reader *r) {
  tvms_ref list = json_list(r), first = r->surface->body;
  if (list) return tvms_sched_json_run(r, list);
  if (first && node_at(r, first)->kind == TVMS_SURF_IF) first = node_at(r, first)->b;
  tvms_surface_each(r->surface, stmt, first) {
    if (!run_statement(r, stmt)) return false;
  }
  return true;
}

// `places` is the source that has the bytes of `source` at the same offsets.
static bool run_source(tvms_schedule *schedule, tvms_source *source,
                       tvms_source *places) {
  tvms_context *context = schedule->context;
  tvms_source *outer = context->diags.source;
  uint32_t errors = context->diags.errors;
  tvms_surface surface;
  context->diags.source = schedule->script = places;
  tvms_surface_parse(&surface, context, source);
  tvms_sched_reader r = {.schedule = schedule, .context = context, .surface = &surface};
  bool fine = context->diags.errors == errors && run(&r);
  tvms_vec_fini(&context->memory, &r.names);
  tvms_surface_fini(&surface);
  context->diags.source = outer;
  return fine;
}

bool tvms_schedule_run_script(tvms_schedule *schedule, tvms_source *source) {
  return run_source(schedule, source, source);
}

// ---- Steps in comments ----

static const char heading[] = "# SCHEDULE:\n";

// Where the steps begin in a program; NULL: it has none.
static const char *TVMS_NULLABLE find_heading(const tvms_source *program) {
  const char *found = strstr(program->text, heading);
  while (found && found != program->text && found[-1] != '\n')
    found = strstr(found + 1, heading);
  return found;
}

// Comment signs become blanks and the heading an `if`, whose body the steps are: so every place stays.
bool tvms_schedule_run_comments(tvms_schedule *schedule, tvms_source *program) {
  const char *begin = program ? find_heading(program) : NULL;
  if (!begin) {
    tvms_diag_report(&schedule->context->diags, TVMS_D_schedule_missing,
                     schedule->module->name_span);
    return false;
  }
  tvms_memory *memory = &schedule->context->memory;
  char *text = tvms_memory_alloc(memory, program->size + 1);
  for (uint32_t i = 0; i < program->size; i++)
    text[i] = program->text[i] == '\n' ? '\n' : ' ';
  size_t at = (size_t)(begin - program->text);
  memcpy(text + at, "if 1:", 5);
  for (at += sizeof heading - 1; program->text[at] == '#';) {
    size_t len = strcspn(program->text + at, "\n");
    memcpy(text + at + 1, program->text + at + 1, len - 1);
    at += len + (program->text[at + len] == '\n');
  }
  tvms_source *source = tvms_source_create(memory, program->name, text, program->size);
  tvms_memory_free(memory, text);
  return run_source(schedule, source, program);
}
