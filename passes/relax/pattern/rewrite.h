// Rewriting what looks like a pattern, until nothing does.
#ifndef TVMS_PASSES_RELAX_PATTERN_REWRITE_H
#define TVMS_PASSES_RELAX_PATTERN_REWRITE_H

#include "passes/relax/mutator.h"
#include "passes/relax/pattern/pattern.h"

typedef struct tvms_pattern_rule tvms_pattern_rule;

// What shall stand for `value`, which matched `root`: a tree of new calls over expressions of
// the match, `value` to leave it as it is.
typedef tvms_node *tvms_pattern_replace(const tvms_pattern_rule *rule,
                                        tvms_relax_mutator *m,
                                        const tvms_pattern_match *match,
                                        const tvms_pattern *root, tvms_node *value);

struct tvms_pattern_rule {
  tvms_pattern_set set;
  tvms_pattern *const *roots;  // tried one after the other on all bindings of a block
  uint32_t root_count;
  tvms_pattern_replace *replace;
  void *data;  // of the pass
};

// `function`, whose nodes lie in `unit`, with the rule applied to the bindings of every block,
// again and again until nothing changes; then names for values that have one already are
// replaced and unused bindings go. A function that the rule changed nothing of is tidied so, too, if
// it has a block that is no dataflow block, and is the same node otherwise, or if nothing was to tidy.
// TVM: PatternMatchingRewriter.
tvms_node *tvms_relax_pattern_rewrite(tvms_pass_run *run, tvms_unit *unit,
                                      tvms_node *function,
                                      const tvms_pattern_rule *rule);

// Names for values that have one already are replaced, equal values are computed once, and
// bindings that nothing uses go: what TVM does behind each round of rewriting.
tvms_node *tvms_relax_pattern_tidy(tvms_pass_run *run, tvms_unit *unit,
                                   tvms_node *function);

// Has the body a block that is not a dataflow block? TVM's PatternMatchingMutator makes such a one
// anew, and tidies up behind it, whether or not a rule found something.
bool tvms_relax_pattern_tidies(const tvms_node *function);

#endif
