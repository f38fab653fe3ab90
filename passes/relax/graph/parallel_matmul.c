// Products with one left side that stand beside each other, found for CombineParallelMatmul.
//
// TVM: GetBranchInfo of combine_parallel_matmul.cc, and the graph of patterns that its pass makes
// of the answer. A product takes the first add that uses it and that the first function.
#include "passes/relax/graph/parallel_matmul.h"

#include "ir/walk.h"
#include "passes/relax/pattern/pattern.h"
#include "structinfo/definitions.h"
#include "structinfo/sinfo.h"

#include <string.h>

static const tvms_opcode activations[] = TVMS_MATMUL_ACTIVATIONS;
enum { ACTIVATIONS = sizeof activations / sizeof activations[0] };

// ---- How many products there are ----

// The left sides of one kind of chain, and where each is in the list.
typedef struct {
  tvms_matmul_branches_vec list;
  uint32_t *places;  // by id of a variable: its place in the list + 1, or 0
} group;

typedef struct {
  tvms_memory *memory;
  tvms_node_map values;  // VAR → value, of the whole function
  group products, biased, activated[2 * ACTIVATIONS];
} survey;

static uint32_t *new_places(tvms_memory *memory, const tvms_unit *unit) {
  size_t size = unit->next_id * sizeof(uint32_t);
  return memset(tvms_memory_alloc(memory, size), 0, size);
}

static tvms_matmul_branches *TVMS_NULLABLE find_group(group *g, const tvms_node *lhs) {
  uint32_t place = g->places[lhs->id];
  return place ? &g->list.items[place - 1] : NULL;
}

static void add_group(tvms_memory *memory, group *g, tvms_matmul_branches branch) {
  tvms_vec_push(memory, &g->list, branch);
  g->places[branch.lhs->id] = g->list.len;
}

static void count_branch(survey *s, group *g, tvms_node *lhs, int64_t bias_ndim,
                         tvms_opcode activation) {
  tvms_matmul_branches *old = find_group(g, lhs);
  if (!old) {
    tvms_matmul_branches fresh = {lhs, 1, bias_ndim, activation};
    add_group(s->memory, g, fresh);
    return;
  }
  old->count++;
  if (old->bias_ndim != bias_ndim) old->bias_ndim = -1;
  if (old->activation != activation) old->activation = TVMS_R_NONE;
}

static const tvms_call *TVMS_NULLABLE call_of(const survey *s, tvms_node *expr,
                                              tvms_opcode opcode) {
  const tvms_node *value = tvms_relax_pattern_unwrap(&s->values, expr);
  return tvms_op_called(value) == opcode ? tvms_as_call(value) : NULL;
}

static int64_t ndim_of(const tvms_node *expr) {
  const tvms_node *type = expr->sinfo;
  return tvms_sinfo_is_tensor(type) ? tvms_as_sinfo_tensor(type)->ndim : -1;
}

// The product in a sum, which may be either operand, and the axes of the other.
static const tvms_call *TVMS_NULLABLE product_in_sum(const survey *s,
                                                     const tvms_call *add,
                                                     int64_t *bias_ndim) {
  for (uint32_t i = 0; i < 2; i++) {
    const tvms_call *matmul = call_of(s, add->args.items[i], TVMS_R_matmul);
    if (!matmul) continue;
    *bias_ndim = ndim_of(add->args.items[1 - i]);
    return matmul;
  }
  return NULL;
}

static void survey_call(survey *s, tvms_node *value) {
  tvms_opcode opcode = tvms_op_called(value);
  const tvms_call *call = tvms_as_call(value), *matmul = NULL, *add = NULL;
  int64_t bias_ndim = -1;
  group *g = NULL;
  if (opcode == TVMS_R_matmul) {
    matmul = call;
    g = &s->products;
  } else if (opcode == TVMS_R_add) {
    matmul = product_in_sum(s, call, &bias_ndim);
    g = &s->biased;
  }
  for (uint32_t i = 0; i < ACTIVATIONS; i++) {
    if (opcode != activations[i]) continue;
    add = call_of(s, call->args.items[0], TVMS_R_add);
    matmul = add ? product_in_sum(s, add, &bias_ndim)
                 : call_of(s, call->args.items[0], TVMS_R_matmul);
    g = &s->activated[add ? i : ACTIVATIONS + i];
  }
  if (!matmul || matmul->args.items[0]->kind != TVMS_NODE_VAR) return;
  bool activated = g != &s->products && g != &s->biased;
  count_branch(s, g, matmul->args.items[0], bias_ndim,
               activated ? opcode : TVMS_R_NONE);
}

static tvms_walk_step note_binding(void *self, tvms_node *node, tvms_field_role role) {
  survey *s = self;
  (void)role;
  if (node->kind != TVMS_NODE_VAR_BINDING && node->kind != TVMS_NODE_MATCH_CAST)
    return TVMS_WALK_ON;
  tvms_node *value = tvms_relax_binding_value(node);
  tvms_node_map_put(&s->values, tvms_relax_binding_var(node), value);
  if (value->kind == TVMS_NODE_CALL) survey_call(s, value);
  return TVMS_WALK_ON;
}

// Where all products of a left side are followed by the same, that is combined with them.
static void prefer_longer(survey *s, group *longer) {
  for (uint32_t i = 0; i < longer->list.len; i++) {
    const tvms_matmul_branches *branch = &longer->list.items[i];
    tvms_matmul_branches *all = find_group(&s->products, branch->lhs);
    if (all && all->count == branch->count) *all = *branch;
  }
}

// Appends those with several products, in front of those with fewer.
static void append(survey *s, const group *g, tvms_matmul_branches_vec *branches) {
  for (uint32_t i = 0; i < g->list.len; i++) {
    tvms_matmul_branches fresh = g->list.items[i];
    if (fresh.count < 2) continue;
    tvms_vec_push(s->memory, branches, fresh);
    uint32_t at = branches->len - 1;
    for (; at > 0 && branches->items[at - 1].count < fresh.count; at--)
      branches->items[at] = branches->items[at - 1];
    branches->items[at] = fresh;
  }
}

// Left sides that were found by an earlier kind of function are not looked at again.
static void merge_activated(survey *s, group *merged) {
  for (uint32_t k = 0; k < 2 * ACTIVATIONS; k++) {
    for (uint32_t i = 0; i < s->activated[k].list.len; i++) {
      tvms_matmul_branches branch = s->activated[k].list.items[i];
      if (!find_group(merged, branch.lhs)) add_group(s->memory, merged, branch);
    }
  }
}

static void group_fini(survey *s, group *g) {
  tvms_vec_fini(s->memory, &g->list);
  tvms_memory_free(s->memory, g->places);
}

void tvms_relax_matmul_branches(const tvms_unit *unit, const tvms_node *function,
                                tvms_matmul_branches_vec *branches) {
  tvms_memory *memory = &unit->context->memory;
  survey s = {.memory = memory};
  group merged = {.places = new_places(memory, unit)};
  tvms_node_map_init(&s.values, memory);
  s.products.places = new_places(memory, unit);
  s.biased.places = new_places(memory, unit);
  for (uint32_t i = 0; i < 2 * ACTIVATIONS; i++)
    s.activated[i].places = new_places(memory, unit);
  tvms_visitor visitor = {.self = &s, .enter = note_binding};
  tvms_walk(memory, (tvms_node *)(uintptr_t)function, &visitor);
  merge_activated(&s, &merged);
  prefer_longer(&s, &s.biased);
  prefer_longer(&s, &merged);
  append(&s, &s.products, branches);
  append(&s, &merged, branches);
  append(&s, &s.biased, branches);
  for (uint32_t i = 0; i < 2 * ACTIVATIONS; i++)
    group_fini(&s, &s.activated[i]);
  group_fini(&s, &merged);
  group_fini(&s, &s.biased);
  group_fini(&s, &s.products);
  tvms_node_map_fini(&s.values);
}

// ---- Chains of a block ----

// A variable that is used: the bindings that do, in their order.
typedef struct use_list {
  const tvms_node *var;
  TVMS_VEC(tvms_node *) users;  // bindings
} use_list;

struct tvms_matmul_uses {
  tvms_memory *memory;
  uint32_t *places;       // by id of a variable: its place in `lists` + 1, or 0
  tvms_node_map removed;  // VAR → itself
  tvms_node_vec order;
  TVMS_VEC(use_list) lists;
  tvms_node *binding;  // being looked at
};

static use_list *TVMS_NULLABLE list_of(const tvms_matmul_uses *uses,
                                       const tvms_node *var) {
  uint32_t place = uses->places[var->id];
  return place ? &uses->lists.items[place - 1] : NULL;
}

static tvms_walk_step note_use(void *self, tvms_node *node, tvms_field_role role) {
  tvms_matmul_uses *uses = self;
  if (node->kind == TVMS_NODE_FUNCTION) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_VAR || role != TVMS_ROLE_USE) return TVMS_WALK_ON;
  use_list *list = list_of(uses, node);
  if (!list) {
    use_list fresh = {.var = node};
    tvms_vec_push(uses->memory, &uses->lists, fresh);
    tvms_vec_push(uses->memory, &uses->order, node);
    list = &uses->lists.items[uses->lists.len - 1];
    uses->places[node->id] = uses->lists.len;
  }
  bool noted =
      list->users.len && list->users.items[list->users.len - 1] == uses->binding;
  if (!noted) tvms_vec_push(uses->memory, &list->users, uses->binding);
  return TVMS_WALK_ON;
}

tvms_matmul_uses *tvms_relax_matmul_uses(const tvms_unit *unit,
                                         tvms_node *const *bindings, uint32_t count) {
  tvms_context *context = unit->context;
  tvms_matmul_uses *uses = tvms_arena_new(&context->scratch, tvms_matmul_uses);
  *uses = (tvms_matmul_uses){.memory = &context->memory};
  uses->places = new_places(uses->memory, unit);
  tvms_node_map_init(&uses->removed, uses->memory);
  tvms_visitor visitor = {.self = uses, .enter = note_use};
  for (uint32_t i = 0; i < count; i++) {
    uses->binding = bindings[i];
    tvms_walk(uses->memory, tvms_relax_binding_value(bindings[i]), &visitor);
  }
  return uses;
}

const tvms_node_vec *tvms_relax_matmul_used(const tvms_matmul_uses *uses) {
  return &uses->order;
}

void tvms_relax_matmul_remove(tvms_matmul_uses *uses, const tvms_node *var) {
  tvms_node_map_put(&uses->removed, var, (tvms_node *)(uintptr_t)var);
}

void tvms_relax_matmul_uses_fini(tvms_matmul_uses *uses) {
  for (uint32_t i = 0; i < uses->lists.len; i++)
    tvms_vec_fini(uses->memory, &uses->lists.items[i].users);
  tvms_vec_fini(uses->memory, &uses->lists);
  tvms_vec_fini(uses->memory, &uses->order);
  tvms_node_map_fini(&uses->removed);
  tvms_memory_free(uses->memory, uses->places);
}

// The first binding that calls `opcode` with `var` in front.
static tvms_node *TVMS_NULLABLE first_user(const tvms_matmul_uses *uses,
                                           const tvms_node *var, tvms_opcode opcode) {
  const use_list *list = list_of(uses, var);
  for (uint32_t i = 0; list && i < list->users.len; i++) {
    tvms_node *value = tvms_relax_binding_value(list->users.items[i]);
    const tvms_node *user = tvms_relax_binding_var(list->users.items[i]);
    if (tvms_node_map_get(&uses->removed, user)) continue;
    if (tvms_op_called(value) != opcode) continue;
    if (tvms_as_call(value)->args.items[0] == var) return list->users.items[i];
  }
  return NULL;
}

static bool follow(const tvms_matmul_uses *uses, tvms_node *binding,
                   const tvms_matmul_branches *wanted, tvms_matmul_branch *branch) {
  const tvms_call *call = tvms_as_call(tvms_relax_binding_value(binding));
  branch->matmul = branch->last = tvms_relax_binding_var(binding);
  branch->rhs = call->args.items[1];
  branch->bias = NULL;
  if (wanted->bias_ndim >= 0) {
    binding = first_user(uses, branch->last, TVMS_R_add);
    if (!binding) return false;
    branch->bias = tvms_as_call(tvms_relax_binding_value(binding))->args.items[1];
    branch->last = tvms_relax_binding_var(binding);
  }
  if (wanted->activation != TVMS_R_NONE) {
    binding = first_user(uses, branch->last, wanted->activation);
    if (!binding) return false;
    branch->last = tvms_relax_binding_var(binding);
  }
  return true;
}

// Are all operands variables, and no two of them the same?
static bool all_distinct(const tvms_matmul_uses *uses, const tvms_node *lhs,
                         const tvms_matmul_branch *found, uint32_t count) {
  tvms_node_map seen;
  tvms_node_map_init(&seen, uses->memory);
  tvms_node_map_put(&seen, lhs, (tvms_node *)(uintptr_t)lhs);
  bool fine = true;
  for (uint32_t i = 0; i < count && fine; i++) {
    tvms_node *parts[] = {found[i].rhs, found[i].bias};
    for (uint32_t k = 0; k < 2 && parts[k]; k++) {
      fine &= parts[k]->kind == TVMS_NODE_VAR && !tvms_node_map_get(&seen, parts[k]);
      tvms_node_map_put(&seen, parts[k], parts[k]);
    }
  }
  tvms_node_map_fini(&seen);
  return fine;
}

bool tvms_relax_matmul_find(tvms_matmul_uses *uses, const tvms_node *lhs,
                            const tvms_matmul_branches *wanted,
                            tvms_matmul_branch *found) {
  const use_list *list = list_of(uses, lhs);
  uint32_t count = 0;
  for (uint32_t i = 0; i < list->users.len && count < wanted->count; i++) {
    tvms_node *binding = list->users.items[i];
    tvms_node *value = tvms_relax_binding_value(binding);
    if (tvms_node_map_get(&uses->removed, tvms_relax_binding_var(binding))) continue;
    if (tvms_op_called(value) != TVMS_R_matmul) continue;
    if (tvms_as_call(value)->args.items[0] != lhs) continue;
    count += follow(uses, binding, wanted, &found[count]);
  }
  return count == wanted->count && all_distinct(uses, lhs, found, count);
}
