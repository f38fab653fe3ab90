// Which memory of a function lies on the stack: what passes leave there, and what emitters put there.
#ifndef TVMS_PASSES_TIR_MEMORY_LIFT_ALLOCATIONS_H
#define TVMS_PASSES_TIR_MEMORY_LIFT_ALLOCATIONS_H

// Bytes of one buffer in the frame of a function, and of all of them together: register tiles
// must be there, or they never get into registers. Each begins at a multiple of the alignment.
enum { TVMS_LARGEST_IN_FRAME = 16384, TVMS_FRAME = 65536, TVMS_FRAME_ALIGNMENT = 64 };

#endif
