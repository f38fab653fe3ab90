// A line of standard error that says what is going on, where somebody may see it.
#define _POSIX_C_SOURCE 200809L
#include "cli/progress.h"

#include "driver/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const double PATIENCE = 1.0;  // seconds without a line
static const double PAUSE = 0.1;     // seconds between two of them

static void write_line(tvms_progress *progress, const char *text, size_t len) {
  tvms_run_write(progress->run, STDERR_FILENO, "standard error", text, len);
}

void tvms_progress_begin(tvms_progress *progress, tvms_run *run) {
  *progress = (tvms_progress){.run = run};
  progress->wanted = !run->options.quiet && isatty(STDERR_FILENO);
  if (!progress->wanted) return;
  progress->begun = tvms_clock_now();
  progress->next = progress->begun + PATIENCE;
}

bool tvms_progress_is_due(tvms_progress *progress) {
  return progress->wanted && tvms_clock_now() >= progress->next;
}

void tvms_progress_show(tvms_progress *progress, const char *format, ...) {
  char line[96];  // most terminals show 80 columns
  int begun = snprintf(line, sizeof line,
                       "\r\x1b[K%.0f s: ", tvms_clock_now() - progress->begun);
  va_list arguments;
  va_start(arguments, format);
  int rest =
      vsnprintf(line + begun, sizeof line - (size_t)begun - 8, format, arguments);
  va_end(arguments);
  size_t len = rest < 0 ? (size_t)begun : (size_t)begun + (size_t)rest;
  enum { COLUMNS = 83 };  // 80, and what goes to the begin of the line
  write_line(progress, line, len < COLUMNS ? len : COLUMNS);
  progress->shown = true;
  progress->next = tvms_clock_now() + PAUSE;
}

void tvms_progress_end(tvms_progress *progress) {
  if (progress->shown) write_line(progress, "\r\x1b[K", 4);
  progress->shown = false;
}
