// Sums of products of bytes, four steps of the sum at a time.
//
//   Before: C[i, j] = sum over k of int32(A[i, k]) * int32(B[k, j])          A of int8 or uint8, as B
//   After:  words[i, q] = bytes 4 * q .. 4 * q + 3 of row i of A
//           ones[j] = sum over q of T.dp4a(1, 1, 1, 1; bytes of column j of B)           if both are of one kind
//           plain[i, j] = sum over q of T.dp4a(words[i, q], bytes 4 * q .. of column j of B)
//           C[i, j] = plain[i, j] - 128 * ones[j]
//
// Until tvms_cpu_quads_write_out, T.dp4a of two words of dtype int32 stands for the four products of ir/quad.h, the bytes
// of its first argument counting from 0 to 255: what tiles contractions sees two factors then, as in any other.
#ifndef TVMS_PASSES_TIR_CPU_QUADS_H
#define TVMS_PASSES_TIR_CPU_QUADS_H

#include "ir/target.h"
#include "passes/tir/cpu/contraction.h"

// Takes the sum of a contraction four steps at a time, if its operands are bytes and the target has an instruction for
// that. Sums of integers wrap, so that the order of the steps is of no account. False: it stays as it is. What adds up the
// operand that moves with the columns stands right in front of the contraction.
TVMS_NODISCARD bool tvms_cpu_take_quads(tvms_unit *unit, const tvms_target *target,
                                        const tvms_prim_func *function,
                                        const tvms_stage *stage,
                                        tvms_replacement *made);

#endif
