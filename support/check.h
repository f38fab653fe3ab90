// Checks for defects of tvms itself: the program aborts with the
// place and the condition, a call of the library ends with TVMS_INTERNAL.
//
// A check never judges the user's text; that is what diagnostics are for.
#ifndef TVMS_SUPPORT_CHECK_H
#define TVMS_SUPPORT_CHECK_H

#include "support/base.h"

// Prints the place and the text, then aborts; the program turns SIGABRT into exit 4. Where
// the memory at work catches checks, it keeps the text and unwinds instead.
TVMS_NORETURN void tvms_check_failed(const char *file, int line, const char *what);

#define TVMS_CHECK(condition)                                                          \
  ((condition) ? (void)0 : tvms_check_failed(__FILE__, __LINE__, #condition))
#define TVMS_UNREACHABLE(what) tvms_check_failed(__FILE__, __LINE__, what)

#endif
