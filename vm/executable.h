// An executable of TVM's virtual machine in memory: functions, constants and code.
//
// An instruction is a row of 64-bit words, an opcode and its operands:
//
//   CALL dst function count argument…   call function `function` of the table
//   RET  register                       leave with the value of a register
//   GOTO offset                         go on `offset` instructions further
//   IF   register offset                if it is not zero the next one, else `offset` further
//
// An argument has its kind in the highest eight bits and its value, with a sign, in the others.
// TVM: include/tvm/runtime/vm/bytecode.h and executable.h.
#ifndef TVMS_VM_EXECUTABLE_H
#define TVMS_VM_EXECUTABLE_H

#include "ir/node.h"
#include "runtime/abi.h"

typedef enum {
  TVMS_VM_CALL = 1,
  TVMS_VM_RET = 2,
  TVMS_VM_GOTO = 3,
  TVMS_VM_IF = 4,
} tvms_vm_opcode;

typedef enum {
  TVMS_VM_REGISTER,
  TVMS_VM_IMMEDIATE,
  TVMS_VM_CONSTANT,
  TVMS_VM_FUNCTION,
} tvms_vm_argument;

// Registers that are none: the destination of a call that gives nothing, and the machine itself.
#define TVMS_VM_SPECIAL ((int64_t)1 << 54)
#define TVMS_VM_VOID    TVMS_VM_SPECIAL
#define TVMS_VM_SELF    (TVMS_VM_SPECIAL + 1)

// Numbers beyond it are constants, not immediates.
#define TVMS_VM_LARGEST (((int64_t)1 << 55) - 1)

// The arity of a function that is declared and has no code here.
#define TVMS_VM_UNDEFINED (-2)

// The word of an argument. The value is at most TVMS_VM_LARGEST either way.
static inline int64_t tvms_vm_word(tvms_vm_argument kind, int64_t value) {
  uint64_t low = (uint64_t)value & (((uint64_t)1 << 56) - 1);
  return (int64_t)((uint64_t)kind << 56 | low);
}

// The kind of an argument word; of a malformed word more than TVMS_VM_FUNCTION.
static inline uint32_t tvms_vm_word_kind(int64_t word) {
  return (uint32_t)((uint64_t)word >> 56);
}

// The value of an argument word.
static inline int64_t tvms_vm_word_value(int64_t word) {
  int64_t low = (int64_t)((uint64_t)word & (((uint64_t)1 << 56) - 1));
  return low > TVMS_VM_LARGEST ? low - ((int64_t)1 << 56) : low;
}

typedef enum {
  TVMS_VM_IS_PACKED,    // a packed function, found by its name
  TVMS_VM_IS_BYTECODE,  // code here
  TVMS_VM_IS_COMPILED,  // a function of the library that takes registers (exec_mode="compiled")
} tvms_vm_function_kind;

typedef struct {
  int32_t kind;  // tvms_vm_function_kind
  tvms_bytes name;
  int64_t begin;  // of its instructions, indices of `offsets`
  int64_t end;
  int64_t arity;      // parameters, or TVMS_VM_UNDEFINED
  int64_t registers;  // of a call
  tvms_bytes *params;
  uint32_t param_count;
} tvms_vm_function;

typedef enum {
  TVMS_VM_TENSOR,
  TVMS_VM_SHAPE,
  TVMS_VM_TEXT,
  TVMS_VM_INT,
  TVMS_VM_FLOAT,
  TVMS_VM_DTYPE,
} tvms_vm_constant_kind;

typedef struct {
  uint8_t kind;        // tvms_vm_constant_kind
  tvms_dl_type dtype;  // of TENSOR and DTYPE
  int32_t ndim;        // of TENSOR and SHAPE
  int64_t *shape;
  const char *data;  // of TENSOR, compact, and TEXT
  uint64_t size;     // bytes of `data`
  int64_t i;
  double f;
} tvms_vm_constant;

// A constant tensor that is to lie in another memory than the default one.
typedef struct {
  int64_t constant;
  tvms_bytes scope;
} tvms_vm_scope;

// The line of the program's text that instructions from `instruction` on were made of, up to the next of these; 0: none.
typedef struct {
  int64_t instruction;
  int64_t line;
} tvms_vm_line;

// The name of the value that a check, an instruction, is a match_cast of.
typedef struct {
  int64_t instruction;
  tvms_bytes name;
} tvms_vm_name;

// Arrays are the memory's; texts, shapes and data are borrowed from whoever made them: an arena,
// or the file that was read.
typedef struct {
  tvms_memory *memory;
  TVMS_VEC(tvms_vm_function) functions;
  TVMS_VEC(tvms_vm_constant) constants;
  TVMS_VEC(tvms_vm_scope) scopes;
  TVMS_VEC(int64_t) offsets;  // of each instruction in `words`
  TVMS_VEC(int64_t) words;
  TVMS_VEC(tvms_vm_line) lines;  // both in order; those of TVM have none
  TVMS_VEC(tvms_vm_name) names;
} tvms_vm_executable;

// An empty executable, which takes arrays from `memory` and leaves them to it.
void tvms_vm_executable_init(tvms_vm_executable *executable, tvms_memory *memory);

// The words of an instruction of a checked executable.
static inline const int64_t *tvms_vm_instruction(const tvms_vm_executable *executable,
                                                 int64_t index) {
  return executable->words.items + executable->offsets.items[index];
}

// The line that an instruction was made of; 0: it is not known.
int64_t tvms_vm_line_of(const tvms_vm_executable *executable, int64_t instruction);

// The name of the value that a check is a match_cast of, or NULL.
const tvms_bytes *TVMS_NULLABLE tvms_vm_name_of(const tvms_vm_executable *executable,
                                                int64_t instruction);

// The index of the function of this name, or -1.
int64_t tvms_vm_function_index(const tvms_vm_executable *executable, const char *name,
                               size_t len);

// NULL if the executable keeps to its own tables: indices, registers and jumps are inside of
// what they refer to. Otherwise
// what is wrong, as a text in `arena`.
const char *TVMS_NULLABLE tvms_vm_executable_check(const tvms_vm_executable *executable,
                                                   tvms_arena *arena);

#endif
