// A PrimFunc as a whole: what its decorator says, its signature, its body.
#include "parser/tir/function.h"

#include "grammar/parse.h"
#include "ir/global_symbol.h"
#include "parser/eval/scope.h"
#include "parser/tir/frame.h"
#include "parser/tir/signature.h"
#include "parser/tir/stmt.h"
#include "structinfo/complete.h"

#include <string.h>

static void free_state(tvms_reader *reader, tvms_tir_state *state) {
  tvms_memory *memory = &reader->context->memory;
  tvms_vec_fini(memory, &state->frames);
  tvms_vec_fini(memory, &state->stmts);
  tvms_vec_fini(memory, &state->params);
  tvms_vec_fini(memory, &state->buffers);
  tvms_vec_fini(memory, &state->root_allocs);
  tvms_vec_fini(memory, &state->env_threads);
  tvms_vec_fini(memory, &state->signature_vars);
  tvms_vec_fini(memory, &state->own_names);
}

static tvms_prim_func *make_function(tvms_reader *reader, tvms_tir_state *state,
                                     tvms_span span) {
  tvms_unit *unit = reader->unit;
  tvms_prim_func *function = tvms_node_make(unit, PRIM_FUNC, span);
  function->name = state->name;
  function->params = tvms_list_copy(unit, state->params.items, state->params.len);
  function->buffers = tvms_list_copy(unit, state->buffers.items, state->buffers.len);
  function->ret = state->ret;
  function->attrs = state->attrs;
  if (state->is_private) function->head.flags |= TVMS_FLAG_PRIVATE;
  if (state->s_tir) function->head.flags |= TVMS_FLAG_S_TIR;
  if (state->persistent) function->head.flags |= TVMS_FLAG_PERSISTENT;
  if (state->unchecked) function->head.flags |= TVMS_FLAG_UNCHECKED;
  return function;
}

// An s_tir function has no layouts: those that its buffers got from elsewhere are dropped.
static void drop_layouts(tvms_tir_state *state) {
  if (!state->s_tir) return;
  for (uint32_t i = 0; i < state->buffers.len; i++) {
    if (state->buffers.items[i]) tvms_as_buffer(state->buffers.items[i])->layout = NULL;
  }
}

static void read_options(tvms_reader *reader, const tvms_decoration *decoration,
                         tvms_tir_state *state) {
  state->is_private = tvms_decoration_says(decoration, TVMS_OPTION_PRIVATE);
  state->unchecked = tvms_decoration_says(decoration, TVMS_OPTION_UNCHECKED);
  state->persistent = tvms_decoration_says(decoration, TVMS_TIR_OPTION_PERSISTENT);
  state->jit = tvms_decoration_says(decoration, TVMS_TIR_OPTION_JIT);
  // Up to 0.24 every PrimFunc is what 0.25 calls s_tir.
  state->s_tir = tvms_decoration_says(decoration, TVMS_TIR_OPTION_S_TIR)
                 || tvms_release_has(reader->dialect, TVMS_FACT_prim_funcs_are_s_tir);
}

static void read_function(tvms_reader *reader, const tvms_def *of,
                          tvms_member *member) {
  tvms_ref ref = of->ref;
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  tvms_tir_state state = {.name = def.name, .param_list = def.params, .body = def.body};
  read_options(reader, &of->decoration, &state);
  reader->states[TVMS_TIR_ROOM] = &state;
  reader->language = &tvms_tir_language;
  tvms_scope_push(reader);
  state.function_depth = reader->depth;
  tvms_frame *frame = tvms_frame_new(reader, TVMS_FRAME_FUNC, ref);
  tvms_frame_enter(reader, frame, false);
  tvms_tir_read_signature(reader, &def);
  tvms_tir_body(reader, def.body);
  while (tvms_frame_last(reader) != frame) {
    tvms_frame_exit(reader, tvms_frame_last(reader));
  }
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_node *body = tvms_frame_take_body(reader, 0, span);
  if (reader->failed) {
    tvms_prim_func *function = make_function(reader, &state, span);
    function->body = body;
    member->partial = &function->head;
  } else {
    drop_layouts(&state);
    state.attrs = tvms_global_symbol_drop_own(reader->unit, state.attrs, state.name);
    tvms_prim_func *function = make_function(reader, &state, span);
    function->body = body;
    if (tvms_complete_prim_func(reader->unit, &function->head, state.root_allocs.items,
                                state.root_allocs.len)) {
      member->function = &function->head;
    }
  }
  tvms_scope_pop(reader);
  reader->states[TVMS_TIR_ROOM] = NULL;
  reader->language = NULL;
  free_state(reader, &state);
}

const tvms_language tvms_tir_language = {
    .binds_first = true,
    .explain = tvms_tir_explain_name,
    .expand = tvms_tir_expand_body,
    .read = read_function,
};

static const tvms_decorator decorators[] = {
    {TVMS_NS_T,
     TVMS_SYM_prim_func,
     TVMS_DECORATED_FUNCTION,
     &tvms_tir_language,
     0,
     {{TVMS_SYM_private, TVMS_OPTION_PRIVATE, false},
      {TVMS_SYM_check_well_formed, TVMS_OPTION_UNCHECKED, true},
      {TVMS_SYM_s_tir, TVMS_TIR_OPTION_S_TIR, false},
      {TVMS_SYM_persistent, TVMS_TIR_OPTION_PERSISTENT, false}}},
    {TVMS_NS_T,
     TVMS_SYM_jit,
     TVMS_DECORATED_FUNCTION,
     &tvms_tir_language,
     TVMS_TIR_OPTION_JIT,
     {{TVMS_SYM_private, TVMS_OPTION_PRIVATE, false},
      {TVMS_SYM_check_well_formed, TVMS_OPTION_UNCHECKED, true},
      {TVMS_SYM_is_stir, TVMS_TIR_OPTION_S_TIR, false},
      {TVMS_SYM_persistent, TVMS_TIR_OPTION_PERSISTENT, false}}},
    {TVMS_NS_T,
     TVMS_SYM_macro,
     TVMS_DECORATED_MACRO,
     NULL,
     0,
     {{TVMS_SYM_hygienic, TVMS_OPTION_UNHYGIENIC, true}}},
    {TVMS_NS_T,
     TVMS_SYM_inline,
     TVMS_DECORATED_MACRO,
     NULL,
     TVMS_OPTION_INLINE,
     {{TVMS_SYM_definition_depth, 0, false}, {TVMS_SYM_defining_var_table, 0, false}}},
};

const tvms_decorators tvms_tir_decorators = {decorators,
                                             sizeof decorators / sizeof *decorators};
