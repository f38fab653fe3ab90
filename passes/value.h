// Values of options of passes, read from the text of a pipeline.
#ifndef TVMS_PASSES_VALUE_H
#define TVMS_PASSES_VALUE_H

#include "passes/manager.h"

// Reads `text` as a value of this option. Booleans are true, false, 1 or 0, and as Python writes
// them; texts may stand in quotes; of a choice *value gets the word as the table has it. What *value
// points to lives in the arena or, since passes put texts into nodes, as long as the context.
// False, without a report, if the option takes no such value.
TVMS_NODISCARD bool tvms_pass_value_read(tvms_context *context, tvms_arena *arena,
                                         const tvms_pass_option *option,
                                         const char *text, size_t len,
                                         tvms_pass_value *value);

#endif
