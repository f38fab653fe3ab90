// Comprehensions and targets: what Python itself evaluates.
//
// The clauses of [i * j for i in range(4) if i for j in (1, 2)] are gone through from left to
// right, each for every item of the one before. An item is a step of the work that a text may
// cost, and the list asks for its memory before it grows. After an item with an error there is
// no next one, which would have the same error.
#include "parser/eval/comprehension.h"

#include "parser/eval/budget.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/iterate.h"
#include "parser/eval/python.h"
#include "parser/eval/scope.h"
#include "parser/eval/set.h"

#include <string.h>

// ---- Targets --------------------------------------------------------------------------------

static bool bind_parts(tvms_reader *reader, tvms_ref target, tvms_eval_value value) {
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, value, target, &items)) return false;
  tvms_ref list = tvms_reader_at(reader, target)->a;
  uint32_t count = tvms_surface_count(reader->surface, list);
  uint32_t stars = 0;
  tvms_surface_each(reader->surface, part, list) {
    stars += tvms_reader_at(reader, part)->kind == TVMS_SURF_STAR;
  }
  if (stars ? items.len < count - 1 : items.len != count) {
    tvms_reader_report(reader, cannot_unpack, target, count, tvms_diag_plural(count),
                       items.len, items.len == 1 ? "" : "s");
    return false;
  }
  uint32_t i = 0;
  bool sound = true;
  tvms_surface_each(reader->surface, part, list) {
    if (tvms_reader_at(reader, part)->kind == TVMS_SURF_STAR) {
      uint32_t many = items.len - (count - 1);
      tvms_eval_value rest =
          tvms_eval_value_items(TVMS_EVAL_LIST, items.items + i, many);
      sound =
          tvms_eval_bind_target(reader, tvms_reader_at(reader, part)->a, rest) && sound;
      i += many;
    } else {
      sound = tvms_eval_bind_target(reader, part, items.items[i++]) && sound;
    }
  }
  return sound;
}

bool tvms_eval_bind_target(tvms_reader *reader, tvms_ref target,
                           tvms_eval_value value) {
  const tvms_surf *node = tvms_reader_at(reader, target);
  switch (node->kind) {
  case TVMS_SURF_NAME:
    tvms_scope_bind(reader, node->a, value, tvms_reader_span_of(reader, target));
    return true;
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST: return bind_parts(reader, target, value);
  case TVMS_SURF_BAD: return false;
  default: tvms_reader_report(reader, bad_assignment_target, target); return false;
  }
}

// ---- Comprehensions -------------------------------------------------------------------------

typedef struct {
  tvms_reader *reader;
  tvms_ref item;
  tvms_surf_kind kind;
  tvms_eval_value_vec items;  // pairs for a dict
  bool known;
} gatherer;

static void gather(gatherer *gather_, tvms_ref clause);

static void gather_item(gatherer *g) {
  tvms_reader *reader = g->reader;
  // Growing the list holds it twice.
  uint64_t size = 2 * (uint64_t)g->items.len * sizeof *g->items.items;
  if (!tvms_eval_count_step(reader, g->item)
      || !tvms_eval_may_take(reader, size, g->item)) {
    g->known = false;
    return;
  }
  uint32_t errors = reader->context->diags.errors;
  if (g->kind == TVMS_SURF_DICT_COMP) {
    const tvms_surf pair = *tvms_reader_at(reader, g->item);
    tvms_eval_value key = tvms_eval(reader, pair.a);
    tvms_eval_push_pair(reader, &g->items, key, tvms_eval(reader, pair.b));
  } else {
    tvms_eval_value value = tvms_eval(reader, g->item);
    tvms_vec_push(&reader->context->memory, &g->items, value);
  }
  // What is wrong with one item is wrong with the next.
  if (reader->context->diags.errors > errors) g->known = false;
}

static void gather_for(gatherer *g, const tvms_surf *clause) {
  tvms_reader *reader = g->reader;
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, tvms_eval(reader, clause->b), clause->b, &items)) {
    g->known = false;
    return;
  }
  for (uint32_t i = 0; i < items.len && g->known; i++) {
    g->known = tvms_eval_bind_target(reader, clause->a, items.items[i]);
    if (g->known) gather(g, clause->next);
  }
}

static void gather(gatherer *g, tvms_ref clause) {
  if (!clause) {
    gather_item(g);
    return;
  }
  const tvms_surf node = *tvms_reader_at(g->reader, clause);
  if (node.kind == TVMS_SURF_COMP_FOR) {
    gather_for(g, &node);
    return;
  }
  tvms_eval_value condition = tvms_eval(g->reader, node.a);
  bool known;
  bool truth = tvms_eval_value_truth(g->reader, condition, &known);
  if (!known) {
    tvms_eval_report_wrong_type(g->reader, node.a, "a condition", "a boolean",
                                condition);
    g->known = false;
  } else if (truth) {
    gather(g, node.next);
  }
}

tvms_eval_value tvms_eval_comprehension(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  gatherer g = {reader, node.a, (tvms_surf_kind)node.kind, {0}, true};
  tvms_scope_push_for(reader, TVMS_EVALUATOR_PYTHON);
  gather(&g, node.b);
  tvms_scope_pop(reader);
  tvms_eval_value result = TVMS_UNKNOWN;
  if (g.known) {
    tvms_eval_kind kind = node.kind == TVMS_SURF_DICT_COMP  ? TVMS_EVAL_DICT
                          : node.kind == TVMS_SURF_SET_COMP ? TVMS_EVAL_SET
                                                            : TVMS_EVAL_LIST;
    result = tvms_eval_value_items(
        kind, tvms_eval_keep_items(reader, g.items.items, g.items.len), g.items.len);
    if (kind == TVMS_EVAL_SET) result = tvms_eval_make_set(reader, result, ref);
    if (kind == TVMS_EVAL_DICT) result = tvms_eval_make_dict(reader, &g.items, ref);
  }
  tvms_vec_fini(&reader->context->memory, &g.items);
  return result;
}
