// Closed StructInfo, types that mention no variable, exists once per context: two closed
// types are equal if and only if they are the same pointer.
#ifndef TVMS_STRUCTINFO_INTERN_H
#define TVMS_STRUCTINFO_INTERN_H

#include "ir/node.h"

// The one type that is equal to `type`, which may be anywhere (on the stack, too); its
// parts are interned with it. It lives as long as the context, has the id 0, no place and
// the flag INTERNED. NULL if the type is not closed: it holds a variable, a virtual device
// or another object of a module.
tvms_node *TVMS_NULLABLE tvms_types_intern(tvms_context *context,
                                           const tvms_node *type);

// Is it such a type?
static inline bool tvms_types_is_interned(const tvms_node *type) {
  return type->flags & TVMS_FLAG_INTERNED
         && tvms_node_class_of(type) == TVMS_CLASS_SINFO;
}

#endif
