#include "schedule/injective.h"

#include "arith/iter_map.h"
#include "ir/rewrite.h"
#include "schedule/bindings.h"
#include "schedule/make.h"
#include "schedule/scope.h"

// Each variable must come back when the indices are put into what undoes them.
static bool comes_back(tvms_sched *s, tvms_analyzer *analyzer, tvms_list vars,
                       tvms_node *const *inverse, tvms_node *const *places,
                       tvms_list indices) {
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  for (uint32_t i = 0; i < indices.len; i++)
    tvms_node_map_put(&map, places[i], indices.items[i]);
  bool fine = true;
  for (uint32_t i = 0; fine && i < vars.len; i++)
    fine = tvms_analyzer_can_prove_equal(
        analyzer, tvms_substitute(s->unit, inverse[i], &map), vars.items[i]);
  tvms_node_map_fini(&map);
  return fine;
}

bool tvms_sched_is_injective(tvms_sched *sched, tvms_list vars, tvms_list extents,
                             tvms_list indices) {
  tvms_unit *unit = sched->unit;
  tvms_iter_domain *domains =
      tvms_arena_array(&unit->arena, tvms_iter_domain, vars.len + 1);
  tvms_node **inverse = tvms_arena_array(&unit->arena, tvms_node *, vars.len + 1);
  tvms_node **places = tvms_arena_array(&unit->arena, tvms_node *, indices.len + 1);
  tvms_analyzer *analyzer = tvms_analyzer_new(unit);
  tvms_sched_mark_sizes(sched, analyzer);
  for (uint32_t i = 0; i < vars.len; i++) {
    tvms_node *zero = tvms_sched_int(sched, extents.items[i]->dtype, 0);
    domains[i] = (tvms_iter_domain){vars.items[i], zero, extents.items[i]};
    tvms_analyzer_bind_range(analyzer, vars.items[i], zero, extents.items[i]);
  }
  for (uint32_t i = 0; i < indices.len; i++)
    places[i] = tvms_sched_numbered(sched, "p", i, indices.items[i]->dtype);
  tvms_analyzer *plain = tvms_analyzer_new(unit);
  bool fine = tvms_iter_map_inverse(unit, plain, domains, vars.len, indices.items,
                                    indices.len, places, inverse, NULL)
              && comes_back(sched, analyzer, vars, inverse, places, indices);
  tvms_analyzer_free(plain);
  tvms_analyzer_free(analyzer);
  return fine;
}
