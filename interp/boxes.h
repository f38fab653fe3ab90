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

// The memory of a list of the frame, or of what it holds, that a pointer stands in; its base is NULL if there is
// none.
tvms_interp_region tvms_interp_boxes_region(const tvms_interp_frame *f,
                                            const void *pointer);

// The item that T.anylist_getitem, _setitem_call_packed or _resetitem means by its first two arguments; faults
// if it is not in memory.
tvms_any *tvms_interp_boxes_item(tvms_interp_frame *f, const tvms_call *call);

// Calls a function of runtime/boxes.def. What it gives is the caller's.
tvms_any tvms_interp_boxes_call(tvms_interp_frame *f, const char *name,
                                const tvms_any *args, int32_t count, tvms_span span);

// A copy of an object as a value, which is the caller's. What has no such form is NONE.
tvms_value tvms_interp_boxes_value(tvms_interp_frame *f, tvms_any any, tvms_span span);

#endif
