// The actions of tvmscript.y for expressions: each builds one node or extends one list.
#ifndef TVMS_GRAMMAR_BUILD_EXPR_H
#define TVMS_GRAMMAR_BUILD_EXPR_H

#include "grammar/build.h"

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

#endif
