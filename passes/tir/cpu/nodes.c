// Making loops, stores, buffers and blocks.
#include "passes/tir/cpu/nodes.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"
#include "structinfo/regions.h"

#include <string.h>

tvms_node *tvms_cpu_variable(tvms_unit *unit, const char *name, const tvms_node *like) {
  tvms_sym symbol = tvms_symbol_intern(unit->context, name, strlen(name));
  return tvms_var_new(unit, symbol, like->dtype, TVMS_NO_SPAN);
}

tvms_node *tvms_cpu_loop(tvms_unit *unit, tvms_node *var, tvms_node *extent,
                         uint8_t kind, tvms_node *body) {
  tvms_for *made = tvms_node_make(unit, FOR, TVMS_NO_SPAN);
  made->min = tvms_int_imm_new(unit, var->dtype, 0, TVMS_NO_SPAN);
  made->extent = extent;
  made->var = var;
  made->for_kind = kind;
  made->body = body;
  return &made->head;
}

tvms_node *tvms_cpu_store(tvms_unit *unit, tvms_node *buffer, tvms_list indices,
                          tvms_node *value) {
  tvms_store *made = tvms_node_make(unit, STORE, TVMS_NO_SPAN);
  made->buffer = buffer;
  made->value = value;
  made->indices = indices;
  return &made->head;
}

tvms_node *tvms_cpu_buffer(tvms_unit *unit, const char *name, tvms_dtype element,
                           const char *scope, tvms_node *const *shape, uint32_t dims) {
  tvms_buffer *made = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  made->name = tvms_symbol_intern(unit->context, name, strlen(name));
  made->element = element;
  tvms_sym in = tvms_symbol_intern(unit->context, scope, strlen(scope));
  made->data = tvms_pointer_var_new(unit, made->name, element, in, TVMS_NO_SPAN);
  made->shape = tvms_list_copy(unit, shape, dims);
  tvms_dtype index = dims ? shape[0]->dtype : TVMS_DTYPE(INT, 32);
  made->elem_offset = tvms_int_imm_new(unit, index, 0, TVMS_NO_SPAN);
  made->align = 64;
  made->offset_factor = 1;
  return &made->head;
}

// In LLVM's words.
enum { READ = 0, SECOND_CACHE = 1, FIRST_CACHE = 3, DATA = 1 };

bool tvms_cpu_mentions(tvms_unit *unit, tvms_node *node, const tvms_node *buffer) {
  tvms_memory *memory = &unit->context->memory;
  return tvms_walk_contains(memory, node, buffer)
         || tvms_walk_contains(memory, node, tvms_as_buffer(buffer)->data);
}

static tvms_node *prefetch(tvms_unit *unit, tvms_node *load, int64_t bytes,
                           int64_t cache) {
  static const char name[] = "llvm.prefetch";
  tvms_dtype number = TVMS_DTYPE(INT, 32), handle = TVMS_DTYPE(HANDLE, 64);
  tvms_node *place[] = {
      tvms_call_new_of(unit, handle, TVMS_TIR_address_of, &load, 1, TVMS_NO_SPAN),
      tvms_int_imm_new(unit, number, bytes, TVMS_NO_SPAN)};
  tvms_node *args[] = {tvms_string_imm_new(unit, name, sizeof name - 1, TVMS_NO_SPAN),
                       bytes ? tvms_call_new_of(unit, handle,
                                                TVMS_TIR_handle_add_byte_offset, place,
                                                2, TVMS_NO_SPAN)
                             : place[0],
                       tvms_int_imm_new(unit, number, READ, TVMS_NO_SPAN),
                       tvms_int_imm_new(unit, number, cache, TVMS_NO_SPAN),
                       tvms_int_imm_new(unit, number, DATA, TVMS_NO_SPAN)};
  tvms_node *call = tvms_call_new_of(unit, (tvms_dtype){0}, TVMS_TIR_call_llvm_intrin,
                                     args, 5, TVMS_NO_SPAN);
  return tvms_evaluate_new(unit, call, TVMS_NO_SPAN);
}

tvms_node *tvms_cpu_prefetch(tvms_unit *unit, tvms_node *load, int64_t bytes) {
  return prefetch(unit, load, bytes, SECOND_CACHE);
}

tvms_node *tvms_cpu_prefetch_near(tvms_unit *unit, tvms_node *load, int64_t bytes) {
  return prefetch(unit, load, bytes, FIRST_CACHE);
}

static tvms_walk_step note_buffer(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const tvms_node *used = NULL;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) used = tvms_as_buffer_load(node)->buffer;
  if (node->kind == TVMS_NODE_STORE) used = tvms_as_store(node)->buffer;
  if (used) {
    tvms_node *found = (tvms_node *)(uintptr_t)used;
    tvms_node_map_put(self, found, found);
  }
  return node->kind == TVMS_NODE_BUFFER ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

static bool is_allocated(tvms_list allocated, const tvms_node *buffer) {
  for (uint32_t i = 0; i < allocated.len; i++) {
    if (allocated.items[i] == buffer) return true;
  }
  return false;
}

static tvms_walk_step find_choice_of_ends(void *self, tvms_node *node,
                                          tvms_field_role role) {
  (void)role;
  (void)self;
  bool divides = node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_FLOOR_MOD;
  bool unknown = divides && !tvms_node_is_int_imm(tvms_as_binary(node)->b);
  return unknown || node->kind == TVMS_NODE_SELECT ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Is it inferred from quotients by a size that is not known, whose ends are chosen by its sign, or does it choose itself?
static bool has_chosen_ends(tvms_unit *unit, tvms_node *node) {
  tvms_visitor visitor = {.enter = find_choice_of_ends};
  return !tvms_walk(&unit->context->memory, node, &visitor);
}

// What is inferred from quotients may reach behind the last element, where nothing is touched; from quotients by
// sizes that are not known it is longer than anybody reads, and says hardly less than the whole dimension.
static void end_with_buffers(tvms_unit *unit, tvms_list regions) {
  for (uint32_t i = 0; i < regions.len; i++) {
    tvms_list ranges = tvms_as_buffer_region(regions.items[i])->region;
    tvms_list shape =
        tvms_as_buffer(tvms_as_buffer_region(regions.items[i])->buffer)->shape;
    for (uint32_t k = 0; k < ranges.len; k++) {
      const tvms_range *range = tvms_as_range(ranges.items[k]);
      if (has_chosen_ends(unit, range->min) || has_chosen_ends(unit, range->extent)) {
        tvms_node *begin = tvms_int_imm_new(unit, range->min->dtype, 0, TVMS_NO_SPAN);
        ranges.items[k] = tvms_range_new(unit, begin, shape.items[k], TVMS_NO_SPAN);
        continue;
      }
      int64_t min = tvms_cpu_number(range->min), size = tvms_cpu_number(shape.items[k]);
      int64_t extent = tvms_cpu_number(range->extent);
      if (min < 0 || size < min || extent <= size - min) continue;
      tvms_node *left =
          tvms_int_imm_new(unit, range->extent->dtype, size - min, TVMS_NO_SPAN);
      ranges.items[k] = tvms_range_new(unit, range->min, left, TVMS_NO_SPAN);
    }
  }
}

tvms_node *tvms_cpu_block(tvms_unit *unit, const char *name, tvms_list allocated,
                          tvms_node *body) {
  tvms_block *block = tvms_node_make(unit, BLOCK, TVMS_NO_SPAN);
  block->name = tvms_bytes_copy(unit, name, strlen(name));
  block->alloc_buffers = tvms_list_copy(unit, allocated.items, allocated.len);
  block->body = body;
  tvms_memory *memory = &unit->context->memory;
  tvms_node_map used, known;
  tvms_node_map_init(&used, memory);
  tvms_node_map_init(&known, memory);
  tvms_visitor visitor = {.self = &used, .enter = note_buffer};
  tvms_walk(memory, body, &visitor);
  for (uint32_t i = 0; i < used.cap; i++) {
    tvms_node *one = used.pairs[i].value;
    if (used.pairs[i].key && !is_allocated(allocated, one))
      tvms_regions_put_buffer(&known, unit, one, one);
  }
  tvms_regions_infer_all(unit, &known, block);
  end_with_buffers(unit, block->reads);
  end_with_buffers(unit, block->writes);
  tvms_node_map_fini(&known);
  tvms_node_map_fini(&used);
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->block = &block->head;
  realize->predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  return &realize->head;
}

tvms_node *tvms_cpu_choice(tvms_unit *unit, tvms_node *condition, tvms_node *then,
                           tvms_node *otherwise) {
  tvms_if_then_else *made = tvms_node_make(unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  made->condition = condition;
  made->then_case = then;
  made->else_case = otherwise;
  return &made->head;
}
