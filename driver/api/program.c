// Programs and their definitions.
#include "driver/program.h"

#include "driver/api/api.h"
#include "driver/diff.h"
#include "parser/read.h"

#include <tvms/program.h>

// ---- Reading ----

typedef struct {
  tvms_context *context;
  tvms_source *source;
  const tvms_program_read_options *options;
  tvms_program *program;
} reading;

static tvms_status read_program(void *argument) {
  reading *r = argument;
  tvms_load_options options = {.unverified = r->options->unverified};
  bool known =
      tvms_api_find_release(r->context, r->options->from, &options.from)
      && tvms_api_find_release(r->context, r->options->release, &options.dialect);
  if (!known) return TVMS_BAD_ARGUMENT;
  r->program = tvms_program_load(r->context, r->source, &options);
  r->program->source = r->source;
  r->program->wrong = r->context->diags.errors > 0;
  return TVMS_OK;
}

tvms_status tvms_program_read(tvms_context *context, tvms_source *source,
                              const tvms_program_read_options *options,
                              tvms_program **program) {
  tvms_program_read_options own;
  *program = NULL;
  tvms_status known = tvms_api_check_source(context, source);
  if (known != TVMS_OK) return known;
  if (!tvms_api_take_options(options, &own, sizeof own))
    return tvms_api_bad_options(context);
  reading r = {context, source, &own, NULL};
  tvms_status status = tvms_api_call(context, read_program, &r);
  if (status <= TVMS_FOUND_ERRORS) *program = r.program;
  return status;
}

void tvms_program_destroy(tvms_program *program) {
  if (!program || program->shown || tvms_api_of(program->context)->spent) return;
  tvms_reader_program_destroy(program);
}

static tvms_status verify(void *argument) {
  tvms_program *program = argument;
  program->context->diags.source = program->source;
  for (uint32_t i = 0; i < program->count; i++) {
    tvms_module_verify(program->modules[i]);
  }
  return TVMS_OK;
}

tvms_status tvms_program_verify(tvms_program *program) {
  if (!program) return TVMS_BAD_ARGUMENT;
  return tvms_api_call(program->context, verify, program);
}

const char *tvms_program_release(const tvms_program *program) {
  return tvms_dialect_text(program->dialect);
}

tvms_source *tvms_program_source(const tvms_program *program) {
  return program->source;
}

// ---- Definitions ----

uint32_t tvms_program_count(const tvms_program *program) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < program->count; i++) {
    count += program->modules[i]->member_count;
  }
  return count;
}

static tvms_definition_kind kind_of(const tvms_node *TVMS_NULLABLE function) {
  if (!function) return TVMS_DEFINITION_BROKEN;
  if (function->kind == TVMS_NODE_FUNCTION) return TVMS_DEFINITION_FUNCTION;
  if (function->kind == TVMS_NODE_PRIM_FUNC) return TVMS_DEFINITION_PRIM_FUNC;
  return TVMS_DEFINITION_EXTERN;
}

bool tvms_program_definition(const tvms_program *program, uint32_t index,
                             tvms_definition *definition) {
  for (uint32_t i = 0; i < program->count; i++) {
    const tvms_module *module = program->modules[i];
    if (index >= module->member_count) {
      index -= module->member_count;
      continue;
    }
    const tvms_member *member = &module->members[index];
    tvms_definition own = {
        .name = tvms_symbol_text(program->context, member->name),
        .module = module->bare ? "" : tvms_symbol_text(program->context, module->name),
        .kind = kind_of(member->function),
        .name_span = member->name_span,
        .span = member->function ? member->function->span : (tvms_span){0, 0},
    };
    return tvms_api_give_struct(definition, &own, sizeof own);
  }
  return false;
}

// Is `name` the name of a definition, or that of its module, a dot, and its own?
static bool is_meant(const tvms_context *context, const tvms_module *module,
                     tvms_sym member, const char *name) {
  const char *own = tvms_symbol_text(context, member);
  if (strcmp(own, name) == 0) return true;
  if (module->bare) return false;
  const char *of = tvms_symbol_text(context, module->name);
  size_t len = strlen(of);
  return strncmp(name, of, len) == 0 && name[len] == '.'
         && strcmp(name + len + 1, own) == 0;
}

int64_t tvms_program_find(const tvms_program *program, const char *name) {
  int64_t found = -1, index = 0;
  for (uint32_t i = 0; i < program->count; i++) {
    const tvms_module *module = program->modules[i];
    for (uint32_t k = 0; k < module->member_count; k++, index++) {
      if (is_meant(program->context, module, module->members[k].name, name))
        found = index;
    }
  }
  return found;
}

// ---- Differences ----

typedef struct {
  tvms_program *left;
  tvms_program *right;
  const char *release;
  tvms_strbuf out;
  char *text;
  size_t size;
  uint32_t count;
} comparing;

static tvms_status compare(void *argument) {
  comparing *c = argument;
  tvms_context *context = c->left->context;
  tvms_dialect dialect;
  if (context != c->right->context) {
    return tvms_api_fail(context, TVMS_BAD_ARGUMENT,
                         "programs of two contexts cannot be compared");
  }
  if (!tvms_api_find_written(context, c->release, c->right->dialect, &dialect))
    return TVMS_BAD_ARGUMENT;
  tvms_strbuf_init(&c->out, &context->memory);
  c->count = tvms_diff_programs((tvms_diff_side){c->left, c->left->source},
                                (tvms_diff_side){c->right, c->right->source}, dialect,
                                tvms_diff_write_text, &c->out);
  tvms_api_give_text(&c->out, &c->text, &c->size);
  return TVMS_OK;
}

tvms_status tvms_program_diff(tvms_program *left, tvms_program *right,
                              const char *release, char **text, size_t *size,
                              uint32_t *count) {
  comparing c = {.left = left, .right = right, .release = release};
  tvms_status status = tvms_api_check_program(left);
  if (status == TVMS_OK) status = tvms_api_check_program(right);
  if (status == TVMS_OK) status = tvms_api_call(left->context, compare, &c);
  bool good = status == TVMS_OK;
  *text = good ? c.text : NULL;
  *size = good ? c.size : 0;
  *count = good ? c.count : 0;
  return status;
}
