// Functions that are objects of tvm-ffi: entries of the library, with or without captured values, and those of
// others.
#include "runtime/box_object.h"

#include <stdlib.h>
#include <string.h>

// A function of tvm-ffi. `call` gets the object as its first argument.
typedef struct {
  tvms_any_object head;
  tvms_safe_call call;
  void *TVMS_NULLABLE direct;  // for functions of C++
} function_object;

// A function with values that go behind the arguments. What it calls is an entry, or the last of its values.
typedef struct {
  function_object function;
  tvms_safe_call TVMS_NULLABLE entry;
  int64_t count;  // of the captured values
  tvms_box_raise TVMS_NULLABLE raise;
  tvms_any values[];
} closure_object;

static void delete_closure(void *object, int flags) {
  closure_object *closure = object;
  if (flags & TVMS_BOX_LEAVES)
    tvms_box_drop(closure->values, closure->count + !closure->entry);
  if (flags & TVMS_BOX_FREES) free(object);
}

static int32_t call_closure(void *self, const tvms_any *args, int32_t count,
                            tvms_any *result) {
  enum { FEW = 16 };
  const closure_object *closure = self;
  tvms_any few[FEW], *all = few;
  size_t given = (size_t)count, captured = (size_t)closure->count;
  if (given + captured > FEW) all = malloc((given + captured) * sizeof *all);
  if (!all) {
    if (closure->raise) closure->raise(NULL, "MemoryError", "out of memory");
    return -1;
  }
  if (given) memcpy(all, args, given * sizeof *all);
  memcpy(all + given, closure->values, captured * sizeof *all);
  const function_object *callee = closure->entry ? NULL : closure->values[captured].v.p;
  tvms_safe_call call = callee ? callee->call : closure->entry;
  int32_t status =
      call((void *)(uintptr_t)callee, all, (int32_t)(given + captured), result);
  if (all != few) free(all);
  return status;
}

int32_t tvms_box_make_closure(void *raise, const tvms_any *args, int32_t count,
                              tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "vm.builtin.make_closure", args, count);
  int32_t kind = count > 0 ? args[0].type_index : TVMS_ANY_NONE;
  bool entry = kind == TVMS_ANY_POINTER;
  if (!entry && kind != TVMS_ANY_FUNCTION) return tvms_box_refuse(&a, "a function");
  size_t captured = (size_t)count - 1, all = captured + !entry;
  if (!entry && !captured) return tvms_box_copy_of(&a, args[0], result);
  closure_object *closure = tvms_box_object_new(
      sizeof *closure + all * sizeof(tvms_any), TVMS_ANY_FUNCTION, delete_closure);
  if (!closure) return tvms_box_no_memory(&a);
  closure->function.direct = NULL;
  closure->entry = NULL;
  if (entry) memcpy(&closure->entry, &args[0].v.p, sizeof closure->entry);
  closure->function.call = entry && !captured ? closure->entry : call_closure;
  closure->count = (int64_t)captured;
  closure->raise = a.raise ? a.raise->raise : NULL;
  memset(closure->values, 0, all * sizeof(tvms_any));
  int32_t status = 0;
  for (size_t i = 0; i < captured && !status; i++)
    status = tvms_box_copy_of(&a, args[i + 1], &closure->values[i]);
  if (!entry && !status)
    status = tvms_box_copy_of(&a, args[0], &closure->values[captured]);
  if (!status) return tvms_box_give(result, TVMS_ANY_FUNCTION, closure);
  tvms_box_release(&closure->function.head);
  return -1;
}

int32_t tvms_box_invoke_closure(void *raise, const tvms_any *args, int32_t count,
                                tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "vm.builtin.invoke_closure", args, count);
  if (count < 1 || args[0].type_index != TVMS_ANY_FUNCTION)
    return tvms_box_refuse(&a, "a function");
  function_object *function = args[0].v.p;
  return function->call(function, args + 1, count - 1, result) ? -1 : 0;
}
