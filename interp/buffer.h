// Buffers: what memory they stand for, and the checked way to an element.
#ifndef TVMS_INTERP_BUFFER_H
#define TVMS_INTERP_BUFFER_H

#include "interp/frame.h"

// The view of a buffer where it is used: the defined one, or else one that is made from its
// data variable as it stands now (a buffer over a pointer needs no statement that defines
// it). A fault if that variable has no value. Valid until the buffer is used or defined
// again.
tvms_interp_view *tvms_interp_use_buffer(tvms_interp_frame *f, const tvms_node *buffer,
                                         tvms_span span);

// Defines a buffer over memory of `data` and binds its data variable to it; NULL: over what
// that variable has. Its sizes, strides and offset are evaluated now and hold until it is
// defined again. The view belongs to the frame.
tvms_interp_view *tvms_interp_define_buffer(tvms_interp_frame *f,
                                            const tvms_node *buffer,
                                            void *TVMS_NULLABLE data);

// Defines a buffer over fresh memory of its shape and strides, which tvms_interp_end_memory
// frees.
void tvms_interp_allocate_buffer(tvms_interp_frame *f, const tvms_node *buffer);

// Memory for `extents` elements, all bits one, which tvms_interp_end_memory frees. A fault
// if it is more than the heap allows. Not NULL, even without elements.
void *tvms_interp_allocate(tvms_interp_frame *f, tvms_dtype element, tvms_list extents,
                           tvms_span span);

// A mark of the memory that there is: what is allocated after it lives in a scope that
// tvms_interp_end_memory ends.
uint32_t tvms_interp_begin_memory(const tvms_interp_frame *f);

// Ends the life of all memory since a mark, innermost first.
void tvms_interp_end_memory(tvms_interp_frame *f, uint32_t mark);

// Declares memory that a caller owns: `bytes` from `base` on may be touched until the frame
// closes. NULL for a tensor without elements.
void tvms_interp_add_region(tvms_interp_frame *f, void *base, uint64_t bytes);

// Finds out whether indices that are inside of the shape always reach memory of the view. After
// every change of it.
void tvms_interp_settle_view(tvms_interp_view *v);

// A fault unless `index` is inside of dimension `at`.
void tvms_interp_check_index(tvms_interp_frame *f, const tvms_interp_view *v,
                             const tvms_node *buffer, uint32_t at, int64_t index,
                             tvms_span span);

// Address of the element with these indices, one per dimension; a fault if it is not good.
char *tvms_interp_element_of(tvms_interp_frame *f, const tvms_interp_view *v,
                             const tvms_node *buffer, const int64_t *index,
                             tvms_span span);

// How many bytes of memory that may be touched there are from `pointer` on.
uint64_t tvms_interp_bytes_from(const tvms_interp_frame *f, const void *pointer);

// The same of memory that may be read: lists of objects and what describes an object, too.
uint64_t tvms_interp_readable_from(const tvms_interp_frame *f, const void *pointer);

// Address of the element that a load or store of `lane` means. Every index must be inside
// its dimension, and the element inside the memory of the view; otherwise a fault.
char *tvms_interp_element_at(tvms_interp_frame *f, tvms_interp_view *v,
                             const tvms_node *buffer, tvms_list indices, uint32_t lane,
                             tvms_span span);

// Address that T.address_of means. Nothing is checked: an address may lie outside, and only
// using it is a fault.
char *tvms_interp_address_at(tvms_interp_frame *f, tvms_interp_view *v,
                             tvms_list indices);

#endif
