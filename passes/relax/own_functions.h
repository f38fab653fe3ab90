// Functions of the user that an option of a pass names: those of a class of the same text, or
// of a file that is read as the release of the program.
#ifndef TVMS_PASSES_RELAX_OWN_FUNCTIONS_H
#define TVMS_PASSES_RELAX_OWN_FUNCTIONS_H

#include "passes/manager.h"

// Looks at a member that has a function. What it reports stands in the source of the member.
typedef void tvms_relax_own_visit(void *self, tvms_context *context,
                                  const tvms_member *member);

// Calls `visit` for the functions of the class `name` of the program, or else of the file of
// that name. Returns their source, NULL if there is none, which the reader of files has reported.
tvms_source *TVMS_NULLABLE tvms_relax_own_functions_each(tvms_pass_run *run,
                                                         const char *name,
                                                         tvms_relax_own_visit *visit,
                                                         void *self);

// Does a PrimFunc call no other function, so that it can go into another module?
bool tvms_relax_own_function_stands_alone(tvms_context *context,
                                          const tvms_member *member);

// The attributes of a function without its name for others and without those in `left_out`,
// which NULL ends: for a copy in another module.
tvms_node *TVMS_NULLABLE tvms_relax_own_function_attrs(
    tvms_unit *unit, const tvms_node *TVMS_NULLABLE attrs, const char *const *left_out);

#endif
