// Rewriting source text to the spelling of another release, comments and layout kept.
#ifndef TVMS_MIGRATE_MIGRATE_H
#define TVMS_MIGRATE_MIGRATE_H

#include "grammar/surface.h"
#include "ir/module.h"
#include "support/strbuf.h"

// Appends the text of `surface` as release `to` spells it. `program` is what the same text
// means, read as program->dialect. What `to` cannot say is reported (E0420) at its place,
// all of it, and false returned; nothing useful is appended then. The caller proves the
// result: read as `to`, it must mean the same program.
TVMS_NODISCARD bool tvms_migrate(const tvms_surface *surface,
                                 const tvms_program *program, tvms_dialect to,
                                 tvms_strbuf *out);

#endif
