// Source text in the spelling of another release.
//
// The text is edited where the spelling differs. The result is proved before it is given
// out: read as that release it must mean what the program that was read means there. Where
// edits cannot say it, the program is written anew in canonical form, its comments beside
// the statements that they belong to; only what the release has no words for is refused.
#ifndef TVMS_DRIVER_MIGRATE_H
#define TVMS_DRIVER_MIGRATE_H

#include "ir/module.h"
#include "support/strbuf.h"

// Writes the text of `source`, from which `program` was read without errors, as `to` has
// it; `out` is empty before. Returns false if that is not possible, which was reported;
// what `out` holds is then no result.
TVMS_NODISCARD bool tvms_migrate_source(tvms_source *source,
                                        const tvms_program *program, tvms_dialect to,
                                        tvms_strbuf *out);

#endif
