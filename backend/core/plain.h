// Names of functions for C.
#ifndef TVMS_BACKEND_CORE_PLAIN_H
#define TVMS_BACKEND_CORE_PLAIN_H

#include "ir/contract.h"
#include "ir/module.h"

// Does C have a function for a member: a public one that has a contract, which is put into `contract`?
bool tvms_plain_serves(const tvms_member *member, tvms_contract *contract);

// Its name, `<prefix>_<name>`. One that another function of the module needs for what belongs to it in a header
// (`f_inputs` beside a function `f`) has a number behind it. The text is the context's.
const char *tvms_plain_name(const tvms_module *module, const tvms_member *member,
                            const char *prefix);

#endif
