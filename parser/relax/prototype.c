// Types as the prototype of 2022 spelled them: `R.Tensor[(n, k), "f32"]`, the shape of
// `R.match_shape`, `R.call_tir(f, args, shape, dtype=…)`.
//
// No release reads these, so each is an error that names today's spelling; but each is
// read as what it means, so that everything else wrong with the program is found in the
// same run.
#include "parser/relax/prototype.h"

#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/relax/convert.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <string.h>

static tvms_diag *report(tvms_reader *reader, tvms_span span, const char *old,
                         const char *new) {
  reader->failed = true;
  return tvms_diag_report(&reader->context->diags, TVMS_D_prototype, span, old, new);
}

static void fix(tvms_reader *reader, tvms_diag *diag, uint32_t begin, uint32_t end,
                const char *text) {
  tvms_diag_fix(&reader->context->diags, diag, (tvms_span){begin, end}, true, "%s",
                text);
}

// ---- R.match_shape ----

tvms_eval_value tvms_prototype_shape(tvms_reader *reader, tvms_node *value,
                                     tvms_eval_value shape, tvms_ref ref) {
  tvms_node *dims = tvms_relax_to_shape(reader, shape, ref);
  if (!dims) return TVMS_UNKNOWN;
  const tvms_node *type = value->sinfo;
  if (type && type->kind == TVMS_NODE_SINFO_SHAPE)
    return tvms_eval_value_node(dims->sinfo);
  tvms_dtype dtype = type && tvms_sinfo_is_tensor(type) ? type->dtype : (tvms_dtype){0};
  return tvms_eval_value_node(tvms_sinfo_tensor_new(reader->unit, dims, dtype, NULL));
}

// ---- R.Tensor[shape, dtype] ----

static bool is_open(const tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  return node->kind == TVMS_SURF_ELLIPSIS
         || (node->kind == TVMS_SURF_NAME
             && strcmp(tvms_symbol_text(reader->context, node->a), "_") == 0);
}

bool tvms_prototype_parts(const tvms_reader *reader, tvms_ref index, tvms_ref *shape,
                          tvms_ref *dtype) {
  const tvms_surf *node = tvms_reader_at(reader, index);
  *shape = index;
  *dtype = 0;
  if (node->kind != TVMS_SURF_TUPLE || node->flags & TVMS_SURF_PAREN) return true;
  *shape = node->a;
  *dtype = tvms_reader_at(reader, node->a)->next;
  return *dtype && !tvms_reader_at(reader, *dtype)->next;
}

tvms_eval_value tvms_prototype_tensor(tvms_reader *reader, tvms_ref subscript) {
  const tvms_surf node = *tvms_reader_at(reader, subscript);
  tvms_ref shape_ref, dtype_ref;
  tvms_span span = tvms_reader_span_of(reader, subscript);
  uint32_t open = tvms_reader_span_of(reader, node.a).end;
  tvms_diag *diag =
      report(reader, (tvms_span){open, span.end}, "R.Tensor[...]", "R.Tensor(...)");
  if (!tvms_prototype_parts(reader, node.b, &shape_ref, &dtype_ref))
    return TVMS_UNKNOWN;
  bool no_shape = is_open(reader, shape_ref);
  bool no_dtype = !dtype_ref || is_open(reader, dtype_ref);
  if (no_shape && !no_dtype) {
    fix(reader, diag, open, tvms_reader_span_of(reader, dtype_ref).begin, "(dtype=");
  } else if (no_dtype && dtype_ref) {
    fix(reader, diag, open, open + 1, "(");
    fix(reader, diag, tvms_reader_span_of(reader, shape_ref).end, span.end - 1, "");
  } else {
    fix(reader, diag, open, open + 1, "(");
  }
  fix(reader, diag, span.end - 1, span.end, ")");
  tvms_eval_value shape = no_shape ? TVMS_NOTHING : tvms_eval(reader, shape_ref);
  tvms_dtype dtype = {0};
  if (!no_dtype
      && !tvms_eval_to_dtype(reader, tvms_eval(reader, dtype_ref), dtype_ref, &dtype)) {
    return TVMS_UNKNOWN;
  }
  if (shape.kind == TVMS_EVAL_NONE) {
    return tvms_eval_value_node(
        tvms_sinfo_tensor_new_ndim(reader->unit, TVMS_UNKNOWN_NDIM, dtype, NULL));
  }
  tvms_node *dims = tvms_relax_to_shape(reader, shape, shape_ref);
  if (!dims) return TVMS_UNKNOWN;
  return tvms_eval_value_node(tvms_sinfo_tensor_new(reader->unit, dims, dtype, NULL));
}

// ---- call_tir(f, args, shape, dtype="float32") ----

tvms_eval_value tvms_prototype_result(tvms_reader *reader, tvms_eval_value shape,
                                      tvms_ref shape_ref, tvms_eval_value dtype,
                                      tvms_ref dtype_ref) {
  tvms_span at_shape = tvms_reader_span_of(reader, shape_ref);
  tvms_span at_dtype = tvms_reader_span_of(reader, dtype_ref);
  // The keyword stands before its value.
  const char *text = reader->surface->source->text;
  uint32_t begin = at_dtype.begin;
  while (begin > at_shape.begin && memcmp(text + begin, "dtype", 5) != 0) {
    begin--;
  }
  tvms_diag *diag = report(reader, (tvms_span){begin, at_dtype.end}, "shape, dtype=...",
                           "out_sinfo=R.Tensor(shape, dtype=...)");
  fix(reader, diag, at_shape.begin, at_shape.begin, "out_sinfo=R.Tensor(");
  fix(reader, diag, at_dtype.end, at_dtype.end, ")");
  tvms_dtype element;
  if (!tvms_eval_to_dtype(reader, dtype, dtype_ref, &element)) return TVMS_UNKNOWN;
  tvms_node *dims = tvms_relax_to_shape(reader, shape, shape_ref);
  if (!dims) return TVMS_UNKNOWN;
  return tvms_eval_value_node(tvms_sinfo_tensor_new(reader->unit, dims, element, NULL));
}
