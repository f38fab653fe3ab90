// Layouts of Trainium: which dimensions lie across the partitions, and which along them.
//
// A memory of Trainium has 128 partitions (axis P) with a run of elements each (axis F);
// the accumulators, psum, are cut into banks of 512 elements (axis Bank).
#include "arith/layout_trainium.h"

#include "arith/layout.h"
#include "ir/build.h"
#include "support/names.h"

#include <string.h>

enum { PARTITIONS = 128, BANK_ELEMENTS = 512, MOST_DIMS = 16 };

typedef struct {
  tvms_unit *unit;
  tvms_list iters;
} iter_list;

static void push_iter(iter_list *list, int64_t extent, int64_t stride, tvms_sym axis) {
  tvms_unit *unit = list->unit;
  list->iters.items[list->iters.len++] = tvms_layout_iter_new(
      unit, tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), extent, TVMS_NO_SPAN),
      tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), stride, TVMS_NO_SPAN), axis);
}

// A free dimension in banks of 512 elements. False if it does not fit them.
static bool push_banks(iter_list *list, tvms_node *node) {
  const tvms_layout_iter *iter = tvms_as_layout_iter(node);
  if (!tvms_node_is_int_imm(iter->extent) || !tvms_node_is_int_imm(iter->stride))
    return false;
  int64_t extent = tvms_as_int_imm(iter->extent)->value;
  int64_t stride = tvms_as_int_imm(iter->stride)->value;
  if (stride % BANK_ELEMENTS == 0) {
    push_iter(list, extent, stride / BANK_ELEMENTS, TVMS_SYM_Bank);
    return true;
  }
  if (BANK_ELEMENTS % stride != 0) return false;
  int64_t in_bank = BANK_ELEMENTS / stride;
  if (extent < in_bank) {
    list->iters.items[list->iters.len++] = node;
    return true;
  }
  if (extent % in_bank != 0) return false;
  push_iter(list, extent / in_bank, 1, TVMS_SYM_Bank);
  push_iter(list, in_bank, stride, TVMS_SYM_F);
  return true;
}

tvms_node *tvms_layout_to_psum(tvms_unit *unit, tvms_node *layout) {
  tvms_list shard = tvms_as_tile_layout(layout)->shard, none = {0};
  iter_list list = {.unit = unit};
  list.iters.items = tvms_arena_array(&unit->arena, tvms_node *, 2 * shard.len + 1);
  for (uint32_t i = 0; i < shard.len; i++) {
    if (tvms_as_layout_iter(shard.items[i])->axis != TVMS_SYM_F) {
      list.iters.items[list.iters.len++] = shard.items[i];
    } else if (!push_banks(&list, shard.items[i])) {
      return NULL;
    }
  }
  return tvms_tile_layout_new(unit, list.iters, none, none);
}

tvms_node *tvms_layout_trainium(tvms_unit *unit, const char *axes, tvms_list shape,
                                bool psum) {
  int64_t dims[MOST_DIMS], free = 1, across = 1;
  uint32_t partitioned = 0;
  if (strlen(axes) != shape.len || shape.len > MOST_DIMS) return NULL;
  for (uint32_t i = 0; i < shape.len; i++) {
    if (shape.items[i]->kind != TVMS_NODE_INT_IMM) return NULL;
    if (axes[i] != 'P' && axes[i] != 'F') return NULL;
    dims[i] = tvms_as_int_imm(shape.items[i])->value;
    if (axes[i] == 'F') free *= dims[i];
    if (axes[i] == 'P') across *= dims[i];
    partitioned += axes[i] == 'P';
  }
  bool split = partitioned == 1 && across > PARTITIONS;
  if (across > PARTITIONS && (!split || across % PARTITIONS != 0)) return NULL;
  iter_list list = {.unit = unit};
  list.iters.items = tvms_arena_array(&unit->arena, tvms_node *, 2 * shape.len + 1);
  int64_t outermost = free;
  for (uint32_t i = 0; i < shape.len; i++) {
    if (axes[i] == 'F') {
      free /= dims[i] ? dims[i] : 1;
      push_iter(&list, dims[i], free, TVMS_SYM_F);
    } else if (split) {
      push_iter(&list, across / PARTITIONS, outermost, TVMS_SYM_F);
      push_iter(&list, PARTITIONS, 1, TVMS_SYM_P);
    } else {
      across /= dims[i] ? dims[i] : 1;
      push_iter(&list, dims[i], across, TVMS_SYM_P);
    }
  }
  tvms_list none = {0};
  tvms_node *layout = tvms_tile_layout_new(unit, list.iters, none, none);
  return psum ? tvms_layout_to_psum(unit, layout) : layout;
}
