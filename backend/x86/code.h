// Machine code of x86-64 as it is written, byte by byte, and the object of ELF that it becomes. It is for
// code that is too simple to need a code generator (backend/x86/entry.h).
//
// A place in memory is a register and a displacement. Jumps go to labels, which are set before or after;
// calls and addresses of what stands elsewhere are references, which the linker fills in.
#ifndef TVMS_BACKEND_X86_CODE_H
#define TVMS_BACKEND_X86_CODE_H

#include "support/strbuf.h"
#include "support/vec.h"

// XMM0 and the next ones are registers of doubles, in instructions that have such.
typedef enum {
  RAX,
  RCX,
  RDX,
  RBX,
  RSP,
  RBP,
  RSI,
  RDI,
  R8,
  R9,
  R10,
  R11,
  XMM0 = RAX
} tvms_x86_register;

// Conditions of jumps, as they are encoded; the opposite is the one with the last bit changed.
typedef enum {
  TVMS_X86_EQUAL = 0x4,
  TVMS_X86_UNEQUAL = 0x5,
  TVMS_X86_AT_LEAST = 0xD,
  TVMS_X86_GREATER = 0xF,
  TVMS_X86_LESS = 0xC,
  TVMS_X86_ALWAYS = 0x10,
} tvms_x86_condition;

// Opcodes: 0x100 says that 0x0F comes first, what is above 0xFFFF that this prefix does.
typedef enum {
  TVMS_X86_ADD = 0x03,
  TVMS_X86_SUB = 0x2B,
  TVMS_X86_AND = 0x23,
  TVMS_X86_OR = 0x0B,
  TVMS_X86_CMP = 0x3B,
  TVMS_X86_MUL = 0x1AF,
  TVMS_X86_LOAD = 0x8B,
  TVMS_X86_LOAD_INT32 = 0x63,  // widened, with sign
  TVMS_X86_STORE = 0x89,
  TVMS_X86_ADDRESS = 0x8D,
  TVMS_X86_MOVE_IF = 0x140,  // with a condition added
  TVMS_X86_SET_IF = 0x190,   // likewise: a byte
  TVMS_X86_WIDEN_BYTE = 0x1B6,
  TVMS_X86_TO_DOUBLE = 0xF2012A,
  TVMS_X86_TO_SINGLE = 0xF2015A,  // of a double
  TVMS_X86_LOAD_DOUBLE = 0xF20110,
  TVMS_X86_STORE_DOUBLE = 0xF20111,
  TVMS_X86_BITS = 0x66017E,  // of a double
} tvms_x86_opcode;

// Operations with a number, as they are encoded: of 0x81, and shifts of 0xC1.
typedef enum {
  TVMS_X86_N_XOR = 6,
  TVMS_X86_N_CMP = 7,
  TVMS_X86_N_LEFT = 4,
  TVMS_X86_N_RIGHT = 5,
  TVMS_X86_N_RIGHT_SIGNED = 7,
} tvms_x86_number_operation;

typedef struct {
  uint32_t name;  // where it begins among the names
  bool defined;   // in the code; else elsewhere
  bool data;      // in zeroed memory
  bool weak, hidden;
  uint64_t at, size;
} tvms_x86_symbol;

typedef struct {
  uint64_t at;      // of four bytes
  uint32_t symbol;  // numbers of symbols, or TVMS_X86_TEXTS
  uint32_t type;    // R_X86_64_…
  int64_t add;
} tvms_x86_reference;

typedef struct {
  uint64_t at;  // of the distance
  uint32_t label;
} tvms_x86_jump;

typedef struct {
  tvms_memory *memory;
  tvms_strbuf code, texts, names, frames;
  TVMS_VEC(tvms_x86_symbol) symbols;
  TVMS_VEC(tvms_x86_reference) references, frame_references;
  TVMS_VEC(tvms_x86_jump) jumps;
  TVMS_VEC(uint64_t) labels, short_texts;
  uint64_t zeroed;  // bytes of zeroed memory
  bool has_end;     // the loader calls the code at `end` when the library goes
  uint64_t end;
} tvms_x86_code;

// In the place of a symbol: the section of texts, the section of code.
#define TVMS_X86_TEXTS UINT32_MAX
#define TVMS_X86_CODE  (UINT32_MAX - 1)

// Nothing is written yet. What is written takes memory until tvms_x86_fini.
void tvms_x86_init(tvms_x86_code *c, tvms_memory *memory);

// Frees what was written.
void tvms_x86_fini(tvms_x86_code *c);

// An instruction with a register and a place in memory; `wide`: of 64 bits, else of 32.
void tvms_x86_at(tvms_x86_code *c, tvms_x86_opcode opcode, bool wide,
                 tvms_x86_register reg, tvms_x86_register base, int64_t offset);

// An instruction of 64 bits with two registers; the first one is changed, if one is, but by
// TVMS_X86_STORE and TVMS_X86_BITS, which change the second.
void tvms_x86_with(tvms_x86_code *c, tvms_x86_opcode opcode, tvms_x86_register reg,
                   tvms_x86_register other);

// An operation of a register and a number of 32 bits, which is widened with its sign.
void tvms_x86_number(tvms_x86_code *c, tvms_x86_number_operation operation, bool wide,
                     tvms_x86_register reg, int64_t number);

// The same with a place in memory.
void tvms_x86_number_at(tvms_x86_code *c, tvms_x86_number_operation operation,
                        bool wide, tvms_x86_register base, int64_t offset,
                        int64_t number);

// A shift by a number.
void tvms_x86_shift(tvms_x86_code *c, tvms_x86_number_operation operation,
                    tvms_x86_register reg, uint8_t by);

// Puts a number into a register. Conditions stay.
void tvms_x86_set(tvms_x86_code *c, tvms_x86_register reg, int64_t number);

// Stores a number of 32 bits.
void tvms_x86_store_number(tvms_x86_code *c, tvms_x86_register base, int64_t offset,
                           uint32_t number);

// Bytes as they are.
void tvms_x86_bytes(tvms_x86_code *c, const char *bytes, size_t count);

// The bytes of a text.
#define TVMS_X86_BYTES(c, text) tvms_x86_bytes(c, text, sizeof text - 1)

// A label that is not set yet.
uint32_t tvms_x86_label(tvms_x86_code *c);

// Sets a label to where the code is.
void tvms_x86_land(tvms_x86_code *c, uint32_t label);

// A jump to a label, set or not, if the last comparison gave so.
void tvms_x86_jump_to(tvms_x86_code *c, tvms_x86_condition condition, uint32_t label);

// The symbol of a name, which is new if nobody has named it; it is defined elsewhere until something else is
// said of it.
uint32_t tvms_x86_symbol_of(tvms_x86_code *c, const char *name);

// Has somebody named a symbol so?
bool tvms_x86_is_named(const tvms_x86_code *c, const char *name);

// Defines a variable of eight zeroed bytes that others find by its name. Returns its symbol.
uint32_t tvms_x86_add_variable(tvms_x86_code *c, const char *name);

// Where a text begins among the texts; short ones stand there once.
uint64_t tvms_x86_text(tvms_x86_code *c, const char *text);

// Four bytes that refer to a symbol, seen from behind them.
void tvms_x86_refer(tvms_x86_code *c, uint32_t symbol, uint32_t type, int64_t add);

// A call of the function of a name.
void tvms_x86_call(tvms_x86_code *c, const char *name);

// Begins a hidden function without a frame, and returns its symbol.
uint32_t tvms_x86_begin(tvms_x86_code *c, const char *name);

// Ends such a function.
void tvms_x86_end(tvms_x86_code *c, uint32_t symbol);

// Puts the address of a text into a register.
void tvms_x86_address_of(tvms_x86_code *c, tvms_x86_register reg, uint64_t text);

// Begins a function with a frame; `symbol` is defined here. Returns where the size of the frame
// stands, for _close. No label is set before.
uint64_t tvms_x86_open(tvms_x86_code *c, uint32_t symbol);

// Ends the function: its frame has so many bytes, a multiple of 16, and all its jumps get their labels.
void tvms_x86_close(tvms_x86_code *c, uint32_t symbol, uint64_t place, uint32_t frame);

#endif
