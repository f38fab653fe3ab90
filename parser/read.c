// Reading a file: which release it is written for, its statements one after the other.
#include "parser/read.h"

#include "parser/bare_decorator.h"
#include "parser/decorator.h"
#include "parser/dialect_marks.h"
#include "parser/eval/comprehension.h"
#include "parser/eval/expr.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/file_state.h"
#include "parser/follow_ups.h"
#include "parser/metadata.h"
#include "parser/module.h"
#include "parser/needed_names.h"
#include "parser/python.h"
#include "parser/python_body.h"
#include "parser/python_calls.h"
#include "parser/python_check.h"
#include "parser/python_file.h"
#include "parser/python_names.h"
#include "parser/python_syntax.h"
#include "parser/python_undefined.h"
#include "parser/tir/room.h"
#include "parser/values.h"

#include <string.h>

// `n = TypeVar("n")`, `N = 128`, `metadata = …`: names for what follows.
static void read_assign(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  tvms_eval_value value = tvms_eval(reader, stmt.b);
  tvms_surface_each(reader->surface, target, stmt.a) {
    const tvms_surf node = *tvms_reader_at(reader, target);
    if (node.kind != TVMS_SURF_NAME) {
      if (tvms_eval_value_is_known(value)) tvms_eval_bind_target(reader, target, value);
      continue;
    }
    tvms_scope_bind(reader, node.a, tvms_python_check_name(reader, target, value),
                    tvms_reader_span_of(reader, target));
  }
}

static void read_stmt(tvms_reader *reader, tvms_ref ref) {
  switch (tvms_reader_at(reader, ref)->kind) {
  case TVMS_SURF_IMPORT:
  case TVMS_SURF_IMPORT_FROM: tvms_python_read_import(reader, ref); break;
  case TVMS_SURF_CLASS:
  case TVMS_SURF_DEF: tvms_definition_read(reader, ref); break;
  case TVMS_SURF_ASSIGN: read_assign(reader, ref); break;
  case TVMS_SURF_EXPRESSION:
    if (!tvms_decoration_report_bare(reader, ref))
      tvms_eval(reader, tvms_reader_at(reader, ref)->a);
    break;
  case TVMS_SURF_PASS:
  case TVMS_SURF_ERROR:
  case TVMS_SURF_UNSUPPORTED: break;
  default:
    tvms_reader_report(reader, not_in_file, ref,
                       tvms_surface_describe(tvms_reader_at(reader, ref)));
  }
}

// Commented imports bind names too: `# from tvm.script import tirx as T`.
static void read_comments(tvms_reader *reader) {
  const tvms_surface *surface = reader->surface;
  for (uint32_t i = 0; i < surface->comment_count; i++) {
    tvms_commented_import import;
    for (uint32_t item = 0; tvms_dialect_marks_commented_import(
             reader->context, surface, i, item, &import);
         item++) {
      tvms_python_bind_import(reader, import.path, import.name, import.span);
    }
  }
}

// Shows the modules from number `first` on; those that nobody keeps are dropped.
static void show_modules(tvms_program *program, uint32_t first,
                         const tvms_read_options *options) {
  if (!options->visit) return;
  uint32_t kept = first;
  for (uint32_t i = first; i < program->count; i++) {
    tvms_module *module = program->modules[i];
    if (options->visit(options->self, module))
      program->modules[kept++] = module;
    else
      tvms_module_destroy(module);
  }
  program->count = kept;
}

// What is found of a Python file before its statements are read.
static void begin_python(const tvms_surface *surface, tvms_file_state *file,
                         tvms_needed_names *needed) {
  uint32_t count = file->script->len;
  if (!count) return;
  tvms_memory *memory = &surface->context->memory;
  file->unread = count;
  file->made = tvms_memory_alloc(memory, count * sizeof *file->made);
  memset(file->made, 0, count * sizeof *file->made);
  file->readings = tvms_memory_alloc(memory, count);
  memset(file->readings, 0, count);
  tvms_python_calls_find(surface, file->script, &file->calls);
  tvms_needed_names_find(surface, file->script, &file->calls, needed);
}

tvms_program *tvms_reader_read(tvms_context *context, tvms_source *source,
                               const tvms_read_options *options) {
  tvms_memory *memory = &context->memory;
  context->diags.source = source;
  tvms_surface surface;
  tvms_surface_parse(&surface, context, source);
  tvms_spans script = {0};
  tvms_needed_names needed = {0};
  tvms_file_state file = {
      .script = &script, .needed = &needed, .assumes = options->assumes};
  if (options->python) {
    tvms_python_file_definitions(&surface, &script);
    begin_python(&surface, &file, &needed);
  }
  bool refused = tvms_python_syntax_judge(&surface, &script, options->python);
  tvms_program *program = tvms_memory_alloc(memory, sizeof *program);
  *program = (tvms_program){.context = context};
  tvms_dialect_marked marked = tvms_dialect_marks_read(
      context, &surface, options, options->python ? &script : NULL);
  program->dialect = marked.dialect;
  context->spelling = (uint32_t)program->dialect;
  file.releases = marked.differs ? options : NULL;
  tvms_reader reader;
  tvms_reader_init(&reader, context, &surface, program->dialect, &tvms_parser_tables);
  reader.program = program;
  reader.mixed = marked.mixed;
  reader.lenient = options->python;
  reader.as_written = options->as_written;
  reader.decorate = tvms_decoration_of;
  reader.states[TVMS_FILE_ROOM] = &file;
  tvms_unit unit;
  tvms_unit_init(&unit, context, program->dialect);
  reader.unit = reader.outer = &unit;  // for expressions of the file level
  if (options->begin) options->begin(options->self, &surface);
  tvms_python_bind_prefixes(&reader);
  if (script.len) {
    tvms_python_names_bind_file(&reader);
    // A statement that Python refuses may have been to bind any name.
    reader.open = reader.open || refused;
    tvms_python_body_gather(&reader);
  }
  if (options->omitted && !options->python) tvms_metadata_bind_omitted(&reader);
  read_comments(&reader);
  if (script.len) tvms_python_undefined_report(&reader);
  for (tvms_ref ref = surface.body; ref;) {
    // Only Python follows, of which calls may still be wrong.
    bool rest = options->python && !file.unread;
    if (rest && !tvms_python_body_may_follow(&reader, ref)) {
      ref = tvms_reader_at(&reader, ref)->next;
      continue;
    }
    uint32_t count = program->count;
    file.statement = ref;
    if (options->python)
      tvms_python_body_read_stmt(&reader, ref);
    else
      read_stmt(&reader, ref);
    show_modules(program, count, options);
    ref = tvms_reader_at(&reader, ref)->next;
    reader.unit = &unit;
  }
  tvms_reader_drop_follow_ups(&surface);
  if (options->end) options->end(options->self);
  tvms_reader_fini(&reader);
  tvms_vec_fini(memory, &file.omitted);
  tvms_vec_fini(memory, &script);
  tvms_needed_names_fini(memory, &needed);
  tvms_python_calls_fini(memory, &file.calls);
  tvms_vec_fini(memory, &file.reported.errors);
  tvms_memory_free(memory, file.made);
  tvms_memory_free(memory, file.readings);
  tvms_unit_fini(&unit);
  tvms_surface_fini(&surface);
  return program;
}

void tvms_reader_program_destroy(tvms_program *program) {
  tvms_memory *memory = &program->context->memory;
  for (uint32_t i = 0; i < program->count; i++) {
    tvms_module_destroy(program->modules[i]);
  }
  tvms_memory_free(memory, program->modules);
  tvms_memory_free(memory, program);
}
