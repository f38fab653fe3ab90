// Results that an entry of C text makes: new tensors, shapes and tuples of tvm-ffi.
#ifndef TVMS_BACKEND_C_RESULTS_H
#define TVMS_BACKEND_C_RESULTS_H

#include "backend/c/emit.h"

// Writes code that makes the objects of the results and finds a workspace; what the body takes
// for parameter i is in `result<i>` then. tvms_c_end_results must follow.
void tvms_c_make_results(c_emitter *e, const tvms_entry *entry);

// Writes code that frees them.
void tvms_c_free_results(c_emitter *e, const tvms_entry *entry);

// Writes code that hands them over.
void tvms_c_give_results(c_emitter *e, const tvms_entry *entry);

// Writes, behind the last return of the function, where it ends if there is no memory for the objects.
void tvms_c_end_results(c_emitter *e, const tvms_entry *entry);

// Writes code that stores a number in memory as a tvms_any; `place` and `any` are pointers.
void tvms_c_store_any(c_emitter *e, tvms_dtype dtype, const char *place,
                      const char *any);

#endif
