// Native code of a program as a file's content.
#ifndef TVMS_DRIVER_BUILD_H
#define TVMS_DRIVER_BUILD_H

#include "backend/backend.h"
#include "driver/runnable.h"

// Fills in `options` for a target in a text (see tvms_target_parse; NULL: this machine) that
// the back end can make code for; NULL: C text, which is scheduled for it. `target` and `unit` are the caller's storage
// for it. False, and a sentence in `why`, if there is no such target.
TVMS_NODISCARD bool tvms_build_find_target(const tvms_backend *TVMS_NULLABLE backend,
                                           const char *TVMS_NULLABLE text,
                                           tvms_unit *unit, tvms_target *target,
                                           tvms_native_options *options,
                                           tvms_strbuf *why);

// Lowers the program and appends the code of its PrimFuncs, of a back end in its `form` or
// without one in C, and to `header` what C needs to call its Relax functions (driver/c_header.h); then the program is freed. False
// after a report; the program lives on, half changed. It is an error if anything would be left out that is not meant to be.
TVMS_NODISCARD bool
tvms_build_code(tvms_program *program, const tvms_backend *TVMS_NULLABLE backend,
                const tvms_native_options *options, tvms_native_form form,
                const tvms_library_options *library, tvms_strbuf *out,
                tvms_strbuf *TVMS_NULLABLE header);

// The same for TVM's virtual machine: native code of the PrimFuncs that TVM's lowering leaves, with
// the executable of the Relax functions inside, as `dialect` writes it.
TVMS_NODISCARD bool tvms_build_machine_code(tvms_program *program,
                                            const tvms_backend *backend,
                                            const tvms_native_options *options,
                                            tvms_native_form form,
                                            const tvms_library_options *library,
                                            tvms_dialect dialect, tvms_strbuf *out);

// The executable alone: lowers the program, appends the bytes that `dialect` writes, and frees the
// program. False after a report; the program lives on, half changed.
TVMS_NODISCARD bool tvms_build_executable(tvms_program *program,
                                          const tvms_library_options *library,
                                          tvms_dialect dialect, tvms_strbuf *out);

#endif
