// What TVM's ExecBuilder does (src/relax/backend/vm/exec_builder.cc): which constants are one,
// which number a register gets.
#include "vm/builder.h"

#include <string.h>

enum { SMALLEST_TABLE = 64 };

void tvms_vm_builder_init(tvms_vm_builder *builder, tvms_vm_executable *executable) {
  *builder = (tvms_vm_builder){.executable = executable};
}

void tvms_vm_builder_fini(tvms_vm_builder *builder) {
  tvms_memory_free(builder->executable->memory, builder->constants);
  tvms_memory_free(builder->executable->memory, builder->functions);
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ at[i]) * 1099511628211u;
  return hash;
}

// Large tensors are told apart by their ends; equal ones are compared anyhow.
static uint64_t hash_constant(const tvms_vm_constant *c) {
  enum { MOST = 256 };
  uint64_t hash = mix(14695981039346656037u, &c->kind, 1);
  hash = mix(hash, &c->i, sizeof c->i);
  hash = mix(hash, &c->f, sizeof c->f);
  hash = mix(hash, &c->dtype, sizeof c->dtype);
  if (c->ndim) hash = mix(hash, c->shape, (size_t)c->ndim * sizeof *c->shape);
  size_t part = c->size < MOST ? (size_t)c->size : MOST;
  if (!part) return hash;
  hash = mix(hash, c->data, part);
  return mix(hash, c->data + c->size - part, part);
}

static bool same_bytes(const void *a, const void *b, uint64_t size) {
  return size == 0 || memcmp(a, b, (size_t)size) == 0;
}

static bool same_constant(const tvms_vm_constant *a, const tvms_vm_constant *b) {
  return a->kind == b->kind && a->i == b->i && same_bytes(&a->f, &b->f, sizeof a->f)
         && same_bytes(&a->dtype, &b->dtype, sizeof a->dtype) && a->ndim == b->ndim
         && same_bytes(a->shape, b->shape, (uint64_t)a->ndim * sizeof *a->shape)
         && a->size == b->size && same_bytes(a->data, b->data, a->size);
}

static uint64_t hash_name(tvms_bytes name) {
  return mix(14695981039346656037u, name.text, name.len);
}

static uint64_t hash_of(const tvms_vm_builder *b, bool constant, uint32_t index) {
  return constant ? hash_constant(&b->executable->constants.items[index])
                  : hash_name(b->executable->functions.items[index].name);
}

static void put(uint32_t *table, uint32_t room, uint64_t hash, uint32_t index) {
  uint32_t at = (uint32_t)hash & (room - 1);
  while (table[at])
    at = (at + 1) & (room - 1);
  table[at] = index + 1;
}

// Makes room for one more in a table of `count` items.
static void widen(tvms_vm_builder *b, bool constant, uint32_t **table, uint32_t *room,
                  uint32_t count) {
  if (*room && count < *room / 2) return;
  uint32_t wide = *room ? *room * 2 : SMALLEST_TABLE;
  tvms_memory_free(b->executable->memory, *table);
  *table = tvms_memory_alloc(b->executable->memory, wide * sizeof **table);
  *room = wide;
  for (uint32_t i = 0; i < count; i++)
    put(*table, wide, hash_of(b, constant, i), i);
}

int64_t tvms_vm_builder_constant(tvms_vm_builder *b, const tvms_vm_constant *constant) {
  tvms_vm_executable *e = b->executable;
  widen(b, true, &b->constants, &b->constant_room, e->constants.len);
  uint64_t hash = hash_constant(constant);
  uint32_t at = (uint32_t)hash & (b->constant_room - 1);
  for (; b->constants[at]; at = (at + 1) & (b->constant_room - 1)) {
    uint32_t known = b->constants[at] - 1;
    if (same_constant(&e->constants.items[known], constant))
      return tvms_vm_word(TVMS_VM_CONSTANT, known);
  }
  b->constants[at] = e->constants.len + 1;
  tvms_vec_push(e->memory, &e->constants, *constant);
  return tvms_vm_word(TVMS_VM_CONSTANT, e->constants.len - 1);
}

int64_t tvms_vm_builder_number(tvms_vm_builder *b, int64_t value) {
  if (value <= TVMS_VM_LARGEST && value >= -TVMS_VM_LARGEST)
    return tvms_vm_word(TVMS_VM_IMMEDIATE, value);
  return tvms_vm_builder_constant(b,
                                  &(tvms_vm_constant){.kind = TVMS_VM_INT, .i = value});
}

int64_t tvms_vm_builder_declare(tvms_vm_builder *b, tvms_bytes name,
                                tvms_vm_function_kind kind) {
  tvms_vm_executable *e = b->executable;
  widen(b, false, &b->functions, &b->function_room, e->functions.len);
  uint32_t at = (uint32_t)hash_name(name) & (b->function_room - 1);
  for (; b->functions[at]; at = (at + 1) & (b->function_room - 1)) {
    uint32_t known = b->functions[at] - 1;
    if (tvms_bytes_same(e->functions.items[known].name, name)) return known;
  }
  tvms_vm_function declared = {
      .kind = (int32_t)kind, .name = name, .arity = TVMS_VM_UNDEFINED};
  b->functions[at] = e->functions.len + 1;
  tvms_vec_push(e->memory, &e->functions, declared);
  return e->functions.len - 1;
}

// ---- Instructions ----

static int64_t begin_instruction(tvms_vm_builder *b, tvms_vm_opcode opcode) {
  tvms_vm_executable *e = b->executable;
  const int64_t before = e->lines.len ? e->lines.items[e->lines.len - 1].line : 0;
  tvms_vm_line line = {e->offsets.len, b->line};
  if (before != b->line) tvms_vec_push(e->memory, &e->lines, line);
  tvms_vec_push(e->memory, &e->offsets, (int64_t)e->words.len);
  tvms_vec_push(e->memory, &e->words, (int64_t)opcode);
  return e->offsets.len - 1;
}

static void add_word(tvms_vm_builder *b, int64_t word) {
  tvms_vec_push(b->executable->memory, &b->executable->words, word);
}

int64_t tvms_vm_builder_call(tvms_vm_builder *b, int64_t function,
                             const int64_t *arguments, uint32_t count, int64_t result) {
  int64_t index = begin_instruction(b, TVMS_VM_CALL);
  add_word(b, result);
  add_word(b, function);
  add_word(b, count);
  for (uint32_t i = 0; i < count; i++)
    add_word(b, arguments[i]);
  return index;
}

void tvms_vm_builder_name(tvms_vm_builder *b, int64_t instruction, tvms_bytes name) {
  tvms_vm_name row = {instruction, name};
  tvms_vec_push(b->executable->memory, &b->executable->names, row);
}

int64_t tvms_vm_builder_ret(tvms_vm_builder *b, int64_t result) {
  int64_t index = begin_instruction(b, TVMS_VM_RET);
  add_word(b, result);
  return index;
}

int64_t tvms_vm_builder_goto(tvms_vm_builder *b, int64_t offset) {
  int64_t index = begin_instruction(b, TVMS_VM_GOTO);
  add_word(b, offset);
  return index;
}

int64_t tvms_vm_builder_if(tvms_vm_builder *b, int64_t condition, int64_t offset) {
  int64_t index = begin_instruction(b, TVMS_VM_IF);
  add_word(b, condition);
  add_word(b, offset);
  return index;
}

// ---- Registers ----

// The new numbers of registers, by the old ones; -1: not written yet.
typedef struct {
  int64_t *numbers;
  int64_t arity;
  int64_t next;
} numbering;

// A register that was not written yet keeps its number, as in TVM.
static int64_t read_number(const numbering *n, int64_t index) {
  if (index < n->arity || index >= TVMS_VM_SPECIAL) return index;
  return n->numbers[index] < 0 ? index : n->numbers[index];
}

static int64_t written_number(numbering *n, int64_t index) {
  if (index < n->arity || index >= TVMS_VM_SPECIAL) return index;
  if (n->numbers[index] < 0) n->numbers[index] = n->next++;
  return n->numbers[index];
}

static void number_instruction(numbering *n, int64_t *words) {
  switch (words[0]) {
  case TVMS_VM_CALL:
    for (int64_t i = 4; i < 4 + words[3]; i++) {
      if (tvms_vm_word_kind(words[i]) == TVMS_VM_REGISTER)
        words[i] = read_number(n, words[i]);
    }
    words[1] = written_number(n, words[1]);
    return;
  case TVMS_VM_RET:
  case TVMS_VM_IF: words[1] = read_number(n, words[1]); return;
  default: return;
  }
}

void tvms_vm_builder_number_registers(tvms_vm_builder *b, tvms_vm_function *function,
                                      uint32_t count) {
  tvms_vm_executable *e = b->executable;
  numbering n = {.arity = function->arity, .next = function->arity};
  n.numbers = tvms_memory_alloc(e->memory, (count + 1) * sizeof *n.numbers);
  for (uint32_t i = 0; i < count; i++)
    n.numbers[i] = -1;
  for (int64_t i = function->begin; i < function->end; i++)
    number_instruction(&n, e->words.items + e->offsets.items[i]);
  function->registers = n.next;
  tvms_memory_free(e->memory, n.numbers);
}
