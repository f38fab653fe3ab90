// An expression on one line. Every function gives up as soon as the line is too long, so
// that an attempt costs no more than a line.
#include "format/flat.h"

#include "format/text.h"
#include "format/walk.h"

static bool flat(tvms_writer *w, tvms_ref ref);

static bool flat_text(tvms_writer *w, const char *text) {
  tvms_writer_put_text(w, text);
  return true;
}

bool tvms_format_flat_list(tvms_writer *w, tvms_ref list) {
  for (tvms_ref item = list; item; item = w->nodes[item].next) {
    if (item != list) tvms_writer_put(w, ", ", 2);
    if (!flat(w, item)) return false;
  }
  return true;
}

static bool flat_between(tvms_writer *w, char open, tvms_ref list, char shut) {
  tvms_writer_put_char(w, open);
  if (!tvms_format_flat_list(w, list)) return false;
  tvms_writer_put_char(w, shut);
  return true;
}

/* Chains: collected from the end, written from the beginning, without recursion */

static bool is_postfix(const tvms_surf *node) {
  return node->kind == TVMS_SURF_CALL || node->kind == TVMS_SURF_ATTRIBUTE
         || node->kind == TVMS_SURF_SUBSCRIPT;
}

static bool is_trivial(const tvms_surf *node) {
  switch ((int)node->kind) {
  case TVMS_SURF_NAME:
  case TVMS_SURF_INT:
  case TVMS_SURF_FLOAT:
  case TVMS_SURF_STRING:
  case TVMS_SURF_TRUE:
  case TVMS_SURF_FALSE:
  case TVMS_SURF_NONE: return true;
  default: return false;
  }
}

// A bound that needs no spaces around the colons of its slice: a name or a literal, perhaps
// with a sign.
static bool is_plain_bound(const tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  if (!ref || is_trivial(node)) return true;
  while (node->kind == TVMS_SURF_UNARY && node->op != TVMS_OP_NOT) {
    node = &w->nodes[node->a];
  }
  return is_trivial(node);
}

bool tvms_format_is_spaced(const tvms_writer *w, const tvms_surf *slice) {
  return !is_plain_bound(w, slice->a) || !is_plain_bound(w, slice->b)
         || !is_plain_bound(w, slice->c);
}

static bool flat_slice(tvms_writer *w, const tvms_surf *node) {
  bool spaced = tvms_format_is_spaced(w, node);
  if (node->a) {
    if (!flat(w, node->a)) return false;
    if (spaced) tvms_writer_put_char(w, ' ');
  }
  tvms_writer_put_char(w, ':');
  if (node->b) {
    if (spaced) tvms_writer_put_char(w, ' ');
    if (!flat(w, node->b)) return false;
  }
  if (!(node->flags & TVMS_SURF_STEP) || !node->c) return true;
  if (spaced && node->b) tvms_writer_put_char(w, ' ');
  tvms_writer_put_char(w, ':');
  if (spaced) tvms_writer_put_char(w, ' ');
  return flat(w, node->c);
}

bool tvms_format_flat_index(tvms_writer *w, tvms_ref ref) {
  const tvms_surf *index = &w->nodes[ref];
  bool bare_tuple = index->kind == TVMS_SURF_TUPLE && !(index->flags & TVMS_SURF_PAREN)
                    && !index->parens;
  if (!bare_tuple) return flat(w, ref);
  if (!tvms_format_flat_list(w, index->a)) return false;
  if (!w->nodes[index->a].next) tvms_writer_put_char(w, ',');
  return w->forced || tvms_writer_fits(w, w->limit);
}

static bool flat_trailer(tvms_writer *w, const tvms_surf *node) {
  if (node->kind == TVMS_SURF_ATTRIBUTE) {
    tvms_writer_put_char(w, '.');
    tvms_writer_put_span(w, tvms_format_name_to(w, node->end));
    return true;
  }
  if (!w->forced && tvms_format_is_kept_open(w, node)) return false;
  if (node->kind == TVMS_SURF_CALL) return flat_between(w, '(', node->b, ')');
  tvms_writer_put_char(w, '[');
  if (!tvms_format_flat_index(w, node->b)) return false;
  tvms_writer_put_char(w, ']');
  return true;
}

static bool flat_postfix(tvms_writer *w, tvms_ref ref) {
  uint32_t base = w->spine.len;
  while (is_postfix(&w->nodes[ref])
         && (w->spine.len == base || !w->nodes[ref].parens)) {
    tvms_vec_push(w->memory, &w->spine, ref);
    ref = w->nodes[ref].a;
  }
  // `1 .real` needs its space
  bool fine = flat(w, ref);
  const tvms_surf *base_node = &w->nodes[ref];
  if (base_node->kind == TVMS_SURF_INT && !base_node->parens)
    tvms_writer_put_char(w, ' ');
  while (w->spine.len > base) {
    const tvms_surf *node = &w->nodes[w->spine.items[--w->spine.len]];
    fine =
        fine && flat_trailer(w, node) && (w->forced || tvms_writer_fits(w, w->limit));
  }
  return fine;
}

// Operands of `**` that stand close to it: names, numbers, attributes of names.
static bool is_tight(const tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  if (node->parens) return false;
  if (node->kind == TVMS_SURF_UNARY && node->op == TVMS_OP_NEGATE) {
    node = &w->nodes[node->a];
    return !node->parens
           && (node->kind == TVMS_SURF_INT || node->kind == TVMS_SURF_FLOAT);
  }
  while (node->kind == TVMS_SURF_ATTRIBUTE && !node->parens) {
    node = &w->nodes[node->a];
    if (node->kind != TVMS_SURF_NAME && node->kind != TVMS_SURF_ATTRIBUTE) return false;
  }
  return node->kind == TVMS_SURF_NAME || node->kind == TVMS_SURF_INT
         || node->kind == TVMS_SURF_FLOAT;
}

static bool flat_operation(tvms_writer *w, const tvms_surf *node) {
  const char *text = tvms_surface_operator_text((tvms_surf_op)node->op);
  bool close =
      node->op == TVMS_OP_POWER && is_tight(w, node->a) && is_tight(w, node->b);
  if (!close) tvms_writer_put_char(w, ' ');
  tvms_writer_put_text(w, text);
  if (!close) tvms_writer_put_char(w, ' ');
  return flat(w, node->b);
}

static bool is_operation(const tvms_surf *node) {
  return node->kind == TVMS_SURF_BINARY || node->kind == TVMS_SURF_BOOL;
}

static bool flat_binary(tvms_writer *w, tvms_ref ref) {
  uint32_t base = w->spine.len;
  while (is_operation(&w->nodes[ref])
         && (w->spine.len == base || !w->nodes[ref].parens)) {
    tvms_vec_push(w->memory, &w->spine, ref);
    ref = w->nodes[ref].a;
  }
  bool fine = flat(w, ref);
  while (w->spine.len > base) {
    const tvms_surf *node = &w->nodes[w->spine.items[--w->spine.len]];
    fine = fine && flat_operation(w, node);
  }
  return fine;
}

/* The other forms */

static bool flat_compare(tvms_writer *w, const tvms_surf *node) {
  if (!flat(w, node->a)) return false;
  for (tvms_ref part = node->b; part; part = w->nodes[part].next) {
    tvms_writer_put_char(w, ' ');
    tvms_writer_put_text(w,
                         tvms_surface_operator_text((tvms_surf_op)w->nodes[part].op));
    tvms_writer_put_char(w, ' ');
    if (!flat(w, w->nodes[part].a)) return false;
  }
  return true;
}

static bool flat_tuple(tvms_writer *w, const tvms_surf *node) {
  // A tuple of one is written with parentheses everywhere but in subscripts.
  bool one = node->a && !w->nodes[node->a].next;
  bool parens = (node->flags & TVMS_SURF_PAREN) || one;
  if (parens) tvms_writer_put_char(w, '(');
  if (!tvms_format_flat_list(w, node->a)) return false;
  if (one) tvms_writer_put_char(w, ',');
  if (parens) tvms_writer_put_char(w, ')');
  return true;
}

static bool flat_comp(tvms_writer *w, const tvms_surf *node) {
  if (!flat(w, node->a)) return false;
  for (tvms_ref part = node->b; part; part = w->nodes[part].next) {
    tvms_writer_put_char(w, ' ');
    if (!flat(w, part)) return false;
  }
  return true;
}

static bool flat_comp_in(tvms_writer *w, const tvms_surf *node, const char *open,
                         const char *shut) {
  return flat_text(w, open) && flat_comp(w, node) && flat_text(w, shut);
}

static bool flat_param(tvms_writer *w, const tvms_surf *node) {
  if (node->op == TVMS_OP_SLASH) return flat_text(w, "/");
  uint32_t stars = node->op == TVMS_OP_STAR          ? 1
                   : node->op == TVMS_OP_DOUBLE_STAR ? 2
                                                     : 0;
  tvms_writer_put(w, "**", stars);
  if (node->a) tvms_writer_put_text(w, tvms_symbol_text(w->surface->context, node->a));
  if (node->b && (!flat_text(w, ": ") || !flat(w, node->b))) return false;
  if (!node->c) return true;
  return flat_text(w, node->b ? " = " : "=") && flat(w, node->c);
}

static bool flat_type_param(tvms_writer *w, const tvms_surf *node) {
  uint32_t stars = node->op == TVMS_OP_STAR          ? 1
                   : node->op == TVMS_OP_DOUBLE_STAR ? 2
                                                     : 0;
  tvms_writer_put(w, "**", stars);
  tvms_writer_put_text(w, tvms_symbol_text(w->surface->context, node->a));
  if (node->b && (!flat_text(w, ": ") || !flat(w, node->b))) return false;
  return !node->c || (flat_text(w, " = ") && flat(w, node->c));
}

static bool flat_lambda(tvms_writer *w, const tvms_surf *node) {
  tvms_writer_put_text(w, node->a ? "lambda " : "lambda");
  if (!tvms_format_flat_list(w, node->a)) return false;
  if (!flat_text(w, ": ")) return false;
  return tvms_format_flat(w, node->b, true);
}

static bool flat_strings(tvms_writer *w, const tvms_surf *node) {
  for (tvms_ref piece = node->a; piece; piece = w->nodes[piece].next) {
    if (piece != node->a) tvms_writer_put_char(w, ' ');
    if (!flat(w, piece)) return false;
  }
  return true;
}

static bool flat_keyword(tvms_writer *w, const tvms_surf *node) {
  tvms_writer_put_span(w, tvms_format_name_from(w, node->begin));
  return flat_text(w, "=") && flat(w, node->b);
}

static bool flat_alias(tvms_writer *w, const tvms_surf *node) {
  tvms_writer_put_text(w, tvms_symbol_text(w->surface->context, node->a));
  if (!node->b) return true;
  return flat_text(w, " as ")
         && flat_text(w, tvms_symbol_text(w->surface->context, node->b));
}

static bool flat_node(tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  switch ((int)node->kind) {
  case TVMS_SURF_NAME:
    tvms_writer_put_span(w, (tvms_span){node->begin, node->end});
    return true;
  case TVMS_SURF_INT:
  case TVMS_SURF_FLOAT:
  case TVMS_SURF_IMAGINARY: tvms_format_number(w, node); return true;
  case TVMS_SURF_STRING: tvms_format_string(w, node); return true;
  case TVMS_SURF_STRINGS: return flat_strings(w, node);
  case TVMS_SURF_TRUE: return flat_text(w, "True");
  case TVMS_SURF_FALSE: return flat_text(w, "False");
  case TVMS_SURF_NONE: return flat_text(w, "None");
  case TVMS_SURF_ELLIPSIS: return flat_text(w, "...");
  case TVMS_SURF_TUPLE: return flat_tuple(w, node);
  case TVMS_SURF_LIST: return flat_between(w, '[', node->a, ']');
  case TVMS_SURF_SET:
  case TVMS_SURF_DICT: return flat_between(w, '{', node->a, '}');
  case TVMS_SURF_LIST_COMP: return flat_comp_in(w, node, "[", "]");
  case TVMS_SURF_SET_COMP:
  case TVMS_SURF_DICT_COMP: return flat_comp_in(w, node, "{", "}");
  case TVMS_SURF_GENERATOR:
    return node->flags & TVMS_SURF_PAREN ? flat_comp_in(w, node, "(", ")")
                                         : flat_comp(w, node);
  case TVMS_SURF_ATTRIBUTE:
  case TVMS_SURF_CALL:
  case TVMS_SURF_SUBSCRIPT: return flat_postfix(w, ref);
  case TVMS_SURF_SLICE: return flat_slice(w, node);
  case TVMS_SURF_UNARY:
    tvms_writer_put_text(w, tvms_format_prefix((tvms_surf_op)node->op));
    return flat(w, node->a);
  case TVMS_SURF_BINARY:
  case TVMS_SURF_BOOL: return flat_binary(w, ref);
  case TVMS_SURF_COMPARE: return flat_compare(w, node);
  case TVMS_SURF_IF_EXP:
    return flat(w, node->a) && flat_text(w, " if ") && flat(w, node->b)
           && flat_text(w, " else ") && flat(w, node->c);
  case TVMS_SURF_LAMBDA: return flat_lambda(w, node);
  case TVMS_SURF_WALRUS:
    return flat(w, node->a) && flat_text(w, " := ") && flat(w, node->b);
  case TVMS_SURF_STAR: return flat_text(w, "*") && flat(w, node->a);
  case TVMS_SURF_DOUBLE_STAR: return flat_text(w, "**") && flat(w, node->a);
  case TVMS_SURF_KEYWORD: return flat_keyword(w, node);
  case TVMS_SURF_PAIR:
    return flat(w, node->a) && flat_text(w, ": ") && flat(w, node->b);
  case TVMS_SURF_COMP_FOR:
    return flat_text(w, "for ") && flat(w, node->a) && flat_text(w, " in ")
           && flat(w, node->b);
  case TVMS_SURF_COMP_IF: return flat_text(w, "if ") && flat(w, node->a);
  case TVMS_SURF_PARAM: return flat_param(w, node);
  case TVMS_SURF_TYPE_PARAM: return flat_type_param(w, node);
  case TVMS_SURF_ALIAS: return flat_alias(w, node);
  case TVMS_SURF_WITH_ITEM:
    return flat(w, node->a) && (!node->b || (flat_text(w, " as ") && flat(w, node->b)));
  default: return false;
  }
}

bool tvms_format_is_kept_open(const tvms_writer *w, const tvms_surf *node) {
  if (w->joins) return false;
  if (node->kind == TVMS_SURF_SUBSCRIPT) {
    node = &w->nodes[node->b];
    if (node->kind != TVMS_SURF_TUPLE || node->parens) return false;
    if (node->flags & TVMS_SURF_PAREN) return false;
  }
  if (!(node->flags & TVMS_SURF_COMMA)) return false;
  // A tuple of one needs its comma.
  return node->kind != TVMS_SURF_TUPLE || (node->a && w->nodes[node->a].next);
}

static bool may_be_flat(const tvms_writer *w, const tvms_surf *node) {
  if (w->forced) return true;
  if (w->comment_at < node->end || !tvms_writer_fits(w, w->limit)) return false;
  return !(node->flags & TVMS_SURF_COMMA) || node->kind == TVMS_SURF_LAMBDA
         || !tvms_format_is_kept_open(w, node);
}

static bool flat_within(tvms_writer *w, tvms_ref ref, bool parens) {
  if (!may_be_flat(w, &w->nodes[ref])) return false;
  bool fine = false;
  if (tvms_memory_enter(w->memory)) {
    if (parens) tvms_writer_put_char(w, '(');
    fine = flat_node(w, ref);
    if (parens) tvms_writer_put_char(w, ')');
  } else {
    w->too_deep = true;
  }
  tvms_memory_leave(w->memory);
  return fine && (w->forced || tvms_writer_fits(w, w->limit));
}

static bool flat(tvms_writer *w, tvms_ref ref) {
  return flat_within(w, ref, w->nodes[ref].parens != 0);
}

bool tvms_format_flat(tvms_writer *w, tvms_ref ref, bool bare) {
  const tvms_surf *node = &w->nodes[ref];
  // Python wants the parentheses of an assignment expression that is a whole.
  bool parens = node->parens && (!bare || node->kind == TVMS_SURF_WALRUS);
  return flat_within(w, ref, parens);
}
