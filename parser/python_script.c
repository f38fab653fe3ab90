// Reading one definition of TVMScript of a Python file, and reading it again.
#include "parser/python_script.h"

#include "parser/dialect_marks.h"
#include "parser/eval/reader.h"
#include "parser/file_state.h"
#include "parser/module.h"
#include "parser/python.h"
#include "parser/python_assume.h"
#include "support/trial.h"

// In a file whose definitions are written for different releases, each is read as its own.
static void choose_release(tvms_reader *reader, tvms_ref definition) {
  if (!tvms_file_of(reader)->releases) return;
  tvms_span span = tvms_reader_span_of(reader, definition);
  tvms_spans own = {&span, 1, 1};
  tvms_dialect_marked marked = tvms_dialect_marks_read(
      reader->context, reader->surface, tvms_file_of(reader)->releases, &own);
  tvms_reader_set_dialect(reader, marked.dialect);
  reader->mixed = marked.mixed;
}

// How much is missing of what was read: what was assumed counts as well, but less.
static uint32_t count_unread(const tvms_module *module) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < module->member_count; i++)
    count += 2 * module->members[i].unread + (module->members[i].assumed ? 1u : 0u);
  return count;
}

// A definition that was read again: what could be read of more of it stays.
static void keep_better(tvms_reader *reader, uint32_t *made, uint32_t before) {
  tvms_program *program = reader->program;
  if (program->count == before) return;
  if (*made == UINT32_MAX) {
    *made = program->count;
    return;
  }
  tvms_module **old = &program->modules[*made - 1];
  tvms_module *new = program->modules[--program->count];
  if (count_unread(new) < count_unread(*old)) {
    tvms_module *worse = *old;
    *old = new;
    new = worse;
  }
  tvms_module_destroy(new);
}

// No definition is read more often, whatever loops and functions stand around it.
enum { MOST_READINGS = 16 };

static void read_whole(tvms_reader *reader, tvms_ref definition) {
  tvms_assumptions *assumptions = &reader->assumptions;
  uint32_t before = reader->program->count;
  assumptions->items.len = 0;
  assumptions->open = tvms_file_of(reader)->assumes;
  assumptions->more = false;
  tvms_definition_read(reader, definition);
  if (assumptions->open && reader->program->count > before)
    tvms_python_assume(reader, definition);
  assumptions->open = false;
}

void tvms_python_script_read(tvms_reader *reader, tvms_ref definition,
                             uint32_t number) {
  tvms_file_state *file = tvms_file_of(reader);
  if (file->readings[number] == MOST_READINGS) return;
  file->readings[number]++;
  tvms_unit *unit = reader->unit;
  tvms_dialect dialect = reader->dialect;
  bool mixed = reader->mixed;
  uint32_t *made = &file->made[number], before = reader->program->count;
  uint32_t muted = tvms_trial_speak(&reader->context->diags);
  tvms_trial again;
  bool known = *made != 0;
  if (known) tvms_trial_begin(&again, &reader->context->diags);
  choose_release(reader, definition);
  read_whole(reader, definition);
  if (known) tvms_trial_keep_new(&again);
  tvms_trial_mute_again(&reader->context->diags, muted);
  if (reader->dialect != dialect) tvms_reader_set_dialect(reader, dialect);
  reader->mixed = mixed;
  reader->unit = unit;
  if (known) {
    keep_better(reader, made, before);
  } else {
    *made = reader->program->count > before ? reader->program->count : UINT32_MAX;
    file->unread--;
  }
}
