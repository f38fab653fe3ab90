// Lists of objects on the stack of a PrimFunc (T.tvm_stack_alloca("anylist", n)), as native code of Relax
// functions has them: docs/native.md, "Objects". What they hold is real objects of runtime/box.h.
#ifndef TVMS_INTERP_BOXES_H
#define TVMS_INTERP_BOXES_H

#include "interp/frame.h"
#include "runtime/box.h"

// A new list of a frame; it owns what it holds until the frame closes, or the call is left by a fault.
tvms_any *tvms_interp_boxes_new(tvms_interp_frame *f, int64_t count, tvms_span span);

// Drops the lists of a frame and what they hold.
void tvms_interp_boxes_close(tvms_interp_frame *f);

// The elements of a tensor in a list of the frame that a pointer stands in; if it may only be read, also a list,
// and what describes an object. The base is NULL if there is none.
tvms_interp_region tvms_interp_boxes_region(const tvms_interp_frame *f,
                                            const void *pointer, bool readable);

// An item of a list, here or in a caller.
typedef struct {
  struct tvms_interp_boxes *list;
  tvms_any *item;
} tvms_interp_place;

// The item that T.anylist_getitem, _setitem_call_packed or _resetitem means by its first two arguments; faults
// if it is not one of a list.
tvms_interp_place tvms_interp_boxes_place(tvms_interp_frame *f, const tvms_call *call);

// Sets an item, which gets the caller's reference. What it was lives as long as the list: pointers to it may be in
// use.
void tvms_interp_boxes_put(tvms_interp_place place, tvms_any value);

// Calls a function of runtime/boxes.def. What it gives is the caller's. A pointer is not called: faults if a closure
// is made of one.
tvms_any tvms_interp_boxes_call(tvms_interp_frame *f, const char *name,
                                const tvms_any *args, int32_t count, tvms_span span);

// A copy of an object as a value, which is the caller's. What has no such form is NONE.
tvms_value tvms_interp_boxes_value(tvms_interp_frame *f, tvms_any any, tvms_span span);

#endif
