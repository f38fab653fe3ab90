#include "interp/packed.h"

#include "interp/builtin.h"
#include "interp/foreign.h"
#include "interp/prim.h"
#include "runtime/packed.h"
#include "support/diag_ids.h"

bool tvms_interp_has_packed(const tvms_interp *interp, tvms_bytes name) {
  return tvms_interp_builtin_find(name) || tvms_packed_find(name.text, name.len)
         || tvms_interp_foreign_has(
             interp->foreign,
             tvms_arena_text(&interp->context->scratch, name.text, name.len));
}

// A function of the run time, which gets tensors and numbers and returns nothing, or of a plug-in.
static tvms_value call_runtime(tvms_interp_frame *f, tvms_bytes name,
                               const tvms_value *values, uint32_t count,
                               tvms_span span) {
  tvms_packed_function *run = tvms_packed_find(name.text, name.len);
  const char *ended = tvms_arena_text(&f->context->scratch, name.text, name.len);
  if (!run && tvms_interp_foreign_has(f->interp->foreign, ended))
    return tvms_interp_foreign_call(f, ended, values, count, span);
  if (!run) fault(f, TVMS_D_unknown_function, span, ended);
  tvms_any *args = tvms_arena_array(&f->context->scratch, tvms_any, count + 1);
  for (uint32_t i = 0; i < count; i++)
    args[i] = tvms_interp_to_any(values[i]);
  const char *wrong = run(&f->context->memory, args, (int32_t)count);
  if (wrong) fault(f, TVMS_D_packed_refused, span, ended, wrong);
  return (tvms_value){0};
}

tvms_value tvms_interp_call_packed(tvms_interp_frame *f, tvms_bytes name,
                                   const tvms_value *args, uint32_t count,
                                   tvms_span span) {
  tvms_builtin_function *run = tvms_interp_builtin_find(name);
  tvms_builtin b = {f, args, count, span};
  return run ? run(&b) : call_runtime(f, name, args, count, span);
}
