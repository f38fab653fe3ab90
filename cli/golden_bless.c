// Blessing: a reader sees each change as a diff, and with --interactive says yes or no to it.
#include "cli/golden_bless.h"

#include "cli/files.h"
#include "support/textdiff.h"

#include <unistd.h>

// One line of standard input; its first letter, or 'q' at the end of it. Byte by byte, because
// what is behind the line belongs to the next question.
static char read_answer(void) {
  char first = '\0', c;
  ssize_t got;
  while ((got = read(STDIN_FILENO, &c, 1)) == 1 && c != '\n') {
    if (!first && c != ' ') first = c;
  }
  return got == 1 ? first : 'q';
}

// Whether the user agrees to a change.
static bool ask(tvms_run *run, const char *name, const tvms_strbuf *diff) {
  static const char choices[] = "write it? yes, no, all, quit [y/n/a/q] ";
  if (run->blessing == TVMS_BLESS_ALL) return true;
  if (run->blessing == TVMS_BLESS_NONE) return false;
  tvms_run_write(run, STDOUT_FILENO, "standard output", diff->text, diff->len);
  for (;;) {
    tvms_run_write(run, STDOUT_FILENO, "standard output", name, strlen(name));
    tvms_run_write(run, STDOUT_FILENO, "standard output", ": ", 2);
    tvms_run_write(run, STDOUT_FILENO, "standard output", choices, sizeof choices - 1);
    switch (read_answer()) {
    case 'a': run->blessing = TVMS_BLESS_ALL; return true;
    case 'y': return true;
    case 'q': run->blessing = TVMS_BLESS_NONE; return false;
    case 'n': return false;
    default: break;
    }
  }
}

bool tvms_golden_bless(tvms_run *run, const tvms_source *source,
                       const tvms_strbuf *text, tvms_strbuf *said) {
  if (text->len == source->size
      && (!text->len || memcmp(text->text, source->text, text->len) == 0))
    return true;
  tvms_strbuf diff;
  tvms_strbuf_init(&diff, said->memory);
  tvms_textdiff(&diff, (tvms_version){source->name, source->text, source->size},
                (tvms_version){source->name, text->text, text->len}, run->color_result);
  bool asks = run->options.interactive;
  if (asks && !ask(run, source->name, &diff)) {
    tvms_strbuf_printf(said, "%s: not blessed\n", source->name);
    return false;
  }
  if (tvms_files_replace(run, source->name, text->text, text->len) != TVMS_OK)
    return false;
  run->blessed = true;
  if (!asks) tvms_strbuf_add(said, diff.text, diff.len);
  tvms_strbuf_fini(&diff);
  return true;
}
