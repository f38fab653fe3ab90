// Tile programs of 0.25 on: views of buffers and tile primitives.
#include "arith/analyzer.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/eval/operator.h"
#include "parser/tile/handlers.h"
#include "parser/tir/access.h"
#include "parser/tir/convert.h"
#include "parser/tir/frame.h"
#include "parser/tir/object.h"
#include "support/diag_ids.h"

#include <string.h>

// ---- Tile primitives ------------------------------------------------------------------------

// What the arguments of a primitive are, a letter each:
//   r  a buffer or region            s  the same; by default the first argument
//   v  a region or a value           o  the same, or None     O  the same; a buffer stays one
//   S  a region or None, dropped if None       a  axes       n  the name of a primitive
//   x  a value                       f  a lambda             b  anything plain
static const char *kinds_of(tvms_sym name) {
  switch (name) {
  case TVMS_SYM_zero:
  case TVMS_SYM_reciprocal: return "rs";
  case TVMS_SYM_sqrt:
  case TVMS_SYM_exp:
  case TVMS_SYM_exp2:
  case TVMS_SYM_log2: return "rsoO";
  case TVMS_SYM_add:
  case TVMS_SYM_sub:
  case TVMS_SYM_mul:
  case TVMS_SYM_maximum:
  case TVMS_SYM_minimum: return "rvv";
  case TVMS_SYM_fdiv: return "rrv";
  case TVMS_SYM_fma: return "rrvv";
  case TVMS_SYM_gemm_async: return "rrrSSbbb";
  case TVMS_SYM_gemm: return "rrrrbbxx";
  case TVMS_SYM_fill:
  case TVMS_SYM_memset: return "rx";
  case TVMS_SYM_sum:
  case TVMS_SYM_max:
  case TVMS_SYM_min: return "rrab";
  case TVMS_SYM_binary_reduce: return "rrvvnna";
  case TVMS_SYM_unary_reduce: return "rrrnnoOa";
  case TVMS_SYM_binary_chain: return "rrvvnnb";
  case TVMS_SYM_reduce_negate: return "rrnab";
  case TVMS_SYM_select: return "rvvf";
  // silu, cast, copy, copy_async, permute_layout: TVM wants the second region, and leaves it
  // out of its text if it is the first one.
  default: return "rs";
  }
}

static bool is_tile_operand(tvms_eval_value value) {
  return tvms_eval_value_node_of(value, TVMS_NODE_BUFFER)
         || tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_REGION);
}

static tvms_node *region_operand(tvms_reader *reader, const tvms_call_args *call,
                                 uint32_t i) {
  tvms_eval_value value = call->args[i];
  tvms_node *buffer = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER);
  if (buffer) return tvms_tir_whole_region(reader, buffer, call->refs[i]);
  tvms_node *region = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_REGION);
  if (region) return region;
  // TVM prints a region of one element as that element.
  bool element = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_LOAD)
                 && !(value.flags & TVMS_TIR_VALUE_SCALAR);
  if (element) return tvms_tir_to_region(reader, value, "the operand", call->refs[i]);
  const tvms_signature *signature = tvms_row_signature(reader, call->row);
  tvms_eval_report_wrong_type(
      reader, call->refs[i],
      tvms_symbol_text(reader->context, signature->params[i].name),
      "a buffer or a region of one", value);
  return NULL;
}

static tvms_node *axes_operand(tvms_reader *reader, tvms_eval_value value,
                               tvms_ref ref) {
  if (!tvms_eval_value_is_sequence(value)) {
    value = tvms_eval_value_items(TVMS_EVAL_TUPLE,
                                  tvms_eval_keep_items(reader, &value, 1), 1);
  }
  return tvms_eval_to_object(reader, value, ref);
}

// I.Op("tirx.tile.exp").
tvms_eval_value tvms_call_Op(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value name = call->args[0];
  if (name.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call->refs[0], NULL, "the name of an operator",
                                name);
    return tvms_reader_failed(reader);
  }
  tvms_operator *op =
      tvms_node_make(reader->unit, OPERATOR, tvms_reader_span_of(reader, call->ref));
  op->name = tvms_symbol_intern(reader->context, name.as.text, name.len);
  return tvms_eval_value_node(&op->head);
}

// A primitive named in another one: "exp" is tirx.tile.exp.
static tvms_node *name_operand(tvms_reader *reader, tvms_eval_value value,
                               tvms_ref ref) {
  tvms_node *known = tvms_eval_value_node_of(value, TVMS_NODE_OPERATOR);
  if (known) return known;
  if (value.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, ref, NULL, "the name of a tile primitive",
                                value);
    return NULL;
  }
  static const char prefix[] = "tirx.tile.";
  char *full = tvms_arena_alloc(&reader->values, value.len + sizeof prefix);
  memcpy(full, prefix, sizeof prefix - 1);
  memcpy(full + sizeof prefix - 1, value.as.text, value.len);
  tvms_operator *op =
      tvms_node_make(reader->unit, OPERATOR, tvms_reader_span_of(reader, ref));
  op->name = tvms_symbol_intern(reader->context, full, value.len + sizeof prefix - 1);
  return &op->head;
}

// False after a report; *node is NULL for None.
static bool read_operand(tvms_reader *reader, const tvms_call_args *call, uint32_t i,
                         char kind, tvms_node **node) {
  tvms_eval_value value = call->args[i];
  tvms_ref ref = call->refs[i];
  *node = NULL;
  bool none = value.kind == TVMS_EVAL_NONE;
  switch (kind) {
  case 'r':
  case 's':
  case 'S': *node = region_operand(reader, call, i); break;
  case 'O':
    *node = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER);
    if (*node) return true;
    // fallthrough
  case 'o':
    if (none) return true;
    *node = is_tile_operand(value) ? region_operand(reader, call, i)
                                   : tvms_eval_to_expr(reader, value, ref);
    break;
  case 'v':
    *node = is_tile_operand(value) ? region_operand(reader, call, i)
                                   : tvms_eval_to_expr(reader, value, ref);
    break;
  case 'a': *node = axes_operand(reader, value, ref); break;
  case 'n': *node = name_operand(reader, value, ref); break;
  case 'x': *node = tvms_eval_to_expr(reader, value, ref); break;
  case 'f': *node = tvms_tir_lambda_operand(reader, value, ref); break;
  default: *node = tvms_eval_to_object(reader, value, ref);
  }
  return *node != NULL;
}

static bool same_extents(tvms_reader *reader, tvms_list a, tvms_list b) {
  uint32_t i = 0, k = 0;
  for (;;) {
    while (i < a.len && tvms_node_is_int(tvms_as_range(a.items[i])->extent, 1)) {
      i++;
    }
    while (k < b.len && tvms_node_is_int(tvms_as_range(b.items[k])->extent, 1)) {
      k++;
    }
    if (i == a.len || k == b.len) return i == a.len && k == b.len;
    if (!tvms_arith_prove_equal(reader->unit, tvms_as_range(a.items[i++])->extent,
                                tvms_as_range(b.items[k++])->extent)) {
      return false;
    }
  }
}

// The bits that a region holds; with gather4 one row stands for four.
static tvms_node *payload(tvms_reader *reader, const tvms_node *region, bool gathers,
                          tvms_ref ref) {
  const tvms_buffer_region *fields = tvms_as_buffer_region(region);
  int64_t bits = tvms_as_buffer(fields->buffer)->element.bits;
  tvms_eval_value size = tvms_eval_value_int(gathers ? bits * 4 : bits);
  for (uint32_t i = 0; i < fields->region.len; i++) {
    tvms_node *extent = tvms_as_range(fields->region.items[i])->extent;
    size =
        tvms_eval_binary(reader, TVMS_OP_MUL, size, tvms_eval_value_node(extent), ref);
  }
  return tvms_eval_to_expr(reader, size, ref);
}

// Copies transfer between regions of the same shape, TMA between such of the same size.
static bool check_copy(tvms_reader *reader, const tvms_call_args *call,
                       const tvms_tile_call *stmt) {
  bool copies =
      call->row->name == TVMS_SYM_copy || call->row->name == TVMS_SYM_copy_async;
  if (!copies || !tvms_release_has(reader->dialect, TVMS_FACT_copies_are_checked))
    return true;
  const tvms_node *to = stmt->args.items[0], *from = stmt->args.items[1];
  bool explicit = tvms_bytes_is(stmt->dispatch, "tma_explicit");
  if (!explicit && !tvms_bytes_is(stmt->dispatch, "tma_auto")) {
    if (same_extents(reader, tvms_as_buffer_region(to)->region,
                     tvms_as_buffer_region(from)->region)) {
      return true;
    }
    tvms_reader_report(reader, copy_shapes, call->ref);
    return false;
  }
  bool gathers =
      explicit && stmt->config && tvms_object_map_get(stmt->config, "gather4");
  tvms_node *a = payload(reader, to, false, call->ref);
  tvms_node *b = payload(reader, from, gathers, call->ref);
  if (!a || !b || tvms_arith_prove_equal(reader->unit, a, b)) return a && b;
  tvms_reader_report(reader, copy_sizes, call->ref);
  return false;
}

// Both scale factors or none.
static bool check_scales(tvms_reader *reader, const tvms_call_args *call) {
  if (call->row->name != TVMS_SYM_gemm_async) return true;
  bool first = call->args[3].kind == TVMS_EVAL_NONE;
  bool second = call->args[4].kind == TVMS_EVAL_NONE;
  if (first == second || call->args[3].kind == TVMS_EVAL_BOOL) return true;
  tvms_eval_report_wrong_type(reader, call->refs[first ? 3 : 4], first ? "SFA" : "SFB",
                              "given with the other scale factor",
                              call->args[first ? 3 : 4]);
  return false;
}

static bool read_operands(tvms_reader *reader, const tvms_call_args *call,
                          tvms_list *list) {
  const char *kinds = kinds_of(call->row->name);
  if (!check_scales(reader, call)) return false;
  // TVM leaves scale factors that are not there out of the text altogether.
  if (call->row->name == TVMS_SYM_gemm_async && call->args[3].kind == TVMS_EVAL_BOOL) {
    kinds = "rrrbbb";
  }
  // … and writes the operator of this one last.
  bool written = call->row->name == TVMS_SYM_reduce_negate
                 && tvms_eval_value_is_sequence(call->args[2]);
  if (written) kinds = "rrabn";
  tvms_node *nodes[8];
  uint32_t count = 0;
  bool scaled =
      strlen(kinds) > 3 && kinds[3] == 'S' && call->args[3].kind != TVMS_EVAL_NONE;
  bool sound = true;
  for (uint32_t i = 0; kinds[i]; i++) {
    if (kinds[i] == 's' && call->args[i].kind == TVMS_EVAL_NONE) {
      nodes[count] = nodes[0];
    } else if (kinds[i] == 'S' && !scaled && call->args[i].kind == TVMS_EVAL_NONE) {
      continue;
    } else {
      sound = read_operand(reader, call, i, kinds[i], &nodes[count]) && sound;
    }
    count++;
  }
  if (!sound) return false;
  if (call->row->name == TVMS_SYM_reduce_negate && !written) {
    tvms_node *op = nodes[2];
    nodes[2] = nodes[3];
    nodes[3] = nodes[4];
    nodes[4] = op;
  }
  *list = tvms_list_copy(reader->unit, nodes, count);
  return true;
}

// workspace, dispatch and further keywords.
static bool read_options(tvms_reader *reader, const tvms_call_args *call,
                         tvms_tile_call *stmt) {
  if (call->row->name == TVMS_SYM_select) return true;
  tvms_eval_value dispatch = tvms_args_get(reader, call, TVMS_SYM_dispatch);
  tvms_eval_value config = tvms_args_get(reader, call, TVMS_SYM_kwargs);
  if (dispatch.kind == TVMS_EVAL_STR) {
    stmt->dispatch = tvms_bytes_copy(reader->unit, dispatch.as.text, dispatch.len);
  } else if (dispatch.kind != TVMS_EVAL_NONE) {
    tvms_eval_report_wrong_type(reader, tvms_args_ref(reader, call, TVMS_SYM_dispatch),
                                "dispatch", "a string", dispatch);
    return false;
  }
  if (config.kind == TVMS_EVAL_DICT && config.len
      && !tvms_eval_to_map(reader, config, call->ref, &stmt->config)) {
    return false;
  }
  return tvms_eval_to_map(reader, tvms_args_get(reader, call, TVMS_SYM_workspace),
                          call->ref, &stmt->workspace);
}

// The scope that a tile primitive was found in, T.warp.copy; NONE: none.
static tvms_namespace scope_of(const tvms_call_args *call) {
  return (tvms_namespace)call->spare;
}

static tvms_sym scope_name(tvms_reader *reader, tvms_namespace scope) {
  if (scope == TVMS_NS_NONE || scope == TVMS_NS_T_thread) scope = TVMS_NS_T_tile;
  if (scope == TVMS_NS_T_warpgroup) scope = TVMS_NS_T_wg;
  const char *text = tvms_namespace_text(scope) + strlen("T.");
  return tvms_symbol_intern(reader->context, text, strlen(text));
}

// An empty call of a tile primitive; NULL if it stands outside a function, which is
// reported.
static tvms_tile_call *tile_call_new(tvms_reader *reader, const tvms_call_args *call) {
  if (!tvms_tir_of(reader)) {
    tvms_reader_report(reader, outside_function, call->ref,
                       tvms_row_text(reader, call->row));
    return NULL;
  }
  tvms_tile_call *stmt =
      tvms_node_make(reader->unit, TILE_CALL, tvms_reader_span_of(reader, call->ref));
  stmt->op = call->row->name;
  stmt->scope = scope_name(reader, scope_of(call));
  return stmt;
}

// T.tile looks for `dst` first: the first argument stands in its place or has that name.
static bool has_target(tvms_reader *reader, const tvms_call_args *call) {
  if (scope_of(call) != TVMS_NS_NONE && scope_of(call) != TVMS_NS_T_tile) return true;
  const tvms_signature *signature = tvms_row_signature(reader, call->row);
  tvms_ref first = tvms_reader_at(reader, call->ref)->b;
  bool named = first && tvms_reader_at(reader, first)->kind == TVMS_SURF_KEYWORD;
  if (!named || signature->params[0].name == TVMS_SYM_dst) return true;
  tvms_eval_report_missing_argument(reader, call->ref, tvms_row_text(reader, call->row),
                                    "dst");
  return false;
}

tvms_eval_value tvms_call_tile_op(tvms_reader *reader, const tvms_call_args *call) {
  if (!has_target(reader, call)) return tvms_reader_failed(reader);
  tvms_tile_call *stmt = tile_call_new(reader, call);
  if (!stmt) return tvms_reader_failed(reader);
  if (!read_operands(reader, call, &stmt->args) || !read_options(reader, call, stmt)
      || !check_copy(reader, call, stmt)) {
    return tvms_reader_failed(reader);
  }
  tvms_frame_emit(reader, &stmt->head);
  return TVMS_NOTHING;
}

// ---- T.tile.compose_op ----------------------------------------------------------------------

// The statements of the body become its operands: calls of tile primitives only.
static void close_compose(tvms_reader *reader, tvms_frame *frame) {
  tvms_nodes *stmts = &tvms_tir_of(reader)->stmts;
  for (uint32_t i = frame->begin; i < stmts->len; i++) {
    if (stmts->items[i]->kind == TVMS_NODE_TILE_CALL) continue;
    tvms_diag_report(&reader->context->diags, TVMS_D_not_tile_op,
                     stmts->items[i]->span);
    reader->failed = true;
  }
  tvms_node *call = frame->as.collect.stmt;
  if (stmts->len > frame->begin) {
    tvms_as_tile_call(call)->args = tvms_list_copy(
        reader->unit, stmts->items + frame->begin, stmts->len - frame->begin);
  }
  stmts->len = frame->begin;
  tvms_frame_emit(reader, call);
}

tvms_eval_value tvms_call_compose_op(tvms_reader *reader, const tvms_call_args *call) {
  tvms_tile_call *stmt = tile_call_new(reader, call);
  if (!stmt) return tvms_reader_failed(reader);
  if (!read_options(reader, call, stmt)) return tvms_reader_failed(reader);
  tvms_frame *frame = tvms_frame_new(reader, TVMS_FRAME_COLLECT, call->ref);
  frame->as.collect.stmt = &stmt->head;
  frame->as.collect.close = close_compose;
  return tvms_frame_value(frame);
}
