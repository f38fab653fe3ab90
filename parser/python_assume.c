// Definitions that could not be read whole are read again with assumptions.
//
// What a definition makes of a value that only Python knows says what it must be: a number or
// a data type. Numbers become variables that may have any value; data types are tried one
// after the other, as are the types of the variables. A reading in which something is wrong
// is forgotten: the program that Python makes may be another one.
#include "parser/python_assume.h"

#include "parser/eval/assume.h"
#include "parser/file_state.h"
#include "parser/module.h"
#include "structinfo/well_formed_relax.h"
#include "structinfo/well_formed_tir.h"
#include "support/trial.h"

static const tvms_assumed tries[] = {
    {"float32", TVMS_DTYPE(INT, 32), 0},
    {"float16", TVMS_DTYPE(INT, 64), 0},
    {"int32", TVMS_DTYPE(INT, 32), 0},
};

// A use that comes to light only with an assumption asks for another reading.
enum { MOST_ROUNDS = 6 };

// Text that is read again in one file, in addition to its size.
enum { MOST_BYTES = 1 << 20 };

static bool is_whole(const tvms_module *module) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (module->members[i].unread) return false;
  }
  return true;
}

static bool may_read(tvms_reader *reader, tvms_ref definition) {
  tvms_file_state *file = tvms_file_of(reader);
  tvms_span span = tvms_reader_span_of(reader, definition);
  file->assumed_bytes += span.end - span.begin;
  return file->assumed_bytes <= MOST_BYTES + reader->surface->source->size;
}

// One reading: the module that was made, or NULL if something is wrong.
static tvms_module *TVMS_NULLABLE read_once(tvms_reader *reader, tvms_ref definition) {
  tvms_program *program = reader->program;
  uint32_t before = program->count;
  for (uint32_t i = 0; i < reader->assumptions.items.len; i++)
    reader->assumptions.items.items[i].unit = NULL;
  tvms_trial trial;
  tvms_trial_begin(&trial, &reader->context->diags);
  tvms_definition_read(reader, definition);
  tvms_module *made = program->count > before ? program->modules[--program->count] : NULL;
  if (made) {
    (void)tvms_well_formed_check_tir(made);
    (void)tvms_well_formed_check_relax(made);
  }
  bool wrong = reader->context->diags.errors > 0;
  tvms_trial_drop(&trial);
  if (made && wrong) {
    tvms_module_destroy(made);
    made = NULL;
  }
  return made;
}

// Reads until a use says nothing new.
static tvms_module *TVMS_NULLABLE read_with(tvms_reader *reader, tvms_ref definition,
                                            const tvms_assumed *values) {
  tvms_assumptions *all = &reader->assumptions;
  tvms_module *made = NULL;
  all->values = values;
  for (uint32_t round = 0; round < MOST_ROUNDS && !made; round++) {
    if (!may_read(reader, definition)) break;
    all->more = false;
    made = read_once(reader, definition);
    if (made && !is_whole(made)) {
      tvms_module_destroy(made);
      made = NULL;
    }
    if (!all->more) break;
  }
  all->values = NULL;
  return made;
}

static void mark(tvms_module *made, const tvms_module *old) {
  for (uint32_t i = 0; i < made->member_count && i < old->member_count; i++) {
    if (!old->members[i].unread) continue;
    made->members[i].assumed = true;
    made->members[i].unknown = old->members[i].unknown;
  }
}

void tvms_python_assume(tvms_reader *reader, tvms_ref definition) {
  tvms_program *program = reader->program;
  tvms_module **newest = &program->modules[program->count - 1];
  if (!reader->assumptions.more || is_whole(*newest)) return;
  tvms_module *made = NULL;
  for (uint32_t i = 0; i < sizeof tries / sizeof tries[0] && !made; i++)
    made = read_with(reader, definition, &tries[i]);
  if (!made) return;
  newest = &program->modules[program->count - 1];
  mark(made, *newest);
  tvms_module_destroy(*newest);
  *newest = made;
}
