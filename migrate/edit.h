// Edits of source text that the files of migration share.
#ifndef TVMS_MIGRATE_EDIT_H
#define TVMS_MIGRATE_EDIT_H

#include "migrate/internal.h"

// Puts `text` before the byte at an offset.
void tvms_migrate_insert(tvms_migration *migration, uint32_t at, const char *text);

// Removes a keyword argument together with the comma that belongs to it, and the brackets
// when nothing is left between them.
void tvms_migrate_remove_keyword(tvms_migration *migration, tvms_ref call,
                                 tvms_ref keyword);

// Moves the body of a `with` to the level of its header. What is left of the header is
// the node `inner` of it between two texts.
void tvms_migrate_unwrap(tvms_migration *migration, tvms_ref with, tvms_ref inner,
                         const char *before, const char *after);

// Texts that edits put somewhere live as long as the context.

// A copy of source text, to be put elsewhere.
const char *tvms_migrate_copy(tvms_migration *migration, tvms_span span);

// The source text of a node.
const char *tvms_migrate_text_of(tvms_migration *migration, tvms_ref ref);

// Three texts, one behind the other.
const char *tvms_migrate_words(tvms_migration *migration, const char *a, const char *b,
                               const char *c);

// Reports that the release that is written cannot say what stands at `ref` (E0420); `what` names
// it: "a realised region".
void tvms_migrate_refuse(tvms_migration *migration, tvms_ref ref, const char *what);

#endif
