// Operands of PTX instructions: whether a value fits an operand of a form, and what it
// becomes in the call.
#ifndef TVMS_PARSER_DEVICE_PTX_OPERAND_H
#define TVMS_PARSER_DEVICE_PTX_OPERAND_H

#include "parser/device/ptx_form.h"
#include "parser/device/room.h"
#include "parser/tir/tir.h"

// What T.ptx.SINK, T.ptx.pred(x) and T.ptx.addr(x, n) are is told by the number of items.
enum { TVMS_PTX_SINK, TVMS_PTX_PREDICATE, TVMS_PTX_ADDRESS_PAIR };

// Why a form is not meant. The later a reason stands, the nearer the form was.
typedef enum {
  TVMS_PTX_MISFIT_MODIFIER,  // one is missing
  TVMS_PTX_MISFIT_TOGETHER,
  TVMS_PTX_MISFIT_COUNT,
  TVMS_PTX_MISFIT_OPERAND,
} tvms_ptx_misfit_kind;

typedef struct {
  tvms_ptx_misfit_kind kind;
  const char *name;    // of the modifier or operand
  const char *wanted;  // OPERAND: what it must be
  uint32_t count;      // COUNT: operands that the form has
} tvms_ptx_misfit;

// A call on its way to an instruction.
//
// T.ptx.ld.acquire.gpu.global_.b32(d, addr) names a family, `ld`, and modifiers; which of the
// forms in ir/device/ptx.def is meant follows from both and from the operands. So a call is
// read in this order: the chain leaves some `forms`; the arguments are evaluated to `operands`
// and `nodes`; each form is tried, which fills `args` or notes a `misfit`. If one form fits, it
// is tried again and its `args` are those of the call; if none does, the misfit that came
// nearest is reported. `args` belong to the form that was tried last.
//
// The order and the rules are those of TVM's python/tvm/backend/cuda/ptx/engine.py.
typedef struct {
  tvms_reader *reader;
  tvms_ref call;
  const char *path;           // "ptx.family.modifier…", as written
  tvms_eval_value *operands;  // as given; what is sunk is a TVMS_PTX_SINK
  tvms_node **nodes;          // of those that are expressions, else NULL
  uint32_t count;
  tvms_node *TVMS_NULLABLE pred;
  bool keep;
  TVMS_VEC(tvms_ptx_form) forms;  // that the modifiers leave
  tvms_nodes args;                // of the call that is made
  char flags[256];
  tvms_ptx_misfit misfit;  // of the form being tried
} tvms_ptx_work;

// Whether a value is T.ptx.addr(x, n).
static inline bool tvms_ptx_is_pair(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_PTX && value.len == TVMS_PTX_ADDRESS_PAIR;
}

// Adds an argument of the call.
static inline void tvms_ptx_push(tvms_ptx_work *w, tvms_node *TVMS_NULLABLE node) {
  tvms_vec_push(&w->reader->context->memory, &w->args, node);
}

// Notes that the operand `name` must be what `wanted` says. Always false.
bool tvms_ptx_unfit(tvms_ptx_work *w, const char *name, const char *wanted);

// A number of Python as a constant; NULL after a report.
tvms_node *TVMS_NULLABLE tvms_ptx_constant(tvms_ptx_work *w, tvms_eval_value value,
                                           tvms_dtype dtype);

// Whether a value may stand for a predicate.
bool tvms_ptx_is_truth(const tvms_node *TVMS_NULLABLE node);

// Whether a value is an integer and no vector.
bool tvms_ptx_is_integer(const tvms_node *TVMS_NULLABLE node);

// Whether an operand is a register that holds a predicate.
bool tvms_ptx_is_predicate(const tvms_ptx_operand *operand);

// Adds what an operand of the form becomes: the values from number `at` on, as many as the
// operand has registers. False with w->misfit if they do not fit.
bool tvms_ptx_put_operand(tvms_ptx_work *w, const tvms_ptx_operand *operand,
                          uint32_t at);

#endif
