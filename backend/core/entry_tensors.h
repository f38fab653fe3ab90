// What an entry in the making checks and loads of a tensor.
#ifndef TVMS_BACKEND_CORE_ENTRY_TENSORS_H
#define TVMS_BACKEND_CORE_ENTRY_TENSORS_H

#include "backend/core/entry_maker.h"

// Loads what a tensor says of itself, and checks what must hold before that is read: rank, data
// type, device.
void tvms_entry_load_tensor(tvms_entry_maker *m, tvms_entry_tensor *t);

// Checks sizes that were seen before, strides, device and data pointer.
void tvms_entry_check_tensor(tvms_entry_maker *m, tvms_entry_tensor *t);

// Checks constant and compound sizes.
void tvms_entry_check_constants(tvms_entry_maker *m, tvms_entry_tensor *t);

#endif
