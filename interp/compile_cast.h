// Code of conversions between kinds of numbers.
#ifndef TVMS_INTERP_COMPILE_CAST_H
#define TVMS_INTERP_COMPILE_CAST_H

#include "interp/assemble.h"

// Is a CAST one of numbers, lane by lane? The tree does the others.
bool tvms_interp_cast_is_plain(const tvms_node *node);

// Appends the code of such a CAST; see tvms_interp_make_value.
uint32_t tvms_interp_make_cast(tvms_interp_maker *m, const tvms_node *node);

#endif
