// Evidence for undefined names: what is in scope and fits the place where they stand.
//
// An undefined argument of call_tir is compared with the parameter that it is passed to,
// an undefined dimension of its result with what the PrimFunc writes. Names that nothing
// explains get the nearest name in scope at the end of their function.
#include "parser/relax/evidence.h"

#include "parser/eval/expr.h"
#include "parser/relax/convert.h"
#include "parser/relax/state.h"
#include "structinfo/call.h"
#include "structinfo/make.h"
#include "support/trial.h"

#include <string.h>

// A name of a dataflow block that does not hand it out.
static bool is_inner(tvms_reader *reader, tvms_diag *diag, tvms_sym name) {
  const tvms_relax_state *relax = tvms_relax_of(reader);
  tvms_diags *diags = &reader->context->diags;
  const char *text = tvms_symbol_text(reader->context, name);
  for (uint32_t i = relax->inner.len; i > 0; i--) {
    const tvms_relax_inner *inner = &relax->inner.items[i - 1];
    if (inner->name != name) continue;
    tvms_diag_note(diags, diag, inner->span,
                   "'%s' is bound in this dataflow block, which does not hand it out; "
                   "add it to R.output(...)",
                   text);
    if (inner->output) {
      const tvms_surf *call = tvms_reader_at(reader, inner->output);
      tvms_diag_fix(diags, diag, (tvms_span){call->end - 1, call->end - 1}, true,
                    call->b ? ", %s" : "%s", text);
      return true;
    }
    // Behind the last statement, in its column.
    tvms_span last = tvms_reader_span_of(reader, inner->last);
    const char *source = reader->surface->source->text;
    uint32_t line = last.begin;
    while (line > 0 && source[line - 1] != '\n') {
      line--;
    }
    tvms_diag_fix(diags, diag, (tvms_span){last.end, last.end}, true,
                  "\n%.*sR.output(%s)", (int)(last.begin - line), source + line, text);
    return true;
  }
  return false;
}

void tvms_relax_suspect_name(tvms_reader *reader, tvms_diag *diag, tvms_sym name,
                             tvms_span span, const char *near) {
  if (is_inner(reader, diag, name)) return;
  tvms_relax_suspect suspect = {diag, near, name, span, false};
  tvms_vec_push(&reader->context->memory, &tvms_relax_of(reader)->suspects, suspect);
}

void tvms_relax_close_suspects(tvms_reader *reader) {
  tvms_diags *diags = &reader->context->diags;
  tvms_relax_state *relax = tvms_relax_of(reader);
  for (uint32_t i = 0; i < relax->suspects.len; i++) {
    const tvms_relax_suspect *suspect = &relax->suspects.items[i];
    if (suspect->explained || !suspect->near) continue;
    tvms_diag_remark(diags, suspect->diag, "did you mean '%s'?", suspect->near);
    tvms_diag_fix(diags, suspect->diag, suspect->span, false, "%s", suspect->near);
  }
  tvms_vec_fini(&reader->context->memory, &relax->suspects);
  tvms_vec_fini(&reader->context->memory, &relax->inner);
}

static tvms_relax_suspect *TVMS_NULLABLE suspect_at(tvms_reader *reader, tvms_ref ref) {
  if (tvms_reader_at(reader, ref)->kind != TVMS_SURF_NAME) return NULL;
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_relax_state *relax = tvms_relax_of(reader);
  for (uint32_t i = relax->suspects.len; i > 0; i--) {
    tvms_relax_suspect *suspect = &relax->suspects.items[i - 1];
    if (suspect->span.begin == span.begin && suspect->span.end == span.end) {
      return suspect;
    }
  }
  return NULL;
}

// ---- What is in scope ----

enum { MOST_CANDIDATES = 256 };

typedef struct {
  const tvms_binding *bindings[MOST_CANDIDATES];
  const char *names[MOST_CANDIDATES];
  uint32_t count;
} candidates;

typedef bool fits_fn(void *data, tvms_node *node);

static void collect(tvms_reader *reader, candidates *found, fits_fn *fits, void *data) {
  found->count = 0;
  for (uint32_t depth = reader->scopes.len; depth > 0; depth--) {
    const tvms_binding *binding = reader->scopes.items[depth - 1].newest;
    for (; binding && found->count < MOST_CANDIDATES; binding = binding->next) {
      if (binding->value.kind != TVMS_EVAL_NODE) continue;
      if (!fits(data, binding->value.as.node)) continue;
      found->bindings[found->count] = binding;
      found->names[found->count++] = tvms_symbol_text(reader->context, binding->name);
    }
  }
}

// The candidate whose name is nearest, or the only one.
static const tvms_binding *TVMS_NULLABLE choose(const candidates *found,
                                                const char *name) {
  if (found->count == 1) return found->bindings[0];
  const char *near = tvms_diag_nearest_name(name, found->names, found->count);
  for (uint32_t i = 0; near && i < found->count; i++) {
    if (strcmp(found->names[i], near) == 0) return found->bindings[i];
  }
  return NULL;
}

// ---- Arguments of a PrimFunc ----

typedef struct {
  tvms_prover *prover;
  tvms_node *type;  // of the parameter
} parameter;

static bool fits_parameter(void *data, tvms_node *node) {
  const parameter *param = data;
  if (node->kind != TVMS_NODE_VAR || !tvms_sinfo_is_tensor(node->sinfo)) return false;
  tvms_dim_map map = {{0}};
  bool conflict;
  tvms_sinfo_fit fit = tvms_sinfo_relate_argument(param->prover, &map, param->type,
                                                  node->sinfo, &conflict);
  tvms_vec_fini(&param->prover->unit->context->memory, &map.bindings);
  return fit >= TVMS_FIT_RUNTIME && !conflict;
}

static tvms_node *type_of_buffer(tvms_unit *unit, const tvms_buffer *buffer) {
  tvms_node *shape = tvms_sinfo_shape_value_new(unit, buffer->shape.items,
                                                buffer->shape.len, TVMS_NO_SPAN);
  return tvms_sinfo_tensor_new(unit, shape, buffer->element, NULL);
}

static void explain_argument(tvms_reader *reader, tvms_relax_suspect *suspect,
                             const tvms_prim_func *func, uint32_t i) {
  if (i >= func->buffers.len || !func->buffers.items[i]) return;
  const tvms_buffer *buffer = tvms_as_buffer(func->buffers.items[i]);
  parameter param = {tvms_relax_of(reader)->prover,
                     type_of_buffer(reader->unit, buffer)};
  candidates found;
  collect(reader, &found, fits_parameter, &param);
  tvms_context *context = reader->context;
  const tvms_binding *best = choose(&found, tvms_symbol_text(context, suspect->name));
  if (!best) return;
  const char *name = tvms_symbol_text(context, best->name);
  const tvms_node *var = func->params.items[i];
  tvms_diag_note(&context->diags, suspect->diag, best->span,
                 "'%s': %s is bound here and fits parameter '%s' of '%s'", name,
                 tvms_sinfo_describe(reader->unit, best->value.as.node->sinfo),
                 tvms_symbol_text(context, tvms_as_var(var)->name),
                 tvms_symbol_text(context, func->name));
  tvms_diag_fix(&context->diags, suspect->diag, suspect->span, true, "%s", name);
  suspect->explained = true;
}

// ---- Dimensions of the result ----

static bool is_symbol(void *data, tvms_node *node) {
  (void)data;
  return node->kind == TVMS_NODE_VAR && node->dtype.code == TVMS_INT
         && node->dtype.lanes == 1;
}

// The values of the arguments as they are written; false if one is not known.
static bool known_arguments(tvms_reader *reader, tvms_ref ref, tvms_list *args) {
  tvms_diags *diags = &reader->context->diags;
  tvms_trial_mute(diags);
  bool failed = reader->failed;
  tvms_node *tuple = tvms_relax_to_value(reader, tvms_eval(reader, ref), ref);
  reader->failed = failed;
  tvms_trial_unmute(diags);
  if (!tuple) return false;
  *args = tuple->kind == TVMS_NODE_TUPLE ? tvms_as_tuple(tuple)->fields
                                         : tvms_list_copy(reader->unit, &tuple, 1);
  return true;
}

static void explain_dim(tvms_reader *reader, tvms_relax_suspect *suspect, uint32_t axis,
                        const tvms_prim_func *func, tvms_ref args_ref) {
  tvms_context *context = reader->context;
  tvms_list args, dims;
  const char *name = NULL;
  if (known_arguments(reader, args_ref, &args)) {
    const tvms_node *written = tvms_infer_prim_func_outputs(
        tvms_relax_of(reader)->prover, func, args, NULL, 1);
    if (written && tvms_sinfo_dims(written, &dims) && axis < dims.len) {
      tvms_diag_note(
          &context->diags, suspect->diag, tvms_reader_span_of(reader, args_ref),
          "'%s' with these arguments writes %s", tvms_symbol_text(context, func->name),
          tvms_sinfo_describe(reader->unit, written));
      const tvms_node *dim = dims.items[axis];
      name = tvms_sinfo_describe(reader->unit, dim);
    }
  }
  if (!name) {
    candidates found;
    collect(reader, &found, is_symbol, NULL);
    const tvms_binding *best = choose(&found, tvms_symbol_text(context, suspect->name));
    if (!best) return;
    name = tvms_symbol_text(context, best->name);
    tvms_diag_note(&context->diags, suspect->diag, best->span,
                   "the symbolic dimension in scope is '%s'", name);
  }
  tvms_diag_fix(&context->diags, suspect->diag, suspect->span, true, "%s", name);
  suspect->explained = true;
}

// The tuple of dimensions in R.Tensor((…), …), or 0.
static tvms_ref dims_of_type(tvms_reader *reader, tvms_ref type) {
  const tvms_surf *node = tvms_reader_at(reader, type);
  if (node->kind != TVMS_SURF_CALL || !node->b) return 0;
  uint8_t kind = tvms_reader_at(reader, node->b)->kind;
  return kind == TVMS_SURF_TUPLE || kind == TVMS_SURF_LIST ? node->b : 0;
}

void tvms_relax_explain_call_tir(tvms_reader *reader, const tvms_node *callee,
                                 tvms_ref args_ref, tvms_ref type_ref) {
  if (callee->kind != TVMS_NODE_GLOBAL_VAR || !reader->module) return;
  const tvms_member *member =
      tvms_module_find(reader->module, tvms_as_global_var(callee)->name);
  if (!member || !member->function || member->function->kind != TVMS_NODE_PRIM_FUNC) {
    return;
  }
  const tvms_prim_func *func = tvms_as_prim_func(member->function);
  uint8_t kind = tvms_reader_at(reader, args_ref)->kind;
  uint32_t i = 0;
  if (kind == TVMS_SURF_TUPLE || kind == TVMS_SURF_LIST) {
    tvms_surface_each(reader->surface, item, tvms_reader_at(reader, args_ref)->a) {
      tvms_relax_suspect *suspect = suspect_at(reader, item);
      if (suspect) explain_argument(reader, suspect, func, i);
      i++;
    }
  } else {
    tvms_relax_suspect *suspect = suspect_at(reader, args_ref);
    if (suspect) explain_argument(reader, suspect, func, 0);
  }
  tvms_ref dims = dims_of_type(reader, type_ref);
  i = 0;
  tvms_surface_each(reader->surface, item, dims ? tvms_reader_at(reader, dims)->a : 0) {
    tvms_relax_suspect *suspect = suspect_at(reader, item);
    if (suspect) explain_dim(reader, suspect, i, func, args_ref);
    i++;
  }
}
