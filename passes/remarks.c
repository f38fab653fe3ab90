// Remarks as findings, numbers as a short list.
#include "passes/remarks.h"

#include <string.h>

// Does a pass bind, fold or lay out weights?
static bool prepares_weights(const tvms_pass *pass) {
  static const char *const names[] = {"BindParams", "FoldConstant", "ScheduleCPU",
                                      "WidenSums"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (!strcmp(pass->name, names[i])) return true;
  }
  return false;
}

bool tvms_pass_wants_remarks(const tvms_pass_run *run) {
  const tvms_pass_log *log = run->hooks ? run->hooks->log : NULL;
  return log && log->remarks && (!log->only || log->only == run->pass)
         && (!log->of_weights || prepares_weights(run->pass));
}

static void report(const tvms_pass_run *run, tvms_remark_kind kind, tvms_diag_id id,
                   tvms_span span, va_list arguments) {
  static const char *const kinds[] = {
      [TVMS_REMARK_PASSED] = "passed",
      [TVMS_REMARK_MISSED] = "missed",
      [TVMS_REMARK_ANALYSIS] = "analysis",
  };
  tvms_diag *diag = tvms_diag_vreport(&run->context->diags, id, span, arguments);
  diag->origin = run->pass->name;
  diag->kind = kinds[kind];
}

void tvms_pass_remark(const tvms_pass_run *run, tvms_remark_kind kind, tvms_diag_id id,
                      tvms_span span, ...) {
  if (!tvms_pass_wants_remarks(run)) return;
  va_list arguments;
  va_start(arguments, span);
  report(run, kind, id, span, arguments);
  va_end(arguments);
}

void tvms_pass_tell(const tvms_pass_run *run, tvms_remark_kind kind, tvms_diag_id id,
                    tvms_span span, ...) {
  va_list arguments;
  va_start(arguments, span);
  report(run, kind, id, span, arguments);
  va_end(arguments);
}

void tvms_pass_count(const tvms_pass_run *run, const char *name, int64_t value) {
  tvms_pass_log *log = run->hooks ? run->hooks->log : NULL;
  if (!log) return;
  for (uint32_t i = 0; i < log->numbers.len; i++) {
    tvms_pass_number *number = &log->numbers.items[i];
    if (number->pass != run->pass->name || strcmp(number->name, name) != 0) continue;
    number->value += value;
    return;
  }
  tvms_pass_number number = {run->pass->name, name, value};
  tvms_vec_push(log->memory, &log->numbers, number);
}
