// Packed functions of TVM's run time that programs call by name: T.call_packed of a PrimFunc,
// R.call_packed, and compiled code that was not loaded by TVM.
//
//   tvms_packed_function *sort = tvms_packed_find("tvm.contrib.sort.sort", 21);
//   const char *wrong = sort(memory, args, 4);      NULL: done
#ifndef TVMS_RUNTIME_PACKED_H
#define TVMS_RUNTIME_PACKED_H

#include "runtime/abi.h"
#include "support/memory.h"

// Does its work on borrowed arguments, in memory that is given back; nothing is returned but
// what tensors among them are filled with. Returns NULL, or what is wrong with the arguments,
// as a text that stays. Memory of a tensor is the caller's to vouch for: as many elements as
// its shape says.
typedef const char *TVMS_NULLABLE tvms_packed_function(tvms_memory *memory,
                                                       const tvms_any *args,
                                                       int32_t count);

// The function of this name, or NULL.
tvms_packed_function *TVMS_NULLABLE tvms_packed_find(const char *name, size_t len);

// tvm.contrib.sort.*: (data, out, axis, ascends); argsort_nms has a tensor of counts behind the
// data, and topk (data, values, places, k, axis, which, ascends) one or both results.
tvms_packed_function tvms_packed_sort;
tvms_packed_function tvms_packed_argsort;
tvms_packed_function tvms_packed_argsort_nms;
tvms_packed_function tvms_packed_topk;

#endif
