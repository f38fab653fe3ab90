// Statements on vectors that are wider than registers, in parts.
#ifndef TVMS_BACKEND_C_WIDE_H
#define TVMS_BACKEND_C_WIDE_H

#include "ir/module.h"

// The body of a function in which no statement that can be taken in parts needs vectors of more than so many bytes; the
// same node if none does. New nodes belong to the unit of the member.
tvms_node *tvms_c_split_wide(const tvms_member *member, uint32_t bytes);

#endif
