// Functions of the module as bodies see them: what they are before they are read, and
// calls of them in a PrimFunc.
#include "parser/tir/member.h"

#include "ir/build.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/tir/call.h"
#include "parser/tir/tir.h"

const tvms_def *tvms_definition_find(const tvms_reader *reader,
                                     const tvms_member *member) {
  uint32_t wanted = (uint32_t)(member - reader->module->members);
  uint32_t low = 0, high = reader->defs.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (reader->defs.items[middle].member < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  const tvms_def *def = &reader->defs.items[low];
  return low < reader->defs.len && def->member == wanted ? def : NULL;
}

tvms_dtype tvms_definition_declared_return(tvms_reader *reader,
                                           const tvms_member *member) {
  const tvms_def *def = tvms_definition_find(reader, member);
  tvms_ref returns = def ? tvms_surface_define(reader->surface, def->ref).returns : 0;
  if (!returns) return (tvms_dtype){0};
  tvms_eval_value value = tvms_eval(reader, returns);
  tvms_dtype dtype;
  if (value.kind == TVMS_EVAL_NONE
      || !tvms_eval_to_named_dtype(reader, value, returns, &dtype)) {
    return (tvms_dtype){0};
  }
  return dtype;
}

// A call of another PrimFunc: its type is the declared return type, void without one.
static tvms_eval_value call_global(tvms_reader *reader, tvms_node *global_var,
                                   tvms_eval_value args, tvms_ref call) {
  tvms_list list;
  if (!tvms_tir_to_arguments(reader, args, call, &list)) return TVMS_UNKNOWN;
  tvms_dtype dtype = {0};
  const tvms_member *member =
      tvms_module_find(reader->module, tvms_as_global_var(global_var)->name);
  if (member) dtype = tvms_definition_declared_return(reader, member);
  return tvms_eval_value_node(tvms_call_new(reader->unit, dtype, global_var, list.items,
                                            list.len,
                                            tvms_reader_span_of(reader, call)));
}

tvms_eval_value tvms_tir_call_global(tvms_reader *reader, tvms_node *global_var,
                                     tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (!tvms_signature_bind_method(reader, "*args", "a function of the module", call,
                                  args)) {
    return tvms_reader_failed(reader);
  }
  return call_global(reader, global_var, args[0], call);
}

tvms_eval_value tvms_tir_call_tir(tvms_reader *reader, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (!tvms_signature_bind_method(reader, "global_var, *args", "call_tir", call,
                                  args)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *global_var = tvms_eval_value_node_of(args[0], TVMS_NODE_GLOBAL_VAR);
  if (global_var) return call_global(reader, global_var, args[1], call);
  tvms_eval_report_wrong_type(reader, call, "the callee", "a function of the module",
                              args[0]);
  return TVMS_UNKNOWN;
}
