// Calls of functions of C, of which only the address is known.
#ifndef TVMS_INTERP_C_CALL_H
#define TVMS_INTERP_C_CALL_H

#include "interp/frame.h"

// T.call_extern(type, name, arguments…) of the function of C at `address`: numbers as C passes those of their types, and
// pointers; a text is a pointer to its bytes and a zero. The result is a number of the call's type. A fault if C has
// no such type, or if this machine passes arguments in a way that is not known here.
tvms_scalar tvms_interp_call_c(tvms_interp_frame *f, const tvms_call *call,
                               void *address);

#endif
