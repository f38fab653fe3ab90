// Parts of buffers as 0.25 prints them: `B = A[4:8]` for a buffer over a part of A.
//
// To the reader of that release the same text is a region: it can be loaded from, and
// nothing else. So the printer's text does not say what it was made from, and TVM cannot
// read it again. Here the name becomes a buffer where it is stored into, and in printed
// text where it is used like a buffer.
#include "parser/tir/part.h"

#include "ir/fold.h"
#include "parser/eval/origin.h"
#include "parser/tir/buffer.h"
#include "parser/tir/buffer_form.h"
#include "parser/tir/names.h"

// How a name is used in a function.
typedef struct {
  uint32_t names;    // all of its places
  uint32_t objects;  // before `[` or `.`
  uint32_t stores;   // `name[...] = value`
} uses;

static bool is_name(const tvms_reader *reader, tvms_ref ref, tvms_sym name) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  return node->kind == TVMS_SURF_NAME && node->a == name;
}

// The nodes of a function stand in a row, and its DEF is the last one.
static uses count_uses(const tvms_reader *reader, tvms_sym name) {
  uses found = {0, 0, 0};
  tvms_ref def = tvms_tir_of(reader)->frames.items[0]->ref;
  uint32_t begin = tvms_reader_at(reader, def)->begin;
  for (tvms_ref ref = def; ref > 0 && tvms_reader_at(reader, ref)->begin >= begin;
       ref--) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    switch ((int)node->kind) {
    case TVMS_SURF_NAME: found.names += node->a == name; break;
    case TVMS_SURF_ATTRIBUTE:
    case TVMS_SURF_SUBSCRIPT: found.objects += is_name(reader, node->a, name); break;
    case TVMS_SURF_ASSIGN: {
      const tvms_surf *target = tvms_reader_at(reader, node->a);
      found.stores +=
          target->kind == TVMS_SURF_SUBSCRIPT && is_name(reader, target->a, name);
      break;
    }
    default: break;
    }
  }
  return found;
}

// Where a constant region begins in its row-major buffer, and its extents.
static bool place_of(tvms_reader *reader, const tvms_node *node, int64_t *offset,
                     tvms_list *shape) {
  const tvms_buffer_region *region = tvms_as_buffer_region(node);
  tvms_list dims = tvms_as_buffer(region->buffer)->shape;
  int64_t stride = 1;
  shape->items = tvms_arena_array(&reader->unit->arena, tvms_node *, dims.len);
  shape->len = dims.len;
  *offset = 0;
  for (uint32_t i = region->region.len; i > 0; i--) {
    const tvms_range *range = tvms_as_range(region->region.items[i - 1]);
    if (range->min->kind != TVMS_NODE_INT_IMM
        || range->extent->kind != TVMS_NODE_INT_IMM
        || dims.items[i - 1]->kind != TVMS_NODE_INT_IMM) {
      return false;
    }
    *offset += tvms_as_int_imm(range->min)->value * stride;
    stride *= tvms_as_int_imm(dims.items[i - 1])->value;
    shape->items[i - 1] = range->extent;
  }
  return region->region.len == dims.len;
}

tvms_node *tvms_tir_buffer_of_part(tvms_reader *reader, tvms_sym name,
                                   tvms_node *region, tvms_ref ref) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_regions_become_buffers)) return NULL;
  uses found = count_uses(reader, name);
  bool like_buffer = found.names == found.objects + 1;
  if (!found.stores && !(like_buffer && tvms_reader_is_printed(reader))) return NULL;
  const tvms_buffer *whole = tvms_as_buffer(tvms_as_buffer_region(region)->buffer);
  tvms_buffer_form form = {.dtype = whole->element, .data = whole->data};
  int64_t offset;
  if (!place_of(reader, region, &offset, &form.shape)) return NULL;
  if (!whole->elem_offset || whole->elem_offset->kind != TVMS_NODE_INT_IMM) return NULL;
  offset += tvms_as_int_imm(whole->elem_offset)->value;
  form.elem_offset =
      tvms_int_imm_new(reader->unit, whole->elem_offset->dtype, offset, TVMS_NO_SPAN);
  tvms_node *buffer = tvms_tir_buffer_make(reader, &form, ref);
  tvms_tir_emit_decl(reader, buffer, whole->data, ref);
  return buffer;
}
