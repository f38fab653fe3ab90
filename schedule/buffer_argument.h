// Buffers that an argument of a step names: ("read", n), ("write", n), or a name; and numbers for which a name may stand.
#ifndef TVMS_SCHEDULE_BUFFER_ARGUMENT_H
#define TVMS_SCHEDULE_BUFFER_ARGUMENT_H

#include "schedule/schedule.h"

// The buffer of a block that argument `index` names, and whether it is meant as one that is written. The argument becomes
// ("read", n) or ("write", n), as traces have it. NULL after a refusal.
tvms_node *TVMS_NULLABLE tvms_step_buffer(tvms_step *step, uint32_t index,
                                          int32_t block, bool *write);

// The same where the argument is a number of the reads, or of the writes, or a name of one of these; it becomes a number.
tvms_node *TVMS_NULLABLE tvms_step_numbered_buffer(tvms_step *step, uint32_t index,
                                                   int32_t block, bool write);

#endif
