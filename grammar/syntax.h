// The syntax of all of Python 3, as a check: what Python refuses in a text, and nothing else.
//
// tvmscript.y knows the Python that TVMScript has, and makes a tree of it. Around definitions, and in
// functions that stay Python, all of Python may stand. Here it is read by recursive descent, without a tree: the
// grammars of 3.8 to 3.13 together, so that nothing is refused which one of them takes (Python 3.13's
// reference, "Full Grammar specification", and what its compiler refuses without looking at values:
// targets, parameters, `break` outside of a loop).
#ifndef TVMS_GRAMMAR_SYNTAX_H
#define TVMS_GRAMMAR_SYNTAX_H

#include "support/context.h"
#include "support/vec.h"

// A mistake of one statement.
typedef struct {
  tvms_span statement;  // from its line up to the one behind that is sound again
  uint32_t refused;  // the token that cannot stand where it does; what is before it may
  tvms_diag *diag;   // what is to be said
} tvms_syntax_fault;

typedef TVMS_VEC(tvms_syntax_fault) tvms_syntax_faults;

// Appends the mistakes of a source to `faults`, which is the caller's, in order of place and one for each
// cause. `skipped` are places of statements (in order and disjoint) that are passed over as sound. Findings that tell
// of the mistakes are added to the context's diagnostics together with others that tell the same, so this is for a
// trial (support/trial.h), of which the caller keeps what he wants. Nothing is said behind a place where the text is
// nested too deeply, nor behind 200 mistakes.
void tvms_syntax_check(tvms_context *context, tvms_source *source,
                       const tvms_span *skipped, uint32_t count,
                       tvms_syntax_faults *faults);

#endif
