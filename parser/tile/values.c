// What can be done with layouts, finished or being written, with axes, and with buffers as
// what views are made of.

#include "parser/tir/values.h"

#include "parser/eval/attribute.h"
#include "parser/eval/ops.h"
#include "parser/tile/layout.h"
#include "parser/tile/layout_attribute.h"
#include "parser/tile/layout_method.h"
#include "parser/tile/subview.h"
#include "parser/tir/access.h"
#include "parser/tir/operator.h"

// Beside a node only what concerns layouts is theirs.
static tvms_eval_value layout_binary(tvms_reader *reader, tvms_surf_op op,
                                     tvms_eval_value a, tvms_eval_value b,
                                     tvms_ref ref) {
  bool node = a.kind == TVMS_EVAL_NODE || b.kind == TVMS_EVAL_NODE;
  bool layout = a.kind == TVMS_EVAL_LAYOUT || b.kind == TVMS_EVAL_LAYOUT
                || b.kind == TVMS_EVAL_AXIS;
  bool pythons = op == TVMS_OP_IS || op == TVMS_OP_IS_NOT || op == TVMS_OP_IN
                 || op == TVMS_OP_NOT_IN;
  return node && (pythons || !layout)
             ? tvms_tir_binary(reader, op, a, b, ref)
             : tvms_tile_layout_operator(reader, op, a, b, ref);
}

const tvms_eval_value_ops tvms_tile_spec_ops = {
    .rank = TVMS_TILE_ROOM,
    .held = true,
    .subscript = tvms_tile_layout_subscript,
    .binary = layout_binary,
    .logical = tvms_tir_logical,
};

static tvms_eval_value axis_attribute(tvms_reader *reader, tvms_eval_value axis,
                                      tvms_sym name, tvms_ref ref) {
  const tvms_name *text = tvms_interner_name(&reader->context->names, axis.as.sym);
  switch (name) {
  case TVMS_SYM_name: return tvms_eval_value_text(text->text, text->len);
  case TVMS_SYM_is_thread:
  case TVMS_SYM_is_memory:
  case TVMS_SYM_get_scope:
  case TVMS_SYM_get_subscope: return tvms_eval_bound_method(reader, axis, name);
  default: return tvms_eval_report_no_attribute(reader, axis, name, ref);
  }
}

// Axis.laneid.is_thread().
static tvms_eval_value axis_method(tvms_reader *reader, tvms_eval_value axis,
                                   tvms_sym name, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  bool asks = name == TVMS_SYM_is_thread || name == TVMS_SYM_is_memory;
  if (!tvms_signature_bind_method(reader, "", tvms_symbol_text(reader->context, name),
                                  call, args)) {
    return tvms_reader_failed(reader);
  }
  if (!asks) {
    tvms_reader_report(reader, unsupported, call, "a scope of threads as a value");
    return tvms_reader_failed(reader);
  }
  if (!tvms_layout_axis_known(axis.as.sym)) {
    tvms_reader_report(reader, bad_layout, call,
                       "nothing is known about one of its axes");
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_bool(tvms_layout_axis_is_thread(axis.as.sym)
                              == (name == TVMS_SYM_is_thread));
}

const tvms_eval_value_ops tvms_tile_axis_ops = {
    .rank = TVMS_TILE_ROOM,
    .attribute = axis_attribute,
    .method = axis_method,
    .binary = layout_binary,
    .logical = tvms_tir_logical,
};

const tvms_eval_value_ops tvms_tile_indexer_ops = {.subscript = tvms_view_indexed};

// ---- Nodes ----------------------------------------------------------------------------------

// Buffers have methods of TIR, and those that make views.
static tvms_eval_value buffer_attribute(tvms_reader *reader, tvms_eval_value buffer,
                                        tvms_sym name, tvms_ref ref) {
  return tvms_view_has_method(reader, name)
             ? tvms_eval_bound_method(reader, buffer, name)
             : tvms_tir_attribute(reader, buffer, name, ref);
}

static tvms_eval_value buffer_method(tvms_reader *reader, tvms_eval_value buffer,
                                     tvms_sym name, tvms_ref call) {
  return tvms_view_has_method(reader, name)
             ? tvms_view_method(reader, buffer.as.node, name, call)
             : tvms_tir_method(reader, buffer, name, call);
}

const tvms_eval_value_ops tvms_tile_buffer_ops = {
    TVMS_NODE_OPERATIONS,
    .attribute = buffer_attribute,
    .method = buffer_method,
    .subscript = tvms_tir_subscript,
    .subscript_method = tvms_view_subscript,
};

static tvms_eval_value layout_attribute(tvms_reader *reader, tvms_eval_value layout,
                                        tvms_sym name, tvms_ref ref) {
  tvms_node *node = layout.as.node;
  tvms_eval_value part;
  if (tvms_tile_layout_has_method(node, name))
    return tvms_eval_bound_method(reader, layout, name);
  return tvms_tile_layout_attribute(reader, node, name, &part)
             ? part
             : tvms_eval_report_no_attribute(reader, layout, name, ref);
}

static tvms_eval_value layout_method(tvms_reader *reader, tvms_eval_value layout,
                                     tvms_sym name, tvms_ref call) {
  return tvms_tile_layout_method(reader, layout.as.node, name, call);
}

const tvms_eval_value_ops tvms_tile_layout_ops = {
    TVMS_NODE_OPERATIONS,
    .attribute = layout_attribute,
    .method = layout_method,
    .subscript = tvms_tir_subscript,
};

static tvms_eval_value iter_attribute(tvms_reader *reader, tvms_eval_value iter,
                                      tvms_sym name, tvms_ref ref) {
  tvms_eval_value part;
  return tvms_tile_layout_attribute(reader, iter.as.node, name, &part)
             ? part
             : tvms_tir_attribute(reader, iter, name, ref);
}

const tvms_eval_value_ops tvms_tile_iter_ops = {
    TVMS_NODE_OPERATIONS,
    .attribute = iter_attribute,
    .method = tvms_tir_method,
    .subscript = tvms_tir_subscript,
};
