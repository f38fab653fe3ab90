// Checks for defects of tvms itself: they abort with the place and the condition.
//
// A check never judges the user's text; that is what diagnostics are for.
#ifndef TVMS_SUPPORT_CHECK_H
#define TVMS_SUPPORT_CHECK_H

#include <tvms/base.h>

// Prints the place and the text, then aborts. The program turns SIGABRT into exit 4.
TVMS_NORETURN void tvms_check_failed(const char *file, int line, const char *what);

#define TVMS_CHECK(condition)                                                          \
  ((condition) ? (void)0 : tvms_check_failed(__FILE__, __LINE__, #condition))
#define TVMS_UNREACHABLE(what) tvms_check_failed(__FILE__, __LINE__, what)

#endif
