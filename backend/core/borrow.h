// Which items of lists need no reference of their own: fields of a tuple that something else holds as long.
//
//   T.anylist_setitem_call_packed(objects, 1, "vm.builtin.tuple_getitem", T.anylist_getitem(objects, 0), 7)
//
// Item 1 is borrowed if item 0 stays what it is until the list goes. Counting a reference takes longer than all else
// that such an access does.
#ifndef TVMS_BACKEND_CORE_BORROW_H
#define TVMS_BACKEND_CORE_BORROW_H

#include "ir/module.h"
#include "support/context.h"

// What is known of the lists of one function. It lives in the scratch arena.
typedef struct tvms_borrow tvms_borrow;

// Looks at the body of a function.
const tvms_borrow *tvms_boxes_borrow(tvms_context *context, const tvms_unit *unit,
                                     const tvms_prim_func *function);

// Is an item only ever set by a call as above, once?
bool tvms_boxes_is_borrowed(const tvms_borrow *b, const tvms_node *list,
                            const tvms_node *index);

#endif
