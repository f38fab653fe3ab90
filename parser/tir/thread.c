// Threads: T.env_thread and T.launch_thread, and the scope ids of 0.25 and later.
#include "arith/analyzer.h"
#include "parser/eval/convert.h"
#include "parser/tir/convert.h"
#include "parser/tir/frame.h"
#include "parser/tir/handlers.h"
#include "parser/tir/simple.h"

#include <string.h>

// ---- Environment threads --------------------------------------------------------------------------------

static tvms_node *new_thread(tvms_reader *reader, tvms_eval_value tag, tvms_dtype dtype,
                             tvms_ref ref) {
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_iter_var *iter_var = tvms_node_make(reader->unit, ITER_VAR, span);
  iter_var->var = tvms_var_new(reader->unit, 0, dtype, span);
  iter_var->iter_type = TVMS_ITER_THREAD_INDEX;
  iter_var->thread_tag = tvms_symbol_intern(reader->context, tag.as.text, tag.len);
  iter_var->head.dtype = dtype;
  tvms_env_thread thread = {iter_var->var, &iter_var->head};
  tvms_vec_push(&reader->context->memory, &tvms_tir_of(reader)->env_threads, thread);
  return &iter_var->head;
}

tvms_eval_value tvms_call_env_thread(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype;
  if (!tvms_tir_inside_function(reader, call)) return TVMS_UNKNOWN;
  if (call->args[0].kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "a thread", "a string",
                                call->args[0]);
    return TVMS_UNKNOWN;
  }
  if (!tvms_eval_to_dtype(reader, call->args[1], call->refs[1], &dtype)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *iter_var = new_thread(reader, call->args[0], dtype, call->ref);
  return tvms_eval_value_node(tvms_as_iter_var(iter_var)->var);
}

static tvms_node *find_thread(tvms_reader *reader, const tvms_node *var) {
  for (uint32_t i = 0; i < tvms_tir_of(reader)->env_threads.len; i++) {
    const tvms_env_thread *thread = &tvms_tir_of(reader)->env_threads.items[i];
    if (thread->var == var) return thread->iter_var;
  }
  return NULL;
}

static tvms_node *launched_thread(tvms_reader *reader, const tvms_call_args *call,
                                  tvms_node *extent) {
  tvms_eval_value thread = call->args[0];
  if (thread.kind == TVMS_EVAL_STR) {
    return new_thread(reader, thread, extent->dtype, call->ref);
  }
  tvms_node *var = tvms_eval_value_node_of(thread, TVMS_NODE_VAR);
  tvms_node *iter_var = var ? find_thread(reader, var) : NULL;
  if (iter_var) return iter_var;
  if (var)
    tvms_reader_report(reader, not_a_thread, call->refs[0],
                       tvms_symbol_text(reader->context, tvms_as_var(var)->name));
  else
    tvms_eval_report_wrong_type(reader, call->refs[0], "a thread",
                                "a string or a thread variable", thread);
  return NULL;
}

tvms_eval_value tvms_call_launch_thread(tvms_reader *reader,
                                        const tvms_call_args *call) {
  if (!tvms_tir_inside_function(reader, call)) return TVMS_UNKNOWN;
  tvms_node *extent = tvms_eval_to_expr(reader, call->args[1], call->refs[1]);
  tvms_node *node = extent ? launched_thread(reader, call, extent) : NULL;
  if (!node) return tvms_reader_failed(reader);
  bool whole = tvms_dtype_is_int(extent->dtype) || tvms_dtype_is_uint(extent->dtype)
               || tvms_dtype_is_bool(extent->dtype);
  if (tvms_release_has(reader->dialect, TVMS_FACT_thread_extents_are_integers)
      && (!whole || extent->dtype.lanes != 1)) {
    tvms_eval_report_wrong_type(reader, call->refs[1], "the extent of a thread",
                                "an integer", call->args[1]);
    return tvms_reader_failed(reader);
  }
  tvms_iter_var *iter_var = tvms_as_iter_var(node);
  if (!iter_var->dom) {
    tvms_node *zero = tvms_int_imm_new(reader->unit, extent->dtype, 0, TVMS_NO_SPAN);
    iter_var->dom = tvms_range_new(reader->unit, zero, extent, extent->span);
  } else if (!tvms_arith_prove_equal(reader->unit, tvms_as_range(iter_var->dom)->extent,
                                     extent)) {
    tvms_reader_report(reader, thread_extent_differs, call->refs[1]);
    return tvms_reader_failed(reader);
  }
  const char *tag = tvms_symbol_text(reader->context, iter_var->thread_tag);
  bool is_virtual = strcmp(tag, "vthread") == 0;
  const char *key = is_virtual ? "virtual_thread" : "thread_extent";
  tvms_node *stmt =
      tvms_tir_attr_new(reader, node, key, (uint32_t)strlen(key), extent, call->ref);
  return tvms_frame_binder(reader, stmt, tvms_eval_value_node(iter_var->var),
                           call->ref);
}

// ---- Scope ids (0.25 on) --------------------------------------------------------------------

static bool scope_dtype(tvms_reader *reader, const tvms_call_args *call,
                        tvms_dtype *dtype) {
  *dtype = TVMS_DTYPE(INT, 32);
  tvms_eval_value value = tvms_args_get(reader, call, TVMS_SYM_dtype);
  if (value.kind == TVMS_EVAL_NONE) return true;
  tvms_ref ref = tvms_args_ref(reader, call, TVMS_SYM_dtype);
  if (!tvms_eval_to_dtype(reader, value, ref, dtype)) return false;
  bool sound = dtype->bits == 32 && dtype->lanes == 1
               && (dtype->code == TVMS_INT || dtype->code == TVMS_UINT);
  if (!sound) tvms_reader_report(reader, bad_index_dtype, ref);
  return sound;
}

static bool optional_exprs(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                           tvms_list *list) {
  return value.kind == TVMS_EVAL_NONE || tvms_eval_to_exprs(reader, value, ref, list);
}

// A scope id whose dims are one-dimensional only.
static bool is_line(tvms_sym scope) {
  return scope == TVMS_SYM_warp_id || scope == TVMS_SYM_warp_id_in_wg
         || scope == TVMS_SYM_warpgroup_id;
}

static tvms_eval_value emit_scope(tvms_reader *reader, const tvms_call_args *call,
                                  tvms_sym scope, tvms_eval_value extents) {
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, call->ref);
  tvms_scope_id *stmt = tvms_node_make(unit, SCOPE_ID, span);
  tvms_eval_value preferred = tvms_args_get(reader, call, TVMS_SYM_preferred);
  tvms_dtype dtype;
  stmt->scope = scope;
  bool listed = tvms_eval_value_is_sequence(extents) && extents.len;
  if (tvms_eval_value_is_known(extents) && extents.kind != TVMS_EVAL_NONE && !listed) {
    tvms_eval_report_wrong_type(reader, call->ref, "the extents",
                                "a list of at least one", extents);
    return tvms_reader_failed(reader);
  }
  if (!scope_dtype(reader, call, &dtype)
      || !optional_exprs(reader, extents, call->ref, &stmt->extents)
      || !optional_exprs(reader, preferred, call->ref, &stmt->preferred)) {
    return tvms_reader_failed(reader);
  }
  if (preferred.kind != TVMS_EVAL_NONE
      && (scope != TVMS_SYM_cta_id_in_cluster || extents.kind == TVMS_EVAL_NONE)) {
    tvms_reader_report(reader, preferred_misplaced, call->ref);
    return tvms_reader_failed(reader);
  }
  uint32_t count = stmt->extents.len ? stmt->extents.len : 1;
  if (count != 1 && is_line(scope)) {
    tvms_reader_report(reader, scope_rank, call->ref,
                       tvms_symbol_text(reader->context, scope));
    return tvms_reader_failed(reader);
  }
  if (scope == TVMS_SYM_cta_id_in_pair) {
    tvms_node *two = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 2, TVMS_NO_SPAN);
    stmt->extents = tvms_list_copy(unit, &two, 1);
  }
  tvms_eval_value *vars = tvms_arena_array(&reader->values, tvms_eval_value, count);
  stmt->vars = (tvms_list){tvms_arena_array(&unit->arena, tvms_node *, count), count};
  for (uint32_t i = 0; i < count; i++) {
    stmt->vars.items[i] = tvms_var_new(unit, 0, dtype, span);
    vars[i] = tvms_eval_value_node(stmt->vars.items[i]);
  }
  tvms_frame_emit(reader, &stmt->head);
  return count == 1 ? vars[0] : tvms_eval_value_items(TVMS_EVAL_LIST, vars, count);
}

tvms_eval_value tvms_call_scope_ids(tvms_reader *reader, const tvms_call_args *call) {
  if (!tvms_tir_inside_function(reader, call)) return TVMS_UNKNOWN;
  tvms_eval_value extents = tvms_args_get(reader, call, TVMS_SYM_extents);
  return emit_scope(reader, call, call->row->name, extents);
}

static const struct {
  const char *parent, *current;
  tvms_sym name;
} scopes[] = {
    {"kernel", "cluster", TVMS_SYM_cluster_id},
    {"kernel", "cta", TVMS_SYM_cta_id},
    {"cluster", "cta", TVMS_SYM_cta_id_in_cluster},
    {"cta", "warpgroup", TVMS_SYM_warpgroup_id},
    {"cta", "warp", TVMS_SYM_warp_id},
    {"warpgroup", "warp", TVMS_SYM_warp_id_in_wg},
    {"warp", "thread", TVMS_SYM_lane_id},
    {"cta", "thread", TVMS_SYM_thread_id},
    {"warpgroup", "thread", TVMS_SYM_thread_id_in_wg},
};

static bool is_word(tvms_eval_value value, const char *word) {
  return value.kind == TVMS_EVAL_STR && value.len == strlen(word)
         && memcmp(value.as.text, word, value.len) == 0;
}

tvms_eval_value tvms_call_scope_id(tvms_reader *reader, const tvms_call_args *call) {
  if (!tvms_tir_inside_function(reader, call)) return TVMS_UNKNOWN;
  for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
    if (is_word(call->args[1], scopes[i].parent)
        && is_word(call->args[2], scopes[i].current)) {
      return emit_scope(reader, call, scopes[i].name, call->args[0]);
    }
  }
  tvms_reader_report(reader, unknown_scope, call->ref);
  return tvms_reader_failed(reader);
}
