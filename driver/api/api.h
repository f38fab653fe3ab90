// What the functions of include/tvms share: protected calls, options, texts.
//
// Each file of this folder implements the public header of its name. A public function packs
// its arguments and calls tvms_api_call, which runs the work inside of a protected call on a
// deep stack, in the C locale, under the limits of the context, and turns what happened into
// a status. The work sees only its own findings: work that asks for context->diags.errors
// must not be told those of an earlier call.
#ifndef TVMS_DRIVER_API_API_H
#define TVMS_DRIVER_API_API_H

#include "ir/dialect.h"
#include "support/context.h"
#include "support/strbuf.h"
#include "support/trial.h"

#include <tvms/run.h>

// Of a context that tvms_context_create made; in the context's memory.
typedef struct tvms_api {
  tvms_status spent;  // what every call returns from now on, or TVMS_OK
  void *locale;       // "C", a locale_t
  uint64_t milliseconds;
  tvms_runner *TVMS_NULLABLE runners;  // open ones, newest first
  uint32_t depth;    // calls in progress: more than one in a host's function
  tvms_diags later;  // found by calls of a host's function in a call
  char message[256];
} tvms_api;

// What is kept of a context that tvms_context_create made.
static inline tvms_api *tvms_api_of(const tvms_context *context) {
  return context->api;
}

// Does the work of a call and returns its status. TVMS_OK becomes TVMS_FOUND_ERRORS if an
// error was reported.
typedef tvms_status tvms_api_work(void *argument);

// Runs `work(argument)` for a function that returns a status.
tvms_status tvms_api_call(tvms_context *context, tvms_api_work *work, void *argument);

// To be called before a function of the host is called, which may call the library: what is
// found there does not count for the work in progress.
void tvms_api_leave(tvms_context *context, tvms_trial *trial);

// To be called when it has returned. What was found waits for the end of the call. Does not
// return if the context was spent meanwhile.
void tvms_api_resume(tvms_context *context, tvms_trial *trial);

// Says why a call ends with `status`, and returns it.
tvms_status tvms_api_fail(tvms_context *context, tvms_status status, const char *format,
                          ...) TVMS_PRINTF(3, 4);

// Copies a struct of options that the host gave, or NULL, into `own`, which is zeroed. False
// if it is one that this version does not understand.
TVMS_NODISCARD bool tvms_api_take_options(const void *TVMS_NULLABLE given, void *own,
                                          size_t size);

// Fills in a struct whose first member is its size, as the host knows it. False if the host has
// not said it.
TVMS_NODISCARD bool tvms_api_give_struct(void *given, const void *own, size_t size);

// The release of a name; TVMS_DIALECT_NONE for NULL. False after saying that there is none.
TVMS_NODISCARD bool tvms_api_find_release(tvms_context *context,
                                          const char *TVMS_NULLABLE name,
                                          tvms_dialect *dialect);

// As tvms_api_find_release, for a release that is written: `read`, or the one after it that
// can be, for NULL.
TVMS_NODISCARD bool tvms_api_find_written(tvms_context *context,
                                          const char *TVMS_NULLABLE name,
                                          tvms_dialect read, tvms_dialect *dialect);

// Hands a text over to the host.
void tvms_api_give_text(tvms_strbuf *buffer, char **text, size_t *size);

// TVMS_BAD_ARGUMENT after saying so if the source is NULL or of another context; else TVMS_OK.
tvms_status tvms_api_check_source(tvms_context *context,
                                  const tvms_source *TVMS_NULLABLE source);

// TVMS_BAD_ARGUMENT after saying so if the program was read with errors, or if it is NULL; else
// TVMS_OK.
tvms_status tvms_api_check_program(const tvms_program *TVMS_NULLABLE program);

// TVMS_BAD_ARGUMENT after saying that a function of the host is being shown the program, which
// must stay as it is.
tvms_status tvms_api_is_shown(const tvms_program *program);

// TVMS_BAD_ARGUMENT after saying that tvms_api_take_options has failed.
tvms_status tvms_api_bad_options(tvms_context *context);

// Frees all runners of a context.
void tvms_api_close_runners(tvms_context *context);

#endif
