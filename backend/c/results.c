// Objects of tvm-ffi that an entry of C text returns; backend/llvm/results.c makes the same.
#include "backend/c/results.h"

#include "interp/interp.h"
#include "ir/build.h"
#include "ir/contract.h"
#include "runtime/abi.h"

#include <string.h>

// Room for the largest head of an object, that of machines with pointers of 64 bits.
enum {
  TENSOR_MOST = TVMS_OBJECT_HEAD + 48,  // of a tensor: sizes follow, then strides
  SHAPE_MOST = TVMS_OBJECT_HEAD + 16,
  ARRAY_MOST = TVMS_OBJECT_HEAD + 32,
  DATA_ALIGN = 64,
};

void tvms_c_store_any(c_emitter *e, tvms_dtype dtype, const char *place,
                      const char *any) {
  const char *type = tvms_c_memory_type(e, dtype, TVMS_NO_SPAN);
  const char *got =
      tvms_c_from_memory(e, dtype, tvms_c_text(e, "*(%s *)(%s)", type, place));
  bool real = tvms_dtype_is_real(dtype);
  int kind = real                          ? TVMS_ANY_FLOAT
             : tvms_dtype_is_handle(dtype) ? TVMS_ANY_POINTER
             : tvms_dtype_is_bool(dtype)   ? TVMS_ANY_BOOL
                                           : TVMS_ANY_INT;
  tvms_c_line(e, "*(i64m *)(%s) = %d;", any, kind);
  tvms_c_line(e,
              real                       ? "*(i64m *)(%s + 8) = bits_of(%s);"
              : kind == TVMS_ANY_POINTER ? "*(i64m *)(%s + 8) = WORD(%s);"
                                         : "*(i64m *)(%s + 8) = (i64)%s;",
              any, got);
}

static int64_t data_offset(uint32_t ndim) {
  int64_t end = TENSOR_MOST + 16 * (int64_t)ndim;
  return (end + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN;
}

// Declares the objects, of which none is made yet, so that all can be freed wherever making one fails.
static void declare_objects(c_emitter *e, const tvms_entry *entry) {
  uint32_t result = 0, tuple = 0;
  for (const char *at = entry->contract.result_text; *at; at++) {
    uint32_t param = entry->results[result].param;
    if (*at == '(') tvms_c_line(e, "ptr tuple%u = 0;", tuple++);
    if (*at == 't' || *at == 's') tvms_c_line(e, "ptr object%u = 0;", param);
    if (*at == 'o') tvms_c_line(e, "i64 box%u[2] = {0, 0};", param);
    result += tvms_contract_is_value(*at);
  }
}

void tvms_c_free_results(c_emitter *e, const tvms_entry *entry) {
  uint32_t result = 0, tuple = 0;
  for (const char *at = entry->contract.result_text; *at; at++) {
    if (*at == '(') tvms_c_line(e, "free_object(tuple%u);", tuple++);
    if (*at == 't' || *at == 's')
      tvms_c_line(e, "free_object(object%u);", entry->results[result].param);
    if (*at == 'o')
      tvms_c_line(e, "tvms_box_drop(box%u, 1);", entry->results[result].param);
    result += tvms_contract_is_value(*at);
  }
  if (entry->contract.has_workspace)
    tvms_c_line(e, "give_kept(kept_workspace, 1, result%u);",
                entry->function->params.len - 1);
}

static void need(c_emitter *e, const char *object) {
  tvms_c_line(e, "if (!%s) goto no_memory;", object);
}

static void make_tensor(c_emitter *e, const tvms_entry_result *r) {
  uint32_t i = r->param;
  tvms_dl_type type = tvms_interp_dl_type_of(r->element);
  uint32_t dtype = type.code | (uint32_t)type.bits << 8 | (uint32_t)type.lanes << 16;
  const char *object = tvms_c_text(e, "object%u", i);
  long long data = data_offset(r->ndim);
  tvms_c_line(e, "%s = new_object(s%u + %lld, %d);", object, r->bytes, data,
              TVMS_ANY_TENSOR);
  need(e, object);
  tvms_c_line(e, "struct tensor *tensor%u = (struct tensor *)(%s + %d);", i, object,
              TVMS_OBJECT_HEAD);
  tvms_c_line(e, "i64m *sizes%u = (i64m *)tensor%u->end;", i, i);
  tvms_c_line(e, "ptr result%u = %s + %lld;", i, object, data);
  tvms_c_line(
      e,
      "*tensor%u = (struct tensor){.data = result%u, .device_type = %d, .ndim = %u, .dtype = %uu, "
      ".shape = (ptr)sizes%u, .strides = (ptr)(sizes%u + %u)};",
      i, i, TVMS_DL_CPU, r->ndim, dtype, i, i, r->ndim);
  for (uint32_t k = 0; k < r->ndim; k++) {
    tvms_c_line(e, "sizes%u[%u] = s%u;", i, k, r->dims[k]);
    tvms_c_line(e, "sizes%u[%u] = s%u;", i, r->ndim + k, r->strides[k]);
  }
}

static void make_shape(c_emitter *e, const tvms_entry_result *r) {
  const char *object = tvms_c_text(e, "object%u", r->param);
  tvms_c_line(e, "%s = new_object(%lld, %d);", object,
              (long long)SHAPE_MOST + 8 * (long long)r->ndim, TVMS_ANY_SHAPE);
  need(e, object);
  tvms_c_line(e, "struct shape *shape%u = (struct shape *)(%s + %d);", r->param, object,
              TVMS_OBJECT_HEAD);
  tvms_c_line(e, "ptr result%u = shape%u->end;", r->param, r->param);
  tvms_c_line(e, "*shape%u = (struct shape){.data = result%u, .size = %u};", r->param,
              r->param, r->ndim);
}

static void make_tuple(c_emitter *e, uint32_t tuple, const char *text) {
  const char *object = tvms_c_text(e, "tuple%u", tuple);
  uint32_t count = tvms_contract_items(text + 1);
  tvms_c_line(e, "%s = new_object(%lld, %d);", object,
              (long long)ARRAY_MOST + 16 * (long long)count, TVMS_ANY_ARRAY);
  need(e, object);
  tvms_c_line(e, "struct array *array%u = (struct array *)(%s + %d);", tuple, object,
              TVMS_OBJECT_HEAD);
  tvms_c_line(
      e, "*array%u = (struct array){.data = array%u->end, .size = %u, .capacity = %u};",
      tuple, tuple, count, count);
}

void tvms_c_make_results(c_emitter *e, const tvms_entry *entry) {
  const char *text = entry->contract.result_text;
  if (entry->contract.has_workspace) {
    const char *place = tvms_c_text(e, "result%u", entry->function->params.len - 1);
    tvms_c_line(e, "ptr %s = take_kept(kept_workspace, 1, s%u);", place,
                entry->workspace);
    tvms_c_line(e, "if (!%s) return fail(\"MemoryError\", \"out of memory\");", place);
  }
  declare_objects(e, entry);
  uint32_t result = 0, tuple = 0;
  for (const char *at = text; *at; at++) {
    const tvms_entry_result *r = &entry->results[result];
    if (*at == '(') make_tuple(e, tuple++, at);
    if (*at == 't') make_tensor(e, r);
    if (*at == 's') make_shape(e, r);
    if (*at == 'o') tvms_c_line(e, "ptr result%u = (ptr)box%u;", r->param, r->param);
    if (*at == 'n') {
      tvms_c_line(e, "i64 number%u = 0;", r->param);
      tvms_c_line(e, "ptr result%u = (ptr)&number%u;", r->param, r->param);
    }
    result += tvms_contract_is_value(*at);
  }
}

typedef struct {
  const char *text;
  uint32_t result, tuple;
} giving;

// Puts the next value of the text into an any.
static void give(c_emitter *e, const tvms_entry *entry, giving *g, const char *any) {
  char kind = *g->text++;
  while (*g->text >= '0' && *g->text <= '9')
    g->text++;
  if (kind == '(') {
    uint32_t tuple = g->tuple++;
    tvms_c_line(e, "*(i64m *)(%s) = %d;", any, TVMS_ANY_ARRAY);
    tvms_c_line(e, "*(i64m *)(%s + 8) = WORD(tuple%u);", any, tuple);
    for (int i = 0; *g->text && *g->text != ')'; i++)
      give(e, entry, g, tvms_c_text(e, "array%u->end + %d", tuple, 16 * i));
    g->text++;
    return;
  }
  const tvms_entry_result *r = &entry->results[g->result++];
  if (kind == 'o') {
    tvms_c_line(e, "((i64m *)(%s))[0] = box%u[0], ((i64m *)(%s))[1] = box%u[1];", any,
                r->param, any, r->param);
    return;
  }
  if (kind == 'n') {
    tvms_c_store_any(e, r->element, tvms_c_text(e, "result%u", r->param), any);
    return;
  }
  tvms_c_line(e, "*(i64m *)(%s) = %d;", any,
              kind == 't' ? TVMS_ANY_TENSOR : TVMS_ANY_SHAPE);
  tvms_c_line(e, "*(i64m *)(%s + 8) = WORD(object%u);", any, r->param);
}

void tvms_c_give_results(c_emitter *e, const tvms_entry *entry) {
  if (entry->contract.has_workspace)
    tvms_c_line(e, "give_kept(kept_workspace, 1, result%u);",
                entry->function->params.len - 1);
  giving g = {.text = entry->contract.result_text};
  give(e, entry, &g, "(ptr)result");
}

void tvms_c_end_results(c_emitter *e, const tvms_entry *entry) {
  if (!strpbrk(entry->contract.result_text, "(ts")) return;
  tvms_c_line(e, "no_memory:");
  tvms_c_free_results(e, entry);
  tvms_c_line(e, "return fail(\"MemoryError\", \"out of memory\");");
}
