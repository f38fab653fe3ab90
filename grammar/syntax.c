// The syntax check from outside; see syntax.h.
#include "grammar/syntax.h"

#include "grammar/syntax_block.h"
#include "grammar/syntax_fault.h"
#include "grammar/syntax_reader.h"

void tvms_syntax_check(tvms_context *context, tvms_source *source,
                       const tvms_span *skipped, uint32_t count,
                       tvms_syntax_faults *faults) {
  tvms_syntax s = {.context = context,
                   .source = source,
                   .faults = faults,
                   .skipped = skipped,
                   .skipped_count = count};
  tvms_syntax_open(&s, 0, false);
  tvms_syntax_statements(&s, false);
  tvms_syntax_end_fault(&s, source->size);
  tvms_syntax_close(&s);
}
