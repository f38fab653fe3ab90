// Findings of inference at the argument that is wrong.
//
// A row says what a finding is about: the parameter with one of these names, the operands, or
// the argument of the callee that the text counts. Else it is the parameter whose name stands
// in the text of the finding ("one stride per axis": strides).
#include "parser/relax/place.h"

#include "parser/eval/meant_value.h"
#include "parser/relax/signature.h"
#include "support/diag_ids.h"
#include "support/intern.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  tvms_diag_id id;
  const char *params[4];  // of the operator
} about[] = {
    {TVMS_D_op_axis, {"axis", "axes", "dim", "indices_or_sections"}},
    {TVMS_D_op_axis_twice, {"axis", "axes"}},
    {TVMS_D_op_ndim, {"axes", "shape"}},
    {TVMS_D_call_tir_arity, {"args"}},
    {TVMS_D_call_tir_output, {"out_ty", "out_sinfo"}},
    {TVMS_D_match_cast_impossible, {"ty", "struct_info"}},
};

static int32_t param_named(const tvms_relax_op_call *call, uint64_t given,
                           const char *name) {
  const tvms_signature *signature = call->signature->signature;
  for (uint32_t i = 0; i < signature->count; i++) {
    const char *own =
        tvms_symbol_text(call->reader->context, signature->params[i].name);
    if (given >> i & 1 && strcmp(own, name) == 0) return (int32_t)i;
  }
  return -1;
}

// The parameter whose name, but for a plural, the text mentions as a word.
static int32_t param_mentioned(const tvms_relax_op_call *call, uint64_t given,
                               const char *text) {
  const tvms_signature *signature = call->signature->signature;
  for (uint32_t i = 0; i < signature->count; i++) {
    const char *name =
        tvms_symbol_text(call->reader->context, signature->params[i].name);
    size_t len = strlen(name);
    if (len > 4 && name[len - 1] == 's') len--;
    if (!(given >> i & 1) || len < 4) continue;
    for (const char *at = text; *at; at++) {
      bool begins = at == text || at[-1] == ' ' || at[-1] == '\'';
      if (begins && strncmp(at, name, len) == 0) return (int32_t)i;
    }
  }
  return -1;
}

static int32_t param_of(const tvms_relax_op_call *call, uint64_t given,
                        const tvms_diag *diag) {
  for (size_t i = 0; i < sizeof about / sizeof about[0]; i++) {
    if (about[i].id != diag->id) continue;
    for (size_t k = 0; k < 4 && about[i].params[k]; k++) {
      int32_t found = param_named(call, given, about[i].params[k]);
      if (found >= 0) return found;
    }
  }
  if (diag->id == TVMS_D_op_expects) {
    bool callee = strstr(diag->text, "a PrimFunc of the module") && given & 1;
    return callee ? 0 : param_mentioned(call, given, diag->text);
  }
  return -1;
}

// "argument 2 of 'f'" of call_tir: that item of the tuple of arguments, if one is written.
static tvms_ref argument_of(const tvms_relax_op_call *call, uint64_t given,
                            const tvms_diag *diag) {
  int32_t args = param_named(call, given, "args");
  if (diag->id != TVMS_D_call_argument || args < 0
      || strncmp(diag->text, "argument ", 9) != 0) {
    return 0;
  }
  const tvms_surf *node = tvms_reader_at(call->reader, call->refs[args]);
  if (node->kind != TVMS_SURF_TUPLE && node->kind != TVMS_SURF_LIST)
    return call->refs[args];
  long left = strtol(diag->text + 9, NULL, 10);
  tvms_surface_each(call->reader->surface, item, node->a) {
    if (--left == 0) return item;
  }
  return 0;
}

// "axis 4 of": the last item of a written list that is this number, else the whole list.
static tvms_ref axis_in(const tvms_relax_op_call *call, const tvms_diag *diag,
                        tvms_ref list) {
  const tvms_surf *node = tvms_reader_at(call->reader, list);
  bool axis = diag->id == TVMS_D_op_axis || diag->id == TVMS_D_op_axis_twice;
  if (!axis || (node->kind != TVMS_SURF_TUPLE && node->kind != TVMS_SURF_LIST)
      || strncmp(diag->text, "axis ", 5) != 0) {
    return list;
  }
  const char *text = call->reader->surface->source->text;
  size_t len = strcspn(diag->text + 5, " ");
  tvms_ref found = list;
  tvms_surface_each(call->reader->surface, item, node->a) {
    tvms_span span = tvms_reader_span_of(call->reader, item);
    if (span.end - span.begin == len
        && memcmp(text + span.begin, diag->text + 5, len) == 0)
      found = item;
  }
  return found;
}

// A number, or R.const with the data type that it says; `dtype` is where that stands, or 0.
static bool is_constant(const tvms_relax_op_call *call, tvms_ref ref, tvms_ref *dtype) {
  const tvms_surf *node = tvms_reader_at(call->reader, ref);
  *dtype = 0;
  if (node->kind == TVMS_SURF_INT || node->kind == TVMS_SURF_FLOAT) return true;
  if (node->kind != TVMS_SURF_CALL || !node->b) return false;
  const tvms_surf *callee = tvms_reader_at(call->reader, node->a);
  if (callee->kind != TVMS_SURF_ATTRIBUTE || callee->b != TVMS_SYM_const) return false;
  tvms_ref second = tvms_reader_at(call->reader, node->b)->next;
  if (second && tvms_reader_at(call->reader, second)->kind == TVMS_SURF_KEYWORD)
    second = tvms_reader_at(call->reader, second)->b;
  *dtype = second;
  return true;
}

// Operands with two data types, `f: … float16 and float32`, of which one is a constant: that is to
// have the type of the other. False if none is, or both are.
static bool place_constant(const tvms_relax_op_call *call, tvms_diag *diag) {
  tvms_diags *diags = &call->reader->context->diags;
  tvms_ref dtypes[2];
  bool left = is_constant(call, call->refs[0], &dtypes[0]);
  bool right = is_constant(call, call->refs[1], &dtypes[1]);
  const char *both = strrchr(diag->text, ':'), *and = strstr(diag->text, " and ");
  if (left == right || !both || !and || and < both) return false;
  const char *other = left ? and+5 : both + 2;
  int len = left ? (int)strlen(other) : (int)(and-other);
  tvms_ref ref = call->refs[left ? 0 : 1], dtype = dtypes[left ? 0 : 1];
  tvms_span span = tvms_reader_span_of(call->reader, dtype ? dtype : ref);
  const char *text = call->reader->surface->source->text + span.begin;
  diag->span = span;
  if (dtype)
    tvms_diag_fix(diags, diag, span, false, "\"%.*s\"", len, other);
  else if (tvms_reader_at(call->reader, ref)->kind != TVMS_SURF_CALL)
    tvms_diag_fix(diags, diag, span, false, "R.const(%.*s, \"%.*s\")",
                  (int)(span.end - span.begin), text, len, other);
  else
    tvms_diag_remark(diags, diag, "as in R.const(x, \"%.*s\")", len, other);
  return true;
}

// A finding about an argument that is a string: what it was meant to be.
static bool explain_string(const tvms_relax_op_call *call, uint64_t given,
                           tvms_diag *diag) {
  if (diag->id != TVMS_D_op_expects) return false;
  for (uint32_t i = 0; i < call->signature->signature->count; i++) {
    if (!(given >> i & 1)) continue;
    tvms_span span = tvms_reader_span_of(call->reader, call->refs[i]);
    if (span.begin == diag->span.begin && span.end == diag->span.end)
      return tvms_eval_explain_text(call->reader, diag, call->refs[i]);
  }
  return false;
}

void tvms_relax_place_findings(const tvms_relax_op_call *call, uint64_t given,
                               const tvms_diag *before) {
  tvms_reader *reader = call->reader;
  tvms_span whole = tvms_reader_span_of(reader, call->ref);
  tvms_diag *diag = before ? before->next : reader->context->diags.first;
  for (; diag; diag = diag->next) {
    // A tensor of another rank than there are axes: the list of them is as likely wrong.
    int32_t axes = diag->id == TVMS_D_op_ndim ? param_named(call, given, "axes") : -1;
    bool inside = diag->span.begin >= whole.begin && diag->span.end <= whole.end;
    if (explain_string(call, given, diag)) continue;
    if (axes >= 0 && inside) {
      diag->span = tvms_reader_span_of(reader, call->refs[axes]);
      continue;
    }
    if (diag->span.begin != whole.begin || diag->span.end != whole.end) continue;
    bool operands =
        diag->id == TVMS_D_op_dtypes_differ || diag->id == TVMS_D_op_broadcast;
    if (operands && (given & 3) == 3 && diag->id == TVMS_D_op_dtypes_differ
        && place_constant(call, diag))
      continue;
    if (operands && (given & 3) == 3) {
      diag->span = (tvms_span){tvms_reader_span_of(reader, call->refs[0]).begin,
                               tvms_reader_span_of(reader, call->refs[1]).end};
      continue;
    }
    tvms_ref ref = argument_of(call, given, diag);
    int32_t i = ref ? -1 : param_of(call, given, diag);
    if (i >= 0) ref = axis_in(call, diag, call->refs[i]);
    if (ref) diag->span = tvms_reader_span_of(reader, ref);
    if (i >= 0) tvms_eval_explain_text(reader, diag, call->refs[i]);
  }
}
