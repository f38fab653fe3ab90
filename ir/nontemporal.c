// The hint that what a loop stores is not used again before the caches have forgotten it.
#include "ir/nontemporal.h"

#include "ir/object.h"

#define KEY "nontemporal"

bool tvms_stmt_is_nontemporal(const tvms_for *loop) {
  const tvms_node *value = tvms_object_map_get(loop->annotations, KEY);
  int64_t number;
  return value && tvms_object_as_int(value, &number) && number != 0;
}

void tvms_stmt_set_nontemporal(tvms_unit *unit, tvms_node *stmt) {
  if (stmt->kind == TVMS_NODE_SEQ) {
    tvms_list stmts = tvms_as_seq(stmt)->stmts;
    for (uint32_t i = 0; i < stmts.len; i++)
      tvms_stmt_set_nontemporal(unit, stmts.items[i]);
  }
  if (stmt->kind != TVMS_NODE_FOR) return;
  tvms_for *loop = tvms_as_for(stmt);
  loop->annotations = tvms_object_map_with(unit, loop->annotations, KEY,
                                           tvms_object_int_new(unit, 1, TVMS_NO_SPAN));
}
