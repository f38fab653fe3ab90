// What taking packed arguments apart is made of: expressions, checks with TVM's messages, and
// variables that have a value. For passes/tir/host/packed_*.c.
#ifndef TVMS_PASSES_TIR_HOST_PACKED_BINDER_H
#define TVMS_PASSES_TIR_HOST_PACKED_BINDER_H

#include "arith/analyzer.h"
#include "ir/fold_ops.h"
#include "ir/node_map.h"
#include "passes/tir/host/packed_arguments.h"

enum { TVMS_PACKED_PATH_SIZE = 160 };

// A parameter and a value of it, in words: A.shape[0].
typedef struct {
  uint32_t index;
  char text[TVMS_PACKED_PATH_SIZE];
} tvms_packed_path;

// A compound size, to be compared when everything is defined.
typedef struct {
  tvms_node *condition;
  tvms_node *expected;
  tvms_packed_path path;
} tvms_packed_pending;

// Arguments being taken apart.
typedef struct {
  tvms_packed_arguments *out;
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_analyzer *analyzer;
  tvms_node_map defined;  // VAR: its value, and where it came from first
  TVMS_VEC(tvms_packed_pending) pending;
  tvms_node **handles;   // by parameter: VAR of the handle of a tensor
  tvms_node *when;       // the part of messages in front of the signature
  tvms_node *signature;  // f(A: Tensor([n], float32), …)
  bool untyped;  // before 0.26: parameters hold handles, buffers pointers of their own
} tvms_packed_binder;

#define TVMS_PACKED_HANDLE TVMS_DTYPE(HANDLE, 64)

// ---- Expressions ----

// A binary operator that folds.
tvms_node *tvms_packed_build(const tvms_packed_binder *b, tvms_node_kind kind,
                             tvms_node *x, tvms_node *y);

// A constant int32.
tvms_node *tvms_packed_int(const tvms_packed_binder *b, int64_t value);

// A text.
tvms_node *tvms_packed_text(const tvms_packed_binder *b, const char *value);

// T.tvm_struct_get: element `index` of what `base` points to, one field of it.
tvms_node *tvms_packed_field_of(const tvms_packed_binder *b, tvms_dtype dtype,
                                tvms_node *base, int64_t index,
                                tvms_packed_field field);

// T.isnullptr.
tvms_node *tvms_packed_is_null(const tvms_packed_binder *b, tvms_node *pointer);

// Its negation.
tvms_node *tvms_packed_is_not_null(const tvms_packed_binder *b, tvms_node *pointer);

// A fresh variable, its name made of `format` and two texts.
tvms_node *tvms_packed_variable(const tvms_packed_binder *b, tvms_dtype dtype,
                                const char *format, const char *first,
                                const char *second);

// The text of a node, types of constants included; it lives as long as the context.
const char *tvms_packed_words_of(const tvms_packed_binder *b, const tvms_node *node);

// A conversion that folds.
static inline tvms_node *tvms_packed_cast(const tvms_packed_binder *b, tvms_dtype dtype,
                                          tvms_node *value) {
  return tvms_build_cast(b->unit, dtype, value, TVMS_NO_SPAN);
}

// x or y.
static inline tvms_node *tvms_packed_either(const tvms_packed_binder *b, tvms_node *x,
                                            tvms_node *y) {
  return tvms_packed_build(b, TVMS_NODE_OR, x, y);
}

// A call that gives a pointer of this type.
static inline tvms_node *tvms_packed_typed(tvms_node *call,
                                           tvms_node *TVMS_NULLABLE type) {
  call->sinfo = type;
  return call;
}

// ---- Words ----

// The name of a parameter: that of its buffer, if it has one.
const char *tvms_packed_name_of(const tvms_packed_binder *b, uint32_t param);

// The name of the variable that holds what is passed: up to 0.25 that of the handle.
const char *tvms_packed_holder_name(const tvms_packed_binder *b, uint32_t param);

// `param` and a field of it, ".byte_offset" or "".
tvms_packed_path tvms_packed_path_of(const tvms_packed_binder *b, uint32_t param,
                                     const char *field);

// Element `i` of a field: A.shape[0].
tvms_packed_path tvms_packed_element_path(const tvms_packed_binder *b, uint32_t param,
                                          const char *field, uint32_t i);

// A number in a message.
typedef struct {
  char text[12];
} tvms_packed_digits;

// The digits of `value`.
tvms_packed_digits tvms_packed_number(uint32_t value);

// ---- Definitions and checks ----

// Parts of a message, up to a NULL; "" stands for the name of the function that is called.
#define TVMS_PACKED_PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

// `var` is `value` from here on.
void tvms_packed_load(tvms_packed_binder *b, tvms_node *var, tvms_node *value);

// An assertion with this message.
tvms_node *tvms_packed_assertion(tvms_packed_binder *b, tvms_node *condition,
                                 const char *kind, const char *const *parts);

// Checks before anything else is loaded.
void tvms_packed_check_now(tvms_packed_binder *b, tvms_node *condition,
                           const char *kind, const char *const *parts);

// Checks when everything is loaded.
void tvms_packed_check_later(tvms_packed_binder *b, tvms_node *condition,
                             const char *const *parts);

// Checks what kind of value was passed.
void tvms_packed_check_kind(tvms_packed_binder *b, uint32_t param, tvms_node *condition,
                            const char *expected);

// Notes that `var` has a value, which came from `path` first.
void tvms_packed_note_definition(tvms_packed_binder *b, tvms_node *var,
                                 tvms_node *value, const tvms_packed_path *path);

// `arg` of the function is `value` of the caller: a variable that has no value yet gets it,
// anything else is compared. Returns true if that defined a variable. TVM: BindScalar.
bool tvms_packed_bind_scalar(tvms_packed_binder *b, tvms_node *arg, tvms_node *value,
                             const tvms_packed_path *path);

// Compares the compound sizes; once, behind everything else.
void tvms_packed_check_pending(tvms_packed_binder *b);

#endif
