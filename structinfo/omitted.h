// The types of tensors whose values the text leaves out (ir/omitted.h).
#ifndef TVMS_STRUCTINFO_OMITTED_H
#define TVMS_STRUCTINFO_OMITTED_H

#include "ir/omitted.h"

// A value of `unit` is bound or handed over as one of `type`, which may be of another unit:
// tensors without value in it, whose type is not known, get theirs, if it names all sizes.
// What has a value stays.
void tvms_sinfo_learn(tvms_unit *unit, tvms_node *value, const tvms_node *type);

// Is it, or is among the fields of a tuple, a tensor without value whose type is not known?
bool tvms_sinfo_is_untold(const tvms_node *value);

#endif
