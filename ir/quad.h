// Sums of four products of bytes, as processors compute them in each lane of one instruction (vpdpbusd of x86).
//
//   sum + ((u & 255) * (s << 24 >> 24) + (u >> 8 & 255) * (s << 16 >> 24)
//        + (u >> 16 & 255) * (s << 8 >> 24) + (u >> 24 & 255) * (s >> 24))
//
// `u` and `s` are words of 32 bits: the bytes of `u` count from 0 to 255, those of `s` from -128 to 127. This is plain text
// that every interpreter and compiler knows, and sums of integers wrap, so that the instruction gives the same bits. A word
// of four ones is left out: its products are the bytes of the other one.
#ifndef TVMS_IR_QUAD_H
#define TVMS_IR_QUAD_H

#include "ir/node.h"

enum { TVMS_QUAD = 4, TVMS_QUAD_OF_ONES = 0x01010101 };

// The parts of such a sum; a word that is the same in all lanes is a scalar.
typedef struct {
  tvms_node *TVMS_NULLABLE sum;                  // NULL: the node is none
  tvms_node *TVMS_NULLABLE u, *TVMS_NULLABLE s;  // NULL: of ones
} tvms_quad;

// The four products of two words of dtype int32, added up.
tvms_node *tvms_build_quad(tvms_unit *unit, tvms_node *u, tvms_node *s);

// The parts of a sum and four products as tvms_build_quad makes them, scalars or vectors.
tvms_quad tvms_node_quad_of(const tvms_node *node);

#endif
