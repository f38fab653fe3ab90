// What the actions of tvmscript.y work on: semantic values, nodes and lists of them.
//
// The actions themselves are in build_expr.h and build_stmt.h, inline because the parser's
// speed is theirs. Whatever is long or rare (checks that fail, statements that few files have)
// stands in build.c. Semantic values carry the bytes they span, redundant parentheses
// included; a node's own span leaves those out.
#ifndef TVMS_GRAMMAR_BUILD_H
#define TVMS_GRAMMAR_BUILD_H

#include "grammar/surface.h"

typedef struct {
  union {
    struct {
      uint32_t begin;
      uint32_t end;
    };
    uint64_t both;  // see tvms_token
  };
  uint32_t value;  // symbol of a NAME, operator, kind of literal; see tokens.def
} surf_token;

typedef struct {
  uint32_t begin;
  uint32_t end;
  tvms_ref ref;
} surf_expr;

// A chain of nodes; its end is known so that adding one is a single store.
typedef struct {
  tvms_ref first;
  tvms_ref last;
  uint32_t begin;
  uint32_t end : 31;
  uint32_t comma : 1;  // a comma stands behind the last one
} surf_list;

// An if statement and its elifs so far.
typedef struct {
  tvms_ref first;
  tvms_ref last;
} surf_chain;

typedef struct {
  tvms_surface *surface;
  tvms_context *context;
  bool failed;       // set by the parser: the token just given does not fit
  tvms_ref grouped;  // tuple after `with` that holds an `as`; a WITH must take it
  tvms_ref nested;   // result of an expression in a string
} surf_build;

static const surf_token surf_no_token = {.both = 0, .value = 0};
static const surf_expr surf_none = {0, 0, 0};
static const surf_list surf_no_list = {0, 0, 0, 0, 0};

// Slow path of surf_node: doubles the array of nodes. Pointers to nodes die. Failure, and
// more nodes than a reference can count, unwind.
void tvms_surface_grow(tvms_surface *surface);

// What an expression is used as, when tvms_surface_check_target must refuse it.
typedef enum {
  SURF_TARGET_ASSIGN,
  SURF_TARGET_SINGLE,
  SURF_TARGET_DELETE
} surf_target_use;

// Reports what is not a target of this use (a call, a literal) below `ref`, and makes it BAD.
// Tuples and lists are targets if all of their items are (reference, 7.2).
void tvms_surface_check_target(surf_build *build, tvms_ref ref, surf_target_use use);

// Reports an expression that needs parentheses where it stands, with a fix.
void tvms_surface_report_loose(surf_build *build, tvms_ref ref);

// Reports a positional argument behind keyword arguments.
void tvms_surface_report_late_argument(surf_build *build, surf_expr argument);

// Reports a string that stands beside `strings` where one is of bytes and the other is not.
void tvms_surface_check_pieces(surf_build *build, tvms_ref strings, tvms_ref piece);

// Makes the parameters behind '*' keyword-only ones, and reports the first of the list from
// `first` on that Python does not take where it stands (reference, 8.7).
void tvms_surface_check_params(surf_build *build, tvms_ref first);

// A WITH. Items in parentheses have been parsed as a tuple, which is taken apart; an `as` in
// parentheses that are not around all items is reported.
tvms_ref tvms_surface_make_with(surf_build *build, surf_token keyword, surf_list items,
                                surf_list body);

// The dotted name of an import as one symbol, without the white space that may stand in it.
tvms_sym tvms_surface_make_dotted(surf_build *build, surf_expr name);

/* Nodes and lists */

static inline tvms_ref surf_node(surf_build *build, tvms_surf_kind kind, uint32_t op,
                                 uint32_t begin, uint32_t end, uint32_t a, uint32_t b,
                                 uint32_t c) {
  tvms_surface *surface = build->surface;
  if (__builtin_expect(surface->count == surface->cap, 0)) tvms_surface_grow(surface);
  tvms_ref ref = surface->count++;
  // Tokens that a repair made change places may end in front of where others begin.
  surface->nodes[ref] = (tvms_surf){
      .kind = (uint8_t)kind,
      .op = (uint8_t)op,
      .begin = begin < end ? begin : end,
      .end = begin < end ? end : begin,
      .a = a,
      .b = b,
      .c = c,
  };
  return ref;
}

static inline tvms_surf *surf_at(surf_build *build, tvms_ref ref) {
  return &build->surface->nodes[ref];
}

static inline surf_expr surf_make(surf_build *build, tvms_surf_kind kind, uint32_t op,
                                  uint32_t begin, uint32_t end, uint32_t a, uint32_t b,
                                  uint32_t c) {
  return (surf_expr){begin, end, surf_node(build, kind, op, begin, end, a, b, c)};
}

static inline surf_list surf_list_of(surf_build *build, surf_expr item) {
  (void)build;
  return (surf_list){item.ref, item.ref, item.begin, item.end & 0x7fffffffu, 0};
}

static inline surf_list surf_add(surf_build *build, surf_list list, surf_expr item) {
  surf_at(build, list.last)->next = item.ref;
  list.last = item.ref;
  list.end = item.end & 0x7fffffffu;
  list.comma = 0;
  return list;
}

static inline surf_list surf_one(surf_build *build, tvms_ref ref) {
  const tvms_surf *node = surf_at(build, ref);
  return (surf_list){ref, ref, node->begin, node->end & 0x7fffffffu, 0};
}

static inline surf_list surf_join(surf_build *build, surf_list list, surf_list more) {
  surf_at(build, list.last)->next = more.first;
  more.first = list.first;
  more.begin = list.begin;
  return more;
}

static inline surf_list surf_append(surf_build *build, surf_list list, tvms_ref ref) {
  return surf_join(build, list, surf_one(build, ref));
}

static inline surf_list surf_with_comma(surf_list list) {
  list.comma = 1;
  return list;
}

static inline surf_list surf_ended(surf_list list, surf_token shut) {
  list.end = shut.end & 0x7fffffffu;
  return list;
}

static inline uint8_t surf_comma_flag(surf_list list) {
  return list.comma ? TVMS_SURF_COMMA : 0;
}

static inline surf_list surf_series(surf_build *build, surf_expr item,
                                    surf_token comma) {
  return surf_ended(surf_list_of(build, item), comma);
}

static inline surf_list surf_series_more(surf_build *build, surf_list list,
                                         surf_expr item, surf_token comma) {
  return surf_ended(surf_add(build, list, item), comma);
}

#endif
