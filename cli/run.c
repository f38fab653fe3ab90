// Saying things and writing bytes, for every verb.
#define _POSIX_C_SOURCE 200809L
#include "cli/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void tvms_run_worsen(tvms_run *run, tvms_status status) {
  if (status > run->status) run->status = status;
}

bool tvms_run_write(tvms_run *run, int file, const char *name, const char *text,
                    size_t len) {
  while (len) {
    ssize_t wrote = write(file, text, len);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      // Standard error may be what is closed; then there is nobody to tell.
      if (file != STDERR_FILENO) (void)tvms_run_complain_io(run, name);
      tvms_run_worsen(run, TVMS_FAILED_IO);
      return false;
    }
    text += wrote;
    len -= (size_t)wrote;
  }
  return true;
}

// Says one line on standard error without taking memory, so that it works when none is
// left; longer texts are cut.
static void say(tvms_run *run, const char *format, va_list arguments,
                const char *more) {
  char line[1024];
  int len = snprintf(line, sizeof line, "tvms: ");
  int said = vsnprintf(line + len, sizeof line - (size_t)len - 2, format, arguments);
  size_t end = strlen(line);
  if (said >= 0 && *more) {
    snprintf(line + end, sizeof line - end - 2, ": %s", more);
    end = strlen(line);
  }
  line[end++] = '\n';
  tvms_run_write(run, STDERR_FILENO, "standard error", line, end);
}

void tvms_run_complain(tvms_run *run, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(run, format, arguments, "");
  va_end(arguments);
}

static void complain_with(tvms_run *run, const char *more, const char *format, ...)
    TVMS_PRINTF(3, 4);
static void complain_with(tvms_run *run, const char *more, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(run, format, arguments, more);
  va_end(arguments);
}

tvms_status tvms_run_complain_io(tvms_run *run, const char *subject) {
  complain_with(run, strerror(errno), "%s", subject);
  return TVMS_FAILED_IO;
}

tvms_status tvms_run_misused(tvms_run *run, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(run, format, arguments, "");
  va_end(arguments);
  const char *verb = tvms_options_verb_name(run->options.verb);
  tvms_run_complain(run, "see 'tvms %s%s--help'", verb, *verb ? " " : "");
  return TVMS_FAILED_IO;
}
