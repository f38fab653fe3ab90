// Lambdas and macros: a body with the scopes that it may see.
//
// What a body sees is settled where it is defined: the scopes that are open there (`visible`) and
// its own, whoever calls it. Only a macro that is not hygienic sees those of the call instead.
// Defaults of parameters are evaluated where they stand. Calls inside each other are limited as in
// Python, and each is worth many steps, because it takes memory; so a macro that calls itself
// without end is an error and no overflow.
#include "parser/eval/closure.h"

#include "parser/eval/budget.h"
#include "parser/eval/call.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/scope.h"

#include <string.h>

const tvms_visible *tvms_closure_capture(tvms_reader *reader) {
  tvms_visible *visible = tvms_arena_new(&reader->kept, tvms_visible);
  *visible = *reader->visible;
  if (visible->end > reader->depth + 1) visible->end = reader->depth + 1;
  return visible;
}

const tvms_signature *tvms_closure_signature(tvms_reader *reader, tvms_ref params,
                                             tvms_ref ref) {
  uint32_t count = 0;
  tvms_surface_each(reader->surface, param_ref, params) {
    if (tvms_reader_at(reader, param_ref)->a) count++;
  }
  if (count > TVMS_MAX_PARAMS) {
    _Static_assert(TVMS_MAX_PARAMS == 32, "the number in the text");
    tvms_reader_report(reader, unsupported, ref, "a call with more than 32 parameters");
    return NULL;
  }
  tvms_signature *signature = tvms_arena_alloc(
      &reader->values, sizeof *signature + count * sizeof signature->params[0]);
  signature->rest = signature->keywords = -1;
  tvms_surface_each(reader->surface, param_ref, params) {
    const tvms_surf node = *tvms_reader_at(reader, param_ref);
    if (!node.a) continue;
    tvms_param *param = &signature->params[signature->count];
    param->name = node.a;
    param->required = !node.c;
    if (node.c) param->value = tvms_eval(reader, node.c);
    if (node.op == TVMS_OP_STAR) {
      param->kind = TVMS_PARAM_REST;
      param->required = false;
      signature->rest = (int32_t)signature->count;
    } else if (node.op == TVMS_OP_DOUBLE_STAR) {
      param->kind = TVMS_PARAM_KEYWORDS;
      param->required = false;
      signature->keywords = (int32_t)signature->count;
    } else if (node.op == TVMS_OP_KEYWORD_ONLY) {
      param->kind = TVMS_PARAM_KEYWORD_ONLY;
    } else {
      signature->plain++;
    }
    signature->count++;
  }
  return signature;
}

tvms_eval_value tvms_closure_make_lambda(tvms_reader *reader, tvms_ref ref) {
  tvms_closure *closure = tvms_arena_new(&reader->kept, tvms_closure);
  closure->ref = ref;
  closure->visible = tvms_closure_capture(reader);
  closure->cells = tvms_eval_capture_cells(reader, ref);
  tvms_scope_push_for(reader, TVMS_EVALUATOR_PYTHON);
  closure->signature =
      tvms_closure_signature(reader, tvms_reader_at(reader, ref)->a, ref);
  tvms_scope_pop(reader);
  return (tvms_eval_value){.kind = TVMS_EVAL_LAMBDA, .as.closure = closure};
}

tvms_eval_value tvms_closure_make_macro(tvms_reader *reader, tvms_ref ref,
                                        const tvms_decoration *decoration) {
  tvms_closure *closure = tvms_arena_new(&reader->kept, tvms_closure);
  closure->ref = ref;
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  closure->name = def.name;
  closure->signature = tvms_closure_signature(reader, def.params, ref);
  closure->visible = tvms_closure_capture(reader);
  closure->calls = tvms_arena_new(&reader->kept, uint32_t);
  bool unhygienic = tvms_decoration_says(decoration, TVMS_OPTION_UNHYGIENIC);
  bool is_inline = tvms_decoration_says(decoration, TVMS_OPTION_INLINE);
  uint8_t flags = unhygienic ? 0 : TVMS_EVAL_HYGIENIC;
  if (is_inline) flags |= TVMS_EVAL_INLINE;
  return (tvms_eval_value){
      .kind = TVMS_EVAL_MACRO, .flags = flags, .as.closure = closure};
}

const tvms_visible *tvms_closure_enter(tvms_reader *reader,
                                       const tvms_visible *captured,
                                       tvms_evaluator evaluator, tvms_visible *inner) {
  const tvms_visible *saved = reader->visible;
  tvms_scope_push_for(reader, evaluator);
  *inner = (tvms_visible){captured, reader->depth, UINT32_MAX};
  reader->visible = inner;
  return saved;
}

void tvms_closure_leave(tvms_reader *reader, const tvms_visible *saved) {
  tvms_scope_pop(reader);
  reader->visible = saved;
}

// Binds the parameters to values by their places. False: there are too many or too few.
static bool bind_values(tvms_reader *reader, const tvms_signature *signature,
                        const tvms_eval_value *args, uint32_t count, tvms_ref ref) {
  tvms_span span = tvms_reader_span_of(reader, ref);
  if (count > signature->plain && signature->rest < 0) return false;
  for (uint32_t i = 0, next = 0; i < signature->count; i++) {
    const tvms_param *param = &signature->params[i];
    tvms_eval_value value = param->value;
    if (param->kind == TVMS_PARAM_REST) {
      uint32_t rest = count > next ? count - next : 0;
      value = tvms_eval_value_items(
          TVMS_EVAL_TUPLE, tvms_eval_keep_items(reader, args + next, rest), rest);
    } else if (param->kind == TVMS_PARAM_KEYWORDS) {
      value = tvms_eval_value_items(TVMS_EVAL_DICT, NULL, 0);
    } else if (param->kind == TVMS_PARAM_PLAIN && next < count) {
      value = args[next++];
    } else if (param->required) {
      return false;
    }
    tvms_scope_bind(reader, param->name, value, span);
  }
  return true;
}

// Python allows no more calls inside each other; a call is worth many steps, because it
// takes memory.
enum { MOST_CALLS = 1000, STEPS_PER_CALL = 200 };

// Begins a call of a lambda or macro; end_call must follow. False, after a report for the
// first one of the file: calls stand too deep inside each other, or there are too many.
static bool begin_call(tvms_reader *reader, tvms_ref call) {
  tvms_context *context = reader->context;
  context->steps += STEPS_PER_CALL;
  if (!tvms_eval_count_step(reader, call)) return false;
  if (reader->budget.endless_call) return false;
  if (reader->budget.calls < MOST_CALLS) {
    reader->budget.calls++;
    return true;
  }
  tvms_reader_report(reader, too_deep, call, (uint32_t)MOST_CALLS);
  reader->budget.endless_call = true;
  return false;
}

static void end_call(tvms_reader *reader) {
  reader->budget.calls--;
}

tvms_eval_value tvms_closure_call_lambda(tvms_reader *reader, tvms_eval_value lambda,
                                         tvms_evaluator evaluator,
                                         const tvms_eval_value *args, uint32_t count,
                                         tvms_ref ref) {
  const tvms_closure *closure = lambda.as.closure;
  if (!closure->signature || !begin_call(reader, ref))
    return tvms_reader_failed(reader);
  tvms_visible inner;
  const tvms_visible *saved =
      tvms_closure_enter(reader, closure->visible, evaluator, &inner);
  tvms_eval_capture_bind(reader, closure->cells);
  tvms_eval_value result = TVMS_UNKNOWN;
  if (bind_values(reader, closure->signature, args, count, ref)) {
    result = tvms_eval(reader, tvms_reader_at(reader, closure->ref)->b);
  } else {
    tvms_reader_report(reader, wrong_count, ref, "this lambda",
                       closure->signature->plain,
                       tvms_diag_plural(closure->signature->plain), count);
  }
  tvms_closure_leave(reader, saved);
  end_call(reader);
  return result;
}

// ---- Calls --------------------------------------------------------------------------------

static void bind_params(tvms_reader *reader, const tvms_signature *signature,
                        const tvms_eval_value *args, const tvms_ref *refs) {
  for (uint32_t i = 0; i < signature->count; i++) {
    tvms_scope_bind(reader, signature->params[i].name, args[i],
                    tvms_reader_span_of(reader, refs[i]));
  }
}

tvms_eval_value tvms_closure_call(tvms_reader *reader, tvms_eval_value lambda,
                                  tvms_ref call) {
  const tvms_closure *closure = lambda.as.closure;
  const tvms_signature *signature = closure->signature;
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  uint64_t given;
  if (!signature
      || !tvms_signature_bind(reader, signature, "lambda", 0, call, args, refs, &given)
      || !begin_call(reader, call)) {
    return tvms_reader_failed(reader);
  }
  tvms_visible inner;
  const tvms_visible *saved =
      tvms_closure_enter(reader, closure->visible, TVMS_EVALUATOR_PYTHON, &inner);
  tvms_eval_capture_bind(reader, closure->cells);
  bind_params(reader, signature, args, refs);
  tvms_eval_value result = tvms_eval(reader, tvms_reader_at(reader, closure->ref)->b);
  tvms_closure_leave(reader, saved);
  end_call(reader);
  return result;
}

// ---- Macros -------------------------------------------------------------------------------

static tvms_eval_value expand(tvms_reader *reader, tvms_ref body, uint32_t calls,
                              tvms_ref call) {
  if (reader->language) return reader->language->expand(reader, body, calls, call);
  tvms_reader_report(reader, macro_outside, call);
  return TVMS_UNKNOWN;
}

tvms_eval_value tvms_closure_call_macro(tvms_reader *reader, tvms_eval_value macro,
                                        tvms_ref call) {
  const tvms_closure *closure = macro.as.closure;
  tvms_memory *memory = &reader->context->memory;
  if (!tvms_memory_enter(memory)) {
    tvms_memory_leave(memory);
    return tvms_eval_report_too_deep(reader, call);
  }
  tvms_surf_definition def = tvms_surface_define(reader->surface, closure->ref);
  const tvms_signature *signature = closure->signature;
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  uint64_t given;
  const char *what = tvms_symbol_text(reader->context, closure->name);
  tvms_eval_value result = TVMS_UNKNOWN;
  if (signature
      && tvms_signature_bind(reader, signature, what, 0, call, args, refs, &given)
      && begin_call(reader, call)) {
    const tvms_visible *sees = macro.flags & TVMS_EVAL_HYGIENIC
                                   ? closure->visible
                                   : tvms_closure_capture(reader);
    tvms_visible inner;
    const tvms_visible *saved =
        tvms_closure_enter(reader, sees, TVMS_EVALUATOR_TVM, &inner);
    bind_params(reader, signature, args, refs);
    result = expand(reader, def.body, (*closure->calls)++, call);
    tvms_closure_leave(reader, saved);
    end_call(reader);
  } else {
    reader->failed = true;
  }
  tvms_memory_leave(memory);
  return result;
}
