// Assignments of a Relax function.
#ifndef TVMS_PARSER_RELAX_ASSIGN_H
#define TVMS_PARSER_RELAX_ASSIGN_H

#include "parser/relax/state.h"

// `x = y` and `x: T = y`, the statement at `stmt`. What is wrong is reported, and then the
// function has failed.
void tvms_relax_read_assign(tvms_reader *reader, tvms_ref stmt);

// The same for `x: T = y`.
void tvms_relax_read_annotated(tvms_reader *reader, tvms_ref stmt);

// Binds the names of a target to the unknown value.
void tvms_relax_bind_target_unknown(tvms_reader *reader, tvms_ref target);

#endif
