// One frame of registers per call, and a switch over four instructions.
#include "vm/machine.h"

#include "interp/packed.h"
#include "interp/prim.h"
#include "interp/tensor.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"
#include "vm/raise.h"

#include <string.h>

static const tvms_span nowhere = {0, 0};

// A call of a function in progress, the innermost first.
typedef struct tvms_vm_running {
  const tvms_vm_function *function;
  int64_t at;  // the instruction
  const struct tvms_vm_running *TVMS_NULLABLE outer;
} running;

static tvms_memory *memory_of(tvms_vm_machine *m) {
  return &m->interp->context->memory;
}

static const char *text_of(tvms_vm_machine *m, tvms_bytes name) {
  return tvms_arena_text(&m->interp->context->arena, name.text, name.len);
}

// ---- Errors ----

// " (line 7)", if the executable says which.
static void add_line(tvms_vm_machine *m, tvms_strbuf *out, int64_t instruction) {
  int64_t line = tvms_vm_line_of(m->code, instruction);
  if (line > 0) tvms_strbuf_printf(out, " (line %lld)", (long long)line);
}

static const char *TVMS_NULLABLE checked(void *state) {
  tvms_vm_machine *m = state;
  const running *at = m->running;
  const tvms_bytes *name = at ? tvms_vm_name_of(m->code, at->at) : NULL;
  return name ? text_of(m, *name) : NULL;
}

// Says of the last fault in which instruction of which function it was, and who called that, as the interpreter does.
static void tell(void *state) {
  enum { MOST_CALLERS = 6 };
  tvms_vm_machine *m = state;
  tvms_diags *diags = &m->interp->context->diags;
  const running *at = m->running;
  if (!at || !diags->last) return;
  tvms_strbuf text;
  tvms_strbuf_init(&text, memory_of(m));
  const int64_t *words = tvms_vm_instruction(m->code, at->at);
  tvms_strbuf_puts(&text, "in ");
  if (words[0] == TVMS_VM_CALL)
    tvms_strbuf_printf(&text, "the call of '%s', ",
                       text_of(m, m->code->functions.items[words[2]].name));
  tvms_strbuf_printf(&text, "instruction %lld of '%s'",
                     (long long)(at->at - at->function->begin),
                     text_of(m, at->function->name));
  add_line(m, &text, at->at);
  at = at->outer;
  for (uint32_t i = 0; i < MOST_CALLERS && at; i++, at = at->outer) {
    tvms_strbuf_printf(&text, ", called by '%s'", text_of(m, at->function->name));
    add_line(m, &text, at->at);
  }
  if (at) tvms_strbuf_puts(&text, ", and so on");
  tvms_diag_remark(diags, diags->last, "%s", tvms_strbuf_text(&text));
  tvms_strbuf_fini(&text);
}

// ---- Functions ----

static void find(tvms_vm_machine *m, tvms_vm_entry *entry) {
  tvms_bytes name = entry->function->name;
  tvms_arena *arena = &m->interp->context->arena;
  const char *ended = tvms_arena_text(arena, name.text, name.len);
  entry->kernel = m->find ? m->find(m->find_state, ended) : NULL;
  entry->found = entry->kernel || tvms_interp_has_packed(m->interp, name);
  if (!entry->found) fault(&m->frame, TVMS_D_machine_function_missing, nowhere, ended);
}

// What a kernel returns is a number or nothing.
static tvms_value value_of_any(tvms_vm_machine *m, const tvms_any *any) {
  switch (any->type_index) {
  case TVMS_ANY_NONE: return (tvms_value){0};
  case TVMS_ANY_INT: return (tvms_value){.kind = TVMS_VALUE_INT, .i = any->v.i};
  case TVMS_ANY_BOOL: return (tvms_value){.kind = TVMS_VALUE_BOOL, .i = any->v.i};
  case TVMS_ANY_FLOAT: return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = any->v.f};
  default:
    fault(&m->frame, TVMS_D_wrong_argument, nowhere, "result of a kernel",
          "a number or nothing is expected");
  }
}

static tvms_value call_kernel(tvms_vm_machine *m, tvms_safe_call kernel,
                              const tvms_value *args, uint32_t count) {
  tvms_any *packed =
      tvms_arena_array(&m->interp->context->scratch, tvms_any, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++)
    packed[i] = tvms_interp_to_any(args[i]);
  tvms_any result = {0};
  if (kernel(NULL, packed, (int32_t)count, &result) != 0) {
    tvms_vm_raised raised;
    tvms_vm_take_raised(&raised);
    fault(&m->frame, TVMS_D_compiled_code_raised, nowhere, raised.kind, raised.text);
  }
  return value_of_any(m, &result);
}

static tvms_value run(tvms_vm_machine *m, const tvms_vm_function *function,
                      const tvms_value *args, uint32_t count);

static tvms_value call_entry(tvms_vm_machine *m, tvms_vm_entry *entry,
                             const tvms_value *args, uint32_t count) {
  const tvms_vm_function *function = entry->function;
  if (function->kind == TVMS_VM_IS_BYTECODE) return run(m, function, args, count);
  if (!entry->found) find(m, entry);
  if (entry->kernel) return call_kernel(m, entry->kernel, args, count);
  return tvms_interp_call_packed(&m->frame, function->name, args, count, nowhere);
}

static tvms_value invoke(void *state, const void *function, const tvms_value *args,
                         uint32_t count) {
  tvms_vm_machine *m = state;
  return call_entry(m, &m->entries[(const tvms_vm_entry *)function - m->entries], args,
                    count);
}

// ---- Instructions ----

static tvms_value argument(const tvms_vm_machine *m, const tvms_value *registers,
                           int64_t word) {
  int64_t value = tvms_vm_word_value(word);
  switch (tvms_vm_word_kind(word)) {
  case TVMS_VM_REGISTER:
    return value >= TVMS_VM_SPECIAL ? (tvms_value){0} : registers[value];
  case TVMS_VM_IMMEDIATE: return (tvms_value){.kind = TVMS_VALUE_INT, .i = value};
  case TVMS_VM_CONSTANT: return m->constants[value];
  default:
    return (tvms_value){.kind = TVMS_VALUE_FUNCTION, .function = &m->entries[value]};
  }
}

static void do_call(tvms_vm_machine *m, tvms_value *registers, int64_t instruction) {
  const int64_t *words = tvms_vm_instruction(m->code, instruction);
  tvms_arena *scratch = &m->interp->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  uint32_t count = 0;
  tvms_value *args = tvms_arena_array(scratch, tvms_value, (size_t)words[3] + 1);
  for (int64_t i = 0; i < words[3]; i++) {
    if (words[4 + i] != TVMS_VM_SELF)
      args[count++] = argument(m, registers, words[4 + i]);
  }
  if (m->observe) m->observe(m->observe_state, instruction, true);
  tvms_value result = call_entry(m, &m->entries[words[2]], args, count);
  if (m->observe) m->observe(m->observe_state, instruction, false);
  tvms_arena_reset(scratch, mark);
  if (words[1] == TVMS_VM_VOID) {
    tvms_value_drop(result);
    return;
  }
  tvms_value_drop(registers[words[1]]);
  registers[words[1]] = result;
}

static bool holds(tvms_vm_machine *m, tvms_value value) {
  if (value.kind != TVMS_VALUE_INT && value.kind != TVMS_VALUE_BOOL)
    fault(&m->frame, TVMS_D_condition_not_scalar, nowhere);
  return value.i != 0;
}

static void count_step(tvms_vm_machine *m) {
  tvms_interp *interp = m->interp;
  if (interp->step_limit && ++interp->steps > interp->step_limit)
    fault(&m->frame, TVMS_D_too_many_steps, nowhere,
          (unsigned long long)interp->step_limit);
}

// Runs to the return. The result is the caller's.
static tvms_value run_code(tvms_vm_machine *m, running *own, tvms_value *registers) {
  for (int64_t at = own->function->begin;;) {
    const int64_t *words = tvms_vm_instruction(m->code, at);
    own->at = at;
    count_step(m);
    switch (words[0]) {
    case TVMS_VM_CALL:
      do_call(m, registers, at);
      at++;
      break;
    case TVMS_VM_GOTO: at += words[1]; break;
    case TVMS_VM_IF: at += holds(m, registers[words[1]]) ? 1 : words[2]; break;
    default: return tvms_value_keep(argument(m, registers, words[1]));
    }
  }
}

static tvms_value run(tvms_vm_machine *m, const tvms_vm_function *function,
                      const tvms_value *args, uint32_t count) {
  if (count != function->arity) {
    const char *name = tvms_arena_text(&m->interp->context->arena, function->name.text,
                                       function->name.len);
    fault(&m->frame, TVMS_D_wrong_argument_count, nowhere, name,
          (uint32_t)function->arity, tvms_diag_plural((uint64_t)function->arity),
          count);
  }
  if (!tvms_memory_enter(memory_of(m)))
    tvms_memory_refuse(memory_of(m),
                       "functions of the virtual machine nest too deeply");
  size_t size = (size_t)function->registers;
  tvms_value *registers =
      tvms_memory_alloc(memory_of(m), (size + 1) * sizeof *registers);
  for (uint32_t i = 0; i < count; i++)
    registers[i] = tvms_value_keep(args[i]);
  running own = {.function = function, .at = function->begin, .outer = m->running};
  m->running = &own;
  tvms_value result = run_code(m, &own, registers);
  m->running = own.outer;
  for (size_t i = 0; i < size; i++)
    tvms_value_drop(registers[i]);
  tvms_memory_free(memory_of(m), registers);
  tvms_memory_leave(memory_of(m));
  return result;
}

// ---- Starting ----

// A tensor gets memory of its own: the code's may stand at any address.
static tvms_value constant_value(tvms_vm_machine *m, const tvms_vm_constant *constant) {
  tvms_tensor *tensor;
  switch ((tvms_vm_constant_kind)constant->kind) {
  case TVMS_VM_INT: return (tvms_value){.kind = TVMS_VALUE_INT, .i = constant->i};
  case TVMS_VM_FLOAT: return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = constant->f};
  case TVMS_VM_DTYPE:
    return (tvms_value){.kind = TVMS_VALUE_TYPE, .type = constant->dtype};
  case TVMS_VM_TEXT:
    return (tvms_value){.kind = TVMS_VALUE_STR,
                        .text =
                            tvms_arena_text(&m->interp->context->arena, constant->data,
                                            (size_t)constant->size)};
  case TVMS_VM_SHAPE:
    tensor = tvms_shape_new(m->interp->heap, constant->ndim, constant->shape);
    return (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = tensor};
  case TVMS_VM_TENSOR: break;
  }
  tensor = tvms_interp_new_tensor(&m->frame, nowhere, constant->dtype, constant->ndim,
                                  constant->shape);
  if (tensor->bytes != constant->size)
    tvms_interp_no_tensor(&m->frame, nowhere, constant->dtype, constant->ndim,
                          constant->shape);
  if (tensor->bytes) memcpy(tensor->view.data, constant->data, (size_t)tensor->bytes);
  return tvms_value_of_tensor(tensor);
}

static void prepare(tvms_vm_machine *m) {
  tvms_arena *arena = &m->interp->context->arena;
  m->frame = (tvms_interp_frame){.interp = m->interp, .context = m->interp->context};
  m->interp->invoke = invoke;
  m->interp->invoke_state = m;
  m->interp->tell = tell;
  m->interp->checked = checked;
  m->interp->tell_state = m;
  if (m->entries) return;
  m->entries = tvms_arena_array(arena, tvms_vm_entry, m->code->functions.len + 1);
  for (uint32_t i = 0; i < m->code->functions.len; i++)
    m->entries[i].function = &m->code->functions.items[i];
  m->constants = tvms_arena_array(arena, tvms_value, m->code->constants.len + 1);
  for (uint32_t i = 0; i < m->code->constants.len; i++)
    m->constants[i] = constant_value(m, &m->code->constants.items[i]);
}

typedef struct {
  tvms_vm_machine *machine;
  int64_t function;
  const tvms_value *args;
  uint32_t count;
  tvms_value result;
} work;

static void call(void *argument) {
  work *w = argument;
  prepare(w->machine);
  w->result =
      call_entry(w->machine, &w->machine->entries[w->function], w->args, w->count);
}

tvms_status tvms_vm_call(tvms_vm_machine *machine, int64_t function,
                         const tvms_value *args, uint32_t count, tvms_value *result) {
  work w = {machine, function, args, count, {0}};
  machine->running = NULL;
  tvms_status status = tvms_memory_protect(memory_of(machine), call, &w);
  *result = w.result;
  return status;
}
