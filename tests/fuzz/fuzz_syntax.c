// The syntax check of Python over any text: never a crash, mistakes in order of place and inside the text,
// at most one for each statement.
#include "fuzz.h"
#include "grammar/syntax.h"
#include "support/trial.h"

void fuzz_one(fuzz_input *input) {
  tvms_context *context = &input->context;
  tvms_source *source =
      tvms_source_create(&context->memory, "fuzz", input->text, input->size);
  context->diags.source = source;
  tvms_syntax_faults faults = {0};
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  tvms_syntax_check(context, source, NULL, 0, &faults);
  for (uint32_t i = 0; i < faults.len; i++) {
    const tvms_syntax_fault *fault = &faults.items[i];
    FUZZ_CHECK(fault->statement.begin <= fault->statement.end);
    FUZZ_CHECK(fault->statement.end <= source->size + 1);
    FUZZ_CHECK(fault->diag->span.begin <= fault->diag->span.end);
    FUZZ_CHECK(fault->diag->span.begin >= fault->statement.begin);
    FUZZ_CHECK(!i || faults.items[i - 1].statement.begin <= fault->statement.begin);
  }
  tvms_trial_drop(&trial);
  tvms_vec_fini(&context->memory, &faults);
}
