// What is around the kernels of a library and the same in each, as machine code: functions of kept memory
// (backend/llvm/kept.h), and those that start threads (backend/llvm/parallel.h).
#ifndef TVMS_BACKEND_X86_KEPT_H
#define TVMS_BACKEND_X86_KEPT_H

#include "backend/x86/code.h"

// Adds ptr take(ptr list, i64 places, i64 bytes) as a hidden symbol.
void tvms_x86_add_take(tvms_x86_code *c, const char *name);

// Adds void give(ptr list, i64 places, ptr memory) as a hidden symbol.
void tvms_x86_add_give(tvms_x86_code *c, const char *name);

// A list of kept memory: a hidden symbol of another object.
typedef struct {
  const char *name;
  uint32_t places;
} tvms_x86_list;

// Adds what frees the blocks of the lists when the library goes.
void tvms_x86_add_leave(tvms_x86_code *c, const tvms_x86_list *lists, uint32_t count);

// Adds i32 launch(ptr task, ptr record, i32 most) as a hidden symbol.
void tvms_x86_add_launch(tvms_x86_code *c, const char *name);

// Adds i32 task(i32 number, ptr env, ptr record) as a hidden symbol: it calls `steps`, which is hidden, too,
// with `values` words of the record. An error has `raised` words.
void tvms_x86_add_task(tvms_x86_code *c, const char *name, const char *steps,
                       uint32_t values, uint32_t raised);

#endif
