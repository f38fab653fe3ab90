// Names that the prototype of 2022 spelled otherwise: `R.match_shape`, `R.outputs`. Its
// types: parser/relax/prototype.c.
//
// No release reads these, so each is an error that names today's spelling; but each is
// read as what it means, so that everything else wrong with the program is found in the
// same run. Renamed words stand in ir/dialect.def.
#include "parser/prototype.h"

#include "grammar/literal_values.h"
#include "ir/fold.h"
#include "ir/respell.h"
#include "parser/eval/scope.h"
#include "parser/rows.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

// ---- Renamed words ----

tvms_eval_value tvms_prototype_name(tvms_reader *reader, tvms_namespace namespace_,
                                    tvms_sym name, tvms_ref ref) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_is_prototype)
      || namespace_ != TVMS_NS_R) {
    return TVMS_UNKNOWN;
  }
  const tvms_name *text = tvms_interner_name(&reader->context->names, name);
  size_t matched;
  const char *word =
      tvms_spelling_convert(TVMS_SPELLING_R, text->text, text->len, reader->dialect,
                            tvms_release_rows(reader->dialect), &matched);
  if (!word) return TVMS_UNKNOWN;
  uint32_t end = tvms_reader_span_of(reader, ref).end, begin = end - text->len;
  char old[40], new[40];
  snprintf(old, sizeof old, "R.%s", text->text);
  snprintf(new, sizeof new, "R.%s", word);
  tvms_diags *diags = &reader->context->diags;
  tvms_span span = {begin, end};
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_prototype, span, old, new);
  reader->failed = true;
  if (name == TVMS_SYM_match_shape) {
    tvms_diag_remark(diags, diag,
                     "it takes a type: R.match_cast(x, R.Tensor((n, m), \"float32\")), "
                     "and new variables are declared before: n = T.int64()");
  } else {
    tvms_diag_fix(diags, diag, span, true, "%s", word);
  }
  return tvms_namespace_attribute(
      reader, TVMS_NS_R, tvms_symbol_intern(reader->context, word, strlen(word)), ref);
}

// ---- Shapes that define variables ----

static void define_dims(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  if (node.kind == TVMS_SURF_TUPLE || node.kind == TVMS_SURF_LIST) {
    tvms_surface_each(reader->surface, item, node.a) {
      define_dims(reader, item);
    }
  } else if (node.kind == TVMS_SURF_NAME && !tvms_scope_lookup(reader, node.a)) {
    tvms_span span = tvms_reader_span_of(reader, ref);
    tvms_node *var = tvms_var_new(reader->unit, node.a, TVMS_DTYPE(INT, 64), span);
    tvms_scope_bind(reader, node.a, tvms_eval_value_node(var), span);
  }
}

static void note(tvms_reader *reader, tvms_span span, const char *old,
                 const char *new) {
  tvms_diags *diags = &reader->context->diags;
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_respelled, span, old, new);
  tvms_diag_fix(diags, diag, span, true, "%s", new);
}

// `T.var("int32")` is read to this day; everyone writes `T.int32()`.
static void note_var(tvms_reader *reader, tvms_ref call, tvms_ref argument) {
  const tvms_surf *node = tvms_reader_at(reader, argument);
  if (node->kind != TVMS_SURF_STRING || node->next) return;
  tvms_surf_text text = tvms_surface_string(reader->surface, argument, &reader->values);
  char old[48], new[48];
  snprintf(old, sizeof old, "T.var(\"%.*s\")", (int)text.len, text.text);
  snprintf(new, sizeof new, "T.%.*s()", (int)text.len, text.text);
  note(reader, tvms_reader_span_of(reader, call), old, new);
}

static bool is_row(const tvms_row *row, tvms_namespace namespace_, tvms_sym name) {
  return row->namespace_ == namespace_ && row->name == name;
}

void tvms_prototype_call(tvms_reader *reader, const tvms_row *row, tvms_ref call) {
  tvms_ref argument = tvms_reader_at(reader, call)->b;
  if (!argument) return;
  if (is_row(row, TVMS_NS_T, TVMS_SYM_var)) note_var(reader, call, argument);
  argument = tvms_reader_at(reader, argument)->next;
  if (is_row(row, TVMS_NS_R, TVMS_SYM_match_cast) && argument) {
    define_dims(reader, argument);
  }
}

void tvms_prototype_decorator(tvms_reader *reader, tvms_sym name, tvms_ref callee) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_is_prototype)
      || name != TVMS_SYM_ir_module)
    return;
  tvms_span span = tvms_reader_span_of(reader, callee);
  char old[64];
  snprintf(old, sizeof old, "%.*s", (int)(span.end - span.begin),
           reader->surface->source->text + span.begin);
  if (strncmp(old, "tvm.script.", 11) == 0) note(reader, span, old, "I.ir_module");
}
