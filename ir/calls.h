// Namespaces and rows of ir/calls.def, by number.
#ifndef TVMS_IR_CALLS_H
#define TVMS_IR_CALLS_H

// Namespaces: I, T, R and what stands below them.
typedef enum {
  TVMS_NS_NONE,
#define CALL(ns, name, signature, since, until, handler)
#define NAMESPACE(ident, path) TVMS_NS_##ident,
#include "ir/calls.def"
  TVMS_NS_COUNT,
} tvms_namespace;

// The number of each row, from 1; the rows of a name follow each other.
enum {
  TVMS_ENTRY_NONE,
#define CALL(ns, name, signature, since, until, handler) TVMS_ENTRY_##ns##_##name,
#define ALSO(ns, name, signature, since, until, handler)                               \
  TVMS_ENTRY_##ns##_##name##_##since,
#define SUBSPACE(ns, name, ident, since, until)   TVMS_ENTRY_##ns##_##name,
#define DTYPE(ns, name, code, bits, since, until) TVMS_ENTRY_##ns##_##name,
#include "ir/calls.def"
  TVMS_ENTRIES,  // one more than the greatest
};

// What others than its handler ask of a row; see ir/calls.def.
typedef enum {
  TVMS_TRAIT_DROPS_DTYPE = 1,
  TVMS_TRAIT_REGIONS = 2,
  TVMS_TRAIT_LOOP = 4,
  TVMS_TRAIT_DEVICE = 8,
  TVMS_TRAIT_SCOPED = 16,
  TVMS_TRAIT_CLASS = 32,
} tvms_trait;

// The path of a namespace as it is written: "T.axis"; "" for none.
const char *tvms_namespace_text(tvms_namespace namespace_);

#endif
