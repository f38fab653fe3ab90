// Values of a wrong type that are nearly right.
#include "parser/eval/meant_value.h"

#include "parser/eval/operator.h"
#include "parser/eval/scope.h"

#include <ctype.h>
#include <string.h>

static bool is_part_of_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// The text between the quotes of a plain string, or 0 bytes.
static tvms_span content_of(const tvms_reader *reader, tvms_ref ref) {
  const char *text = reader->surface->source->text;
  tvms_span span = tvms_reader_span_of(reader, ref);
  bool plain = tvms_surface_is_string(reader->surface, ref) && span.end - span.begin > 2
               && (text[span.begin] == '"' || text[span.begin] == '\'')
               && text[span.begin + 1] != text[span.begin];
  return plain ? (tvms_span){span.begin + 1, span.end - 1} : (tvms_span){0, 0};
}

// One of the strings that the finding lists.
static const char *TVMS_NULLABLE listed(tvms_reader *reader, const tvms_diag *diag,
                                        const char *word) {
  enum { MOST = 16 };
  const char *names[MOST];
  uint32_t count = 0;
  const char *at = diag->text;
  while (count < MOST && (at = strchr(at, '"'))) {
    const char *end = strchr(++at, '"');
    if (!end) break;
    names[count++] = tvms_arena_text(&reader->context->arena, at, (size_t)(end - at));
    at = end + 1;
  }
  if (count < 2) return NULL;
  size_t len = strlen(word);
  for (uint32_t i = 0; i < count && len > 2; i++) {
    if (strncmp(names[i], word, 3) == 0) return names[i];
  }
  return tvms_diag_nearest_name(word, names, count);
}

static bool is_number(const char *word) {
  size_t digits = strspn(word, "0123456789.eE+-");
  return word[digits] == '\0' && strpbrk(word, "0123456789");
}

bool tvms_eval_explain_text(tvms_reader *reader, tvms_diag *diag, tvms_ref ref) {
  tvms_diags *diags = &reader->context->diags;
  tvms_span inner = content_of(reader, ref), span = tvms_reader_span_of(reader, ref);
  if (!inner.end) return false;
  const char *word = tvms_arena_text(&reader->context->arena,
                                     reader->surface->source->text + inner.begin,
                                     inner.end - inner.begin);
  const char *meant = listed(reader, diag, word);
  if (meant) {
    tvms_diag_remark(diags, diag, "did you mean \"%s\"?", meant);
    tvms_diag_fix(diags, diag, inner, false, "%s", meant);
    return true;
  }
  bool name = is_part_of_word(*word)
              && tvms_scope_lookup(
                  reader, tvms_symbol_intern(reader->context, word, strlen(word)));
  if (!name && !is_number(word)) return false;
  tvms_diag_remark(
      diags, diag,
      name ? "the variable is %s, without quotes" : "a number has no quotes: %s", word);
  tvms_diag_fix(diags, diag, span, false, "%s", word);
  return true;
}

// `{"key", value}`.
static bool explain_set(tvms_reader *reader, tvms_diag *diag, tvms_ref ref) {
  const tvms_surf *set = tvms_reader_at(reader, ref);
  if (set->kind != TVMS_SURF_SET) return false;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "a key is followed by ':'");
  bool key = true;
  if (tvms_surface_count(reader->surface, set->a) % 2) return true;
  const char *text = reader->surface->source->text;
  tvms_surface_each(reader->surface, item, set->a) {
    uint32_t end = tvms_reader_span_of(reader, item).end;
    end += (uint32_t)strspn(text + end, " )");
    if (key && text[end] == ',')
      tvms_diag_fix(diags, diag, (tvms_span){end, end + 1}, false, ":");
    key = !key;
  }
  return true;
}

// `n / 2` where an integer is wanted.
static bool explain_division(tvms_reader *reader, tvms_diag *diag, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (node->kind != TVMS_SURF_BINARY || node->op != TVMS_OP_DIV) return false;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "an integer is divided by '//'");
  tvms_diag_fix(diags, diag, tvms_eval_operator_span(reader, ref, TVMS_OP_DIV), false,
                "//");
  return true;
}

// `x = a[i],`: a tuple of one item.
static bool explain_comma(tvms_reader *reader, tvms_diag *diag, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  const char *text = reader->surface->source->text;
  if (node->kind != TVMS_SURF_TUPLE || node->parens || text[node->end - 1] != ',')
    return false;
  if (tvms_surface_count(reader->surface, node->a) != 1) return false;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "the ',' makes it a tuple: leave it out");
  tvms_diag_fix(diags, diag, (tvms_span){node->end - 1, node->end}, true, "%s", "");
  return true;
}

// `T.grid([n, m])`, `T.max([a, b])`: the only argument is a list of them.
static bool explain_list(tvms_reader *reader, tvms_diag *diag, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  const char *text = reader->surface->source->text;
  tvms_span span = tvms_reader_span_of(reader, ref);
  bool list = node->kind == TVMS_SURF_LIST || node->kind == TVMS_SURF_TUPLE;
  if (!list || span.begin == 0 || text[span.begin - 1] != '(' || text[span.end] != ')'
      || !strchr("([", text[span.begin]))
    return false;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "they are arguments of their own: no '%c' around them",
                   text[span.begin]);
  tvms_diag_fix(diags, diag, (tvms_span){span.begin, span.begin + 1}, false, "%s", "");
  tvms_diag_fix(diags, diag, (tvms_span){span.end - 1, span.end}, false, "%s", "");
  return true;
}

// The only argument of a call that a finding stands at, where one of its arguments is meant.
static tvms_ref only_argument(tvms_reader *reader, tvms_diag *diag, tvms_ref ref,
                              tvms_eval_value value) {
  const tvms_surf *call = tvms_reader_at(reader, ref);
  tvms_ref first = call->kind == TVMS_SURF_CALL ? call->b : 0;
  if (!first) return ref;
  const tvms_surf *arg = tvms_reader_at(reader, first);
  bool string =
      value.kind == TVMS_EVAL_STR && tvms_surface_is_string(reader->surface, first);
  bool list = value.kind == TVMS_EVAL_LIST && arg->kind == TVMS_SURF_LIST && !arg->next;
  if (!string && !list) return ref;
  diag->span = tvms_reader_span_of(reader, first);
  return first;
}

bool tvms_eval_explain_value(tvms_reader *reader, tvms_diag *diag, tvms_ref ref,
                             const char *expected, tvms_eval_value value) {
  ref = only_argument(reader, diag, ref, value);
  switch ((int)value.kind) {
  case TVMS_EVAL_STR: return tvms_eval_explain_text(reader, diag, ref);
  case TVMS_EVAL_FLOAT: return explain_division(reader, diag, ref);
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST:
    if (!strstr(expected, "an expression") && !strstr(expected, "a number"))
      return false;
    return explain_comma(reader, diag, ref) || explain_list(reader, diag, ref);
  default: return strstr(expected, "a dict") && explain_set(reader, diag, ref);
  }
}

void tvms_eval_explain_sign(tvms_reader *reader, tvms_diag *diag, tvms_ref ref) {
  const char *text = reader->surface->source->text;
  uint32_t at = tvms_reader_span_of(reader, ref).begin;
  if (at == 0 || text[at - 1] != '=' || !strchr("+-*", text[at])) return;
  tvms_diags *diags = &reader->context->diags;
  diag->span = (tvms_span){at, at + 1};
  tvms_diag_remark(diags, diag, "write '%c='", text[at]);
  tvms_diag_fix(diags, diag, (tvms_span){at - 1, at + 1}, false, "%c=", text[at]);
}
