// Trying edits until none makes the program smaller.
//
// Of each kind of edit many are tried together at first, then half as many, down to one: most of
// a large program has nothing to do with the failure and goes in a few steps. A candidate must be
// smaller than what there is, by its length and then by its letters, so the work ends.
#include "driver/reduce.h"

#include "driver/reduce_edits.h"
#include "printer/print.h"
#include "support/names.h"
#include "support/protect.h"

#include <time.h>

typedef struct {
  const tvms_reduce_options *options;
  tvms_reduce_result *result;
  tvms_strbuf *text;    // the smallest so far
  tvms_strbuf edited;   // a candidate as it was edited
  tvms_strbuf printed;  // and as it is printed
  tvms_reduce_kind kind;
  uint32_t from, count;  // edits of the candidate
  uint32_t sites;        // of the kind in the text
  tvms_context context;  // of the candidate
  time_t deadline;
  bool sound, stop;
} reducer;

// Appends the text with the edits at hand; inside of the context of a candidate.
static void edit(void *argument) {
  reducer *r = argument;
  tvms_context *context = &r->context;
  tvms_source *source =
      tvms_source_create(&context->memory, "candidate", r->text->text, r->text->len);
  context->diags.source = source;
  tvms_surface surface = {0};
  tvms_surface_parse(&surface, context, source);
  tvms_strbuf out;
  tvms_strbuf_init(&out, &context->memory);
  r->sites = tvms_reduce_edit(&surface, r->kind, r->from, r->count, &out);
  r->edited.len = 0;
  tvms_strbuf_add(&r->edited, out.text, out.len);
  r->sound = true;
}

// Reads what was edited and prints it, if nothing is wrong with it.
static void read_candidate(void *argument) {
  reducer *r = argument;
  tvms_context *context = &r->context;
  tvms_source *source =
      tvms_source_create(&context->memory, "candidate", r->edited.text, r->edited.len);
  context->diags.source = source;
  tvms_program *program = tvms_program_load(context, source, &r->options->load);
  if (context->diags.errors || !program->count) return;
  tvms_strbuf out;
  tvms_strbuf_init(&out, &context->memory);
  tvms_print_options options = {.dialect = r->options->dialect};
  tvms_print_program(program, &options, &out);
  r->printed.len = 0;
  tvms_strbuf_add(&r->printed, out.text, out.len);
  r->sound = context->diags.errors == 0;
}

// Runs `work` in a context of its own. False if it did not come to a sound end.
static bool in_context(reducer *r, void (*work)(void *)) {
  tvms_context_init(&r->context, &tvms_names);
  r->sound = false;
  tvms_status status = tvms_memory_protect(&r->context.memory, work, r);
  tvms_context_fini(&r->context);
  return status == TVMS_OK && r->sound;
}

static bool is_smaller(const tvms_strbuf *a, const tvms_strbuf *b) {
  if (a->len != b->len) return a->len < b->len;
  return a->len && memcmp(a->text, b->text, a->len) < 0;
}

static bool is_over(const reducer *r) {
  return r->stop || r->result->runs >= r->options->max_runs
         || time(NULL) >= r->deadline;
}

// Tries the edits from `from` on; true if what came out is the text now.
static bool try_edits(reducer *r, uint32_t from, uint32_t count) {
  r->from = from;
  r->count = count;
  if (!in_context(r, edit) || from >= r->sites) return false;
  r->result->tried++;
  if (!in_context(r, read_candidate) || !is_smaller(&r->printed, r->text)) return false;
  r->result->runs++;
  if (!r->options->fails(r->options->self, &r->printed, &r->stop)) return false;
  tvms_strbuf old = *r->text;
  *r->text = r->printed;
  r->printed = old;
  return true;
}

// All edits of one kind, in groups that get smaller. True if one of them could be made.
static bool sweep(reducer *r, tvms_reduce_kind kind) {
  bool any = false;
  r->kind = kind;
  r->sites = 0;
  (void)try_edits(r, UINT32_MAX / 2, 0);  // counts them
  // Variants of one edit exclude each other, so only removals go together.
  bool together = kind == TVMS_REDUCE_REMOVE || kind == TVMS_REDUCE_ITEM;
  uint32_t count = together && r->sites > 1 ? r->sites / 2 : 1;
  for (;; count /= 2) {
    for (uint32_t from = 0; from < r->sites && !is_over(r);) {
      bool made = try_edits(r, from, count);
      any = any || made;
      if (!made) from += count;
    }
    if (count <= 1) return any;
  }
}

void tvms_reduce_program(tvms_strbuf *text, const tvms_reduce_options *options,
                         tvms_reduce_result *result) {
  *result = (tvms_reduce_result){0};
  reducer r = {.options = options,
               .result = result,
               .text = text,
               .deadline = time(NULL) + (time_t)options->seconds};
  tvms_strbuf_init(&r.edited, text->memory);
  tvms_strbuf_init(&r.printed, text->memory);
  bool any = true;
  while (any && !is_over(&r)) {
    any = false;
    for (int kind = 0; kind < TVMS_REDUCE_KIND_COUNT && !is_over(&r); kind++)
      any = sweep(&r, (tvms_reduce_kind)kind) || any;
  }
  result->finished = !is_over(&r);
  tvms_strbuf_fini(&r.edited);
  tvms_strbuf_fini(&r.printed);
}
