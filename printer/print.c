// The entry points of the canonical printer, and the merging of late text.
//
// A program is written module by module. Each goes into p->main and p->late, and is merged into
// the text of the caller when it is complete; header and metadata, which are known last, are put
// in front of all of them at the end. Nodes that the printer makes (sums, layouts) belong to
// p->scratch, whose numbers begin above those of the function that is written, because `names`
// and its like are arrays by number.
#include "printer/print.h"

#include "ir/omitted.h"
#include "printer/comments.h"
#include "printer/function_relax.h"
#include "printer/function_tir.h"
#include "printer/metadata.h"
#include "printer/module.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/plan.h"
#include "printer/state.h"
#include "printer/stmt.h"
#include "support/diag_ids.h"

#include <stdlib.h>

static void start(tvms_printer *p, tvms_context *context, tvms_dialect dialect) {
  *p = (tvms_printer){
      .context = context, .memory = &context->memory, .dialect = dialect};
  tvms_strbuf_init(&p->main, p->memory);
  tvms_strbuf_init(&p->late, p->memory);
  tvms_strbuf_init(&p->spare, p->memory);
  tvms_unit_init(&p->scratch, context, dialect);
  p->out = &p->main;
  tvms_print_reserve(p, "I");
  tvms_print_reserve(p, "T");
  tvms_print_reserve(p, "R");
  tvms_print_reserve(p, "cls");
}

static void finish(tvms_printer *p) {
  tvms_print_forget_scopes(p);
  tvms_strbuf_fini(&p->main);
  tvms_strbuf_fini(&p->late);
  tvms_strbuf_fini(&p->spare);
  tvms_unit_fini(&p->scratch);
  tvms_vec_fini(p->memory, &p->names);
  tvms_vec_fini(p->memory, &p->symbols);
  tvms_vec_fini(p->memory, &p->frames);
  tvms_vec_fini(p->memory, &p->lates);
  tvms_vec_fini(p->memory, &p->kept);
  tvms_vec_fini(p->memory, &p->omitted);
  tvms_vec_fini(p->memory, &p->signed_vars);
  tvms_vec_fini(p->memory, &p->type_vars);
  tvms_vec_fini(p->memory, &p->hints);
  tvms_vec_fini(p->memory, &p->roots);
  tvms_vec_fini(p->memory, &p->views);
  tvms_vec_fini(p->memory, &p->newest_view);
  tvms_vec_fini(p->memory, &p->declared);
  tvms_vec_fini(p->memory, &p->used_params);
  tvms_memory_free(p->memory, p->written);
}

// By place; at one place in the order in which they were made.
static int compare_lates(const void *a, const void *b) {
  const print_late *x = a;
  const print_late *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

// Puts the lines that were written aside where they belong, the last one first.
static void insert_lates(tvms_printer *p) {
  tvms_strbuf *main = &p->main;
  size_t end = main->len, to = end;
  for (uint32_t i = 0; i < p->lates.len; i++)
    to += p->lates.items[i].end - p->lates.items[i].begin;
  if (to > main->cap) tvms_strbuf_grow(main, to - main->len);
  main->len = to;
  for (uint32_t i = p->lates.len; i-- > 0;) {
    print_late late = p->lates.items[i];
    size_t at = late.at < end ? late.at : end, size = late.end - late.begin;
    to -= end - at;
    if (end > at) memmove(main->text + to, main->text + at, end - at);
    to -= size;
    if (size) memcpy(main->text + to, p->late.text + late.begin, size);
    end = at;
  }
}

// Appends what was written to `out`, and begins anew.
static void merge(tvms_printer *p, tvms_strbuf *out) {
  if (p->lates.len > 1) {
    qsort(p->lates.items, p->lates.len, sizeof *p->lates.items, compare_lates);
  }
  insert_lates(p);
  if (out->len == 0 && out->memory == p->memory) {
    tvms_strbuf empty = *out;
    *out = p->main;
    p->main = empty;
  } else {
    tvms_strbuf_add(out, p->main.text, p->main.len);
  }
  p->main.len = p->late.len = 0;
  p->lates.len = 0;
  // Nodes made on the way belong to what was just written.
  tvms_unit_fini(&p->scratch);
  tvms_unit_init(&p->scratch, p->context, p->dialect);
}

static bool omits_metadata(const tvms_printer *p) {
  return p->kept.len && (!p->metadata || p->leaves_out);
}

tvms_printer *tvms_print_open(tvms_context *context, const tvms_print_options *options,
                              tvms_strbuf *out) {
  tvms_printer *p = tvms_memory_alloc(&context->memory, sizeof *p);
  start(p, context, options->dialect);
  p->metadata = !options->no_metadata;
  p->unchecked = options->unchecked;
  p->comments = options->comments;
  p->comment_count = options->comment_count;
  p->written =
      tvms_memory_alloc(p->memory, options->comment_count * sizeof *p->written + 1);
  p->whole = out;
  p->begin = out->len;
  return p;
}

// False if none of its functions is known: the definition is left out, and so is the empty
// line in front of it. A class without members is a module all the same.
static bool has_text(const tvms_module *module) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (module->members[i].function) return true;
  }
  return !module->member_count;
}

bool tvms_print_next(tvms_printer *p, const tvms_module *module) {
  uint32_t kept = p->kept.len;
  if (!has_text(module)) return false;
  if (p->printed++) tvms_strbuf_putc(&p->main, '\n');
  p->blank = false;
  tvms_print_module(p, module);
  merge(p, p->whole);
  return p->kept.len > kept;
}

// Puts metadata and header, which are known last, above the modules.
static void add_front(tvms_printer *p) {
  tvms_strbuf front, *out = p->whole;
  tvms_strbuf_init(&front, p->memory);
  if (!omits_metadata(p)) tvms_print_metadata(p, &front);
  tvms_print_header(&front, p->dialect, p->used, 0);
  tvms_strbuf_insert(out, p->begin, front.text, front.len);
  tvms_strbuf_fini(&front);
}

// A section with some of the objects would give them other numbers than the text has.
static void warn_left_out(const tvms_printer *p) {
  uint32_t known = 0;
  const tvms_node *first = NULL;
  for (uint32_t i = 0; i < p->kept.len; i++) {
    const tvms_node *object = p->kept.items[i];
    bool omitted = tvms_node_omitted(object) != 0;
    known += !omitted;
    if (omitted && !first) first = object;
  }
  if (!known || !first) return;
  tvms_diag_report(&p->context->diags, TVMS_D_omitted_too, first->span, known,
                   known == 1 ? "" : "s", known == 1 ? "is" : "are");
}

static void end_program(tvms_printer *p) {
  if (p->comments) {
    p->main.len = 0;
    tvms_print_left_comments(p, UINT32_MAX);
    tvms_strbuf_add(p->whole, p->main.text, p->main.len);
  }
  if (p->metadata && p->leaves_out) warn_left_out(p);
  if (omits_metadata(p)) {
    tvms_strbuf_puts(p->whole, "\n# Metadata omitted. Use show_meta=True in script() "
                               "method to show it.\n");
  }
  add_front(p);
}

void tvms_print_close(tvms_printer *p) {
  if (p->whole) end_program(p);
  finish(p);
  tvms_memory_free(p->memory, p);
}

void tvms_print_program(const tvms_program *program, const tvms_print_options *options,
                        tvms_strbuf *out) {
  tvms_printer *p = tvms_print_open(program->context, options, out);
  for (uint32_t i = 0; i < program->count; i++) {
    (void)tvms_print_next(p, program->modules[i]);
  }
  tvms_print_close(p);
}

static void print_node(tvms_printer *p, const tvms_node *node) {
  bool relax = tvms_node_class_of(node) == TVMS_CLASS_SINFO
               || (tvms_node_class_of(node) == TVMS_CLASS_EXPR
                   && tvms_dtype_is_void(node->dtype) && node->sinfo);
  p->token = relax ? PRINT_RELAX : PRINT_TIR;
  tvms_print_push(p, relax ? FRAME_RELAX : FRAME_TIR, NULL);
  if (tvms_node_class_of(node) == TVMS_CLASS_STMT)
    tvms_print_body(p, node);
  else if (node->kind == TVMS_NODE_PRIM_FUNC)
    tvms_print_prim_func(p, node, tvms_as_prim_func(node)->name, 0);
  else if (node->kind == TVMS_NODE_FUNCTION)
    tvms_print_relax_function(p, node, tvms_as_function(node)->name, 0, true);
  else
    tvms_print_object(p, node);
  tvms_print_pop(p);
}

tvms_printer *tvms_print_nodes(tvms_context *context, tvms_dialect dialect) {
  tvms_printer *p = tvms_memory_alloc(&context->memory, sizeof *p);
  start(p, context, dialect);
  p->quiet = true;
  return p;
}

void tvms_print_one(tvms_printer *p, const tvms_unit *unit, const tvms_node *node,
                    tvms_strbuf *out) {
  p->scratch.next_id = unit ? unit->next_id : 1;
  p->home = unit ? unit->module : NULL;
  print_node(p, node);
  size_t from = out->len;
  merge(p, out);
  while (out->len > from && out->text[out->len - 1] == '\n') {
    out->len--;
  }
  tvms_print_forget_kept(p, 0);
  p->kept.len = p->kept_constants = p->kept_texts = p->kept_strings = 0;
  p->type_vars.len = p->signed_vars.len = p->used_params.len = 0;
  tvms_print_forget_scopes(p);
  p->function = p->source = p->expected = NULL;
}

void tvms_print_node(tvms_context *context, const tvms_unit *unit,
                     const tvms_node *node, tvms_dialect dialect, tvms_strbuf *out) {
  tvms_printer *p = tvms_print_nodes(context, dialect);
  tvms_print_one(p, unit, node, out);
  tvms_print_close(p);
}
