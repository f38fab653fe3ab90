// Running the rules of the table on what was read.
//
// A definition is whole if it has its function, nothing in it waits for Python, and no error
// stands in its text. Errors are few or the file is not worth a lint, so they are looked for
// in the list of findings as it is.
#include "lint/lint.h"

#include "lint/rules.h"
#include "lint/suppress.h"

#include <stdlib.h>

// With more errors than this nothing is said about style.
enum { MOST_ERRORS = 100 };

void tvms_lint_init(tvms_lint *lint, tvms_context *context,
                    const tvms_surface *surface) {
  *lint = (tvms_lint){.context = context, .surface = surface};
}

void tvms_lint_fini(tvms_lint *lint) {
  tvms_vec_fini(&lint->context->memory, &lint->definitions);
  tvms_vec_fini(&lint->context->memory, &lint->unseen);
}

static bool has_error_in(const tvms_lint *lint, tvms_span span) {
  const tvms_diags *diags = &lint->context->diags;
  if (!diags->errors) return false;
  if (diags->errors > MOST_ERRORS) return true;
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    bool inside = diag->source == lint->surface->source
                  && diag->span.begin >= span.begin && diag->span.begin < span.end;
    if (inside && diag->severity == TVMS_SEVERITY_ERROR) return true;
  }
  return false;
}

// ---- Definitions of the surface tree ----

static uint32_t place_of_name(const tvms_surface *surface, tvms_ref ref) {
  return tvms_surface_at(surface, tvms_surface_at(surface, ref)->b)->begin;
}

// A definition is made behind what stands in it, so that the array is nearly in order.
static void insert_definition(tvms_lint *lint, tvms_ref ref) {
  tvms_vec_push(&lint->context->memory, &lint->definitions, ref);
  tvms_ref *items = lint->definitions.items;
  uint32_t place = place_of_name(lint->surface, ref);
  for (uint32_t i = lint->definitions.len - 1; i > 0; i--) {
    if (place_of_name(lint->surface, items[i - 1]) < place) return;
    items[i] = items[i - 1];
    items[i - 1] = ref;
  }
}

static void index_definitions(tvms_lint *lint) {
  const tvms_surface *surface = lint->surface;
  for (tvms_ref ref = 1; ref < surface->count && !lint->indexed; ref++) {
    uint8_t kind = tvms_surface_at(surface, ref)->kind;
    if (kind == TVMS_SURF_DEF || kind == TVMS_SURF_CLASS) insert_definition(lint, ref);
  }
  lint->indexed = true;
}

// The DEF or CLASS whose name begins there, or 0.
static tvms_ref definition_at(tvms_lint *lint, uint32_t place) {
  index_definitions(lint);
  uint32_t low = 0, high = lint->definitions.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    tvms_ref ref = lint->definitions.items[middle];
    uint32_t at = place_of_name(lint->surface, ref);
    if (at == place) return ref;
    if (at < place)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

// ---- Running ----

static void run_rules(tvms_lint *lint, tvms_lint_looks_at looks_at) {
  tvms_lint_function *last = NULL;
  for (uint32_t i = 0; i < tvms_lint_rule_count(); i++) {
    const tvms_lint_rule *rule = tvms_lint_rule_at(i);
    if (rule->looks_at != looks_at || rule->function == last) continue;
    if (!tvms_lint_wants(lint, rule->id)) continue;
    last = rule->function;
    rule->function(lint);
  }
}

static bool is_whole(const tvms_lint *lint, const tvms_member *member) {
  bool read = !member->unread && (!member->assumed || member->variables);
  return member->function && read && !has_error_in(lint, member->function->span);
}

static void run_on_member(tvms_lint *lint, tvms_member *member) {
  lint->member = member;
  lint->unit = member->unit;
  lint->function = member->function;
  if (member->function->kind == TVMS_NODE_PRIM_FUNC) {
    if (tvms_as_prim_func(member->function)->body) run_rules(lint, TVMS_LINT_PRIM_FUNC);
  } else if (member->function->kind == TVMS_NODE_FUNCTION) {
    if (tvms_as_function(member->function)->body) run_rules(lint, TVMS_LINT_RELAX);
  }
  lint->member = NULL;
  lint->unit = NULL;
  lint->function = NULL;
}

// Where the name of a definition stands that a module was made of.
static tvms_span name_span_of(const tvms_module *module) {
  return module->bare ? module->members[0].name_span : module->name_span;
}

// Runs the rules on the functions that are whole, and returns whether all of them are.
static bool run_on_members(tvms_lint *lint, tvms_module *module) {
  bool whole = !module->unchecked;
  for (uint32_t i = 0; i < module->member_count && !module->unchecked; i++) {
    bool good = is_whole(lint, &module->members[i]);
    whole = whole && good;
    if (good) run_on_member(lint, &module->members[i]);
  }
  return whole;
}

void tvms_lint_module(tvms_lint *lint, tvms_module *module) {
  if (!module->member_count) return;
  lint->seen = true;
  lint->module = module;
  bool whole = run_on_members(lint, module);
  tvms_ref definition = definition_at(lint, name_span_of(module).begin);
  tvms_span span = tvms_surface_span(lint->surface, definition);
  if (definition && whole && !has_error_in(lint, span)) {
    lint->definition = definition;
    run_rules(lint, TVMS_LINT_SURFACE);
    run_rules(lint, TVMS_LINT_MODULE);
  } else if (definition) {
    tvms_vec_push(&lint->context->memory, &lint->unseen, span);
  }
  tvms_memory_free(&lint->context->memory, lint->called);
  lint->called = NULL;
  lint->definition = 0;
  lint->module = NULL;
}

void tvms_lint_file(tvms_lint *lint) {
  lint->failed = lint->context->diags.errors;
  if (!lint->failed) run_rules(lint, TVMS_LINT_FILE);
  tvms_lint_suppress(lint);
}
