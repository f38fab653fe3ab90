// The proof of the formatter: what was written says the same and is final.
//
// The text is proved in pieces of a few top-level statements, each of which overlaps the one
// before it, so that a long file takes little memory: a piece is parsed again, its tree and its
// comments are compared with those of the source, and it is formatted again against the text
// itself. Trees may differ in what the formatter is free to change, and in nothing else:
// redundant parentheses, trailing commas, the spelling of numbers and strings.
#include "format/check.h"

#include "format/file.h"
#include "format/pyfunc.h"
#include "grammar/literal_values.h"
#include "support/diag_ids.h"
#include "support/trial.h"

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
  if (same_bytes(c, tvms_surface_at(c->a, a), tvms_surface_at(c->b, b))) return true;
  tvms_arena *scratch = &c->a->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  tvms_surf_text x = tvms_surface_string(c->a, a, scratch);
  tvms_surf_text y = tvms_surface_string(c->b, b, scratch);
  bool same = x.is_bytes == y.is_bytes && x.len == y.len
              && memcmp(x.text, y.text, x.len) == 0
              && tvms_surface_is_fstring(c->a, a) == tvms_surface_is_fstring(c->b, b);
  tvms_arena_reset(scratch, mark);
  return same;
}

// Compares two nodes without what hangs on them.
static bool same_node(comparing *c, tvms_ref x, tvms_ref y) {
  const tvms_surf *a = tvms_surface_at(c->a, x), *b = tvms_surface_at(c->b, y);
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
    return !tvms_surface_at(c->a, a->a)->parens == !tvms_surface_at(c->b, b->a)->parens;
  default: return true;
  }
}

static bool push_fields(comparing *c, tvms_ref x, tvms_ref y) {
  const tvms_surf *a = tvms_surface_at(c->a, x), *b = tvms_surface_at(c->b, y);
  holds fields[3];
  fields_of((tvms_surf_kind)a->kind, fields);
  const uint32_t in_a[3] = {a->a, a->b, a->c}, in_b[3] = {b->a, b->b, b->c};
  for (int i = 0; i < 3; i++) {
    if (fields[i] == HOLDS_NAME && in_a[i] != in_b[i]) return false;
    if (fields[i] != HOLDS_NODES) continue;
    if (!in_a[i] != !in_b[i]) return false;
    if (in_a[i]) tvms_vec_push(c->memory, &c->todo, ((pair){in_a[i], in_b[i]}));
  }
  return true;
}

// Compares two lists, the first one up to `stop`; what hangs on their nodes is put off.
static bool same_list(comparing *c, tvms_ref x, tvms_ref stop, tvms_ref y) {
  for (; x != stop && y;
       x = tvms_surface_at(c->a, x)->next, y = tvms_surface_at(c->b, y)->next) {
    c->where = tvms_surface_span(c->a, x);
    if (!same_node(c, x, y) || !push_fields(c, x, y)) return false;
  }
  return x == stop && !y;
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

static bool same_comments(comparing *c, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++) {
    const tvms_comment *a = &c->a->comments[i];
    c->where = (tvms_span){a->begin, a->end};
    if (i - from >= c->b->comment_count) return false;
    const tvms_comment *b = &c->b->comments[i - from];
    const char *x = c->a->source->text + a->begin, *y = c->b->source->text + b->begin;
    uint32_t x_len = a->end - a->begin, y_len = b->end - b->begin;
    trim(&x, &x_len);
    trim(&y, &y_len);
    if (x_len != y_len || memcmp(x, y, x_len) != 0) return false;
  }
  return to - from == c->b->comment_count;
}

// Compares a piece of one surface with a list of statements of another that has no others
// and all comments of it.
static bool same_piece(const tvms_surface *a, const tvms_piece *piece,
                       const tvms_surface *b, tvms_ref list, tvms_span *where) {
  comparing c = {.a = a, .b = b, .memory = &a->context->memory};
  bool same = same_list(&c, piece->first, piece->stop, list);
  while (same && c.todo.len) {
    pair next = c.todo.items[--c.todo.len];
    same = same_list(&c, next.a, 0, next.b);
  }
  same = same && same_comments(&c, piece->comments, piece->comments_end);
  tvms_vec_fini(c.memory, &c.todo);
  *where = c.where;
  return same;
}

bool tvms_surface_same(const tvms_surface *a, const tvms_surface *b, tvms_span *where) {
  tvms_piece all = {.first = a->body, .comments_end = a->comment_count};
  return same_piece(a, &all, b, b->body, where);
}

/* The proof */

static tvms_span first_difference(const tvms_surface *surface, tvms_span span) {
  return span.end <= surface->source->size ? span : (tvms_span){0, 0};
}

static tvms_status refuse(const tvms_surface *surface, tvms_span where,
                          const char *what) {
  tvms_diag_report(&surface->context->diags, TVMS_D_format_changes,
                   first_difference(surface, where), what);
  return TVMS_INTERNAL;
}

// Parses the text; what it reports is dropped. Returns false if it has errors.
static bool reparse(tvms_surface *surface, tvms_context *context, tvms_source *source) {
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  tvms_surface_parse(surface, context, source);
  tvms_format_allow_pyfuncs(surface);
  bool fine = context->diags.errors == 0;
  tvms_trial_drop(&trial);
  return fine;
}

enum { PADDING = 16 };  // behind the text of a source

// A text to be parsed again; `bytes` get the padding that sources have.
static tvms_source padded(tvms_strbuf *bytes) {
  size_t size = bytes->len;
  tvms_strbuf_fill(bytes, '\0', PADDING);
  return (tvms_source){
      .name = "formatted text", .text = bytes->text, .size = (uint32_t)size};
}

// How often a text is formatted anew that formatting changes again: a comment that had to find
// another place may be laid out in another way there.
enum { MOST_ROUNDS = 4 };

// `moves`: not final, but otherwise right.
static tvms_status prove_piece(const tvms_surface *surface, tvms_format_options options,
                               const tvms_piece *piece, tvms_source *text,
                               bool *moves) {
  tvms_surface again;
  tvms_span where = {0, 0};
  tvms_status status = TVMS_OK;
  if (!reparse(&again, surface->context, text)) {
    status = refuse(surface, where, "its syntax");
  } else if (!same_piece(surface, piece, &again, again.body, &where)) {
    status = refuse(surface, where, "what it says");
  } else {
    // The blank lines before its first statement have been compared with the piece before.
    const char *begin = text->text;
    const char *end = begin + text->size;
    while (begin < end && (*begin == '\n' || *begin == '\r')) {
      begin++;
    }
    *moves = !tvms_format_is(&again, options, begin, (size_t)(end - begin));
  }
  tvms_surface_fini(&again);
  return status;
}

static tvms_status prove(const tvms_surface *surface, tvms_format_options options,
                         const tvms_strbuf *out, const tvms_pieces *pieces,
                         bool *moves) {
  tvms_status status = TVMS_OK;
  tvms_strbuf copy;
  tvms_strbuf_init(&copy, out->memory);
  *moves = false;
  for (uint32_t i = 0; i < pieces->len && status == TVMS_OK && !*moves; i++) {
    const tvms_piece *piece = &pieces->items[i];
    copy.len = 0;
    tvms_strbuf_add(&copy, out->text + piece->begin, piece->end - piece->begin);
    tvms_source text = padded(&copy);
    status = prove_piece(surface, options, piece, &text, moves);
  }
  tvms_strbuf_fini(&copy);
  return status;
}

// A text that came out as it went in says the same and is final without a proof.
static bool is_unchanged(const tvms_surface *surface, const tvms_strbuf *out,
                         size_t from) {
  const tvms_source *source = surface->source;
  return out->len - from == source->size
         && (!source->size
             || memcmp(out->text + from, source->text, source->size) == 0);
}

static tvms_status format_again(const tvms_surface *surface,
                                tvms_format_options options, uint32_t rounds,
                                tvms_strbuf *out, size_t from);

// Formats and proves, in `rounds` rounds at most.
static tvms_status format_proved(const tvms_surface *surface,
                                 tvms_format_options options, uint32_t rounds,
                                 tvms_strbuf *out) {
  size_t from = out->len;
  tvms_memory *memory = &surface->context->memory;
  tvms_status status = TVMS_FOUND_ERRORS;
  tvms_pieces pieces = {0};
  if (tvms_format_with(surface, options, out, &pieces)) {
    if (out->len - from > INT32_MAX) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
    bool moves = false;
    status = is_unchanged(surface, out, from)
                 ? TVMS_OK
                 : prove(surface, options, out, &pieces, &moves);
    if (moves) status = format_again(surface, options, rounds, out, from);
  } else {
    tvms_diag_report(&surface->context->diags, TVMS_D_too_deep, (tvms_span){0, 0},
                     memory->depth_limit);
  }
  tvms_vec_fini(memory, &pieces);
  if (status != TVMS_OK) out->len = from;
  return status;
}

// What was written behind `from` says the same as the surface, but is not final.
static tvms_status format_again(const tvms_surface *surface,
                                tvms_format_options options, uint32_t rounds,
                                tvms_strbuf *out, size_t from) {
  if (rounds == 1)
    return refuse(surface, (tvms_span){0, 0}, "its layout when it is formatted again");
  tvms_strbuf copy;
  tvms_strbuf_init(&copy, out->memory);
  tvms_strbuf_add(&copy, out->text + from, out->len - from);
  tvms_source source = padded(&copy);
  tvms_surface again;
  tvms_status status = TVMS_INTERNAL;
  out->len = from;
  if (reparse(&again, surface->context, &source))
    status = format_proved(&again, options, rounds - 1, out);
  tvms_surface_fini(&again);
  tvms_strbuf_fini(&copy);
  return status;
}

tvms_status tvms_format_checked(const tvms_surface *surface,
                                tvms_format_options options, tvms_strbuf *out) {
  if (surface->context->diags.errors) return TVMS_FOUND_ERRORS;
  tvms_strbuf_grow(out, surface->source->size + surface->source->size / 4 + 64);
  return format_proved(surface, options, MOST_ROUNDS, out);
}

/* Definitions */

enum { STEP = 4 };

// The definition that stands alone under the headers of put_levels; false if what was parsed
// is something else.
static bool find_alone(const tvms_surface *surface, uint32_t indent,
                       tvms_format_definition *found) {
  tvms_ref ref = surface->body;
  for (uint32_t column = 0; column < indent; column += STEP) {
    const tvms_surf *level = tvms_surface_at(surface, ref);
    if (level->kind != TVMS_SURF_IF || level->next || level->c) return false;
    ref = level->b;
  }
  const tvms_surf *node = tvms_surface_at(surface, ref);
  if (!ref || node->next || node->begin < indent) return false;
  *found = (tvms_format_definition){
      ref, {node->begin - indent, surface->source->size}, indent};
  return true;
}

// Headers under which a definition of this indentation may stand, one a level.
static void put_levels(uint32_t indent, const char *line_end, tvms_strbuf *out) {
  for (uint32_t column = 0; column < indent; column += STEP) {
    tvms_strbuf_fill(out, ' ', column);
    tvms_strbuf_puts(out, "if 1:");
    tvms_strbuf_puts(out, line_end);
  }
}

// What the definition has become stands behind `from`, with its last line end; if that is not
// final, it becomes what it is when it is formatted again.
static tvms_status prove_alone(const tvms_surface *surface, tvms_format_options options,
                               const tvms_format_definition *definition,
                               tvms_strbuf *out, size_t from, bool *moves) {
  tvms_strbuf copy;
  tvms_strbuf_init(&copy, &surface->context->memory);
  put_levels(definition->indent, tvms_format_line_end(surface->source), &copy);
  tvms_strbuf_add(&copy, out->text + from, out->len - from);
  tvms_source source = padded(&copy);
  tvms_surface again;
  tvms_format_definition found;
  tvms_span where = {0, 0};
  tvms_piece piece = tvms_format_piece_of(surface, definition);
  tvms_status status = TVMS_OK;
  if (!reparse(&again, surface->context, &source)
      || !find_alone(&again, definition->indent, &found)) {
    status = refuse(surface, where, "its syntax");
  } else if (!same_piece(surface, &piece, &again, found.statement, &where)) {
    status = refuse(surface, where, "what it says");
  } else if (!tvms_format_lone_is(&again, options, &found, out->text + from,
                                  out->len - from)) {
    out->len = from;
    *moves = tvms_format_lone(&again, options, &found, out);
    if (!*moves) status = refuse(surface, where, "its syntax");
  }
  tvms_surface_fini(&again);
  tvms_strbuf_fini(&copy);
  return status;
}

tvms_status tvms_format_checked_definition(const tvms_surface *surface,
                                           tvms_format_options options,
                                           const tvms_format_definition *definition,
                                           tvms_strbuf *out) {
  size_t from = out->len;
  tvms_memory *memory = &surface->context->memory;
  if (!tvms_format_lone(surface, options, definition, out)) {
    tvms_diag_report(&surface->context->diags, TVMS_D_too_deep, (tvms_span){0, 0},
                     memory->depth_limit);
    out->len = from;
    return TVMS_FOUND_ERRORS;
  }
  if (out->len - from > INT32_MAX) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  size_t last = out->len - strlen(tvms_format_line_end(surface->source));
  tvms_span lines = definition->lines;
  bool same =
      last - from == lines.end - lines.begin
      && memcmp(out->text + from, surface->source->text + lines.begin, last - from)
             == 0;
  tvms_status status = TVMS_OK;
  bool moves = !same;
  for (uint32_t round = 0; moves && status == TVMS_OK; round++) {
    moves = false;
    status = round == MOST_ROUNDS
                 ? refuse(surface, lines, "its layout when it is formatted again")
                 : prove_alone(surface, options, definition, out, from, &moves);
  }
  last = out->len - strlen(tvms_format_line_end(surface->source));
  out->len = status == TVMS_OK ? last : from;
  return status;
}
