// Instructions, labels and references of x86-64 (backend/x86/code.h).
#include "backend/x86/code.h"

#include <elf.h>

void tvms_x86_init(tvms_x86_code *c, tvms_memory *memory) {
  *c = (tvms_x86_code){.memory = memory};
  tvms_strbuf *texts[] = {&c->code, &c->texts, &c->names, &c->frames};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    tvms_strbuf_init(texts[i], memory);
  tvms_strbuf_putc(&c->names, 0);
}

void tvms_x86_fini(tvms_x86_code *c) {
  tvms_strbuf *texts[] = {&c->code, &c->texts, &c->names, &c->frames};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    tvms_strbuf_fini(texts[i]);
  tvms_vec_fini(c->memory, &c->symbols);
  tvms_vec_fini(c->memory, &c->references);
  tvms_vec_fini(c->memory, &c->frame_references);
  tvms_vec_fini(c->memory, &c->jumps);
  tvms_vec_fini(c->memory, &c->labels);
  tvms_vec_fini(c->memory, &c->short_texts);
}

// ---- Instructions ----

static void put(tvms_x86_code *c, uint32_t byte) {
  tvms_strbuf_putc(&c->code, (char)byte);
}

static void put32(tvms_x86_code *c, uint32_t number) {
  tvms_strbuf_add(&c->code, (const char *)&number, sizeof number);
}

void tvms_x86_bytes(tvms_x86_code *c, const char *bytes, size_t count) {
  tvms_strbuf_add(&c->code, bytes, count);
}

// Prefixes and opcode; of registers from R8 on a bit is in a prefix.
static void put_opcode(tvms_x86_code *c, uint32_t opcode, bool wide, uint32_t reg,
                       uint32_t other) {
  uint32_t rex = 0x40 | (uint32_t)wide << 3 | (reg >> 3) << 2 | other >> 3;
  if (opcode >> 16) put(c, opcode >> 16);
  if (rex != 0x40) put(c, rex);
  if (opcode & 0x100) put(c, 0x0F);
  put(c, opcode & 0xFF);
}

static void put_place(tvms_x86_code *c, uint32_t reg, tvms_x86_register base,
                      int64_t offset) {
  enum { NEEDS_SECOND_BYTE = RSP, NEEDS_OFFSET = RBP };
  bool is_short = offset == (int8_t)offset;
  bool none = offset == 0 && (base & 7) != NEEDS_OFFSET;
  put(c, (none ? 0u : is_short ? 1u : 2u) << 6 | (reg & 7) << 3 | (base & 7));
  if ((base & 7) == NEEDS_SECOND_BYTE) put(c, 0x24);
  if (none) return;
  if (is_short)
    put(c, (uint8_t)offset);
  else
    put32(c, (uint32_t)offset);
}

void tvms_x86_at(tvms_x86_code *c, tvms_x86_opcode opcode, bool wide,
                 tvms_x86_register reg, tvms_x86_register base, int64_t offset) {
  put_opcode(c, opcode, wide, reg, base);
  put_place(c, reg, base, offset);
}

void tvms_x86_with(tvms_x86_code *c, tvms_x86_opcode opcode, tvms_x86_register reg,
                   tvms_x86_register other) {
  put_opcode(c, opcode, true, reg, other);
  put(c, 0xC0 | (reg & 7u) << 3 | (other & 7u));
}

// Is a number one of 8 bits, widened? Such operations have an opcode of their own.
static uint32_t number_opcode(int64_t number) {
  return number == (int8_t)number ? 0x83 : 0x81;
}

static void put_number(tvms_x86_code *c, int64_t number) {
  if (number == (int8_t)number)
    put(c, (uint8_t)number);
  else
    put32(c, (uint32_t)number);
}

void tvms_x86_number(tvms_x86_code *c, tvms_x86_number_operation operation, bool wide,
                     tvms_x86_register reg, int64_t number) {
  put_opcode(c, number_opcode(number), wide, 0, reg);
  put(c, 0xC0 | (uint32_t)operation << 3 | (reg & 7u));
  put_number(c, number);
}

void tvms_x86_number_at(tvms_x86_code *c, tvms_x86_number_operation operation,
                        bool wide, tvms_x86_register base, int64_t offset,
                        int64_t number) {
  put_opcode(c, number_opcode(number), wide, 0, base);
  put_place(c, operation, base, offset);
  put_number(c, number);
}

void tvms_x86_shift(tvms_x86_code *c, tvms_x86_number_operation operation,
                    tvms_x86_register reg, uint8_t by) {
  put_opcode(c, 0xC1, true, 0, reg);
  put(c, 0xC0 | (uint32_t)operation << 3 | (reg & 7u));
  put(c, by);
}

void tvms_x86_set(tvms_x86_code *c, tvms_x86_register reg, int64_t number) {
  if (number == (int32_t)number && number < 0) {
    put_opcode(c, 0xC7, true, 0, reg);
    put(c, 0xC0 | (reg & 7u));
    put32(c, (uint32_t)number);
    return;
  }
  bool narrow = number == (int64_t)(uint32_t)number;
  put_opcode(c, 0xB8 | (reg & 7u), !narrow, 0, reg);
  put32(c, (uint32_t)number);
  if (!narrow) put32(c, (uint32_t)((uint64_t)number >> 32));
}

void tvms_x86_store_number(tvms_x86_code *c, tvms_x86_register base, int64_t offset,
                           uint32_t number) {
  put_opcode(c, 0xC7, false, 0, base);
  put_place(c, 0, base, offset);
  put32(c, number);
}

// ---- Labels ----

uint32_t tvms_x86_label(tvms_x86_code *c) {
  tvms_vec_push(c->memory, &c->labels, 0);
  return c->labels.len - 1;
}

void tvms_x86_land(tvms_x86_code *c, uint32_t label) {
  c->labels.items[label] = c->code.len;
}

void tvms_x86_jump_to(tvms_x86_code *c, tvms_x86_condition condition, uint32_t label) {
  if (condition == TVMS_X86_ALWAYS) {
    put(c, 0xE9);
  } else {
    put(c, 0x0F);
    put(c, 0x80u | (uint32_t)condition);
  }
  tvms_x86_jump jump = {c->code.len, label};
  tvms_vec_push(c->memory, &c->jumps, jump);
  put32(c, 0);
}

static void set32(tvms_strbuf *text, uint64_t at, uint64_t number) {
  uint32_t narrow = (uint32_t)number;
  memcpy(text->text + at, &narrow, sizeof narrow);
}

static void settle_jumps(tvms_x86_code *c) {
  for (uint32_t i = 0; i < c->jumps.len; i++) {
    uint64_t at = c->jumps.items[i].at;
    set32(&c->code, at, c->labels.items[c->jumps.items[i].label] - (at + 4));
  }
  c->jumps.len = c->labels.len = 0;
}

// ---- References ----

static uint32_t find_symbol(const tvms_x86_code *c, const char *name) {
  uint32_t i = 0;
  while (i < c->symbols.len && strcmp(c->names.text + c->symbols.items[i].name, name))
    i++;
  return i;
}

bool tvms_x86_is_named(const tvms_x86_code *c, const char *name) {
  return find_symbol(c, name) < c->symbols.len;
}

uint32_t tvms_x86_symbol_of(tvms_x86_code *c, const char *name) {
  uint32_t known = find_symbol(c, name);
  if (known < c->symbols.len) return known;
  tvms_x86_symbol symbol = {.name = (uint32_t)c->names.len};
  tvms_strbuf_add(&c->names, name, strlen(name) + 1);
  tvms_vec_push(c->memory, &c->symbols, symbol);
  return c->symbols.len - 1;
}

uint32_t tvms_x86_add_variable(tvms_x86_code *c, const char *name) {
  uint32_t symbol = tvms_x86_symbol_of(c, name);
  tvms_x86_symbol *s = &c->symbols.items[symbol];
  s->defined = s->data = s->weak = true;
  s->size = 8;
  s->at = c->zeroed;
  c->zeroed += s->size;
  return symbol;
}

uint64_t tvms_x86_text(tvms_x86_code *c, const char *text) {
  enum { SHORT = 24 };
  size_t length = strlen(text);
  for (uint32_t i = 0; length < SHORT && i < c->short_texts.len; i++) {
    uint64_t at = c->short_texts.items[i];
    if (!strcmp(c->texts.text + at, text)) return at;
  }
  uint64_t at = c->texts.len;
  tvms_strbuf_add(&c->texts, text, length + 1);
  if (length < SHORT) tvms_vec_push(c->memory, &c->short_texts, at);
  return at;
}

void tvms_x86_refer(tvms_x86_code *c, uint32_t symbol, uint32_t type, int64_t add) {
  tvms_x86_reference reference = {c->code.len, symbol, type, add - 4};
  tvms_vec_push(c->memory, &c->references, reference);
  put32(c, 0);
}

void tvms_x86_address_of(tvms_x86_code *c, tvms_x86_register reg, uint64_t text) {
  enum { FROM_HERE = 5 };  // the address of the next instruction
  put_opcode(c, TVMS_X86_ADDRESS, true, reg, 0);
  put(c, (reg & 7u) << 3 | FROM_HERE);
  tvms_x86_refer(c, TVMS_X86_TEXTS, R_X86_64_PC32, (int64_t)text);
}

// ---- Functions ----

void tvms_x86_call(tvms_x86_code *c, const char *name) {
  TVMS_X86_BYTES(c, "\xE8");
  tvms_x86_refer(c, tvms_x86_symbol_of(c, name), R_X86_64_PLT32, 0);
}

uint32_t tvms_x86_begin(tvms_x86_code *c, const char *name) {
  uint32_t symbol = tvms_x86_symbol_of(c, name);
  tvms_x86_symbol *s = &c->symbols.items[symbol];
  s->defined = s->hidden = true;
  s->at = c->code.len;
  return symbol;
}

void tvms_x86_end(tvms_x86_code *c, uint32_t symbol) {
  tvms_x86_symbol *s = &c->symbols.items[symbol];
  s->size = c->code.len - s->at;
}

uint64_t tvms_x86_open(tvms_x86_code *c, uint32_t symbol) {
  static const char begin[] = {0x55,       0x48,       (char)0x89,
                               (char)0xE5,  // push rbp; mov rbp, rsp
                               0x48,       (char)0x81, (char)0xEC};  // sub rsp, frame
  enum { BREAK = 0xCC };
  while (c->code.len % 16)
    put(c, BREAK);
  c->symbols.items[symbol].defined = true;
  c->symbols.items[symbol].at = c->code.len;
  tvms_x86_bytes(c, begin, sizeof begin);
  put32(c, 0);
  return c->code.len - 4;
}

// How who unwinds the stack finds the caller: in words of DWARF, once for all functions and then for each.
static void describe_frame(tvms_x86_code *c, uint64_t at, uint64_t size) {
  static const char common[] = {
      20,         0, 0, 0,    0,  0, 0,    0,    1, 'z',
      'R',        0, 1, 0x78, 16, 1, 0x1B, 0x0C, 7, 8,  // the frame is rsp + 8,
      (char)0x90, 1, 0, 0};  // the address to return to in front of it
  static const char each[16] = {
      0,  // behind push: rsp + 16, with rbp there; behind mov: rbp + 16
      0x41, 0x0E, 16, (char)0x86, 2, 0x43, 0x0D, 6};
  if (!c->frames.len) tvms_strbuf_add(&c->frames, common, sizeof common);
  uint32_t head[] = {12 + sizeof each, (uint32_t)c->frames.len + 4, 0, (uint32_t)size};
  tvms_x86_reference begin = {c->frames.len + 8, TVMS_X86_CODE, R_X86_64_PC32,
                              (int64_t)at};
  tvms_vec_push(c->memory, &c->frame_references, begin);
  tvms_strbuf_add(&c->frames, (const char *)head, sizeof head);
  tvms_strbuf_add(&c->frames, each, sizeof each);
}

void tvms_x86_close(tvms_x86_code *c, uint32_t symbol, uint64_t place, uint32_t frame) {
  settle_jumps(c);
  set32(&c->code, place, frame);
  tvms_x86_end(c, symbol);
  const tvms_x86_symbol *s = &c->symbols.items[symbol];
  describe_frame(c, s->at, s->size);
}
