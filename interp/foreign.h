// Functions that are not tvms's own: those of plug-ins (include/tvms/plugin.h).
#ifndef TVMS_INTERP_FOREIGN_H
#define TVMS_INTERP_FOREIGN_H

#include "interp/frame.h"
#include "runtime/abi.h"

// Where they come from. The owner keeps it as long as programs run.
typedef struct tvms_foreign {
  void *state;
  // The function of this name; false: there is none.
  bool (*find)(void *state, const char *name, tvms_safe_call *call, void **self);
  // The address of a function of C that the libraries export, or NULL.
  void *(*symbol)(void *state, const char *name);
  // What the call that failed last said: its text, and the kind in *kind.
  const char *(*error)(void *state, const char **kind);
} tvms_foreign;

// True if there is such a function.
static inline bool tvms_interp_foreign_has(const tvms_foreign *TVMS_NULLABLE foreign,
                                           const char *name) {
  tvms_safe_call call;
  void *self;
  return foreign && foreign->find(foreign->state, name, &call, &self);
}

// The address of a function of C, or NULL.
static inline void *TVMS_NULLABLE tvms_interp_foreign_symbol(
    const tvms_foreign *TVMS_NULLABLE foreign, const char *name) {
  return foreign ? foreign->symbol(foreign->state, name) : NULL;
}

// Calls a function that there is, with borrowed arguments; the result is the caller's. A fault if it fails, or
// gives what is not a value of Relax.
tvms_value tvms_interp_foreign_call(tvms_interp_frame *f, const char *name,
                                    const tvms_value *args, uint32_t count,
                                    tvms_span span);

// The same with arguments as they are, for an object in *result, which the caller drops (runtime/box.h). Returns NULL, or
// what is wrong, with its kind in *kind.
const char *TVMS_NULLABLE tvms_interp_foreign_object(const tvms_foreign *foreign,
                                                     const char *name,
                                                     const tvms_any *args,
                                                     int32_t count, tvms_any *result,
                                                     const char **kind);

// The same with arguments as they are, for a number as the result, in both forms. Returns NULL, or what is
// wrong, with its kind in *kind.
const char *TVMS_NULLABLE tvms_interp_foreign_number(const tvms_foreign *foreign,
                                                     const char *name,
                                                     const tvms_any *args,
                                                     int32_t count, int64_t *whole,
                                                     double *real, const char **kind);

#endif
