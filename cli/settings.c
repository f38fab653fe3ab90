// Finding the configuration of a file.
//
// What is read lives in a context of its own, which is that of the run: many files share it.
// A folder is known by its name in that context; it has what its own files say, and else what
// holds for the folder above.
#define _XOPEN_SOURCE 700
#include "cli/settings.h"

#include "cli/findings.h"
#include "config/editor.h"
#include "config/foreign.h"
#include "support/names.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// What holds in a folder.
typedef struct folder {
  const char *name;  // absolute
  bool wrong;        // a file of it, or of one above, cannot be read
  const tvms_config_table *TVMS_NULLABLE own, *TVMS_NULLABLE ruff, *TVMS_NULLABLE black;
  const tvms_config_editor *TVMS_NULLABLE editor;
  tvms_config config;
} folder;

struct tvms_settings {
  tvms_context context;
  tvms_config_table line;       // of the command line
  folder *TVMS_NULLABLE fixed;  // with --config FILE or --isolated: holds everywhere
  TVMS_VEC(folder *) folders;   // by the number of their name
};

enum { MOST_EXTENDS = 8 };

/* One file of configuration */

static const char *copy(tvms_settings *settings, const char *text, size_t len) {
  return tvms_arena_text(&settings->context.arena, text, len);
}

static const char *join(tvms_settings *settings, const char *where, const char *name) {
  tvms_strbuf path;
  tvms_strbuf_init(&path, &settings->context.memory);
  bool slash = *where && where[strlen(where) - 1] == '/';
  tvms_strbuf_printf(&path, "%s%s%s", where, slash ? "" : "/", name);
  const char *text = copy(settings, tvms_strbuf_text(&path), path.len);
  tvms_strbuf_fini(&path);
  return text;
}

// NULL if there is no such file. One that is there and cannot be read is reported.
static tvms_source *read_if_there(tvms_run *run, folder *f, const char *path) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return NULL;
  tvms_source *source = tvms_source_read(&run->settings->context.memory, path);
  if (!source) {
    tvms_run_worsen(run, tvms_run_complain_io(run, path));
    f->wrong = true;
  }
  return source;
}

static const tvms_toml *read_toml(tvms_run *run, folder *f, tvms_source *source) {
  tvms_context *context = &run->settings->context;
  context->diags.source = source;
  const tvms_toml *root = tvms_toml_read(context, source);
  if (!root) f->wrong = true;
  return root;
}

static bool ends_in(const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  return strcmp(slash ? slash + 1 : path, name) == 0;
}

static bool formats(const tvms_run *run) {
  return run->options.verb == TVMS_VERB_fmt;
}

static const tvms_config_table *read_ruff(tvms_run *run, folder *f,
                                          const tvms_toml *table, tvms_source *source,
                                          const char *where, uint32_t depth);

// What `extend` of ruff's table names, with this table over it.
static const tvms_config_table *
extended(tvms_run *run, folder *f, const tvms_config_table *table, uint32_t depth) {
  tvms_settings *settings = run->settings;
  bool absolute = *table->extend == '/';
  const char *path =
      absolute ? table->extend : join(settings, table->folder, table->extend);
  tvms_source *source = depth < MOST_EXTENDS ? read_if_there(run, f, path) : NULL;
  const tvms_toml *root = source ? read_toml(run, f, source) : NULL;
  if (root && ends_in(path, "pyproject.toml"))
    root = tvms_toml_get(tvms_toml_get(root, "tool"), "ruff");
  if (!root) return table;
  const char *slash = strrchr(path, '/');
  const char *where = copy(settings, path, slash > path ? (size_t)(slash - path) : 1);
  const tvms_config_table *under = read_ruff(run, f, root, source, where, depth + 1);
  return tvms_config_overlay(&settings->context, under, table);
}

static const tvms_config_table *read_ruff(tvms_run *run, folder *f,
                                          const tvms_toml *table, tvms_source *source,
                                          const char *where, uint32_t depth) {
  const tvms_config_table *read = tvms_config_read_ruff(&run->settings->context, table,
                                                        source, where, formats(run));
  return read->extend ? extended(run, f, read, depth) : read;
}

static void read_pyproject(tvms_run *run, folder *f, tvms_source *source) {
  tvms_context *context = &run->settings->context;
  const tvms_toml *tool = tvms_toml_get(read_toml(run, f, source), "tool");
  const tvms_toml *own = tvms_toml_get(tool, "tvms");
  const tvms_toml *ruff = tvms_toml_get(tool, "ruff");
  const tvms_toml *black = tvms_toml_get(tool, "black");
  if (own && own->kind == TVMS_TOML_TABLE)
    f->own = tvms_config_read_own(context, own, source, f->name);
  if (ruff) f->ruff = read_ruff(run, f, ruff, source, f->name, 0);
  if (black) f->black = tvms_config_read_black(context, black, source, f->name);
}

// Reads a file of any of the kinds, which its name tells.
static void read_file(tvms_run *run, folder *f, const char *path, tvms_source *source) {
  tvms_context *context = &run->settings->context;
  if (ends_in(path, ".editorconfig")) {
    f->editor = tvms_config_editor_read(context, source, f->name, f->editor);
  } else if (ends_in(path, "pyproject.toml")) {
    read_pyproject(run, f, source);
  } else {
    const tvms_toml *root = read_toml(run, f, source);
    bool ruff = ends_in(path, "ruff.toml") || ends_in(path, ".ruff.toml");
    if (root && ruff)
      f->ruff = read_ruff(run, f, root, source, f->name, 0);
    else if (root)
      f->own = tvms_config_read_own(context, root, source, f->name);
  }
}

static void finish(tvms_settings *settings, folder *f) {
  static const tvms_config_table none;
  const tvms_config_table *own = f->own ? f->own : &none;
  own = tvms_config_overlay(&settings->context, own, &settings->line);
  f->config = tvms_config_join(own, f->ruff ? f->ruff : f->black, f->editor);
  f->config.wrong |= f->wrong;
}

/* Folders */

// The slot of a folder's name.
static folder **slot_of(tvms_settings *settings, const char *name) {
  tvms_context *context = &settings->context;
  tvms_sym sym = tvms_symbol_intern(context, name, strlen(name));
  tvms_vec_reach(&context->memory, &settings->folders, sym);
  return &settings->folders.items[sym];
}

// Later ones win: what is tvms' own stands last.
static const char *const names[] = {".editorconfig", "pyproject.toml", "ruff.toml",
                                    ".ruff.toml", "tvms.toml"};

// A folder of which nothing but the name is known.
static folder *named(tvms_settings *settings, const char *name) {
  folder *f = tvms_arena_new(&settings->context.arena, folder);
  f->name = copy(settings, name, strlen(name));
  return f;
}

static folder *folder_of(tvms_run *run, const char *name) {
  tvms_settings *settings = run->settings;
  folder *known = *slot_of(settings, name);
  if (known) return known;
  folder *f = named(settings, name);
  const char *slash = strrchr(name, '/');
  if (slash && slash[1]) {
    size_t len = slash > name ? (size_t)(slash - name) : 1;
    *f = *folder_of(run, copy(settings, name, len));
  }
  f->name = copy(settings, name, strlen(name));
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const char *path = join(settings, name, names[i]);
    tvms_source *source = read_if_there(run, f, path);
    if (source) read_file(run, f, path, source);
  }
  finish(settings, f);
  *slot_of(settings, name) = f;
  return f;
}

/* Under protection, with the findings shown */

typedef struct {
  tvms_run *run;
  void (*look)(tvms_run *run, const char *what, folder **found);
  const char *what;
  folder *found;
} work;

static void do_work(void *argument) {
  work *w = argument;
  tvms_run *run = w->run;
  tvms_context *context = &run->settings->context, *outer = run->context;
  tvms_diags *diags = &context->diags;
  w->look(run, w->what, &w->found);
  if (!diags->first) return;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context->memory);
  run->context = context;
  tvms_diags_sort(diags);
  tvms_findings_add(run, &text);
  run->context = outer;
  run->errors += diags->errors;
  run->warnings += diags->warnings;
  bool wrong = diags->errors || (run->options.werror && diags->warnings);
  if (wrong) tvms_run_worsen(run, diags->errors ? TVMS_FAILED_IO : TVMS_FOUND_ERRORS);
  tvms_run_write(run, STDERR_FILENO, "standard error", text.text, text.len);
  tvms_strbuf_fini(&text);
  tvms_diags_init(diags, &context->arena);
}

static folder *protected(tvms_run *run,
                         void (*look)(tvms_run *run, const char *what, folder **found),
                         const char *what) {
  work w = {run, look, what, NULL};
  tvms_status failure =
      tvms_memory_protect(&run->settings->context.memory, do_work, &w);
  if (failure == TVMS_OK) return w.found;
  tvms_run_worsen(run, failure);
  (void)tvms_run_complain(run, "out of memory while reading the configuration");
  return NULL;
}

/* The command line */

static bool is_file(const char *text) {
  struct stat info;
  return stat(text, &info) == 0 && S_ISREG(info.st_mode);
}

static void take_setting(tvms_run *run, const char *text, folder **found) {
  tvms_settings *settings = run->settings;
  tvms_source *source =
      tvms_source_create(&settings->context.memory, "--config", text, strlen(text));
  folder *f = tvms_arena_new(&settings->context.arena, folder);
  const tvms_toml *root = read_toml(run, f, source);
  if (!root) return;
  char here[PATH_MAX];
  const char *name = getcwd(here, sizeof here) ? here : "/";
  tvms_config_table *table = tvms_config_read_own(&settings->context, root, source,
                                                  copy(settings, name, strlen(name)));
  settings->line = *tvms_config_overlay(&settings->context, &settings->line, table);
  if (!table->wrong) *found = f;
}

static void take_file(tvms_run *run, const char *path, folder **found) {
  tvms_settings *settings = run->settings;
  char real[PATH_MAX];
  if (!realpath(path, real)) {
    tvms_run_worsen(run, tvms_run_complain_io(run, path));
    return;
  }
  folder *f = settings->fixed ? settings->fixed
                              : tvms_arena_new(&settings->context.arena, folder);
  const char *slash = strrchr(real, '/');
  f->name = copy(settings, real, slash > real ? (size_t)(slash - real) : 1);
  tvms_source *source = read_if_there(run, f, copy(settings, path, strlen(path)));
  if (source) read_file(run, f, real, source);
  settings->fixed = f;
  if (!f->wrong) *found = f;
}

static void take_nothing(tvms_run *run, const char *what, folder **found) {
  tvms_settings *settings = run->settings;
  (void)what;
  if (run->options.isolated && !settings->fixed) {
    settings->fixed = tvms_arena_new(&settings->context.arena, folder);
    settings->fixed->name = "/";
  }
  if (settings->fixed) finish(settings, settings->fixed);
  *found = settings->fixed;
}

static bool take_config(tvms_run *run, const char *text) {
  if (is_file(text)) return protected(run, take_file, text) != NULL;
  if (strchr(text, '=')) return protected(run, take_setting, text) != NULL;
  (void)tvms_run_misused(run, "option '--config': '%s' is no file and no KEY=VALUE",
                         text);
  return false;
}

bool tvms_settings_open(tvms_run *run) {
  const tvms_options *options = &run->options;
  tvms_settings *settings = tvms_memory_alloc(run->memory, sizeof *settings);
  tvms_context_init(&settings->context, &tvms_names);
  run->settings = settings;
  for (uint32_t i = 0; i < options->config.len; i++) {
    if (!take_config(run, options->config.items[i])) return false;
  }
  if (options->line_length != UINT64_MAX) {
    if (options->line_length > 320) {
      (void)tvms_run_misused(run, "option '--line-length' is at most 320");
      return false;
    }
    settings->line.width = (uint32_t)options->line_length;
  }
  (void)protected(run, take_nothing, "");
  return run->status < TVMS_FAILED_IO;
}

void tvms_settings_close(tvms_run *run) {
  if (run->settings) tvms_context_fini(&run->settings->context);
  run->settings = NULL;
  run->config = NULL;
}

/* Files */

static void look_for_file(tvms_run *run, const char *path, folder **found) {
  tvms_settings *settings = run->settings;
  const char *slash = strrchr(path, '/');
  size_t len = !slash ? 0 : slash > path ? (size_t)(slash - path) : 1;
  const char *where = slash ? copy(settings, path, len) : ".";
  // Many files stand in one folder, whose true name is asked for once.
  folder **known = slot_of(settings, where);
  if (!*known) {
    char real[PATH_MAX];
    const char *name = realpath(where, real) || realpath(".", real) ? real : "/";
    folder *f = settings->fixed ? named(settings, name) : folder_of(run, name);
    *slot_of(settings, where) = f;
    *found = f;
  } else {
    *found = *known;
  }
  run->config_path = join(settings, (*found)->name, slash ? slash + 1 : path);
  if (settings->fixed) *found = settings->fixed;
}

bool tvms_settings_enter(tvms_run *run, const char *path) {
  bool input = strcmp(path, "-") == 0;
  const char *name = run->options.stdin_filename;
  folder *f = protected(run, look_for_file, !input ? path : name ? name : "-");
  run->config = f ? &f->config : NULL;
  if (f && f->config.wrong) tvms_run_worsen(run, TVMS_FAILED_IO);
  return f && !f->config.wrong;
}

bool tvms_settings_exclude(tvms_run *run, const char *path) {
  return run->settings && tvms_settings_enter(run, path)
         && tvms_config_excludes(run->config, run->config_path, formats(run));
}
