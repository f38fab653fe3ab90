// Windows of memory that are folded as they are, as pooling does.
#ifndef TVMS_BACKEND_C_FOLDS_H
#define TVMS_BACKEND_C_FOLDS_H

#include "backend/c/emit.h"

// Notes in e->windowed if a store, which is one of a variable, folds a vector of memory into what it had by addition, or by the
// greater or lesser of two, that another one of the function folds, too. GCC must not keep such vectors for the next turn of a loop.
void tvms_c_note_fold(c_emitter *e, const tvms_store *store);

#endif
