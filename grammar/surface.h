// The surface tree: the Python subset as it was written, without meaning.
//
// Nodes live in one flat array and refer to each other by index; 0 means "none". Every
// byte of a node counts for the speed of everything else, so a node has 28 of them, and
// what is long (text of literals) stays in the source. surface.def says what a, b, c and
// op hold for each kind.
#ifndef TVMS_GRAMMAR_SURFACE_H
#define TVMS_GRAMMAR_SURFACE_H

#include "support/context.h"

typedef uint32_t tvms_ref;  // index into tvms_surface.nodes; 0: none

typedef enum {
  TVMS_SURF_INVALID,
#define SURF(KIND, name, class, refs, holds) TVMS_SURF_##KIND,
#include "grammar/surface.def"
} tvms_surf_kind;

// Operators of UNARY, BINARY, BOOL, COMPARED, AUG_ASSIGN, kinds of PARAM and TYPE_PARAM.
typedef enum {
  TVMS_OP_NONE,
#define OPERATOR(KIND, spelling) TVMS_OP_##KIND,
#include "grammar/operators.def"
  // kinds of parameters
  TVMS_OP_PARAM,         // x
  TVMS_OP_SLASH,         // bare /
  TVMS_OP_STAR,          // *args, or bare * with name 0
  TVMS_OP_KEYWORD_ONLY,  // x after * or *args
  TVMS_OP_DOUBLE_STAR,   // **kwargs
} tvms_surf_op;

enum {
  TVMS_SURF_PAREN = 1,  // TUPLE, WITH: in parentheses
  TVMS_SURF_ELIF = 2,   // IF: written as elif
  TVMS_SURF_STEP = 4,   // SLICE: second colon written
  TVMS_SURF_COMMA = 8,  // trailing comma before the closing bracket
  TVMS_SURF_DECODED =
      16,  // a literal inside a string with escapes; c: its text, interned
};

typedef struct {
  uint8_t kind;  // tvms_surf_kind
  uint8_t op;    // tvms_surf_op
  uint8_t flags;
  uint8_t parens;  // redundant parentheses around the expression, at most 255
  uint32_t begin;  // bytes of the node without its redundant parentheses
  uint32_t end;
  uint32_t a;
  uint32_t b;
  uint32_t c;
  tvms_ref next;  // next of the list the node is in
} tvms_surf;

// A comment. Lines that hold only white space are counted, not kept.
typedef struct {
  uint32_t begin;  // at the '#'
  uint32_t end;
  tvms_ref owner;  // set by tvms_surface_own_comments
  bool own_line;
} tvms_comment;

typedef struct {
  tvms_context *context;
  tvms_source *source;
  tvms_surf *nodes;  // [0] is unused
  uint32_t count;
  uint32_t cap;
  tvms_ref body;           // statements of the file
  tvms_comment *comments;  // in order of place
  uint32_t comment_count;
  uint32_t comment_cap;
  TVMS_VEC(tvms_span)
  refused;  // statements with a mistake, as they were read: mended or given up
} tvms_surface;

// Parses a source. Syntax errors are reported in `context->diags`, all of them in one
// run; the tree then has ERROR nodes and is safe to walk. The tree is owned by
// context->memory until tvms_surface_fini.
void tvms_surface_parse(tvms_surface *surface, tvms_context *context,
                        tvms_source *source);

// Gives every comment its owner: the statement that follows an own-line comment in its
// body, or the one whose line it ends; 0 at the end of a file or of a body. In the order
// of the text, once; parsing leaves it undone because few need it.
void tvms_surface_own_comments(tvms_surface *surface);

// Frees nodes and comments; the surface is empty then. References into it die.
void tvms_surface_fini(tvms_surface *surface);

enum { TVMS_SURF_IN_A = 1, TVMS_SURF_IN_B = 2, TVMS_SURF_IN_C = 4 };

// Which of a, b and c of a node of this kind refer to other nodes: a set of TVMS_SURF_IN_*.
uint8_t tvms_surface_refs(tvms_surf_kind kind);

// A statement in words, for messages: "'for'", "an assignment". Static.
const char *tvms_surface_describe(const tvms_surf *stmt);

static inline const tvms_surf *tvms_surface_at(const tvms_surface *surface,
                                               tvms_ref ref) {
  return &surface->nodes[ref];
}
static inline tvms_span tvms_surface_span(const tvms_surface *surface, tvms_ref ref) {
  return (tvms_span){surface->nodes[ref].begin, surface->nodes[ref].end};
}
static inline uint32_t tvms_surface_count(const tvms_surface *surface, tvms_ref list) {
  uint32_t count = 0;
  for (; list; list = surface->nodes[list].next) {
    count++;
  }
  return count;
}

#define tvms_surface_each(surface, ref, list)                                          \
  for (tvms_ref ref = (list); ref; ref = tvms_surface_at((surface), ref)->next)

// Parts of a DEF or CLASS in one place. Lists as in surface.def.
typedef struct {
  tvms_sym name;
  tvms_span name_span;
  tvms_ref decorators;
  tvms_ref type_params;
  tvms_ref params;  // PARAM list of a def, arguments of a class
  tvms_ref returns;
  tvms_ref body;
} tvms_surf_definition;

// The parts of a DEF or a CLASS.
tvms_surf_definition tvms_surface_define(const tvms_surface *surface, tvms_ref ref);

// The lists of statements below a statement: none, one, or two with an `else`; 0 for those
// that it has not.
void tvms_surface_bodies(const tvms_surface *surface, tvms_ref stmt,
                         tvms_ref bodies[2]);

// Decoded text of a STRING or STRINGS node, taken from `arena`. `is_bytes` tells b"".
// Escapes are Python's; a bad or unsupported one has been reported by the lexer.
// f-strings are not decoded: see tvms_surface_is_fstring.
typedef struct {
  const char *text;
  size_t len;
  bool is_bytes;
} tvms_surf_text;

// A string, in one piece or several.
static inline bool tvms_surface_is_string(const tvms_surface *surface, tvms_ref ref) {
  tvms_surf_kind kind = (tvms_surf_kind)surface->nodes[ref].kind;
  return kind == TVMS_SURF_STRING || kind == TVMS_SURF_STRINGS;
}

// An operator as it is written: "+", "not in". "?" for what is not one.
const char *tvms_surface_operator_text(tvms_surf_op op);

#endif
