// Objects of a Relax function that becomes a PrimFunc: what packed functions give, and tensors whose
// sizes are known only when it runs.
#ifndef TVMS_PASSES_RELAX_HOST_OBJECTS_H
#define TVMS_PASSES_RELAX_HOST_OBJECTS_H

#include "passes/relax/host/host.h"

// A new item of the list of the function, which is none until it is set.
tvms_host_value *tvms_host_slot(tvms_host *h);

// The object that a parameter of this name points to.
tvms_host_value *tvms_host_object_param(tvms_host *h, tvms_node *param);

// What a packed function takes for an object.
tvms_node *tvms_host_item(tvms_host *h, const tvms_host_value *object);

// The pointer to an object, for callees.
tvms_node *tvms_host_item_pointer(tvms_host *h, const tvms_host_value *object);

// Calls a packed function, whose result goes to the object `to`. `args` are what T.call_packed takes
// behind the name.
void tvms_host_set(tvms_host *h, const tvms_host_value *to, const char *name,
                   const tvms_node_vec *args, tvms_span span);

// A new object of what a packed function gives.
tvms_host_value *tvms_host_make(tvms_host *h, const char *name,
                                const tvms_node_vec *args, tvms_span span);

// Appends a value as it is given to a packed function that may keep it: a number, or an object. False: refused.
bool tvms_host_push_boxed(tvms_host *h, tvms_host_value *value, tvms_node_vec *args);

// Makes the object `to` of any value. NULL: refused.
bool tvms_host_box_into(tvms_host *h, const tvms_host_value *value,
                        const tvms_host_value *to);

// A value as an object. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_boxed(tvms_host *h, tvms_host_value *value);

// An object as a value of a type; that it has this type is checked when it runs, and `who` says in the
// error what it is. Sizes that are not known yet are learnt. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_unboxed(tvms_host *h, const tvms_node *type,
                                                 const tvms_host_value *object,
                                                 const char *who, tvms_span span);

// A field of an object that is a tuple.
tvms_host_value *tvms_host_object_field(tvms_host *h, const tvms_host_value *object,
                                        int64_t index, tvms_span span);

// Does a caller not know one of these sizes?
bool tvms_host_is_late(tvms_host *h, tvms_list sizes);

// A new tensor that is an object, of any sizes.
tvms_host_value *TVMS_NULLABLE tvms_host_late_tensor(tvms_host *h, const char *name,
                                                     tvms_dtype dtype, tvms_list dims);

// What a packed function takes for a tensor.
tvms_node *tvms_host_lent_tensor(tvms_host *h, const tvms_host_value *tensor);

// What a function of runtime/boxes.def takes for a shape.
tvms_node *tvms_host_lent_shape(tvms_host *h, const tvms_host_value *shape);

// Defines the list in front of the statements, if there are objects.
void tvms_host_add_list(tvms_host *h);

#endif
