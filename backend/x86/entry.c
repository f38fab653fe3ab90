// Entries as machine code (backend/x86/entry.h).
//
// Arguments stay in the registers in which they come until the body is called. A step whose value is used
// once is computed where it is used, mostly as the operand of a comparison; others have a slot of the frame:
//
//   rdi, rsi, rdx   self, arguments, their number
//   rax, r8 - r11   values in progress, the first of an expression in rax
//   rcx             the slot that was the last base of a load
//   rbp - 8 * n     slot n
//
// A check that fails jumps behind the code, to what raises its error. No code is left out by a jump but in a condition,
// so what rcx holds is known everywhere.
#include "backend/x86/entry.h"

#include "backend/core/params.h"
#include "backend/core/place.h"
#include "backend/x86/raise.h"
#include "interp/interp.h"

enum { MOST_NEEDED = 3, POOL = 5, PASSED = 6, PASSED_REAL = 8 };

static const tvms_x86_register pool[POOL] = {RAX, R8, R9, R10, R11};

typedef struct {
  uint32_t label;
  uint32_t step;
} refusal;

typedef struct {
  tvms_x86_code *code;
  const tvms_entry *entry;
  const tvms_x86_entry_names *names;
  uint32_t *uses;  // by step: how often its value is used
  uint32_t *slot;  // by step: its slot, or 0
  uint8_t *need;   // by step: registers of the pool that its value takes
  uint32_t slots;
  uint32_t base;  // the slot that rcx holds, or 0
  TVMS_VEC(refusal) refusals;
} maker;

// ---- Which steps have slots ----

static uint32_t operands_of(uint8_t kind) {
  switch (kind) {
  case TVMS_ENTRY_ARGUMENTS:
  case TVMS_ENTRY_COUNT:
  case TVMS_ENTRY_NUMBER: return 0;
  case TVMS_ENTRY_LOAD_INT32:
  case TVMS_ENTRY_LOAD_INT64:
  case TVMS_ENTRY_LOAD_POINTER:
  case TVMS_ENTRY_OFFSET:
  case TVMS_ENTRY_SIGNED:
  case TVMS_ENTRY_UNSIGNED:
  case TVMS_ENTRY_REAL:
  case TVMS_ENTRY_IS:
  case TVMS_ENTRY_NOT:
  case TVMS_ENTRY_CHECK: return 1;
  case TVMS_ENTRY_CHOOSE: return 3;
  default: return 2;
  }
}

static void count_uses(maker *m) {
  const tvms_entry *entry = m->entry;
  for (uint32_t i = 0; i < entry->count; i++) {
    const tvms_entry_step *s = &entry->steps[i];
    uint32_t used[] = {s->a, s->b, s->c};
    for (uint32_t k = 0; k < operands_of(s->kind); k++)
      m->uses[used[k]]++;
  }
}

static void give_slot(maker *m, uint32_t step) {
  if (!m->slot[step]) m->slot[step] = ++m->slots;
}

// Every operand is computed while those before it are held.
static uint32_t registers_of(const maker *m, const tvms_entry_step *s) {
  uint32_t used[] = {s->a, s->b, s->c}, most = 1, count = operands_of(s->kind);
  for (uint32_t k = 0; k < count; k++)
    if (m->need[used[k]] + k > most) most = m->need[used[k]] + k;
  // A number that is too large for an instruction is put into one.
  return s->kind == TVMS_ENTRY_IS && most < 2 ? 2 : most;
}

static bool is_load(const tvms_entry_step *s) {
  return s->kind >= TVMS_ENTRY_LOAD_INT32 && s->kind <= TVMS_ENTRY_LOAD_POINTER;
}

// Is a value read again as quickly as from a slot? What stands in the arguments is, and what compares that, or
// what has a slot, with a number.
static bool is_cheap(const maker *m, const tvms_entry_step *s) {
  const tvms_entry_step *of = &m->entry->steps[s->a];
  if (is_load(s)) return of->kind == TVMS_ENTRY_ARGUMENTS && !m->slot[s->a];
  return s->kind == TVMS_ENTRY_IS
         && (m->slot[s->a] || (is_load(of) && is_cheap(m, of)));
}

// What the body is called with is in slots; what is used again, too, or what would take too many registers.
static void plan_slots(maker *m, const tvms_params_sizes *sizes) {
  const tvms_entry *entry = m->entry;
  for (uint32_t i = 0; i < entry->function->params.len; i++)
    give_slot(m, entry->params[i]);
  for (uint32_t i = 0; i < sizes->len; i++)
    give_slot(m, entry->vars[sizes->items[i]->id] - 1);
  for (uint32_t i = 0; i < entry->count; i++) {
    const tvms_entry_step *s = &entry->steps[i];
    uint32_t need = registers_of(m, s);
    bool kept = operands_of(s->kind) && s->kind < TVMS_ENTRY_CHECK
                && ((m->uses[i] > 1 && !is_cheap(m, s)) || need > MOST_NEEDED);
    if (kept) give_slot(m, i);
    m->need[i] = (uint8_t)(m->slot[i] ? 1 : need);
  }
}

// ---- Values ----

static int64_t place_of(uint32_t slot) {
  return -8 * (int64_t)slot;
}

static void value(maker *m, uint32_t step, uint32_t at);

// The register that has the base of a load: its value goes to pool[at] if nothing else has it.
static tvms_x86_register base_of(maker *m, uint32_t step, uint32_t at) {
  uint32_t slot = m->slot[step];
  if (!slot && m->entry->steps[step].kind == TVMS_ENTRY_ARGUMENTS) return RSI;
  if (!slot) {
    value(m, step, at);
    return pool[at];
  }
  if (m->base != slot)
    tvms_x86_at(m->code, TVMS_X86_LOAD, true, RCX, RBP, place_of(slot));
  m->base = slot;
  return RCX;
}

static bool is_narrow(int64_t number) {
  return number == (int32_t)number;
}

// Compares a value with a number, where it is.
static void compare_number(maker *m, uint32_t step, int64_t number, uint32_t at) {
  tvms_x86_code *c = m->code;
  const tvms_entry_step *s = &m->entry->steps[step];
  if (!is_narrow(number)) {
    value(m, step, at);
    tvms_x86_set(c, pool[at + 1], number);
    tvms_x86_with(c, TVMS_X86_CMP, pool[at], pool[at + 1]);
  } else if (m->slot[step]) {
    tvms_x86_number_at(c, TVMS_X86_N_CMP, true, RBP, place_of(m->slot[step]), number);
  } else if (is_load(s)) {
    tvms_x86_register base = base_of(m, s->a, at);
    tvms_x86_number_at(c, TVMS_X86_N_CMP, s->kind != TVMS_ENTRY_LOAD_INT32, base,
                       s->number, number);
  } else if (s->kind == TVMS_ENTRY_COUNT) {
    tvms_x86_number(c, TVMS_X86_N_CMP, false, RDX, number);
  } else if (s->kind == TVMS_ENTRY_ARGUMENTS) {
    tvms_x86_number(c, TVMS_X86_N_CMP, true, RSI, number);
  } else {
    value(m, step, at);
    tvms_x86_number(c, TVMS_X86_N_CMP, true, pool[at], number);
  }
}

// Compares; returns the condition under which the step is true. What failed is shown to who traces.
static tvms_x86_condition compare(maker *m, const tvms_entry_step *s, uint32_t at) {
  if (s->kind == TVMS_ENTRY_IS) {
    compare_number(m, s->a, s->number, at);
    return TVMS_X86_EQUAL;
  }
  const tvms_entry_step *b = &m->entry->steps[s->b];
  bool shown = s->kind == TVMS_ENTRY_CHECK_EQUAL && m->names->traced;
  if (b->kind == TVMS_ENTRY_NUMBER && !m->slot[s->b] && !shown) {
    compare_number(m, s->a, b->number, at);
  } else {
    value(m, s->a, at);
    value(m, s->b, at + 1);
    tvms_x86_with(m->code, TVMS_X86_CMP, pool[at], pool[at + 1]);
  }
  return s->kind == TVMS_ENTRY_AT_LEAST ? TVMS_X86_AT_LEAST : TVMS_X86_EQUAL;
}

static void set_if(maker *m, tvms_x86_condition condition, uint32_t at) {
  tvms_x86_opcode opcode = (tvms_x86_opcode)(TVMS_X86_SET_IF + condition);
  tvms_x86_with(m->code, opcode, RAX, pool[at]);
  tvms_x86_with(m->code, TVMS_X86_WIDEN_BYTE, pool[at], pool[at]);
}

static void move_if(maker *m, tvms_x86_condition condition, uint32_t to,
                    uint32_t from) {
  tvms_x86_opcode opcode = (tvms_x86_opcode)(TVMS_X86_MOVE_IF + condition);
  tvms_x86_with(m->code, opcode, pool[to], pool[from]);
}

static bool compares(const tvms_entry_step *s) {
  return s->kind >= TVMS_ENTRY_EQUAL && s->kind <= TVMS_ENTRY_AT_LEAST;
}

_Static_assert(TVMS_ENTRY_IS == TVMS_ENTRY_EQUAL + 1
                   && TVMS_ENTRY_AT_LEAST == TVMS_ENTRY_IS + 1,
               "comparisons stand together");

// The condition under which a truth that is no combination holds.
static tvms_x86_condition test(maker *m, uint32_t step, uint32_t at) {
  const tvms_entry_step *s = &m->entry->steps[step];
  if (!m->slot[step] && compares(s)) return compare(m, s, at);
  compare_number(m, step, 0, at);
  return TVMS_X86_UNEQUAL;
}

static void choose(maker *m, const tvms_entry_step *s, uint32_t at) {
  value(m, s->b, at);
  value(m, s->c, at + 1);
  tvms_x86_condition holds = test(m, s->a, at + 2);
  move_if(m, (tvms_x86_condition)(holds ^ 1), at, at + 1);
}

// The lowest bits, moved to the top and back.
static void narrow(maker *m, const tvms_entry_step *s, uint32_t at) {
  uint8_t by = (uint8_t)(64 - s->number);
  value(m, s->a, at);
  tvms_x86_shift(m->code, TVMS_X86_N_LEFT, pool[at], by);
  bool is_signed = s->kind == TVMS_ENTRY_SIGNED;
  tvms_x86_shift(m->code, is_signed ? TVMS_X86_N_RIGHT_SIGNED : TVMS_X86_N_RIGHT,
                 pool[at], by);
}

static void combine(maker *m, const tvms_entry_step *s, uint32_t at) {
  static const tvms_x86_opcode opcodes[TVMS_ENTRY_STEP_COUNT] = {
      [TVMS_ENTRY_ADD] = TVMS_X86_ADD,   [TVMS_ENTRY_SUB] = TVMS_X86_SUB,
      [TVMS_ENTRY_MUL] = TVMS_X86_MUL,   [TVMS_ENTRY_BITS_AND] = TVMS_X86_AND,
      [TVMS_ENTRY_EITHER] = TVMS_X86_OR, [TVMS_ENTRY_BOTH] = TVMS_X86_AND,
      [TVMS_ENTRY_MIN] = TVMS_X86_CMP,   [TVMS_ENTRY_MAX] = TVMS_X86_CMP,
  };
  value(m, s->a, at);
  value(m, s->b, at + 1);
  tvms_x86_with(m->code, opcodes[s->kind], pool[at], pool[at + 1]);
  if (s->kind == TVMS_ENTRY_MIN) move_if(m, TVMS_X86_GREATER, at, at + 1);
  if (s->kind == TVMS_ENTRY_MAX) move_if(m, TVMS_X86_LESS, at, at + 1);
}

static void compute(maker *m, const tvms_entry_step *s, uint32_t at) {
  tvms_x86_code *c = m->code;
  tvms_x86_register to = pool[at];
  switch (s->kind) {
  case TVMS_ENTRY_ARGUMENTS: tvms_x86_with(c, TVMS_X86_LOAD, to, RSI); break;
  case TVMS_ENTRY_COUNT: tvms_x86_with(c, TVMS_X86_LOAD_INT32, to, RDX); break;
  case TVMS_ENTRY_NUMBER: tvms_x86_set(c, to, s->number); break;
  case TVMS_ENTRY_LOAD_INT32:
    tvms_x86_at(c, TVMS_X86_LOAD_INT32, true, to, base_of(m, s->a, at), s->number);
    break;
  case TVMS_ENTRY_LOAD_INT64:
  case TVMS_ENTRY_LOAD_POINTER:
    tvms_x86_at(c, TVMS_X86_LOAD, true, to, base_of(m, s->a, at), s->number);
    break;
  case TVMS_ENTRY_OFFSET:
    tvms_x86_at(c, TVMS_X86_ADDRESS, true, to, base_of(m, s->a, at), s->number);
    break;
  case TVMS_ENTRY_SIGNED:
  case TVMS_ENTRY_UNSIGNED: narrow(m, s, at); break;
  case TVMS_ENTRY_REAL:
    value(m, s->a, at);
    tvms_x86_with(c, TVMS_X86_TO_DOUBLE, XMM0, to);
    tvms_x86_with(c, TVMS_X86_BITS, XMM0, to);
    break;
  case TVMS_ENTRY_IS:
  case TVMS_ENTRY_EQUAL:
  case TVMS_ENTRY_AT_LEAST: set_if(m, compare(m, s, at), at); break;
  case TVMS_ENTRY_NOT:
    value(m, s->a, at);
    tvms_x86_number(c, TVMS_X86_N_XOR, true, to, 1);
    break;
  case TVMS_ENTRY_CHOOSE: choose(m, s, at); break;
  default: combine(m, s, at);
  }
}

// Puts the value of a step into pool[at]; registers before that one keep what they hold.
static void value(maker *m, uint32_t step, uint32_t at) {
  if (m->slot[step])
    tvms_x86_at(m->code, TVMS_X86_LOAD, true, pool[at], RBP, place_of(m->slot[step]));
  else
    compute(m, &m->entry->steps[step], at);
}

// ---- Conditions ----

static void jump(maker *m, uint32_t step, bool sense, uint32_t label);

// Jumps if either of two (with `sense`) or both (without) say so, in the sense of `decided`.
static void jump_pair(maker *m, const tvms_entry_step *s, bool sense, uint32_t label) {
  bool both = s->kind == TVMS_ENTRY_BOTH;
  if (both != sense) {
    jump(m, s->a, sense, label);
    jump(m, s->b, sense, label);
    return;
  }
  uint32_t past = tvms_x86_label(m->code);
  jump(m, s->a, !sense, past);
  uint32_t base = m->base;
  jump(m, s->b, sense, label);
  tvms_x86_land(m->code, past);
  if (m->base != base) m->base = 0;
}

// Jumps if a truth is as `sense` says.
static void jump(maker *m, uint32_t step, bool sense, uint32_t label) {
  const tvms_entry_step *s = &m->entry->steps[step];
  if (!m->slot[step] && s->kind == TVMS_ENTRY_NOT) {
    jump(m, s->a, !sense, label);
    return;
  }
  if (!m->slot[step] && (s->kind == TVMS_ENTRY_EITHER || s->kind == TVMS_ENTRY_BOTH)) {
    jump_pair(m, s, sense, label);
    return;
  }
  tvms_x86_condition holds = test(m, step, 0);
  tvms_x86_condition when = (tvms_x86_condition)(sense ? holds : holds ^ 1);
  tvms_x86_jump_to(m->code, when, label);
}

static void check(maker *m, uint32_t step) {
  const tvms_entry_step *s = &m->entry->steps[step];
  refusal refused = {tvms_x86_label(m->code), step};
  tvms_vec_push(m->code->memory, &m->refusals, refused);
  if (s->kind == TVMS_ENTRY_CHECK) {
    jump(m, s->a, false, refused.label);
    return;
  }
  tvms_x86_condition holds = compare(m, s, 0);
  tvms_x86_jump_to(m->code, (tvms_x86_condition)(holds ^ 1), refused.label);
}

static void take_steps(maker *m) {
  for (uint32_t i = 0; i < m->entry->count; i++) {
    const tvms_entry_step *s = &m->entry->steps[i];
    if (s->kind >= TVMS_ENTRY_CHECK) {
      check(m, i);
    } else if (m->slot[i]) {
      compute(m, s, 0);
      tvms_x86_at(m->code, TVMS_X86_STORE, true, RAX, RBP, place_of(m->slot[i]));
      if (s->kind != TVMS_ENTRY_CHOOSE) continue;
      // What was just stored takes some cycles to load.
      tvms_x86_with(m->code, TVMS_X86_LOAD, RCX, RAX);
      m->base = m->slot[i];
    }
  }
}

// ---- The call ----

typedef struct {
  uint32_t whole, real, stacked;  // how many are passed already
} passing;

static void pass(maker *m, passing *p, uint32_t step, tvms_dtype dtype) {
  static const tvms_x86_register registers[PASSED] = {RDI, RSI, RDX, RCX, R8, R9};
  tvms_x86_code *c = m->code;
  int64_t from = place_of(m->slot[step]);
  bool real = tvms_dtype_is_real(dtype), single = real && dtype.bits == 32;
  if (real && p->real < PASSED_REAL) {
    tvms_x86_opcode opcode = single ? TVMS_X86_TO_SINGLE : TVMS_X86_LOAD_DOUBLE;
    tvms_x86_at(c, opcode, false, (tvms_x86_register)(XMM0 + p->real++), RBP, from);
  } else if (!real && p->whole < PASSED) {
    tvms_x86_at(c, TVMS_X86_LOAD, true, registers[p->whole++], RBP, from);
  } else {
    tvms_x86_at(c, TVMS_X86_LOAD, true, RAX, RBP, from);
    tvms_x86_at(c, TVMS_X86_STORE, true, RAX, RSP, 8 * (int64_t)p->stacked++);
  }
}

// What is passed on the stack, as single, is made so while all registers of doubles are free.
static void make_single(maker *m, uint32_t step) {
  int64_t place = place_of(m->slot[step]);
  tvms_x86_at(m->code, TVMS_X86_TO_SINGLE, false, XMM0, RBP, place);
  tvms_x86_at(m->code, TVMS_X86_STORE_DOUBLE, false, XMM0, RBP, place);
}

static tvms_dtype dtype_of(const tvms_prim_func *function, uint32_t param) {
  return function->buffers.items[param] ? TVMS_DTYPE(HANDLE, 64)
                                        : function->params.items[param]->dtype;
}

// Returns how many bytes are passed on the stack.
static uint32_t call_body(maker *m, const tvms_params_sizes *sizes) {
  static const char leave[] = {(char)0xC9, (char)0xC3};  // leave; ret
  const tvms_prim_func *function = m->entry->function;
  tvms_x86_code *c = m->code;
  uint32_t reals = 0;
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_dtype dtype = dtype_of(function, i);
    if (tvms_dtype_is_real(dtype) && reals++ >= PASSED_REAL && dtype.bits == 32)
      make_single(m, m->entry->params[i]);
  }
  if (!m->names->traced) tvms_x86_set(c, RDI, 0);
  tvms_x86_set(c, RSI, 0);
  passing p = {.whole = 2};
  for (uint32_t i = 0; i < function->params.len; i++)
    pass(m, &p, m->entry->params[i], dtype_of(function, i));
  for (uint32_t i = 0; i < sizes->len; i++) {
    const tvms_node *size = sizes->items[i];
    pass(m, &p, m->entry->vars[size->id] - 1, size->dtype);
  }
  tvms_x86_call(c, m->names->body);
  tvms_x86_bytes(c, leave, sizeof leave);
  return 8 * p.stacked;
}

// ---- Errors ----

static void refuse_traced(maker *m, const tvms_entry_step *s) {
  tvms_x86_code *c = m->code;
  tvms_x86_address_of(c, R10, tvms_x86_text(c, s->error));
  tvms_x86_at(c, TVMS_X86_STORE, true, R10, RDI, offsetof(tvms_raised, kind));
  tvms_x86_address_of(c, R10, tvms_x86_text(c, s->text));
  tvms_x86_at(c, TVMS_X86_STORE, true, R10, RDI, offsetof(tvms_raised, text));
  tvms_x86_store_number(c, RDI, offsetof(tvms_raised, span.begin), s->span.begin);
  tvms_x86_store_number(c, RDI, offsetof(tvms_raised, span.end), s->span.end);
  if (s->kind != TVMS_ENTRY_CHECK_EQUAL) return;
  tvms_x86_at(c, TVMS_X86_STORE, true, pool[0], RDI, offsetof(tvms_raised, got));
  tvms_x86_at(c, TVMS_X86_STORE, true, pool[1], RDI, offsetof(tvms_raised, expected));
  tvms_x86_store_number(c, RDI, offsetof(tvms_raised, compared), 1);
}

static void refuse(maker *m) {
  static const char leave[] = {(char)0xB8, -1, -1, -1, -1, (char)0xC9, (char)0xC3};
  tvms_x86_code *c = m->code;
  uint32_t end = tvms_x86_label(c);
  bool traced = m->names->traced;
  for (uint32_t i = 0; i < m->refusals.len; i++) {
    const tvms_entry_step *s = &m->entry->steps[m->refusals.items[i].step];
    tvms_x86_land(c, m->refusals.items[i].label);
    if (traced) {
      refuse_traced(m, s);
    } else {
      tvms_x86_address_of(c, RSI, tvms_x86_text(c, s->error));
      tvms_x86_address_of(c, RDX, tvms_x86_text(c, s->text));
    }
    tvms_x86_jump_to(c, TVMS_X86_ALWAYS, end);
  }
  tvms_x86_land(c, end);
  uint64_t signature = tvms_x86_text(c, m->entry->signature);
  if (traced) {
    tvms_x86_address_of(c, R10, signature);
    tvms_x86_at(c, TVMS_X86_STORE, true, R10, RDI, offsetof(tvms_raised, signature));
  } else {
    tvms_x86_address_of(c, RCX, signature);
    tvms_x86_set(c, R8, (m->entry->text_bytes + 15) / 16 * 16);
    tvms_x86_call(c, TVMS_X86_REFUSE_NAME);
  }
  tvms_x86_bytes(c, leave, sizeof leave);
}

// ---- The whole ----

static bool is_plain(tvms_dtype dtype) {
  if (dtype.lanes != 1) return false;
  if (tvms_dtype_is_handle(dtype)) return true;
  if (!tvms_dtype_is_real(dtype)) return dtype.bits <= 64;
  return dtype.code == TVMS_FLOAT && (dtype.bits == 32 || dtype.bits == 64);
}

static bool is_served(const tvms_entry_step *s) {
  bool grows = s->kind >= TVMS_ENTRY_GROW_ADD && s->kind <= TVMS_ENTRY_GROW_MUL;
  bool divides = s->kind >= TVMS_ENTRY_DIV && s->kind <= TVMS_ENTRY_FLOOR_MOD;
  bool places = s->kind >= TVMS_ENTRY_LOAD_INT32 && s->kind <= TVMS_ENTRY_OFFSET;
  return !grows && !divides && (!places || is_narrow(s->number));
}

bool tvms_x86_serves(const tvms_entry *entry) {
  const tvms_prim_func *function = entry->function;
  if (entry->contract.result_text || entry->contract.inputs != function->params.len
      || tvms_place_is_relax(&function->head))
    return false;
  for (uint32_t i = 0; i < function->params.len; i++)
    if (!is_plain(dtype_of(function, i))) return false;
  for (uint32_t i = 0; i < entry->count; i++)
    if (!is_served(&entry->steps[i])) return false;
  return true;
}

void tvms_x86_add_entry(tvms_x86_code *c, const tvms_entry *entry,
                        const tvms_x86_entry_names *names) {
  tvms_arena *arena = &entry->context->scratch;
  maker m = {.code = c, .entry = entry, .names = names};
  m.uses = tvms_arena_array(arena, uint32_t, entry->count);
  m.slot = tvms_arena_array(arena, uint32_t, entry->count);
  m.need = tvms_arena_array(arena, uint8_t, entry->count);
  tvms_params_sizes sizes = {0};
  tvms_params_collect(c->memory, entry->function, &sizes);
  count_uses(&m);
  plan_slots(&m, &sizes);
  uint32_t symbol = tvms_x86_symbol_of(c, names->name);
  uint64_t frame = tvms_x86_open(c, symbol);
  take_steps(&m);
  uint32_t passed = call_body(&m, &sizes);
  refuse(&m);
  tvms_x86_close(c, symbol, frame, (8 * m.slots + passed + 15) / 16 * 16);
  c->symbols.items[symbol].hidden = names->hidden;
  c->symbols.items[symbol].weak = names->weak;
  tvms_vec_fini(c->memory, &sizes);
  tvms_vec_fini(c->memory, &m.refusals);
}
