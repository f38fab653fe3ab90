// The steps of an entry (backend/core/entry.h).
//
// The order is TVM 0.27's (tvm_ffi_binder.cc): first what must hold before anything is
// read (count, kinds, rank, data type, device), then sizes that were seen before, strides
// and data pointers, then constants and compound sizes, which come earlier for a Relax function. One difference: an
// object that is no tensor is refused where a tensor is expected; TVM would read it as one.
#include "backend/core/entry.h"

#include "backend/core/entry_tensors.h"
#include "interp/interp.h"
#include "ir/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Kinds of arguments ----

static uint32_t decode_pointer(tvms_entry_maker *m, uint32_t args, int64_t slot,
                               uint32_t kind, bool tensor) {
  uint32_t is_tensor = tvms_entry_equals(m, kind, TVMS_ANY_TENSOR);
  uint32_t good = tvms_entry_either_of(m, kind, TVMS_ANY_NONE, TVMS_ANY_POINTER);
  good = tvms_entry_either(m, good, tvms_entry_equals(m, kind, TVMS_ANY_DL_TENSOR));
  uint32_t object = is_tensor;
  if (!tensor)
    object = tvms_entry_take(m, TVMS_ENTRY_AT_LEAST, kind,
                             tvms_entry_number(m, TVMS_ANY_OBJECT));
  tvms_entry_require_kind(m, m->argument, tvms_entry_either(m, good, object),
                          tensor ? "Tensor" : "pointer");
  int64_t at = slot + (int64_t)offsetof(tvms_any, v);
  uint32_t value = tvms_entry_take_with(m, TVMS_ENTRY_LOAD_POINTER, args, at);
  uint32_t content =
      tvms_entry_take_with(m, TVMS_ENTRY_OFFSET, value, TVMS_OBJECT_HEAD);
  return tvms_entry_choose(m, is_tensor, content, value);
}

// A number in 64 bits: an integer as it is in its own type, the bits of a double.
static uint32_t decode_number(tvms_entry_maker *m, uint32_t args, int64_t slot,
                              uint32_t kind, tvms_dtype dtype) {
  uint32_t whole = tvms_entry_either_of(m, kind, TVMS_ANY_INT, TVMS_ANY_BOOL);
  int64_t at = slot + (int64_t)offsetof(tvms_any, v);
  uint32_t value = tvms_entry_take_with(m, TVMS_ENTRY_LOAD_INT64, args, at);
  if (!tvms_dtype_is_real(dtype)) {
    tvms_entry_require_kind(m, m->argument, whole,
                            tvms_dtype_is_bool(dtype) ? "boolean" : "int");
    return tvms_entry_narrow(m, value, dtype);
  }
  uint32_t is_real = tvms_entry_equals(m, kind, TVMS_ANY_FLOAT);
  tvms_entry_require_kind(m, m->argument, tvms_entry_either(m, whole, is_real),
                          "float");
  return tvms_entry_choose(m, is_real, value,
                           tvms_entry_take(m, TVMS_ENTRY_REAL, value, 0));
}

// Is it one for `fixed` of the entry?
static bool is_fixed(const tvms_entry_maker *m, const tvms_buffer *buffer) {
  const tvms_node *offset = buffer->elem_offset;
  bool fixed =
      m->tensor_count && !buffer->strides.len
      && (!offset || (tvms_node_is_int_imm(offset) && !tvms_as_int_imm(offset)->value));
  for (uint32_t i = 0; i < buffer->shape.len && fixed; i++) {
    const tvms_node *size = buffer->shape.items[i];
    fixed = tvms_node_is_int_imm(size) && tvms_as_int_imm(size)->value > 0;
  }
  return fixed;
}

static void decode_tensor(tvms_entry_maker *m, uint32_t i, const tvms_buffer *buffer,
                          uint32_t args, int64_t slot) {
  m->fixes = is_fixed(m, buffer);
  if (m->fixes) m->fixed[m->fixed_count++] = (tvms_entry_fixed){buffer, i, args, slot};
  tvms_entry_tensor *tensor = &m->tensors[m->tensor_count++];
  int64_t at = slot + (int64_t)offsetof(tvms_any, type_index);
  *tensor = (tvms_entry_tensor){
      .buffer = buffer, .index = i, .argument = m->argument, .fixed = m->fixes};
  uint32_t kind = tvms_entry_take_with(m, TVMS_ENTRY_LOAD_INT32, args, at);
  tensor->tensor = decode_pointer(m, args, slot, kind, true);
  m->fixes = false;
}

static void decode_argument(tvms_entry_maker *m, uint32_t i, uint32_t args,
                            int64_t slot) {
  const tvms_node *param = m->function->params.items[i];
  const tvms_node *buffer = m->function->buffers.items[i];
  if (buffer) {
    decode_tensor(m, i, tvms_as_buffer(buffer), args, slot);
    return;
  }
  int64_t at = slot + (int64_t)offsetof(tvms_any, type_index);
  uint32_t kind = tvms_entry_take_with(m, TVMS_ENTRY_LOAD_INT32, args, at);
  bool handle = tvms_dtype_is_handle(param->dtype);
  m->params[i] = handle ? decode_pointer(m, args, slot, kind, false)
                        : decode_number(m, args, slot, kind, param->dtype);
  tvms_entry_know(m, param, tvms_words_of_var(&m->words, param), m->params[i]);
}

// An object that holds `count` items: a tuple or a shape. Returns where the items are.
static uint32_t decode_object(tvms_entry_maker *m, uint32_t args, int64_t slot,
                              int32_t wanted, uint32_t count, const char *name) {
  int64_t at = slot + (int64_t)offsetof(tvms_any, type_index);
  uint32_t kind = tvms_entry_take_with(m, TVMS_ENTRY_LOAD_INT32, args, at);
  tvms_entry_require_kind(m, m->argument, tvms_entry_equals(m, kind, wanted), name);
  at = slot + (int64_t)offsetof(tvms_any, v);
  uint32_t object = tvms_entry_take_with(m, TVMS_ENTRY_LOAD_POINTER, args, at);
  uint32_t content =
      tvms_entry_take_with(m, TVMS_ENTRY_OFFSET, object, TVMS_OBJECT_HEAD);
  tvms_entry_guard(m);
  // A shape has its size in a word of the machine.
  uint32_t size =
      wanted == TVMS_ANY_SHAPE
          ? tvms_entry_load(m, TVMS_ENTRY_LOAD_POINTER, content, TVMS_LAYOUT_SHAPE_SIZE)
          : tvms_entry_load(m, TVMS_ENTRY_LOAD_INT64, content, TVMS_LAYOUT_ARRAY_SIZE);
  char text[32];
  snprintf(text, sizeof text, "%u", count);
  tvms_entry_require(m, tvms_entry_equals(m, size, count), "ValueError",
                     tvms_words_message(&m->words,
                                        tvms_words_expected(&m->words, "%s", text),
                                        "Mismatched length of the %s on argument #%u",
                                        name, m->argument));
  uint32_t items =
      tvms_entry_load(m, TVMS_ENTRY_LOAD_POINTER, content, TVMS_LAYOUT_SHAPE_DATA);
  tvms_entry_guard(m);
  return items;
}

static void decode_shape(tvms_entry_maker *m, uint32_t first, uint32_t rank,
                         uint32_t args, int64_t slot) {
  uint32_t items = decode_object(m, args, slot, TVMS_ANY_SHAPE, rank, "Shape");
  for (uint32_t i = 0; i < rank; i++) {
    const tvms_node *param = m->function->params.items[first + i];
    int64_t at = (int64_t)(i * sizeof(int64_t));
    uint32_t value = tvms_entry_take_with(m, TVMS_ENTRY_LOAD_INT64, items, at);
    m->params[first + i] = tvms_entry_narrow(m, value, param->dtype);
    tvms_entry_know(m, param, tvms_words_of_var(&m->words, param),
                    m->params[first + i]);
  }
}

// Arguments as the text of the contract has them, up to the end of a tuple. Returns where the text
// ends, and puts the next parameter into *next.
static const char *decode_values(tvms_entry_maker *m, const char *text, uint32_t args,
                                 uint32_t *next, bool nested) {
  for (int64_t slot = 0; *text && *text != ')'; slot += (int64_t)sizeof(tvms_any)) {
    char kind = *text++;
    if (!nested) m->argument = (uint32_t)(slot / (int64_t)sizeof(tvms_any));
    if (kind == '(') {
      uint32_t items = decode_object(m, args, slot, TVMS_ANY_ARRAY,
                                     tvms_contract_items(text), "Array");
      text = decode_values(m, text, items, next, true) + 1;
    } else if (kind == 's') {
      uint32_t rank = 0;
      for (; *text >= '0' && *text <= '9'; text++)
        rank = rank * 10 + (uint32_t)(*text - '0');
      decode_shape(m, *next, rank, args, slot);
      *next += rank;
    } else if (kind == 'o') {
      m->params[(*next)++] = tvms_entry_take_with(m, TVMS_ENTRY_OFFSET, args, slot);
    } else {
      decode_argument(m, (*next)++, args, slot);
    }
  }
  return text;
}

static void decode_arguments(tvms_entry_maker *m, uint32_t args) {
  uint32_t next = 0;
  if (m->contract.input_text) {
    decode_values(m, m->contract.input_text, args, &next, false);
    return;
  }
  for (uint32_t i = 0; i < m->contract.inputs; i++) {
    m->argument = i;
    decode_argument(m, i, args, (int64_t)(i * sizeof(tvms_any)));
  }
}

// ---- Results ----

// A size that is a number, or one of a tensor among the arguments, is not negative.
static bool is_of_tensor(const tvms_entry_maker *m, const tvms_node *size) {
  if (tvms_node_is_int_imm(size)) return tvms_as_int_imm(size)->value >= 0;
  for (uint32_t i = 0; i < m->tensor_count; i++) {
    tvms_list shape = m->tensors[i].buffer->shape;
    for (uint32_t k = 0; k < shape.len; k++)
      if (shape.items[k] == size) return true;
  }
  return false;
}

static void plan_tensor(tvms_entry_maker *m, tvms_entry_result *r,
                        const tvms_buffer *buffer) {
  tvms_arena *arena = &m->context->scratch;
  r->ndim = buffer->shape.len;
  r->dims = tvms_arena_array(arena, uint32_t, r->ndim);
  r->strides = tvms_arena_array(arena, uint32_t, r->ndim);
  uint32_t compact = tvms_entry_number(m, 1);
  for (uint32_t i = r->ndim; i > 0; i--) {
    r->dims[i - 1] = tvms_entry_size_of(m, buffer->shape.items[i - 1]);
    r->strides[i - 1] = compact;
    compact = tvms_entry_take(m, TVMS_ENTRY_GROW_MUL, compact, r->dims[i - 1]);
    if (is_of_tensor(m, buffer->shape.items[i - 1])) continue;
    uint32_t zero = tvms_entry_number(m, 0);
    tvms_entry_require(m, tvms_entry_take(m, TVMS_ENTRY_AT_LEAST, r->dims[i - 1], zero),
                       "ValueError", "a size of a result is negative");
  }
  r->bytes = tvms_entry_take(m, TVMS_ENTRY_GROW_MUL, compact,
                             tvms_entry_number(m, tvms_entry_element_bytes(buffer)));
}

// What the results and the workspace need, once the sizes are known.
static void plan_results(tvms_entry_maker *m) {
  const char *text = m->contract.result_text;
  m->grows = true;
  m->results =
      tvms_arena_array(&m->context->scratch, tvms_entry_result, m->contract.results);
  for (uint32_t i = 0; text && *text; text++) {
    if (!tvms_contract_is_value(*text)) continue;
    tvms_entry_result *r = &m->results[i];
    r->param = m->contract.inputs + i++;
    r->kind = *text;
    if (r->kind == 'o') continue;
    const tvms_buffer *buffer = tvms_as_buffer(m->function->buffers.items[r->param]);
    r->element = buffer->element;
    if (r->kind == 't') plan_tensor(m, r, buffer);
    if (r->kind == 's') r->ndim = (uint32_t)atoi(text + 1);
  }
  if (!m->contract.has_workspace) return;
  uint32_t last = m->function->params.len - 1;
  const tvms_buffer *buffer = tvms_as_buffer(m->function->buffers.items[last]);
  m->workspace = tvms_entry_size_of(m, buffer->shape.items[0]);
}

// ---- The whole ----

// The number of arguments of a call.
static uint32_t argument_count(const tvms_entry_maker *m) {
  const char *text = m->contract.input_text;
  return text ? tvms_contract_items(text) : m->contract.inputs;
}

static void make(tvms_entry_maker *m) {
  uint32_t params = argument_count(m);
  uint32_t args = tvms_entry_take(m, TVMS_ENTRY_ARGUMENTS, 0, 0);
  tvms_entry_require(
      m, tvms_entry_equals(m, tvms_entry_take(m, TVMS_ENTRY_COUNT, 0, 0), params),
      "TypeError", tvms_words_message(&m->words, "", "Expected %u arguments", params));
  if (params) {
    tvms_entry_require(m, tvms_entry_negate(m, tvms_entry_equals(m, args, 0)),
                       "TypeError",
                       tvms_words_message(&m->words, "", "args pointer is NULL"));
  }
  tvms_entry_guard(m);
  decode_arguments(m, args);
  for (uint32_t i = 0; i < m->tensor_count; i++) {
    tvms_entry_load_tensor(m, &m->tensors[i]);
  }
  // A tensor of another size has other strides as well, and of a Relax function it is the size that is said.
  const bool sizes_first = m->contract.result_text != NULL;
  for (uint32_t i = 0; i < m->tensor_count && sizes_first; i++)
    tvms_entry_check_constants(m, &m->tensors[i]);
  for (uint32_t i = 0; i < m->tensor_count; i++)
    tvms_entry_check_tensor(m, &m->tensors[i]);
  for (uint32_t i = 0; i < m->tensor_count && !sizes_first; i++)
    tvms_entry_check_constants(m, &m->tensors[i]);
  plan_results(m);
}

// What the longest text of a check needs.
static uint32_t text_bytes(const tvms_entry_maker *m) {
  size_t longest = 0;
  for (uint32_t i = 0; i < m->steps.len; i++) {
    const char *text = m->steps.items[i].text;
    if (text && strlen(text) > longest) longest = strlen(text);
  }
  return (uint32_t)(longest + strlen(m->words.signature) + 1);
}

const tvms_entry *tvms_entry_new(tvms_context *context, const tvms_member *member,
                                 bool serves) {
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  tvms_arena *arena = &context->scratch;
  uint32_t params = function->params.len;
  tvms_entry_maker m = {.context = context,
                        .function = function,
                        .words = {.context = context, .function = function}};
  m.tensors = tvms_arena_array(arena, tvms_entry_tensor, params);
  m.fixed = tvms_arena_array(arena, tvms_entry_fixed, params);
  m.params = tvms_arena_array(arena, uint32_t, params);
  m.vars = tvms_arena_array(arena, uint32_t, member->unit->next_id);
  m.contract = (tvms_contract){.inputs = params};
  if (serves) m.contract = tvms_call_contract(function);
  m.words.signature = tvms_words_signature(&m.words, member, &m.contract);
  make(&m);
  tvms_entry *entry = tvms_arena_new(arena, tvms_entry);
  *entry = (tvms_entry){.context = context,
                        .function = function,
                        .signature = m.words.signature,
                        .text_bytes = text_bytes(&m),
                        .count = m.steps.len,
                        .params = m.params,
                        .vars = m.vars,
                        .contract = m.contract,
                        .results = m.results,
                        .workspace = m.workspace,
                        .fixed = m.fixed,
                        .fixed_count = m.fixed_count,
                        .device_id = m.device_id};
  entry->steps = tvms_arena_array(arena, tvms_entry_step, m.steps.len);
  memcpy(entry->steps, m.steps.items, m.steps.len * sizeof *m.steps.items);
  tvms_vec_fini(&context->memory, &m.steps);
  tvms_vec_fini(&context->memory, &m.words.known);
  return entry;
}
