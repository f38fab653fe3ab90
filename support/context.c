// Setting a context up and taking it down.
#include "support/context.h"

#include <string.h>

enum { DEFAULT_STEP_LIMIT = 1000 * 1000 * 1000 };

void tvms_context_init(tvms_context *context, const tvms_static_names *fixed) {
  memset(context, 0, sizeof *context);
  tvms_memory_init(&context->memory);
  tvms_context_start(context, fixed);
}

void tvms_context_start(tvms_context *context, const tvms_static_names *fixed) {
  tvms_arena_init(&context->arena, &context->memory);
  tvms_arena_init(&context->scratch, &context->memory);
  tvms_interner_init(&context->names, &context->arena, fixed);
  tvms_diags_init(&context->diags, &context->arena);
  context->step_limit = DEFAULT_STEP_LIMIT;
}

void tvms_context_fini(tvms_context *context) {
  tvms_shares_fini(&context->shares);
  tvms_memory_fini(&context->memory);
}

const tvms_cpu *tvms_context_cpu(tvms_context *context) {
  if (!context->cpu) {
    tvms_cpu *cpu = tvms_arena_new(&context->arena, tvms_cpu);
    tvms_cpu_detect(cpu);
    context->cpu = cpu;
  }
  return context->cpu;
}
