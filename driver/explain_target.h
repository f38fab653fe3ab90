// What is known of a target.
#ifndef TVMS_DRIVER_EXPLAIN_TARGET_H
#define TVMS_DRIVER_EXPLAIN_TARGET_H

#include "backend/backend.h"

// Appends what is known of the target in `text`, as the newest release has it. It is found by
// tvms_build_find_target, as for `tvms build`: false and a sentence in `why` if that refuses
// it. A kind of TVM that native code cannot be made for, such as cuda, is known all the same,
// and a last line has the sentence. Without a back end names of processors are not checked.
TVMS_NODISCARD bool tvms_explain_target(tvms_context *context,
                                        const tvms_backend *TVMS_NULLABLE backend,
                                        const char *text, tvms_strbuf *out,
                                        tvms_strbuf *why);

#endif
