// Functions of Python in a module, which the formatter may have to leave as they are.
#ifndef TVMS_FORMAT_PYFUNC_H
#define TVMS_FORMAT_PYFUNC_H

#include "grammar/surface.h"

// True if the statement is a function under `@I.pyfunc`.
bool tvms_format_is_pyfunc(const tvms_surface *surface, tvms_ref stmt);

// True if the statement is a function under `@I.pyfunc` whose body has statements that the
// grammar skips (try, raise, …): its layout cannot be told, so that its lines are kept.
bool tvms_format_is_skipped_pyfunc(const tvms_surface *surface, tvms_ref stmt);

// Takes back what parsing reported of such functions, for TVMScript allows them anything. Of
// those whose lines must move although a string in them ends on another line, it stays.
void tvms_format_allow_pyfuncs(const tvms_surface *surface);

// True if the bytes hold a string or a statement over several lines that belong together:
// they must not be indented anew.
bool tvms_format_has_long_string(const tvms_surface *surface, uint32_t begin,
                                 uint32_t end);

#endif
