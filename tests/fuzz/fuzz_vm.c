// Executables of TVM's virtual machine, bundles of libraries and libraries: read, checked, shown, written
// and read again; and run, without kernels and for a few thousand steps.
#include "fuzz.h"
#include "vm/format.h"
#include "vm/library.h"
#include "vm/machine.h"
#include "vm/read.h"
#include "vm/text.h"
#include "vm/write.h"

#include <string.h>

// What was read comes back from what is written.
static void write_again(fuzz_input *input, const tvms_vm_executable *executable) {
  tvms_context *context = &input->context;
  tvms_strbuf bytes, before, after;
  tvms_strbuf_init(&bytes, &context->memory);
  tvms_strbuf_init(&before, &context->memory);
  tvms_strbuf_init(&after, &context->memory);
  tvms_vm_write(executable, TVMS_DIALECT_CURRENT, &bytes);
  tvms_vm_text(executable, &before);
  tvms_vm_executable again;
  tvms_vm_bytes_error error;
  tvms_vm_executable_init(&again, &context->memory);
  FUZZ_CHECK(tvms_vm_read(bytes.text, bytes.len, &context->arena, &again, &error));
  FUZZ_CHECK(!tvms_vm_executable_check(&again, &context->arena));
  tvms_vm_text(&again, &after);
  FUZZ_CHECK(before.len == after.len
             && (!before.len || memcmp(before.text, after.text, before.len) == 0));
}

static void run_all(fuzz_input *input, const tvms_vm_executable *executable) {
  tvms_heap heap;
  tvms_heap_init(&heap, &input->context.memory);
  heap.largest = 1 << 20;
  tvms_interp interp = {.context = &input->context, .heap = &heap, .step_limit = 5000};
  tvms_vm_machine machine = {.code = executable, .interp = &interp};
  for (uint32_t i = 0; i < executable->functions.len; i++) {
    const tvms_vm_function *function = &executable->functions.items[i];
    if (function->kind != TVMS_VM_IS_BYTECODE || function->arity > 64) continue;
    tvms_value args[64] = {{0}}, result;
    if (tvms_vm_call(&machine, i, args, (uint32_t)function->arity, &result) == TVMS_OK)
      tvms_value_drop(result);
  }
  tvms_heap_fini(&heap);
}

static void read_one(fuzz_input *input, const char *bytes, size_t size) {
  tvms_vm_executable executable;
  tvms_vm_bytes_error error;
  tvms_vm_executable_init(&executable, &input->context.memory);
  if (!tvms_vm_read(bytes, size, &input->context.arena, &executable, &error)) {
    FUZZ_CHECK(error.at <= size);
    return;
  }
  if (tvms_vm_executable_check(&executable, &input->context.arena)) return;
  write_again(input, &executable);
  run_all(input, &executable);
}

void fuzz_one(fuzz_input *input) {
  size_t room;
  tvms_vm_bytes_error error;
  read_one(input, input->text, input->size);
  const char *bundle = input->text;
  room = input->size;
  if (tvms_vm_is_library(input->text, input->size))
    bundle = tvms_vm_library_variable(input->text, input->size, TVMS_VM_BUNDLE_SYMBOL,
                                      &room);
  size_t size;
  const char *inside =
      bundle ? tvms_vm_find_in_bundle(bundle, room, &size, &error) : NULL;
  if (inside) read_one(input, inside, size);
}
