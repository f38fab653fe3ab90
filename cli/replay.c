// Options of `tvms opt` from the first line of the file.
#include "cli/replay.h"

#include "support/vec.h"

#include <stdio.h>
#include <string.h>

static const char MARK[] = "# RUN: opt ";

// The first line of a file behind MARK; false if it begins with something else.
static bool read_line(const char *path, tvms_strbuf *line) {
  FILE *file = fopen(path, "re");
  if (!file) return false;  // whoever reads it says why
  int c;
  while ((c = getc(file)) != EOF && c != '\n' && c != '\0') {
    tvms_strbuf_putc(line, (char)c);
    size_t least = line->len < sizeof MARK - 1 ? line->len : sizeof MARK - 1;
    if (memcmp(line->text, MARK, least) != 0) break;
  }
  (void)fclose(file);
  return line->len >= sizeof MARK - 1 && (c == '\n' || c == EOF);
}

// The words of the line and those of the command line behind them, without its verb.
static void join_words(const tvms_run *run, char *line, tvms_texts *words) {
  tvms_vec_push(run->memory, words, run->argv[0]);
  tvms_options_split_words(words, run->memory, line + strlen("# RUN: "));
  bool verb = false;
  for (char **at = run->argv + 1; *at; at++) {
    if (verb || strcmp(*at, "opt") != 0)
      tvms_vec_push(run->memory, words, *at);
    else
      verb = true;
  }
}

bool tvms_options_replay(tvms_run *run) {
  const tvms_texts *paths = &run->options.paths;
  if (paths->len != 1 || strcmp(paths->items[0], "-") == 0) return true;
  const char *path = paths->items[0];
  tvms_strbuf line, complaint;
  tvms_strbuf_init(&line, run->memory);
  tvms_strbuf_init(&complaint, run->memory);
  tvms_texts words = {
      0};  // options refer to them and to the line as long as the run lasts
  if (!read_line(path, &line)) return true;
  join_words(run, line.text, &words);
  tvms_options options;
  bool good = tvms_options_parse(&options, run->memory, (int)words.len,
                                 (char **)(void *)words.items, &complaint);
  if (!good)
    (void)tvms_run_complain_about(run, path, "its first line: %s",
                                  tvms_strbuf_text(&complaint));
  else if (options.paths.len != 1)
    (void)tvms_run_complain_about(run, path, "its first line names files");
  else
    // How findings are shown has been settled.
    options.format = run->options.format, options.color = run->options.color;
  good = good && options.paths.len == 1;
  if (good) run->options = options;
  tvms_strbuf_fini(&complaint);
  return good;
}
