// Schedules as text, both forms of traces included: whatever they say of a product of matrices
// with a sum behind it, the PrimFunc that comes out can be printed.
#include "fuzz.h"
#include "parser/read.h"
#include "printer/print.h"
#include "schedule/script.h"

#include <string.h>

static const char program_text[] =
    "@T.prim_func(s_tir=True)\n"
    "def main(A: T.Buffer((16, 16), \"float32\"), B: T.Buffer((16, 16), \"float32\"), "
    "D: T.Buffer((16, 16), \"float32\")):\n"
    "    C = T.sblock_alloc_buffer((16, 16))\n"
    "    for i, j, k in T.grid(16, 16, 16):\n"
    "        with T.sblock(\"C\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
    "    for i, j in T.grid(16, 16):\n"
    "        with T.sblock(\"D\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            D[vi, vj] = C[vi, vj] + T.float32(1)\n";

static void schedule_module(fuzz_input *input, tvms_program *program) {
  tvms_context *context = &input->context;
  tvms_source *script =
      tvms_source_create(&context->memory, "fuzz", input->text, input->size);
  tvms_schedule schedule;
  tvms_schedule_init(&schedule, program->modules[0]);
  bool done = tvms_schedule_run_script(&schedule, script);
  FUZZ_CHECK(done == (context->diags.errors == 0));
  tvms_schedule_fini(&schedule);
}

void fuzz_one(fuzz_input *input) {
  tvms_context *context = &input->context;
  tvms_source *source = tvms_source_create(&context->memory, "program", program_text,
                                           sizeof program_text - 1);
  tvms_read_options options = {.from = TVMS_DIALECT_NONE, .dialect = TVMS_DIALECT_NONE};
  tvms_program *program = tvms_reader_read(context, source, &options);
  FUZZ_CHECK(!context->diags.errors && program->count == 1);
  schedule_module(input, program);
}
