// The actions of tvmscript.y: each builds one node or extends one list.
//
// They are inline because the parser's speed is theirs. Whatever is long or rare (checks
// that fail, statements that few files have) stands in build.c. Semantic values carry the
// bytes they span, redundant parentheses included; a node's own span leaves those out.
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

/* Expressions that bind too loosely to stand somewhere without parentheses */

enum {
  SURF_LOOSE_WALRUS = 1,
  SURF_LOOSE_TEST = 2,  // lambda, conditional
  SURF_LOOSE_NOT = 4,
  SURF_LOOSE_OPERAND = SURF_LOOSE_WALRUS | SURF_LOOSE_TEST,
  SURF_LOOSE_ARITHMETIC = SURF_LOOSE_OPERAND | SURF_LOOSE_NOT,
};

static inline void surf_tight(surf_build *build, surf_expr expr, int refused) {
  const tvms_surf *node = surf_at(build, expr.ref);
  if (__builtin_expect(node->parens != 0, 0)) return;
  int loose = 0;
  if (node->kind == TVMS_SURF_WALRUS)
    loose = SURF_LOOSE_WALRUS;
  else if (node->kind == TVMS_SURF_IF_EXP)
    loose = SURF_LOOSE_TEST;
  else if (node->kind == TVMS_SURF_LAMBDA)
    loose = SURF_LOOSE_TEST;
  else if (node->kind == TVMS_SURF_UNARY && node->op == TVMS_OP_NOT)
    loose = SURF_LOOSE_NOT;
  if (__builtin_expect(loose & refused, 0)) tvms_surface_report_loose(build, expr.ref);
}

// Where no assignment expression may stand without parentheses. The expression may be none.
static inline void surf_no_walrus(surf_build *build, surf_expr expr) {
  if (expr.ref) surf_tight(build, expr, SURF_LOOSE_WALRUS);
}

/* Atoms */

static inline surf_expr surf_name(surf_build *build, surf_token name) {
  return surf_make(build, TVMS_SURF_NAME, 0, name.begin, name.end, name.value, 0, 0);
}
static inline surf_expr surf_literal(surf_build *build, surf_token token) {
  return surf_make(build, (tvms_surf_kind)token.value, 0, token.begin, token.end, 0, 0,
                   0);
}
static inline surf_expr surf_ellipsis(surf_build *build, surf_token token) {
  return surf_make(build, TVMS_SURF_ELLIPSIS, 0, token.begin, token.end, 0, 0, 0);
}
static inline surf_expr surf_bad(surf_build *build, surf_token token) {
  return surf_make(build, TVMS_SURF_BAD, 0, token.begin, token.end, 0, 0, 0);
}
static inline surf_expr surf_string(surf_build *build, surf_token token) {
  return surf_make(build, TVMS_SURF_STRING, 0, token.begin, token.end, 0, 0, 0);
}

// STRINGS keeps the last piece in c.
static inline surf_expr surf_strings(surf_build *build, surf_expr list,
                                     surf_token token) {
  surf_expr piece = surf_string(build, token);
  tvms_surface_check_pieces(build, list.ref, piece.ref);
  if (surf_at(build, list.ref)->kind == TVMS_SURF_STRING) {
    surf_at(build, list.ref)->next = piece.ref;
    return surf_make(build, TVMS_SURF_STRINGS, 0, list.begin, token.end, list.ref, 0,
                     piece.ref);
  }
  tvms_surf *strings = surf_at(build, list.ref);
  surf_at(build, strings->c)->next = piece.ref;
  strings->c = piece.ref;
  strings->end = token.end;
  list.end = token.end;
  return list;
}

static inline surf_expr surf_paren(surf_build *build, surf_token left, surf_expr expr,
                                   surf_token right) {
  tvms_surf *node = surf_at(build, expr.ref);
  if (node->parens < UINT8_MAX) node->parens++;
  return (surf_expr){left.begin, right.end, expr.ref};
}

static inline surf_expr surf_display(surf_build *build, tvms_surf_kind kind,
                                     surf_token left, surf_list list,
                                     surf_token right) {
  surf_expr made = surf_make(build, kind, 0, left.begin, right.end, list.first, 0, 0);
  surf_at(build, made.ref)->flags = surf_comma_flag(list);
  return made;
}

static inline surf_expr surf_tuple(surf_build *build, surf_token left, surf_list list,
                                   surf_token right) {
  surf_expr made = surf_display(build, TVMS_SURF_TUPLE, left, list, right);
  surf_at(build, made.ref)->flags |= TVMS_SURF_PAREN;
  return made;
}

static inline surf_expr surf_bare_tuple(surf_build *build, surf_list list) {
  surf_expr made =
      surf_make(build, TVMS_SURF_TUPLE, 0, list.begin, list.end, list.first, 0, 0);
  surf_at(build, made.ref)->flags = surf_comma_flag(list);
  return made;
}

static inline surf_expr surf_comp(surf_build *build, tvms_surf_kind kind,
                                  surf_token left, surf_expr item, surf_list comps,
                                  surf_token right) {
  surf_expr made =
      surf_make(build, kind, 0, left.begin, right.end, item.ref, comps.first, 0);
  if (kind == TVMS_SURF_GENERATOR) surf_at(build, made.ref)->flags = TVMS_SURF_PAREN;
  return made;
}

static inline surf_expr surf_star(surf_build *build, surf_token star, surf_expr value) {
  surf_tight(build, value, SURF_LOOSE_WALRUS);
  return surf_make(build, TVMS_SURF_STAR, 0, star.begin, value.end, value.ref, 0, 0);
}
static inline surf_expr surf_double_star(surf_build *build, surf_token star,
                                         surf_expr value) {
  surf_tight(build, value, SURF_LOOSE_WALRUS);
  return surf_make(build, TVMS_SURF_DOUBLE_STAR, 0, star.begin, value.end, value.ref, 0,
                   0);
}
static inline surf_expr surf_pair(surf_build *build, surf_expr key, surf_expr value) {
  surf_tight(build, key, SURF_LOOSE_WALRUS);
  surf_tight(build, value, SURF_LOOSE_WALRUS);
  return surf_make(build, TVMS_SURF_PAIR, 0, key.begin, value.end, key.ref, value.ref,
                   0);
}
static inline surf_expr surf_comp_for(surf_build *build, surf_token keyword,
                                      surf_expr target, surf_expr iterable) {
  surf_tight(build, iterable, SURF_LOOSE_OPERAND);
  tvms_surface_check_target(build, target.ref, SURF_TARGET_ASSIGN);
  return surf_make(build, TVMS_SURF_COMP_FOR, 0, keyword.begin, iterable.end,
                   target.ref, iterable.ref, 0);
}
static inline surf_expr surf_comp_if(surf_build *build, surf_token keyword,
                                     surf_expr condition) {
  surf_tight(build, condition, SURF_LOOSE_OPERAND);
  return surf_make(build, TVMS_SURF_COMP_IF, 0, keyword.begin, condition.end,
                   condition.ref, 0, 0);
}

/* Postfix */

static inline surf_expr surf_attribute(surf_build *build, surf_expr object,
                                       surf_token name) {
  return surf_make(build, TVMS_SURF_ATTRIBUTE, 0, object.begin, name.end, object.ref,
                   name.value, 0);
}
static inline surf_expr surf_call(surf_build *build, surf_expr callee, surf_list args,
                                  surf_token right) {
  surf_expr made = surf_make(build, TVMS_SURF_CALL, 0, callee.begin, right.end,
                             callee.ref, args.first, 0);
  surf_at(build, made.ref)->flags = surf_comma_flag(args);
  return made;
}
static inline surf_expr surf_call_comp(surf_build *build, surf_expr callee,
                                       surf_expr item, surf_list comps,
                                       surf_token right) {
  surf_expr generator = surf_make(build, TVMS_SURF_GENERATOR, 0, item.begin, comps.end,
                                  item.ref, comps.first, 0);
  return surf_call(build, callee, surf_list_of(build, generator), right);
}
static inline surf_expr surf_keyword(surf_build *build, surf_token name,
                                     surf_expr value) {
  surf_tight(build, value, SURF_LOOSE_WALRUS);
  return surf_make(build, TVMS_SURF_KEYWORD, 0, name.begin, value.end, name.value,
                   value.ref, 0);
}
static inline surf_list surf_argument(surf_build *build, surf_list args,
                                      surf_expr argument) {
  tvms_surf_kind last = (tvms_surf_kind)surf_at(build, args.last)->kind;
  if (last == TVMS_SURF_KEYWORD || last == TVMS_SURF_DOUBLE_STAR) {
    tvms_surface_report_late_argument(build, argument);
  }
  return surf_add(build, args, argument);
}
static inline surf_expr surf_subscript(surf_build *build, surf_expr object,
                                       surf_expr index, surf_token right) {
  return surf_make(build, TVMS_SURF_SUBSCRIPT, 0, object.begin, right.end, object.ref,
                   index.ref, 0);
}
static inline surf_expr surf_slice(surf_build *build, surf_expr lower, surf_token colon,
                                   surf_expr upper, surf_token second, surf_expr step) {
  surf_no_walrus(build, lower);
  surf_no_walrus(build, upper);
  surf_no_walrus(build, step);
  uint32_t end = step.ref     ? step.end
                 : second.end ? second.end
                 : upper.ref  ? upper.end
                              : colon.end;
  surf_expr made =
      surf_make(build, TVMS_SURF_SLICE, 0, lower.ref ? lower.begin : colon.begin, end,
                lower.ref, upper.ref, step.ref);
  if (second.end) surf_at(build, made.ref)->flags = TVMS_SURF_STEP;
  return made;
}

/* Operators */

static inline surf_expr surf_binary(surf_build *build, surf_expr left, surf_token op,
                                    surf_expr right) {
  surf_tight(build, right, SURF_LOOSE_ARITHMETIC);
  return surf_make(build, TVMS_SURF_BINARY, op.value, left.begin, right.end, left.ref,
                   right.ref, 0);
}
static inline surf_expr surf_bool(surf_build *build, surf_expr left, tvms_surf_op op,
                                  surf_expr right) {
  surf_tight(build, right, SURF_LOOSE_OPERAND);
  return surf_make(build, TVMS_SURF_BOOL, op, left.begin, right.end, left.ref,
                   right.ref, 0);
}
static inline surf_expr surf_unary(surf_build *build, surf_token token, tvms_surf_op op,
                                   surf_expr operand) {
  surf_tight(build, operand, SURF_LOOSE_ARITHMETIC);
  return surf_make(build, TVMS_SURF_UNARY, op, token.begin, operand.end, operand.ref, 0,
                   0);
}
static inline surf_expr surf_not(surf_build *build, surf_token token,
                                 surf_expr operand) {
  surf_tight(build, operand, SURF_LOOSE_OPERAND);
  return surf_make(build, TVMS_SURF_UNARY, TVMS_OP_NOT, token.begin, operand.end,
                   operand.ref, 0, 0);
}

// A chain `a < b <= c` is one COMPARE, which keeps its last COMPARED in c.
static inline surf_expr surf_compare(surf_build *build, surf_expr left, surf_token op,
                                     surf_expr right) {
  surf_tight(build, right, SURF_LOOSE_ARITHMETIC);
  tvms_ref compared = surf_node(build, TVMS_SURF_COMPARED, op.value, op.begin,
                                right.end, right.ref, 0, 0);
  tvms_surf *chain = surf_at(build, left.ref);
  if (chain->kind != TVMS_SURF_COMPARE || chain->parens) {
    return surf_make(build, TVMS_SURF_COMPARE, 0, left.begin, right.end, left.ref,
                     compared, compared);
  }
  surf_at(build, chain->c)->next = compared;
  chain->c = compared;
  chain->end = right.end;
  left.end = right.end;
  return left;
}

static inline surf_expr surf_if_exp(surf_build *build, surf_expr yes,
                                    surf_expr condition, surf_expr no) {
  surf_tight(build, condition, SURF_LOOSE_OPERAND);
  surf_tight(build, no, SURF_LOOSE_WALRUS);
  return surf_make(build, TVMS_SURF_IF_EXP, 0, yes.begin, no.end, yes.ref,
                   condition.ref, no.ref);
}
static inline surf_expr surf_lambda(surf_build *build, surf_token keyword,
                                    surf_list params, surf_expr body) {
  surf_tight(build, body, SURF_LOOSE_WALRUS);
  tvms_surface_check_params(build, params.first);
  surf_expr made = surf_make(build, TVMS_SURF_LAMBDA, 0, keyword.begin, body.end,
                             params.first, body.ref, 0);
  surf_at(build, made.ref)->flags = surf_comma_flag(params);
  return made;
}
static inline surf_expr surf_walrus(surf_build *build, surf_token name,
                                    surf_expr value) {
  surf_tight(build, value, SURF_LOOSE_WALRUS);
  surf_expr target = surf_name(build, name);
  return surf_make(build, TVMS_SURF_WALRUS, 0, name.begin, value.end, target.ref,
                   value.ref, 0);
}

/* Simple statements */

static inline void surf_target(surf_build *build, surf_expr target,
                               surf_target_use use) {
  if (surf_at(build, target.ref)->kind != TVMS_SURF_NAME) {
    tvms_surface_check_target(build, target.ref, use);
  }
}

static inline surf_expr surf_expression(surf_build *build, surf_expr value) {
  surf_tight(build, value, SURF_LOOSE_WALRUS);
  return surf_make(build, TVMS_SURF_EXPRESSION, 0, value.begin, value.end, value.ref, 0,
                   0);
}
static inline surf_list surf_target_list(surf_build *build, surf_list list,
                                         surf_expr target) {
  surf_target(build, target, SURF_TARGET_ASSIGN);
  return list.first ? surf_add(build, list, target) : surf_list_of(build, target);
}
static inline surf_expr surf_assign(surf_build *build, surf_list targets,
                                    surf_expr value) {
  surf_tight(build, value, SURF_LOOSE_WALRUS);
  return surf_make(build, TVMS_SURF_ASSIGN, 0, targets.begin, value.end, targets.first,
                   value.ref, 0);
}
static inline surf_expr surf_augment(surf_build *build, surf_expr target, surf_token op,
                                     surf_expr value) {
  surf_no_walrus(build, value);
  surf_target(build, target, SURF_TARGET_SINGLE);
  return surf_make(build, TVMS_SURF_AUG_ASSIGN, op.value, target.begin, value.end,
                   target.ref, value.ref, 0);
}
static inline surf_expr surf_annotate(surf_build *build, surf_expr target,
                                      surf_expr annotation, surf_expr value) {
  surf_target(build, target, SURF_TARGET_SINGLE);
  surf_tight(build, annotation, SURF_LOOSE_WALRUS);
  surf_no_walrus(build, value);
  return surf_make(build, TVMS_SURF_ANN_ASSIGN, 0, target.begin,
                   value.ref ? value.end : annotation.end, target.ref, annotation.ref,
                   value.ref);
}
static inline surf_expr surf_return(surf_build *build, surf_token keyword,
                                    surf_expr value) {
  surf_no_walrus(build, value);
  return surf_make(build, TVMS_SURF_RETURN, 0, keyword.begin,
                   value.ref ? value.end : keyword.end, value.ref, 0, 0);
}
static inline surf_expr surf_assert(surf_build *build, surf_token keyword,
                                    surf_expr condition, surf_expr message) {
  surf_no_walrus(build, condition);
  surf_no_walrus(build, message);
  return surf_make(build, TVMS_SURF_ASSERT, 0, keyword.begin,
                   message.ref ? message.end : condition.end, condition.ref,
                   message.ref, 0);
}
static inline surf_expr surf_word(surf_build *build, surf_token word) {
  return surf_make(build, (tvms_surf_kind)word.value, 0, word.begin, word.end, 0, 0, 0);
}
static inline surf_expr surf_delete(surf_build *build, surf_token keyword,
                                    surf_expr target) {
  surf_target(build, target, SURF_TARGET_DELETE);
  const tvms_surf *node = surf_at(build, target.ref);
  bool bare = node->kind == TVMS_SURF_TUPLE && !(node->flags & TVMS_SURF_PAREN);
  return surf_make(build, TVMS_SURF_DELETE, 0, keyword.begin, target.end,
                   bare ? node->a : target.ref, 0, 0);
}
static inline surf_expr surf_scope(surf_build *build, surf_token keyword,
                                   surf_list names) {
  return surf_make(build, (tvms_surf_kind)keyword.value, 0, keyword.begin, names.end,
                   names.first, 0, 0);
}

/* Imports */

static inline surf_expr surf_dotted(surf_build *build, surf_token name) {
  (void)build;
  return (surf_expr){name.begin, name.end, name.value};
}
static inline surf_expr surf_dotted_more(surf_build *build, surf_expr dotted,
                                         surf_token name) {
  (void)build;
  return (surf_expr){dotted.begin, name.end, 0};  // named once it is whole
}
static inline tvms_sym surf_dotted_name(surf_build *build, surf_expr dotted) {
  return dotted.ref || !dotted.end ? dotted.ref
                                   : tvms_surface_make_dotted(build, dotted);
}
static inline surf_expr surf_alias(surf_build *build, surf_expr dotted,
                                   surf_token name) {
  return surf_make(build, TVMS_SURF_ALIAS, 0, dotted.begin,
                   name.end ? name.end : dotted.end, surf_dotted_name(build, dotted),
                   name.value, 0);
}
static inline surf_token surf_dots(surf_token dots, uint32_t more) {
  dots.value = dots.value + more < UINT8_MAX ? dots.value + more : UINT8_MAX;
  return dots;
}
static inline surf_list surf_all_names(surf_token star) {
  return surf_ended(surf_no_list, star);
}
static inline surf_expr surf_import(surf_build *build, surf_token keyword,
                                    surf_list aliases) {
  return surf_make(build, TVMS_SURF_IMPORT, 0, keyword.begin, aliases.end,
                   aliases.first, 0, 0);
}
static inline surf_expr surf_from(surf_build *build, surf_token keyword,
                                  surf_token dots, surf_expr module, surf_list names) {
  surf_expr made =
      surf_make(build, TVMS_SURF_IMPORT_FROM, dots.value, keyword.begin, names.end,
                surf_dotted_name(build, module), names.first, 0);
  surf_at(build, made.ref)->flags = surf_comma_flag(names);
  return made;
}

/* Compound statements */

static inline surf_list surf_error_body(surf_build *build, surf_token error,
                                        surf_list body) {
  surf_at(build, error.value)->a = body.first;
  surf_at(build, error.value)->end = body.end;
  return surf_one(build, error.value);
}
static inline surf_chain surf_if(surf_build *build, surf_token keyword,
                                 surf_expr condition, surf_list body) {
  tvms_ref ref = surf_node(build, TVMS_SURF_IF, 0, keyword.begin, body.end,
                           condition.ref, body.first, 0);
  return (surf_chain){ref, ref};
}
static inline surf_chain surf_elif(surf_build *build, surf_chain chain,
                                   surf_token keyword, surf_expr condition,
                                   surf_list body) {
  tvms_ref ref = surf_if(build, keyword, condition, body).first;
  surf_at(build, ref)->flags = TVMS_SURF_ELIF;
  surf_at(build, chain.last)->c = ref;
  chain.last = ref;
  return chain;
}
static inline tvms_ref surf_if_end(surf_build *build, surf_chain chain,
                                   surf_list body) {
  tvms_surf *last = surf_at(build, chain.last);
  if (body.first) {
    last->c = body.first;
    last->end = body.end;
  }
  for (tvms_ref ref = chain.first; ref != chain.last; ref = surf_at(build, ref)->c) {
    surf_at(build, ref)->end = last->end;
  }
  return chain.first;
}
static inline tvms_ref surf_while(surf_build *build, surf_token keyword,
                                  surf_expr condition, surf_list body,
                                  surf_list other) {
  return surf_node(build, TVMS_SURF_WHILE, 0, keyword.begin,
                   other.first ? other.end : body.end, condition.ref, body.first,
                   other.first);
}
static inline tvms_ref surf_for(surf_build *build, surf_token keyword, surf_expr target,
                                surf_expr iterable, surf_list body, surf_list other) {
  surf_no_walrus(build, iterable);
  surf_target(build, target, SURF_TARGET_ASSIGN);
  uint32_t end = other.first ? other.end : body.end;
  tvms_ref suites = surf_node(build, TVMS_SURF_SUITES, 0, body.begin, end, body.first,
                              other.first, 0);
  return surf_node(build, TVMS_SURF_FOR, 0, keyword.begin, end, target.ref,
                   iterable.ref, suites);
}
static inline surf_expr surf_with_item(surf_build *build, surf_expr value,
                                       surf_expr target) {
  surf_no_walrus(build, value);
  if (target.ref) surf_target(build, target, SURF_TARGET_ASSIGN);
  return surf_make(build, TVMS_SURF_WITH_ITEM, 0, value.begin,
                   target.ref ? target.end : value.end, value.ref, target.ref, 0);
}
static inline surf_expr surf_grouped_item(surf_build *build, surf_expr value,
                                          surf_expr target) {
  surf_expr item = surf_with_item(build, value, target);
  build->grouped = item.ref;  // surf_grouped puts the tuple here
  return item;
}
static inline surf_expr surf_grouped(surf_build *build, surf_token left, surf_list list,
                                     surf_token right) {
  tvms_surf_kind kind = (tvms_surf_kind)surf_at(build, list.first)->kind;
  bool single = list.first == list.last && !list.comma && kind != TVMS_SURF_WITH_ITEM
                && kind != TVMS_SURF_STAR;
  if (single) {
    surf_expr item = {list.begin, list.end, list.first};
    return surf_paren(build, left, item, right);
  }
  surf_expr made = surf_tuple(build, left, list, right);
  if (build->grouped) build->grouped = made.ref;
  return made;
}
static inline tvms_ref surf_with(surf_build *build, surf_token keyword, surf_list items,
                                 surf_list body) {
  return tvms_surface_make_with(build, keyword, items, body);
}

/* Definitions */

static inline surf_expr surf_param(surf_build *build, tvms_surf_op op, surf_token begin,
                                   surf_token name, surf_expr annotation,
                                   surf_expr value) {
  surf_no_walrus(build, annotation);
  surf_no_walrus(build, value);
  uint32_t end = value.ref        ? value.end
                 : annotation.ref ? annotation.end
                 : name.end       ? name.end
                                  : begin.end;
  return surf_make(build, TVMS_SURF_PARAM, op, begin.begin, end, name.value,
                   annotation.ref, value.ref);
}
static inline surf_expr surf_type_param(surf_build *build, surf_token begin,
                                        surf_token name, surf_expr limit,
                                        surf_expr value) {
  surf_no_walrus(build, limit);
  surf_no_walrus(build, value);
  uint32_t op = begin.begin == name.begin    ? TVMS_OP_NONE
                : begin.value == TVMS_OP_MUL ? TVMS_OP_STAR
                                             : TVMS_OP_DOUBLE_STAR;
  uint32_t end = value.ref ? value.end : limit.ref ? limit.end : name.end;
  return surf_make(build, TVMS_SURF_TYPE_PARAM, op, begin.begin, end, name.value,
                   limit.ref, value.ref);
}

static inline tvms_ref surf_define(surf_build *build, tvms_surf_kind kind,
                                   surf_token keyword, surf_token name,
                                   surf_list tparams, surf_list params,
                                   surf_expr returns, surf_list body) {
  surf_no_walrus(build, returns);
  uint32_t end = returns.ref ? returns.end : params.end ? params.end : name.end;
  tvms_ref more = 0;
  if (tparams.first) {
    more = surf_node(build, TVMS_SURF_HEAD_MORE, 0, tparams.begin, tparams.end, 0,
                     tparams.first, 0);
  }
  tvms_ref head = surf_node(build, TVMS_SURF_HEAD, 0, name.begin, end, params.first,
                            returns.ref, more);
  surf_at(build, head)->flags = surf_comma_flag(params);
  return surf_node(build, kind, 0, keyword.begin, body.end, name.value, head,
                   body.first);
}
static inline tvms_ref surf_def(surf_build *build, surf_token keyword, surf_token name,
                                surf_list tparams, surf_list params, surf_expr returns,
                                surf_list body) {
  tvms_surface_check_params(build, params.first);
  return surf_define(build, TVMS_SURF_DEF, keyword, name, tparams, params, returns,
                     body);
}
static inline tvms_ref surf_class(surf_build *build, surf_token keyword,
                                  surf_token name, surf_list tparams, surf_list args,
                                  surf_list body) {
  return surf_define(build, TVMS_SURF_CLASS, keyword, name, tparams, args, surf_none,
                     body);
}
static inline surf_list surf_decorator(surf_build *build, surf_list list, surf_token at,
                                       surf_expr value) {
  if (list.first) return surf_add(build, list, value);
  list = surf_list_of(build, value);
  list.begin = at.begin;
  return list;
}
static inline tvms_ref surf_decorate(surf_build *build, surf_list decorators,
                                     tvms_ref definition) {
  tvms_ref head = surf_at(build, definition)->b;
  tvms_ref more = surf_at(build, head)->c;
  if (!more) {
    more = surf_node(build, TVMS_SURF_HEAD_MORE, 0, decorators.begin, decorators.end, 0,
                     0, 0);
    surf_at(build, head)->c = more;
  }
  surf_at(build, more)->a = decorators.first;
  surf_at(build, definition)->begin = decorators.begin;
  return definition;
}

static inline void surf_finish(surf_build *build, surf_list body) {
  build->surface->body = body.first;
}
static inline void surf_finish_nested(surf_build *build, surf_expr value) {
  build->nested = value.ref;
}

#endif
