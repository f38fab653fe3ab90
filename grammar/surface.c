// The surface tree from outside: parsing into it, its definitions, owners of comments.
//
// A comment on a line of its own belongs to the statement that follows it in its body, one
// behind text to the statement whose line it ends. Statements and comments are both in order
// of the text, so one walk over the bodies gives every comment its owner.
#include "grammar/surface.h"

#include "grammar/lost_indentation.h"
#include "grammar/parse.h"

#include <string.h>

void tvms_surface_fini(tvms_surface *surface) {
  tvms_memory_free(&surface->context->memory, surface->nodes);
  tvms_memory_free(&surface->context->memory, surface->comments);
  tvms_vec_fini(&surface->context->memory, &surface->refused);
  *surface = (tvms_surface){.context = surface->context};
}

tvms_surf_definition tvms_surface_define(const tvms_surface *surface, tvms_ref ref) {
  const tvms_surf *node = tvms_surface_at(surface, ref);
  const tvms_surf *head = tvms_surface_at(surface, node->b);
  const tvms_surf *more = tvms_surface_at(surface, head->c);  // [0] has no lists
  const tvms_name *name = tvms_interner_name(&surface->context->names, node->a);
  uint32_t begin = head->begin;
  return (tvms_surf_definition){
      .name = node->a,
      .name_span = {begin, begin + name->len},
      .decorators = more->a,
      .type_params = more->b,
      .params = head->a,
      .returns = head->b,
      .body = node->c,
  };
}

/* Owners of comments */

typedef struct {
  tvms_surface *surface;
  uint32_t next;  // first comment without a decision
} owning;

static void own_block(owning *own, tvms_ref list, uint32_t end);

static bool is_compound(tvms_surf_kind kind) {
  return kind == TVMS_SURF_DEF || kind == TVMS_SURF_CLASS || kind == TVMS_SURF_FOR
         || kind == TVMS_SURF_WHILE || kind == TVMS_SURF_IF || kind == TVMS_SURF_WITH
         || kind == TVMS_SURF_ERROR || kind == TVMS_SURF_UNSUPPORTED;
}

// Gives every comment before `end` to `owner`.
static void own_until(owning *own, uint32_t end, tvms_ref owner) {
  tvms_surface *surface = own->surface;
  while (own->next < surface->comment_count
         && surface->comments[own->next].begin < end) {
    surface->comments[own->next++].owner = owner;
  }
}

// True if only white space, ';' or a bracket stands between the bytes.
static bool same_line(const tvms_surface *surface, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++) {
    if (surface->source->text[i] == '\n' || surface->source->text[i] == '\r')
      return false;
  }
  return true;
}

void tvms_surface_bodies(const tvms_surface *surface, tvms_ref stmt,
                         tvms_ref bodies[2]) {
  const tvms_surf *node = tvms_surface_at(surface, stmt), *suites = node;
  bodies[0] = bodies[1] = 0;
  if (!is_compound((tvms_surf_kind)node->kind)) return;
  switch ((int)node->kind) {
  case TVMS_SURF_FOR:
    suites = tvms_surface_at(surface, node->c);
    bodies[0] = suites->a;
    bodies[1] = suites->b;
    return;
  case TVMS_SURF_WHILE:
  case TVMS_SURF_IF:
    bodies[0] = node->b;
    bodies[1] = node->c;
    return;
  case TVMS_SURF_WITH: bodies[0] = node->b; return;
  case TVMS_SURF_ERROR:
  case TVMS_SURF_UNSUPPORTED: bodies[0] = node->a; return;
  default: bodies[0] = node->c; return;
  }
}

// The comments before a statement are its own, but for those that stand further right:
// they end the body before it.
static void own_before(owning *own, tvms_ref ref) {
  tvms_surface *surface = own->surface;
  uint32_t begin = tvms_surface_at(surface, ref)->begin;
  if (own->next == surface->comment_count
      || surface->comments[own->next].begin >= begin) {
    return;
  }
  uint32_t column = tvms_source_indent(surface->source, begin);
  while (own->next < surface->comment_count
         && surface->comments[own->next].begin < begin) {
    tvms_comment *comment = &surface->comments[own->next++];
    bool deeper = comment->own_line
                  && tvms_source_indent(surface->source, comment->begin) > column;
    comment->owner = deeper ? 0 : ref;
  }
}

static void own_statement(owning *own, tvms_ref ref, uint32_t limit) {
  const tvms_surface *surface = own->surface;
  const tvms_surf *node = tvms_surface_at(surface, ref);
  own_before(own, ref);
  tvms_ref bodies[2];
  tvms_surface_bodies(surface, ref, bodies);
  for (int i = 0; i < 2 && bodies[i]; i++) {
    // A comment at the end of the header's line belongs to the header.
    uint32_t first = tvms_surface_at(surface, bodies[i])->begin;
    while (own->next < surface->comment_count
           && surface->comments[own->next].begin < first
           && !surface->comments[own->next].own_line) {
      own->surface->comments[own->next++].owner = ref;
    }
    bool last = i == 1 || !bodies[1];
    own_block(own, bodies[i],
              last ? node->end : tvms_surface_at(surface, bodies[1])->begin);
  }
  own_until(own, node->end, ref);
  if (own->next < surface->comment_count) {
    const tvms_comment *comment = &surface->comments[own->next];
    bool behind = !comment->own_line && comment->begin < limit
                  && same_line(surface, node->end, comment->begin);
    if (behind) own->surface->comments[own->next++].owner = ref;
  }
}

static void own_block(owning *own, tvms_ref list, uint32_t end) {
  tvms_memory *memory = &own->surface->context->memory;
  if (tvms_memory_enter(memory)) {
    tvms_surface_each(own->surface, ref, list) {
      own_statement(own, ref, end + 1);
    }
  }
  tvms_memory_leave(memory);
}

// A carriage return alone ends a line, as in Python. It becomes a newline in the text that was
// read, so that nobody who looks for lines needs to know.
static void settle_lines(tvms_source *source) {
  char *at = (char *)(uintptr_t)source->text;
  const char *end = at + source->size;
  while ((at = memchr(at, '\r', (size_t)(end - at)))) {
    if (at[1] != '\n') *at = '\n';
    at++;
  }
}

void tvms_surface_parse(tvms_surface *surface, tvms_context *context,
                        tvms_source *source) {
  settle_lines(source);
  *surface = (tvms_surface){.context = context, .source = source};
  context->diags.source = source;
  tvms_surface_parse_file(surface);
  tvms_surface_mend_indentation(surface);
}

void tvms_surface_own_comments(tvms_surface *surface) {
  owning own = {.surface = surface};
  own_block(&own, surface->body, surface->source->size);
  own_until(&own, UINT32_MAX, 0);
}

uint8_t tvms_surface_refs(tvms_surf_kind kind) {
  enum { IN_NONE, IN_A = TVMS_SURF_IN_A, IN_B = TVMS_SURF_IN_B, IN_AB = IN_A | IN_B };
  enum { IN_BC = IN_B | TVMS_SURF_IN_C, IN_ABC = IN_A | IN_BC };
  static const uint8_t refs[] = {
      IN_NONE,
#define SURF(KIND, name, class, refs, holds) IN_##refs,
#include "grammar/surface.def"
  };
  return refs[kind];
}

/* Operators */

const char *tvms_surface_operator_text(tvms_surf_op op) {
  static const char *const texts[] = {
#define OPERATOR(KIND, spelling) [TVMS_OP_##KIND] = spelling,
#include "grammar/operators.def"
  };
  const char *text = op < sizeof texts / sizeof texts[0] ? texts[op] : NULL;
  return text ? text : "?";
}

const char *tvms_surface_describe(const tvms_surf *stmt) {
  switch ((int)stmt->kind) {
  case TVMS_SURF_ASSIGN:
  case TVMS_SURF_ANN_ASSIGN:
  case TVMS_SURF_AUG_ASSIGN: return "an assignment";
  case TVMS_SURF_EXPRESSION: return "an expression";
  case TVMS_SURF_RETURN: return "'return'";
  case TVMS_SURF_ASSERT: return "'assert'";
  case TVMS_SURF_BREAK: return "'break'";
  case TVMS_SURF_CONTINUE: return "'continue'";
  case TVMS_SURF_DELETE: return "'del'";
  case TVMS_SURF_GLOBAL: return "'global'";
  case TVMS_SURF_NONLOCAL: return "'nonlocal'";
  case TVMS_SURF_IMPORT:
  case TVMS_SURF_IMPORT_FROM: return "'import'";
  case TVMS_SURF_DEF: return "a function";
  case TVMS_SURF_CLASS: return "a class";
  case TVMS_SURF_FOR: return "'for'";
  case TVMS_SURF_WHILE: return "'while'";
  case TVMS_SURF_IF: return "'if'";
  case TVMS_SURF_WITH: return "'with'";
  default: return "this statement";
  }
}
