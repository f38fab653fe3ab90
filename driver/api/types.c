// Facts of functions, and the type at a place.
#include "driver/api/api.h"
#include "driver/infer.h"
#include "ir/walk.h"
#include "printer/print.h"

#include <tvms/types.h>

typedef struct {
  tvms_program *program;
  const char *release;
  tvms_fact_visit *visit;
  void *user;
} inferring;

static void show(void *self, const tvms_fact *fact) {
  const inferring *in = self;
  tvms_trial trial;
  tvms_api_leave(in->program->context, &trial);
  in->visit(in->user, fact);
  tvms_api_resume(in->program->context, &trial);
}

static tvms_status infer(void *argument) {
  inferring *in = argument;
  tvms_context *context = in->program->context;
  tvms_dialect dialect;
  if (!tvms_api_find_written(context, in->release, in->program->dialect, &dialect))
    return TVMS_BAD_ARGUMENT;
  tvms_infer *all = tvms_infer_open(context, dialect, show, in);
  for (uint32_t i = 0; i < in->program->count; i++) {
    tvms_infer_add(all, in->program->modules[i]);
  }
  tvms_infer_close(all);
  return TVMS_OK;
}

tvms_status tvms_program_infer(tvms_program *program, const char *release,
                               tvms_fact_visit *visit, void *user) {
  if (!program) return TVMS_BAD_ARGUMENT;
  inferring in = {program, release, visit, user};
  program->shown++;
  tvms_status status = tvms_api_call(program->context, infer, &in);
  program->shown--;
  return status;
}

// ---- The type at a place ----

typedef struct {
  tvms_program *program;
  const char *release;
  uint32_t offset;
  const tvms_node *found;  // the innermost so far
  const tvms_unit *unit;   // of what is found
  const tvms_unit *at;     // that is searched
  tvms_strbuf out;
  char *text;
  size_t size;
} search;

static uint32_t length(tvms_span span) {
  return span.end - span.begin;
}

static tvms_walk_step look(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  (void)role;
  bool holds = node->span.begin <= s->offset && s->offset < node->span.end;
  if (!node->sinfo || !holds) return TVMS_WALK_ON;
  if (s->found && length(s->found->span) < length(node->span)) return TVMS_WALK_ON;
  s->found = node;
  s->unit = s->at;
  return TVMS_WALK_ON;
}

static tvms_status find_type(void *argument) {
  search *s = argument;
  tvms_context *context = s->program->context;
  tvms_dialect dialect;
  if (!tvms_api_find_written(context, s->release, s->program->dialect, &dialect))
    return TVMS_BAD_ARGUMENT;
  tvms_visitor visitor = {.self = s, .enter = look};
  for (uint32_t i = 0; i < s->program->count; i++) {
    const tvms_module *module = s->program->modules[i];
    for (uint32_t k = 0; k < module->member_count; k++) {
      s->at = module->members[k].unit;
      if (module->members[k].function)
        tvms_walk(&context->memory, module->members[k].function, &visitor);
    }
  }
  if (!s->found) return TVMS_OK;
  tvms_strbuf_init(&s->out, &context->memory);
  tvms_print_node(context, s->unit, s->found->sinfo, dialect, &s->out);
  tvms_api_give_text(&s->out, &s->text, &s->size);
  return TVMS_OK;
}

tvms_status tvms_program_type_at(tvms_program *program, uint32_t offset,
                                 const char *release, tvms_span *span, char **text,
                                 size_t *size) {
  search s = {.program = program, .release = release, .offset = offset};
  tvms_status status =
      program ? tvms_api_call(program->context, find_type, &s) : TVMS_BAD_ARGUMENT;
  bool good = status == TVMS_OK && s.found;
  *span = good ? s.found->span : (tvms_span){0, 0};
  *text = good ? s.text : NULL;
  *size = good ? s.size : 0;
  return status;
}
