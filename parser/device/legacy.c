// Calls that kept the arguments of 0.22: T.ptx.mma.legacy, T.ptx.ldmatrix_legacy,
// T.ptx.cp_async.legacy, and the names under which 0.27 has them. What stands before their
// arguments, or is passed as dtype=, is the data type of an element.
#include "parser/device/legacy.h"

#include "ir/fold.h"
#include "parser/eval/convert.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"
#include "parser/tir/intrinsic.h"

#include <string.h>

// A call on its way to the operator.
typedef struct {
  tvms_reader *reader;
  tvms_ref call;
  tvms_eval_value args[16];
  uint32_t count;
  tvms_eval_value dtype;  // of an element; NONE: not given
} work;

// The text of a shape, or none at all, is not a data type.
static bool is_dtype(tvms_eval_value value) {
  tvms_dtype dtype;
  return value.kind != TVMS_EVAL_STR
         || tvms_dtype_parse(value.as.text, value.len, &dtype);
}

// The arguments without the type before them, of which there are `wanted` or one more.
static bool take(work *w, const tvms_eval_value args[3], uint32_t wanted, bool more) {
  tvms_eval_value all = args[0];
  bool typed = all.len > wanted && is_dtype(all.as.items[0]);
  uint32_t first = args[2].kind == TVMS_EVAL_NONE && typed;
  w->dtype = first ? all.as.items[0] : args[2];
  w->count = all.len - first;
  if (w->count < wanted || w->count > wanted + more) {
    tvms_reader_report(w->reader, ptx_form, w->call, "ptx", all.len);
    return false;
  }
  memcpy(w->args, all.as.items + first, w->count * sizeof *w->args);
  return true;
}

static tvms_eval_value build(work *w, tvms_tir_opcode op, tvms_dtype dtype) {
  tvms_eval_value *items = tvms_eval_keep_items(w->reader, w->args, w->count);
  tvms_list list;
  if (!tvms_tir_to_arguments(w->reader,
                             tvms_eval_value_items(TVMS_EVAL_TUPLE, items, w->count),
                             w->call, &list)) {
    return tvms_reader_failed(w->reader);
  }
  return tvms_eval_value_node(
      tvms_call_new_of(w->reader->unit, dtype, op, list.items, list.len,
                       tvms_reader_span_of(w->reader, w->call)));
}

static tvms_eval_value element(const work *w) {
  return w->dtype.kind == TVMS_EVAL_NONE ? tvms_eval_value_text("int8", 4) : w->dtype;
}

// A pointer and an offset of elements, as one pointer; one that is an access already gets
// a further offset from 0.26 on.
static tvms_eval_value access(work *w, tvms_eval_value pointer,
                              tvms_eval_value offset) {
  tvms_reader *reader = w->reader;
  tvms_node *node = pointer.kind == TVMS_EVAL_NODE ? pointer.as.node : NULL;
  tvms_eval_value values[] = {element(w), pointer, offset, tvms_eval_value_int(1),
                              tvms_eval_value_int(1)};
  tvms_ref refs[] = {w->call, w->call, w->call, w->call, w->call};
  if (node && tvms_call_opcode(node) == TVMS_TIR_tvm_access_ptr
      && tvms_release_has(reader->dialect, TVMS_FACT_access_pointers_nest)) {
    tvms_list inner = tvms_as_call(node)->args;
    tvms_node *more = tvms_eval_to_expr(reader, offset, w->call);
    if (!more) return TVMS_UNKNOWN;
    tvms_span span = tvms_reader_span_of(reader, w->call);
    values[0] = tvms_eval_value_node(inner.items[0]);
    values[1] = tvms_eval_value_node(inner.items[1]);
    values[2] = tvms_eval_value_node(
        tvms_build_binary(reader->unit, TVMS_NODE_ADD, inner.items[2], more, span));
    values[4] = tvms_eval_value_node(inner.items[4]);
  }
  return tvms_tir_access_ptr(reader, values, refs, w->call);
}

static tvms_eval_value call_copy(work *w, tvms_tir_opcode op) {
  tvms_reader *reader = w->reader;
  tvms_eval_value to = access(w, w->args[0], w->args[1]);
  tvms_eval_value from = access(w, w->args[2], w->args[3]);
  tvms_eval_value size = w->args[4];
  tvms_dtype dtype = {0};
  if (op == TVMS_TIR_s_tir__cp_async_raw) {
    tvms_eval_value args[] = {to, tvms_eval_value_int(0), from, tvms_eval_value_int(0),
                              size};
    memcpy(w->args, args, sizeof args);
    if (!tvms_eval_to_dtype(reader, element(w), w->call, &dtype))
      return tvms_reader_failed(reader);
  } else {
    tvms_eval_value policy = tvms_eval_value_node(
        tvms_int_imm_new(reader->unit, TVMS_DTYPE(UINT, 64), 0, TVMS_NO_SPAN));
    tvms_eval_value args[] = {to,
                              from,
                              size,
                              policy,
                              tvms_eval_value_int(0),
                              tvms_eval_value_int(-1),
                              tvms_eval_value_int(-1),
                              tvms_eval_value_text("", 0)};
    memcpy(w->args, args, sizeof args);
    w->count = 8;
  }
  return build(w, op, dtype);
}

static tvms_eval_value call_mma(work *w, tvms_tir_opcode op,
                                tvms_eval_value operation) {
  if (w->count == 13 && operation.kind != TVMS_EVAL_NONE) {
    w->args[w->count++] = operation;
  }
  return build(w, op, (tvms_dtype){0});
}

static tvms_eval_value call_load(work *w, tvms_tir_opcode op) {
  tvms_dtype dtype;
  if (!tvms_eval_to_dtype(w->reader, element(w), w->call, &dtype))
    return tvms_reader_failed(w->reader);
  return build(w, op, dtype);
}

tvms_eval_value tvms_legacy_call(tvms_reader *reader, tvms_tir_opcode op,
                                 const tvms_eval_value args[3], tvms_ref call) {
  work w = {.reader = reader, .call = call};
  bool copies = op == TVMS_TIR_ptx__cp_async || op == TVMS_TIR_s_tir__cp_async_raw;
  bool loads =
      op == TVMS_TIR_ptx__ldmatrix_legacy || op == TVMS_TIR_ptx_legacy__ldmatrix;
  if (!take(&w, args, copies ? 5 : loads ? 7 : 13, !copies && !loads)) {
    return tvms_reader_failed(reader);
  }
  if (copies) return call_copy(&w, op);
  return loads ? call_load(&w, op) : call_mma(&w, op, args[1]);
}
