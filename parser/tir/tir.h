// Reading a PrimFunc: frames, statements, buffers.
//
// A frame is what `with`, `for`, a plain statement or an assignment opens: a block, a
// loop, an attribute … Statements collect in one stack; closing a frame takes its part of
// the stack as the body. A frame opened flat (without `with`) adds its own statement and
// lets the following ones stand beside it; it ends with the frame around it.
#ifndef TVMS_PARSER_TIR_TIR_H
#define TVMS_PARSER_TIR_TIR_H

#include "ir/tir_op.h"
#include "parser/eval/eval.h"

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
  bool in_signature;        // an annotation is being evaluated
  bool defines_dims;        // quoted dims of T.Buffer define what nothing binds
  uint32_t macro_calls;     // > 0: suffix of the names of blocks (0.25 on)
  TVMS_VEC(tvms_node *) signature_vars;  // made by quoted dims of parameters
  TVMS_VEC(tvms_sym) own_names;  // by id, of variables that follow a buffer's name
} tvms_tir_state;

// ---- parser/tir/frame.c ----
static inline tvms_frame *tvms_frame_last(const tvms_reader *reader) {
  return reader->tir->frames.items[reader->tir->frames.len - 1];
}

// ---- parser/tir/buffer.c, parser/tir/access.c ----
// The parameters that all forms of declaring a buffer share.
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
