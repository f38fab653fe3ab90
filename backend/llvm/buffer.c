// Buffers: memory, addresses, loads and stores.
//
// All address arithmetic is 64-bit and cannot overflow for indices inside their buffer.
// Vectors whose last index is a ramp of step one are one access. Loads with a step of two to four
// take all that lies between and pick their lanes, and so do those whose lanes are known to lie near each other;
// others go lane by lane.
#include "backend/llvm/buffer.h"

#include "backend/core/lanes.h"
#include "backend/llvm/boxes.h"
#include "backend/llvm/counted.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/frame.h"
#include "backend/llvm/helper.h"
#include "backend/llvm/index.h"
#include "backend/llvm/kept.h"
#include "backend/llvm/masked.h"
#include "backend/llvm/once.h"
#include "backend/llvm/past.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/strided.h"
#include "backend/llvm/types.h"
#include "passes/tir/memory/lift_allocations.h"
#include "support/diag_ids.h"

enum { ALIGNMENT = TVMS_FRAME_ALIGNMENT };

// Steps of a ramp whose lanes are picked from a load of all that lies between, and lanes of it.
enum { LONGEST_STEP = 8, MOST_STEPS = 64 };

static bool is_number(LLVMValueRef value, uint64_t number) {
  return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) == number;
}

static LLVMValueRef multiply(emitter *e, LLVMValueRef a, LLVMValueRef b) {
  if (is_number(b, 1)) return a;
  return is_number(a, 1) ? b : tvms_emit_once(e, TVMS_ONCE_MUL, a, b);
}

static view *view_of(emitter *e, const tvms_buffer *buffer) {
  view *v = tvms_arena_new(&e->context->scratch, view);
  v->ndim = buffer->shape.len;
  v->loop = e->loop;
  v->shape = tvms_arena_array(&e->context->scratch, LLVMValueRef, v->ndim);
  v->strides = tvms_arena_array(&e->context->scratch, LLVMValueRef, v->ndim);
  return v;
}

static void fill_view(emitter *e, view *v, const tvms_buffer *buffer) {
  LLVMValueRef compact = tvms_emit_int(e, 1);
  for (uint32_t i = v->ndim; i > 0; i--) {
    v->shape[i - 1] = tvms_emit_index(e, buffer->shape.items[i - 1]);
    v->strides[i - 1] = compact;
    if (i > 1) compact = multiply(e, compact, v->shape[i - 1]);
  }
  tvms_list strides = tvms_buffer_strides(&buffer->head);
  for (uint32_t i = 0; i < strides.len; i++)
    v->strides[i] = tvms_emit_index(e, strides.items[i]);
  const tvms_node *offset = buffer->elem_offset;
  bool unused = offset && offset->kind == TVMS_NODE_VAR && !e->vars[offset->id];
  v->offset = offset && !unused ? tvms_emit_index(e, offset) : tvms_emit_int(e, 0);
}

view *tvms_emit_define_buffer(emitter *e, const tvms_node *node, LLVMValueRef data) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  view *v = view_of(e, buffer);
  e->views[node->id] = v;
  v->defined = true;
  if (data) e->vars[buffer->data->id] = data;
  v->data = data ? data : tvms_emit_expr(e, buffer->data);
  fill_view(e, v, buffer);
  return v;
}

view *tvms_emit_use_buffer(emitter *e, const tvms_node *node, tvms_span span) {
  view *v = e->views[node->id];
  if (v && v->defined) return v;
  const tvms_buffer *buffer = tvms_as_buffer(node);
  const tvms_node *data = buffer->data;
  if (data->kind == TVMS_NODE_VAR && !e->vars[data->id]) {
    tvms_diag_report(&e->context->diags, TVMS_D_buffer_without_memory, span,
                     tvms_symbol_text(e->context, buffer->name));
    tvms_emit_give_up(e);
  }
  v = view_of(e, buffer);
  v->data = tvms_emit_expr(e, data);
  fill_view(e, v, buffer);
  return v;
}

// Number of bytes of an allocation; *constant is 0 if it is not known here.
static LLVMValueRef bytes_of(emitter *e, tvms_dtype element, tvms_list extents,
                             tvms_span span, uint64_t *constant) {
  tvms_dl_type type = tvms_interp_dl_type_of(element);
  (void)tvms_emit_memory_type(e, element, span);
  uint64_t size = tvms_dl_element_size(type) * type.lanes;
  LLVMValueRef bytes = tvms_emit_int(e, (int64_t)size);
  *constant = size;
  for (uint32_t i = 0; i < extents.len; i++) {
    const tvms_node *extent = extents.items[i];
    bytes = multiply(e, bytes, tvms_emit_index(e, extent));
    bool known = tvms_node_is_int_imm(extent) && tvms_as_int_imm(extent)->value >= 0;
    uint64_t count = known ? (uint64_t)tvms_as_int_imm(extent)->value : 0;
    if (!known || __builtin_mul_overflow(*constant, count, constant)) *constant = 0;
  }
  return bytes;
}

// Number of bytes up to the last element that the strides of a buffer reach.
static LLVMValueRef bytes_of_strided(emitter *e, const tvms_buffer *buffer,
                                     tvms_span span, uint64_t *constant) {
  uint64_t unit;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef one = tvms_emit_int(e, 1), zero = tvms_emit_int(e, 0);
  LLVMValueRef count = one, empty = LLVMConstInt(LLVMInt1TypeInContext(e->llvm), 0, 0);
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    LLVMValueRef extent = tvms_emit_index(e, buffer->shape.items[i]);
    LLVMValueRef stride = tvms_emit_index(e, buffer->strides.items[i]);
    LLVMValueRef far = LLVMBuildMul(b, LLVMBuildSub(b, extent, one, ""), stride, "");
    count = LLVMBuildAdd(b, count, far, "");
    LLVMValueRef none = LLVMBuildICmp(b, LLVMIntSLE, extent, zero, "");
    empty = LLVMBuildOr(b, empty, none, "");
  }
  count = LLVMBuildSelect(b, empty, zero, count, "");
  LLVMValueRef size = bytes_of(e, buffer->element, (tvms_list){0}, span, &unit);
  LLVMValueRef bytes = multiply(e, count, size);
  *constant = LLVMIsAConstantInt(bytes) ? LLVMConstIntGetZExtValue(bytes) : 0;
  return bytes;
}

// Small constant sizes live in the frame, made once at its entry.
static LLVMValueRef in_frame(emitter *e, uint64_t bytes) {
  e->frame += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return tvms_emit_alloca(e, LLVMArrayType2(e->i8, bytes), ALIGNMENT);
}

static void mark_noalias(emitter *e, LLVMValueRef call) {
  unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
  LLVMAddCallSiteAttribute(call, LLVMAttributeReturnIndex,
                           LLVMCreateEnumAttribute(e->llvm, kind, 0));
}

// Checked code shows what was never written: all bits one, as in the interpreter.
static LLVMValueRef fill(emitter *e, LLVMValueRef place, LLVMValueRef bytes) {
  LLVMValueRef ones = LLVMConstAllOnes(e->i8);
  if (e->options->checked) LLVMBuildMemSet(e->builder, place, ones, bytes, 1);
  return place;
}

// Memory for `bytes`, which are `constant` if that is not 0.
static LLVMValueRef take_bytes(emitter *e, LLVMValueRef bytes, uint64_t constant,
                               tvms_span span) {
  bool fits = constant <= TVMS_LARGEST_IN_FRAME && e->frame + constant <= TVMS_FRAME;
  if (constant && fits) return fill(e, in_frame(e, constant), bytes);
  LLVMBuilderRef b = e->builder;
  LLVMValueRef place =
      e->options->checked
          ? tvms_helper_alloc(e, LLVMBuildAdd(b, bytes, tvms_emit_int(e, 1), ""))
          : tvms_emit_take(e, TVMS_KEPT_SCRATCH, bytes);
  mark_noalias(e, place);
  failure none = {.kind = "MemoryError", .text = "out of memory", .span = span};
  LLVMValueRef null = LLVMConstNull(e->pointer);
  tvms_emit_check(e, LLVMBuildICmp(b, LLVMIntNE, place, null, ""), &none);
  tvms_vec_push(&e->context->memory, &e->memory, (live_memory){.place = place});
  return fill(e, place, bytes);
}

LLVMValueRef tvms_emit_allocate(emitter *e, tvms_dtype element, tvms_list extents,
                                tvms_span span) {
  uint64_t constant;
  LLVMValueRef bytes = bytes_of(e, element, extents, span, &constant);
  return take_bytes(e, bytes, constant, span);
}

void tvms_emit_allocate_buffer(emitter *e, const tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  uint64_t constant;
  LLVMValueRef bytes =
      tvms_buffer_strides(node).len
          ? bytes_of_strided(e, buffer, node->span, &constant)
          : bytes_of(e, buffer->element, buffer->shape, node->span, &constant);
  tvms_emit_define_buffer(e, node, take_bytes(e, bytes, constant, node->span));
}

static void free_one(emitter *e, const live_memory *live) {
  if (live->boxes)
    tvms_emit_drop_boxes(e, live->place, live->boxes);
  else if (e->options->checked)
    tvms_helper_free(e, live->place);
  else
    tvms_emit_give(e, TVMS_KEPT_SCRATCH, live->place);
}

void tvms_emit_free_from(emitter *e, uint32_t mark) {
  for (uint32_t i = e->memory.len; i > mark; i--)
    free_one(e, &e->memory.items[i - 1]);
}

void tvms_emit_leave(emitter *e) {
  for (uint32_t i = e->memory.len; i > 0; i--) {
    live_memory *live = &e->memory.items[i - 1];
    bool made = live->leave != NULL;
    if (!made) live->leave = tvms_emit_block(e, "leave");
    LLVMBuildBr(e->builder, live->leave);
    if (made) return;
    tvms_emit_enter(e, live->leave);
    free_one(e, live);
  }
  LLVMBuildRet(e->builder, LLVMConstInt(e->i32, (unsigned long long)-1, true));
}

void tvms_emit_end_memory(emitter *e, uint32_t mark) {
  if (tvms_emit_is_open(e)) tvms_emit_free_from(e, mark);
  e->memory.len = mark;
}

static void check_index(emitter *e, view *v, const tvms_node *buffer, uint32_t at,
                        LLVMValueRef index, tvms_span span) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &e->context->memory);
  tvms_strbuf_printf(&text, "index of dimension %u is outside '%s'", at,
                     tvms_symbol_text(e->context, tvms_as_buffer(buffer)->name));
  failure outside = {.kind = "IndexError",
                     .text = tvms_strbuf_text(&text),
                     .span = span,
                     .got = index,
                     .expected = v->shape[at]};
  LLVMValueRef inside = LLVMBuildICmp(e->builder, LLVMIntULT, index, v->shape[at], "");
  tvms_emit_check(e, inside, &outside);
  tvms_strbuf_fini(&text);
}

// Scalar indices of one lane; the vectors among `values` give theirs.
static void indices_of_lane(emitter *e, tvms_list indices, LLVMValueRef const *values,
                            uint32_t lane, LLVMValueRef *out) {
  for (uint32_t i = 0; i < indices.len; i++) {
    bool vector = indices.items[i]->dtype.lanes > 1;
    LLVMValueRef value = vector ? tvms_emit_lane(e, values[i], lane) : values[i];
    bool is_signed = indices.items[i]->dtype.code == TVMS_INT;
    out[i] = tvms_emit_once_cast(e, value, e->i64, is_signed);
  }
}

// One access of memory: its place is that of `lane` among the lanes of the indices.
typedef struct {
  view *view;
  const tvms_node *buffer;
  tvms_list indices;
  LLVMValueRef *values;  // of the indices, computed once,
  int64_t *more;         // and what is still to be added to each
  LLVMValueRef *scalars;
  tvms_span span;
  bool anywhere;  // nothing is accessed: the place may be outside of the buffer
} access_path;

static void check_count(emitter *e, const access_path *path) {
  uint32_t count = path->indices.len;
  const view *v = path->view;
  if (count == v->ndim) return;
  tvms_diag_report(&e->context->diags, TVMS_D_wrong_index_count, path->span,
                   tvms_symbol_text(e->context, tvms_as_buffer(path->buffer)->name),
                   v->ndim, tvms_diag_plural(v->ndim), count,
                   count == 1 ? "index" : "indices");
  tvms_emit_give_up(e);
}

// The index of a dimension, without a number that is added to `number`, which counts elements.
static LLVMValueRef index_of(emitter *e, const access_path *path, uint32_t i,
                             int64_t *number) {
  LLVMValueRef index = path->scalars[i], stride = path->view->strides[i];
  if (!path->more[i]) return index;
  if (!LLVMIsAConstantInt(stride))
    return tvms_emit_once(e, TVMS_ONCE_ADD, index, tvms_emit_int(e, path->more[i]));
  tvms_emit_index_add(number, path->more[i], LLVMConstIntGetSExtValue(stride));
  return index;
}

// Something is read or written at a place in memory of others: the same one in each step of the loop?
static void note_place(emitter *e, const view *v, LLVMValueRef flat) {
  if (e->loop && !LLVMIsAAllocaInst(v->data))
    e->loop->stays |= tvms_emit_once_outside(e, flat) > 0;
}

// Address of the element at the scalar indices; checked code compares each with its dimension.
static LLVMValueRef address(emitter *e, const access_path *path) {
  view *v = path->view;
  check_count(e, path);
  LLVMValueRef flat = v->offset;
  int64_t number = 0;
  for (uint32_t i = 0; i < path->indices.len; i++) {
    if (e->options->checked && !path->anywhere)
      check_index(e, v, path->buffer, i, path->scalars[i], path->span);
    LLVMValueRef step = multiply(e, index_of(e, path, i, &number), v->strides[i]);
    if (is_number(step, 0)) continue;
    flat = is_number(flat, 0) ? step : tvms_emit_once(e, TVMS_ONCE_ADD, flat, step);
  }
  if (!path->anywhere) note_place(e, v, flat);
  tvms_dtype element = tvms_as_buffer(path->buffer)->element;
  LLVMTypeRef type = tvms_emit_memory_type(e, element, path->span);
  if (!number) return tvms_emit_once_place(e, type, v->data, flat, !path->anywhere);
  // Without the number the place may be outside of the buffer.
  LLVMValueRef base = is_number(flat, 0)
                          ? v->data
                          : tvms_emit_once_place(e, type, v->data, flat, false);
  return tvms_emit_once_place(e, type, base, tvms_emit_int(e, number), false);
}

// The first lane of a ramp, or of one that the same number is added to in every lane.
static LLVMValueRef TVMS_NULLABLE first_lane(emitter *e, const tvms_node *index,
                                             int64_t *more) {
  if (index->kind == TVMS_NODE_RAMP)
    return tvms_emit_index_parts(e, tvms_as_ramp(index)->base, more);
  const tvms_binary *sum = tvms_as_binary(index);
  bool left = sum->a->kind == TVMS_NODE_BROADCAST;
  const tvms_node *other = tvms_as_broadcast(left ? sum->a : sum->b)->value;
  LLVMValueRef added = tvms_emit_index_parts(e, other, more);
  LLVMValueRef first = first_lane(e, left ? sum->b : sum->a, more);
  if (!added || !first) return added ? added : first;
  return tvms_emit_once(e, TVMS_ONCE_ADD, first, added);
}

// The least lane of a vector of indices.
static LLVMValueRef TVMS_NULLABLE least_lane(emitter *e, const tvms_lanes *lanes,
                                             int64_t *more) {
  LLVMValueRef sum = NULL;
  for (uint32_t i = 0; i < lanes->base_count; i++) {
    LLVMValueRef part = tvms_emit_index_parts(e, lanes->bases[i], more);
    if (part) sum = sum ? tvms_emit_once(e, TVMS_ONCE_ADD, sum, part) : part;
  }
  tvms_emit_index_add(more, lanes->least, 1);
  return sum;
}

// `first_only`: indices of several lanes are ramps, and the place of their first lane is asked for only; with
// `picked` the last one is that vector, and the place of its least lane is.
static access_path open_access(emitter *e, const tvms_node *buffer, tvms_list indices,
                               bool first_only, const tvms_lanes *TVMS_NULLABLE picked,
                               tvms_span span) {
  tvms_arena *arena = &e->context->scratch;
  access_path path = {tvms_emit_use_buffer(e, buffer, span),
                      buffer,
                      indices,
                      tvms_arena_array(arena, LLVMValueRef, indices.len),
                      tvms_arena_array(arena, int64_t, indices.len),
                      tvms_arena_array(arena, LLVMValueRef, indices.len),
                      span,
                      false};
  bool before = e->in_index;
  e->in_index = true;
  for (uint32_t i = 0; i < indices.len; i++) {
    const tvms_node *index = indices.items[i];
    bool vector = index->dtype.lanes > 1;
    LLVMValueRef value = vector && picked        ? least_lane(e, picked, &path.more[i])
                         : vector && !first_only ? tvms_emit_expr(e, index)
                         : vector                ? first_lane(e, index, &path.more[i])
                                  : tvms_emit_index_parts(e, index, &path.more[i]);
    path.values[i] = value ? value : tvms_emit_int(e, 0);
  }
  e->in_index = before;
  return path;
}

static LLVMValueRef place_of(emitter *e, access_path *path, uint32_t lane) {
  indices_of_lane(e, path->indices, path->values, lane, path->scalars);
  return address(e, path);
}

LLVMValueRef tvms_emit_address(emitter *e, const tvms_node *buffer, tvms_list indices,
                               tvms_span span) {
  access_path path = open_access(e, buffer, indices, false, NULL, span);
  path.anywhere = true;
  return place_of(e, &path, 0);
}

// A ramp of step one, or one that the same number is added to in every lane.
static bool steps_by_one(const tvms_node *index) {
  if (index->kind == TVMS_NODE_RAMP)
    return tvms_node_is_int(tvms_as_ramp(index)->stride, 1);
  if (index->kind != TVMS_NODE_ADD) return false;
  const tvms_binary *sum = tvms_as_binary(index);
  return (sum->a->kind == TVMS_NODE_BROADCAST && steps_by_one(sum->b))
         || (sum->b->kind == TVMS_NODE_BROADCAST && steps_by_one(sum->a));
}

// Lanes of the indices, and whether they lie side by side.
static uint32_t index_lanes(tvms_list indices, bool *side_by_side) {
  uint32_t lanes = 1;
  *side_by_side = true;
  for (uint32_t i = 0; i < indices.len; i++) {
    const tvms_node *index = indices.items[i];
    if (index->dtype.lanes <= 1) continue;
    lanes = (uint32_t)index->dtype.lanes;
    *side_by_side &= i + 1 == indices.len && steps_by_one(index);
  }
  return lanes;
}

static bool is_compact(const tvms_node *buffer) {
  tvms_list strides = tvms_as_buffer(buffer)->strides;
  return !strides.len || tvms_node_is_int(strides.items[strides.len - 1], 1);
}

// A load that a predicate guards: lanes where it is false are zero and not touched.
typedef struct {
  access_path *path;
  tvms_dtype element;
  uint32_t lane;
} guarded_load;

static LLVMValueRef load_guarded(emitter *e, const void *what) {
  const guarded_load *load = what;
  return tvms_emit_load(e, load->element, place_of(e, load->path, load->lane),
                        load->path->span);
}

static LLVMValueRef load_zero(emitter *e, const void *what) {
  const guarded_load *load = what;
  return LLVMConstNull(tvms_emit_type(e, load->element, load->path->span));
}

static LLVMValueRef load_lane(emitter *e, access_path *path, tvms_dtype element,
                              LLVMValueRef predicate, uint32_t lane) {
  guarded_load load = {path, element, lane};
  if (!predicate) return load_guarded(e, &load);
  LLVMValueRef condition = tvms_emit_lane(e, predicate, lane);
  return tvms_emit_choose(e, condition, load_guarded, &load, load_zero, &load);
}

// The step of a ramp that a vector of neighbours can be picked from, else 0; the same number may be
// added to every lane.
static uint32_t short_step(const tvms_node *index) {
  if (index->kind == TVMS_NODE_RAMP) {
    const tvms_node *stride = tvms_as_ramp(index)->stride;
    if (!tvms_node_is_int_imm(stride)) return 0;
    int64_t step = tvms_as_int_imm(stride)->value;
    return step > 1 && step <= LONGEST_STEP ? (uint32_t)step : 0;
  }
  if (index->kind != TVMS_NODE_ADD) return 0;
  const tvms_binary *sum = tvms_as_binary(index);
  if (sum->a->kind == TVMS_NODE_BROADCAST) return short_step(sum->b);
  return sum->b->kind == TVMS_NODE_BROADCAST ? short_step(sum->a) : 0;
}

// The short step of the last index, if the other ones are the same in all lanes: one that vectors of so many lanes go
// through without a gap, so that the one that ends with the last lane is the only one that reaches so far.
static uint32_t last_step(const tvms_buffer_load *load, uint32_t lanes) {
  tvms_list indices = load->indices;
  if (lanes > MOST_STEPS || !is_compact(load->buffer)) return 0;
  for (uint32_t i = 0; i + 1 < indices.len; i++) {
    if (indices.items[i]->dtype.lanes > 1) return 0;
  }
  uint32_t step = short_step(indices.items[indices.len - 1]);
  return step <= lanes + 1 ? step : 0;
}

// Every `step`-th element from the place of the first lane on. Nothing behind the last lane is read.
static LLVMValueRef load_steps(emitter *e, access_path *path, tvms_dtype element,
                               uint32_t lanes, uint32_t step) {
  LLVMValueRef place = place_of(e, path, 0);
  if (step == 2) return tvms_emit_load_halves(e, element, place, lanes, path->span);
  return tvms_emit_load_steps(e, element, place, lanes, step, path->span);
}

// Are the lanes of a load, the last index of which is a vector, so near each other that two vectors have them?
static bool reads_near(const tvms_buffer_load *load, uint32_t lanes,
                       tvms_lanes *picked) {
  tvms_list indices = load->indices;
  if (!is_compact(load->buffer)) return false;
  for (uint32_t i = 0; i + 1 < indices.len; i++) {
    if (indices.items[i]->dtype.lanes > 1) return false;
  }
  return tvms_lanes_read(indices.items[indices.len - 1], picked)
         && picked->count == lanes && picked->span <= 2 * (int64_t)lanes;
}

// Can lanes that `predicate` leaves out be left out of a load of every second element?
static bool halves(LLVMValueRef predicate, uint32_t step, uint32_t lanes) {
  enum { MOST_MASKED = 16 };
  bool even = !(lanes & (lanes - 1));
  return step == 2 && even && lanes <= MOST_MASKED && LLVMIsConstant(predicate);
}

static LLVMValueRef load_masked(emitter *e, const tvms_node *node, LLVMValueRef place,
                                LLVMValueRef predicate, uint32_t step) {
  tvms_dtype element = tvms_dtype_with_lanes(node->dtype, 1);
  if (step)
    return tvms_emit_load_halves_masked(e, element, place, predicate, node->span);
  return tvms_emit_load_masked(e, node->dtype, place, predicate, node->span);
}

// Are the lanes of a flat buffer's load chosen while it runs, of words that machines gather?
static bool is_gathered(const tvms_buffer_load *load, tvms_dtype element,
                        LLVMValueRef TVMS_NULLABLE predicate) {
  return predicate && !LLVMIsConstant(predicate) && load->indices.len == 1
         && element.bits >= 32 && is_compact(load->buffer);
}

static LLVMValueRef load_gathered(emitter *e, const tvms_node *node, access_path *path,
                                  LLVMValueRef predicate) {
  tvms_dtype element = tvms_as_buffer(path->buffer)->element;
  const tvms_node *index = path->indices.items[0];
  LLVMTypeRef wide = LLVMVectorType(e->i64, (unsigned)index->dtype.lanes);
  LLVMValueRef places = LLVMBuildIntCast2(e->builder, path->values[0], wide,
                                          index->dtype.code == TVMS_INT, "");
  path->scalars[0] = tvms_emit_int(e, 0);
  places = LLVMBuildGEP2(e->builder, tvms_emit_memory_type(e, element, node->span),
                         address(e, path), &places, 1, "");
  return tvms_emit_load_gathered(e, node->dtype, places, predicate, node->span);
}

LLVMValueRef tvms_emit_buffer_load(emitter *e, const tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_dtype element = tvms_as_buffer(load->buffer)->element;
  bool together;
  uint32_t lanes = index_lanes(load->indices, &together);
  LLVMValueRef predicate = load->predicate ? tvms_emit_expr(e, load->predicate) : NULL;
  bool masks = predicate && tvms_emit_can_mask(element);
  bool free = !e->options->checked && lanes > 1 && (!predicate || masks);
  bool whole = free && together && is_compact(load->buffer);
  uint32_t step = free && !whole ? last_step(load, lanes) : 0;
  if (step && predicate && !halves(predicate, step, lanes)) step = 0;
  LLVMValueRef counted =
      !predicate && (whole || lanes == 1) && !e->options->checked
          ? tvms_emit_counted(e, tvms_emit_use_buffer(e, load->buffer, node->span),
                              load->indices, element, node->span)
          : NULL;
  if (counted) return tvms_emit_load(e, node->dtype, counted, node->span);
  tvms_lanes picked;
  bool near = free && !whole && !step && !predicate && reads_near(load, lanes, &picked);
  access_path path = open_access(e, load->buffer, load->indices, whole || step,
                                 near ? &picked : NULL, node->span);
  if (lanes == 1) return load_lane(e, &path, element, predicate, 0);
  if (element.lanes > 1) tvms_emit_refuse(e, node->span, "a vector of vectors");
  if (predicate && (whole || step))
    return load_masked(e, node, place_of(e, &path, 0), predicate, step);
  if (whole) return tvms_emit_load(e, node->dtype, place_of(e, &path, 0), node->span);
  if (step) return load_steps(e, &path, element, lanes, step);
  if (near)
    return tvms_emit_load_picked(e, element, place_of(e, &path, 0), &picked,
                                 node->span);
  if (free && is_gathered(load, element, predicate))
    return load_gathered(e, node, &path, predicate);
  LLVMValueRef result = LLVMGetUndef(tvms_emit_type(e, node->dtype, node->span));
  for (uint32_t i = 0; i < lanes; i++) {
    LLVMValueRef value = load_lane(e, &path, element, predicate, i);
    LLVMValueRef at = LLVMConstInt(e->i32, i, false);
    result = LLVMBuildInsertElement(e->builder, result, value, at, "");
  }
  return result;
}

static void store_lane(emitter *e, access_path *path, tvms_dtype element,
                       LLVMValueRef predicate, LLVMValueRef value, uint32_t lane) {
  if (!predicate) {
    tvms_emit_store(e, element, value, place_of(e, path, lane), path->span);
    return;
  }
  LLVMBasicBlockRef yes = tvms_emit_block(e, "store");
  LLVMBasicBlockRef end = tvms_emit_block(e, "end");
  LLVMBuildCondBr(e->builder, tvms_emit_lane(e, predicate, lane), yes, end);
  tvms_emit_enter(e, yes);
  tvms_emit_store(e, element, value, place_of(e, path, lane), path->span);
  LLVMBuildBr(e->builder, end);
  tvms_emit_enter(e, end);
}

// Vectors are stored at a place.
static void note_vectors(emitter *e, const view *place) {
  bool kept = LLVMIsAAllocaInst(place->data) && e->loop != place->loop;
  e->stores |= kept ? STORES_VECTORS | STORES_SUMS : STORES_VECTORS;
  if (e->loop) e->loop->vectors = true;
  if (e->loop) e->loop->sums |= kept;
}

void tvms_emit_buffer_store(emitter *e, const tvms_node *node) {
  const tvms_store *store = tvms_as_store(node);
  tvms_dtype element = tvms_as_buffer(store->buffer)->element;
  LLVMValueRef value = tvms_emit_expr(e, store->value);
  LLVMValueRef predicate =
      store->predicate ? tvms_emit_expr(e, store->predicate) : NULL;
  bool together;
  uint32_t lanes = index_lanes(store->indices, &together);
  bool masks = predicate && tvms_emit_can_mask(element);
  bool whole = together && is_compact(store->buffer) && (!predicate || masks)
               && !e->options->checked && lanes > 1;
  LLVMValueRef counted =
      whole && !predicate
          ? tvms_emit_counted(e, tvms_emit_use_buffer(e, store->buffer, node->span),
                              store->indices, element, node->span)
          : NULL;
  if (counted) {
    tvms_dtype vector = tvms_dtype_with_lanes(element, (int)lanes);
    const view *stored = tvms_emit_use_buffer(e, store->buffer, node->span);
    note_vectors(e, stored);
    if (store->value->dtype.lanes <= 1) value = tvms_emit_splat(e, value, lanes);
    tvms_emit_store_vector(e, vector, value, counted, stored->data, node->span);
    return;
  }
  access_path path =
      open_access(e, store->buffer, store->indices, whole, NULL, node->span);
  if (lanes == 1) {
    e->stores |= STORES_ELEMENTS;
    if (e->loop) e->loop->stores = true;
    store_lane(e, &path, element, predicate, value, 0);
    return;
  }
  note_vectors(e, path.view);
  if (element.lanes > 1) tvms_emit_refuse(e, node->span, "a vector of vectors");
  if (store->value->dtype.lanes <= 1) value = tvms_emit_splat(e, value, lanes);
  if (whole) {
    tvms_dtype vector = tvms_dtype_with_lanes(element, (int)lanes);
    LLVMValueRef place = place_of(e, &path, 0);
    if (predicate)
      tvms_emit_store_masked(e, vector, value, place, predicate, node->span);
    else
      tvms_emit_store_vector(e, vector, value, place, path.view->data, node->span);
    return;
  }
  for (uint32_t i = 0; i < lanes; i++) {
    store_lane(e, &path, element, predicate, tvms_emit_lane(e, value, i), i);
  }
}
