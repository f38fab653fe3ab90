// The operations of all values, collected from the rooms that define them.
#include "parser/values.h"

#include "parser/device/room.h"
#include "parser/eval/eval.h"
#include "parser/near_names.h"
#include "parser/relax/convert.h"
#include "parser/relax/room.h"
#include "parser/room.h"
#include "parser/rows.h"
#include "parser/tile/room.h"
#include "parser/tir/room.h"

// A room has a number, and kinds of its own.
#define ROOM_FITS(room)                                                                \
  _Static_assert((int)TVMS_##room##_ROOM > 0                                           \
                     && (int)TVMS_##room##_ROOM < TVMS_EVAL_ROOMS                      \
                     && (int)TVMS_##room##_END_OF_KINDS                                \
                            <= TVMS_EVAL_KINDS_OF(TVMS_##room##_ROOM + 1),             \
                 "a room has a number, and kinds of its own")
ROOM_FITS(TIR);
ROOM_FITS(TILE);
ROOM_FITS(DEVICE);
ROOM_FITS(RELAX);
ROOM_FITS(FILE);

// No two have the same. Operands of the room with the greater number decide
// (parser/eval/ops.h): layouts beside expressions, Relax beside both.
#define STANDS_BELOW(a, b)                                                             \
  _Static_assert((int)TVMS_##a##_ROOM < (int)TVMS_##b##_ROOM, "rooms stand in order")
STANDS_BELOW(TIR, TILE);
STANDS_BELOW(TILE, DEVICE);
STANDS_BELOW(DEVICE, RELAX);
STANDS_BELOW(RELAX, FILE);

static const tvms_eval_value_ops *const classes[] = {
#define CLASS(class, ops) [TVMS_CLASS_##class] = &tvms_##ops##_ops,
#include "parser/values.def"
};

static const tvms_eval_value_ops *const nodes[TVMS_NODE_COUNT] = {
#define NODE(kind, ops) [TVMS_NODE_##kind] = &tvms_##ops##_ops,
#include "parser/values.def"
};

// Variables and calls belong to TIR or to Relax by what is known of them, not by their kind.
static const tvms_eval_value_ops *node_ops(const tvms_node *node) {
  if (tvms_relax_is_expr(node)) return &tvms_relax_expr_ops;
  const tvms_eval_value_ops *own = nodes[node->kind];
  return own ? own : classes[tvms_node_class_of(node)];
}

const tvms_eval_tables tvms_parser_tables = {
    .kinds =
        {
#define VALUE(kind, member, text, ops) [TVMS_EVAL_##kind] = {&tvms_##ops##_ops, text},
#define OPERATIONS(kind, text, ops)    [TVMS_EVAL_##kind] = {&tvms_##ops##_ops, text},
#include "parser/values.def"
        },
    .find_row = tvms_rows_find,
    .node_ops = node_ops,
    .near_name = tvms_near_name_alone,
};
