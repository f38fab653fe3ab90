// Going through a function's bindings, of which some are replaced by what computes the same with less work.
#include "passes/relax/graph/simplifier.h"

#include "passes/relax/graph/dead_code_elimination.h"

tvms_node *tvms_relax_simplify(tvms_pass_run *run, tvms_unit *unit, tvms_node *function,
                               tvms_node *(*enter_binding)(tvms_rewriter *,
                                                           tvms_node *)) {
  tvms_relax_simplifier s = {0};
  tvms_relax_mutator_init(&s.m, run, unit, &s);
  tvms_relax_mutator_assume(&s.m, function);
  tvms_relax_definitions_init(&s.definitions, unit, function);
  s.m.rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  tvms_node *made = tvms_relax_mutate(&s.m, function);
  tvms_relax_definitions_fini(&s.definitions);
  tvms_relax_mutator_fini(&s.m);
  return s.any ? tvms_dead_code_clean(run, unit, made) : function;
}
