// Objects in compiled code: lists that own them, and calls that give some.
#ifndef TVMS_BACKEND_LLVM_BOXES_H
#define TVMS_BACKEND_LLVM_BOXES_H

#include "backend/llvm/emit.h"

// T.tvm_stack_alloca("anylist", n): a list in the frame, whose objects are dropped wherever the scope is left.
// Reports and leaves for other kinds.
LLVMValueRef tvms_emit_stack_alloca(emitter *e, const tvms_call *call);

// Code that empties the boxes of a list.
void tvms_emit_drop_boxes(emitter *e, LLVMValueRef list, int64_t count);

// Code that empties a box on the stack, which is rarely an object.
void tvms_emit_drop_result(emitter *e, LLVMValueRef box);

// The address of an item of a list.
LLVMValueRef tvms_emit_box_at(emitter *e, const tvms_node *list,
                              const tvms_node *index);

// Code that puts `value`, the address of a tvms_any that is moved, into a box.
void tvms_emit_put_box(emitter *e, LLVMValueRef box, LLVMValueRef value);

// Is an item of a list perhaps borrowed?
bool tvms_emit_is_borrowed(emitter *e, const tvms_node *list, const tvms_node *index);

// The first word of a box that is perhaps borrowed, as others may see it.
LLVMValueRef tvms_emit_lent_word(emitter *e, LLVMValueRef word);

// Code that puts field `at` of the tuple in the box `tuple` into another box, borrowed where that can be; gives the status.
LLVMValueRef tvms_emit_borrow_field(emitter *e, LLVMValueRef tuple, int64_t at,
                                    LLVMValueRef box);

// T.anylist_resetitem(list, index)
LLVMValueRef tvms_emit_reset_item(emitter *e, const tvms_call *call);

// Code that calls a function of runtime/boxes.def by its symbol; gives the status.
LLVMValueRef tvms_emit_call_box(emitter *e, const char *symbol, LLVMValueRef args,
                                uint32_t count, LLVMValueRef box);

// T.tvm_struct_get(pointer, index, field)
LLVMValueRef tvms_emit_struct_get(emitter *e, const tvms_call *call);

#endif
