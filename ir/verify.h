// Our own invariants: what the rest of tvms relies on without asking.
//
// A finding is a defect of tvms, not of the user's program: whether that is well-formed is
// for structinfo/well_formed_*.h to say, in diagnostics. The head of ir/verify.c lists what
// is checked and who relies on it. Every test checks it after reading and after every pass;
// a user gets it with --verify-each.
#ifndef TVMS_IR_VERIFY_H
#define TVMS_IR_VERIFY_H

#include "ir/module.h"

// What is wrong with `root` and the nodes below it, which lie in `unit`: a text that names
// the kind and the id of the first bad node, in the context's arena; NULL if all is well.
// Definitions and scopes are checked if `root` is a function.
const char *TVMS_NULLABLE tvms_verify(tvms_unit *unit, tvms_node *root);

// The same for every function of a module and for what joins them. The text begins with the
// name of the function.
const char *TVMS_NULLABLE tvms_verify_module(const tvms_module *module);

// Ends the program as a defect (exit status 4) if something is wrong, naming `when`: "reading",
// the pass. Only if the context asks for it (context->verifies); programs with errors are
// not looked at.
void tvms_verify_expect(const tvms_module *module, const char *when);

// What a module is now, for tvms_verify_expect_same; 0 unless the context verifies.
uint64_t tvms_verify_mark(const tvms_module *module);

// Ends the program as a defect if the module is not what it was when it was marked: the pass
// `who` says that it changed nothing, and what is known of the module is not forgotten.
void tvms_verify_expect_same(const tvms_module *module, uint64_t mark, const char *who);

#endif
