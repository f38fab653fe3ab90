// Buffers: what memory they stand for, and the checked way to an element.
#ifndef TVMS_INTERP_BUFFER_H
#define TVMS_INTERP_BUFFER_H

#include "interp/frame.h"

// The buffer as it stands, made if no definition was met.
tvms_interp_view *tvms_interp_use_buffer(tvms_interp_frame *f, const tvms_node *buffer,
                                         tvms_span span);

// Defines a buffer over memory of `data` (NULL: the value of its data variable, which it
// binds otherwise).
tvms_interp_view *tvms_interp_define_buffer(tvms_interp_frame *f,
                                            const tvms_node *buffer,
                                            void *TVMS_NULLABLE data);

// Defines a buffer over fresh memory that end_memory frees.
void tvms_interp_allocate_buffer(tvms_interp_frame *f, const tvms_node *buffer);

// Takes memory for `extents` elements and returns it.
void *tvms_interp_allocate(tvms_interp_frame *f, tvms_dtype element, tvms_list extents,
                           tvms_span span);

// The mark with which tvms_interp_end_memory ends what is allocated from here on.
uint32_t tvms_interp_begin_memory(const tvms_interp_frame *f);

// Gives up what was allocated since `mark`.
void tvms_interp_end_memory(tvms_interp_frame *f, uint32_t mark);

// Declares memory that a caller owns.
void tvms_interp_add_region(tvms_interp_frame *f, void *base, uint64_t bytes);

// Address of the element that a load or store of `lane` means; checks every index.
char *tvms_interp_element_at(tvms_interp_frame *f, tvms_interp_view *v,
                             const tvms_node *buffer, tvms_list indices, uint32_t lane,
                             tvms_span span);

// Address that T.address_of means: as element_at, but one past the end is allowed.
char *tvms_interp_address_at(tvms_interp_frame *f, tvms_interp_view *v,
                             tvms_list indices);

#endif
