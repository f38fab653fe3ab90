// Operators by their spelling below T: `T.ptx.cp_async`, `T.ptx["ld.global.b32"]`, and the
// namespaces on the way to them.
//
// Names that ir/calls.def does not list are spellings of an operator, of a wrapper or of
// an instruction of PTX. The value is the text so far; what it calls is found when it is
// called.
#include "parser/device/spelled.h"

#include "ir/build.h"
#include "ir/tir_op.h"
#include "parser/device/ptx.h"
#include "parser/device/wrapper.h"
#include "parser/eval/call.h"
#include "parser/eval/convert.h"
#include "parser/tir/call.h"
#include "parser/tir/tir.h"

#include <string.h>

static bool is_spelled(const tvms_reader *reader, const char *text, size_t len) {
  if (tvms_wrapper_find(reader, text, len)) return true;
  // Tile primitives are spelled under T.tile, T.cta and their like only.
  tvms_tir_opcode op = tvms_tir_op_spelled(text, len, reader->dialect, TVMS_TIR_NONE);
  return op != TVMS_TIR_NONE && strncmp(tvms_tir_op_row_of(op)->name, "tile.", 5) != 0;
}

// Does any operator have a spelling that begins with `text.`?
static bool is_prefix(const tvms_reader *reader, const char *text, size_t len) {
  if (tvms_wrapper_is_prefix(reader, text, len)) return true;
  for (uint32_t op = TVMS_TIR_NONE + 1; op < TVMS_TIR_COUNT; op++) {
    const char *spelling = tvms_tir_op_spelling((tvms_tir_opcode)op, reader->dialect);
    if (spelling && strncmp(spelling, text, len) == 0 && spelling[len] == '.')
      return true;
  }
  return false;
}

static bool is_text(const char *text, size_t len, const char *other) {
  return strlen(other) == len && memcmp(text, other, len) == 0;
}

// An instruction of PTX or a helper of its operands.
static bool is_ptx(const tvms_reader *reader, const char *text, size_t len) {
  return tvms_ptx_is_operator_family(reader, text, len)
         || (tvms_release_has(reader->dialect, TVMS_FACT_ptx_has_forms)
             && is_text(text, len, "ptx.pred"));
}

static tvms_eval_value call_ptx(tvms_reader *reader, tvms_eval_value callee,
                                tvms_ref call) {
  const char *text = callee.as.text;
  if (is_text(text, callee.len, "ptx.pred")) return tvms_ptx_call_pred(reader, call);
  if (is_text(text, callee.len, "ptx.addr")) return tvms_ptx_call_addr(reader, call);
  return tvms_ptx_call(reader, text, callee.len, call);
}

tvms_eval_value tvms_spelled_operator(tvms_reader *reader, const char *text,
                                      size_t len) {
  if (tvms_release_has(reader->dialect, TVMS_FACT_ptx_has_forms)
      && is_text(text, len, "ptx.SINK")) {
    return (tvms_eval_value){.kind = TVMS_EVAL_PTX};
  }
  if (!is_ptx(reader, text, len) && !is_spelled(reader, text, len)
      && !is_prefix(reader, text, len)) {
    return TVMS_UNKNOWN;
  }
  tvms_eval_value value =
      tvms_eval_value_text(tvms_arena_text(&reader->values, text, len), (uint32_t)len);
  value.kind = TVMS_EVAL_OPERATOR;
  return value;
}

tvms_eval_value tvms_spelled_attribute(tvms_reader *reader, tvms_eval_value object,
                                       tvms_sym name, tvms_ref ref) {
  const tvms_name *text = tvms_interner_name(&reader->context->names, name);
  size_t len = object.len + 1 + text->len;
  char *path = tvms_arena_alloc(&reader->values, len + 1);
  memcpy(path, object.as.text, object.len);
  path[object.len] = '.';
  memcpy(path + object.len + 1, text->text, text->len + 1);
  tvms_eval_value value = tvms_spelled_operator(reader, path, len);
  if (tvms_eval_value_is_known(value)) return value;
  tvms_reader_report(reader, unknown_callable, ref, "T", path,
                     tvms_dialect_text(reader->dialect));
  return tvms_reader_failed(reader);
}

tvms_eval_value tvms_spelled_subscript(tvms_reader *reader, tvms_eval_value object,
                                       tvms_eval_value index, tvms_ref ref) {
  if (object.kind != TVMS_EVAL_OPERATOR || index.kind != TVMS_EVAL_STR) {
    tvms_reader_report(reader, no_subscript, ref, tvms_eval_describe(reader, object));
    return tvms_reader_failed(reader);
  }
  tvms_sym name = tvms_symbol_intern(reader->context, index.as.text, index.len);
  return tvms_spelled_attribute(reader, object, name, ref);
}

tvms_eval_value tvms_spelled_call(tvms_reader *reader, tvms_eval_value callee,
                                  tvms_ref call) {
  bool addr = tvms_release_has(reader->dialect, TVMS_FACT_ptx_has_forms)
              && is_text(callee.as.text, callee.len, "ptx.addr");
  if (addr || is_ptx(reader, callee.as.text, callee.len)) {
    return call_ptx(reader, callee, call);
  }
  const tvms_wrapper *wrapper = tvms_wrapper_find(reader, callee.as.text, callee.len);
  if (wrapper) return tvms_wrapper_call(reader, wrapper, call);
  tvms_tir_opcode opcode =
      tvms_tir_op_spelled(callee.as.text, callee.len, reader->dialect, TVMS_TIR_NONE);
  if (!opcode) {
    tvms_reader_report(reader, cannot_call, call, callee.as.text);
    return tvms_reader_failed(reader);
  }
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (!tvms_signature_bind_method(reader, "*args, **kwargs", callee.as.text, call,
                                  args)) {
    return tvms_reader_failed(reader);
  }
  const tvms_tir_row *row = tvms_tir_op_row_of(opcode);
  tvms_eval_value rest = args[0];
  // How TVM up to 0.26 prints the largest numbers, and does not read them.
  bool large = opcode == TVMS_TIR_large_uint_imm;
  tvms_call_result type =
      large ? tvms_call_result_scalar(TVMS_UINT, 64) : TVMS_RESULT_VOID;
  if (row->location == TVMS_LOCATION_FIRST && rest.len) {
    if (!tvms_tir_to_result(reader, rest.as.items[0], call, &type))
      return tvms_reader_failed(reader);
    rest = tvms_eval_value_items(TVMS_EVAL_TUPLE, rest.as.items + 1, rest.len - 1);
  }
  tvms_list list;
  if (!tvms_tir_to_arguments(reader, rest, call, &list))
    return tvms_reader_failed(reader);
  return tvms_tir_call_new(reader, type, opcode, list.items, list.len, call);
}
