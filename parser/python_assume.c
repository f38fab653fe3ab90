// Definitions that could not be read whole are read again with assumptions.
//
// What a definition makes of a value that only Python knows says what it must be: a number, a
// text or a data type. Numbers become variables that may have any value; data types are tried one
// after the other, as are the types of the variables. A reading in which something is wrong
// is forgotten: the program that Python makes may be another one.
//
// A definition that can be read so is read again with every data type, for all of them and for
// one after the other, and with variables of more than 32 bits. If nothing is ever wrong, it
// was checked for any value.
//
// What verification finds is a matter of what is declared where, not of values. If it finds the
// same in all of these readings, and no condition that a value decides stands in the definition,
// then it is wrong for any value, too.
//
// So is what is wrong in the text itself, if it is reported in every reading: with other data
// types, with other numbers of items, and with constants as well as variables, so that a condition
// that a value decides is decided.
#define _GNU_SOURCE  // memmem
#include "parser/python_assume.h"

#include "parser/eval/assume.h"
#include "parser/file_state.h"
#include "parser/module.h"
#include "structinfo/well_formed_relax.h"
#include "structinfo/well_formed_tir.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"
#include "support/trial.h"

#include <ctype.h>
#include <string.h>

// What is tried, and the data type of those of which another one is tried.
static const struct {
  tvms_assumed usual;
  const char *other;
} tries[] = {
    {{"float32", {TVMS_INT, 32, 1}, 2, 0}, "int32"},
    {{"float16", {TVMS_INT, 64, 1}, 4, 0}, "uint32"},
};

static const char *const every_dtype[] = {
    "float32", "float16",  "int32",         "int64",       "int8",
    "uint8",   "bfloat16", "float64",       "uint32",      "uint64",
    "uint16",  "int16",    "float8_e4m3fn", "float8_e5m2", "bool",
};

enum { DTYPES = sizeof every_dtype / sizeof every_dtype[0] };

// A use that comes to light only with an assumption asks for another reading.
enum { MOST_ROUNDS = 6, MOST_DTYPES = 6 };

// Text that is read again in one file, in addition to its size; and of one definition.
enum { MOST_BYTES = 1 << 20, MOST_DEFINITION = 1 << 20 };

// A definition that is read again, and what verification must find in each reading.
typedef struct {
  tvms_reader *reader;
  tvms_ref definition;
  uint64_t flaws;        // a number for the errors; 0: none
  bool learns;           // it may find anything, which is kept in `flaws`
  uint32_t least_items;  // that a sequence has where it holds for any value
} attempt;

static bool is_whole(const tvms_module *module) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (module->members[i].unread) return false;
  }
  return true;
}

// True if a condition stands in the text of the definition: what it holds may not be reached.
static bool has_condition(const tvms_reader *reader, tvms_ref definition) {
  uint32_t begin = tvms_reader_at(reader, definition)->begin;
  // The parts of a node are made before it, and nothing else is in between.
  for (tvms_ref ref = definition; ref > 0; ref--) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    if (node->begin < begin) return false;
    switch ((int)node->kind) {
    case TVMS_SURF_IF:
    case TVMS_SURF_IF_EXP:
    case TVMS_SURF_COMP_IF:
    case TVMS_SURF_WHILE:
    case TVMS_SURF_ASSERT: return true;
    default: break;
    }
  }
  return false;
}

static bool may_read(tvms_reader *reader, tvms_ref definition) {
  tvms_file_state *file = tvms_file_of(reader);
  tvms_span span = tvms_reader_span_of(reader, definition);
  if (span.end - span.begin > MOST_DEFINITION) return false;
  file->assumed_bytes += span.end - span.begin;
  return file->assumed_bytes <= MOST_BYTES + reader->surface->source->size;
}

// A number for the errors of a list: which, and where.
static uint64_t number_of(const tvms_diags *diags) {
  uint64_t number = 0;
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    if (diag->severity != TVMS_SEVERITY_ERROR) continue;
    uint64_t one = (uint64_t)diag->id << 32 | diag->span.begin;
    number = (number ^ one) * UINT64_C(0xD6E8FEB86659FD93) + 1;
  }
  return number;
}

static void verify(tvms_reader *reader, tvms_module *made, uint64_t *flaws) {
  tvms_trial trial;
  tvms_trial_begin(&trial, &reader->context->diags);
  (void)tvms_well_formed_check_tir(made);
  (void)tvms_well_formed_check_relax(made);
  *flaws = number_of(&reader->context->diags);
  tvms_trial_drop(&trial);
}

// One reading: the module that was made, if any, what is wrong with the text, and a number for
// what is wrong with the module.
static tvms_module *TVMS_NULLABLE read_once(tvms_reader *reader, tvms_ref definition,
                                            uint32_t *errors, uint64_t *flaws) {
  tvms_program *program = reader->program;
  uint32_t before = program->count;
  for (uint32_t i = 0; i < reader->assumptions.items.len; i++)
    reader->assumptions.items.items[i].unit = NULL;
  tvms_trial trial;
  tvms_trial_begin(&trial, &reader->context->diags);
  tvms_definition_read(reader, definition);
  tvms_module *made =
      program->count > before ? program->modules[--program->count] : NULL;
  *errors = reader->context->diags.errors;
  tvms_trial_drop(&trial);
  *flaws = 0;
  if (made) verify(reader, made, flaws);
  return made;
}

// Reads until a use says nothing new. NULL: it is not whole or something is wrong, `*errors`
// times; UINT32_MAX: what is missing is not for assumptions to say.
static tvms_module *TVMS_NULLABLE read_with(attempt *a, uint32_t *errors) {
  tvms_assumptions *all = &a->reader->assumptions;
  *errors = UINT32_MAX;
  for (uint32_t round = 0; round < MOST_ROUNDS; round++) {
    if (!may_read(a->reader, a->definition)) return NULL;
    all->more = false;
    uint32_t found;
    uint64_t flaws;
    tvms_module *made = read_once(a->reader, a->definition, &found, &flaws);
    bool whole = made && is_whole(made);
    if (whole && !found && a->learns) a->flaws = flaws;
    found += flaws != a->flaws;
    if (whole && !found) return made;
    if (made) tvms_module_destroy(made);
    if (all->more) continue;
    if (whole || found) *errors = found;
    return NULL;
  }
  return NULL;
}

// Makes of one data type after the other another one, and keeps that where less is wrong.
static tvms_module *TVMS_NULLABLE read_mixed(attempt *a, const char *other,
                                             uint32_t errors) {
  tvms_assumptions *all = &a->reader->assumptions;
  uint32_t tried = 0;
  for (uint32_t i = 0; i < all->items.len && tried < MOST_DTYPES; i++) {
    if (all->items.items[i].wanted != TVMS_WANTED_DTYPE) continue;
    tried++;
    all->items.items[i].dtype = other;
    uint32_t now;
    tvms_module *made = read_with(a, &now);
    if (made) return made;
    if (now < errors)
      errors = now;
    else
      all->items.items[i].dtype = NULL;
  }
  return NULL;
}

static void use_usual(tvms_assumptions *all) {
  for (uint32_t i = 0; i < all->items.len; i++)
    all->items.items[i].dtype = NULL;
}

static tvms_module *TVMS_NULLABLE read_assumed(attempt *a) {
  tvms_assumptions *all = &a->reader->assumptions;
  tvms_module *made = NULL;
  for (uint32_t i = 0; i < sizeof tries / sizeof tries[0] && !made; i++) {
    uint32_t errors;
    all->values = &tries[i].usual;
    use_usual(all);
    made = read_with(a, &errors);
    if (!made) made = read_mixed(a, tries[i].other, errors);
  }
  return made;
}

// ---- Any value ------------------------------------------------------------------------

// True if the definition is read whole with these values, and asks for no others.
static bool holds(attempt *a, const tvms_assumed *values) {
  uint32_t errors, asked = a->reader->assumptions.items.len;
  a->reader->assumptions.values = values;
  tvms_module *made = read_with(a, &errors);
  if (!made) return false;
  tvms_module_destroy(made);
  return a->reader->assumptions.items.len == asked;
}

static bool wants_items(const tvms_assumptions *all) {
  for (uint32_t i = 0; i < all->items.len; i++) {
    if (all->items.items[i].wanted == TVMS_WANTED_ITEMS) return true;
  }
  return false;
}

// True if it is read whole whatever the values are: of a sequence any number of items, or two and
// more, because one item is often none to unpack.
static bool holds_for_any(attempt *a) {
  tvms_assumptions *all = &a->reader->assumptions;
  bool any = true, dtypes = false;
  use_usual(all);
  for (uint32_t i = 0; i < all->items.len; i++)
    dtypes = dtypes || all->items.items[i].wanted == TVMS_WANTED_DTYPE;
  for (uint32_t d = 0; d < (dtypes ? DTYPES : 1) && any; d++) {
    const tvms_assumed same = {every_dtype[d], {TVMS_INT, 32, 1}, 2, 0};
    any = holds(a, &same);
  }
  const tvms_assumed wide = {every_dtype[0], {TVMS_INT, 64, 1}, 2, 0};
  any = any && holds(a, &wide);
  a->least_items = 1;
  for (uint32_t i = TVMS_MOST_ASSUMED_ITEMS; i > 0 && any && wants_items(all); i--) {
    const tvms_assumed many = {every_dtype[0], {TVMS_INT, 32, 1}, i, 0};
    if (holds(a, &many)) continue;
    a->least_items = i + 1;
    any = i == 1;
  }
  for (uint32_t i = 0; i < all->items.len && any; i++) {
    if (all->items.items[i].wanted != TVMS_WANTED_DTYPE) continue;
    for (uint32_t d = 0; d < DTYPES && any; d++) {
      all->items.items[i].dtype = every_dtype[d];
      any = holds(a, &tries[0].usual) && holds(a, &tries[1].usual);
    }
    all->items.items[i].dtype = NULL;
  }
  return any;
}

// ---- Wrong for any value --------------------------------------------------------------

// Values that differ in all that what is written may depend on.
static const tvms_assumed different[] = {
    {"float32", {TVMS_INT, 32, 1}, 2, 0}, {"int32", {TVMS_INT, 64, 1}, 4, 0},
    {"float16", {TVMS_INT, 32, 1}, 3, 4}, {"int64", {TVMS_INT, 64, 1}, 2, 64},
    {"uint8", {TVMS_INT, 32, 1}, 1, 1},
};

enum { MOST_SHARED = 4 };

// Errors that every reading reports.
typedef struct {
  tvms_diag_id ids[MOST_SHARED];
  tvms_span spans[MOST_SHARED];
  uint32_t count;
} shared_errors;

static bool is_at(const tvms_diag *diag, tvms_diag_id id, tvms_span span) {
  return diag->id == id && diag->span.begin == span.begin && diag->span.end == span.end;
}

static bool is_shared(void *self, const tvms_diag *diag) {
  const shared_errors *shared = self;
  for (uint32_t i = 0; i < shared->count; i++) {
    if (is_at(diag, shared->ids[i], shared->spans[i])) return true;
  }
  return false;
}

// Reads with these values and all that the uses ask for. True: what is wrong is in the list of the
// trial, which the caller ends.
static bool begin_reading(attempt *a, const tvms_assumed *values, tvms_trial *trial) {
  tvms_reader *reader = a->reader;
  tvms_assumptions *all = &reader->assumptions;
  tvms_program *program = reader->program;
  all->values = values;
  use_usual(all);
  for (uint32_t round = 0; round < MOST_ROUNDS; round++) {
    if (!may_read(reader, a->definition)) return false;
    uint32_t before = program->count;
    all->more = false;
    for (uint32_t i = 0; i < all->items.len; i++)
      all->items.items[i].unit = NULL;
    tvms_trial_begin(trial, &reader->context->diags);
    tvms_definition_read(reader, a->definition);
    if (program->count > before)
      tvms_module_destroy(program->modules[--program->count]);
    if (!all->more) return true;
    tvms_trial_drop(trial);
  }
  return false;
}

// True if what is assumed is only that values are numbers or data types, which is seldom wrong.
static bool is_sure(const tvms_assumptions *all) {
  for (uint32_t i = 0; i < all->items.len; i++) {
    const tvms_assumption *item = &all->items.items[i];
    if (item->wanted == TVMS_WANTED_TEXT || item->wanted == TVMS_WANTED_ITEMS
        || item->compared)
      return false;
  }
  return true;
}

static bool is_part(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *text, const char *end, const char *word) {
  size_t len = strlen(word);
  for (const char *at = text; (at = memmem(at, (size_t)(end - at), word, len));
       at += len) {
    bool inside = at > text && is_part(at[-1]);
    if (!inside && (at + len == end || !is_part(at[len]))) return true;
  }
  return false;
}

// Whether a message has the word as a part of something in quotes; `dtype` is a word of messages, too.
static bool quotes_word(const char *text, const char *word) {
  for (const char *at = text; (at = strchr(at, '\''));) {
    const char *end = strchr(++at, '\'');
    if (!end) return false;
    if (has_word(at, end, word)) return true;
    at = end + 1;
  }
  return false;
}

// How many indices, arguments or names there are says nothing of their values.
static bool is_count(tvms_diag_id id) {
  return id == TVMS_D_wrong_rank || id == TVMS_D_missing_argument
         || id == TVMS_D_too_many_arguments || id == TVMS_D_cannot_unpack;
}

// True if an error speaks of a value that is assumed, or stands where one does: it may be another
// one than its uses say.
static bool doubts(tvms_reader *reader) {
  const tvms_assumptions *all = &reader->assumptions;
  const char *text = reader->surface->source->text;
  const tvms_diag *diag = reader->context->diags.first;
  for (; diag; diag = diag->next) {
    for (uint32_t i = 0; i < all->items.len; i++) {
      const tvms_assumption *item = &all->items.items[i];
      if (item->wanted == TVMS_WANTED_NOTHING) continue;
      const char *name = tvms_symbol_text(reader->context, item->text);
      if (quotes_word(diag->text, name)) return true;
      if (is_count(diag->id)) continue;
      if (has_word(text + diag->span.begin, text + diag->span.end, name)) return true;
    }
  }
  return false;
}

// What a device or a layout asks for is often a name that Python computes, and a number may be a
// tensor.
static void learn_errors(const tvms_diags *diags, shared_errors *shared) {
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    bool counts = diag->severity == TVMS_SEVERITY_ERROR && diag->id < TVMS_D_bad_view
                  && diag->id != TVMS_D_op_dtypes_differ;
    if (!counts || shared->count == MOST_SHARED) continue;
    shared->ids[shared->count] = diag->id;
    shared->spans[shared->count++] = diag->span;
  }
}

static void keep_found(const tvms_diags *diags, shared_errors *shared) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < shared->count; i++) {
    const tvms_diag *diag = diags->first;
    while (diag && !is_at(diag, shared->ids[i], shared->spans[i]))
      diag = diag->next;
    if (!diag) continue;
    shared->ids[kept] = shared->ids[i];
    shared->spans[kept++] = shared->spans[i];
  }
  shared->count = kept;
}

// What is said of a function that has the error is that, not what only Python knows.
static void mark_wrong(tvms_module *module, const shared_errors *shared) {
  for (uint32_t i = 0; i < shared->count; i++) {
    tvms_member *owner = NULL;
    for (uint32_t m = 0; m < module->member_count; m++) {
      tvms_member *member = &module->members[m];
      bool above = member->name_span.begin <= shared->spans[i].begin;
      if (above && (!owner || member->name_span.begin > owner->name_span.begin))
        owner = member;
    }
    if (owner) owner->unread = false;
  }
}

static void report_shared(attempt *a, tvms_module *newest) {
  shared_errors shared = {.count = 0};
  tvms_diags *diags = &a->reader->context->diags;
  tvms_trial trial;
  for (uint32_t i = 0; i < sizeof different / sizeof *different; i++) {
    if (!begin_reading(a, &different[i], &trial)) return;
    if (doubts(a->reader) || !is_sure(&a->reader->assumptions))
      shared.count = 0;
    else if (i == 0)
      learn_errors(diags, &shared);
    else
      keep_found(diags, &shared);
    tvms_trial_drop(&trial);
    if (!shared.count) return;
  }
  if (!begin_reading(a, &different[0], &trial)) return;
  tvms_diags_keep_if(diags, is_shared, &shared);
  tvms_trial_keep(&trial);
  mark_wrong(newest, &shared);
}

// ---- What is said ---------------------------------------------------------------------

// `n, m, dtype`: what may have any value.
static const char *text_of_any(const attempt *a, tvms_unit *unit) {
  tvms_reader *reader = a->reader;
  const tvms_assumptions *all = &reader->assumptions;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &reader->context->memory);
  for (uint32_t i = 0; i < all->items.len; i++) {
    const tvms_assumption *item = &all->items.items[i];
    if (item->wanted == TVMS_WANTED_NOTHING || item->part) continue;
    tvms_strbuf_printf(&text, text.len ? ", %s" : "%s",
                       tvms_symbol_text(reader->context, item->text));
    if (item->wanted == TVMS_WANTED_ITEMS && a->least_items > 1)
      tvms_strbuf_printf(&text, " of %u or more items", a->least_items);
  }
  const char *kept = tvms_arena_text(&unit->arena, text.text, text.len);
  tvms_strbuf_fini(&text);
  return kept;
}

// What was assumed: `any n, m; dtype = "float32"; 2 items of shape`.
static const char *text_of(tvms_reader *reader, tvms_unit *unit) {
  const tvms_assumptions *all = &reader->assumptions;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &reader->context->memory);
  for (uint32_t i = 0; i < all->items.len; i++) {
    const tvms_assumption *item = &all->items.items[i];
    bool any = item->wanted == TVMS_WANTED_NUMBER || item->wanted == TVMS_WANTED_TEXT;
    if (!any || item->part) continue;
    tvms_strbuf_printf(&text, text.len ? ", %s" : "any %s",
                       tvms_symbol_text(reader->context, item->text));
  }
  for (uint32_t i = 0; i < all->items.len; i++) {
    const tvms_assumption *item = &all->items.items[i];
    const char *name = tvms_symbol_text(reader->context, item->text);
    const char *between = text.len ? "; " : "";
    if (item->wanted == TVMS_WANTED_DTYPE)
      tvms_strbuf_printf(&text, "%s%s = \"%s\"", between, name,
                         item->dtype ? item->dtype : all->values->dtype);
    if (item->wanted == TVMS_WANTED_ITEMS)
      tvms_strbuf_printf(&text, "%s%u items of %s", between, all->values->items, name);
  }
  const char *kept = tvms_arena_text(&unit->arena, text.text, text.len);
  tvms_strbuf_fini(&text);
  return kept;
}

// Writes down what was assumed in this reading of members that were not read.
static void mark(tvms_reader *reader, tvms_module *made, const tvms_module *old) {
  for (uint32_t i = 0; i < made->member_count && i < old->member_count; i++) {
    if (!old->members[i].unread) continue;
    made->members[i].assumed = text_of(reader, made->members[i].unit);
    made->members[i].unknown = old->members[i].unknown;
  }
}

static bool wants_numbers_only(const tvms_assumptions *all) {
  for (uint32_t i = 0; i < all->items.len; i++) {
    const tvms_assumption *item = &all->items.items[i];
    bool other =
        item->wanted != TVMS_WANTED_NUMBER && item->wanted != TVMS_WANTED_NOTHING;
    if (other || item->real) return false;
  }
  return true;
}

static void mark_general(const attempt *a, tvms_module *made) {
  for (uint32_t i = 0; i < made->member_count; i++) {
    tvms_member *member = &made->members[i];
    if (!member->assumed) continue;
    member->assumed = text_of_any(a, member->unit);
    member->general = true;
    member->variables = wants_numbers_only(&a->reader->assumptions);
  }
}

void tvms_python_assume(tvms_reader *reader, tvms_ref definition) {
  tvms_program *program = reader->program;
  if (!reader->assumptions.more || is_whole(program->modules[program->count - 1]))
    return;
  attempt a = {.reader = reader, .definition = definition};
  tvms_module *made = read_assumed(&a);
  if (!made && !has_condition(reader, definition)) {
    a.learns = true;
    made = read_assumed(&a);
    a.learns = false;
  }
  tvms_module **newest = &program->modules[program->count - 1];
  if (made) {
    // Readings with other values forget what was assumed in this one.
    mark(reader, made, *newest);
    if (holds_for_any(&a)) {
      mark_general(&a, made);
    } else if (a.flaws) {
      tvms_module_destroy(made);
      made = NULL;
    }
  }
  if (made) {
    tvms_module_destroy(*newest);
    *newest = made;
  } else {
    report_shared(&a, *newest);
  }
  reader->assumptions.values = NULL;
}
