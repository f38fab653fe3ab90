// LegalizeOps: operators become calls of PrimFuncs that compute them.
//
// Before: lv = R.nn.relu(x)
// After:  lv = R.call_tir(cls.relu, (x,), out_ty=R.Tensor((n,), "float32")), and a private
//         PrimFunc relu in the module
//
// What an operator computes stands in te/. Equal PrimFuncs are made once. Operators that TVM
// writes with others, and those that only a packed function can do, stand in expand_ops.c.
// Calls with unknown shapes and operators without a description stay as they are.
// TVM: relax.transform.LegalizeOps.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "passes/functions.h"
#include "passes/relax/lower/expand_ops.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "te/legalize_call.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_expansion expansion;  // first: legalize_call gets a pointer to it
  const char *skip;          // names of operators, ';' between them
} legalizer;

static tvms_node *call_tir(tvms_unit *unit, const tvms_call *call, tvms_sym name,
                           const tvms_legalized *legalized) {
  tvms_node *type = legalized->types.items[0];
  if (legalized->types.len > 1) {
    type = tvms_sinfo_tuple_new(unit, legalized->types.items, legalized->types.len);
  }
  tvms_node *made =
      tvms_relax_make_call_tir(unit, name, legalized->args, type, call->head.span);
  if (legalized->sizes.len) {
    tvms_list sizes = legalized->sizes;
    tvms_list args = tvms_as_call(made)->args;
    tvms_node *all[] = {
        args.items[0], args.items[1],
        tvms_sinfo_shape_value_new(unit, sizes.items, sizes.len, call->head.span)};
    tvms_as_call(made)->args = tvms_list_copy(unit, all, 3);
  }
  return made;
}

static bool is_skipped(const legalizer *state, const char *name) {
  size_t len = strlen(name);
  for (const char *at = state->skip; (at = strstr(at, name)); at += len) {
    bool begins = at == state->skip || at[-1] == ';' || at[-1] == '.';
    if (begins && (at[len] == '\0' || at[len] == ';')) return true;
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

// A call of a PrimFunc that computes what the operator does, or NULL.
static tvms_node *call_prim_func(tvms_expansion *e, tvms_node *node, bool shape) {
  tvms_pass_run *run = e->mutator->run;
  tvms_node *whole = tvms_legalize_is_possible(tvms_as_call(node))
                         ? tvms_relax_open_operands(e, node)
                         : node;
  tvms_unit *unit = tvms_functions_open_unit(run);
  tvms_legalized legalized = {0};
  const tvms_call *call = tvms_as_call(whole);
  tvms_unit *caller = e->mutator->unit;
  bool made = shape ? tvms_legalize_shape_of_call(unit, caller, call, &legalized)
                    : tvms_legalize_call(unit, caller, call, &legalized);
  if (!made) {
    tvms_functions_drop_unit(run, unit);
    return NULL;
  }
  const char *name = on_device(unit, &legalized);
  tvms_sym symbol = tvms_functions_add_unique(run, name, unit, legalized.function);
  return call_tir(caller, call, symbol, &legalized);
}

// What an operator is written as may contain operators that are to be legalised as well.
static tvms_node *legalize(tvms_expansion *e, tvms_node *node) {
  const legalizer *state = (const legalizer *)e;
  tvms_opcode opcode = tvms_op_called(node);
  if (opcode == TVMS_R_NONE || stays_silently(opcode)) return node;
  if (is_skipped(state, tvms_op_of(opcode)->name)) return node;
  bool possible = tvms_legalize_is_possible(tvms_as_call(node));
  tvms_node *made = possible ? tvms_relax_expand_op(e, node) : NULL;
  if (made) {
    tvms_expansion inner = *e;
    inner.old = made;
    legalizer below = {.expansion = inner, .skip = state->skip};
    return made->kind == TVMS_NODE_CALL ? legalize(&below.expansion, made) : made;
  }
  made = call_prim_func(e, node, false);
  if (!made) made = tvms_relax_expand_to_packed(e, node);
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
  tvms_relax_definitions definitions;
  tvms_relax_definitions_init(&definitions, unit, function);
  tvms_relax_mutator mutator;
  legalizer state = {
      .expansion = {.mutator = &mutator,
                    .definitions = &definitions,
                    .legalize = legalize,
                    .compute = call_prim_func},
      .skip = TVMS_OPTION(run, LegalizeOps, skip_ops).text,
  };
  tvms_relax_mutator_init(&mutator, run, unit, &state);
  // Names are drawn for all functions of the module together.
  tvms_relax_emitter *names = run->state;
  mutator.emitter = *names;
  mutator.emitter.unit = unit;
  mutator.rewriter.leave[TVMS_NODE_CALL] = leave_call;
  mutator.rewriter.leave[TVMS_NODE_MATCH_CAST] = leave_match_cast;
  tvms_node *changed = tvms_relax_mutate(&mutator, function);
  *names = mutator.emitter;
  tvms_relax_emitter_init(&mutator.emitter, unit);
  tvms_relax_mutator_fini(&mutator);
  tvms_relax_definitions_fini(&definitions);
  return changed;
}

void tvms_pass_legalize_ops(tvms_pass_run *run) {
  tvms_relax_emitter names = {.memory = &run->context->memory};
  void *outer = run->state;
  run->state = &names;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = outer;
  tvms_vec_fini(&run->context->memory, &names.names);
}
