// How vectors of truths came to be, for processors whose registers of masks hold one bit for each lane.
//
// A mask of the text has lanes as wide as what was compared (vector.h). Where lanes of another width are chosen by it, or
// single bytes are made of it, such a processor needs no vector in between: the comparison gives bits, which the
// instruction takes that chooses. Compilers do not see that through conversions, so the text has both.
#ifndef TVMS_BACKEND_C_TRUTHS_H
#define TVMS_BACKEND_C_TRUTHS_H

#include "backend/c/emit.h"

// Notes that the lanes of `truths` compare vectors of `dtype` by an operator of C; `b` NULL: with 0.
void tvms_c_note_compared(c_emitter *e, const char *truths, tvms_dtype dtype,
                          const char *a, const char *sign, const char *TVMS_NULLABLE b);

// Notes that they are others joined by & or |; `b` NULL: they are what `a` is not.
void tvms_c_note_joined(c_emitter *e, const char *truths, const char *a,
                        const char *sign, const char *TVMS_NULLABLE b);

// Notes that they are lanes of others, from number `first` on.
void tvms_c_note_part(c_emitter *e, const char *truths, const char *whole, int first);

// Notes that each lane is the scalar, which is 0 or 1.
void tvms_c_note_spread(c_emitter *e, const char *truths, const char *scalar);

// That scalar; NULL: they are no such vector.
const char *TVMS_NULLABLE tvms_c_scalar_of(c_emitter *e, const char *truths);

// An expression of the bits of so many lanes, which stands in arguments of macros that other processors leave out; NULL
// if it is not known.
const char *TVMS_NULLABLE tvms_c_bits_of(c_emitter *e, const char *truths);

// A vector with lanes of `a` where the bits say so, else of `b`, or by the mask; NULL if no instruction takes the type.
const char *TVMS_NULLABLE tvms_c_choose_by_bits(c_emitter *e, tvms_dtype dtype,
                                                tvms_span span, const char *bits,
                                                const char *mask, const char *a,
                                                const char *b);

// The text of bytes 0 and 1 by the bits; `bytes` is the text of the same from the mask.
const char *TVMS_NULLABLE tvms_c_bytes_by_bits(c_emitter *e, int lanes, tvms_span span,
                                               const char *bits, const char *bytes);

#endif
