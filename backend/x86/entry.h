// Entries of PrimFuncs as machine code of x86-64 for Linux. What an entry does, checks, loads and one call, needs no
// code generator: that one takes 3 ms for it, more than for many a kernel.
//
// One that makes results, gives a number back, or takes what is not passed in plain registers is left to others:
// tvms_x86_serves.
#ifndef TVMS_BACKEND_X86_ENTRY_H
#define TVMS_BACKEND_X86_ENTRY_H

#include "backend/core/entry.h"
#include "backend/x86/code.h"

// What an entry is made with, beside its steps.
typedef struct {
  const char *name;  // of its symbol
  bool hidden;       // nothing outside of the object needs it
  bool weak;  // a program may be linked of several objects that have one of this name
  const char *body;  // the symbol of what it calls
  bool traced;       // errors go to the tvms_raised that its first argument is
} tvms_x86_entry_names;

// Can the entry be made here?
bool tvms_x86_serves(const tvms_entry *entry);

// Adds an entry that is served. Works in the scratch arena of its context.
void tvms_x86_add_entry(tvms_x86_code *c, const tvms_entry *entry,
                        const tvms_x86_entry_names *names);

#endif
