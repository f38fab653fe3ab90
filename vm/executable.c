// Tables of an executable, and whether it can be trusted with them.
#include "vm/executable.h"

#include "support/strbuf.h"

#include <string.h>

void tvms_vm_executable_init(tvms_vm_executable *executable, tvms_memory *memory) {
  *executable = (tvms_vm_executable){.memory = memory};
}

int64_t tvms_vm_function_index(const tvms_vm_executable *executable, const char *name,
                               size_t len) {
  for (uint32_t i = 0; i < executable->functions.len; i++) {
    tvms_bytes known = executable->functions.items[i].name;
    if (known.len == len && (!len || memcmp(known.text, name, len) == 0)) return i;
  }
  return -1;
}

// ---- Checking ----

typedef struct {
  const tvms_vm_executable *executable;
  tvms_arena *arena;
  const tvms_vm_function *function;
  int64_t instruction;
  const char *TVMS_NULLABLE wrong;
} checking;

// The first complaint stays.
static void complain(checking *c, const char *what) {
  if (c->wrong) return;
  tvms_strbuf text;
  tvms_strbuf_init(&text, c->arena->memory);
  if (c->function)
    tvms_strbuf_printf(
        &text, "function '%.*s', instruction %lld: ", (int)c->function->name.len,
        c->function->name.text, (long long)(c->instruction - c->function->begin));
  tvms_strbuf_puts(&text, what);
  c->wrong = tvms_arena_text(c->arena, text.text, text.len);
  tvms_strbuf_fini(&text);
}

static bool is_register(const checking *c, int64_t index) {
  return index >= 0 && index < c->function->registers;
}

static void check_argument(checking *c, int64_t word) {
  int64_t value = tvms_vm_word_value(word);
  switch (tvms_vm_word_kind(word)) {
  case TVMS_VM_REGISTER:
    if (!is_register(c, value) && value != TVMS_VM_VOID && value != TVMS_VM_SELF)
      complain(c, "an argument is a register that does not exist");
    return;
  case TVMS_VM_IMMEDIATE: return;
  case TVMS_VM_CONSTANT:
    if (value < 0 || value >= c->executable->constants.len)
      complain(c, "an argument is a constant that does not exist");
    return;
  case TVMS_VM_FUNCTION:
    if (value < 0 || value >= c->executable->functions.len)
      complain(c, "an argument is a function that does not exist");
    return;
  default: complain(c, "an argument is of an unknown kind");
  }
}

static void check_call(checking *c, const int64_t *words, int64_t left) {
  if (left < 4 || words[3] < 0 || words[3] > left - 4) {
    complain(c, "the call has more arguments than there is code");
    return;
  }
  if (!is_register(c, words[1]) && words[1] != TVMS_VM_VOID)
    complain(c, "the result goes to a register that does not exist");
  if (words[2] < 0 || words[2] >= c->executable->functions.len)
    complain(c, "the called function does not exist");
  for (int64_t i = 0; i < words[3]; i++)
    check_argument(c, words[4 + i]);
}

static void check_jump(checking *c, int64_t offset) {
  int64_t to;
  bool inside = !__builtin_add_overflow(c->instruction, offset, &to)
                && to >= c->function->begin && to < c->function->end && offset != 0;
  if (!inside) complain(c, "the jump leaves the function");
}

static void check_instruction(checking *c) {
  const tvms_vm_executable *e = c->executable;
  int64_t at = e->offsets.items[c->instruction];
  if (at < 0 || at > (int64_t)e->words.len - 2) {
    complain(c, "the instruction lies outside of the code");
    return;
  }
  const int64_t *words = e->words.items + at;
  int64_t left = (int64_t)e->words.len - at;
  switch (words[0]) {
  case TVMS_VM_CALL: check_call(c, words, left); return;
  case TVMS_VM_RET:
    if (!is_register(c, words[1]) && words[1] != TVMS_VM_VOID)
      complain(c, "a register is returned that does not exist");
    return;
  case TVMS_VM_GOTO: check_jump(c, words[1]); return;
  case TVMS_VM_IF:
    if (!is_register(c, words[1]))
      complain(c, "the condition is a register that does not exist");
    if (left < 3)
      complain(c, "the instruction lies outside of the code");
    else
      check_jump(c, words[2]);
    return;
  default: complain(c, "the opcode is unknown");
  }
}

static bool falls_through(const tvms_vm_executable *e, int64_t instruction) {
  int64_t opcode = tvms_vm_instruction(e, instruction)[0];
  return opcode != TVMS_VM_RET && opcode != TVMS_VM_GOTO;
}

enum { MOST_REGISTERS = 1 << 24 };

static void check_function(checking *c, const tvms_vm_function *function) {
  c->function = function;
  c->instruction = function->begin;
  bool sane = function->begin >= 0 && function->end > function->begin
              && function->end <= c->executable->offsets.len;
  if (!sane) {
    complain(c, "its code lies outside of the code");
    return;
  }
  if (function->arity < 0 || function->registers < function->arity
      || function->registers > MOST_REGISTERS) {
    complain(c, "it has fewer registers than parameters, or too many");
    return;
  }
  for (; c->instruction < function->end && !c->wrong; c->instruction++)
    check_instruction(c);
  if (!c->wrong && falls_through(c->executable, function->end - 1))
    complain(c, "the function does not end with a return");
}

// They are searched by bisection, so they must be in order.
static void check_places(checking *c) {
  const tvms_vm_executable *e = c->executable;
  bool good = true;
  for (uint32_t i = 1; i < e->lines.len; i++)
    good &= e->lines.items[i - 1].instruction < e->lines.items[i].instruction;
  for (uint32_t i = 1; i < e->names.len; i++)
    good &= e->names.items[i - 1].instruction < e->names.items[i].instruction;
  c->function = NULL;
  if (!good) complain(c, "lines are not in the order of instructions");
}

// How many of `count` rows of `size` bytes, which begin with the number of an instruction, have one up to `instruction`.
static uint32_t rows_up_to(const void *rows, uint32_t count, size_t size,
                           int64_t instruction) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int64_t begins;
    memcpy(&begins, (const char *)rows + middle * size, sizeof begins);
    if (begins <= instruction)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int64_t tvms_vm_line_of(const tvms_vm_executable *executable, int64_t instruction) {
  const tvms_vm_line *lines = executable->lines.items;
  uint32_t before =
      rows_up_to(lines, executable->lines.len, sizeof *lines, instruction);
  return before ? lines[before - 1].line : 0;
}

const tvms_bytes *tvms_vm_name_of(const tvms_vm_executable *executable,
                                  int64_t instruction) {
  const tvms_vm_name *names = executable->names.items;
  uint32_t before =
      rows_up_to(names, executable->names.len, sizeof *names, instruction);
  bool found = before && names[before - 1].instruction == instruction;
  return found ? &names[before - 1].name : NULL;
}

const char *tvms_vm_executable_check(const tvms_vm_executable *executable,
                                     tvms_arena *arena) {
  checking c = {.executable = executable, .arena = arena};
  for (uint32_t i = 0; i < executable->functions.len && !c.wrong; i++) {
    const tvms_vm_function *function = &executable->functions.items[i];
    if (function->kind == TVMS_VM_IS_BYTECODE) check_function(&c, function);
  }
  for (uint32_t i = 0; i < executable->scopes.len && !c.wrong; i++) {
    c.function = NULL;
    int64_t constant = executable->scopes.items[i].constant;
    if (constant < 0 || constant >= executable->constants.len)
      complain(&c, "a memory scope belongs to a constant that does not exist");
  }
  if (!c.wrong) check_places(&c);
  return c.wrong;
}
