// Binding arguments to the rows of options.def, and help made from them.
//
// The first word that is not an option is the verb; options may stand anywhere, long ones
// with "=" or a space before their value, letters joined. Which field a row fills is an
// offset into tvms_options, so a row is all that an option needs.
#include "cli/options.h"

#include "support/diag.h"
#include "support/vec.h"

#include <stdlib.h>

enum {
  VERB_COUNT = 1
#define VERB(name, arguments, summary) +1
#include "cli/options.def"
};

typedef enum { FLAG, TEXT, OPTIONAL, CHOICE, NUMBER, COUNT, LIST } option_kind;

typedef struct {
  const char *name;
  char letter;
  option_kind kind;
  const char *value;
  uint64_t verbs;
  const char *summary;
  size_t offset;  // of its field in tvms_options
} option_row;

typedef struct {
  const char *name;
  const char *arguments;
  const char *summary;
} verb_row;

static const verb_row verbs[] = {
    {"", "", ""},
#define VERB(name, arguments, summary) {#name, arguments, summary},
#include "cli/options.def"
};

#define ALL     UINT64_MAX
#define V(name) ((uint64_t)1 << TVMS_VERB_##name)

static const option_row rows[] = {
#define OPTION(field, name, letter, kind, value, verbs, summary)                       \
  {name, letter, kind, value, verbs, summary, offsetof(tvms_options, field)},
#include "cli/options.def"
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

typedef struct {
  tvms_options *options;
  tvms_memory *memory;
  tvms_strbuf *complaint;
  char **next;  // arguments not yet read
  char **end;
} binding;

const char *tvms_options_verb_name(tvms_verb verb) {
  return verbs[verb].name;
}

static bool has_option(const option_row *row, tvms_verb verb) {
  return (row->verbs >> verb) & 1;
}

static const option_row *find_long(const char *name, size_t len) {
  for (size_t i = 0; i < ROW_COUNT; i++) {
    bool same = strncmp(rows[i].name, name, len) == 0 && rows[i].name[len] == '\0';
    if (same) return &rows[i];
  }
  return NULL;
}

static const option_row *find_letter(char letter) {
  for (size_t i = 0; i < ROW_COUNT; i++) {
    if (rows[i].letter == letter) return &rows[i];
  }
  return NULL;
}

static bool suggest(binding *b, const char *word, const char *const *names,
                    uint32_t count, const char *prefix) {
  const char *near = tvms_diag_nearest_name(word, names, count);
  if (near) tvms_strbuf_printf(b->complaint, "; did you mean '%s%s'?", prefix, near);
  return false;
}

static bool unknown_option(binding *b, const char *argument, const char *name) {
  const char *names[ROW_COUNT];
  uint32_t count = 0;
  for (size_t i = 0; i < ROW_COUNT; i++) {
    if (has_option(&rows[i], b->options->verb)) names[count++] = rows[i].name;
  }
  tvms_strbuf_printf(b->complaint, "unknown option '%s'", argument);
  return suggest(b, name, names, count, "--");
}

static bool unknown_verb(binding *b, const char *word) {
  const char *names[VERB_COUNT];
  for (size_t i = 0; i < VERB_COUNT; i++) {
    names[i] = verbs[i].name;
  }
  tvms_strbuf_printf(b->complaint, "unknown verb '%s'", word);
  return suggest(b, word, names, VERB_COUNT, "");
}

static bool is_choice(const char *choices, const char *value) {
  size_t len = strlen(value);
  for (const char *at = choices; at; at = strchr(at, '|')) {
    at += *at == '|';
    if (strncmp(at, value, len) == 0 && (at[len] == '|' || at[len] == '\0'))
      return true;
  }
  return false;
}

static bool bind_number(binding *b, const option_row *row, const char *value,
                        uint64_t *field) {
  char *end;
  *field = strtoull(value, &end, 10);
  const char *wanted = "a number";
  if (*value >= '0' && *value <= '9' && !*end) {
    uint64_t least = row->kind == COUNT;
    if (*field >= least && *field <= INT64_MAX) return true;
    wanted = *field < least ? "a number of at least 1" : "a number up to 2**63 - 1";
  }
  tvms_strbuf_printf(b->complaint, "option '--%s' takes %s, not '%s'", row->name,
                     wanted, value);
  return false;
}

static bool bind_value(binding *b, const option_row *row, const char *value) {
  void *field = (char *)b->options + row->offset;
  switch (row->kind) {
  case FLAG: *(bool *)field = true; return true;
  case NUMBER:
  case COUNT: return bind_number(b, row, value, field);
  case LIST: tvms_vec_push(b->memory, (tvms_texts *)field, value); return true;
  case CHOICE:
    if (!is_choice(row->value, value)) {
      tvms_strbuf_printf(b->complaint, "option '--%s' is one of %s, not '%s'",
                         row->name, row->value, value);
      return false;
    }
    *(const char **)field = value;
    return true;
  case TEXT: *(const char **)field = value; return true;
  case OPTIONAL: *(const char **)field = value ? value : ""; return true;
  }
  return false;
}

static bool needs_value(const option_row *row) {
  return row->kind != FLAG && row->kind != OPTIONAL;
}

// `value` is what stands behind '=' or behind the letter, or NULL.
static bool bind_option(binding *b, const option_row *row, const char *argument,
                        const char *value) {
  if (!has_option(row, b->options->verb)) {
    tvms_strbuf_printf(b->complaint, "'%s' has no option '--%s'",
                       tvms_options_verb_name(b->options->verb), row->name);
    return false;
  }
  if (row->kind == FLAG && value) {
    tvms_strbuf_printf(b->complaint, "option '--%s' takes no value", row->name);
    return false;
  }
  if (needs_value(row) && !value) {
    if (b->next == b->end) {
      tvms_strbuf_printf(b->complaint, "option '%s' takes a value: %s", argument,
                         row->value);
      return false;
    }
    value = *b->next++;
  }
  return bind_value(b, row, value);
}

static bool bind_long(binding *b, const char *argument) {
  const char *name = argument + 2;
  const char *equals = strchr(name, '=');
  size_t len = equals ? (size_t)(equals - name) : strlen(name);
  const option_row *row = find_long(name, len);
  if (!row) return unknown_option(b, argument, name);
  return bind_option(b, row, argument, equals ? equals + 1 : NULL);
}

// -qv, -j4, -j 4: flags may be joined, a value ends the group.
static bool bind_letters(binding *b, const char *argument) {
  for (const char *at = argument + 1; *at; at++) {
    const option_row *row = find_letter(*at);
    if (!row) return unknown_option(b, argument, argument + 1);
    bool takes = needs_value(row);
    if (!bind_option(b, row, argument, takes && at[1] ? at + 1 : NULL)) return false;
    if (takes) return true;
  }
  return true;
}

static bool bind_verb(binding *b, const char *word) {
  for (tvms_verb verb = 1; verb < (tvms_verb)VERB_COUNT; verb++) {
    if (strcmp(word, verbs[verb].name) == 0) {
      b->options->verb = verb;
      return true;
    }
  }
  // What other programs understand.
  bool help = strcmp(word, "help") == 0, version = strcmp(word, "version") == 0;
  if (help) b->options->help = true;
  if (version) b->options->version = true;
  return help || version || unknown_verb(b, word);
}

static void set_defaults(tvms_options *options) {
  memset(options, 0, sizeof *options);
  for (size_t i = 0; i < ROW_COUNT; i++) {
    if (rows[i].kind == NUMBER || rows[i].kind == COUNT) {
      *(uint64_t *)(void *)((char *)options + rows[i].offset) = UINT64_MAX;
    }
  }
}

bool tvms_options_parse(tvms_options *options, tvms_memory *memory, int argc,
                        char **argv, tvms_strbuf *complaint) {
  set_defaults(options);
  binding b = {options, memory, complaint, argv + (argc > 0), argv + argc};
  bool only_paths = false;
  while (b.next != b.end) {
    const char *argument = *b.next++;
    bool plain = only_paths || argument[0] != '-' || !argument[1];
    bool bound = true;
    if (!plain && strcmp(argument, "--") == 0)
      only_paths = true;
    else if (!plain && argument[1] == '-')
      bound = bind_long(&b, argument);
    else if (!plain)
      bound = bind_letters(&b, argument);
    else if (options->verb == TVMS_VERB_NONE)
      bound = bind_verb(&b, argument);
    else
      tvms_vec_push(memory, &options->paths, argument);
    if (!bound) return false;
  }
  return true;
}

// One line of help: "  -q, --quiet" padded, then the summary, wrapped at 80 columns.
static void add_entry(tvms_strbuf *out, const char *left, const char *summary) {
  enum { INDENT = 26, WIDTH = 88 };
  size_t column = 2 + strlen(left);
  tvms_strbuf_printf(out, "  %s", left);
  if (column >= INDENT) tvms_strbuf_putc(out, '\n'), column = 0;
  tvms_strbuf_fill(out, ' ', INDENT - column);
  column = INDENT;
  while (*summary) {
    size_t word = strcspn(summary, " ");
    if (column > INDENT && column + 1 + word > WIDTH) {
      tvms_strbuf_putc(out, '\n');
      tvms_strbuf_fill(out, ' ', INDENT);
      column = INDENT;
    } else if (column > INDENT) {
      tvms_strbuf_putc(out, ' ');
      column++;
    }
    tvms_strbuf_add(out, summary, word);
    column += word;
    summary += word + (summary[word] == ' ');
  }
  tvms_strbuf_putc(out, '\n');
}

static void add_option(tvms_strbuf *out, tvms_memory *memory, const option_row *row) {
  tvms_strbuf left;
  tvms_strbuf_init(&left, memory);
  if (row->letter) tvms_strbuf_printf(&left, "-%c, ", row->letter);
  tvms_strbuf_printf(&left, "--%s", row->name);
  if (row->kind == OPTIONAL)
    tvms_strbuf_printf(&left, "[=%s]", row->value);
  else if (row->kind != FLAG)
    tvms_strbuf_printf(&left, " %s", row->value);
  add_entry(out, tvms_strbuf_text(&left), row->summary);
  tvms_strbuf_fini(&left);
}

void tvms_options_help(tvms_strbuf *out, tvms_verb verb) {
  bool whole = verb == TVMS_VERB_NONE;
  if (whole) {
    tvms_strbuf_puts(out,
                     "usage: tvms VERB [OPTION]... [FILE]...\n\n"
                     "Reads, checks, formats, transforms and compiles TVMScript.\n\n");
    for (size_t i = 1; i < VERB_COUNT; i++) {
      add_entry(out, verbs[i].name, verbs[i].summary);
    }
    tvms_strbuf_puts(out, "\n'tvms VERB --help' tells the options of a verb. "
                          "Options of every verb:\n\n");
  } else {
    tvms_strbuf_printf(out, "usage: tvms %s [OPTION]... %s\n\n%s\n\n", verbs[verb].name,
                       verbs[verb].arguments, verbs[verb].summary);
  }
  for (size_t i = 0; i < ROW_COUNT; i++) {
    bool shown = whole ? rows[i].verbs == ALL : has_option(&rows[i], verb);
    if (shown) add_option(out, out->memory, &rows[i]);
  }
  tvms_strbuf_puts(out,
                   "\n'-' is standard input, a folder every .tvms file under it (check "
                   "and fmt: the\nTVMScript in .py files, too). Exit status: 0 fine, 1 "
                   "errors found, 2 usage or\nfiles, 3 a limit or no memory, 4 a "
                   "defect of tvms.\n");
}

void tvms_options_split_words(tvms_texts *words, tvms_memory *memory, char *text) {
  while (*text) {
    text += strspn(text, " \t");
    if (!*text) return;
    const char *end = *text == '\'' ? "'" : *text == '"' ? "\"" : " \t";
    text += *end != ' ';
    tvms_vec_push(memory, words, text);
    text += strcspn(text, end);
    if (*text) *text++ = '\0';
  }
}
