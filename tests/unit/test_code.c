// Register code of the interpreter against its walk over the tree: the same results to the bit,
// the same fault at the same place, after the same number of steps and with the same memory.
//
// Every function of the programs of corpus/ and of tests/golden/run that can be called with
// random inputs is run both ways, in full and with few steps.
#define _DEFAULT_SOURCE  // DT_DIR
#include "driver/copy.h"
#include "driver/inputs.h"
#include "driver/program.h"
#include "driver/runnable.h"
#include "interp/prim.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_STEPS = 60000, FEW_STEPS = 777 };

// What a run left behind.
typedef struct {
  tvms_status status;
  uint64_t steps;
  uint32_t compiled;
  tvms_diag_id id;
  tvms_span span;
  char text[300];
  tvms_heap heap;
  tvms_value *values;
  uint32_t count;
  tvms_value result;
} outcome;

typedef struct {
  tvms_context *context;
  const tvms_module *module;
  const tvms_member *entry;
} program;

// False if there are no inputs for it.
static bool run(const program *p, bool walks, uint64_t limit, outcome *o) {
  tvms_context *context = p->context;
  *o = (outcome){.count = tvms_inputs_param_count(p->entry)};
  tvms_heap_init(&o->heap, &context->memory);
  o->values = tvms_arena_array(&context->arena, tvms_value, o->count + 1);
  tvms_inputs inputs;
  tvms_inputs_init(&inputs, context, p->entry, &o->heap, o->values);
  bool filled = tvms_inputs_fill(&inputs);
  tvms_inputs_fini(&inputs);
  tvms_diags_init(&context->diags, &context->arena);
  if (!filled) return false;
  tvms_interp interp = {.context = context,
                        .module = p->module,
                        .heap = &o->heap,
                        .step_limit = limit,
                        .engine = walks ? TVMS_INTERP_WALKS : TVMS_INTERP_COMPILES};
  o->status = tvms_interp_call(&interp, p->entry, o->values, o->count, &o->result);
  o->steps = interp.steps;
  o->compiled = interp.compiled;
  const tvms_diag *diag = context->diags.last;
  if (o->status == TVMS_FOUND_ERRORS) {
    o->id = diag->id;
    o->span = diag->span;
    snprintf(o->text, sizeof o->text, "%s", diag->text);
  }
  tvms_diags_init(&context->diags, &context->arena);
  return true;
}

static void expect_same_value(tvms_value a, tvms_value b, const char *where) {
  cr_assert_eq(a.kind, b.kind, "%s: kinds", where);
  if (a.kind == TVMS_VALUE_TENSOR) {
    cr_assert_eq(a.tensor->bytes, b.tensor->bytes, "%s: sizes", where);
    bool same = !a.tensor->bytes
                || !memcmp(a.tensor->view.data, b.tensor->view.data, a.tensor->bytes);
    cr_assert(same, "%s: elements", where);
  } else if (a.kind == TVMS_VALUE_TUPLE) {
    cr_assert_eq(a.tuple->len, b.tuple->len, "%s: lengths", where);
    for (uint32_t i = 0; i < a.tuple->len; i++)
      expect_same_value(a.tuple->items[i], b.tuple->items[i], where);
  } else if (a.kind == TVMS_VALUE_INT || a.kind == TVMS_VALUE_FLOAT
             || a.kind == TVMS_VALUE_BOOL) {
    cr_assert_eq(a.i, b.i, "%s: numbers", where);
  }
}

// Returns how many functions were compiled.
static uint32_t compare(const program *p, uint64_t limit, const char *where) {
  outcome tree, code;
  bool runs = run(p, true, limit, &tree) && run(p, false, limit, &code);
  if (!runs) return 0;
  cr_assert_eq(tree.compiled, 0, "%s", where);
  cr_assert_eq(tree.status, code.status, "%s: %d and %d", where, tree.status,
               code.status);
  cr_assert_eq(tree.id, code.id, "%s: '%s' and '%s'", where, tree.text, code.text);
  cr_assert_str_eq(tree.text, code.text, "%s", where);
  bool placed = tree.span.begin == code.span.begin && tree.span.end == code.span.end;
  cr_assert(placed, "%s: '%s' at %u and %u", where, tree.text, tree.span.begin,
            code.span.begin);
  if (tree.status == TVMS_OK) cr_assert_eq(tree.steps, code.steps, "%s: steps", where);
  for (uint32_t i = 0; i < tree.count; i++)
    expect_same_value(tree.values[i], code.values[i], where);
  if (tree.status == TVMS_OK) expect_same_value(tree.result, code.result, where);
  tvms_heap_fini(&tree.heap);
  tvms_heap_fini(&code.heap);
  return code.compiled;
}

typedef struct {
  tvms_context context;
  const char *path;
  uint32_t compiled;
} file;

static void compare_members(file *f, const tvms_program *all, const tvms_module *of) {
  tvms_context *context = &f->context;
  for (uint32_t i = 0; i < of->member_count; i++) {
    const char *name = tvms_symbol_text(context, of->members[i].name);
    // What is made to run replaces functions of the program.
    tvms_program *copy = tvms_copy_program(all);
    tvms_module *module = tvms_runnable_for(copy, name);
    const tvms_member *entry = module ? tvms_runnable_entry(module, name) : NULL;
    tvms_diags_init(&context->diags, &context->arena);
    bool runs = entry && entry->function
                && (entry->function->kind == TVMS_NODE_PRIM_FUNC
                    || entry->function->kind == TVMS_NODE_FUNCTION);
    program p = {context, module, entry};
    char where[400];
    snprintf(where, sizeof where, "%s: %s", f->path, name);
    if (runs) f->compiled += compare(&p, MANY_STEPS, where);
    if (runs) compare(&p, FEW_STEPS, where);
    tvms_copy_destroy(copy, module);
  }
}

static void compare_file(void *argument) {
  file *f = argument;
  tvms_context *context = &f->context;
  tvms_source *source = tvms_source_read(&context->memory, f->path);
  cr_assert_neq(source, NULL, "%s", f->path);
  tvms_load_options options = {0};
  const tvms_program *all = tvms_program_load(context, source, &options);
  bool wrong = context->diags.errors > 0;
  tvms_diags_init(&context->diags, &context->arena);
  for (uint32_t i = 0; !wrong && i < all->count; i++)
    compare_members(f, all, all->modules[i]);
}

static uint32_t compare_path(const char *path) {
  file *f = calloc(1, sizeof *f);
  f->path = path;
  tvms_context_init(&f->context, &tvms_names);
  tvms_status status = tvms_memory_protect_deep(&f->context.memory, compare_file, f);
  cr_assert_eq(status, TVMS_OK, "%s: %d", path, status);
  uint32_t compiled = f->compiled;
  tvms_context_fini(&f->context);
  free(f);
  return compiled;
}

// All programs below a folder; the number of functions that were compiled.
static uint32_t compare_folder(const char *folder) {
  uint32_t compiled = 0;
  char path[1000];
  DIR *open = opendir(folder);
  cr_assert_neq(open, NULL, "%s", folder);
  for (const struct dirent *entry; (entry = readdir(open));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    size_t len = strlen(path);
    if (len > 5 && !strcmp(path + len - 5, ".tvms"))
      compiled += compare_path(path);
    else if (entry->d_type == DT_DIR)
      compiled += compare_folder(path);
  }
  closedir(open);
  return compiled;
}

static uint32_t compare_below(const char *name) {
  char path[1000];
  snprintf(path, sizeof path, "%s/%s", getenv("TVMS_SOURCE"), name);
  return compare_folder(path);
}

Test(code, programs_of_the_corpus) {
  cr_assert_gt(compare_below("corpus"), 100);
}

Test(code, programs_that_run) {
  cr_assert_gt(compare_below("tests/golden/run"), 30);
}

Test(code, operators) {
  cr_assert_gt(compare_below("tests/golden/ops"), 100);
}
