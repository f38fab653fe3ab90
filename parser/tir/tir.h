// Reading a PrimFunc: frames, the state of the function, the forms of buffers.
#ifndef TVMS_PARSER_TIR_TIR_H
#define TVMS_PARSER_TIR_TIR_H

#include "ir/tir_op.h"
#include "parser/eval/eval.h"
#include "parser/tir/room.h"

typedef enum {
  TVMS_FRAME_FUNC,
  TVMS_FRAME_BLOCK,
  TVMS_FRAME_INIT,
  TVMS_FRAME_FOR,
  TVMS_FRAME_WHILE,
  TVMS_FRAME_IF,
  TVMS_FRAME_THEN,
  TVMS_FRAME_ELSE,
  TVMS_FRAME_BINDER,  // one statement that holds for what follows: attr, let, allocate …
  TVMS_FRAME_BINDERS,  // T.attr({…}) with several keys
  TVMS_FRAME_COLLECT,  // what takes the statements of its body for itself: tile.compose_op
} tvms_frame_kind;

typedef TVMS_VEC(tvms_node *) tvms_nodes;

// A frame: a scope of a PrimFunc that is open, or that a value of the text will open.
//
// TVM reads a PrimFunc by running it. `T.sblock("B")`, `T.grid(8, 8)` or `T.attr(x, "k", 1)`
// only make a frame; `with`, `for`, or the mere statement enters it, and what runs until it
// is left becomes its body. So a frame is a value first (TVMS_EVAL_FRAME), which a name may
// hold, and is entered once.
//
// Two stacks of tvms_tir_of(reader) hold a function together: `frames`, the open ones, the function
// itself at the bottom; and `stmts`, the finished statements of all of them. `begin` is where
// the statements of a frame start. Leaving a frame takes what stands from `begin` on off the
// stack, as its body, and puts one statement in its place:
//
//   with T.sblock("B"):       frames FUNC BLOCK       stmts
//     T.reads(A[vi])                                  (kept in the frame)
//     B[vi] = A[vi]                                   stmts STORE
//                             frames FUNC             stmts BLOCK_REALIZE
//
// At any time `begin` does not fall from the bottom of `frames` to its top, and the
// statements from the last `begin` on are those of the scope that is being read.
//
// A frame that is entered without `with` is flat: `T.attr(x, "k", 1)` adds its statement at
// once, the following ones stand beside it, and it ends with the frame around it, without
// a body of its own. Leaving a frame therefore leaves the flat ones above it first.
//
// The rules are those of TVM's builder: tirx/script/builder/frame.h, frame.cc (AddToParent)
// and script/ir_builder/base.cc.
typedef struct tvms_frame tvms_frame;
struct tvms_frame {
  tvms_frame_kind kind;
  tvms_ref ref;    // what made it
  uint32_t begin;  // of its statements in the stack
  bool flat;
  bool entered;
  tvms_eval_value result;  // what `as` or an assignment names
  union {
    struct {
      tvms_node *stmt;   // BINDER; first of BINDERS
      tvms_node **more;  // BINDERS: the others
      uint32_t count;
      bool scoped;  // classic, and ATTR_STMT everywhere: it has a body
    } binder;
    struct {
      tvms_node **vars;
      tvms_node **mins;
      tvms_node **extents;
      tvms_node **steps;  // NULL item: 1
      uint32_t count;
      tvms_for_kind kind;
      tvms_sym thread;  // tag of a thread binding
      tvms_node *TVMS_NULLABLE annotations;
      bool single;  // not a grid: the target is one name
    } loop;
    struct {
      const char *name;
      uint32_t name_len;
      bool no_realize;
      tvms_nodes iter_vars;
      tvms_nodes iter_values;
      tvms_list reads, writes;
      bool has_reads, has_writes;
      tvms_node *TVMS_NULLABLE predicate;
      tvms_node *TVMS_NULLABLE init;
      tvms_node *TVMS_NULLABLE annotations;
      tvms_nodes alloc_buffers;
      tvms_nodes match_buffers;
    } block;
    struct {
      tvms_node *condition;
      tvms_node *TVMS_NULLABLE then_case;
      tvms_node *TVMS_NULLABLE else_case;
      bool has_then;
      bool has_else;
    } branch;  // IF; WHILE uses the condition
    struct {
      tvms_node *stmt;
      void (*close)(tvms_reader *reader, tvms_frame *frame);
    } collect;
  } as;
};

// A thread variable made by T.env_thread or T.launch_thread.
typedef struct {
  tvms_node *var;
  tvms_node *iter_var;
} tvms_env_thread;

// A macro whose body is being read in place.
typedef struct tvms_tir_expansion {
  const struct tvms_tir_expansion *TVMS_NULLABLE outer;
  uint32_t calls;  // of the macro before: if any, the suffix of the names of its blocks
} tvms_tir_expansion;

// How far the reader is in a PrimFunc. What stands in a signature may define variables: a
// TypeVar, or from 0.26 on a quoted dim of a parameter.
typedef enum {
  TVMS_TIR_IN_PARAMS,
  TVMS_TIR_IN_RESULT,
  TVMS_TIR_IN_BODY,
} tvms_tir_part;

// The PrimFunc being read. It exists from its decorator to its last statement and is what
// `T.…` of a body works on; outside of a PrimFunc tvms_tir_of(reader) is NULL, and whatever needs one
// reports that. Nothing of it outlives the function but the nodes, which are its unit's.
typedef struct tvms_tir_state {
  TVMS_VEC(tvms_frame *) frames;  // open ones; [0] is the function
  uint32_t
      unopened;  // bodies of `with` around, whose scope could not be opened; reported
  tvms_nodes stmts;
  tvms_nodes params;
  tvms_nodes buffers;  // by parameter; NULL: none
  tvms_nodes root_allocs;
  tvms_node *TVMS_NULLABLE attrs;
  tvms_node *TVMS_NULLABLE ret;
  TVMS_VEC(tvms_env_thread) env_threads;
  tvms_sym name;
  bool is_private, s_tir, persistent, unchecked, jit;
  tvms_ref param_list;  // of the DEF
  tvms_ref body;
  uint32_t function_depth;  // scope of the parameters
  tvms_tir_part part;
  const tvms_tir_expansion *TVMS_NULLABLE expansion;  // the innermost one
  TVMS_VEC(tvms_node *) signature_vars;  // made by quoted dims of parameters
  TVMS_VEC(tvms_sym) own_names;  // by id, of variables that follow a buffer's name
} tvms_tir_state;

// The PrimFunc being read; NULL outside of one.
static inline tvms_tir_state *TVMS_NULLABLE tvms_tir_of(const tvms_reader *reader) {
  return reader->states[TVMS_TIR_ROOM];
}

// The frame in a TVMS_EVAL_FRAME.
static inline tvms_frame *tvms_frame_of(tvms_eval_value value) {
  return value.as.object;
}

// ---- parser/tir/frame.c ----
static inline tvms_frame *tvms_frame_last(const tvms_reader *reader) {
  return tvms_tir_of(reader)->frames.items[tvms_tir_of(reader)->frames.len - 1];
}

// ---- parser/tir/buffer.c, parser/tir/access.c ----
// What a declaration says of a buffer, before there is one: the parameters that T.Buffer,
// T.match_buffer, T.decl_buffer, T.alloc_buffer, views and scalars share.
//
// A buffer is its node: two with the same fields are different, and a name or an access means
// one of them. What they may share is memory. `data` NULL asks for memory of its own; a
// declaration over the data of another buffer makes an alias, which reads and writes the same
// elements under another shape, dtype or layout:
//
//   A = T.alloc_buffer((8, 8))
//   B = T.decl_buffer((64,), data=A.data)      B[i] is an element of A
//
// Up to 0.25 aliases are told by their pointer: A and B hold the same variable. From 0.26 on B
// has a pointer of its own, in the scope of A's, and only the statement DECL_BUFFER says where
// it points (tirx/script/builder/ir.cc, BufferDecl). TVMS_SPARE_OWN_DATA marks pointers that
// were made with their buffer: they take its name.
typedef struct {
  tvms_list shape;
  tvms_dtype dtype;
  tvms_node *TVMS_NULLABLE data;
  tvms_list strides;
  tvms_node *TVMS_NULLABLE elem_offset;
  tvms_sym scope;  // 0: global
  int64_t align;
  int64_t offset_factor;
  bool auto_broadcast;
  tvms_list axis_separators;
  tvms_node *TVMS_NULLABLE layout;
  tvms_list allocated_addr;
} tvms_buffer_form;

#endif
