// Buffers of C text: memory, addresses, loads and stores.
//
// Vectors whose last index is a ramp of step one are one access; others go lane by lane.
#include "backend/c/memory.h"

#include "backend/c/expr.h"
#include "backend/c/masked.h"
#include "backend/c/registers.h"
#include "backend/c/vector.h"
#include "backend/core/lanes.h"
#include "ir/build.h"
#include "passes/tir/memory/lift_allocations.h"
#include "support/diag_ids.h"

// ---- Views ----

static void fill_strides(c_emitter *e, c_view *v, const tvms_buffer *buffer) {
  const char *compact = "1";
  for (uint32_t i = v->ndim; i > 0; i--) {
    v->shape[i - 1] = tvms_c_index(e, buffer->shape.items[i - 1]);
    v->strides[i - 1] = compact;
    if (i > 1) compact = tvms_c_text(e, "(%s * %s)", compact, v->shape[i - 1]);
  }
  for (uint32_t i = 0; i < buffer->strides.len && i < v->ndim; i++) {
    v->strides[i] = tvms_c_index(e, buffer->strides.items[i]);
  }
}

static c_view *view_of(c_emitter *e, const tvms_buffer *buffer, const char *data) {
  c_view *v = tvms_arena_new(&e->context->scratch, c_view);
  v->data = data;
  v->ndim = buffer->shape.len;
  v->shape = tvms_arena_array(&e->context->scratch, const char *, v->ndim);
  v->strides = tvms_arena_array(&e->context->scratch, const char *, v->ndim);
  fill_strides(e, v, buffer);
  const tvms_node *offset = buffer->elem_offset;
  bool unused = offset && offset->kind == TVMS_NODE_VAR && !e->vars[offset->id];
  v->offset = offset && !unused ? tvms_c_index(e, offset) : "0";
  return v;
}

void tvms_c_define_buffer(c_emitter *e, const tvms_node *node, const char *data) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (data) e->vars[buffer->data->id] = data;
  e->views[node->id] = view_of(e, buffer, data ? data : tvms_c_expr(e, buffer->data));
}

static const c_view *use(c_emitter *e, const tvms_node *node, tvms_span span) {
  if (e->views[node->id]) return e->views[node->id];
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (buffer->data->kind == TVMS_NODE_VAR && !e->vars[buffer->data->id]) {
    tvms_diag_report(&e->context->diags, TVMS_D_buffer_without_memory, span,
                     tvms_symbol_text(e->context, buffer->name));
    tvms_c_give_up(e);
  }
  return view_of(e, buffer, tvms_c_expr(e, buffer->data));
}

// ---- Memory ----

static const char *take_bytes(c_emitter *e, const char *bytes, uint64_t constant) {
  const char *name = tvms_c_text(e, "m%u", e->next++);
  if (constant && constant <= TVMS_LARGEST_IN_FRAME
      && e->frame + constant <= TVMS_FRAME) {
    e->frame += constant;
    tvms_c_line(e, "_Alignas(64) u8 %s[%llu];", name, (unsigned long long)constant);
    return name;
  }
  tvms_c_line(e, "const ptr %s = take_kept(kept_scratch, 64, %s);", name, bytes);
  tvms_c_check(e, tvms_c_text(e, "%s != 0", name), "MemoryError", "out of memory",
               TVMS_NO_SPAN);
  tvms_vec_push(&e->context->memory, &e->memory, (c_live){.name = name});
  return name;
}

// `bytes` times all extents; 0: not known.
static uint64_t known_bytes(uint64_t bytes, tvms_list extents) {
  for (uint32_t i = 0; i < extents.len; i++) {
    const tvms_node *extent = extents.items[i];
    bool known = tvms_node_is_int_imm(extent) && tvms_as_int_imm(extent)->value >= 0;
    uint64_t count = known ? (uint64_t)tvms_as_int_imm(extent)->value : 0;
    if (!known || __builtin_mul_overflow(bytes, count, &bytes)) return 0;
  }
  return bytes;
}

const char *tvms_c_allocate(c_emitter *e, const tvms_node *data, tvms_dtype element,
                            tvms_list extents, tvms_span span) {
  tvms_dl_type type = tvms_interp_dl_type_of(element);
  uint64_t each = tvms_dl_element_size(type) * type.lanes;
  uint64_t constant = known_bytes(each, extents);
  (void)tvms_c_memory_type(e, element, span);
  if (constant && tvms_c_registers_declare(e, data, constant, span)) return "((ptr)0)";
  const char *bytes = tvms_c_text(e, "%llull", (unsigned long long)each);
  for (uint32_t i = 0; i < extents.len; i++)
    bytes = tvms_c_text(e, "%s * %s", bytes, tvms_c_index(e, extents.items[i]));
  return take_bytes(e, bytes, constant);
}

void tvms_c_allocate_buffer(c_emitter *e, const tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (buffer->strides.len) tvms_c_refuse(e, node->span, "memory with strides");
  const char *memory =
      tvms_c_allocate(e, buffer->data, buffer->element, buffer->shape, node->span);
  tvms_c_define_buffer(e, node, memory);
}

void tvms_c_free_from(c_emitter *e, uint32_t mark) {
  for (uint32_t i = e->memory.len; i > mark; i--) {
    const c_live *live = &e->memory.items[i - 1];
    if (live->boxes)
      tvms_c_line(e, "tvms_box_drop(%s, %u);", live->name, live->boxes);
    else
      tvms_c_line(e, "give_kept(kept_scratch, 64, %s);", live->name);
  }
}

void tvms_c_end_memory(c_emitter *e, uint32_t mark, bool open) {
  if (open) tvms_c_free_from(e, mark);
  e->memory.len = mark;
}

// ---- Accesses ----

// Where an access goes: `flat` names lane `k` if the indices have lanes.
typedef struct {
  const char *data;
  const char *flat;
  uint32_t lanes;
  // Lane k lies so many elements behind lane k - 1, and `flat` is the place of lane 0; 0: neither.
  int64_t step;
} place;

// How far apart lanes of an index lie in a compact buffer; 0: that is not known.
static int64_t step_of(const tvms_node *index, bool last) {
  bool known = last && index->kind == TVMS_NODE_RAMP
               && tvms_node_is_int_imm(tvms_as_ramp(index)->stride);
  return known ? tvms_as_int_imm(tvms_as_ramp(index)->stride)->value : 0;
}

static void check_count(c_emitter *e, const c_view *v, const tvms_node *node,
                        uint32_t count, tvms_span span) {
  if (count == v->ndim) return;
  tvms_diag_report(&e->context->diags, TVMS_D_wrong_index_count, span,
                   tvms_symbol_text(e->context, tvms_as_buffer(node)->name), v->ndim,
                   tvms_diag_plural(v->ndim), count, count == 1 ? "index" : "indices");
  tvms_c_give_up(e);
}

static place place_of(c_emitter *e, const tvms_node *node, tvms_list indices,
                      tvms_span span) {
  const c_view *v = use(e, node, span);
  tvms_list strides = tvms_as_buffer(node)->strides;
  bool compact = !strides.len || tvms_node_is_int(strides.items[strides.len - 1], 1);
  place p = {v->data, v->offset, 1, 1};
  check_count(e, v, node, indices.len, span);
  for (uint32_t i = 0; i < indices.len; i++) {
    const tvms_node *index = indices.items[i];
    if (index->dtype.lanes <= 1) continue;
    p.lanes = (uint32_t)index->dtype.lanes;
    p.step = compact && p.step ? step_of(index, i + 1 == indices.len) : 0;
  }
  for (uint32_t i = 0; i < indices.len; i++) {
    const tvms_node *index = indices.items[i];
    bool base = p.lanes > 1 && p.step && index->dtype.lanes > 1;
    const char *at = base ? tvms_c_index(e, tvms_as_ramp(index)->base)
                          : tvms_c_lane(e, tvms_c_index(e, index), index->dtype);
    p.flat = !strcmp(p.flat, "0") ? at : p.flat;
    if (strcmp(v->strides[i], "1"))
      at = tvms_c_text(e, "(i64)%s * %s", at, v->strides[i]);
    p.flat =
        i == 0 && !strcmp(v->offset, "0") ? at : tvms_c_text(e, "%s + %s", p.flat, at);
  }
  return p;
}

// The element of lane `k`, or of a scalar.
static const char *element_of(c_emitter *e, const place *p, tvms_dtype element,
                              tvms_span span) {
  const char *adds = "";
  if (p->lanes > 1 && p->step == 1)
    adds = " + k";
  else if (p->lanes > 1 && p->step)
    adds = tvms_c_text(e, " + %lld * k", (long long)p->step);
  return tvms_c_text(e, "((%s *)%s)[%s%s]", tvms_c_memory_type(e, element, span),
                     p->data, p->flat, adds);
}

static bool is_whole(const place *p, tvms_dtype element) {
  bool narrow = tvms_dtype_is_real(element) && element.bits < 32;
  bool same = element.code != TVMS_BOOL
              && (!narrow || (tvms_c_is_narrow(element) && p->lanes <= 64));
  bool full = !(p->lanes & (p->lanes - 1));
  bool near = p->step == 1 || (p->step == 2 && !narrow && p->lanes <= 64);
  return p->lanes > 1 && full && near && same;
}

static const char *pointer_to(c_emitter *e, const place *p, tvms_dtype element,
                              tvms_span span) {
  return tvms_c_text(e, "((%s *)%s + (%s))", tvms_c_memory_type(e, element, span),
                     p->data, p->flat);
}

// A vector that lies side by side, in its form in memory.
static const char *whole_of(c_emitter *e, const place *p, tvms_dtype element,
                            tvms_span span) {
  if (tvms_c_is_narrow(element)) element = TVMS_DTYPE(UINT, 16);
  tvms_dtype vector = tvms_dtype_with_lanes(element, (int)p->lanes);
  return tvms_c_text(e, "*(%sm *)%s", tvms_c_type(e, vector, span),
                     pointer_to(e, p, element, span));
}

// Every second element, of two vectors which together reach from the first to the last:
//
//   [0 . 2 . 4 . 6] from lane 0 on,  [. 8 . 10 . 12 . 14] up to the last
static const char *load_pairs(c_emitter *e, const place *p, tvms_dtype dtype,
                              tvms_span span) {
  int indices[64], lanes = dtype.lanes;
  place second = *p;
  second.flat = tvms_c_text(e, "%s + %d", p->flat, lanes - 1);
  tvms_dtype element = tvms_dtype_with_lanes(dtype, 1);
  const char *a = tvms_c_whole(e, dtype, span, whole_of(e, p, element, span));
  const char *b = tvms_c_whole(e, dtype, span, whole_of(e, &second, element, span));
  for (int k = 0; k < lanes; k++)
    indices[k] = 2 * k < lanes ? 2 * k : 2 * k + 1;
  return tvms_c_pick(e, dtype, span, a, b, indices);
}

// Where the lanes `bits` of such a load come from: of a vector that begins with the first one, and of a second one that
// ends with the last one. Neighbouring windows which leave out other lanes want the same elements then, and compilers
// join loads that are the same.
typedef struct {
  int from, behind;      // where the vectors begin, in elements
  uint64_t first, last;  // lanes of them that are loaded
  int indices
      [64];  // of each lane in both; of one that is left out, of one that is not loaded
} pair_parts;

static pair_parts parts_of(int lanes, uint64_t bits) {
  int low = __builtin_ctzll(bits), high = 63 - __builtin_clzll(bits),
      length = 2 * (high - low) + 1;
  pair_parts parts = {.from = 2 * low};
  parts.behind = parts.from + (length > lanes ? length - lanes : 0);
  for (int k = 0; k < lanes; k++) {
    parts.indices[k] = 1;
    if (!(bits >> k & 1)) continue;
    int at = 2 * (k - low);
    if (at < lanes) {
      parts.first |= 1ull << at;
      parts.indices[k] = at;
    } else {
      at += parts.from - parts.behind;
      parts.last |= 1ull << at;
      parts.indices[k] = lanes + at;
    }
  }
  return parts;
}

// The lanes `bits` of every second element.
static const char *load_some_pairs(c_emitter *e, const place *p, tvms_dtype dtype,
                                   tvms_span span, uint64_t bits) {
  pair_parts parts = parts_of(dtype.lanes, bits);
  const char *loaded[2];
  for (int k = 0; k < 2; k++) {
    place part = *p;
    part.flat = tvms_c_text(e, "%s + %d", p->flat, k ? parts.behind : parts.from);
    const char *at = pointer_to(e, &part, tvms_dtype_with_lanes(dtype, 1), span);
    uint64_t lanes = k ? parts.last : parts.first;
    loaded[k] = k && !lanes
                    ? loaded[0]
                    : tvms_c_whole(e, dtype, span,
                                   tvms_c_load_lanes(e, dtype, span, at, lanes));
  }
  return tvms_c_pick(e, dtype, span, loaded[0], loaded[1], parts.indices);
}

// A vector of which some lanes are loaded, of a place or a variable.
static const char *load_some(c_emitter *e, const tvms_node *node, const place *p,
                             uint64_t bits) {
  if (p->step == 2 && bits) return load_some_pairs(e, p, node->dtype, node->span, bits);
  const char *at = pointer_to(e, p, tvms_dtype_with_lanes(node->dtype, 1), node->span);
  return tvms_c_whole(e, node->dtype, node->span,
                      tvms_c_load_lanes(e, node->dtype, node->span, at, bits));
}

// The lanes `bits` of a vector, others 0 or those of `others`.
static const char *some_of(c_emitter *e, tvms_dtype dtype, tvms_span span,
                           uint64_t bits, const char *value, const char *others) {
  const char *mask = tvms_c_lanes_mask(e, dtype.bits, dtype.lanes, span, bits);
  return tvms_c_blend(e, dtype, span, mask, value, others);
}

static const char *load_kept(c_emitter *e, const tvms_node *node, const char *kept) {
  const tvms_node *predicate = tvms_as_buffer_load(node)->predicate;
  uint64_t bits;
  if (!predicate || !tvms_lanes_truths(predicate, &bits))
    return tvms_c_whole(e, node->dtype, node->span, kept);
  const char *zero = tvms_c_spread(e, node->dtype, node->span, "0");
  return some_of(e, node->dtype, node->span, bits, kept, zero);
}

const char *tvms_c_load(c_emitter *e, const tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  const char *kept = tvms_c_register(e, load->buffer, load->indices);
  if (kept) return load_kept(e, node, kept);
  tvms_dtype element = tvms_as_buffer(load->buffer)->element;
  uint64_t bits;
  bool known = load->predicate && tvms_lanes_truths(load->predicate, &bits);
  bool narrow = tvms_c_is_narrow(element);
  const char *predicate =
      load->predicate && !known ? tvms_c_expr(e, load->predicate) : NULL;
  place p = place_of(e, load->buffer, load->indices, node->span);
  if (element.lanes > 1) tvms_c_refuse(e, node->span, "a buffer of vectors");
  if (is_whole(&p, element) && known && !narrow) return load_some(e, node, &p, bits);
  if (is_whole(&p, element) && !load->predicate) {
    if (p.step == 2) return load_pairs(e, &p, node->dtype, node->span);
    const char *whole = whole_of(e, &p, element, node->span);
    if (narrow) whole = tvms_c_widened(e, node->dtype, node->span, whole);
    return tvms_c_whole(e, node->dtype, node->span, whole);
  }
  if (known) predicate = tvms_c_expr(e, load->predicate);
  const char *value =
      tvms_c_from_memory(e, element, element_of(e, &p, element, node->span));
  if (predicate) {
    const char *lane = tvms_c_lane(e, predicate, load->predicate->dtype);
    value = tvms_c_text(e, "%s ? %s : 0", lane, value);
  }
  return tvms_c_value(e, node->dtype, node->span, value);
}

static void store_kept(c_emitter *e, const tvms_node *node, const char *kept,
                       const char *value) {
  const tvms_store *store = tvms_as_store(node);
  uint64_t bits;
  if (store->predicate && tvms_lanes_truths(store->predicate, &bits)) {
    tvms_dtype dtype = tvms_dtype_with_lanes(tvms_as_buffer(store->buffer)->element,
                                             store->predicate->dtype.lanes);
    value = some_of(e, dtype, node->span, bits, value, kept);
  }
  tvms_c_line(e, "%s = %s;", kept, value);
}

void tvms_c_store(c_emitter *e, const tvms_node *node) {
  const tvms_store *store = tvms_as_store(node);
  tvms_dtype element = tvms_as_buffer(store->buffer)->element;
  const char *value = tvms_c_expr(e, store->value);
  const char *kept = tvms_c_register(e, store->buffer, store->indices);
  if (kept) {
    store_kept(e, node, kept, value);
    return;
  }
  uint64_t bits;
  bool known = store->predicate && tvms_lanes_truths(store->predicate, &bits);
  bool narrow = tvms_c_is_narrow(element);
  const char *predicate =
      store->predicate && !(known && !narrow) ? tvms_c_expr(e, store->predicate) : NULL;
  place p = place_of(e, store->buffer, store->indices, node->span);
  if (element.lanes > 1) tvms_c_refuse(e, node->span, "a buffer of vectors");
  bool whole = p.step == 1 && store->value->dtype.lanes > 1 && is_whole(&p, element);
  if (whole && known && !narrow) {
    const char *at = pointer_to(e, &p, element, node->span);
    tvms_c_store_lanes(e, store->value->dtype, node->span, at, bits, value);
    return;
  }
  if (whole && !store->predicate) {
    const char *memory = whole_of(e, &p, element, node->span);
    if (narrow) value = tvms_c_narrowed(e, store->value->dtype, node->span, value);
    tvms_c_line(e, "%s = %s;", memory, value);
    return;
  }
  if (known && !predicate) predicate = tvms_c_expr(e, store->predicate);
  const char *lane = tvms_c_lane(e, value, store->value->dtype);
  const char *test = "";
  if (predicate)
    test =
        tvms_c_text(e, "if (%s) ", tvms_c_lane(e, predicate, store->predicate->dtype));
  const char *loop = "";
  if (p.lanes > 1) loop = tvms_c_text(e, "for (int k = 0; k < %u; k++) ", p.lanes);
  tvms_c_line(e, "%s%s%s = %s;", loop, test, element_of(e, &p, element, node->span),
              tvms_c_to_memory(e, element, lane));
}

const char *tvms_c_address(c_emitter *e, const tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  place p = place_of(e, load->buffer, load->indices, node->span);
  if (p.lanes > 1) tvms_c_refuse(e, node->span, "the address of a vector");
  return tvms_c_text(
      e, "(ptr)&%s",
      element_of(e, &p, tvms_as_buffer(load->buffer)->element, node->span));
}
