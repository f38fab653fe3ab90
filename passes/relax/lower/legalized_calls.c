// Two calls are alike if a legalisation cannot tell them apart: it sees a tensor's type only, and
// of everything else the value. What the first call handed to its PrimFunc, the second hands over
// with its own tensors in the same places.
#include "passes/relax/lower/legalized_calls.h"

#include "ir/equal.h"

enum {
  TENSORS = 16,  // of a call; those with more are not compared
  TRIES = 32,    // the latest calls of an operator that a call is compared with
};

// The tensors of two calls, in pairs.
typedef struct {
  tvms_node *old[TENSORS];
  tvms_node *new[TENSORS];
  uint32_t count;
} tensor_pairs;

void tvms_relax_legalized_calls_init(tvms_relax_legalized_calls *calls,
                                     tvms_memory *memory) {
  *calls = (tvms_relax_legalized_calls){.memory = memory};
}

void tvms_relax_legalized_calls_fini(tvms_relax_legalized_calls *calls) {
  tvms_vec_fini(calls->memory, &calls->entries);
}

void tvms_relax_legalized_calls_keep(tvms_relax_legalized_calls *calls,
                                     const tvms_call *call, tvms_sym symbol,
                                     const tvms_legalized *legalized) {
  uint32_t *last = &calls->last[tvms_op_called(&call->head)];
  tvms_relax_legalized_entry entry = {call, symbol, *legalized, *last};
  tvms_vec_push(calls->memory, &calls->entries, entry);
  *last = calls->entries.len;
}

static bool same(const tvms_node *TVMS_NULLABLE a, const tvms_node *TVMS_NULLABLE b) {
  return a == b || (a && b && tvms_node_same_expr(a, b));
}

static bool same_lists(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++)
    if (!same(a.items[i], b.items[i])) return false;
  return true;
}

static bool is_tensor(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR && node->sinfo
         && node->sinfo->kind == TVMS_NODE_SINFO_TENSOR;
}

static bool is_constant(const tvms_node *node) {
  return node->kind == TVMS_NODE_CONSTANT;
}

// Two tensors that two calls have in one place: of one type, and one and the same as others
// where the others are.
static bool pair_up(tensor_pairs *pairs, tvms_node *old, tvms_node *new) {
  if (!same(old->sinfo, new->sinfo) || pairs->count == TENSORS) return false;
  for (uint32_t i = 0; i < pairs->count; i++)
    if ((pairs->old[i] == old) != (pairs->new[i] == new)) return false;
  pairs->old[pairs->count] = old;
  pairs->new[pairs->count++] = new;
  return true;
}

static bool alike(tensor_pairs *pairs, tvms_list old, tvms_list new) {
  if (old.len != new.len) return false;
  for (uint32_t i = 0; i < old.len; i++) {
    tvms_node *a = old.items[i], *b = new.items[i];
    bool tuples = a->kind == TVMS_NODE_TUPLE && b->kind == TVMS_NODE_TUPLE;
    // Each call keeps its own constants, whose values may say how it is legalised.
    bool fits = tuples
                    ? alike(pairs, tvms_as_tuple(a)->fields, tvms_as_tuple(b)->fields)
                : is_tensor(a) && is_tensor(b)
                    ? pair_up(pairs, a, b)
                    : same(a, b) && (!is_constant(a) || pair_up(pairs, a, b));
    if (!fits) return false;
  }
  return true;
}

static bool same_call(tensor_pairs *pairs, const tvms_call *old, const tvms_call *new) {
  return same(old->head.sinfo, new->head.sinfo) && same_lists(old->attrs, new->attrs)
         && same_lists(old->type_args, new->type_args)
         && alike(pairs, old->args, new->args);
}

static tvms_node *other_of(const tensor_pairs *pairs, tvms_node *old) {
  for (uint32_t i = 0; i < pairs->count; i++)
    if (pairs->old[i] == old) return pairs->new[i];
  return old;
}

static void retell(const tensor_pairs *pairs, tvms_unit *unit,
                   const tvms_legalized *known, tvms_legalized *legalized) {
  *legalized = *known;
  legalized->args = tvms_list_copy(unit, known->args.items, known->args.len);
  for (uint32_t i = 0; i < known->args.len; i++)
    legalized->args.items[i] = other_of(pairs, known->args.items[i]);
}

bool tvms_relax_legalized_calls_find(const tvms_relax_legalized_calls *calls,
                                     tvms_unit *unit, const tvms_call *call,
                                     tvms_sym *symbol, tvms_legalized *legalized) {
  uint32_t place = calls->last[tvms_op_called(&call->head)];
  for (int tries = 0; place && tries < TRIES; tries++) {
    const tvms_relax_legalized_entry *entry = &calls->entries.items[place - 1];
    tensor_pairs pairs = {.count = 0};
    if (same_call(&pairs, entry->call, call)) {
      *symbol = entry->symbol;
      retell(&pairs, unit, &entry->legalized, legalized);
      return true;
    }
    place = entry->before;
  }
  return false;
}
