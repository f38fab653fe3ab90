// Targets as JSON, with the keys that they have in a program: {"kind": "llvm", "mcpu": "znver4"}.
#ifndef TVMS_IR_TARGET_JSON_H
#define TVMS_IR_TARGET_JSON_H

#include "ir/target.h"

// The config that the release of the unit completes for the object in the text. NULL, and a sentence in `why`, if it is no such
// object, or says something that targets of its kind do not have.
tvms_node *TVMS_NULLABLE tvms_target_json_read(tvms_unit *unit, const char *text,
                                               tvms_strbuf *why);

// Appends a target for LLVM as such an object, with what code is made from: triple, processor, features, cores and vectors.
void tvms_target_json_write(const tvms_target *target, tvms_strbuf *out);

#endif
