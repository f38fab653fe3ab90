// Changing Relax functions value by value, in A-normal form and with types that stay true.
//
//   static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
//     tvms_relax_mutator *m = r->self;
//     …
//     return tvms_relax_settle(m, tvms_relax_op(m, TVMS_R_multiply, args, 2));
//   }
//
//   tvms_relax_mutator m;
//   tvms_relax_mutator_init(&m, run, unit, &state);
//   m.rewriter.leave[TVMS_NODE_CALL] = leave_call;
//   tvms_node *changed = tvms_relax_mutate(&m, function);
//   tvms_relax_mutator_fini(&m);
//
// It is a rewriter (ir/rewrite.h) with the types of passes/relax/retype.h and two things more: a
// call whose arguments changed has its type inferred again, and what a pass builds as a tree of
// calls is bound part by part, under the names that TVM's BlockBuilder gives them.
#ifndef TVMS_PASSES_RELAX_MUTATOR_H
#define TVMS_PASSES_RELAX_MUTATOR_H

#include "ir/op.h"
#include "passes/functions.h"
#include "passes/relax/emit.h"
#include "structinfo/dims.h"

typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  void *self;  // of the pass
  tvms_prover prover;
  tvms_relax_emitter emitter;
  tvms_rewriter rewriter;  // whose self is the mutator
  tvms_node_map settled;   // part of a tree → its variable, in one block
  const tvms_node *TVMS_NULLABLE settled_in;  // that block
  bool
      failed;  // a type could not be inferred, which was reported: no other is asked for
} tvms_relax_mutator;

// Prepares a mutator in the caller's storage, with hooks that keep types true; new nodes lie in
// `unit`. `fini` frees what it holds.
void tvms_relax_mutator_init(tvms_relax_mutator *m, tvms_pass_run *run, tvms_unit *unit,
                             void *TVMS_NULLABLE self);

// Frees what the mutator holds; nodes stay with the unit.
void tvms_relax_mutator_fini(tvms_relax_mutator *m);

// Takes the symbolic dimensions of a FUNCTION as not negative. tvms_relax_mutate does so; for what
// is inferred before it.
void tvms_relax_mutator_assume(tvms_relax_mutator *m, tvms_node *function);

// Rewrites a FUNCTION with the hooks that were set. The same node if nothing changed.
tvms_node *tvms_relax_mutate(tvms_relax_mutator *m, tvms_node *function);

// A FUNCTION rewritten call by call: `leave` is the leave hook of CALL, its rewriter's self a
// mutator without a state. The same node if nothing changed.
tvms_node *tvms_relax_change_calls(tvms_pass_run *run, tvms_unit *unit,
                                   tvms_node *function, tvms_rewrite_hook *leave);

// `call` with its type inferred from its arguments: a call that was just made, or a fresh copy.
// After a report it has the type of an object.
tvms_node *tvms_relax_infer(tvms_relax_mutator *m, tvms_node *call);

// The default leave hook of CALL: infers the type again if an argument changed.
tvms_node *tvms_relax_leave_call(tvms_rewriter *r, tvms_node *node);

// A typed call of an operator, all attributes of which are unset. Arguments may be trees.
tvms_node *tvms_relax_op(tvms_relax_mutator *m, tvms_opcode opcode,
                         tvms_node *const *args, uint32_t count);

// The same with attributes: as many as the operator has, NULL for what is unset.
tvms_node *tvms_relax_op_with(tvms_relax_mutator *m, tvms_opcode opcode,
                              tvms_node *const *args, uint32_t count,
                              tvms_node *const *attrs);

// A call like `call` with other arguments, as many as it has; typed.
tvms_node *tvms_relax_recall(tvms_relax_mutator *m, const tvms_node *call,
                             tvms_node *const *args);

// A typed tuple.
tvms_node *tvms_relax_make_tuple(tvms_relax_mutator *m, tvms_node *const *fields,
                                 uint32_t count);

// Item `index` of a value whose type is a tuple.
tvms_node *tvms_relax_make_item(tvms_relax_mutator *m, tvms_node *tuple,
                                uint32_t index);

// What comes in the place of field `index` of a tuple.
typedef tvms_node *tvms_relax_field_change(void *self, tvms_node *field,
                                           uint32_t index);

// A value whose type is a tuple, with what `change` makes of its fields (of items of it, unless it is written as a tuple): the value
// itself if these stay.
tvms_node *tvms_relax_change_fields(tvms_relax_mutator *m, tvms_node *value,
                                    tvms_relax_field_change *change, void *self);

// `value` with every part that is not a leaf bound to a variable in front of the binding at
// hand. The value itself is not bound.
tvms_node *tvms_relax_settle(tvms_relax_mutator *m, tvms_node *value);

// As settle, and the value is bound too unless it is a leaf or a tuple. A part that stands in
// several trees of one block is bound once.
tvms_node *tvms_relax_settle_leaf(tvms_relax_mutator *m, tvms_node *value);

// Binds a match_cast of a leaf to `type` in front of the binding at hand, and returns its variable.
tvms_node *tvms_relax_mutator_cast(tvms_relax_mutator *m, tvms_node *value,
                                   tvms_node *type);

// For enter hooks of VAR_BINDING: the binding at hand with another value. Its variable stays if
// the type does; else there is a new one, which stands for the old from here on.
tvms_node *tvms_relax_rebind(tvms_relax_mutator *m, const tvms_node *binding,
                             tvms_node *value);

// Is the binding at hand one of a dataflow block?
bool tvms_relax_in_dataflow(const tvms_relax_mutator *m);

#endif
