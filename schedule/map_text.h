// Index maps as traces have them: a lambda of Python, or TVM's serialization of objects in JSON, which schedule/graph.h reads.
#ifndef TVMS_SCHEDULE_MAP_TEXT_H
#define TVMS_SCHEDULE_MAP_TEXT_H

#include "ir/dialect.h"
#include "ir/node.h"
#include "support/strbuf.h"

// Operators of index maps: the name in JSON, without what it begins with, and that in Python.
typedef struct {
  const char *type;
  tvms_node_kind kind;
  const char *sign;  // between the operands, or a function of TVMScript
  int binds;         // how tightly; TVMS_MAP_FUNCTION: a function
} tvms_map_operator;

#define TVMS_MAP_FUNCTION 4

// The row of a kind of node, NULL: it is no operator of index maps.
const tvms_map_operator *TVMS_NULLABLE tvms_sched_map_operator(tvms_node_kind kind);

// The row with a name in JSON, or NULL.
const tvms_map_operator *TVMS_NULLABLE tvms_sched_map_operator_named(const char *type);

// Appends an INDEX_MAP as a lambda, as TVM writes it: "lambda i, j: (i // 4, j,)"; with `pairs` two results each are one: "[(i, i + 2), (j, j)]".
void tvms_sched_map_write_python(const tvms_context *context, const tvms_node *map,
                                 bool pairs, tvms_strbuf *out);

// Appends an INDEX_MAP in JSON, as the release of `dialect` writes it. Releases without data types as nodes in it have no form of their own here
// but for 0.25's: older ones are written as that.
void tvms_sched_map_write_json(tvms_context *context, tvms_dialect dialect,
                               const tvms_node *map, tvms_strbuf *out);

#endif
