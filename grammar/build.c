// The longer and rarer actions of tvmscript.y; see build.h.
//
// The grammar takes more than Python does where an exact rule would cost every expression a
// reduction (README.md, "Where the grammar bends"). What it takes too much is refused here:
// targets that cannot be assigned to, parameters out of order, `as` in the wrong place. A
// node that was refused becomes BAD, so that nothing is said about it again.
#include "grammar/build.h"

#include "grammar/build_stmt.h"
#include "support/diag_ids.h"

#include <string.h>

enum { DEEPEST_TARGET = 200 };

void tvms_surface_grow(tvms_surface *surface) {
  if (surface->cap > UINT32_MAX / 2) {
    tvms_memory_unwind(&surface->context->memory, TVMS_OVER_LIMIT);
  }
  surface->cap *= 2;
  surface->nodes = tvms_memory_realloc(&surface->context->memory, surface->nodes,
                                       (size_t)surface->cap * sizeof *surface->nodes);
}

static const char *kind_text(const tvms_surf *node) {
  switch ((int)node->kind) {
  case TVMS_SURF_CALL: return "a call";
  case TVMS_SURF_LAMBDA: return "a lambda";
  case TVMS_SURF_IF_EXP: return "a conditional expression";
  case TVMS_SURF_WALRUS: return "an assignment expression";
  case TVMS_SURF_COMPARE: return "a comparison";
  case TVMS_SURF_UNARY: return node->op == TVMS_OP_NOT ? "'not'" : "an operator";
  case TVMS_SURF_BINARY:
  case TVMS_SURF_BOOL: return "an operator";
  case TVMS_SURF_DICT:
  case TVMS_SURF_SET: return "a display in braces";
  case TVMS_SURF_LIST_COMP:
  case TVMS_SURF_SET_COMP:
  case TVMS_SURF_DICT_COMP:
  case TVMS_SURF_GENERATOR: return "a comprehension";
  case TVMS_SURF_ELLIPSIS: return "'...'";
  case TVMS_SURF_TRUE: return "'True'";
  case TVMS_SURF_FALSE: return "'False'";
  case TVMS_SURF_NONE: return "'None'";
  case TVMS_SURF_TUPLE: return "a tuple";
  case TVMS_SURF_LIST: return "a list";
  case TVMS_SURF_STAR: return "a starred expression";
  default: return "a literal";
  }
}

// What was reported: nothing is said about it again.
static void make_bad(tvms_surf *node) {
  node->kind = TVMS_SURF_BAD;
  node->op = 0;
  node->a = node->b = node->c = 0;
}

static void refuse_target(surf_build *build, tvms_ref ref, surf_target_use use) {
  static const char *const verbs[] = {"assign to", "annotate or augment", "delete"};
  tvms_surf *node = surf_at(build, ref);
  tvms_diags *diags = &build->context->diags;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_bad_target, (tvms_span){node->begin, node->end},
                       verbs[use], kind_text(node));
  const tvms_surf *callee =
      node->kind == TVMS_SURF_CALL ? surf_at(build, node->a) : NULL;
  if (callee && callee->kind == TVMS_SURF_NAME)
    tvms_diag_remark(diags, diag, "an element is taken by '[' and ']'");
  make_bad(node);
}

static void check_target(surf_build *build, tvms_ref ref, surf_target_use use,
                         uint32_t depth) {
  const tvms_surf *node = surf_at(build, ref);
  switch ((int)node->kind) {
  case TVMS_SURF_NAME:
  case TVMS_SURF_ATTRIBUTE:
  case TVMS_SURF_SUBSCRIPT:
  case TVMS_SURF_BAD: return;
  case TVMS_SURF_STAR:
    if (use != SURF_TARGET_ASSIGN || depth == 0) break;
    check_target(build, node->a, use, depth + 1);
    return;
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST:
    if (use == SURF_TARGET_SINGLE) break;
    if (depth > DEEPEST_TARGET) {
      tvms_diag_report(&build->context->diags, TVMS_D_too_deep,
                       (tvms_span){node->begin, node->end}, (unsigned)DEEPEST_TARGET);
      return;
    }
    tvms_surface_each(build->surface, item, node->a) {
      check_target(build, item, use, depth + 1);
    }
    return;
  default: break;
  }
  refuse_target(build, ref, use);
}

void tvms_surface_check_target(surf_build *build, tvms_ref ref, surf_target_use use) {
  check_target(build, ref, use, 0);
}

static bool begins_line(const char *text, uint32_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t'))
    at--;
  return at == 0 || text[at - 1] == '\n';
}

// `x := value` as a statement: an assignment was meant.
static bool report_walrus(surf_build *build, const tvms_surf *node) {
  const char *text = build->surface->source->text;
  if (node->kind != TVMS_SURF_WALRUS || !begins_line(text, node->begin)) return false;
  uint32_t sign = node->begin;
  while (text[sign] != ':')
    sign++;
  tvms_diags *diags = &build->context->diags;
  tvms_span span = {sign, sign + 2};
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_syntax, span, "':='", "");
  tvms_diag_remark(diags, diag, "a name is bound with '='");
  tvms_diag_fix(diags, diag, span, true, "=");
  return true;
}

void tvms_surface_report_loose(surf_build *build, tvms_ref ref) {
  tvms_surf *node = surf_at(build, ref);
  if (node->kind == TVMS_SURF_WALRUS) node->c = 1;  // reported
  if (report_walrus(build, node)) return;
  tvms_span span = {node->begin, node->end};
  tvms_diag *diag = tvms_diag_report(&build->context->diags, TVMS_D_needs_parens, span,
                                     kind_text(node));
  tvms_diag_fix(&build->context->diags, diag, (tvms_span){node->begin, node->begin},
                true, "(");
  tvms_diag_fix(&build->context->diags, diag, (tvms_span){node->end, node->end}, true,
                ")");
}

void tvms_surface_report_late_argument(surf_build *build, surf_expr argument) {
  tvms_diags *diags = &build->context->diags;
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_late_argument,
                                     (tvms_span){argument.begin, argument.end});
  tvms_surf *node = surf_at(build, argument.ref);
  if (node->kind != TVMS_SURF_COMPARE) return;
  // `axis == 1` was meant to name the argument.
  const tvms_surf *name = surf_at(build, node->a), *rest = surf_at(build, node->b);
  if (name->kind != TVMS_SURF_NAME || rest->op != TVMS_OP_EQ || rest->next) return;
  const tvms_surf *value = surf_at(build, rest->a);
  tvms_diag_remark(diags, diag, "an argument is named with '='");
  tvms_diag_fix(diags, diag, (tvms_span){name->end, value->begin}, false, "=");
  node->kind = TVMS_SURF_BAD;
}

static void report_param(surf_build *build, const tvms_surf *param, const char *what) {
  tvms_diag_report(&build->context->diags, TVMS_D_bad_parameter,
                   (tvms_span){param->begin, param->end}, what);
}

// `x=R.Tensor(…)` in front of a parameter without default: the type was meant, and is read as one.
static bool mend_types(surf_build *build, tvms_ref first, const tvms_surf *until) {
  const char *text = build->surface->source->text;
  tvms_diags *diags = &build->context->diags;
  tvms_diag *diag = NULL;
  tvms_surface_each(build->surface, ref, first) {
    tvms_surf *param = surf_at(build, ref);
    if (param == until) break;
    const tvms_surf *value = param->c ? surf_at(build, param->c) : NULL;
    bool type = value && !param->b && strchr("TR", text[value->begin])
                && text[value->begin + 1] == '.';
    if (!type) continue;
    uint32_t end = param->begin + (uint32_t)strcspn(text + param->begin, " =");
    tvms_span sign = {end + (uint32_t)strspn(text + end, " "), 0};
    sign.end = sign.begin + 1;
    if (!diag) {
      diag = tvms_diag_report(diags, TVMS_D_syntax, sign, "'='", "");
      tvms_diag_remark(diags, diag,
                       "a type stands behind ':', and a default behind '='");
    }
    tvms_diag_fix(diags, diag, (tvms_span){end, value->begin}, false, ": ");
    param->b = param->c;
    param->c = 0;
  }
  return diag != NULL;
}

// What the parameters before one were.
typedef struct {
  bool any, slash, star, keywords, with_default;
} seen_params;

// What Python refuses about a parameter behind `seen`, or NULL.
static const char *misplaced(const seen_params *seen, const tvms_surf *param) {
  if (seen->keywords) return "nothing may follow '**'";
  switch ((int)param->op) {
  case TVMS_OP_STAR: return seen->star ? "'*' may be given only once" : NULL;
  case TVMS_OP_SLASH:
    if (seen->slash) return "'/' may be given only once";
    return seen->star || !seen->any ? "'/' must follow positional parameters" : NULL;
  case TVMS_OP_PARAM:
    if (seen->star || !seen->with_default || param->c) return NULL;
    return "a parameter without default follows one with a default";
  default: return NULL;
  }
}

// One finding a list: the rules of the parameters behind a misplaced one are not known.
void tvms_surface_check_params(surf_build *build, tvms_ref first) {
  seen_params seen = {0};
  tvms_ref bare_star = 0;
  tvms_surface_each(build->surface, ref, first) {
    tvms_surf *param = surf_at(build, ref);
    if (param->kind == TVMS_SURF_BAD) return;
    const char *what = misplaced(&seen, param);
    if (what) {
      if (!mend_types(build, first, param)) report_param(build, param, what);
      return;
    }
    if (bare_star && param->op == TVMS_OP_DOUBLE_STAR) break;
    bare_star = param->op == TVMS_OP_STAR && !param->a ? ref : 0;
    if (param->op == TVMS_OP_PARAM && seen.star) param->op = TVMS_OP_KEYWORD_ONLY;
    seen.with_default |= param->op == TVMS_OP_PARAM && param->c;
    seen.any = true;
    seen.slash |= param->op == TVMS_OP_SLASH;
    seen.star |= param->op == TVMS_OP_STAR;
    seen.keywords |= param->op == TVMS_OP_DOUBLE_STAR;
  }
  if (bare_star) {
    report_param(build, surf_at(build, bare_star),
                 "a parameter must follow a bare '*'");
  }
}

static bool is_bytes(const surf_build *build, tvms_ref ref) {
  const tvms_surf *node = &build->surface->nodes[ref];
  if (node->kind == TVMS_SURF_STRINGS) return is_bytes(build, node->a);
  const char *text = build->surface->source->text + node->begin;
  return (text[0] | 0x20) == 'b'
         || ((text[0] | 0x20) == 'r' && (text[1] | 0x20) == 'b');
}

void tvms_surface_check_pieces(surf_build *build, tvms_ref strings, tvms_ref piece) {
  if (is_bytes(build, strings) == is_bytes(build, piece)) return;
  tvms_diag_report(&build->context->diags, TVMS_D_mixed_strings,
                   tvms_surface_span(build->surface, piece));
}

tvms_sym tvms_surface_make_dotted(surf_build *build, surf_expr name) {
  const char *text = build->surface->source->text + name.begin;
  tvms_arena *scratch = &build->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  char *copy = tvms_arena_alloc(scratch, name.end - name.begin + 1);
  size_t len = 0;
  for (uint32_t i = 0; i < name.end - name.begin; i++) {
    if (text[i] != ' ' && text[i] != '\t' && text[i] != '\f' && text[i] != '\\'
        && text[i] != '\n' && text[i] != '\r') {
      copy[len++] = text[i];
    }
  }
  tvms_sym sym = tvms_symbol_intern(build->context, copy, len);
  tvms_arena_reset(scratch, mark);
  return sym;
}

static bool is_item_tuple(surf_build *build, surf_list items) {
  const tvms_surf *item = surf_at(build, items.first);
  const tvms_surf *value = surf_at(build, item->a);
  if (items.first != items.last || item->b || value->kind != TVMS_SURF_TUPLE)
    return false;
  if (value->parens || !(value->flags & TVMS_SURF_PAREN) || !value->a) return false;
  tvms_surface_each(build->surface, part, value->a) {
    if (surf_at(build, part)->kind == TVMS_SURF_STAR) return false;
  }
  return true;
}

// Makes items of the parts of `with (a, b as c):`.
static surf_list open_items(surf_build *build, tvms_ref tuple) {
  surf_list items = {0};
  for (tvms_ref part = surf_at(build, tuple)->a; part;) {
    tvms_ref next = surf_at(build, part)->next;
    surf_at(build, part)->next = 0;
    const tvms_surf *node = surf_at(build, part);
    surf_expr item = {node->begin, node->end, part};
    if (node->kind != TVMS_SURF_WITH_ITEM)
      item = surf_with_item(build, item, surf_none);
    items = items.first ? surf_add(build, items, item) : surf_list_of(build, item);
    part = next;
  }
  return items;
}

tvms_ref tvms_surface_make_with(surf_build *build, surf_token keyword, surf_list items,
                                surf_list body) {
  uint8_t flags = 0;
  tvms_ref value = surf_at(build, items.first)->a;
  if (is_item_tuple(build, items)) {
    flags = TVMS_SURF_PAREN | (surf_at(build, value)->flags & TVMS_SURF_COMMA);
    if (build->grouped == value) build->grouped = 0;
    items = open_items(build, value);
  }
  if (build->grouped) {
    tvms_surf *tuple = surf_at(build, build->grouped);
    tvms_diag_report(&build->context->diags, TVMS_D_bad_with,
                     (tvms_span){tuple->begin, tuple->end});
    make_bad(tuple);
    build->grouped = 0;
  }
  tvms_ref ref = surf_node(build, TVMS_SURF_WITH, 0, keyword.begin, body.end,
                           items.first, body.first, 0);
  surf_at(build, ref)->flags = flags;
  return ref;
}
