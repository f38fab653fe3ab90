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
  TVMS_FRAME_COMPOSE,  // tile.compose_op
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
    tvms_tile_call *compose;
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

// ---- parser/tir/function.c ----
// Reads the function into member->function; leaves it NULL when something is unknown.
void tvms_tir_function(tvms_reader *reader, const tvms_def *def, tvms_member *member);
// The dim in a string of a shape: parsed and evaluated; in a signature of 0.26 on, names
// that nothing binds become variables.
tvms_eval_value tvms_tir_quoted_dim(tvms_reader *reader, tvms_ref string);
// What a TypeVar means where `name` stands for it: an int64 variable in the signature of a
// PrimFunc, elsewhere the TypeVar itself.
tvms_eval_value tvms_tir_type_var_dim(tvms_reader *reader, tvms_sym name,
                                      tvms_eval_value type_var, tvms_span span);
// The variable that a quoted dim defined under this name, or NULL.
tvms_node *TVMS_NULLABLE tvms_tir_signature_var(const tvms_reader *reader,
                                                tvms_sym name);
// Whether the text may have been written by a printer: a statement per line.
bool tvms_reader_is_printed(tvms_reader *reader);
// Gives a variable or buffer its name, as TVM's builder does.
void tvms_tir_name_node(tvms_reader *reader, tvms_node *node, tvms_sym name);

// ---- parser/tir/member.c ----
// The definition of a member of the module being read; NULL: it has none.
const tvms_def *TVMS_NULLABLE tvms_definition_find(const tvms_reader *reader,
                                                   const tvms_member *member);
// Dtype that a call of the PrimFunc has: its return type, void without one.
tvms_dtype tvms_definition_declared_return(tvms_reader *reader,
                                           const tvms_member *member);
// A call of a function of the module (`cls.f(…)`) inside a PrimFunc.
tvms_eval_value tvms_tir_call_global(tvms_reader *reader, tvms_node *global_var,
                                     tvms_ref call);
// tvm.tir.call_tir(cls.f, …).
tvms_eval_value tvms_tir_call_tir(tvms_reader *reader, tvms_ref call);

// ---- parser/tir/frame.c ----
tvms_frame *tvms_frame_new(tvms_reader *reader, tvms_frame_kind kind, tvms_ref ref);
tvms_eval_value tvms_frame_value(tvms_frame *frame);
// A frame of one statement that holds for what follows it; `result` is what it names.
tvms_eval_value tvms_frame_binder(tvms_reader *reader, tvms_node *stmt,
                                  tvms_eval_value result, tvms_ref ref);
// Opens a frame; false after a report (it is not open then).
bool tvms_frame_enter(tvms_reader *reader, tvms_frame *frame, bool flat);
// Closes the innermost frame and the flat ones above it, down to `frame`.
void tvms_frame_exit(tvms_reader *reader, tvms_frame *frame);
// Adds a statement to the innermost frame.
void tvms_frame_emit(tvms_reader *reader, tvms_node *stmt);
// The statements from `begin` on as one body, taken off the stack.
tvms_node *tvms_frame_take_body(tvms_reader *reader, uint32_t begin, tvms_span span);
// The innermost frame if it is of `kind`; else reports that `what` must stand at its top.
tvms_frame *TVMS_NULLABLE tvms_frame_top(tvms_reader *reader, tvms_frame_kind kind,
                                         const char *what, tvms_ref ref);
// The innermost open frame of `kind`, or NULL.
tvms_frame *TVMS_NULLABLE tvms_frame_find(tvms_reader *reader, tvms_frame_kind kind);
static inline tvms_frame *tvms_frame_last(const tvms_reader *reader) {
  return reader->tir->frames.items[reader->tir->frames.len - 1];
}

// ---- parser/tir/stmt.c ----
void tvms_tir_body(tvms_reader *reader, tvms_ref body);
// Reads the statements of a macro in place; the value is what it returns.
tvms_eval_value tvms_tir_expand_body(tvms_reader *reader, tvms_ref body, uint32_t calls,
                                     tvms_ref call);

// ---- parser/tir/scalar.c ----
// T.int32(), T.int32(x): a fresh variable, a constant or a cast.
tvms_eval_value tvms_tir_dtype_call(tvms_reader *reader, tvms_dtype dtype,
                                    tvms_eval_value value, bool size_var,
                                    tvms_ref call);

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

tvms_node *tvms_tir_buffer_make(tvms_reader *reader, const tvms_buffer_form *form,
                                tvms_ref ref);
// Reads the form from the arguments of a call. False after a report.
TVMS_NODISCARD bool tvms_tir_buffer_form_of(tvms_reader *reader,
                                            const tvms_call_args *call,
                                            tvms_buffer_form *form);
tvms_eval_value tvms_tir_subscript(tvms_reader *reader, tvms_eval_value object,
                                   tvms_eval_value index, tvms_ref ref);
tvms_eval_value tvms_tir_buffer_subscript(tvms_reader *reader, tvms_node *buffer,
                                          tvms_eval_value index, tvms_ref ref);
// A region where a value is expected: its slices become ramps. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_tir_region_load(tvms_reader *reader, tvms_node *region,
                                              tvms_ref ref);
// `buffer[indices] = value`; indices may hold slices.
void tvms_tir_store_into(tvms_reader *reader, tvms_node *buffer,
                         tvms_eval_value indices, tvms_eval_value value,
                         tvms_node *TVMS_NULLABLE predicate, tvms_ref ref);
// An access `buffer[indices]`, checked against the rank.
tvms_node *TVMS_NULLABLE tvms_tir_load(tvms_reader *reader, tvms_node *buffer,
                                       tvms_node *const *indices, uint32_t count,
                                       tvms_node *TVMS_NULLABLE predicate,
                                       tvms_ref ref);
// Whether `node` is a buffer of shape (1,).
bool tvms_tir_is_one_element(const tvms_node *node);
// From 0.25 on the name of a buffer of one element stands for the element, too.
bool tvms_tir_is_scalar_buffer(const tvms_reader *reader, const tvms_node *node);
// All of a buffer.
tvms_node *tvms_tir_whole_region(tvms_reader *reader, tvms_node *buffer, tvms_ref ref);
// An element or a part of a region, indices counted from its start. Unknown after a report.
tvms_eval_value tvms_tir_region_subscript(tvms_reader *reader, tvms_node *region,
                                          tvms_eval_value index, tvms_ref ref);
// 1 in the scalar dtype of an index.
tvms_node *tvms_tir_one_like(tvms_reader *reader, const tvms_node *node);
// A buffer, region or element as a region. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_tir_to_region(tvms_reader *reader, tvms_eval_value value,
                                            const char *what, tvms_ref ref);
// Attributes and methods of nodes.
tvms_eval_value tvms_tir_node_attribute(tvms_reader *reader, tvms_node *node,
                                        tvms_sym name, tvms_ref ref);
tvms_eval_value tvms_tir_call_node_method(tvms_reader *reader, tvms_node *node,
                                          tvms_sym name, tvms_ref call);
// A mutable scalar of 0.25 on: a local buffer of one element. The value is its load.
tvms_eval_value tvms_tir_scalar_new(tvms_reader *reader, tvms_dtype dtype,
                                    tvms_sym scope, tvms_ref ref);

// ---- parser/tir/intrinsic.c ----
// Arguments of a call of an operator: values, buffers, strings. False if one is unknown.
TVMS_NODISCARD bool tvms_tir_to_arguments(tvms_reader *reader, tvms_eval_value args,
                                          tvms_ref ref, tvms_list *list);
tvms_eval_value tvms_spelled_call(tvms_reader *reader, tvms_eval_value callee,
                                  tvms_ref call);

// ---- parser/device/wrapper.c ----
typedef struct tvms_wrapper tvms_wrapper;  // one row of ir/wrappers.def
// The row with this spelling below T in the dialect that is read, or NULL.
const tvms_wrapper *TVMS_NULLABLE tvms_wrapper_find(const tvms_reader *reader,
                                                    const char *path, size_t len);
// Does any row have a spelling that begins with `path.`?
bool tvms_wrapper_is_prefix(const tvms_reader *reader, const char *path, size_t len);
// T.tvm_access_ptr of five values: type, pointer, offset, extent, mask; unknown after a
// report.
tvms_eval_value tvms_tir_access_ptr(tvms_reader *reader,
                                    const tvms_eval_value values[5],
                                    const tvms_ref refs[5], tvms_ref ref);
// A type given as an argument: text, a data type, or `T.handle("float32").ty`, whose
// pointer type goes to `*sinfo`. False after a report.
TVMS_NODISCARD bool tvms_tir_to_result_type(tvms_reader *reader, tvms_eval_value value,
                                            tvms_ref ref, tvms_dtype *dtype,
                                            tvms_node *TVMS_NULLABLE *sinfo);
// A call whose keywords are attributes; unknown after a report.
tvms_eval_value tvms_attributed_call(tvms_reader *reader, const tvms_call_args *call);
// A call in the spelling of the first releases, by its operator: `args` are *all_args,
// operator and dtype; unknown after a report.
tvms_eval_value tvms_legacy_call(tvms_reader *reader, tvms_tir_opcode op,
                                 const tvms_eval_value args[3], tvms_ref call);
// Does "ptx.family…" name an instruction of PTX in this dialect?
bool tvms_ptx_is_operator_family(const tvms_reader *reader, const char *path,
                                 size_t len);
// The call of an instruction by the path of its chain, "ptx.ld.global_.b32"; unknown after
// a report.
tvms_eval_value tvms_ptx_call(tvms_reader *reader, const char *path, size_t len,
                              tvms_ref call);
// T.ptx.pred(x) and T.ptx.addr(x, n).
tvms_eval_value tvms_ptx_call_pred(tvms_reader *reader, tvms_ref call);
tvms_eval_value tvms_ptx_call_addr(tvms_reader *reader, tvms_ref call);
// The call of the operator that CALL stands for; unknown after a report.
tvms_eval_value tvms_wrapper_call(tvms_reader *reader, const tvms_wrapper *wrapper,
                                  tvms_ref call);
// Replaces buffers among the arguments of a packed call by T.tvm_stack_make_array.
tvms_node *TVMS_NULLABLE tvms_tir_pack_buffer(tvms_reader *reader, tvms_node *buffer,
                                              tvms_ref ref);
// T.address_of(value).
tvms_eval_value tvms_tir_address_of(tvms_reader *reader, tvms_eval_value value,
                                    tvms_ref ref);
// An operator, or a namespace of operators, by its spelling below T; unknown if none has it.
tvms_eval_value tvms_spelled_operator(tvms_reader *reader, const char *text,
                                      size_t len);
// A pointer type: SINFO_POINTER.
tvms_node *tvms_tir_pointer_type(tvms_reader *reader, tvms_dtype element,
                                 tvms_sym scope);

// `T.ptx.cp_async`: attributes below an operator's namespace.
tvms_eval_value tvms_spelled_attribute(tvms_reader *reader, tvms_eval_value object,
                                       tvms_sym name, tvms_ref ref);

// T.ptx["…"](…) and `T.cp_async[…]`.
tvms_eval_value tvms_spelled_subscript(tvms_reader *reader, tvms_eval_value object,
                                       tvms_eval_value index, tvms_ref ref);

// ---- parser/tile/tile.c ----
void tvms_tile_exit_compose(tvms_reader *reader, tvms_frame *frame);

// ---- parser/tile/view.c ----
// A.view(…), A.local(…), A.permute(…): a declared buffer over the data of another.
tvms_eval_value tvms_view_method(tvms_reader *reader, tvms_node *buffer, tvms_sym name,
                                 tvms_ref call);
// A.sub[…], A.tile(…)[…], A.chunk(…)[…].
tvms_eval_value tvms_view_subscript(tvms_reader *reader, tvms_eval_value object,
                                    tvms_eval_value index, tvms_ref ref);
// Declares `buffer` over `data`.
void tvms_tir_emit_decl(tvms_reader *reader, tvms_node *buffer, tvms_node *data,
                        tvms_ref ref);

// ---- parser/tir/expr.c ----
// A lambda over indices as an INDEX_MAP with one result. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_tir_lambda_operand(tvms_reader *reader,
                                                 tvms_eval_value lambda, tvms_ref ref);

// ---- parser/tile/layout.c ----
tvms_eval_value tvms_tile_layout_operator(tvms_reader *reader, tvms_surf_op op,
                                          tvms_eval_value a, tvms_eval_value b,
                                          tvms_ref ref);
tvms_eval_value tvms_tile_layout_subscript(tvms_reader *reader, tvms_eval_value part,
                                           tvms_eval_value index, tvms_ref ref);

// The simplifier of arith/ over the unit being read.
tvms_node *tvms_tir_simplified(tvms_reader *reader, tvms_node *node);

#endif
