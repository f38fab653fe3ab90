// Contexts of the library. A context lives in the memory that it owns.
#define _POSIX_C_SOURCE 200809L
#include "driver/api/api.h"
#include "support/names.h"

#include <tvms/context.h>

#include <locale.h>

typedef struct {
  tvms_memory memory;
  tvms_context *context;
  tvms_api *api;
} storage;

static void take_storage(void *argument) {
  storage *s = argument;
  s->context = tvms_memory_alloc(&s->memory, sizeof *s->context);
  s->api = tvms_memory_alloc(&s->memory, sizeof *s->api);
}

static void start(void *argument) {
  tvms_context *context = argument;
  tvms_context_start(context, &tvms_names);
  tvms_api_of(context)->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!tvms_api_of(context)->locale)
    tvms_memory_refuse(&context->memory, "there is no memory left");
}

tvms_status tvms_context_create(const tvms_context_options *options,
                                tvms_context **context) {
  tvms_context_options own;
  *context = NULL;
  if (!tvms_api_take_options(options, &own, sizeof own)) return TVMS_BAD_ARGUMENT;
  storage s = {0};
  tvms_memory_init(&s.memory);
  s.memory.allocate = own.allocate;
  s.memory.user = own.user;
  s.memory.limit = own.memory;
  s.memory.fail_at = own.fail_allocation;
  s.memory.catches_checks = true;
  if (own.depth) s.memory.depth_limit = own.depth;
  tvms_status status = tvms_memory_protect(&s.memory, take_storage, &s);
  if (status == TVMS_OK) {
    s.context->memory = s.memory;
    s.context->api = s.api;
    s.api->milliseconds = own.milliseconds;
    status = tvms_memory_protect(&s.context->memory, start, s.context);
    s.memory = s.context->memory;
  }
  if (status != TVMS_OK) {
    tvms_memory_fini(&s.memory);
    return status;
  }
  if (own.steps) s.context->step_limit = own.steps;
  *context = s.context;
  return TVMS_OK;
}

void tvms_context_destroy(tvms_context *context) {
  if (!context) return;
  tvms_api_close_runners(context);
  freelocale((locale_t)tvms_api_of(context)->locale);
  tvms_memory memory = context->memory;
  tvms_memory_fini(&memory);
}

tvms_status tvms_context_state(const tvms_context *context) {
  return tvms_api_of(context)->spent;
}

const char *tvms_context_message(const tvms_context *context) {
  return tvms_api_of(context)->message;
}

size_t tvms_context_memory(const tvms_context *context) {
  return context->memory.used;
}

void tvms_context_free(tvms_context *context, char *text) {
  if (!tvms_api_of(context)->spent) tvms_memory_free(&context->memory, text);
}

const char *tvms_status_name(tvms_status status) {
  switch (status) {
  case TVMS_OK: return "done";
  case TVMS_FOUND_ERRORS: return "found errors";
  case TVMS_FAILED_IO: return "a file could not be read or written";
  case TVMS_OVER_LIMIT: return "out of memory or over a limit";
  case TVMS_INTERNAL: return "internal error";
  case TVMS_BAD_ARGUMENT: return "bad argument";
  case TVMS_NOT_AVAILABLE: return "not available";
  }
  return "unknown status";
}

const char *tvms_library_version(void) {
  return TVMS_VERSION;
}

const char *tvms_release_name(uint32_t index) {
  return index < TVMS_DIALECT_NONE ? tvms_dialect_text((tvms_dialect)index) : NULL;
}
