// Vectors of C text as wholes: what GCC and clang have operators for.
//
// A compiler makes one instruction of an operator on whole vectors, whatever stands around it. Of a
// loop over lanes it does so only where it finds that this pays.
//
// A comparison of vectors is kept as its mask: lanes of integers as wide as what was compared, 0 or
// -1. Texts of masks say so: "q32_7" is one of 32 bits. Every other vector of truths has lanes of
// 8 bits, 0 or 1.
#ifndef TVMS_BACKEND_C_VECTOR_H
#define TVMS_BACKEND_C_VECTOR_H

#include "backend/c/emit.h"

// Is it a vector that has few enough lanes to be written down as a whole?
bool tvms_c_is_whole(tvms_dtype dtype);

// Bits of a lane in registers: floats of 16 bits are float32.
int tvms_c_bits_in_register(tvms_dtype dtype);

// The type of masks whose lanes have so many bits; declares it.
const char *tvms_c_mask_type(c_emitter *e, int bits, int lanes, tvms_span span);

// The type that GCC's builtins have for a vector with lanes of so many bits (preamble_vectors.inc): of 16 bytes at least.
const char *tvms_c_register_type(c_emitter *e, int bits, int lanes);

// The text of a vector as one of that type.
const char *tvms_c_in_register(c_emitter *e, int bits, int lanes, const char *value);

// Notes that the head declares a function or macro on vectors; false: it did so before.
bool tvms_c_is_new(c_emitter *e, const char *helper);

// A new mask of lanes of so many bits; `expr` is of the type or can be cast to it.
const char *tvms_c_mask(c_emitter *e, int bits, int lanes, tvms_span span,
                        const char *expr);

// The mask that compares vectors: `sign` is an operator of C. `dtype` is that of the operands, no
// bool.
const char *tvms_c_compare(c_emitter *e, tvms_dtype dtype, tvms_span span,
                           const char *a, const char *sign, const char *b);

// The mask of a vector of truths as one of lanes of so many bits.
const char *tvms_c_mask_of(c_emitter *e, const char *value, int lanes, int bits,
                           tvms_span span);

// Lanes of `a` where the vector of truths `test` holds, else of `b`; all have the lanes of `dtype`,
// which is no bool.
const char *tvms_c_blend(c_emitter *e, tvms_dtype dtype, tvms_span span,
                         const char *test, const char *a, const char *b);

// A vector of which each lane is the scalar.
const char *tvms_c_spread(c_emitter *e, tvms_dtype dtype, tvms_span span,
                          const char *scalar);

// Integers base, base + stride, ..., which wrap around.
const char *tvms_c_ramp(c_emitter *e, tvms_dtype dtype, tvms_span span,
                        const char *base, const char *stride);

// An operator on integers without sign; the result has the type of the operands.
const char *tvms_c_wrapping(c_emitter *e, tvms_dtype dtype, tvms_span span,
                            const char *a, const char *sign, const char *b);

// Products of integers of 64 bits as one instruction, if there is one: by most numbers GCC would multiply in steps, sums
// of what is shifted. The type has as many lanes as a register may.
const char *tvms_c_times(c_emitter *e, tvms_dtype dtype, tvms_span span, const char *a,
                         const char *b);

// The lesser or the greater of each two lanes, as the interpreter chooses among them.
const char *tvms_c_extreme(c_emitter *e, tvms_dtype dtype, tvms_span span,
                           const char *a, const char *b, bool greater);

// A function of C on each lane of its arguments, which are vectors of `dtype` as the result is: a
// compiler has one instruction for all lanes of some (fmaf, sqrtf).
const char *tvms_c_each_lane(c_emitter *e, tvms_dtype dtype, tvms_span span,
                             const char *function, const char *const *args,
                             uint32_t arity);

// The text of a vector of narrow floats in its form in memory: integers of 16 bits.
const char *tvms_c_narrowed(c_emitter *e, tvms_dtype dtype, tvms_span span,
                            const char *value);

// A new vector of narrow floats in registers, or a number, of the text of its form in memory. Both are kept, w7 and h7,
// so that what is only moved is not converted.
const char *tvms_c_widen(c_emitter *e, tvms_dtype dtype, tvms_span span,
                         const char *expr);

// A new vector of narrow floats in registers, of the text of the exact one. What is computed of it needs no form in
// memory, so that of bfloat16, which is the half of its bits, is made of the rounded one.
const char *tvms_c_rounded(c_emitter *e, tvms_dtype dtype, tvms_span span,
                           const char *exact);

// Can a vector be converted as a whole?
bool tvms_c_converts_whole(tvms_dtype from, tvms_dtype to);

// The vector, converted lane by lane as the interpreter converts numbers.
const char *tvms_c_convert_whole(c_emitter *e, tvms_dtype from, tvms_dtype to,
                                 tvms_span span, const char *value);

// Reals as integers of a type that has them all.
const char *tvms_c_convert_inside(c_emitter *e, tvms_dtype from, tvms_dtype to,
                                  tvms_span span, const char *value);

// A vector of truths, which may be a mask, as lanes of 8 bits, 0 or 1.
const char *tvms_c_truths(c_emitter *e, int lanes, tvms_span span, const char *value);

// The bits of a vector as a vector of other lanes of the same width.
const char *tvms_c_reinterpret_whole(c_emitter *e, tvms_dtype to, tvms_span span,
                                     const char *value);

// The lanes of `a` followed by those of `b` at `indices`: as many as each of them has.
const char *tvms_c_pick(c_emitter *e, tvms_dtype dtype, tvms_span span, const char *a,
                        const char *b, const int *indices);

// Lanes of a vector of any length by their numbers.
const char *tvms_c_lanes_of(c_emitter *e, tvms_dtype dtype, tvms_span span,
                            const char *value, const int *indices);

// Two vectors of half as many lanes, one behind the other.
const char *tvms_c_join(c_emitter *e, tvms_dtype dtype, tvms_span span, const char *a,
                        const char *b);

// Lanes of a longer vector from number `first` on, a power of two of them.
const char *tvms_c_part(c_emitter *e, tvms_dtype dtype, tvms_span span,
                        const char *value, int first);

#endif
