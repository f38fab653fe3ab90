// StructInfo: building it, and the questions that everybody asks of it.
//
// StructInfo nodes live in the unit of the function that uses them. What is not known is
// a dtype void, an ndim of -1, or a shape that is NULL.
#ifndef TVMS_STRUCTINFO_SINFO_H
#define TVMS_STRUCTINFO_SINFO_H

#include "ir/node.h"

enum { TVMS_UNKNOWN_NDIM = -1 };

// ---- Parts ----

// Is it known to be a tensor? NULL is not.
static inline bool tvms_sinfo_is_tensor(const tvms_node *TVMS_NULLABLE sinfo) {
  return sinfo && sinfo->kind == TVMS_NODE_SINFO_TENSOR;
}

// Is it a scalar?
static inline bool tvms_sinfo_is_prim(const tvms_node *TVMS_NULLABLE sinfo) {
  return sinfo && sinfo->kind == TVMS_NODE_SINFO_PRIM;
}
// The empty tuple: the type of statements.
static inline bool tvms_sinfo_is_void(const tvms_node *TVMS_NULLABLE sinfo) {
  return sinfo && sinfo->kind == TVMS_NODE_SINFO_TUPLE
         && tvms_as_sinfo_tuple(sinfo)->fields.len == 0;
}

#endif
