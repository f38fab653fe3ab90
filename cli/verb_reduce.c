// `tvms reduce FILE --command COMMAND` or `--passes PIPELINE`: a program that fails, as small as
// it gets while it fails.
//
// With --passes the failure is that of `tvms opt --passes PIPELINE`, run in a process of its own:
// a candidate fails in the same way if the exit status is the same, and the code of the first
// error. Candidates are written in one release and read as it, whatever their text shows.
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/files.h"
#include "cli/program.h"
#include "driver/reduce.h"
#include "printer/print.h"
#include "support/diag_ids.h"
#include "support/vec.h"

#include <stdio.h>
#include <unistd.h>

enum { DEFAULT_RUNS = 5000, DEFAULT_SECONDS = 600 };

typedef struct {
  tvms_run *run;
  tvms_command command;
  bool alike;      // a failure must be the first one again
  char first[96];  // how the program fails
} reducing;

static bool fails(void *self, const tvms_strbuf *text, bool *stop) {
  reducing *r = self;
  char why[96];
  tvms_command_result result = tvms_command_try(&r->command, r->run, text, why);
  *stop = result == TVMS_COMMAND_IMPOSSIBLE;
  if (result != TVMS_COMMAND_BAD) return false;
  if (!*r->first) snprintf(r->first, sizeof r->first, "%s", why);
  return !r->alike || strcmp(why, r->first) == 0;
}

static bool open_command(reducing *r, tvms_dialect dialect) {
  const tvms_options *given = &r->run->options;
  if (given->command) return tvms_command_open(&r->command, r->run, given->command);
  r->alike = true;
  if (!tvms_command_open(&r->command, r->run, "/proc/self/exe opt --passes"))
    return false;
  const char *more[] = {given->passes, "--from", tvms_dialect_text(dialect)};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++)
    tvms_vec_push(r->run->memory, &r->command.words, more[i]);
  r->command.reads_code = true;
  return true;
}

static uint64_t given_or(uint64_t given, uint64_t otherwise) {
  return given == UINT64_MAX ? otherwise : given;
}

static void reduce_text(reducing *r, tvms_strbuf *text, tvms_dialect dialect) {
  tvms_run *run = r->run;
  tvms_reduce_options options = {
      .load = {.from = dialect,
               .as_written = !run->options.command,
               .omitted = !run->options.command},
      .dialect = dialect,
      .max_runs = given_or(run->options.max_runs, DEFAULT_RUNS),
      .seconds = given_or(run->options.time, DEFAULT_SECONDS),
      .fails = fails,
      .self = r,
  };
  tvms_reduce_result result;
  size_t before = text->len;
  tvms_reduce_program(text, &options, &result);
  tvms_run_tell(run, "%zu bytes became %zu in %llu runs of %llu candidates%s", before,
                text->len, (unsigned long long)result.runs,
                (unsigned long long)result.tried,
                result.finished ? "" : "; a limit ended it");
}

static tvms_status show(tvms_run *run, const tvms_strbuf *text) {
  if (run->options.output)
    return tvms_files_create(run, run->options.output, text->text, text->len);
  tvms_strbuf_add(&run->result, text->text, text->len);
  return TVMS_OK;
}

static tvms_status reduce_source(tvms_run *run, tvms_source *source) {
  // With --passes as `opt` reads it.
  tvms_program *program = run->options.command
                              ? tvms_run_load_program(run, source)
                              : tvms_run_load_written(run, source, false);
  if (run->context->diags.errors) return TVMS_OK;
  tvms_dialect dialect = tvms_run_written_dialect(run, program->dialect);
  reducing r = {.run = run};
  if (!open_command(&r, dialect)) return TVMS_FAILED_IO;
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  tvms_print_options options = {.dialect = dialect};
  tvms_print_program(program, &options, &text);
  bool stop;
  bool failing = fails(&r, &text, &stop);
  tvms_status status = stop ? TVMS_FAILED_IO : TVMS_OK;
  if (failing) {
    reduce_text(&r, &text, dialect);
    status = show(run, &text);
  } else if (!stop) {
    tvms_diag_report(&run->context->diags, TVMS_D_reduce_nothing, (tvms_span){0, 0},
                     run->options.command ? run->options.command : run->options.passes);
  }
  tvms_command_close(&r.command);
  tvms_strbuf_fini(&text);
  return status;
}

tvms_status tvms_verb_reduce(tvms_run *run) {
  const tvms_options *given = &run->options;
  if (!given->command == !given->passes)
    return tvms_run_misused(run, "one of --command and --passes must be given");
  if (given->paths.len != 1)
    return tvms_run_misused(run, "exactly one file must be given");
  if (!tvms_run_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_files_read_one(run, given->paths.items[0], reduce_source);
}
