// Saying things and writing bytes, for every verb.
//
// What is said has no place in a program: it begins with "tvms:" and goes to standard error
// at once, in every format. Writing is here because every write can fail (a full disk, a
// closed pipe), and must be said and counted where it does.
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

enum { LONGEST_LINE = 1024 };

// Says one line on standard error without taking memory, so that it works when none is
// left.
static void say(tvms_run *run, const char *TVMS_NULLABLE file, const char *text) {
  char line[2 * LONGEST_LINE];
  int len = snprintf(line, sizeof line, "tvms: %s%s%s\n", file ? file : "",
                     file ? ": " : "", text);
  size_t shown = len < 0 ? 0 : (size_t)len;
  if (shown >= sizeof line) {
    shown = sizeof line - 1;
    line[shown - 1] = '\n';
  }
  tvms_run_write(run, STDERR_FILENO, "standard error", line, shown);
}

static tvms_status fail(tvms_run *run, const char *TVMS_NULLABLE file,
                        const char *text) {
  say(run, file, text);
  if (run->reports) {
    tvms_report_add_failure(&run->report, file, text);
    run->errors++;
  }
  return TVMS_FAILED_IO;
}

// Longer texts are cut.
#define FORMAT_TEXT(text, format)                                                      \
  va_list arguments;                                                                   \
  va_start(arguments, format);                                                         \
  vsnprintf(text, sizeof text, format, arguments);                                     \
  va_end(arguments)

void tvms_run_tell(tvms_run *run, const char *format, ...) {
  char text[LONGEST_LINE];
  FORMAT_TEXT(text, format);
  say(run, NULL, text);
}

tvms_status tvms_run_complain(tvms_run *run, const char *format, ...) {
  char text[LONGEST_LINE];
  FORMAT_TEXT(text, format);
  return fail(run, NULL, text);
}

tvms_status tvms_run_complain_about(tvms_run *run, const char *file, const char *format,
                                    ...) {
  char text[LONGEST_LINE];
  FORMAT_TEXT(text, format);
  return fail(run, file, text);
}

tvms_status tvms_run_complain_io(tvms_run *run, const char *file) {
  // Who reads has seen enough: `tvms fmt --diff | head`.
  if (errno == EPIPE) return TVMS_FAILED_IO;
  return fail(run, file, strerror(errno));
}

tvms_status tvms_run_misused(tvms_run *run, const char *format, ...) {
  char text[LONGEST_LINE];
  FORMAT_TEXT(text, format);
  const char *verb = tvms_options_verb_name(run->options.verb);
  tvms_status status = fail(run, NULL, text);
  tvms_run_tell(run, "see 'tvms %s%s--help'", verb, *verb ? " " : "");
  return status;
}
