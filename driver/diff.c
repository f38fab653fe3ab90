// Comparing definition by definition, and telling each difference with both places.
#include "driver/diff.h"

#include "ir/equal.h"
#include "ir/global_symbol.h"
#include "ir/rewrite.h"
#include "printer/print.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_context *context;
  tvms_diff_visit *visit;
  void *self;
  const char *label;  // of the functions at hand, "Module.main"
  tvms_source *left;
  tvms_source *right;
  const tvms_unit *left_unit;
  const tvms_unit *right_unit;
  tvms_dialect dialect;
  // Where the functions at hand have their names: what has no place of its own, because the
  // text does not say it, is shown there.
  tvms_span left_name;
  tvms_span right_name;
  tvms_span last_left;  // places of the difference that was shown last
  tvms_span last_right;
  uint32_t found;
  uint32_t omitted;  // values that one of the texts leaves out
} diffing;

enum { LONGEST_TEXT = 100 };

static void show(diffing *d, const tvms_diff *difference) {
  d->found++;
  d->visit(d->self, difference);
}

// The blocks of a function of Relax have no text of their own: what they hold is counted.
static bool add_count(const tvms_node *node, tvms_strbuf *out) {
  if (node->kind == TVMS_NODE_SEQ_EXPR) {
    uint32_t count = tvms_as_seq_expr(node)->blocks.len;
    tvms_strbuf_printf(out, "%u block%s of bindings", count, tvms_diag_plural(count));
    return true;
  }
  if (node->kind != TVMS_NODE_BINDING_BLOCK) return false;
  uint32_t count = tvms_as_binding_block(node)->bindings.len;
  bool dataflow = node->flags & TVMS_FLAG_DATAFLOW;
  tvms_strbuf_printf(out, "%u binding%s %s", count, tvms_diag_plural(count),
                     dataflow ? "in a dataflow block" : "outside of dataflow blocks");
  return true;
}

// One line of the text of a node.
static void add_text(diffing *d, const tvms_unit *unit, const tvms_node *node,
                     tvms_strbuf *out) {
  if (add_count(node, out)) return;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &d->context->memory);
  tvms_print_node(d->context, unit, node, d->dialect, &text);
  size_t len = text.len;
  const char *stop = len ? memchr(text.text, '\n', len) : NULL;
  if (stop) len = (size_t)(stop - text.text);
  bool cut = stop || len > LONGEST_TEXT;
  tvms_strbuf_add(out, text.text, len > LONGEST_TEXT ? LONGEST_TEXT : len);
  if (cut) tvms_strbuf_puts(out, " ...");
  tvms_strbuf_fini(&text);
}

// A block is where its first binding is.
static tvms_span span_of(const tvms_node *TVMS_NULLABLE node) {
  if (!node) return (tvms_span){0, 0};
  if (node->kind == TVMS_NODE_SEQ_EXPR && tvms_as_seq_expr(node)->blocks.len)
    node = tvms_as_seq_expr(node)->blocks.items[0];
  if (node->kind == TVMS_NODE_BINDING_BLOCK
      && tvms_as_binding_block(node)->bindings.len)
    node = tvms_as_binding_block(node)->bindings.items[0];
  return node->span;
}

static tvms_span place_of(const tvms_node *TVMS_NULLABLE node, tvms_span name) {
  tvms_span span = span_of(node);
  return node && !span.end ? name : span;
}

static bool same_span(tvms_span a, tvms_span b) {
  return a.end && a.begin == b.begin && a.end == b.end;
}

// One place of the text may stand in several places of the IR: it is shown once.
static void show_difference(void *self, const tvms_node *a, const tvms_node *b,
                            const char *what) {
  diffing *d = self;
  tvms_span left = span_of(a), right = span_of(b);
  if (same_span(left, d->last_left) && same_span(right, d->last_right)) return;
  d->last_left = left;
  d->last_right = right;
  tvms_strbuf left_text, right_text;
  tvms_strbuf_init(&left_text, &d->context->memory);
  tvms_strbuf_init(&right_text, &d->context->memory);
  bool block = a && a->kind == TVMS_NODE_BINDING_BLOCK && strcmp(what, "flags") == 0;
  if (block) what = "the kind of a block";
  if (a) add_text(d, d->left_unit, a, &left_text);
  if (b) add_text(d, d->right_unit, b, &right_text);
  tvms_diff difference = {
      .kind = TVMS_DIFF_CHANGED,
      .label = d->label,
      .what = what,
      .left = {d->left, place_of(a, d->left_name),
               a ? tvms_strbuf_text(&left_text) : NULL, 0},
      .right = {d->right, place_of(b, d->right_name),
                b ? tvms_strbuf_text(&right_text) : NULL, 0},
  };
  show(d, &difference);
  tvms_strbuf_fini(&left_text);
  tvms_strbuf_fini(&right_text);
}

// A function that one program has and the other has not.
static void show_missing(diffing *d, const tvms_member *left,
                         const tvms_member *right) {
  const tvms_member *only = left ? left : right;
  const char *name = tvms_symbol_text(d->context, only->name);
  tvms_diff difference = {.kind = TVMS_DIFF_MISSING, .label = name};
  difference.left.source = d->left;
  difference.right.source = d->right;
  tvms_diff_part *part = left ? &difference.left : &difference.right;
  part->span = only->name_span;
  part->text = name;
  show(d, &difference);
}

// The side of a symbol: it is at its attribute, or at the name of the function.
static tvms_diff_part symbol_part(const diffing *d, const tvms_member *member,
                                  tvms_source *source) {
  const tvms_node *attr = tvms_global_symbol_attr(member->function);
  return (tvms_diff_part){.source = source,
                          .span = attr ? attr->span : member->name_span,
                          .text = tvms_global_symbol_of(d->context, member)};
}

// Symbols are compared by what they are, whether they are written down or implied. Where
// only one function has one, the flag that makes the other private is the difference.
static void diff_symbols(diffing *d, const tvms_member *left,
                         const tvms_member *right) {
  tvms_diff difference = {.kind = TVMS_DIFF_CHANGED,
                          .label = d->label,
                          .what = "global_symbol",
                          .left = symbol_part(d, left, d->left),
                          .right = symbol_part(d, right, d->right)};
  const char *a = difference.left.text, *b = difference.right.text;
  if (a && b && strcmp(a, b) != 0) show(d, &difference);
}

// The function, or a copy of it, without the symbol.
static const tvms_node *without_symbol(const tvms_member *member) {
  if (!tvms_global_symbol_attr(member->function)) return member->function;
  tvms_node *copy = tvms_node_copy(member->unit, member->function);
  tvms_node **attrs = copy->kind == TVMS_NODE_FUNCTION
                          ? &tvms_as_function(copy)->attrs
                          : &tvms_as_prim_func(copy)->attrs;
  *attrs = tvms_global_symbol_drop(member->unit, *attrs);
  return copy;
}

static void diff_member(diffing *d, const tvms_member *left, const tvms_member *right) {
  d->left_unit = left->unit;
  d->right_unit = right->unit;
  d->label = tvms_symbol_text(d->context, left->name);
  d->left_name = left->name_span;
  d->right_name = right->name_span;
  if (left->function && right->function) {
    diff_symbols(d, left, right);
    tvms_equal_options options = {
        .map_free = true, .omitted = &d->omitted, .report = show_difference, .self = d};
    (void)tvms_node_equal_with(d->context, without_symbol(left), without_symbol(right),
                               &options);
  } else if (left->function || right->function) {
    show_missing(d, left->function ? left : NULL, left->function ? NULL : right);
  }
}

static void diff_modules(diffing *d, const tvms_module *left,
                         const tvms_module *right) {
  for (uint32_t i = 0; i < left->member_count; i++) {
    const tvms_member *member = &left->members[i];
    const tvms_member *other = left->bare && right->bare && right->member_count
                                   ? &right->members[0]
                                   : tvms_module_find(right, member->name);
    if (other)
      diff_member(d, member, other);
    else
      show_missing(d, member, NULL);
  }
  for (uint32_t i = 0; i < right->member_count && !(left->bare && right->bare); i++) {
    const tvms_member *member = &right->members[i];
    if (!tvms_module_find(left, member->name)) show_missing(d, NULL, member);
  }
}

static void diff_programs(diffing *d, const tvms_program *left,
                          const tvms_program *right) {
  uint32_t common = left->count < right->count ? left->count : right->count;
  for (uint32_t i = 0; i < common; i++) {
    diff_modules(d, left->modules[i], right->modules[i]);
  }
  if (left->count == right->count) return;
  tvms_diff difference = {
      .kind = TVMS_DIFF_COUNT,
      .left = {.source = d->left, .count = left->count},
      .right = {.source = d->right, .count = right->count},
  };
  show(d, &difference);
}

// Says where the first of the values stands that were not compared.
static void warn_omitted(const diffing *d, tvms_diff_side left, tvms_diff_side right) {
  if (!d->omitted) return;
  tvms_diags *diags = &d->context->diags;
  tvms_source *current = diags->source;
  tvms_diff_side side = left.program->omitted ? left : right;
  diags->source = side.source;
  tvms_diag_report(diags, TVMS_D_omitted_not_compared, side.program->omitted_at,
                   d->omitted, d->omitted == 1 ? " is" : "s are");
  diags->source = current;
}

uint32_t tvms_diff_programs(tvms_diff_side left, tvms_diff_side right,
                            tvms_dialect dialect, tvms_diff_visit *visit, void *self) {
  diffing d = {
      .context = left.program->context,
      .visit = visit,
      .self = self,
      .left = left.source,
      .right = right.source,
      .dialect = dialect,
  };
  diff_programs(&d, left.program, right.program);
  warn_omitted(&d, left, right);
  return d.found;
}

// ---- For people ----

static void write_part(tvms_strbuf *out, char sign, const tvms_diff_part *part) {
  tvms_strbuf_printf(out, "  %c %s", sign, part->source->name);
  if (part->span.end) {
    tvms_place place = tvms_source_place(out->memory, part->source, part->span.begin);
    tvms_strbuf_printf(out, ":%u:%u", place.line, place.column);
  }
  tvms_strbuf_printf(out, ": %s\n", part->text ? part->text : "nothing here");
}

void tvms_diff_write_text(void *self, const tvms_diff *d) {
  tvms_strbuf *out = self;
  switch (d->kind) {
  case TVMS_DIFF_CHANGED:
    tvms_strbuf_printf(out, "%s: %s differs\n", d->label, d->what);
    write_part(out, '-', &d->left);
    write_part(out, '+', &d->right);
    break;
  case TVMS_DIFF_MISSING:
    tvms_strbuf_printf(out, "%s is only in %s\n", d->label,
                       (d->left.text ? d->left : d->right).source->name);
    if (d->left.text)
      write_part(out, '-', &d->left);
    else
      write_part(out, '+', &d->right);
    break;
  case TVMS_DIFF_COUNT:
    tvms_strbuf_printf(out, "%s has %u definitions, %s has %u\n", d->left.source->name,
                       d->left.count, d->right.source->name, d->right.count);
    break;
  }
}

// ---- As findings ----

// Says what a program has, at its place if there is one.
static void note_part(tvms_diags *diags, tvms_diag *diag, const tvms_diff_part *part) {
  const char *text = part->text ? part->text : "nothing";
  if (part->span.end)
    tvms_diag_note_in(diags, diag, part->source, part->span, "%s", text);
  else
    tvms_diag_remark(diags, diag, "%s: %s", part->source->name, text);
}

void tvms_diff_report(void *self, const tvms_diff *d) {
  tvms_context *context = self;
  tvms_diags *diags = &context->diags;
  tvms_source *current = diags->source;
  bool right_only = !d->left.span.end && d->right.span.end;
  const tvms_diff_part *at = right_only ? &d->right : &d->left;
  diags->source = at->source;
  switch (d->kind) {
  case TVMS_DIFF_CHANGED: {
    tvms_diag *diag =
        tvms_diag_report(diags, TVMS_D_differs, at->span, d->label, d->what);
    note_part(diags, diag, &d->left);
    note_part(diags, diag, &d->right);
    break;
  }
  case TVMS_DIFF_MISSING:
    tvms_diag_report(diags, TVMS_D_only_in_one, at->span, d->label, at->source->name);
    break;
  case TVMS_DIFF_COUNT:
    tvms_diag_report(diags, TVMS_D_definition_count, at->span, d->left.source->name,
                     d->left.count, d->right.source->name, d->right.count);
    break;
  }
  diags->source = current;
}
