// Stores past the caches: what compilers have for them, under the name STORE_PAST_<bytes>.
#include "backend/c/past.h"

#include "backend/c/masked.h"
#include "backend/c/vector.h"

typedef struct {
  unsigned bytes;
  const char *feature;  // macro of a processor that has the instruction
  const char *builtin;  // of GCC
} store_kind;

static const store_kind kinds[] = {
    {16, "__SSE__", "__builtin_ia32_movntps"},
    {32, "__AVX__", "__builtin_ia32_movntps256"},
    {64, "__AVX512F__", "__builtin_ia32_movntps512"},
};

static const store_kind *TVMS_NULLABLE kind_of(tvms_dtype dtype) {
  bool whole =
      dtype.code != TVMS_BOOL && dtype.bits >= 8 && tvms_c_room(dtype) == dtype.lanes;
  for (uint32_t i = 0; whole && i < sizeof kinds / sizeof *kinds; i++) {
    if (dtype.bits / 8u * (unsigned)dtype.lanes == kinds[i].bytes) return &kinds[i];
  }
  return NULL;
}

// Instructions take places that are multiples of the size alone. What stands behind the other store keeps Clang from making
// one of both.
static void write_macro(c_emitter *e, const store_kind *kind, const char *name) {
  if (!tvms_c_is_new(e, name)) return;
  unsigned bytes = kind->bytes;
  tvms_strbuf_printf(
      &e->head,
      "#ifndef %s\n"
      "#if defined(__clang__)\n"
      "#define PAST_%u(t, p, v) __builtin_nontemporal_store(v, (t *)(p))\n"
      "#elif defined(%s)\n"
      "typedef float past_%u __attribute__((vector_size(%u)));\n"
      "#define PAST_%u(t, p, v) %s((float *)(p), (past_%u)(v))\n"
      "#else\n"
      "#define PAST_%u(t, p, v) (*(t##m *)(p) = (v))\n"
      "#endif\n"
      "#define %s(t, p, v) \\\n"
      "  do { \\\n"
      "    if ((__UINTPTR_TYPE__)(p) & %u) { \\\n"
      "      *(t##m *)(p) = (v); \\\n"
      "      __asm__(\"\"); \\\n"
      "    } else \\\n"
      "      PAST_%u(t, p, v); \\\n"
      "  } while (0)\n"
      "#endif\n",
      name, bytes, kind->feature, bytes, bytes, bytes, kind->builtin, bytes, bytes,
      name, bytes - 1, bytes);
}

void tvms_c_store_vector(c_emitter *e, tvms_dtype dtype, tvms_span span,
                         const char *place, const char *value) {
  const store_kind *kind = e->past ? kind_of(dtype) : NULL;
  if (!kind) {
    tvms_c_store_whole(e, dtype, span, place, value);
    return;
  }
  e->has_past = true;
  const char *name = tvms_c_text(e, "STORE_PAST_%u", kind->bytes);
  const char *type = tvms_c_type(e, dtype, span);
  write_macro(e, kind, name);
  tvms_c_line(e, "%s(%s, %s, %s);", name, type, place, value);
}

void tvms_c_order_stores(c_emitter *e) {
  if (e->has_past) tvms_c_line(e, "__atomic_thread_fence(__ATOMIC_SEQ_CST);");
}
