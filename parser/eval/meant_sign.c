// Signs that stand in place of another one.
#include "parser/eval/meant_sign.h"

#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "support/diag_ids.h"

#include <string.h>

// Where the `==` stands of a comparison of two operands, or an empty span.
static tvms_span equality_of(const tvms_reader *reader, const tvms_surf *node) {
  if (node->kind != TVMS_SURF_COMPARE) return (tvms_span){0, 0};
  const tvms_surf *compared = tvms_reader_at(reader, node->b);
  if (compared->op != TVMS_OP_EQ || compared->next) return (tvms_span){0, 0};
  return (tvms_span){compared->begin, compared->begin + 2};
}

static void report(tvms_reader *reader, tvms_span sign) {
  tvms_diags *diags = &reader->context->diags;
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_syntax, sign, "'=='", "");
  tvms_diag_remark(diags, diag, "a name is bound with '='");
  tvms_diag_fix(diags, diag, sign, false, "=");
  reader->failed = true;
}

static bool is_unbound(const tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  return node->kind == TVMS_SURF_NAME && !tvms_scope_lookup(reader, node->a);
}

static void bind_unknown(tvms_reader *reader, tvms_ref name) {
  tvms_scope_bind(reader, tvms_reader_at(reader, name)->a, TVMS_UNKNOWN,
                  tvms_reader_span_of(reader, name));
}

// `x, y == e` is a tuple whose last item is the comparison.
static bool report_several(tvms_reader *reader, const tvms_surf *tuple) {
  tvms_span sign = {0, 0};
  tvms_surface_each(reader->surface, item, tuple->a) {
    const tvms_surf *node = tvms_reader_at(reader, item);
    sign = equality_of(reader, node);
    if (!is_unbound(reader, sign.end && !node->next ? node->a : item)) return false;
  }
  if (!sign.end) return false;
  report(reader, sign);
  tvms_surface_each(reader->surface, item, tuple->a) {
    const tvms_surf *node = tvms_reader_at(reader, item);
    bind_unknown(reader, node->next ? item : node->a);
  }
  return true;
}

bool tvms_eval_report_equality(tvms_reader *reader, tvms_ref expr) {
  const tvms_surf node = *tvms_reader_at(reader, expr);
  if (node.kind == TVMS_SURF_TUPLE) return report_several(reader, &node);
  tvms_span sign = equality_of(reader, &node);
  if (!sign.end || !is_unbound(reader, node.a)) return false;
  report(reader, sign);
  bind_unknown(reader, node.a);
  return true;
}

bool tvms_eval_report_annotated_equality(tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  if (node.kind != TVMS_SURF_ANN_ASSIGN || node.c) return false;
  if (tvms_reader_at(reader, node.a)->kind != TVMS_SURF_NAME) return false;
  const tvms_surf annotation = *tvms_reader_at(reader, node.b);
  tvms_span sign = equality_of(reader, &annotation);
  // `x: T.bool == a < b` compares twice.
  if (annotation.kind == TVMS_SURF_COMPARE && !sign.end) {
    const tvms_surf *first = tvms_reader_at(reader, annotation.b);
    if (first->op == TVMS_OP_EQ) sign = (tvms_span){first->begin, first->begin + 2};
  }
  if (!sign.end) return false;
  report(reader, sign);
  bind_unknown(reader, node.a);
  return true;
}

bool tvms_eval_explain_untyped(tvms_reader *reader, tvms_diag *diag, tvms_ref ref) {
  const tvms_surf param = *tvms_reader_at(reader, ref);
  tvms_diags *diags = &reader->context->diags;
  const char *text = reader->surface->source->text;
  const char *name = tvms_symbol_text(reader->context, param.a);
  uint32_t end =
      param.begin + tvms_interner_name(&reader->context->names, param.a)->len;
  if (param.c) {
    uint32_t sign = end + (uint32_t)strspn(text + end, " ");
    uint32_t value = tvms_reader_at(reader, param.c)->begin;
    diag->span = (tvms_span){sign, sign + 1};
    tvms_diag_remark(diags, diag, "a type stands behind ':', and a default behind '='");
    tvms_diag_fix(diags, diag, (tvms_span){end, value}, false, ": ");
    return true;
  }
  if (strcmp(name, "self") != 0 && strcmp(name, "cls") != 0) return false;
  tvms_diag_remark(diags, diag, "a function of a module has no '%s': leave it out",
                   name);
  if (text[end] == ',') end += 1 + (uint32_t)strspn(text + end + 1, " ");
  tvms_diag_fix(diags, diag, (tvms_span){param.begin, end}, true, "%s", "");
  return true;
}
