// Edits first, then the proof, then the program written anew.
#include "driver/migrate.h"

#include "ir/equal.h"
#include "ir/object.h"
#include "migrate/migrate.h"
#include "parser/read.h"
#include "printer/print.h"
#include "support/diag_ids.h"
#include "support/trial.h"
#include "support/vec.h"

#include <string.h>

static void print_as(tvms_context *context, const tvms_program *program,
                     tvms_dialect dialect, tvms_strbuf *out) {
  tvms_print_options options = {.dialect = dialect};
  tvms_strbuf_init(out, &context->memory);
  tvms_print_program(program, &options, out);
}

static uint32_t line_length(const tvms_strbuf *text, size_t begin) {
  uint32_t len = 0;
  while (begin + len < text->len && text->text[begin + len] != '\n') {
    len++;
  }
  return len;
}

// Tells the first line in which the two texts differ, or why the result is refused.
static void report_difference(tvms_context *context, tvms_dialect to,
                              const tvms_strbuf *wanted, const tvms_strbuf *got,
                              const char *TVMS_NULLABLE refused, tvms_span place) {
  size_t begin = 0, at = 0, shorter = wanted->len < got->len ? wanted->len : got->len;
  for (; at < shorter && wanted->text[at] == got->text[at]; at++) {
    if (wanted->text[at] == '\n') begin = at + 1;
  }
  tvms_diag *diag = tvms_diag_report(&context->diags, TVMS_D_not_migrated, place,
                                     tvms_dialect_text(to));
  if (refused) {
    tvms_diag_remark(&context->diags, diag, "TVM %s would say: %s",
                     tvms_dialect_text(to), refused);
    return;
  }
  tvms_diag_remark(&context->diags, diag, "it should mean: %.*s",
                   (int)line_length(wanted, begin), wanted->text + begin);
  tvms_diag_remark(&context->diags, diag, "but would mean: %.*s",
                   (int)line_length(got, begin), got->text + begin);
}

static bool same_module(tvms_context *context, const tvms_module *a,
                        const tvms_module *b) {
  if (a->member_count != b->member_count) return false;
  tvms_equal_options options = {.map_free = true};
  for (uint32_t i = 0; i < a->member_count; i++) {
    const tvms_member *other = tvms_module_find(b, a->members[i].name);
    if (!other || !other->function || !a->members[i].function) return false;
    if (!tvms_node_equal_with(context, a->members[i].function, other->function,
                              &options)) {
      return false;
    }
  }
  return true;
}

static bool same_program(tvms_context *context, const tvms_program *a,
                         const tvms_program *b) {
  bool same = a->count == b->count;
  for (uint32_t i = 0; same && i < a->count; i++) {
    same = same_module(context, a->modules[i], b->modules[i]);
  }
  return same;
}

// Where the first definition stands in the text that the two other programs differ in.
static tvms_span place_of_difference(tvms_context *context, const tvms_program *program,
                                     const tvms_program *a, const tvms_program *b) {
  tvms_equal_options options = {.map_free = true};
  for (uint32_t i = 0; i < program->count && i < a->count && i < b->count; i++) {
    const tvms_module *module = program->modules[i];
    for (uint32_t k = 0; k < module->member_count; k++) {
      const tvms_node *own = module->members[k].function;
      const tvms_member *x = tvms_module_find(a->modules[i], module->members[k].name);
      const tvms_member *y = tvms_module_find(b->modules[i], module->members[k].name);
      bool same = x && y && x->function && y->function
                  && tvms_node_equal_with(context, x->function, y->function, &options);
      if (own && !same) return own->span;
    }
  }
  return (tvms_span){0, 0};
}

static tvms_program *read_as(tvms_context *context, tvms_dialect dialect, bool python,
                             const tvms_strbuf *text) {
  tvms_source *source =
      tvms_source_create(&context->memory, "<migrated>", text->text, text->len);
  tvms_read_options options = {.from = dialect, .dialect = dialect, .python = python};
  tvms_program *program = tvms_reader_read(context, source, &options);
  program->source = source;
  return program;
}

// Nothing refers to either: what was found in it is forgotten.
static void destroy(tvms_program *program) {
  tvms_memory *memory = &program->context->memory;
  tvms_source_destroy(memory, program->source);
  tvms_reader_program_destroy(program);
}

static const char *TVMS_NULLABLE first_error(const tvms_diags *diags) {
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    if (diag->severity == TVMS_SEVERITY_ERROR) return diag->text;
  }
  return NULL;
}

// Does the result, read as `to`, mean what the canonical text of the program means there?
// What may be wrong with either is not reported: their places are not the user's.
static bool is_proved(tvms_context *context, const tvms_program *program,
                      tvms_dialect to, bool python, const tvms_strbuf *text) {
  tvms_strbuf wanted, got;
  print_as(context, program, to, &wanted);
  if (context->diags.errors) {
    tvms_strbuf_fini(&wanted);
    return false;
  }
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  tvms_program *meant = read_as(context, to, false, &wanted);
  tvms_trial_drop(&trial);
  tvms_trial_begin(&trial, &context->diags);
  tvms_program *again = read_as(context, to, python, text);
  const char *refused = first_error(&context->diags);
  tvms_strbuf_init(&got, &context->memory);
  bool same = false;
  if (!refused) {
    print_as(context, again, to, &got);
    same = wanted.len == got.len
           && (!got.len || memcmp(wanted.text, got.text, got.len) == 0);
    same = same || same_program(context, meant, again);
  }
  tvms_trial_drop(&trial);
  if (!same) {
    report_difference(context, to, &wanted, &got, refused,
                      place_of_difference(context, program, meant, again));
  }
  destroy(meant);
  destroy(again);
  tvms_strbuf_fini(&wanted);
  tvms_strbuf_fini(&got);
  return same;
}

// ---- Written anew ----

typedef TVMS_VEC(tvms_print_comment) comments;

// Lines of imports stand in the header of every program that is written, and a root block
// is a comment already.
static bool is_written(const char *text, uint32_t len) {
  static const char *const starts[] = {"# from tvm", "# import tvm", "# from typing",
                                       "# with T.block(\"root\")",
                                       "# with T.sblock(\"root\")"};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
    size_t size = strlen(starts[i]);
    if (len >= size && memcmp(text, starts[i], size) == 0) return true;
  }
  return false;
}

// The last statement among `body` that begins before `offset`, or the one inside of it if
// it is a class.
static tvms_ref statement_before(const tvms_surface *surface, tvms_ref body,
                                 uint32_t offset) {
  tvms_ref found = 0;
  tvms_surface_each(surface, ref, body) {
    if (tvms_surface_at(surface, ref)->begin < offset) found = ref;
  }
  const tvms_surf *node = tvms_surface_at(surface, found);
  if (!found || node->kind != TVMS_SURF_CLASS) return found;
  tvms_ref inner = statement_before(surface, node->c, offset);
  return inner ? inner : found;
}

// A comment at the end of a body belongs to the function that it is indented in.
static uint32_t last_anchor(const tvms_surface *surface, uint32_t offset) {
  tvms_ref ref = statement_before(surface, surface->body, offset);
  if (!ref) return offset;
  const tvms_surf *node = tvms_surface_at(surface, ref);
  bool inside = tvms_source_indent(surface->source, offset)
                > tvms_source_indent(surface->source, node->begin);
  return inside && node->end <= offset ? node->end - 1 : offset;
}

static void collect_comments(tvms_surface *surface, comments *list) {
  tvms_surface_own_comments(surface);
  uint32_t last = 0;
  for (uint32_t i = 0; i < surface->comment_count; i++) {
    const tvms_comment *comment = &surface->comments[i];
    const char *text = surface->source->text + comment->begin;
    uint32_t len = comment->end - comment->begin;
    if (is_written(text, len)) continue;
    uint32_t anchor = comment->owner ? tvms_surface_at(surface, comment->owner)->begin
                                     : last_anchor(surface, comment->begin);
    if (anchor > last) last = anchor;
    tvms_print_comment item = {text, len, last, comment->own_line};
    tvms_vec_push(&surface->context->memory, list, item);
  }
}

// Canonical text holds no Python: reports members that would be lost.
static bool holds_python(tvms_context *context, const tvms_program *program,
                         tvms_dialect to) {
  bool found = false;
  for (uint32_t i = 0; i < program->count; i++) {
    const tvms_module *module = program->modules[i];
    for (uint32_t j = 0; j < module->member_count; j++) {
      const tvms_node *function = module->members[j].function;
      if (!function || function->kind != TVMS_NODE_EXTERN_FUNC) continue;
      if (!tvms_object_map_get(tvms_as_extern_func(function)->attrs, "is_pyfunc"))
        continue;
      tvms_diag_report(&context->diags, TVMS_D_not_in_dialect, function->span,
                       tvms_dialect_text(to), "a member in Python");
      found = true;
    }
  }
  return found;
}

// Writes the program in canonical form. What the release cannot say is reported by the
// printer, at its place.
static bool write_anew(tvms_context *context, tvms_surface *surface,
                       const tvms_program *program, tvms_dialect to, tvms_strbuf *out) {
  if (holds_python(context, program, to)) return false;
  comments list = {0};
  collect_comments(surface, &list);
  tvms_print_options options = {.dialect = to,
                                .unchecked = true,
                                .comments = list.items,
                                .comment_count = list.len};
  tvms_print_program(program, &options, out);
  tvms_vec_fini(&context->memory, &list);
  return !context->diags.errors && is_proved(context, program, to, false, out);
}

// ---- Both ways ----

static bool migrate(tvms_context *context, tvms_surface *surface,
                    const tvms_program *program, tvms_dialect to, tvms_strbuf *out) {
  bool python = tvms_source_is_python(surface->source);
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  bool edited = tvms_migrate(surface, program, to, out)
                && is_proved(context, program, to, python, out);
  if (edited || python) {
    tvms_trial_keep(&trial);
    return edited;
  }
  tvms_trial_drop(&trial);
  out->len = 0;
  return write_anew(context, surface, program, to, out);
}

bool tvms_migrate_source(tvms_source *source, const tvms_program *program,
                         tvms_dialect to, tvms_strbuf *out) {
  tvms_context *context = program->context;
  tvms_surface surface;
  // Once more; what a member in Python holds was read over already.
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  tvms_surface_parse(&surface, context, source);
  tvms_trial_drop(&trial);
  bool done = migrate(context, &surface, program, to, out);
  tvms_surface_fini(&surface);
  return done;
}
