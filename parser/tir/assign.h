// Assignments of a PrimFunc: stores, definitions, annotated names.
#ifndef TVMS_PARSER_TIR_ASSIGN_H
#define TVMS_PARSER_TIR_ASSIGN_H

#include "parser/tir/tir.h"

// `x = y`, `x += y` and `x: T = y`, each the statement at `ref`. What is wrong is reported,
// and then the function has failed.
void tvms_tir_read_assign(tvms_reader *reader, tvms_ref ref);

// The same for `x += y` and its kind: the target is read, and assigned the result.
void tvms_tir_read_aug_assign(tvms_reader *reader, tvms_ref ref);

// The same for `x: T = y`, which may also declare without a value.
void tvms_tir_read_ann_assign(tvms_reader *reader, tvms_ref ref);

#endif
