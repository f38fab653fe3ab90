// Statements of a PrimFunc: what parser/tir/stmt.c and parser/tir/assign.c share.
#ifndef TVMS_PARSER_TIR_STMT_H
#define TVMS_PARSER_TIR_STMT_H

#include "parser/tir/tir.h"

// Head.spare of nodes while they are read.
enum {
  TVMS_SPARE_BOUND = 1,       // VAR, BUFFER_LOAD of a scalar: a name stands for it
  TVMS_SPARE_OWN_DATA = 2,    // BUFFER: its pointer was made with it
  TVMS_SPARE_KEEPS_NAME = 4,  // VAR: no buffer renames it
};

// What a name becomes when `value` is bound to it.
typedef tvms_eval_value tvms_binder(tvms_reader *reader, tvms_sym name,
                                    tvms_eval_value value, tvms_ref ref);

// ---- parser/tir/assign.c ----
// Binds `name` in the innermost scope; a different value there is an error.
void tvms_tir_define(tvms_reader *reader, tvms_sym name, tvms_eval_value value,
                     tvms_span span);
// Binds the names of a target to a value or to its parts. `source` is the expression that
// gave the value, or 0.
void tvms_tir_bind_targets(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                           tvms_binder *bind, tvms_ref source);
// Names part `i` of something that `name` stands for: name_i.
void tvms_tir_name_part(tvms_reader *reader, tvms_eval_value part, tvms_sym name,
                        uint32_t i);
// The value of `name = value`.
tvms_eval_value tvms_tir_assigned(tvms_reader *reader, tvms_sym name,
                                  tvms_eval_value value, tvms_ref ref);
void tvms_tir_read_assign(tvms_reader *reader, tvms_ref ref);
void tvms_tir_read_aug_assign(tvms_reader *reader, tvms_ref ref);
void tvms_tir_read_ann_assign(tvms_reader *reader, tvms_ref ref);

// ---- parser/tir/stmt.c ----
// False after a report that `var` has another type than its value: dtypes up to 0.25, also
// what pointers point to later.
TVMS_NODISCARD bool tvms_tir_check_let(tvms_reader *reader, const tvms_node *var,
                                       const tvms_node *value, tvms_ref ref);
// The let statement: `var` has `value` for the rest of the scope.
void tvms_tir_enter_let(tvms_reader *reader, tvms_node *var, tvms_node *value,
                        tvms_ref ref);
void tvms_tir_emit_return(tvms_reader *reader, tvms_node *value, tvms_ref ref);
// What a function returns: a value, since 0.26 also a buffer. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_tir_to_returned(tvms_reader *reader,
                                              tvms_eval_value value, tvms_ref ref);

// ---- parser/tir/part.c ----
// The buffer that `name = A[4:8]` of 0.25 declares, or NULL where the name stands for a
// region.
tvms_node *TVMS_NULLABLE tvms_tir_buffer_of_part(tvms_reader *reader, tvms_sym name,
                                                 tvms_node *region, tvms_ref ref);

// ---- parser/tir/loop.c ----
// False after a report that `while` cannot have this condition.
TVMS_NODISCARD bool tvms_tir_check_while(tvms_reader *reader,
                                         const tvms_node *condition, tvms_ref ref);
// `for … in range(…)`: the frame of a serial loop.
tvms_eval_value tvms_tir_range_loop(tvms_reader *reader, tvms_ref call);

// ---- parser/tir/names.c ----
// `name` followed by `suffix`.
tvms_sym tvms_tir_joined_name(tvms_reader *reader, tvms_sym name, const char *suffix);

// ---- parser/tir/simple.c ----
// Reports a statement outside a PrimFunc, and returns false then.
TVMS_NODISCARD bool tvms_tir_inside_function(tvms_reader *reader,
                                             const tvms_call_args *call);
// An attribute that holds for what follows.
tvms_node *tvms_tir_attr_new(tvms_reader *reader, tvms_node *node, const char *key,
                             uint32_t key_len, tvms_node *value, tvms_ref ref);
// The frame of an assertion; `kind` is its error kind, or NONE.
tvms_eval_value tvms_tir_assert_frame(tvms_reader *reader, tvms_eval_value condition,
                                      tvms_eval_value message, tvms_eval_value kind,
                                      tvms_ref ref);

// ---- parser/tir/access.c ----
// The store of a value that has the dtype of its place.
void tvms_tir_store_stmt(tvms_reader *reader, tvms_node *buffer,
                         tvms_node *const *indices, uint32_t count, tvms_node *value,
                         tvms_node *TVMS_NULLABLE predicate, tvms_ref ref);

// ---- parser/tir/expr.c ----
// The extent of what goes from `begin` to `end`: the folded difference. TVM prints the end
// as a sum of both, so that its text grows when it is read and printed: of printed text
// the extent is taken as it was. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_tir_extent_between(tvms_reader *reader, tvms_node *begin,
                                                 tvms_node *end, tvms_span span);

// ---- parser/tir/function.c ----
// An annotation as a variable: `T.int32` uncalled is called.
tvms_eval_value tvms_tir_call_annotation(tvms_reader *reader,
                                         tvms_eval_value annotation, tvms_ref ref);

// ---- parser/tir/copy.c ----
// A.get_flattened_buffer(), A.with_dtype(…), A.with_data(…), A.with_allocated_addr(…).
tvms_eval_value tvms_tir_copy_method(tvms_reader *reader, tvms_node *buffer,
                                     tvms_sym name, tvms_ref call);

// ---- parser/tir/type.c ----
// The type that an annotation which has been called stands for: of a variable or an
// expression its own, of a buffer that of buffers. NULL for what is no type; not reported.
tvms_node *TVMS_NULLABLE tvms_tir_type_of_annotation(tvms_reader *reader,
                                                     tvms_eval_value value,
                                                     tvms_ref ref);

// ---- parser/tir/buffer.c ----
// The statement that allocates `buffer` (0.24 on).
void tvms_tir_emit_alloc(tvms_reader *reader, tvms_node *buffer,
                         tvms_node *TVMS_NULLABLE annotations, tvms_ref ref);

#endif
