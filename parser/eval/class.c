// Attributes that the body of a class of Python gives it: in
//
//   class Config:
//       block = 8
//
// `Config.block` is 8. The class itself stays unknown, so nothing is said of what is made of
// it.
#include "parser/eval/class.h"

#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  uint32_t count;
  tvms_sym *names;
  tvms_eval_value *values;
  tvms_eval_sets_attribute *others;
} attributes;

tvms_eval_value tvms_eval_class_make(tvms_reader *reader,
                                     tvms_eval_sets_attribute *others) {
  const tvms_binding *newest = reader->scopes.items[reader->scopes.len - 1].newest;
  uint32_t count = 0;
  for (const tvms_binding *b = newest; b; b = b->next)
    count++;
  if (!count) return TVMS_UNKNOWN;
  attributes *made = tvms_arena_new(&reader->kept, attributes);
  made->names = tvms_arena_array(&reader->kept, tvms_sym, count);
  made->values = tvms_arena_array(&reader->kept, tvms_eval_value, count);
  made->others = others;
  for (const tvms_binding *b = newest; b; b = b->next) {
    made->names[made->count] = b->name;
    made->values[made->count++] = b->value;
  }
  return (tvms_eval_value){
      .kind = TVMS_EVAL_UNKNOWN, .flags = TVMS_EVAL_OF_CLASS, .as.object = made};
}

// The attribute was reported where it was asked for first.
static bool is_said(const tvms_reader *reader, tvms_span span) {
  const tvms_diags *diags = &reader->context->diags;
  const char *text = reader->surface->source->text;
  uint32_t len = span.end - span.begin;
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    if (diag->id == TVMS_D_unknown_attribute && diag->source == diags->source
        && diag->span.end - diag->span.begin == len
        && memcmp(text + diag->span.begin, text + span.begin, len) == 0)
      return true;
  }
  return false;
}

// A name that the class does not have and no statement of the file gives it is a mistake if it
// has one that is nearly spelled so.
static void report_misspelt(tvms_reader *reader, const attributes *all, tvms_sym name,
                            tvms_ref ref) {
  if (all->others(reader, name)) return;
  tvms_diags *diags = &reader->context->diags;
  if (!tvms_diags_may_compare_names(diags, all->count)) return;
  const char **names = tvms_arena_array(&reader->values, const char *, all->count);
  for (uint32_t i = 0; i < all->count; i++)
    names[i] = tvms_symbol_text(reader->context, all->names[i]);
  const char *text = tvms_symbol_text(reader->context, name);
  const char *near = tvms_diag_nearest_name(text, names, all->count);
  if (!near) return;
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_span last = {span.end - (uint32_t)strlen(text), span.end};
  reader->failed = true;
  if (is_said(reader, last)) return;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_unknown_attribute, last, "the class", text);
  tvms_diag_remark(diags, diag, "did you mean '%s'?", near);
  tvms_diag_fix(diags, diag, last, false, "%s", near);
}

tvms_eval_value tvms_eval_class_attribute(tvms_reader *reader, tvms_eval_value object,
                                          tvms_sym name, tvms_ref ref) {
  const attributes *all = object.as.object;
  for (uint32_t i = 0; i < all->count; i++) {
    if (all->names[i] == name) return all->values[i];
  }
  report_misspelt(reader, all, name, ref);
  return TVMS_UNKNOWN;
}
