// The cache of attention that TVM's machine has without pages: one tensor that grows.
//
// A cache is a state of four items: its kind, the tensor, how many rows of it are filled, and where the
// next row of a window goes. A function that changes a cache gives it back.
#ifndef TVMS_VM_KV_CACHE_H
#define TVMS_VM_KV_CACHE_H

#include "vm/machine.h"

// create(values, shape to reserve, rows that count as filled or -1)
tvms_vm_builtin tvms_vm_kv_cache_create;

// append(cache, rows): the tensor doubles until there is room.
tvms_vm_builtin tvms_vm_kv_cache_append;

// update(cache, values): as many rows as are filled.
tvms_vm_builtin tvms_vm_kv_cache_update;

// view(cache[, shape]): the rows that are filled, in the memory of the cache.
tvms_vm_builtin tvms_vm_kv_cache_view;

// window_override(cache, rows, size of the window[, rows at its begin that stay])
tvms_vm_builtin tvms_vm_kv_cache_window_override;

// array_popn(tuple of caches, rows) and array_clear(tuple of caches)
tvms_vm_builtin tvms_vm_kv_cache_array_popn;
tvms_vm_builtin tvms_vm_kv_cache_array_clear;

#endif
