// Comparing definition by definition, and writing each difference with both places.
#include "driver/diff.h"

#include "ir/equal.h"
#include "printer/print.h"

typedef struct {
  tvms_context *context;
  tvms_strbuf *out;
  const char *label;  // of the functions at hand, "Module.main"
  tvms_source *left;
  tvms_source *right;
  const tvms_unit *left_unit;
  const tvms_unit *right_unit;
  tvms_dialect dialect;
  tvms_span last_left;  // places of the difference that was shown last
  tvms_span last_right;
  uint32_t found;
} diffing;

enum { LONGEST_TEXT = 100 };

static void add_place(diffing *d, tvms_source *source,
                      const tvms_node *TVMS_NULLABLE node) {
  tvms_strbuf *out = d->out;
  tvms_strbuf_puts(out, source->name);
  if (!node || !node->span.end) return;
  tvms_place place = tvms_source_place(&d->context->memory, source, node->span.begin);
  tvms_strbuf_printf(out, ":%u:%u", place.line, place.column);
}

// One line of the text of a node.
static void add_text(diffing *d, const tvms_unit *unit, const tvms_node *node) {
  tvms_strbuf *out = d->out;
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

static void add_side(diffing *d, char sign, tvms_source *source, const tvms_unit *unit,
                     const tvms_node *TVMS_NULLABLE node) {
  tvms_strbuf *out = d->out;
  tvms_strbuf_printf(out, "  %c ", sign);
  add_place(d, source, node);
  tvms_strbuf_puts(out, ": ");
  if (node)
    add_text(d, unit, node);
  else
    tvms_strbuf_puts(out, "nothing here");
  tvms_strbuf_putc(out, '\n');
}

static tvms_span span_of(const tvms_node *TVMS_NULLABLE node) {
  return node ? node->span : (tvms_span){0, 0};
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
  d->found++;
  tvms_strbuf_printf(d->out, "%s: %s differs\n", d->label, what);
  add_side(d, '-', d->left, d->left_unit, a);
  add_side(d, '+', d->right, d->right_unit, b);
}

static void say_missing(diffing *d, const char *name, tvms_source *where) {
  tvms_strbuf_printf(d->out, "%s is only in %s\n", name, where->name);
  d->found++;
}

static void diff_member(diffing *d, const tvms_member *left, const tvms_member *right) {
  d->left_unit = left->unit;
  d->right_unit = right->unit;
  d->label = tvms_symbol_text(d->context, left->name);
  if (left->function && right->function) {
    tvms_equal_options options = {
        .map_free = true, .report = show_difference, .self = d};
    (void)tvms_node_equal_with(d->context, left->function, right->function, &options);
  } else if (left->function || right->function) {
    say_missing(d, d->label, left->function ? d->left : d->right);
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
      say_missing(d, tvms_symbol_text(d->context, member->name), d->left);
  }
  for (uint32_t i = 0; i < right->member_count && !(left->bare && right->bare); i++) {
    tvms_sym name = right->members[i].name;
    if (!tvms_module_find(left, name)) {
      say_missing(d, tvms_symbol_text(d->context, name), d->right);
    }
  }
}

static void diff_programs(diffing *d, const tvms_program *left,
                          const tvms_program *right) {
  uint32_t common = left->count < right->count ? left->count : right->count;
  for (uint32_t i = 0; i < common; i++) {
    diff_modules(d, left->modules[i], right->modules[i]);
  }
  if (left->count == right->count) return;
  tvms_strbuf_printf(d->out, "%s has %u definitions, %s has %u\n", d->left->name,
                     left->count, d->right->name, right->count);
  d->found++;
}

uint32_t tvms_diff_programs(tvms_diff_side left, tvms_diff_side right,
                            tvms_dialect dialect, tvms_strbuf *out) {
  diffing d = {
      .context = left.program->context,
      .out = out,
      .left = left.source,
      .right = right.source,
      .dialect = dialect,
  };
  diff_programs(&d, left.program, right.program);
  return d.found;
}
