// Conditions read as systems of inequalities, and the domains that their solutions leave.
//
// Only comparisons of sums, products, quotients and remainders of integers are read; parts of a
// conjunction count each on its own, and what is under T.likely counts, too.
#include "arith/narrow.h"

#include "arith/solve.h"
#include "ir/walk.h"

// The comparisons in a condition that can be solved, and their variables.
typedef struct {
  tvms_domains *domains, *hints;
  tvms_var_range vars[TVMS_MOST_NARROWED];
  uint32_t var_count;
  tvms_node *relations[TVMS_MOST_RELATIONS];
  uint32_t relation_count;
  bool simple;    // of the comparison being read
  bool overflow;  // more than there is room for
} system_of;

static tvms_walk_step note_term(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  system_of *system = self;
  switch ((int)node->kind) {
  case TVMS_NODE_ADD:
  case TVMS_NODE_SUB:
  case TVMS_NODE_MUL:
  case TVMS_NODE_FLOOR_DIV:
  case TVMS_NODE_FLOOR_MOD:
  case TVMS_NODE_INT_IMM: return TVMS_WALK_ON;
  case TVMS_NODE_VAR: break;
  default: system->simple = false; return TVMS_WALK_STOP;
  }
  for (uint32_t i = 0; i < system->var_count; i++) {
    if (system->vars[i].var == node) return TVMS_WALK_ON;
  }
  if (system->var_count == TVMS_MOST_NARROWED)
    system->overflow = true;
  else
    system->vars[system->var_count++].var = node;
  return TVMS_WALK_ON;
}

static void read_condition(system_of *system, tvms_node *condition) {
  while (condition->kind == TVMS_NODE_AND) {
    read_condition(system, tvms_as_binary(condition)->a);
    condition = tvms_as_binary(condition)->b;
  }
  if (tvms_call_opcode(condition) == TVMS_TIR_likely) {
    read_condition(system, tvms_as_call(condition)->args.items[0]);
    return;
  }
  if (condition->kind < TVMS_NODE_EQ || condition->kind > TVMS_NODE_GE) return;
  const tvms_binary *op = tvms_as_binary(condition);
  if (!tvms_dtype_is_int(op->a->dtype) && !tvms_dtype_is_uint(op->a->dtype)) return;
  tvms_visitor visitor = {.self = system, .enter = note_term};
  uint32_t vars_before = system->var_count;
  system->simple = true;
  tvms_walk(&system->domains->unit->context->memory, op->a, &visitor);
  if (system->simple)
    tvms_walk(&system->domains->unit->context->memory, op->b, &visitor);
  if (!system->simple || system->var_count == 0) {
    system->var_count = vars_before;
    return;
  }
  if (system->relation_count == TVMS_MOST_RELATIONS)
    system->overflow = true;
  else
    system->relations[system->relation_count++] = condition;
}

// The domain of a variable: of a loop inside the block, or what conditions around say.
static const tvms_int_set *TVMS_NULLABLE domain_of(const system_of *system,
                                                   const tvms_node *var) {
  const tvms_int_set *domain = tvms_domains_get(system->domains, var);
  return domain ? domain : tvms_domains_get(system->hints, var);
}

static void read_ranges(system_of *system) {
  tvms_unit *unit = system->domains->unit;
  for (uint32_t i = 0; i < system->var_count; i++) {
    tvms_var_range *range = &system->vars[i];
    const tvms_int_set *domain = domain_of(system, range->var);
    if (!domain || !tvms_int_set_cover(unit, *domain, &range->min, &range->extent)) {
      range->min = range->extent = NULL;
    } else {
      range->min = domain->min;
    }
  }
}

static void narrow_var(const system_of *system, const tvms_var_range *range,
                       tvms_narrowing *n) {
  tvms_unit *unit = system->domains->unit;
  const tvms_int_set *old = domain_of(system, range->var);
  tvms_int_set set = tvms_int_set_of_range(unit, range->min, range->extent);
  n->vars[n->len] = range->var;
  n->known[n->len] = old != NULL;
  if (old) n->old[n->len] = *old;
  n->len++;
  if (old) set = tvms_int_set_intersect(unit, *old, set);
  bool relaxed = tvms_domains_get(system->domains, range->var) != NULL;
  tvms_domains_set(relaxed ? system->domains : system->hints, range->var, set);
}

bool tvms_domains_narrow(tvms_domains *domains, tvms_domains *hints,
                         tvms_node *condition, tvms_narrowing *narrowing) {
  narrowing->len = 0;
  condition = tvms_arith_simplify(domains->unit, condition);
  system_of system = {.domains = domains, .hints = hints};
  read_condition(&system, condition);
  if (system.relation_count == 0 || system.overflow) return false;
  read_ranges(&system);
  if (!tvms_arith_solve_inequalities(domains->unit, system.vars, system.var_count,
                                     system.relations, system.relation_count)) {
    return false;
  }
  for (uint32_t i = 0; i < system.var_count; i++) {
    if (system.vars[i].min) narrow_var(&system, &system.vars[i], narrowing);
  }
  return true;
}

void tvms_domains_widen(tvms_domains *domains, tvms_domains *hints,
                        const tvms_narrowing *narrowing) {
  for (uint32_t i = narrowing->len; i-- > 0;) {
    const tvms_node *var = narrowing->vars[i];
    bool relaxed = tvms_domains_get(domains, var) != NULL;
    tvms_domains *own = relaxed ? domains : hints;
    if (narrowing->known[i])
      tvms_domains_set(own, var, narrowing->old[i]);
    else
      tvms_domains_drop(own, var);
  }
}
