// Code of loads and stores.
#ifndef TVMS_INTERP_COMPILE_ACCESS_H
#define TVMS_INTERP_COMPILE_ACCESS_H

#include "interp/assemble.h"

// A load or a store.
typedef struct {
  const tvms_node *node;
  const tvms_buffer *buffer;
  tvms_list indices;
} tvms_interp_access;

// What a BUFFER_LOAD or a STORE accesses.
tvms_interp_access tvms_interp_access_of(const tvms_node *node);

// Appends what makes the view of a buffer that nothing defines.
void tvms_interp_make_use(tvms_interp_maker *m, const tvms_interp_access *x);

// Appends the code of a BUFFER_LOAD of one lane; see tvms_interp_make_value.
uint32_t tvms_interp_make_load(tvms_interp_maker *m, const tvms_node *node);

// Appends the code of a STORE. False if only the tree can do it.
bool tvms_interp_make_store(tvms_interp_maker *m, const tvms_node *node);

#endif
