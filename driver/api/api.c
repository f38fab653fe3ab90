// Protected calls: findings set aside, limits set up, the locale switched, the failure told.
#define _POSIX_C_SOURCE 200809L
#include "driver/api/api.h"

#include "driver/program.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

typedef struct {
  tvms_context *context;
  tvms_api_work *work;
  void *argument;
  tvms_status status;
} call;

// Lines of sources are found here, so that looking a place up needs no memory later.
static void finish_findings(tvms_context *context) {
  tvms_diags_sort(&context->diags);
  for (const tvms_diag *diag = context->diags.first; diag; diag = diag->next) {
    (void)tvms_source_place(&context->memory, diag->source, 0);
    for (const tvms_note *note = diag->notes; note; note = note->next) {
      if (note->source) (void)tvms_source_place(&context->memory, note->source, 0);
    }
  }
}

static void do_work(void *argument) {
  call *c = argument;
  (void)uselocale((locale_t)tvms_api_of(c->context)->locale);
  c->status = c->work(c->argument);
  finish_findings(c->context);
}

// The earlier of two deadlines, 0 being none.
static uint64_t deadline(uint64_t outer, uint64_t milliseconds) {
  if (!milliseconds) return outer;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t begin = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
  bool endless = milliseconds > (UINT64_MAX - begin) / 1000000;
  uint64_t end = endless ? UINT64_MAX : begin + milliseconds * 1000000;
  return outer && outer < end ? outer : end;
}

// What became of a protected call that ended by unwinding.
static tvms_status judge_failure(tvms_context *context, tvms_status failure) {
  tvms_api *api = tvms_api_of(context);
  if (context->memory.defect[0]) failure = TVMS_INTERNAL;
  if (failure != TVMS_OVER_LIMIT && failure != TVMS_INTERNAL) return failure;
  const char *why = failure == TVMS_INTERNAL ? context->memory.defect
                    : context->memory.reason ? context->memory.reason
                                             : "a limit was reached";
  snprintf(api->message, sizeof api->message, "%s", why);
  api->spent = failure;
  return failure;
}

// Adds findings behind others.
static void append(tvms_diags *diags, const tvms_diags *found) {
  if (!found->first) return;
  if (diags->last)
    diags->last->next = found->first;
  else
    diags->first = found->first;
  diags->last = found->last;
  diags->errors += found->errors;
  diags->warnings += found->warnings;
}

static tvms_status run_call(tvms_context *context, call *c) {
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  context->memory.reason = NULL;
  tvms_status failure = tvms_memory_protect_deep(&context->memory, do_work, c);
  if (context->memory.defect[0] || failure != TVMS_OK) {
    failure = judge_failure(context, failure);
  }
  tvms_status status = failure == TVMS_OK ? c->status : failure;
  if (status == TVMS_OK && context->diags.errors) status = TVMS_FOUND_ERRORS;
  if (tvms_api_of(context)->spent)
    tvms_trial_drop(&trial);
  else
    tvms_trial_keep(&trial);
  return status;
}

tvms_status tvms_api_call(tvms_context *context, tvms_api_work *work, void *argument) {
  tvms_api *api = tvms_api_of(context);
  if (api->spent) return api->spent;
  call c = {context, work, argument, TVMS_OK};
  api->message[0] = '\0';
  locale_t locale = uselocale((locale_t)0);
  uint64_t outer = context->memory.deadline, steps = context->steps;
  context->memory.deadline = deadline(outer, api->milliseconds);
  context->steps = 0;
  api->depth++;
  tvms_status status = run_call(context, &c);
  if (--api->depth == 0) {
    append(&context->diags, &api->later);
    api->later = (tvms_diags){0};
  }
  context->steps = steps;
  context->memory.deadline = outer;
  (void)uselocale(locale);
  return status;
}

void tvms_api_leave(tvms_context *context, tvms_trial *trial) {
  tvms_trial_begin(trial, &context->diags);
}

void tvms_api_resume(tvms_context *context, tvms_trial *trial) {
  tvms_diags found = context->diags;
  tvms_trial_drop(trial);
  append(&tvms_api_of(context)->later, &found);
  if (tvms_api_of(context)->spent)
    tvms_memory_unwind(&context->memory, tvms_api_of(context)->spent);
}

tvms_status tvms_api_fail(tvms_context *context, tvms_status status, const char *format,
                          ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(tvms_api_of(context)->message, sizeof tvms_api_of(context)->message, format,
            arguments);
  va_end(arguments);
  return status;
}

bool tvms_api_take_options(const void *given, void *own, size_t size) {
  memset(own, 0, size);
  if (!given) return true;
  size_t known;
  memcpy(&known, given, sizeof known);
  if (known < sizeof known) return false;
  const char *bytes = given;
  for (size_t i = size; i < known; i++) {
    if (bytes[i]) return false;
  }
  memcpy(own, given, known < size ? known : size);
  return true;
}

bool tvms_api_give_struct(void *given, const void *own, size_t size) {
  size_t known;
  memcpy(&known, given, sizeof known);
  if (known < size) size = known;
  if (size <= sizeof known) return false;
  memcpy((char *)given + sizeof known, (const char *)own + sizeof known,
         size - sizeof known);
  return true;
}

tvms_status tvms_api_bad_options(tvms_context *context) {
  return tvms_api_fail(context, TVMS_BAD_ARGUMENT,
                       "the options have no size or are of a newer version");
}

tvms_status tvms_api_is_shown(const tvms_program *program) {
  return tvms_api_fail(program->context, TVMS_BAD_ARGUMENT,
                       "the program is being shown and cannot be changed");
}

bool tvms_api_find_release(tvms_context *context, const char *name,
                           tvms_dialect *dialect) {
  *dialect = name ? tvms_dialect_parse(name) : TVMS_DIALECT_NONE;
  if (!name || *dialect != TVMS_DIALECT_NONE) return true;
  char names[TVMS_RELEASES_TEXT];
  (void)tvms_api_fail(context, TVMS_BAD_ARGUMENT,
                      "there is no release '%s'; there are %s", name,
                      tvms_release_names(names));
  return false;
}

bool tvms_api_find_written(tvms_context *context, const char *name, tvms_dialect read,
                           tvms_dialect *dialect) {
  if (!tvms_api_find_release(context, name, dialect)) return false;
  bool written =
      *dialect == TVMS_DIALECT_NONE || tvms_release_written(*dialect) == *dialect;
  *dialect = tvms_dialect_to_write(*dialect, read);
  if (written) return true;
  (void)tvms_api_fail(context, TVMS_BAD_ARGUMENT, "%s is read and never written", name);
  return false;
}

void tvms_api_give_text(tvms_strbuf *buffer, char **text, size_t *size) {
  (void)tvms_strbuf_text(buffer);
  *text = buffer->text;
  *size = buffer->len;
}

tvms_status tvms_api_check_source(tvms_context *context, const tvms_source *source) {
  if (source && source->memory == &context->memory) return TVMS_OK;
  return tvms_api_fail(context, TVMS_BAD_ARGUMENT,
                       source ? "the source is of another context"
                              : "there is no source");
}

tvms_status tvms_api_check_program(const tvms_program *program) {
  if (!program) return TVMS_BAD_ARGUMENT;
  if (!program->wrong) return TVMS_OK;
  return tvms_api_fail(program->context, TVMS_BAD_ARGUMENT,
                       "the program was read with errors, or a pass failed on it");
}
