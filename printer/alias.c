// Buffers that are views of another one: A.view(…), A.permute(…), A.local(…) … instead of
// T.decl_buffer with all attributes (since 0.25; src/tirx/script/printer/stmt.cc).
//
// The methods of a buffer that make a view leave no trace in the program: what they return is a
// buffer over the same data with another shape, layout or data type. TVM's printer finds the
// method again by comparing the declaration, the child, with the buffer whose data it uses, the
// parent, and trying one form after the other; the first that would give the child wins:
//
//     A.local(…)                what one thread holds: the parent's layout has an axis of threads
//     A.view("dtype")           other elements in the same bits: only the last dimension differs
//     A.permute(1, 0)           the parent's dimensions and strides in another order
//     A.partition(num_tiles=…)  each dimension in two, tiles and what is in a tile
//     A.view(8, 8, layout=…)    any other shape; the layout where it does not follow
//     A[2:4, 0:8]               0.25 only: a part of a row-major buffer, at another offset
//
// A form must say exactly what the reader (parser/tile/view.c) would make of it, so every rule
// here is the inverse of one there, and where releases differ both ask the same fact.
//
// Which buffer is the parent is a question of the release. From 0.26 on a view has a pointer of
// its own and its declaration says whose data it takes: that buffer, or none. Up to 0.25 all
// views share one pointer, so any buffer over it may be the parent. tvms_print_note_view keeps
// them in lists by pointer, the newest first, as TVM looks for them; `views` holds the links.
#include "printer/alias.h"

#include "arith/layout.h"
#include "printer/buffer.h"
#include "printer/call.h"
#include "printer/expr.h"
#include "printer/hints.h"
#include "printer/names.h"
#include "printer/state.h"
#include "printer/text.h"
#include "printer/tile.h"

// A declaration and the buffer whose data it uses.
typedef struct {
  tvms_printer *p;
  const tvms_node *child_node;
  const tvms_node *parent_node;
  const tvms_buffer *child;
  const tvms_buffer *parent;
  bool same_offset;
  bool same_dtype;
  bool same_shape;
  bool same_strides;
} alias;

const tvms_node *tvms_print_data_owner(tvms_printer *p, const tvms_node *data) {
  if (data && tvms_print_buffer_of_data(p, data))
    return tvms_print_buffer_of_data(p, data);
  if (!data || data->kind != TVMS_NODE_VAR) return NULL;
  const print_name *name = tvms_print_name_of(p, data);
  return name->how == NAMED_DATA ? name->owner : NULL;
}

// ---- Candidates of 0.25: all buffers over the same pointer, the newest first ----

void tvms_print_note_view(tvms_printer *p, const tvms_node *buffer) {
  const tvms_node *data = tvms_as_buffer(buffer)->data;
  bool sought = tvms_release_has(p->dialect, TVMS_FACT_tile_programs_exist)
                && !tvms_release_has(p->dialect, TVMS_FACT_buffers_are_variables);
  if (!sought || !data) return;
  data = tvms_print_root(p, data);
  while (p->newest_view.len <= data->id) {
    tvms_vec_push(p->memory, &p->newest_view, 0);
  }
  print_shown view = {buffer, p->newest_view.items[data->id]};
  tvms_vec_push(p->memory, &p->views, view);
  p->newest_view.items[data->id] = p->views.len;
}

static bool same_list(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    if (!tvms_print_same(a.items[i], b.items[i])) return false;
  }
  return true;
}

static bool int_of(const tvms_node *node, int64_t *value) {
  if (!node || node->kind != TVMS_NODE_INT_IMM) return false;
  *value = tvms_as_int_imm(node)->value;
  return true;
}

static void print_parent(const alias *a, const char *method) {
  tvms_print_scalar_name(a->p, a->parent_node);
  tvms_print_put(a->p, method);
}

// ---- Layouts ----

static bool same_iter(const tvms_node *a, const tvms_node *b) {
  const tvms_layout_iter *x = tvms_as_layout_iter(a);
  const tvms_layout_iter *y = tvms_as_layout_iter(b);
  bool same_extent = x->extent == y->extent || tvms_print_same(x->extent, y->extent);
  return x->axis == y->axis && same_extent && tvms_print_same(x->stride, y->stride);
}

static bool same_iters(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    if (!same_iter(a.items[i], b.items[i])) return false;
  }
  return true;
}

static bool same_layout_node(const tvms_node *a, const tvms_node *b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind) return false;
  if (a->kind == TVMS_NODE_COMPOSE_LAYOUT) {
    const tvms_compose_layout *x = tvms_as_compose_layout(a);
    const tvms_compose_layout *y = tvms_as_compose_layout(b);
    return x->per_element == y->per_element && x->swizzle_len == y->swizzle_len
           && x->atom_len == y->atom_len && x->swizzle_inner == y->swizzle_inner
           && same_layout_node(x->tile_layout, y->tile_layout);
  }
  if (a->kind != TVMS_NODE_TILE_LAYOUT) return a->kind == TVMS_NODE_OBJECT_NONE;
  const tvms_tile_layout *x = tvms_as_tile_layout(a);
  const tvms_tile_layout *y = tvms_as_tile_layout(b);
  return same_iters(x->shard, y->shard) && same_iters(x->replica, y->replica)
         && same_iters(x->offset, y->offset);
}

static bool same_layout(const alias *a) {
  print_layout child = tvms_print_layout_of(a->p, a->child_node);
  print_layout parent = tvms_print_layout_of(a->p, a->parent_node);
  if (child == LAYOUT_NONE || parent == LAYOUT_NONE) return child == parent;
  if (child == LAYOUT_DEFAULT && parent == LAYOUT_DEFAULT) return a->same_shape;
  if (parent == LAYOUT_DEFAULT) {
    return tvms_print_is_row_major(a->p, a->child->layout, a->parent->shape);
  }
  if (child == LAYOUT_DEFAULT) {
    return tvms_print_is_row_major(a->p, a->parent->layout, a->child->shape);
  }
  return same_layout_node(a->child->layout, a->parent->layout);
}

static bool has_thread_axis(const tvms_node *layout) {
  if (!layout || layout->kind != TVMS_NODE_TILE_LAYOUT) return false;
  const tvms_tile_layout *tile = tvms_as_tile_layout(layout);
  const tvms_list lists[] = {tile->shard, tile->replica, tile->offset};
  for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
    for (uint32_t i = 0; i < lists[k].len; i++) {
      if (tvms_layout_axis_is_thread(tvms_as_layout_iter(lists[k].items[i])->axis))
        return true;
    }
  }
  return false;
}

// ---- The forms, in the order in which TVM tries them ----

static void print_shape_args(const alias *a) {
  tvms_print_list(a->p, a->child->shape);
}

// How the view of what a thread holds is written.
typedef struct {
  bool physical;   // it shows the memory as it lies
  bool automatic;  // its shape is that of a view without one
  bool kept;       // up to 0.25: its layout is what the thread holds
} local_form;

static local_form local_form_of(const alias *a, const tvms_node *layout, bool plain) {
  tvms_unit *unit = &a->p->scratch;
  local_form form = {false, false, false};
  tvms_layouts layouts = tvms_layouts_open(unit);
  tvms_node *size, *span;
  tvms_node *total = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  for (uint32_t i = 0; total && i < a->child->shape.len; i++) {
    total = tvms_build_binary(unit, TVMS_NODE_MUL, total, a->child->shape.items[i],
                              TVMS_NO_SPAN);
  }
  if (total && tvms_layout_storage(&layouts, layout, &size, &span)) {
    form.physical =
        plain && tvms_analyzer_can_prove_equal(layouts.analyzer, total, span);
    // 0.25 compares with the number of elements if that is known, later releases with what
    // the view takes.
    bool later = tvms_release_has(a->p->dialect, TVMS_FACT_local_views_span_storage);
    bool spans = form.physical && later;
    form.automatic =
        a->child->shape.len == 1 && (later || tvms_node_is_int_imm(size))
        && tvms_analyzer_can_prove_equal(layouts.analyzer, total, spans ? span : size);
  }
  if (layout->kind == TVMS_NODE_TILE_LAYOUT && a->child->layout) {
    form.kept =
        tvms_release_has(a->p->dialect, TVMS_FACT_views_keep_layouts)
        && same_layout_node(a->child->layout, tvms_layout_in_memory(&layouts, layout));
  }
  tvms_layouts_close(&layouts);
  return form;
}

static void print_local_layout(const alias *a, bool plain) {
  tvms_node *layout = a->child->layout;
  if (plain) layout = tvms_layout_row_major(&a->p->scratch, a->child->shape);
  tvms_print_put(a->p, "layout=");
  tvms_print_layout_value(a->p, layout);
}

static bool print_local(const alias *a) {
  const tvms_node *layout = a->parent->layout;
  print_layout kind = tvms_print_layout_of(a->p, a->child_node);
  if (!a->same_offset || !a->same_dtype || !a->same_strides || kind == LAYOUT_NONE
      || tvms_print_layout_of(a->p, a->parent_node) != LAYOUT_OTHER
      || !has_thread_axis(layout)) {
    return false;
  }
  tvms_mark mark = tvms_arena_mark(&a->p->scratch.arena);
  local_form form = local_form_of(a, layout, kind == LAYOUT_DEFAULT);
  bool explicit_layout = !form.physical && !has_thread_axis(a->child->layout);
  // Up to 0.25 a view without a layout has that of its parent.
  bool other = kind == LAYOUT_DEFAULT && !form.physical;
  if (other && tvms_release_has(a->p->dialect, TVMS_FACT_views_keep_layouts))
    explicit_layout = false;
  if (form.physical || explicit_layout) {
    print_parent(a, ".local(");
    if (!form.automatic) print_shape_args(a);
    bool said = explicit_layout && !form.kept;
    if (said && !form.automatic) PUT(a->p, ", ");
    if (said) print_local_layout(a, kind == LAYOUT_DEFAULT);
    PUT(a->p, ")");
  }
  tvms_arena_reset(&a->p->scratch.arena, mark);
  return form.physical || explicit_layout;
}

// Bits that an element takes in memory, where a truth value is a byte.
static int bits_of(const tvms_buffer *buffer) {
  return tvms_dtype_is_bool(buffer->element) ? 8 : buffer->element.bits;
}

// The shape of a buffer whose elements are seen as another dtype.
static bool fits_cast(const alias *a) {
  uint32_t ndim = a->child->shape.len;
  if (ndim != a->parent->shape.len) return false;
  for (uint32_t i = 0; i + 1 < ndim; i++) {
    if (!tvms_print_same(a->child->shape.items[i], a->parent->shape.items[i]))
      return false;
  }
  if (ndim == 0) return bits_of(a->child) && bits_of(a->parent);
  int64_t child;
  int64_t parent;
  if (!int_of(a->child->shape.items[ndim - 1], &child)
      || !int_of(a->parent->shape.items[ndim - 1], &parent)) {
    return false;
  }
  int child_bits = bits_of(a->child);
  int parent_bits = bits_of(a->parent);
  if (!child_bits || !parent_bits) return false;
  if (child_bits > parent_bits) return parent == child * (child_bits / parent_bits);
  return child == parent * (parent_bits / child_bits);
}

// Seeing wider elements needs the innermost part of the layout to be contiguous.
static bool can_pack(const alias *a) {
  const tvms_node *layout = a->parent->layout;
  int ratio = bits_of(a->child) / bits_of(a->parent);
  if (ratio <= 1 || !layout || layout->kind != TVMS_NODE_TILE_LAYOUT) return true;
  tvms_list shard = tvms_as_tile_layout(layout)->shard;
  if (shard.len == 0) return true;
  const tvms_layout_iter *last = tvms_as_layout_iter(shard.items[shard.len - 1]);
  int64_t extent;
  int64_t stride;
  return int_of(last->stride, &stride) && stride == 1 && int_of(last->extent, &extent)
         && extent % ratio == 0;
}

static bool print_cast_view(const alias *a) {
  if (!a->same_offset || a->same_dtype || !fits_cast(a) || !can_pack(a)) return false;
  print_parent(a, ".view(");
  tvms_print_quoted_dtype(a->p, a->child->element);
  PUT(a->p, ")");
  return true;
}

enum { MOST_DIMS = 16 };

// Fills `perm` with the parent's dimension for each of the child's.
static bool find_permutation(const alias *a, uint32_t perm[MOST_DIMS]) {
  uint32_t ndim = a->child->shape.len;
  bool used[MOST_DIMS] = {false};
  bool identity = true;
  if (ndim > MOST_DIMS || ndim != a->parent->shape.len) return false;
  for (uint32_t i = 0; i < ndim; i++) {
    uint32_t j = 0;
    while (
        j < ndim
        && (used[j]
            || !tvms_print_same(a->child->shape.items[i], a->parent->shape.items[j]))) {
      j++;
    }
    if (j == ndim) return false;
    used[j] = true;
    perm[i] = j;
    identity = identity && i == j;
  }
  return !identity;
}

// One dimension of a layout, said or implied.
typedef struct {
  const tvms_node *extent;
  const tvms_node *TVMS_NULLABLE stride;  // NULL: `implied`
  int64_t implied;
  tvms_sym axis;  // 0: m
} dim_layout;

// Dimension `i` of a buffer's layout; false if the layout has no such dimensions.
static bool dim_of(const alias *a, const tvms_buffer *buffer, uint32_t i,
                   dim_layout *dim) {
  if (buffer->layout && buffer->layout->kind == TVMS_NODE_TILE_LAYOUT) {
    const tvms_tile_layout *tile = tvms_as_tile_layout(buffer->layout);
    if (tile->shard.len != buffer->shape.len) return false;
    const tvms_layout_iter *iter = tvms_as_layout_iter(tile->shard.items[i]);
    const char *name = tvms_symbol_text(a->p->context, iter->axis);
    *dim = (dim_layout){iter->extent, iter->stride, 0,
                        strcmp(name, "m") == 0 ? 0 : iter->axis};
    return true;
  }
  if (buffer->layout || a->p->s_tir) return false;
  int64_t stride = 1;
  for (uint32_t k = buffer->shape.len; k > i + 1; k--) {
    int64_t extent;
    if (!int_of(buffer->shape.items[k - 1], &extent)) return false;
    stride *= extent;
  }
  *dim = (dim_layout){buffer->shape.items[i], NULL, stride, 0};
  return true;
}

static bool same_dim(dim_layout x, dim_layout y) {
  if (x.axis != y.axis || !tvms_print_same(x.extent, y.extent)) return false;
  if (x.stride && y.stride) return tvms_print_same(x.stride, y.stride);
  int64_t a = x.implied;
  int64_t b = y.implied;
  return (!x.stride || int_of(x.stride, &a)) && (!y.stride || int_of(y.stride, &b))
         && a == b;
}

static tvms_list replica_of(const tvms_buffer *buffer) {
  bool tile = buffer->layout && buffer->layout->kind == TVMS_NODE_TILE_LAYOUT;
  return tile ? tvms_as_tile_layout(buffer->layout)->replica : (tvms_list){NULL, 0};
}

static tvms_list offset_of(const tvms_buffer *buffer) {
  bool tile = buffer->layout && buffer->layout->kind == TVMS_NODE_TILE_LAYOUT;
  return tile ? tvms_as_tile_layout(buffer->layout)->offset : (tvms_list){NULL, 0};
}

// The layout of the child must be the parent's, in the other order.
static bool is_permuted_layout(const alias *a, const uint32_t *perm) {
  for (uint32_t i = 0; i < a->child->shape.len; i++) {
    dim_layout child;
    dim_layout parent;
    if (!dim_of(a, a->child, i, &child) || !dim_of(a, a->parent, perm[i], &parent)
        || !same_dim(child, parent)) {
      return false;
    }
  }
  return same_iters(replica_of(a->child), replica_of(a->parent))
         && same_iters(offset_of(a->child), offset_of(a->parent));
}

static bool print_permute(const alias *a) {
  uint32_t perm[MOST_DIMS];
  if (!a->same_offset || !a->same_dtype || a->same_shape || !find_permutation(a, perm)
      || !is_permuted_layout(a, perm)) {
    return false;
  }
  print_parent(a, ".permute(");
  for (uint32_t i = 0; i < a->child->shape.len; i++) {
    tvms_strbuf_printf(a->p->out, "%s%u", i ? ", " : "", perm[i]);
  }
  PUT(a->p, ")");
  return true;
}

static bool is_partition(const alias *a) {
  uint32_t ndim = a->parent->shape.len;
  if (!ndim || a->child->shape.len != 2 * ndim || a->child->strides.len != 2 * ndim) {
    return false;
  }
  int64_t inner = 1;
  for (uint32_t i = ndim; i > 0; i--) {
    int64_t whole;
    int64_t grid;
    int64_t tile;
    int64_t grid_stride;
    int64_t tile_stride;
    bool known = int_of(a->parent->shape.items[i - 1], &whole)
                 && int_of(a->child->shape.items[i - 1], &grid)
                 && int_of(a->child->shape.items[ndim + i - 1], &tile)
                 && int_of(a->child->strides.items[i - 1], &grid_stride)
                 && int_of(a->child->strides.items[ndim + i - 1], &tile_stride);
    if (!known || grid * tile != whole || tile_stride != inner
        || grid_stride != tile * tile_stride) {
      return false;
    }
    inner *= whole;
  }
  return true;
}

static bool print_partition(const alias *a) {
  if (!a->same_offset || !a->same_dtype || !is_partition(a)) return false;
  uint32_t ndim = a->parent->shape.len;
  tvms_list grid = {a->child->shape.items, ndim};
  print_parent(a, ".partition(num_tiles=(");
  tvms_print_list(a->p, grid);
  tvms_print_put(a->p, ndim == 1 ? ",))" : "))");
  return true;
}

// The layout of a buffer, spelled out if it is implied.
static void print_layout_of(tvms_printer *p, const tvms_buffer *buffer) {
  if (buffer->layout) {
    tvms_print_layout_value(p, buffer->layout);
    return;
  }
  uint32_t ndim = buffer->shape.len;
  tvms_print_t(p, "TileLayout(");
  tvms_print_t(p, ndim == 1 ? "S[" : "S[(");
  tvms_print_list(p, buffer->shape);
  tvms_print_put(p, ndim == 1 ? ":" : "):(");
  int64_t stride = 1;
  for (uint32_t i = 1; i < ndim; i++) {
    int64_t dim;
    if (int_of(buffer->shape.items[i], &dim)) stride *= dim;
  }
  for (uint32_t i = 0; i < ndim; i++) {
    if (i) PUT(p, ", ");
    tvms_print_int(p, stride);
    int64_t dim;
    if (i + 1 < ndim && int_of(buffer->shape.items[i + 1], &dim) && dim) stride /= dim;
  }
  tvms_print_put(p, ndim == 1 ? "])" : ")])");
}

// A negative dimension of a view is one that the reader works out.
static bool has_negative_dim(const tvms_buffer *buffer) {
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    int64_t dim;
    if (int_of(buffer->shape.items[i], &dim) && dim < 0) return true;
  }
  return false;
}

static bool print_view(const alias *a) {
  if (!a->same_offset || !a->same_dtype || a->same_shape || !a->same_strides
      || has_negative_dim(a->child)) {
    return false;
  }
  print_layout child = tvms_print_layout_of(a->p, a->child_node);
  print_layout parent = tvms_print_layout_of(a->p, a->parent_node);
  bool defaults = child == LAYOUT_DEFAULT && parent == LAYOUT_DEFAULT;
  bool say = !same_layout(a) && !defaults;
  bool older = tvms_release_has(a->p->dialect, TVMS_FACT_views_keep_layouts);
  if (older && child != LAYOUT_OTHER) say = false;
  if (say && child == LAYOUT_NONE) return false;
  print_parent(a, ".view(");
  print_shape_args(a);
  if (say) {
    PUT(a->p, ", layout=");
    print_layout_of(a->p, a->child);
  }
  PUT(a->p, ")");
  return true;
}

// From 0.26 on the other attributes must be the same.
static bool same_rest(const alias *a) {
  return tvms_print_scope_of(a->child_node) == tvms_print_scope_of(a->parent_node)
         && a->child->align == a->parent->align
         && a->child->offset_factor == a->parent->offset_factor
         && same_list(a->child->allocated_addr, a->parent->allocated_addr);
}

// 0.25 also writes a part of a row-major buffer as a slice.
static bool print_slice(const alias *a) {
  int64_t child_offset;
  int64_t parent_offset;
  uint32_t ndim = a->parent->shape.len;
  if (a->same_offset || !a->same_dtype || !ndim || a->child->shape.len != ndim
      || ndim > MOST_DIMS || !int_of(a->child->elem_offset, &child_offset)
      || !int_of(a->parent->elem_offset, &parent_offset)) {
    return false;
  }
  int64_t begin[MOST_DIMS];
  int64_t end[MOST_DIMS];
  int64_t stride = 1;
  int64_t strides[MOST_DIMS];
  for (uint32_t i = ndim; i > 0; i--) {
    int64_t dim;
    if (!int_of(a->parent->shape.items[i - 1], &dim)) return false;
    strides[i - 1] = stride;
    stride *= dim;
  }
  int64_t left = child_offset - parent_offset;
  for (uint32_t i = 0; i < ndim; i++) {
    int64_t extent;
    int64_t whole = tvms_as_int_imm(a->parent->shape.items[i])->value;
    if (!int_of(a->child->shape.items[i], &extent) || strides[i] == 0) return false;
    begin[i] = left / strides[i];
    end[i] = begin[i] + extent;
    left %= strides[i];
    if (end[i] > whole) return false;
  }
  if (left != 0) return false;
  print_parent(a, "[");
  for (uint32_t i = 0; i < ndim; i++) {
    if (i) PUT(a->p, ", ");
    tvms_print_int(a->p, begin[i]);
    PUT(a->p, ":");
    tvms_print_int(a->p, end[i]);
  }
  PUT(a->p, "]");
  return true;
}

static bool print_as_view_of(tvms_printer *p, const tvms_node *buffer,
                             const tvms_node *owner) {
  if (!owner || owner == buffer || owner->kind != TVMS_NODE_BUFFER
      || !tvms_print_defined(p, owner)) {
    return false;
  }
  alias a = {p,     buffer, owner, tvms_as_buffer(buffer), tvms_as_buffer(owner), false,
             false, false,  false};
  a.same_offset = tvms_print_same(a.child->elem_offset, a.parent->elem_offset);
  a.same_dtype = tvms_dtype_same(a.child->element, a.parent->element);
  a.same_shape = same_list(a.child->shape, a.parent->shape);
  a.same_strides = same_list(a.child->strides, a.parent->strides);
  if (!tvms_release_has(p->dialect, TVMS_FACT_buffers_are_variables)) {
    if (!a.same_offset) return print_slice(&a);
  } else if (!same_rest(&a)) {
    return false;
  }
  return print_local(&a) || print_cast_view(&a) || print_permute(&a)
         || print_partition(&a) || print_view(&a);
}

enum { MOST_CANDIDATES = 64 };  // no program has as many views of one buffer

static bool print_forms(tvms_printer *p, const tvms_node *buffer,
                        const tvms_node *data) {
  if (tvms_release_has(p->dialect, TVMS_FACT_buffers_are_variables)) {
    return print_as_view_of(p, buffer, tvms_print_data_owner(p, data));
  }
  const tvms_node *own = tvms_as_buffer(buffer)->data;
  const tvms_node *root = own ? tvms_print_root(p, own) : NULL;
  if (!root || root->id >= p->newest_view.len) return false;
  uint32_t at = p->newest_view.items[root->id];
  for (uint32_t i = 0; at && i < MOST_CANDIDATES; i++) {
    const print_shown view = p->views.items[at - 1];
    if (print_as_view_of(p, buffer, view.buffer)) return true;
    at = view.before;
  }
  return false;
}

bool tvms_print_alias(tvms_printer *p, const tvms_node *buffer,
                      const tvms_node *source) {
  const tvms_node *data = tvms_as_buffer(buffer)->data;
  if (!print_forms(p, buffer, source ? source : data)) return false;
  if (source) {
    uint32_t frame = tvms_print_top_index(p);
    tvms_print_define_part(p, data, frame, NAMED_DATA, buffer, 0);
  }
  return true;
}
