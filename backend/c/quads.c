// Four products of bytes in each lane: vpdpbusd where the compiler has VNNI (`-mavx512vnni`, `-mavxvnni`, `-march=native`), and
// plain arithmetic elsewhere. Compilers find no such instruction in the plain text.
#include "backend/c/quads.h"

#include "backend/c/expr.h"
#include "backend/c/vector.h"
#include "ir/quad.h"

// A word as a vector.
static const char *word(c_emitter *e, const tvms_node *TVMS_NULLABLE node,
                        tvms_dtype dtype, tvms_span span) {
  const char *value =
      node ? tvms_c_expr(e, node) : tvms_c_text(e, "%d", TVMS_QUAD_OF_ONES);
  bool scalar = !node || node->dtype.lanes <= 1;
  return scalar ? tvms_c_spread(e, dtype, span, value) : value;
}

// Products of bytes are no larger than 32640, so that only the sum with what was there may wrap.
static void define(c_emitter *e, const char *name, tvms_dtype dtype, tvms_span span) {
  tvms_dtype wrapping = {TVMS_UINT, dtype.bits, dtype.lanes};
  const char *type = tvms_c_type(e, dtype, span), *u = tvms_c_type(e, wrapping, span);
  int lanes = dtype.lanes, bits = lanes * dtype.bits;
  tvms_strbuf_printf(
      &e->head,
      "#if defined __AVX512VNNI__ && defined __AVX512VL__ || defined __AVXVNNI__ && %d < 512\n"
      "#ifdef __clang__\n"
      "#define %s(sum, u, s) (%s)__builtin_ia32_vpdpbusd%d(sum, u, s)\n"
      "#else\n"
      "#define %s(sum, u, s) (%s)__builtin_ia32_vpdpbusd_v%dsi((w32x%da)(sum), (w32x%da)(u), (w32x%da)(s))\n"
      "#endif\n"
      "#else\n",
      bits, name, type, bits, name, type, lanes, lanes, lanes, lanes);
  tvms_strbuf_printf(
      &e->head,
      "static inline %s %s(%s sum, %s u, %s s) {\n"
      "  %s all = (u & 255) * ((%s)((%s)s << 24) >> 24) + (u >> 8 & 255) * ((%s)((%s)s << 16) >> 24);\n"
      "  all += (u >> 16 & 255) * ((%s)((%s)s << 8) >> 24) + (u >> 24 & 255) * (s >> 24);\n"
      "  return (%s)((%s)sum + (%s)all);\n"
      "}\n"
      "#endif\n",
      type, name, type, type, type, type, type, u, type, u, type, u, type, u, u);
}

const char *TVMS_NULLABLE tvms_c_quad(c_emitter *e, const tvms_node *node) {
  tvms_quad q = tvms_node_quad_of(node);
  int lanes = node->dtype.lanes;
  if (!q.sum || (lanes != 4 && lanes != 8 && lanes != 16)) return NULL;
  const char *sum = tvms_c_expr(e, q.sum);
  const char *u = word(e, q.u, node->dtype, node->span);
  const char *s = word(e, q.s, node->dtype, node->span);
  const char *name = tvms_c_text(e, "QUADS_i32x%d", lanes);
  if (tvms_c_is_new(e, name)) define(e, name, node->dtype, node->span);
  return tvms_c_whole(e, node->dtype, node->span,
                      tvms_c_text(e, "%s(%s, %s, %s)", name, sum, u, s));
}
