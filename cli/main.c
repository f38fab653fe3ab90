// The program: arguments to a verb, its status to an exit status, and every way to end.
//
// The verb runs on a large reserved stack behind one protected call. A failed allocation
// ends in exit 3, a defect (a failed check, an invalid access) in exit 4, never in a
// signal; a full disk or a closed pipe is an error of writing and ends in exit 2.
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "cli/findings.h"
#include "cli/settings.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static bool wants_color(const tvms_run *run, int file) {
  const char *when = run->options.color;
  if (when && strcmp(when, "always") == 0) return true;
  if (when && strcmp(when, "never") == 0) return false;
  const char *no_color = getenv("NO_COLOR");
  return !(no_color && *no_color) && isatty(file);
}

static tvms_status run_verb(tvms_run *run) {
  static tvms_status (*const verbs[])(tvms_run *) = {
#define VERB(name, arguments, summary) [TVMS_VERB_##name] = tvms_verb_##name,
#include "cli/options.def"
  };
  if (run->options.verb == TVMS_VERB_NONE)
    return tvms_run_misused(run, "no verb given");
  return verbs[run->options.verb](run);
}

static tvms_status show_text(tvms_run *run, tvms_strbuf *text) {
  bool written =
      tvms_run_write(run, STDOUT_FILENO, "standard output", text->text, text->len);
  return written ? TVMS_OK : TVMS_FAILED_IO;
}

static tvms_status run_options(tvms_run *run) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  if (run->options.help) {
    tvms_options_help(&text, run->options.verb);
    return show_text(run, &text);
  }
  if (run->options.version) {
    tvms_strbuf_puts(&text, "tvms " TVMS_VERSION "\n");
    return show_text(run, &text);
  }
  run->color_findings = wants_color(run, STDERR_FILENO);
  run->color_result = wants_color(run, STDOUT_FILENO);
  tvms_findings_begin(run);
  tvms_run_worsen(run, run_verb(run));
  tvms_settings_close(run);
  tvms_memory_free_left(run->pages);
  run->pages = NULL;
  return tvms_findings_end(run);
}

typedef struct {
  tvms_run run;
  int argc;
  char **argv;
} program;

static void end_after_signal(int number) {
  static const char text[] = "tvms: internal error: invalid access or failed check\n";
  (void)number;
  ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
  (void)ignored;
  _exit(TVMS_INTERNAL);
}

// On a stack of its own, so that it works when the other one is exhausted. A sanitizer has
// such a stack itself and reports invalid accesses better; there only checks end here.
static void catch_defects(void) {
  static const int numbers[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  enum { SIGNAL_STACK = 64 * 1024 };
  size_t count = sizeof numbers / sizeof numbers[0];
#ifdef TVMS_SANITIZED
  count = 1;
#else
  // Mapped, so that its pages cost nothing until a signal needs them.
  void *pages = mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t stack = {.ss_sp = pages, .ss_size = SIGNAL_STACK};
  if (pages != MAP_FAILED) sigaltstack(&stack, NULL);
#endif
  struct sigaction action = {.sa_handler = end_after_signal, .sa_flags = SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < count; i++) {
    sigaction(numbers[i], &action, NULL);
  }
}

static void run_program(void *argument) {
  program *p = argument;
  tvms_run *run = &p->run;
  catch_defects();
  tvms_strbuf complaint;
  tvms_strbuf_init(&complaint, run->memory);
  bool parsed =
      tvms_options_parse(&run->options, run->memory, p->argc, p->argv, &complaint);
  tvms_status status = parsed
                           ? run_options(run)
                           : tvms_run_misused(run, "%s", tvms_strbuf_text(&complaint));
  tvms_run_worsen(run, status);
}

int main(int argc, char **argv) {
  tvms_memory memory;
  tvms_memory_init(&memory);
  program p = {.run = {.memory = &memory, .argv = argv}, .argc = argc, .argv = argv};
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGPIPE, &ignore, NULL);
  sigaction(SIGXFSZ, &ignore, NULL);
  tvms_status failure = tvms_memory_protect_deep(&memory, run_program, &p);
  // There is no memory for a report, either.
  if (failure != TVMS_OK) tvms_run_tell(&p.run, "out of memory");
  tvms_run_worsen(&p.run, failure);
  tvms_memory_fini(&memory);
  return (int)p.run.status;
}
