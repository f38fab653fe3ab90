// Products by powers of two, in registers of 512 bits.
#include "backend/c/scaled.h"

#include "backend/c/expr.h"
#include "backend/c/vector.h"
#include "ir/build.h"

// The macro for vectors of a type.
static const char *macro_for(c_emitter *e, tvms_dtype dtype, tvms_span span) {
  const char *type = tvms_c_type(e, dtype, span);
  const char *name = tvms_c_text(e, "SCALED_%s", type);
  if (tvms_c_is_new(e, name))
    tvms_strbuf_printf(
        &e->head,
        "#if defined ALL_OF_512\n"
        "#define %s(p, n, product) (%s)__builtin_ia32_scalef%s512_mask(p, n, p, -1, 4)\n"
        "#else\n#define %s(p, n, product) (product)\n#endif\n",
        name, type, dtype.bits == 64 ? "pd" : "ps", name);
  return name;
}

const char *TVMS_NULLABLE tvms_c_scaled(c_emitter *e, const tvms_node *node) {
  enum { REGISTER = 512 };
  tvms_dtype dtype = node->dtype;
  tvms_span span = node->span;
  tvms_scaled scaled;
  if (dtype.bits * dtype.lanes != REGISTER
      || !tvms_scaled_read(e->bindings, node, &scaled))
    return NULL;
  const tvms_binary *outer = tvms_as_binary(node), *inner = tvms_as_binary(outer->a);
  const char *macro = macro_for(e, dtype, span);
  const char *p = tvms_c_expr(e, inner->a), *power = tvms_c_expr(e, inner->b);
  const char *last = tvms_c_expr(e, outer->b), *t = tvms_c_expr(e, scaled.shifted);
  const char *rounder =
      tvms_c_text(e, "%.1f%s", scaled.rounder, dtype.bits == 64 ? "" : "f");
  const char *n = tvms_c_whole(
      e, dtype, span,
      tvms_c_text(e, "%s - %s", t, tvms_c_spread(e, dtype, span, rounder)));
  return tvms_c_whole(
      e, dtype, span,
      tvms_c_text(e, "%s(%s, %s, %s * %s * %s)", macro, p, n, p, power, last));
}
