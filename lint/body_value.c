// Linear forms over a few symbols.
#include "lint/body_value.h"

#include <inttypes.h>

tvms_lint_value tvms_lint_symbol(const tvms_node *symbol, bool positive) {
  return (tvms_lint_value){.known = true, .count = 1, .terms = {{symbol, 1, positive}}};
}

tvms_lint_value tvms_lint_scale(tvms_lint_value value, int64_t factor) {
  if (!value.known || factor == 1) return value;
  if (factor == 0) return tvms_lint_constant(0);
  if (__builtin_mul_overflow(value.constant, factor, &value.constant))
    return tvms_lint_unknown();
  for (uint32_t i = 0; i < value.count; i++) {
    int64_t *place = &value.terms[i].factor;
    if (__builtin_mul_overflow(*place, factor, place)) return tvms_lint_unknown();
  }
  return value;
}

// Appends a term unless its factor is 0; false if there is no room.
static bool push_term(tvms_lint_value *sum, tvms_lint_term term) {
  if (term.factor == 0) return true;
  if (sum->count == TVMS_LINT_MOST_TERMS) return false;
  sum->terms[sum->count++] = term;
  return true;
}

tvms_lint_value tvms_lint_add(tvms_lint_value a, tvms_lint_value b, int64_t factor) {
  if (!a.known || !b.known) return tvms_lint_unknown();
  if (!a.count && !b.count) {
    int64_t product, total;
    bool wraps = __builtin_mul_overflow(b.constant, factor, &product)
                 || __builtin_add_overflow(a.constant, product, &total);
    return wraps ? tvms_lint_unknown() : tvms_lint_constant(total);
  }
  b = tvms_lint_scale(b, factor);
  tvms_lint_value sum = {.known = b.known};
  if (!sum.known || __builtin_add_overflow(a.constant, b.constant, &sum.constant))
    return tvms_lint_unknown();
  uint32_t i = 0, k = 0;
  while (i < a.count || k < b.count) {
    tvms_lint_term term;
    if (k == b.count || (i < a.count && a.terms[i].symbol->id < b.terms[k].symbol->id))
      term = a.terms[i++];
    else if (i == a.count || b.terms[k].symbol->id < a.terms[i].symbol->id)
      term = b.terms[k++];
    else {
      term = a.terms[i++];
      if (__builtin_add_overflow(term.factor, b.terms[k++].factor, &term.factor))
        return tvms_lint_unknown();
    }
    if (!push_term(&sum, term)) return tvms_lint_unknown();
  }
  return sum;
}

bool tvms_lint_at_least(const tvms_lint_value *value, int64_t bound) {
  if (!value->known) return false;
  int64_t least = value->constant;
  for (uint32_t i = 0; i < value->count; i++) {
    const tvms_lint_term *term = &value->terms[i];
    if (!term->positive || term->factor < 0) return false;
    if (__builtin_add_overflow(least, term->factor, &least)) return false;
  }
  return least >= bound;
}

bool tvms_lint_at_most(const tvms_lint_value *value, int64_t bound) {
  if (!value->count) return value->known && value->constant <= bound;
  tvms_lint_value minus = tvms_lint_scale(*value, -1);
  return bound != INT64_MIN && tvms_lint_at_least(&minus, -bound);
}

bool tvms_lint_same(const tvms_lint_value *a, const tvms_lint_value *b) {
  tvms_lint_value difference = tvms_lint_add(*a, *b, -1);
  return tvms_lint_is_constant(&difference) && difference.constant == 0;
}

void tvms_lint_value_text(const tvms_context *context, const tvms_lint_value *value,
                          tvms_strbuf *out) {
  for (uint32_t i = 0; i < value->count; i++) {
    const tvms_lint_term *term = &value->terms[i];
    uint64_t size =
        term->factor < 0 ? 0 - (uint64_t)term->factor : (uint64_t)term->factor;
    if (i > 0)
      tvms_strbuf_puts(out, term->factor < 0 ? " - " : " + ");
    else if (term->factor < 0)
      tvms_strbuf_putc(out, '-');
    if (size != 1) tvms_strbuf_printf(out, "%" PRIu64 " * ", size);
    tvms_strbuf_puts(out, tvms_symbol_text(context, tvms_as_var(term->symbol)->name));
  }
  if (value->count == 0)
    tvms_strbuf_printf(out, "%" PRId64, value->constant);
  else if (value->constant > 0)
    tvms_strbuf_printf(out, " + %" PRId64, value->constant);
  else if (value->constant < 0)
    tvms_strbuf_printf(out, " - %" PRIu64, 0 - (uint64_t)value->constant);
}
