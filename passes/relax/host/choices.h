// Functions that are chosen when it runs, by a branch.
#ifndef TVMS_PASSES_RELAX_HOST_CHOICES_H
#define TVMS_PASSES_RELAX_HOST_CHOICES_H

#include "passes/relax/host/host.h"

// Is the value of an expression a function of the module, as can be seen? A closure has the type of any object.
bool tvms_host_gives_function(tvms_host *h, const tvms_node *expr);

// What a branch is to give if that is a function: a choice among none yet.
tvms_host_value *TVMS_NULLABLE tvms_host_choice(tvms_host *h);

// In one side of the branch: the choice is a function, or what another choice is. `around` are the
// statements in front of the branch.
void tvms_host_choose(tvms_host *h, tvms_host_value *function, tvms_host_value *choice,
                      tvms_node_vec *around);

// Behind the branch: reads which function it is.
void tvms_host_settle(tvms_host *h, tvms_host_value *choice);

// Makes the object `to` of the function that a choice is. False: refused.
bool tvms_host_box_choice(tvms_host *h, const tvms_host_value *choice,
                          const tvms_host_value *to);

// The call `node` of a choice with arguments. False: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_invoke_choice(tvms_host *h, tvms_node *node,
                                                       const tvms_host_value *choice,
                                                       tvms_list args);

#endif
