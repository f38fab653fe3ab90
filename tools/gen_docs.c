// Build-time program: what users read outside the program, made from its tables.
//
//   gen_docs man|bash|zsh|fish|diagnostics|names|passes OUT
//
// man, bash, zsh, fish: from cli/options.def. diagnostics: a Markdown page of every code,
// from support/diag.def. names: another one of every name of TVMScript (ir/reference.h).
// passes: the manual of all passes (driver/pass_list.h).
#include "driver/pass_list.h"
#include "ir/reference.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  VERB_NONE,
#define VERB(name, arguments, summary) VERB_##name,
#include "cli/options.def"
  VERB_COUNT
};

typedef struct {
  const char *name;
  const char *arguments;
  const char *summary;
} verb_row;

typedef struct {
  const char *name;
  char letter;
  const char *kind;
  const char *value;
  uint64_t verbs;
  const char *summary;
} option_row;

static const verb_row verbs[] = {
    {"", "", ""},
#define VERB(name, arguments, summary) {#name, arguments, summary},
#include "cli/options.def"
};

#define ALL     UINT64_MAX
#define V(name) ((uint64_t)1 << VERB_##name)

static const option_row options[] = {
#define OPTION(field, name, letter, kind, value, verbs, summary)                       \
  {name, letter, #kind, value, verbs, summary},
#include "cli/options.def"
};
enum { OPTION_COUNT = sizeof options / sizeof options[0] };

typedef struct {
  const char *severity;
  const char *code;
  const char *text;
  const char *explanation;
} diagnostic_row;

static const diagnostic_row diagnostics[] = {
#define DIAG(name, code, severity, text, explanation)                                  \
  {#severity, #code, text, explanation},
#include "support/diag.def"
};

static int has(const option_row *option, int verb) {
  return (option->verbs >> verb) & 1;
}

static int takes_value(const option_row *option) {
  return strcmp(option->kind, "FLAG") != 0;
}
static int is_optional(const option_row *option) {
  return strcmp(option->kind, "OPTIONAL") == 0;
}
static int is_choice(const option_row *option) {
  return strcmp(option->kind, "CHOICE") == 0;
}

// Text of a man page: '-' and '\' are escaped, a leading '.' or ''' is protected.
static void put_roff(FILE *out, const char *text) {
  if (*text == '.' || *text == '\'') fputs("\\&", out);
  for (; *text; text++) {
    if (*text == '-')
      fputs("\\-", out);
    else if (*text == '\\')
      fputs("\\e", out);
    else
      fputc(*text, out);
  }
}

static void put_man_option(FILE *out, const option_row *option) {
  fputs(".TP\n", out);
  if (option->letter) fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
  fputs("\\fB\\-\\-", out);
  put_roff(out, option->name);
  fputs("\\fR", out);
  if (takes_value(option)) {
    fputs(is_optional(option) ? "[=\\fI" : " \\fI", out);
    put_roff(out, option->value);
    fputs(is_optional(option) ? "\\fR]" : "\\fR", out);
  }
  fputc('\n', out);
  put_roff(out, option->summary);
  fputc('\n', out);
}

static void put_man_verb(FILE *out, int verb) {
  fprintf(out, ".SS tvms %s \\fR[\\fIOPTION\\fR]... \\fI", verbs[verb].name);
  put_roff(out, verbs[verb].arguments);
  fputs("\\fR\n", out);
  put_roff(out, verbs[verb].summary);
  fputs(".\n", out);
  for (int i = 0; i < OPTION_COUNT; i++) {
    if (options[i].verbs != ALL && has(&options[i], verb)) {
      put_man_option(out, &options[i]);
    }
  }
}

static void put_man(FILE *out) {
  fputs(
      ".TH TVMS 1 \"\" tvms \"User Commands\"\n"
      ".SH NAME\ntvms \\- read, check, format, transform and compile TVMScript\n"
      ".SH SYNOPSIS\n.B tvms\n\\fIVERB\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n"
      ".SH DESCRIPTION\nA \\fIFILE\\fR of \\- is standard input; a folder means every "
      ".tvms file under it, for\n.B check\nand\n.B fmt\nthe TVMScript in .py files, "
      "too.\nFindings go to standard error as text, or with "
      "\\fB\\-\\-format\\fR to standard output.\n.SH VERBS\n",
      out);
  for (int verb = 1; verb < VERB_COUNT; verb++) {
    put_man_verb(out, verb);
  }
  fputs(".SH OPTIONS OF EVERY VERB\n", out);
  for (int i = 0; i < OPTION_COUNT; i++) {
    if (options[i].verbs == ALL) put_man_option(out, &options[i]);
  }
  fputs(
      ".SH EXIT STATUS\n.TP\n0\nfine; warnings and notes too, unless "
      "\\fB\\-\\-werror\\fR\n.TP\n1\nat least one error in the files\n.TP\n2\nwrong "
      "usage, or a file that cannot be read or written\n.TP\n3\na limit, or no "
      "memory\n.TP\n4\na defect of tvms\n"
      ".SH ENVIRONMENT\n.TP\nNO_COLOR\nno colours unless \\fB\\-\\-color always\\fR\n",
      out);
}

static void put_words(FILE *out, const char *choices) {
  for (; *choices; choices++) {
    fputc(*choices == '|' ? ' ' : *choices, out);
  }
}

static void put_bash(FILE *out) {
  fputs(
      "# Completion of tvms for bash, made from cli/options.def.\n_tvms() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  case $before in\n",
      out);
  for (int i = 0; i < OPTION_COUNT; i++) {
    if (!is_choice(&options[i])) continue;
    fprintf(out, "    --%s) COMPREPLY=($(compgen -W '", options[i].name);
    put_words(out, options[i].value);
    fputs("' -- \"$word\")); return ;;\n", out);
  }
  fputs("  esac\n  if [ \"$COMP_CWORD\" = 1 ]; then\n    words='", out);
  for (int verb = 1; verb < VERB_COUNT; verb++) {
    fprintf(out, "%s ", verbs[verb].name);
  }
  fputs(
      "--help --version'\n  elif [[ $word == -* ]]; then\n    case ${COMP_WORDS[1]} in\n",
      out);
  for (int verb = 1; verb < VERB_COUNT; verb++) {
    fprintf(out, "      %s) words='", verbs[verb].name);
    for (int i = 0; i < OPTION_COUNT; i++) {
      if (has(&options[i], verb)) fprintf(out, "--%s ", options[i].name);
    }
    fputs("' ;;\n", out);
  }
  fputs("    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
        "  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n}\n"
        "complete -o filenames -F _tvms tvms\n",
        out);
}

// A description inside single quotes, for zsh and fish.
static void put_quoted(FILE *out, const char *text, const char *escaped) {
  for (; *text; text++) {
    if (*text == '\'') {
      fputs("'\\''", out);
      continue;
    }
    if (strchr(escaped, *text)) fputc('\\', out);
    fputc(*text, out);
  }
}

static void put_zsh_option(FILE *out, const option_row *option) {
  const char *equals = is_optional(option) ? "=-" : takes_value(option) ? "=" : "";
  fprintf(out, " \\\n        '--%s%s[", option->name, equals);
  put_quoted(out, option->summary, "[]:");
  fputc(']', out);
  if (is_choice(option)) {
    fputs(":value:(", out);
    put_words(out, option->value);
    fputc(')', out);
  } else if (takes_value(option)) {
    fputs(":value:_files", out);
  }
  fputc('\'', out);
}

static void put_zsh(FILE *out) {
  fputs(
      "#compdef tvms\n# Completion of tvms for zsh, made from cli/options.def.\n_tvms() {\n"
      "  if (( CURRENT == 2 )); then\n    local -a verbs=(\n",
      out);
  for (int verb = 1; verb < VERB_COUNT; verb++) {
    fprintf(out, "      '%s:", verbs[verb].name);
    put_quoted(out, verbs[verb].summary, ":");
    fputs("'\n", out);
  }
  fputs("    )\n    _describe verb verbs\n    return\n  fi\n  case $words[2] in\n",
        out);
  for (int verb = 1; verb < VERB_COUNT; verb++) {
    fprintf(out, "    %s)\n      _arguments", verbs[verb].name);
    for (int i = 0; i < OPTION_COUNT; i++) {
      if (has(&options[i], verb)) put_zsh_option(out, &options[i]);
    }
    fputs(" \\\n        '*:file:_files' ;;\n", out);
  }
  fputs("  esac\n}\n_tvms \"$@\"\n", out);
}

static void put_fish_option(FILE *out, const option_row *option) {
  fprintf(out, " -l %s", option->name);
  if (option->letter) fprintf(out, " -s %c", option->letter);
  if (is_optional(option)) {
  } else if (is_choice(option)) {
    fputs(" -x -a '", out);
    put_words(out, option->value);
    fputc('\'', out);
  } else if (takes_value(option)) {
    fputs(" -r", out);
  }
  fputs(" -d '", out);
  put_quoted(out, option->summary, "");
  fputs("'\n", out);
}

static void put_fish(FILE *out) {
  fputs("# Completion of tvms for fish, made from cli/options.def.\n", out);
  for (int verb = 1; verb < VERB_COUNT; verb++) {
    fprintf(out, "complete -c tvms -n __fish_use_subcommand -a %s -d '",
            verbs[verb].name);
    put_quoted(out, verbs[verb].summary, "");
    fputs("'\n", out);
    for (int i = 0; i < OPTION_COUNT; i++) {
      if (!has(&options[i], verb)) continue;
      fprintf(out, "complete -c tvms -n '__fish_seen_subcommand_from %s'",
              verbs[verb].name);
      put_fish_option(out, &options[i]);
    }
  }
}

static void put_diagnostics(FILE *out) {
  fputs(
      "# Diagnostics\n\nEvery finding of tvms by its code; `tvms explain CODE` says the "
      "same. `%s` and the like stand for what the finding is about.\n",
      out);
  for (size_t i = 0; i < sizeof diagnostics / sizeof diagnostics[0]; i++) {
    const diagnostic_row *row = &diagnostics[i];
    fprintf(out, "\n## %c%s\n\n    %s\n\n%s\n", row->severity[0], row->code, row->text,
            row->explanation);
  }
}

// A line of the page of names; `place` keeps the order of the tables within a section.
typedef struct {
  char section[32];  // "T.ptx": a name without its last part
  size_t place;
  tvms_reference entry;
} name_line;

typedef struct {
  name_line *lines;
  size_t count, cap;
} name_page;

static void add_name(void *self, const tvms_reference *entry) {
  name_page *page = self;
  if (page->count == page->cap) {
    page->cap = page->cap ? 2 * page->cap : 1024;
    page->lines = realloc(page->lines, page->cap * sizeof *page->lines);
    if (!page->lines) exit(1);
  }
  name_line *line = &page->lines[page->count];
  const char *dot = strchr(entry->name, '.');
  int len = dot ? (int)(dot - entry->name) : 0;
  snprintf(line->section, sizeof line->section, "%s%s%.*s", entry->space,
           len ? "." : "", len, entry->name);
  line->place = page->count++;
  line->entry = *entry;
}

static int compare_names(const void *a, const void *b) {
  const name_line *left = a, *right = b;
  int order = strcmp(left->section, right->section);
  return order ? order : (left->place > right->place) - (left->place < right->place);
}

static void put_name(FILE *out, const tvms_reference *entry) {
  char form[1024], releases[32];
  tvms_reference_form(entry, form, sizeof form);
  tvms_reference_releases(entry, releases, sizeof releases);
  fprintf(out, "- `%s`: %s", form, releases);
  if (entry->doc && entry->kind == TVMS_REFERENCE_INSTRUCTION)
    fprintf(out, "; `%s`", entry->doc);
  else if (entry->doc)
    fprintf(out, ". %s", entry->doc);
  fputc('\n', out);
}

static void put_names(FILE *out) {
  fputs(
      "# Names\n\nEvery name of TVMScript that tvms reads, as a call writes it, and the "
      "releases that have it; `tvms explain NAME` says the same. Instructions of PTX "
      "carry their modifiers, `name=choice|choice`, with a `?` for those that may be left out.\n",
      out);
  name_page page = {0};
  tvms_reference_each(add_name, &page);
  qsort(page.lines, page.count, sizeof *page.lines, compare_names);
  const char *section = "";
  for (size_t i = 0; i < page.count; i++) {
    const name_line *line = &page.lines[i];
    if (strcmp(section, line->section) != 0) fprintf(out, "\n## %s\n\n", line->section);
    section = line->section;
    put_name(out, &line->entry);
  }
  free(page.lines);
}

typedef struct {
  tvms_memory memory;
  FILE *out;
} manual;

static void write_manual(void *argument) {
  manual *m = argument;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &m->memory);
  tvms_optimize_manual(&text);
  fwrite(text.text, 1, text.len, m->out);
  tvms_strbuf_fini(&text);
}

static void put_passes(FILE *out) {
  manual m = {.out = out};
  tvms_memory_init(&m.memory);
  if (tvms_memory_protect(&m.memory, write_manual, &m) != TVMS_OK) exit(1);
  tvms_memory_fini(&m.memory);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*put)(FILE *);
  } kinds[] = {
      {"man", put_man},
      {"bash", put_bash},
      {"zsh", put_zsh},
      {"fish", put_fish},
      {"diagnostics", put_diagnostics},
      {"names", put_names},
      {"passes", put_passes},
  };
  for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(argv[1], kinds[i].name) != 0) continue;
    FILE *out = fopen(argv[2], "w");
    if (!out) break;
    kinds[i].put(out);
    return fclose(out) == 0 ? 0 : 1;
  }
  fprintf(stderr, "usage: gen_docs man|bash|zsh|fish|diagnostics|names|passes OUT\n");
  return 1;
}
