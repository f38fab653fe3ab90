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
#include "parser/python_assume.h"

#include "parser/eval/assume.h"
#include "parser/file_state.h"
#include "parser/module.h"
#include "structinfo/well_formed_relax.h"
#include "structinfo/well_formed_tir.h"
#include "support/strbuf.h"
#include "support/trial.h"

// What is tried, and the data type of those of which another one is tried.
static const struct {
  tvms_assumed usual;
  const char *other;
} tries[] = {
    {{"float32", {TVMS_INT, 32, 1}}, "int32"},
    {{"float16", {TVMS_INT, 64, 1}}, "uint32"},
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

static bool is_whole(const tvms_module *module) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (module->members[i].unread) return false;
  }
  return true;
}

static bool may_read(tvms_reader *reader, tvms_ref definition) {
  tvms_file_state *file = tvms_file_of(reader);
  tvms_span span = tvms_reader_span_of(reader, definition);
  if (span.end - span.begin > MOST_DEFINITION) return false;
  file->assumed_bytes += span.end - span.begin;
  return file->assumed_bytes <= MOST_BYTES + reader->surface->source->size;
}

// One reading: the module that was made, if any, and what is wrong with it.
static tvms_module *TVMS_NULLABLE read_once(tvms_reader *reader, tvms_ref definition,
                                            uint32_t *errors) {
  tvms_program *program = reader->program;
  uint32_t before = program->count;
  for (uint32_t i = 0; i < reader->assumptions.items.len; i++)
    reader->assumptions.items.items[i].unit = NULL;
  tvms_trial trial;
  tvms_trial_begin(&trial, &reader->context->diags);
  tvms_definition_read(reader, definition);
  tvms_module *made =
      program->count > before ? program->modules[--program->count] : NULL;
  if (made) {
    (void)tvms_well_formed_check_tir(made);
    (void)tvms_well_formed_check_relax(made);
  }
  *errors = reader->context->diags.errors;
  tvms_trial_drop(&trial);
  return made;
}

// Reads until a use says nothing new. NULL: it is not whole or something is wrong, `*errors`
// times; UINT32_MAX: what is missing is not for assumptions to say.
static tvms_module *TVMS_NULLABLE read_with(tvms_reader *reader, tvms_ref definition,
                                            uint32_t *errors) {
  tvms_assumptions *all = &reader->assumptions;
  *errors = UINT32_MAX;
  for (uint32_t round = 0; round < MOST_ROUNDS; round++) {
    if (!may_read(reader, definition)) return NULL;
    all->more = false;
    uint32_t found;
    tvms_module *made = read_once(reader, definition, &found);
    bool whole = made && is_whole(made);
    if (whole && !found) return made;
    if (made) tvms_module_destroy(made);
    if (all->more) continue;
    if (whole || found) *errors = found;
    return NULL;
  }
  return NULL;
}

// Makes of one data type after the other another one, and keeps that where less is wrong.
static tvms_module *TVMS_NULLABLE read_mixed(tvms_reader *reader, tvms_ref definition,
                                             const char *other, uint32_t errors) {
  tvms_assumptions *all = &reader->assumptions;
  uint32_t tried = 0;
  for (uint32_t i = 0; i < all->items.len && tried < MOST_DTYPES; i++) {
    if (all->items.items[i].wanted != TVMS_WANTED_DTYPE) continue;
    tried++;
    all->items.items[i].dtype = other;
    uint32_t now;
    tvms_module *made = read_with(reader, definition, &now);
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

static tvms_module *TVMS_NULLABLE read_assumed(tvms_reader *reader,
                                               tvms_ref definition) {
  tvms_assumptions *all = &reader->assumptions;
  tvms_module *made = NULL;
  for (uint32_t i = 0; i < sizeof tries / sizeof tries[0] && !made; i++) {
    uint32_t errors;
    all->values = &tries[i].usual;
    use_usual(all);
    made = read_with(reader, definition, &errors);
    if (!made && errors == UINT32_MAX) break;
    if (!made) made = read_mixed(reader, definition, tries[i].other, errors);
  }
  return made;
}

// ---- Any value ------------------------------------------------------------------------

// True if the definition is read whole with these values, and asks for no others.
static bool holds(tvms_reader *reader, tvms_ref definition,
                  const tvms_assumed *values) {
  uint32_t errors, asked = reader->assumptions.items.len;
  reader->assumptions.values = values;
  tvms_module *made = read_with(reader, definition, &errors);
  if (!made) return false;
  tvms_module_destroy(made);
  return reader->assumptions.items.len == asked;
}

// True if it is read whole whatever the values are.
static bool holds_for_any(tvms_reader *reader, tvms_ref definition) {
  tvms_assumptions *all = &reader->assumptions;
  bool any = true, dtypes = false;
  use_usual(all);
  for (uint32_t i = 0; i < all->items.len; i++)
    dtypes = dtypes || all->items.items[i].wanted == TVMS_WANTED_DTYPE;
  for (uint32_t d = 0; d < (dtypes ? DTYPES : 1) && any; d++) {
    const tvms_assumed same = {every_dtype[d], {TVMS_INT, 32, 1}};
    any = holds(reader, definition, &same);
  }
  const tvms_assumed wide = {every_dtype[0], {TVMS_INT, 64, 1}};
  any = any && holds(reader, definition, &wide);
  for (uint32_t i = 0; i < all->items.len && any; i++) {
    if (all->items.items[i].wanted != TVMS_WANTED_DTYPE) continue;
    for (uint32_t d = 0; d < DTYPES && any; d++) {
      all->items.items[i].dtype = every_dtype[d];
      any = holds(reader, definition, &tries[0].usual)
            && holds(reader, definition, &tries[1].usual);
    }
    all->items.items[i].dtype = NULL;
  }
  return any;
}

// ---- What is said ---------------------------------------------------------------------

// `n, m, dtype`: what may have any value.
static const char *text_of_any(tvms_reader *reader, tvms_unit *unit) {
  const tvms_assumptions *all = &reader->assumptions;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &reader->context->memory);
  for (uint32_t i = 0; i < all->items.len; i++) {
    if (all->items.items[i].wanted == TVMS_WANTED_NOTHING) continue;
    tvms_strbuf_printf(&text, text.len ? ", %s" : "%s",
                       tvms_symbol_text(reader->context, all->items.items[i].text));
  }
  const char *kept = tvms_arena_text(&unit->arena, text.text, text.len);
  tvms_strbuf_fini(&text);
  return kept;
}

// What was assumed: `any n, m; dtype = "float32"`.
static const char *text_of(tvms_reader *reader, tvms_unit *unit) {
  const tvms_assumptions *all = &reader->assumptions;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &reader->context->memory);
  for (uint32_t i = 0; i < all->items.len; i++) {
    tvms_wanted wanted = all->items.items[i].wanted;
    if (wanted != TVMS_WANTED_NUMBER && wanted != TVMS_WANTED_TEXT) continue;
    tvms_strbuf_printf(&text, text.len ? ", %s" : "any %s",
                       tvms_symbol_text(reader->context, all->items.items[i].text));
  }
  for (uint32_t i = 0; i < all->items.len; i++) {
    const tvms_assumption *item = &all->items.items[i];
    if (item->wanted != TVMS_WANTED_DTYPE) continue;
    tvms_strbuf_printf(&text, "%s%s = \"%s\"", text.len ? "; " : "",
                       tvms_symbol_text(reader->context, item->text),
                       item->dtype ? item->dtype : all->values->dtype);
  }
  const char *kept = tvms_arena_text(&unit->arena, text.text, text.len);
  tvms_strbuf_fini(&text);
  return kept;
}

// Readings with other values forget what was assumed in this one: its text is made before them.
static void mark(tvms_reader *reader, tvms_ref definition, tvms_module *made,
                 const tvms_module *old) {
  for (uint32_t i = 0; i < made->member_count && i < old->member_count; i++) {
    if (!old->members[i].unread) continue;
    made->members[i].assumed = text_of(reader, made->members[i].unit);
    made->members[i].unknown = old->members[i].unknown;
  }
  if (!holds_for_any(reader, definition)) return;
  for (uint32_t i = 0; i < made->member_count; i++) {
    tvms_member *member = &made->members[i];
    if (!member->assumed) continue;
    member->assumed = text_of_any(reader, member->unit);
    member->general = true;
  }
}

void tvms_python_assume(tvms_reader *reader, tvms_ref definition) {
  tvms_program *program = reader->program;
  if (!reader->assumptions.more || is_whole(program->modules[program->count - 1]))
    return;
  tvms_module *made = read_assumed(reader, definition);
  if (made) {
    tvms_module **newest = &program->modules[program->count - 1];
    mark(reader, definition, made, *newest);
    tvms_module_destroy(*newest);
    *newest = made;
  }
  reader->assumptions.values = NULL;
}
