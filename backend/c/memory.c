// Buffers of C text: memory, addresses, loads and stores.
//
// Vectors whose last index is a ramp of step one are one access; others go lane by lane.
#include "backend/c/memory.h"

#include "backend/c/expr.h"
#include "backend/c/folds.h"
#include "backend/c/masked.h"
#include "backend/c/past.h"
#include "backend/c/picked.h"
#include "backend/c/registers.h"
#include "backend/c/sums.h"
#include "backend/c/truths.h"
#include "backend/c/vector.h"
#include "backend/c/windows.h"
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
  tvms_list strides = tvms_buffer_strides(&buffer->head);
  for (uint32_t i = 0; i < strides.len; i++)
    v->strides[i] = tvms_c_index(e, strides.items[i]);
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
  bool none = !offset || unused || tvms_node_is_int(offset, 0);
  v->offset = none ? "0" : tvms_c_index(e, offset);
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

void tvms_c_end_memory(c_emitter *e, uint32_t mark, bool open) {
  if (open) tvms_c_free_from(e, mark);
  e->memory.len = mark;
}

// ---- Accesses ----

// Where an access goes: `flat` and the number, of lane `k` if the indices have lanes.
typedef struct {
  const char *data;
  const char *flat;
  int64_t number;
  uint32_t lanes;
  // Lane k lies so many elements behind lane k - 1, and `flat` is the place of lane 0; 0: neither.
  int64_t step;
} place;

// The ramp that an index is, or that `*more` is added to in every lane; NULL: it is another vector.
static const tvms_ramp *TVMS_NULLABLE ramp_of(const tvms_node *index,
                                              const tvms_node *TVMS_NULLABLE *more) {
  *more = NULL;
  if (index->kind == TVMS_NODE_ADD) {
    const tvms_binary *sum = tvms_as_binary(index);
    bool first = sum->a->kind == TVMS_NODE_BROADCAST;
    const tvms_node *same = first ? sum->a : sum->b;
    if (same->kind != TVMS_NODE_BROADCAST) return NULL;
    *more = tvms_as_broadcast(same)->value;
    index = first ? sum->b : sum->a;
  }
  return index->kind == TVMS_NODE_RAMP ? tvms_as_ramp(index) : NULL;
}

// How far apart lanes of an index lie in a compact buffer; 0: that is not known.
static int64_t step_of(const tvms_node *index, bool last) {
  const tvms_node *more;
  const tvms_ramp *ramp = last ? ramp_of(index, &more) : NULL;
  bool known = ramp && tvms_node_is_int_imm(ramp->stride);
  return known ? tvms_as_int_imm(ramp->stride)->value : 0;
}

static void check_count(c_emitter *e, const c_view *v, const tvms_node *node,
                        uint32_t count, tvms_span span) {
  if (count == v->ndim) return;
  tvms_diag_report(&e->context->diags, TVMS_D_wrong_index_count, span,
                   tvms_symbol_text(e->context, tvms_as_buffer(node)->name), v->ndim,
                   tvms_diag_plural(v->ndim), count, count == 1 ? "index" : "indices");
  tvms_c_give_up(e);
}

// The text of a scalar index, or of lane `k`, but for what is added to it last.
static const char *index_text(c_emitter *e, const tvms_node *index, int64_t *number) {
  c_sum sum = {0};
  *number = 0;
  if (index->dtype.lanes > 1 || !tvms_c_sum_add(&sum, index))
    return tvms_c_lane(e, tvms_c_index(e, index), index->dtype);
  *number = sum.number;
  const char *text = "";
  for (uint32_t i = 0; i < sum.count; i++)
    if (!sum.minus[i])
      text = tvms_c_text(e, "%s%s%s", text, *text ? " + " : "",
                         tvms_c_index(e, sum.terms[i]));
  if (!*text) text = "0ll";
  for (uint32_t i = 0; i < sum.count; i++)
    if (sum.minus[i])
      text = tvms_c_text(e, "%s - %s", text, tvms_c_index(e, sum.terms[i]));
  return text;
}

// The sum of what lanes have in common.
static const char *base_text(c_emitter *e, const tvms_lanes *lanes, int64_t *number) {
  const char *text = lanes->base_count ? "" : "0ll";
  int64_t all = 0;
  for (uint32_t i = 0; i < lanes->base_count; i++) {
    const char *base = index_text(e, lanes->bases[i], number);
    text = tvms_c_text(e, "%s%s%s", text, i ? " + " : "", base);
    all += *number;
  }
  *number = all;
  return text;
}

// The first lane of a ramp, as index_text.
static const char *first_text(c_emitter *e, const tvms_node *index, int64_t *number) {
  const tvms_node *more;
  const tvms_ramp *ramp = ramp_of(index, &more);
  const char *text = index_text(e, ramp->base, number);
  if (!more) return text;
  int64_t added;
  text = tvms_c_text(e, "%s + %s", text, index_text(e, more, &added));
  *number += added;
  return text;
}

static void add_index(c_emitter *e, place *p, const char *stride, const char *at,
                      int64_t number) {
  bool beside = !strcmp(stride, "1");
  if (beside)
    p->number += number;
  else if (number)
    at = tvms_c_text(e, "(i64)(%s + %lld) * %s", at, (long long)number, stride);
  else
    at = tvms_c_text(e, "(i64)(%s) * %s", at, stride);
  p->flat = strcmp(p->flat, "0") ? tvms_c_text(e, "%s + %s", p->flat, at) : at;
}

// Where an access goes; with `picked`, which was read of the last index, the place is that of offset 0.
static place place_of(c_emitter *e, const tvms_node *node, tvms_list indices,
                      const tvms_lanes *TVMS_NULLABLE picked, tvms_span span) {
  const c_view *v = use(e, node, span);
  tvms_list strides = tvms_as_buffer(node)->strides;
  bool compact = !strides.len || tvms_node_is_int(strides.items[strides.len - 1], 1);
  place p = {.data = v->data, .flat = v->offset, .lanes = 1, .step = 1};
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
    int64_t number;
    const char *at = picked && index->dtype.lanes > 1 ? base_text(e, picked, &number)
                     : base                           ? first_text(e, index, &number)
                                                      : index_text(e, index, &number);
    add_index(e, &p, v->strides[i], at, number);
  }
  return p;
}

static const char *pointer_to(c_emitter *e, const place *p, tvms_dtype element,
                              tvms_span span) {
  const char *type = tvms_c_memory_type(e, element, span);
  if (!p->number) return tvms_c_text(e, "((%s *)%s + (%s))", type, p->data, p->flat);
  return tvms_c_text(e, "((%s *)%s + (%s) + %lld)", type, p->data, p->flat,
                     (long long)p->number);
}

// The element of lane `k`, or of a scalar.
static const char *element_of(c_emitter *e, const place *p, tvms_dtype element,
                              tvms_span span) {
  const char *at = pointer_to(e, p, element, span);
  if (p->lanes <= 1 || !p->step) return tvms_c_text(e, "(*%s)", at);
  if (p->step == 1) return tvms_c_text(e, "%s[k]", at);
  return tvms_c_text(e, "%s[%lld * k]", at, (long long)p->step);
}

static bool is_whole(const place *p, tvms_dtype element) {
  bool narrow = tvms_dtype_is_real(element) && element.bits < 32;
  bool truths = element.code == TVMS_BOOL;
  bool same =
      (!narrow && !truths) || (p->lanes <= 64 && (truths || tvms_c_is_narrow(element)));
  bool full = !(p->lanes & (p->lanes - 1));
  return p->lanes > 1 && full && p->step == 1 && same;
}

// Is it an access of some lanes of a vector? `bits` says of which: those of a predicate, if numbers decide it, or the
// first ones where the vector that C has is longer.
static bool is_some(const place *p, tvms_dtype element,
                    const tvms_node *TVMS_NULLABLE predicate, uint64_t *bits) {
  bool kind = element.code == TVMS_FLOAT || element.code == TVMS_INT
              || element.code == TVMS_UINT;
  bool full = !(p->lanes & (p->lanes - 1));
  if (p->lanes < 2 || p->lanes > 64 || !kind || tvms_c_is_narrow(element)) return false;
  if (predicate)
    return full && (p->step == 1 || p->step == 2) && tvms_lanes_truths(predicate, bits);
  *bits = UINT64_MAX >> (64 - p->lanes);
  return !full && p->step == 1 && element.code == TVMS_FLOAT;
}

// The type of a vector that lies side by side, in its form in memory.
static tvms_dtype form_of(const place *p, tvms_dtype element) {
  if (tvms_c_is_narrow(element)) element = TVMS_DTYPE(UINT, 16);
  return tvms_dtype_with_lanes(element, (int)p->lanes);
}

// A vector of which some lanes are loaded, of a place or a variable.
static const char *load_some(c_emitter *e, const tvms_node *node, const place *p,
                             uint64_t bits) {
  const char *at = pointer_to(e, p, tvms_dtype_with_lanes(node->dtype, 1), node->span);
  if (p->step == 2 && bits)
    return tvms_c_load_some_pairs(e, node->dtype, node->span, at, bits,
                                  tvms_c_windows_around(e, node));
  return tvms_c_whole(e, node->dtype, node->span,
                      tvms_c_load_lanes(e, node->dtype, node->span, at, bits));
}

// The lanes `bits` of a vector, others 0 or those of `others`.
static const char *some_of(c_emitter *e, tvms_dtype dtype, tvms_span span,
                           uint64_t bits, const char *value, const char *others) {
  const char *mask = tvms_c_lanes_mask(e, dtype.bits, dtype.lanes, span, bits);
  return tvms_c_blend(e, dtype, span, mask, value, others);
}

// Bytes are true unless they are 0.
static const char *load_truths(c_emitter *e, const tvms_node *node, const char *whole) {
  const char *number = tvms_c_text(e, "%u", e->next++);
  const char *type = tvms_c_type(e, node->dtype, node->span);
  tvms_c_line(e, "const %s h%s = %s;", type, number, whole);
  const char *value = tvms_c_whole(
      e, node->dtype, node->span, tvms_c_text(e, "(%s)((h%s != 0) & 1)", type, number));
  tvms_dtype bytes = {TVMS_UINT, 8, node->dtype.lanes};
  tvms_c_note_compared(e, value, bytes, tvms_c_text(e, "h%s", number), "!=", NULL);
  return value;
}

static const char *load_whole(c_emitter *e, const tvms_node *node, const place *p) {
  tvms_dtype element = tvms_dtype_with_lanes(node->dtype, 1);
  const char *whole = tvms_c_load_whole(e, form_of(p, element), node->span,
                                        pointer_to(e, p, element, node->span));
  if (element.code == TVMS_BOOL) return load_truths(e, node, whole);
  if (tvms_c_is_narrow(element)) return tvms_c_widen(e, node->dtype, node->span, whole);
  return tvms_c_whole(e, node->dtype, node->span, whole);
}

static const char *load_kept(c_emitter *e, const tvms_node *node, const char *kept) {
  const tvms_node *predicate = tvms_as_buffer_load(node)->predicate;
  bool narrow = tvms_c_in_form(e, tvms_as_buffer_load(node)->buffer);
  uint64_t bits;
  if (narrow) kept = tvms_c_widen(e, node->dtype, node->span, kept);
  if (!predicate || !tvms_lanes_truths(predicate, &bits))
    return narrow ? kept : tvms_c_whole(e, node->dtype, node->span, kept);
  const char *zero = tvms_c_spread(e, node->dtype, node->span, "0");
  return some_of(e, node->dtype, node->span, bits, kept, zero);
}

// Are the lanes of a load picked from whole vectors? Not those that are one whole vector.
static bool is_near(const tvms_buffer_load *load, tvms_lanes *lanes) {
  const tvms_buffer *buffer = tvms_as_buffer(load->buffer);
  tvms_list indices = load->indices, strides = buffer->strides;
  if (!indices.len
      || (strides.len && !tvms_node_is_int(strides.items[strides.len - 1], 1)))
    return false;
  for (uint32_t i = 0; i + 1 < indices.len; i++)
    if (indices.items[i]->dtype.lanes > 1) return false;
  const tvms_node *index = indices.items[indices.len - 1];
  bool beside =
      index->kind == TVMS_NODE_RAMP && tvms_node_is_int(tvms_as_ramp(index)->stride, 1);
  return index->dtype.lanes > 1 && !beside && tvms_lanes_read(index, lanes)
         && tvms_c_is_picked(buffer->element, lanes);
}

// What gathers so many elements, by the names of GCC's builtins; NULL: nothing does.
static const char *TVMS_NULLABLE gathering(tvms_dtype dtype, tvms_dtype index) {
  static const struct {
    int bits, index_bits, lanes;
    const char *real, *whole;
  } rows[] = {{32, 64, 8, "gatherdiv16sf", "gatherdiv16si"},
              {64, 64, 8, "gatherdiv8df", "gatherdiv8di"},
              {64, 64, 4, "gather3div4df", "gather3div4di"},
              {32, 32, 16, "gathersiv16sf", "gathersiv16si"},
              {32, 32, 8, "gather3siv8sf", "gather3siv8si"},
              {64, 32, 8, "gathersiv8df", "gathersiv8di"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].bits == dtype.bits && rows[i].lanes == dtype.lanes
        && rows[i].index_bits == index.bits && index.code == TVMS_INT)
      return tvms_dtype_is_real(dtype) ? rows[i].real : rows[i].whole;
  return NULL;
}

// Elements at places that are computed, of which a condition leaves out some: one instruction of a processor that
// gathers them, a list of lanes elsewhere. NULL: it is none of these.
static const char *TVMS_NULLABLE load_gathered(c_emitter *e, const tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  const tvms_node *index = load->indices.items[0];
  tvms_dtype dtype = node->dtype;
  const char *gathers = gathering(dtype, index->dtype);
  if (!gathers || index->kind == TVMS_NODE_RAMP || load->indices.len != 1) return NULL;
  const c_view *v = use(e, load->buffer, node->span);
  const char *test = tvms_c_expr(e, load->predicate), *bits = tvms_c_bits_of(e, test);
  if (!bits || strcmp(v->strides[0], "1")) return NULL;
  const char *places = tvms_c_index(e, index),
             *type = tvms_c_type(e, dtype, node->span);
  tvms_dtype element = tvms_dtype_with_lanes(dtype, 1);
  const char *at =
      tvms_c_text(e, "((%s *)%s + (%s))", tvms_c_memory_type(e, element, node->span),
                  v->data, v->offset);
  const char *lane =
      tvms_c_text(e, "%s ? %s[%s[k]] : 0", tvms_c_lane(e, test, load->predicate->dtype),
                  at, places);
  const char *name = tvms_c_text(e, "GATHER_%s_%d", type, index->dtype.bits);
  if (tvms_c_is_new(e, name))
    tvms_strbuf_printf(
        &e->head,
        "#if defined ALL_OF_512\n"
        "#define %s(bits, at, places, list) (%s)__builtin_ia32_%s((%s){0}, "
        "(const void *)(at), places, bits, %d)\n"
        "#else\n#define %s(bits, at, places, list) list\n#endif\n",
        name, type, gathers, type, dtype.bits / 8, name);
  return tvms_c_whole(e, dtype, node->span,
                      tvms_c_text(e, "%s(%s, %s, %s, ((%s)%s))", name, bits, at, places,
                                  type, tvms_c_listed(e, lane, dtype.lanes)));
}

const char *tvms_c_load(c_emitter *e, const tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  const char *kept = tvms_c_register(e, load->buffer, load->indices);
  if (kept) return load_kept(e, node, kept);
  kept = tvms_c_register_part(e, load->buffer, load->indices, node->span);
  tvms_dtype element = tvms_as_buffer(load->buffer)->element;
  if (kept)
    return tvms_c_in_form(e, load->buffer)
               ? tvms_c_widen(e, node->dtype, node->span, kept)
               : kept;
  if (element.lanes > 1) tvms_c_refuse(e, node->span, "a buffer of vectors");
  const char *gathered = load->predicate ? load_gathered(e, node) : NULL;
  if (gathered) return gathered;
  tvms_lanes lanes;
  if (!load->predicate && is_near(load, &lanes)) {
    tvms_c_windows_widen(e, node, &lanes);
    place p = place_of(e, load->buffer, load->indices, &lanes, node->span);
    return tvms_c_load_picked(e, node->dtype, node->span,
                              pointer_to(e, &p, element, node->span), &lanes);
  }
  uint64_t bits;
  place p = place_of(e, load->buffer, load->indices, NULL, node->span);
  if (is_some(&p, element, load->predicate, &bits)) return load_some(e, node, &p, bits);
  if (is_whole(&p, element) && !load->predicate) return load_whole(e, node, &p);
  const char *at = element_of(e, &p, element, node->span);
  if (tvms_c_is_narrow(element) && p.lanes <= 1 && !load->predicate)
    return tvms_c_widen(e, node->dtype, node->span, at);
  const char *value = tvms_c_from_memory(e, element, at);
  if (load->predicate) {
    const char *predicate = tvms_c_expr(e, load->predicate);
    const char *lane = tvms_c_lane(e, predicate, load->predicate->dtype);
    value = tvms_c_text(e, "%s ? %s : 0", lane, value);
  }
  return tvms_c_value(e, node->dtype, node->span, value);
}

// What is stored in variables, in the form that it has in these.
static const char *form_in_register(c_emitter *e, const tvms_store *store,
                                    const char *value) {
  tvms_dtype dtype = store->value->dtype;
  if (!tvms_c_in_form(e, store->buffer)) return value;
  return dtype.lanes > 1 ? tvms_c_narrowed(e, dtype, store->head.span, value)
                         : tvms_c_to_memory(e, dtype, value);
}

static void store_kept(c_emitter *e, const tvms_node *node, const char *kept,
                       const char *value) {
  const tvms_store *store = tvms_as_store(node);
  uint64_t bits;
  tvms_c_note_fold(e, store);
  if (store->predicate && tvms_lanes_truths(store->predicate, &bits)) {
    tvms_dtype dtype = tvms_dtype_with_lanes(tvms_as_buffer(store->buffer)->element,
                                             store->predicate->dtype.lanes);
    const char *others = tvms_c_in_form(e, store->buffer)
                             ? tvms_c_widen(e, dtype, node->span, kept)
                             : kept;
    value = some_of(e, dtype, node->span, bits, value, others);
  }
  tvms_c_line(e, "%s = %s;", kept, form_in_register(e, store, value));
}

static void store_whole(c_emitter *e, const tvms_store *store, const place *p,
                        const char *value) {
  tvms_dtype element = tvms_as_buffer(store->buffer)->element;
  tvms_span span = store->head.span;
  const char *memory = pointer_to(e, p, element, span);
  if (tvms_c_is_narrow(element))
    value = tvms_c_narrowed(e, store->value->dtype, span, value);
  if (element.code == TVMS_BOOL) value = tvms_c_truths(e, (int)p->lanes, span, value);
  tvms_c_store_vector(e, form_of(p, element), span, memory, value);
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
  bool apart = tvms_c_has_parts(e, store->buffer);
  if (apart) {
    tvms_c_register_store(e, store->buffer, store->indices, node->span,
                          form_in_register(e, store, value));
    return;
  }
  uint64_t bits;
  place p = place_of(e, store->buffer, store->indices, NULL, node->span);
  if (element.lanes > 1) tvms_c_refuse(e, node->span, "a buffer of vectors");
  bool beside = p.step == 1 && store->value->dtype.lanes > 1;
  if (beside && is_some(&p, element, store->predicate, &bits)) {
    const char *at = pointer_to(e, &p, element, node->span);
    tvms_c_store_lanes(e, store->value->dtype, node->span, at, bits, value);
    return;
  }
  if (beside && is_whole(&p, element) && !store->predicate) {
    store_whole(e, store, &p, value);
    return;
  }
  const char *predicate = store->predicate ? tvms_c_expr(e, store->predicate) : NULL;
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
  place p = place_of(e, load->buffer, load->indices, NULL, node->span);
  if (p.lanes > 1) tvms_c_refuse(e, node->span, "the address of a vector");
  return tvms_c_text(
      e, "(ptr)&%s",
      element_of(e, &p, tvms_as_buffer(load->buffer)->element, node->span));
}
