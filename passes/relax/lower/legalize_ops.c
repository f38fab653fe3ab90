// LegalizeOps: operators become calls of PrimFuncs that compute them.
//
// Before: lv = R.nn.relu(x)
// After:  lv = R.call_tir(cls.relu, (x,), out_ty=R.Tensor((n,), "float32")), and a private
//         PrimFunc relu in the module
//
// What an operator computes stands in te/, or in PrimFuncs of the user (own_lowerings.h). Equal PrimFuncs are made once. Operators that TVM
// writes with others, and those that only a packed function can do, stand in expand_ops.c.
// Calls with unknown shapes and operators without a description stay as they are. TVM's PrimFuncs read outside of tensors: that
// of slice_scatter behind the end of its source, which it drops, that of a take with mode="fast" in front of its tensor at places
// below 0. With inside=true they do not, which code that is to run asks for.
// TVM: relax.transform.LegalizeOps.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "passes/functions.h"
#include "passes/relax/lower/expand_ops.h"
#include "passes/relax/lower/legalized_call.h"
#include "passes/relax/lower/legalized_calls.h"
#include "passes/relax/lower/own_lowerings.h"
#include "passes/relax/make.h"
#include "passes/remarks.h"
#include "structinfo/make.h"
#include "structinfo/omitted.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"
#include "te/legalize_call.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_expansion expansion;  // first: legalize_call gets a pointer to it
  const char *skip;          // names of operators, ';' between them
  const tvms_own_lowerings *own;
  tvms_relax_legalized_calls *known;
  bool
      inside;  // nothing is read outside of tensors, places of reshapes show their dimensions
} legalizer;

// What holds for all functions of the module.
typedef struct {
  tvms_relax_emitter names;  // drawn for all of them together
  tvms_own_lowerings own;
} whole_module;

static void say_stays(const legalizer *state, const tvms_node *node, const char *why) {
  const tvms_pass_run *run = state->expansion.mutator->run;
  tvms_pass_count(run, "operators left", 1);
  tvms_pass_remark(run, TVMS_REMARK_MISSED, TVMS_D_not_legalized, node->span,
                   tvms_op_of(tvms_op_called(node))->name, why);
}

static bool is_skipped(const legalizer *state, const char *name) {
  size_t len = strlen(name);
  for (const char *at = state->skip; (at = strstr(at, name)); at += len) {
    bool begins = at == state->skip || at[-1] == ';' || at[-1] == '.';
    if (!begins || (at[len] != '\0' && at[len] != ';')) continue;
    say_stays(state, state->expansion.old, "skip_ops names it");
    return true;
  }
  return false;
}

static bool stays_silently(tvms_opcode opcode) {
  return opcode == TVMS_R_call_tir || opcode == TVMS_R_call_dps_packed
         || opcode == TVMS_R_call_pure_packed;
}

// A PrimFunc for a device has its target, and the kind of it in its name, which is returned.
static const char *on_device(tvms_unit *unit, const tvms_legalized *legalized) {
  const tvms_node *target =
      legalized->vdevice ? tvms_as_object_vdevice(legalized->vdevice)->target : NULL;
  const tvms_node *config = target && target->kind == TVMS_NODE_OBJECT_TARGET
                                ? tvms_as_object_target(target)->config
                                : NULL;
  bool map = config && config->kind == TVMS_NODE_OBJECT_MAP;
  const char *kind =
      map ? tvms_object_as_text(tvms_object_map_get(config, "kind")) : NULL;
  if (!kind) return legalized->name;
  tvms_prim_func *function = tvms_as_prim_func(legalized->function);
  function->attrs = tvms_object_map_with(unit, function->attrs, "target",
                                         tvms_clone(unit, target, NULL));
  size_t room = strlen(legalized->name) + strlen(kind) + 2;
  char *name = tvms_arena_alloc(&unit->context->scratch, room);
  snprintf(name, room, "%s_%s", legalized->name, kind);
  return name;
}

// Adds the PrimFunc that `call` is legalised to, or that for a part of it, to the module. Returns false if there is none.
static bool add_prim_func(const tvms_expansion *e, const tvms_call *call,
                          tvms_legal_part part, tvms_sym *symbol,
                          tvms_legalized *legalized) {
  tvms_pass_run *run = e->mutator->run;
  tvms_unit *caller = e->mutator->unit;
  tvms_unit *unit = tvms_functions_open_unit(run);
  unit->origin = call->head.span;
  if (!tvms_legalize_part(unit, caller, call, part, legalized)) {
    tvms_functions_drop_unit(run, unit);
    return false;
  }
  const char *name = on_device(unit, legalized);
  *symbol = tvms_functions_add_unique(run, name, unit, legalized->function);
  return true;
}

// A call of a PrimFunc that computes what the operator does, or NULL.
static tvms_node *call_prim_func(tvms_expansion *e, tvms_node *node,
                                 tvms_legal_part part) {
  tvms_node *whole = tvms_legalize_is_possible(tvms_as_call(node))
                         ? tvms_relax_open_operands(e, node)
                         : node;
  const tvms_call *call = tvms_as_call(whole);
  tvms_unit *caller = e->mutator->unit;
  tvms_relax_legalized_calls *known = ((legalizer *)e)->known;
  tvms_legalized legalized = {0};
  tvms_sym symbol;
  bool whole_call = part == TVMS_LEGAL_RESULT || part == TVMS_LEGAL_INSIDE;
  if (!whole_call
      || !tvms_relax_legalized_calls_find(known, caller, call, &symbol, &legalized)) {
    if (!add_prim_func(e, call, part, &symbol, &legalized)) return NULL;
    if (whole_call) tvms_relax_legalized_calls_keep(known, call, symbol, &legalized);
  }
  return tvms_relax_call_legalized(caller, call, symbol, &legalized);
}

// Workers hand tensors to each other whatever is in them.
static bool moves_data(tvms_opcode opcode) {
  return opcode == TVMS_R_ccl_allreduce || opcode == TVMS_R_ccl_allgather
         || opcode == TVMS_R_ccl_broadcast_from_worker0
         || opcode == TVMS_R_ccl_scatter_from_worker0;
}

// TVM knows the types of all constants.
static bool refuse_untold(const tvms_expansion *e, const tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  if (!tvms_legalize_describes(tvms_op_called(node))) return false;
  for (uint32_t i = 0; i < args.len; i++) {
    if (!tvms_sinfo_is_untold(args.items[i])) continue;
    return !tvms_node_refuse_omitted(e->mutator->unit->context, args.items[i],
                                     "LegalizeOps");
  }
  return false;
}

// TVM fails on these, where it leaves calls alone whose shapes are not known.
static bool refuse_untyped(const tvms_expansion *e, const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_opcode opcode = tvms_op_called(node);
  bool untyped = tvms_legalize_describes(opcode) && tvms_legalize_knows_sizes(call)
                 && !tvms_legalize_is_possible(call);
  if (!untyped) return false;
  tvms_diag_report(&e->mutator->unit->context->diags, TVMS_D_legalize_dtype, node->span,
                   tvms_op_of(opcode)->name);
  return true;
}

// What an operator is written as may contain operators that are to be legalised as well.
static tvms_node *legalize(tvms_expansion *e, tvms_node *node) {
  const legalizer *state = (const legalizer *)e;
  tvms_opcode opcode = tvms_op_called(node);
  if (opcode == TVMS_R_NONE || stays_silently(opcode)) return node;
  if (is_skipped(state, tvms_op_of(opcode)->name)) return node;
  tvms_node *own = tvms_relax_own_lowering_of(state->own, e->mutator, node);
  if (own) return own;
  if (refuse_untold(e, node) || refuse_untyped(e, node)) return node;
  bool possible = moves_data(opcode) ? tvms_legalize_knows_sizes(tvms_as_call(node))
                                     : tvms_legalize_is_possible(tvms_as_call(node));
  tvms_node *made = possible ? tvms_relax_expand_op(e, node) : NULL;
  if (made) {
    tvms_expansion inner = *e;
    inner.old = made;
    legalizer below = {inner, state->skip, state->own, state->known, state->inside};
    return made->kind == TVMS_NODE_CALL ? legalize(&below.expansion, made) : made;
  }
  made = call_prim_func(e, node, state->inside ? TVMS_LEGAL_INSIDE : TVMS_LEGAL_RESULT);
  if (!made) made = tvms_relax_expand_to_packed(e, node);
  if (made)
    tvms_pass_count(e->mutator->run, "operators lowered", 1);
  else
    say_stays(state, node,
              possible ? "nothing says how to compute it with PrimFuncs"
                       : "shapes or data types of its operands are not known");
  return made ? made : node;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  tvms_relax_mutator *m = r->self;
  legalizer *state = m->self;
  state->expansion.old = r->old;
  return legalize(&state->expansion, tvms_relax_leave_call(r, node));
}

// What a match_cast looks at is a variable; an operator that became a call gets one.
static tvms_node *leave_match_cast(tvms_rewriter *r, tvms_node *node) {
  tvms_match_cast *cast = tvms_as_match_cast(node);
  if (node != r->old && cast->value != tvms_as_match_cast(r->old)->value) {
    cast->value = tvms_relax_settle_leaf(r->self, cast->value);
  }
  return node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  whole_module *whole = run->state;
  tvms_relax_definitions definitions;
  tvms_relax_definitions_init(&definitions, unit, function);
  tvms_relax_mutator mutator;
  tvms_relax_legalized_calls known;
  tvms_relax_legalized_calls_init(&known, &run->context->memory);
  legalizer state = {
      .expansion = {.mutator = &mutator,
                    .definitions = &definitions,
                    .legalize = legalize,
                    .compute = call_prim_func},
      .skip = TVMS_OPTION(run, LegalizeOps, skip_ops).text,
      .own = &whole->own,
      .known = &known,
      .inside = TVMS_OPTION(run, LegalizeOps, inside).number != 0,
  };
  tvms_relax_mutator_init(&mutator, run, unit, &state);
  mutator.emitter = whole->names;
  mutator.emitter.unit = unit;
  mutator.rewriter.leave[TVMS_NODE_CALL] = leave_call;
  mutator.rewriter.leave[TVMS_NODE_MATCH_CAST] = leave_match_cast;
  tvms_node *changed = tvms_relax_mutate(&mutator, function);
  whole->names = mutator.emitter;
  tvms_relax_emitter_init(&mutator.emitter, unit);
  tvms_relax_mutator_fini(&mutator);
  tvms_relax_legalized_calls_fini(&known);
  tvms_relax_definitions_fini(&definitions);
  return changed;
}

void tvms_pass_legalize_ops(tvms_pass_run *run) {
  tvms_memory *memory = &run->context->memory;
  whole_module whole = {.names = {.memory = memory}};
  const char *with = TVMS_OPTION(run, LegalizeOps, with).text;
  bool fine = !with[0] || tvms_relax_own_lowerings_init(&whole.own, run, with);
  whole.own.must_fit = TVMS_OPTION(run, LegalizeOps, must_fit).number != 0;
  void *outer = run->state;
  run->state = &whole;
  if (fine) tvms_functions_order_by_name(run, TVMS_NODE_FUNCTION);
  if (fine) tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = outer;
  tvms_relax_own_lowerings_fini(&whole.own, memory);
  tvms_vec_fini(memory, &whole.names.names);
}
