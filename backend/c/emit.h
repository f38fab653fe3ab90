// C text in the making, and the parts that it is made of.
//
// Every value of TIR becomes a variable of C, so that the order of what may fail is the
// program's: `const f32 v7 = v5 + v6;`. Vectors are GCC's vector types; what is no operator
// on them is a loop over their lanes `k`. A value is known by the text that stands for it.
#ifndef TVMS_BACKEND_C_EMIT_H
#define TVMS_BACKEND_C_EMIT_H

#include "backend/backend.h"
#include "backend/c/ranges.h"
#include "backend/core/entry.h"
#include "backend/core/params.h"
#include "backend/core/scaled.h"
#include "support/strbuf.h"
#include "support/vec.h"

// A buffer where it is used; texts of 64-bit integers, sizes count elements.
typedef struct {
  const char *data;
  const char *offset;
  uint32_t ndim;
  const char **shape;
  const char **strides;
} c_view;

// A function of C that the text declares.
typedef struct {
  const char *name;
  bool wide;  // of double
  uint32_t arity;
} c_function;

// What is allocated: memory that is kept, or so many boxes of a list.
typedef struct {
  const char *name;
  uint32_t boxes;
} c_live;

// The bits of a vector of truths, of which the name ends with a number; see truths.h.
typedef struct {
  uint32_t number;
  uint32_t depth;  // of what was joined
  const char *TVMS_NULLABLE bits;
  const char *TVMS_NULLABLE scalar;  // which each of them is
} c_truths;

// What of a function's memory is variables; see registers.h.
typedef struct c_registers c_registers;

// What a load reads for others that are beside it; see windows.h.
typedef struct c_window c_window;

// Where break and continue go: what was allocated inside of the loop is freed on the way.
typedef struct c_loop {
  struct c_loop *outer;
  uint32_t memory;
} c_loop;

// What the function in progress is, for its errors: an entry, which raises them, a kernel, which leaves them to who
// calls it, or a Relax function, which does so with its name.
typedef enum { C_ENTRY, C_KERNEL, C_RELAX } c_room;

// The text of a module, then of one function at a time. It is put together from two: what
// functions need (types, constants, prototypes), and the functions.
typedef struct {
  tvms_context *context;
  const tvms_module *program;
  bool contract;
  uint32_t vector_bytes;                   // of a register
  const char *TVMS_NULLABLE plain_prefix;  // as in tvms_native_options
  tvms_source *TVMS_NULLABLE lines_of;     // whose lines its lines are
  uint32_t line;  // of it; 0: what is written is not in the program
  tvms_strbuf head;
  tvms_strbuf body;
  TVMS_VEC(tvms_dtype) vectors;    // types that are declared
  TVMS_VEC(const char *) helpers;  // functions on vectors that are declared
  TVMS_VEC(c_function) functions;  // that are declared
  bool exports_all;                // private functions, too
  uint32_t constants;
  uint32_t foreign;          // functions of C that the head declares for single calls
  bool has_boxes, has_host;  // what the head has for packed functions
  TVMS_VEC(const char *) boxes;          // functions of the run time that it declares
  TVMS_VEC(const tvms_member *) called;  // functions that are called by their entries
  // Of the function in progress:
  tvms_dialect dialect;
  const tvms_member *member;
  c_room room;
  uint32_t next;  // number of the next variable
  uint32_t depth;
  uint32_t
      block;  // counts where blocks open and close: in between all is reached that was before
  tvms_dtype result_dtype;
  const char **vars;                 // by id
  const c_view **views;              // by id
  c_registers **registers;           // by id of the variable of the memory
  c_window **windows;                // by id of the load
  const tvms_node *const *bindings;  // values of variables by id
  const c_interval *ranges;          // by id of the variable
  TVMS_VEC(c_truths) truths;         // by number, ascending
  TVMS_VEC(const char *) chosen;     // bits that vectors were chosen by, the last ones
  bool crowded;  // more of them are wanted at once than there are registers
  TVMS_VEC(const tvms_node *) folded;  // loads of vectors that were folded; see folds.h
  bool windowed;                       // one of them was folded twice
  TVMS_VEC(c_live) memory;             // live allocations, innermost last
  uint64_t frame;                      // bytes on the stack of the function
  c_loop *TVMS_NULLABLE loop;
  bool in_index;  // integer arithmetic cannot overflow: it makes an index
  uint32_t past;  // loops around that say that vectors are stored past the caches
  bool has_past;  // the function stores some so
} c_emitter;

// Leaves with TVMS_FOUND_ERRORS; something was reported.
TVMS_NORETURN void tvms_c_give_up(c_emitter *e);

// Reports that `what` cannot be compiled, and leaves.
TVMS_NORETURN void tvms_c_refuse(c_emitter *e, tvms_span span, const char *what);

// A text that lives as long as the function in progress.
const char *tvms_c_text(c_emitter *e, const char *format, ...) TVMS_PRINTF(2, 3);

// What is written from here on is made of what stands at `span`; if the text shall have lines.
void tvms_c_at(c_emitter *e, tvms_span span);

// Writes a line.
void tvms_c_line(c_emitter *e, const char *format, ...) TVMS_PRINTF(2, 3);

// Writes a line that opens a block.
void tvms_c_open(c_emitter *e, const char *format, ...) TVMS_PRINTF(2, 3);

// Closes the innermost block.
void tvms_c_close(c_emitter *e);

// Is it a float of 16 bits, which is one of 32 bits in registers?
bool tvms_c_is_narrow(tvms_dtype dtype);

// Lanes of the vector that C has for the type: a power of two. The last ones may be unused. Two lanes of at most 32
// bits have four: what GCC has for 8 bytes goes through memory and registers of integers.
int tvms_c_room(tvms_dtype dtype);

// The name of a type in registers; declares it if it is a vector.
const char *tvms_c_type(c_emitter *e, tvms_dtype dtype, tvms_span span);

// The name of the type of an element in memory.
const char *tvms_c_memory_type(c_emitter *e, tvms_dtype element, tvms_span span);

// Bits of a lane if the value is a mask, else 0.
int tvms_c_mask_bits(const char *value);

// Lane `k` of a value, or the value itself if it is a scalar.
const char *tvms_c_lane(c_emitter *e, const char *value, tvms_dtype dtype);

// A new variable with this value; of a vector the value of lane `k`.
const char *tvms_c_value(c_emitter *e, tvms_dtype dtype, tvms_span span,
                         const char *expr);

// {lane 0, lane 1, …} of the text of lane `k`.
const char *tvms_c_listed(c_emitter *e, const char *expr, int lanes);

// A new variable whose whole value this is.
const char *tvms_c_whole(c_emitter *e, tvms_dtype dtype, tvms_span span,
                         const char *expr);

// The text of a conversion of a scalar; the same for lanes.
const char *tvms_c_convert(c_emitter *e, tvms_dtype from, tvms_dtype to,
                           const char *expr);

// The text of a real that is rounded to its kind.
const char *tvms_c_round(c_emitter *e, tvms_dtype dtype, const char *expr);

// The form in memory of narrow floats that are kept in both forms (vector.h): h7 of w7; NULL for any other text.
const char *TVMS_NULLABLE tvms_c_memory_form(c_emitter *e, const char *value);

// The text of a scalar in its form in memory, and back.
const char *tvms_c_to_memory(c_emitter *e, tvms_dtype dtype, const char *expr);

// The text of a scalar in registers that was read from memory.
const char *tvms_c_from_memory(c_emitter *e, tvms_dtype dtype, const char *expr);

// A text as a literal of C.
const char *tvms_c_literal(c_emitter *e, const char *text);

// Writes what frees live memory down to number `mark`; it stays listed.
void tvms_c_free_from(c_emitter *e, uint32_t mark);

// Writes code that fails unless the condition, which stands at `span`, holds.
void tvms_c_check(c_emitter *e, const char *condition, const char *kind,
                  const char *text, tvms_span span);

// A function of C by its name for double, declared for the type that is wanted.
const char *tvms_c_function(c_emitter *e, const char *name, bool wide, uint32_t arity);

#endif
