// The actions of tvmscript.y for statements and definitions: each builds one node or extends
// one list.
#ifndef TVMS_GRAMMAR_BUILD_STMT_H
#define TVMS_GRAMMAR_BUILD_STMT_H

#include "grammar/build_expr.h"

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
