// The proof of the formatter: what was written says the same and is final.
#include "printer/format_walk.h"

// Two surfaces side by side, and what is left to compare.
typedef struct {
  tvms_ref a;
  tvms_ref b;
} pair;

typedef struct {
  const tvms_surface *a;
  const tvms_surface *b;
  tvms_memory *memory;
  TVMS_VEC(pair) todo;
  tvms_span where;
} comparing;

// What the fields a, b, c of a kind hold. Fields of the builder count as nothing.
typedef enum { HOLDS_NOTHING, HOLDS_NAME, HOLDS_NODES } holds;

static void fields_of(tvms_surf_kind kind, holds fields[3]) {
  for (int i = 0; i < 3; i++) {
    fields[i] = HOLDS_NODES;
  }
  switch ((int)kind) {
  case TVMS_SURF_NAME: fields[0] = HOLDS_NAME; break;
  case TVMS_SURF_KEYWORD:
  case TVMS_SURF_DEF:
  case TVMS_SURF_CLASS:
  case TVMS_SURF_PARAM:
  case TVMS_SURF_TYPE_PARAM:
  case TVMS_SURF_IMPORT_FROM: fields[0] = HOLDS_NAME; break;
  case TVMS_SURF_ATTRIBUTE: fields[1] = HOLDS_NAME; break;
  case TVMS_SURF_ALIAS: fields[0] = fields[1] = HOLDS_NAME; break;
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_COMPARE:
  case TVMS_SURF_STRINGS: fields[2] = HOLDS_NOTHING; break;
  default: break;
  }
}

static bool same_number(const comparing *c, const tvms_surf *a, const tvms_surf *b) {
  if (a->end - a->begin != b->end - b->begin) return false;
  for (uint32_t i = 0; i < a->end - a->begin; i++) {
    char x = c->a->source->text[a->begin + i], y = c->b->source->text[b->begin + i];
    if (x != y && ((x | 0x20) != (y | 0x20) || (x | 0x20) < 'a')) return false;
  }
  return true;
}

static bool same_bytes(const comparing *c, const tvms_surf *a, const tvms_surf *b) {
  return a->end - a->begin == b->end - b->begin
         && memcmp(c->a->source->text + a->begin, c->b->source->text + b->begin,
                   a->end - a->begin)
                == 0;
}

static bool same_string(comparing *c, tvms_ref a, tvms_ref b) {
  if (same_bytes(c, tvms_surf_at(c->a, a), tvms_surf_at(c->b, b))) return true;
  tvms_arena *scratch = &c->a->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  tvms_surf_text x = tvms_surf_string(c->a, a, scratch);
  tvms_surf_text y = tvms_surf_string(c->b, b, scratch);
  bool same = x.is_bytes == y.is_bytes && x.len == y.len
              && memcmp(x.text, y.text, x.len) == 0
              && tvms_surf_is_fstring(c->a, a) == tvms_surf_is_fstring(c->b, b);
  tvms_arena_reset(scratch, mark);
  return same;
}

// Compares two nodes without what hangs on them.
static bool same_node(comparing *c, tvms_ref x, tvms_ref y) {
  const tvms_surf *a = tvms_surf_at(c->a, x), *b = tvms_surf_at(c->b, y);
  int meant = TVMS_SURF_ELIF;
  if (a->kind != b->kind || a->op != b->op
      || (a->flags & meant) != (b->flags & meant)) {
    return false;
  }
  switch ((int)a->kind) {
  case TVMS_SURF_INT:
  case TVMS_SURF_FLOAT:
  case TVMS_SURF_IMAGINARY: return same_number(c, a, b);
  case TVMS_SURF_STRING: return same_string(c, x, y);
  case TVMS_SURF_ANN_ASSIGN:
    // `(x): int` declares no local variable
    return !tvms_surf_at(c->a, a->a)->parens == !tvms_surf_at(c->b, b->a)->parens;
  default: return true;
  }
}

static bool push_fields(comparing *c, tvms_ref x, tvms_ref y) {
  const tvms_surf *a = tvms_surf_at(c->a, x), *b = tvms_surf_at(c->b, y);
  holds fields[3];
  fields_of((tvms_surf_kind)a->kind, fields);
  const uint32_t in_a[3] = {a->a, a->b, a->c}, in_b[3] = {b->a, b->b, b->c};
  for (int i = 0; i < 3; i++) {
    if (fields[i] == HOLDS_NAME && in_a[i] != in_b[i]) return false;
    if (fields[i] != HOLDS_NODES) continue;
    if (!in_a[i] != !in_b[i]) return false;
    if (in_a[i]) tvms_push(c->memory, &c->todo, ((pair){in_a[i], in_b[i]}));
  }
  return true;
}

// Compares two lists; what hangs on their nodes is put off.
static bool same_list(comparing *c, tvms_ref x, tvms_ref y) {
  for (; x && y; x = tvms_surf_at(c->a, x)->next, y = tvms_surf_at(c->b, y)->next) {
    c->where = tvms_surf_span(c->a, x);
    if (!same_node(c, x, y) || !push_fields(c, x, y)) return false;
  }
  return !x && !y;
}

static void trim(const char **text, uint32_t *len) {
  while (*len && **text == '#') {
    ++*text;
    --*len;
  }
  while (*len && strchr(" \t\f", **text)) {
    ++*text;
    --*len;
  }
  while (*len && strchr(" \t\f", (*text)[*len - 1])) {
    --*len;
  }
}

static bool same_comments(comparing *c) {
  for (uint32_t i = 0; i < c->a->comment_count; i++) {
    const tvms_comment *a = &c->a->comments[i];
    c->where = (tvms_span){a->begin, a->end};
    if (i >= c->b->comment_count) return false;
    const tvms_comment *b = &c->b->comments[i];
    const char *x = c->a->source->text + a->begin, *y = c->b->source->text + b->begin;
    uint32_t x_len = a->end - a->begin, y_len = b->end - b->begin;
    trim(&x, &x_len);
    trim(&y, &y_len);
    if (x_len != y_len || memcmp(x, y, x_len) != 0) return false;
  }
  return c->a->comment_count == c->b->comment_count;
}

bool tvms_surface_same(const tvms_surface *a, const tvms_surface *b, tvms_span *where) {
  comparing c = {.a = a, .b = b, .memory = &a->context->memory};
  bool same = same_list(&c, a->body, b->body);
  while (same && c.todo.len) {
    pair next = c.todo.items[--c.todo.len];
    same = same_list(&c, next.a, next.b);
  }
  same = same && same_comments(&c);
  tvms_vec_free(c.memory, &c.todo);
  *where = c.where;
  return same;
}

/* The proof */

static tvms_span first_difference(const tvms_surface *surface, tvms_span span) {
  return span.end <= surface->source->size ? span : (tvms_span){0, 0};
}

static tvms_status refuse(const tvms_surface *surface, tvms_span where,
                          const char *what) {
  tvms_report(&surface->context->diags, TVMS_D_format_changes,
              first_difference(surface, where), what);
  return TVMS_INTERNAL;
}

// Parses the text; what it reports is dropped. Returns false if it has errors.
static bool reparse(tvms_surface *surface, tvms_context *context,
                    const tvms_strbuf *text, size_t from) {
  tvms_diags kept = context->diags;
  tvms_diags_init(&context->diags, kept.arena);
  tvms_source *source = tvms_source_create(&context->memory, "formatted text",
                                           text->text + from, text->len - from);
  tvms_surface_parse(surface, context, source);
  bool fine = context->diags.errors == 0;
  context->diags = kept;
  return fine;
}

static tvms_status prove(const tvms_surface *surface, tvms_format_options options,
                         const tvms_strbuf *out, size_t from) {
  tvms_context *context = surface->context;
  tvms_surface again;
  tvms_span where = {0, 0};
  if (!reparse(&again, context, out, from)) return refuse(surface, where, "its syntax");
  tvms_status status = TVMS_OK;
  if (!tvms_surface_same(surface, &again, &where)) {
    status = refuse(surface, where, "what it says");
  } else {
    tvms_strbuf text;
    tvms_strbuf_init(&text, out->memory);
    tvms_strbuf_grow(&text, out->len - from + 1);
    tvms_format(&again, options, &text);
    bool same = text.len == out->len - from
                && memcmp(text.text, out->text + from, text.len) == 0;
    if (!same) status = refuse(surface, where, "its layout when it is formatted again");
    tvms_strbuf_fini(&text);
  }
  tvms_source *source = again.source;
  tvms_surface_fini(&again);
  tvms_source_destroy(out->memory, source);
  return status;
}

tvms_status tvms_format_checked(const tvms_surface *surface,
                                tvms_format_options options, tvms_strbuf *out) {
  size_t from = out->len;
  if (surface->context->diags.errors) return TVMS_FOUND_ERRORS;
  tvms_strbuf_grow(out, surface->source->size + surface->source->size / 4 + 64);
  tvms_status status = TVMS_FOUND_ERRORS;
  if (tvms_format_try(surface, options, out)) {
    status = prove(surface, options, out, from);
  } else {
    tvms_report(&surface->context->diags, TVMS_D_too_deep, (tvms_span){0, 0},
                surface->context->memory.depth_limit);
  }
  if (status != TVMS_OK) out->len = from;
  return status;
}
