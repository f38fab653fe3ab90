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

// ---- What is not known ----

// What of a value an operator would have to know, and nothing says: a text, or NULL.
static inline const char *TVMS_NULLABLE
tvms_sinfo_unknown(const tvms_node *TVMS_NULLABLE sinfo) {
  if (!sinfo) return NULL;
  if (sinfo->kind == TVMS_NODE_SINFO_SHAPE)
    return tvms_as_sinfo_shape(sinfo)->ndim == TVMS_UNKNOWN_NDIM ? "rank" : NULL;
  if (sinfo->kind != TVMS_NODE_SINFO_TENSOR) return NULL;
  if (tvms_dtype_is_void(sinfo->dtype)) return "data type";
  return tvms_as_sinfo_tensor(sinfo)->ndim == TVMS_UNKNOWN_NDIM ? "rank" : NULL;
}

// The same of the first argument of which something is not known, from 0 on in *place.
static inline const char *TVMS_NULLABLE tvms_sinfo_unknown_of(tvms_list args,
                                                              uint32_t *place) {
  for (*place = 0; *place < args.len; ++*place) {
    const char *what = tvms_sinfo_unknown(args.items[*place]->sinfo);
    if (what) return what;
  }
  return NULL;
}

#endif
