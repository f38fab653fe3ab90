// Building StructInfo.
#ifndef TVMS_STRUCTINFO_MAKE_H
#define TVMS_STRUCTINFO_MAKE_H

#include "structinfo/sinfo.h"

// R.Object, from 0.26 on R.Any: of which nothing is known.
tvms_node *tvms_sinfo_object_new(tvms_unit *unit);

// The type of texts: I.StringType() since 0.27, an object before.
tvms_node *tvms_sinfo_string_new(tvms_unit *unit);

// `value` NULL: only the data type is known.
tvms_node *tvms_sinfo_prim_new(tvms_unit *unit, tvms_dtype dtype,
                               tvms_node *TVMS_NULLABLE value);

// A shape with known dimensions (see tvms_sinfo_shape_value_new for what becomes of constants).
tvms_node *tvms_sinfo_shape_new(tvms_unit *unit, tvms_node *const *values,
                                uint32_t count);

// A shape of which only the rank is known; TVMS_UNKNOWN_NDIM: nothing.
tvms_node *tvms_sinfo_shape_new_ndim(tvms_unit *unit, int64_t ndim);

// A tensor whose shape is a SHAPE_EXPR or a VAR of a shape.
tvms_node *tvms_sinfo_tensor_new(tvms_unit *unit, tvms_node *shape, tvms_dtype dtype,
                                 tvms_node *TVMS_NULLABLE vdevice);

// A tensor of which only the rank is known; TVMS_UNKNOWN_NDIM: nothing.
tvms_node *tvms_sinfo_tensor_new_ndim(tvms_unit *unit, int64_t ndim, tvms_dtype dtype,
                                      tvms_node *TVMS_NULLABLE vdevice);

// A tuple; the fields are copied into the unit.
tvms_node *tvms_sinfo_tuple_new(tvms_unit *unit, tvms_node *const *fields,
                                uint32_t count);

// A function with these parameters, copied into the unit.
tvms_node *tvms_sinfo_func_new(tvms_unit *unit, tvms_node *const *params,
                               uint32_t count, tvms_node *ret, bool pure);

// A function whose parameters are variables that have their types.
tvms_node *tvms_sinfo_func_new_of_vars(tvms_unit *unit, tvms_list params,
                                       tvms_node *ret, bool pure);

// A function of which only the result is known.
tvms_node *tvms_sinfo_func_new_opaque(tvms_unit *unit, tvms_node *ret, bool pure);

// The same with the name of the function that derives the result; copied.
tvms_node *tvms_sinfo_func_new_derived(tvms_unit *unit, tvms_node *ret, bool pure,
                                       tvms_bytes derive);

// A shape as a value. Constants become int64, as everywhere in shapes.
tvms_node *tvms_sinfo_shape_value_new(tvms_unit *unit, tvms_node *const *values,
                                      uint32_t count, tvms_span span);

// An int64 constant for a shape.
tvms_node *tvms_sinfo_dim_new(tvms_unit *unit, int64_t value);

// True if the dimensions of a tensor or shape are known; they are put in *values. A
// tensor whose shape is a variable counts if the type of the variable knows them.
bool tvms_sinfo_dims(const tvms_node *sinfo, tvms_list *values);

// As tvms_sinfo_dims, but the shape of a tensor must be a SHAPE_EXPR itself.
bool tvms_sinfo_tensor_dims(const tvms_node *tensor, tvms_list *values);

// Is it known to be a tensor, or a tuple of such? NULL is not.
bool tvms_sinfo_is_nested_tensor(const tvms_node *TVMS_NULLABLE sinfo);

// StructInfo of a value: that of the node; of a scalar of TIR its primitive type.
tvms_node *tvms_sinfo_of(tvms_unit *unit, tvms_node *value);

// The constant in a dimension. Returns false if it is not one.
bool tvms_sinfo_dim_int(const tvms_node *dim, int64_t *value);

// Text of a node for messages. `unit` is that of the function which they are about.
const char *tvms_sinfo_describe(const tvms_unit *unit,
                                const tvms_node *TVMS_NULLABLE node);

#endif
