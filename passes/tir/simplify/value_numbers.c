// Value numbering, from the leaves up: an expression is its kind, its dtype and the numbers
// of its operands, so that comparing two takes constant time whatever their size.
#include "passes/tir/simplify/value_numbers.h"

#include "ir/build.h"

#include <string.h>

void tvms_value_numbers_init(tvms_value_numbers *table, tvms_memory *memory) {
  *table = (tvms_value_numbers){.memory = memory};
  tvms_node_map_init(&table->numbers, memory);
}

void tvms_value_numbers_fini(tvms_value_numbers *table) {
  tvms_vec_fini(table->memory, &table->values);
  tvms_memory_free(table->memory, table->slots);
  tvms_node_map_fini(&table->numbers);
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ hash >> 29;
}

// What tells leaves of one kind and dtype apart.
static uint64_t payload_of(const tvms_node *node) {
  uint64_t bits = 0;
  if (node->kind == TVMS_NODE_INT_IMM) return (uint64_t)tvms_as_int_imm(node)->value;
  if (node->kind == TVMS_NODE_FLOAT_IMM) {
    memcpy(&bits, &tvms_as_float_imm(node)->value, sizeof bits);
    return bits;
  }
  return (uintptr_t)node;
}

static uint64_t hash_of(const tvms_node *node, const uint32_t *parts, uint32_t count) {
  uint64_t hash = mix(node->kind, node->dtype.code);
  hash = mix(hash, (uint64_t)node->dtype.bits << 32 | (uint16_t)node->dtype.lanes);
  for (uint32_t i = 0; i < count; i++)
    hash = mix(hash, parts[i]);
  return count ? hash : mix(hash, payload_of(node));
}

static bool is_equal(const tvms_numbered_value *value, const tvms_node *node,
                     const uint32_t *parts, uint32_t count) {
  const tvms_node *first = value->node;
  if (first->kind != node->kind || !tvms_dtype_same(first->dtype, node->dtype)
      || value->part_count != count) {
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (value->parts[i] != parts[i]) return false;
  }
  return count || payload_of(first) == payload_of(node);
}

// The slot of an equal value, or the free one where it would stand.
static uint32_t *find_slot(const tvms_value_numbers *table, uint64_t hash,
                           const tvms_node *TVMS_NULLABLE node, const uint32_t *parts,
                           uint32_t count) {
  uint32_t mask = table->slot_count - 1;
  for (uint32_t at = (uint32_t)(hash >> 7) & mask;; at = (at + 1) & mask) {
    uint32_t *slot = &table->slots[at];
    if (*slot == 0) return slot;
    const tvms_numbered_value *value = &table->values.items[*slot - 1];
    if (node && value->hash == hash && is_equal(value, node, parts, count)) return slot;
  }
}

static void grow(tvms_value_numbers *table) {
  table->slot_count = table->slot_count ? table->slot_count * 2 : 64;
  tvms_memory_free(table->memory, table->slots);
  table->slots =
      tvms_memory_alloc(table->memory, table->slot_count * sizeof *table->slots);
  memset(table->slots, 0, table->slot_count * sizeof *table->slots);
  for (uint32_t i = 0; i < table->values.len; i++)
    *find_slot(table, table->values.items[i].hash, NULL, NULL, 0) = i + 1;
}

uint32_t tvms_value_numbers_add(tvms_value_numbers *table, const tvms_node *node,
                                const uint32_t *parts, uint32_t count) {
  if (table->values.len * 2 >= table->slot_count) grow(table);
  uint64_t hash = hash_of(node, parts, count);
  uint32_t *slot = find_slot(table, hash, node, parts, count);
  if (*slot == 0) {
    tvms_numbered_value value = {.hash = hash, .node = node, .part_count = count};
    memcpy(value.parts, parts, count * sizeof *parts);
    tvms_vec_push(table->memory, &table->values, value);
    *slot = table->values.len;
  }
  tvms_node_map_put(&table->numbers, node, (tvms_node *)(uintptr_t)*slot);
  return *slot - 1;
}

uint32_t tvms_value_numbers_of(const tvms_value_numbers *table, const tvms_node *node) {
  uintptr_t number = (uintptr_t)tvms_node_map_get(&table->numbers, node);
  return number ? (uint32_t)number - 1 : TVMS_NO_VALUE;
}

const tvms_node *tvms_value_numbers_get(const tvms_value_numbers *table,
                                        uint32_t number) {
  return table->values.items[number].node;
}
