// Executables and bundles to bytes.
#include "vm/write.h"

#include "vm/format.h"

#include <string.h>

static void put_u64(tvms_strbuf *out, uint64_t value) {
  char bytes[8];
  for (uint32_t i = 0; i < 8; i++)
    bytes[i] = (char)(value >> 8 * i);
  tvms_strbuf_add(out, bytes, 8);
}

static void put_i64(tvms_strbuf *out, int64_t value) {
  put_u64(out, (uint64_t)value);
}

static void put_i32(tvms_strbuf *out, int32_t value) {
  char bytes[4];
  for (uint32_t i = 0; i < 4; i++)
    bytes[i] = (char)((uint32_t)value >> 8 * i);
  tvms_strbuf_add(out, bytes, 4);
}

static void put_text(tvms_strbuf *out, const char *text, size_t len) {
  put_u64(out, len);
  tvms_strbuf_add(out, text, len);
}

static void put_words(tvms_strbuf *out, const int64_t *words, uint32_t count) {
  put_u64(out, count);
  for (uint32_t i = 0; i < count; i++)
    put_i64(out, words[i]);
}

static void put_type(tvms_strbuf *out, tvms_dl_type type) {
  char bytes[] = {(char)type.code, (char)type.bits, (char)type.lanes,
                  (char)(type.lanes >> 8)};
  tvms_strbuf_add(out, bytes, sizeof bytes);
}

static void put_function(tvms_strbuf *out, const tvms_vm_function *function) {
  put_i32(out, function->kind);
  put_text(out, function->name.text, function->name.len);
  put_i64(out, function->begin);
  put_i64(out, function->end);
  put_i64(out, function->arity);
  put_i64(out, function->registers);
  put_u64(out, function->param_count);
  for (uint32_t i = 0; i < function->param_count; i++)
    put_text(out, function->params[i].text, function->params[i].len);
}

static void put_tensor(tvms_strbuf *out, const tvms_vm_constant *constant) {
  put_i32(out, TVMS_VM_FORMAT_TENSOR);
  put_u64(out, TVMS_VM_TENSOR_MAGIC);
  put_u64(out, 0);
  put_i32(out, TVMS_DL_CPU);
  put_i32(out, 0);
  put_i32(out, constant->ndim);
  put_type(out, constant->dtype);
  for (int32_t i = 0; i < constant->ndim; i++)
    put_i64(out, constant->shape[i]);
  put_u64(out, constant->size);
  tvms_strbuf_add(out, constant->data, (size_t)constant->size);
}

static void put_constant(tvms_strbuf *out, const tvms_vm_constant *constant) {
  switch ((tvms_vm_constant_kind)constant->kind) {
  case TVMS_VM_TENSOR: put_tensor(out, constant); return;
  case TVMS_VM_SHAPE:
    put_i32(out, TVMS_VM_FORMAT_SHAPE);
    put_words(out, constant->shape, (uint32_t)constant->ndim);
    return;
  case TVMS_VM_TEXT:
    put_i32(out, TVMS_VM_FORMAT_TEXT);
    put_text(out, constant->data, (size_t)constant->size);
    return;
  case TVMS_VM_INT:
    put_i32(out, TVMS_VM_FORMAT_INT);
    put_i64(out, constant->i);
    return;
  case TVMS_VM_FLOAT: {
    uint64_t bits;
    memcpy(&bits, &constant->f, sizeof bits);
    put_i32(out, TVMS_VM_FORMAT_FLOAT);
    put_u64(out, bits);
    return;
  }
  case TVMS_VM_DTYPE:
    put_i32(out, TVMS_VM_FORMAT_DTYPE);
    put_type(out, constant->dtype);
    return;
  }
}

static void put_scopes(tvms_strbuf *out, const tvms_vm_executable *executable) {
  put_u64(out, executable->scopes.len);
  for (uint32_t i = 0; i < executable->scopes.len; i++) {
    const tvms_vm_scope *scope = &executable->scopes.items[i];
    put_i64(out, scope->constant);
    put_text(out, scope->scope.text, scope->scope.len);
  }
}

static void put_places(tvms_strbuf *out, const tvms_vm_executable *executable) {
  if (!executable->lines.len && !executable->names.len) return;
  put_u64(out, TVMS_VM_PLACES_MAGIC);
  put_u64(out, executable->lines.len);
  for (uint32_t i = 0; i < executable->lines.len; i++) {
    put_i64(out, executable->lines.items[i].instruction);
    put_i64(out, executable->lines.items[i].line);
  }
  put_u64(out, executable->names.len);
  for (uint32_t i = 0; i < executable->names.len; i++) {
    const tvms_vm_name *name = &executable->names.items[i];
    put_i64(out, name->instruction);
    put_text(out, name->name.text, name->name.len);
  }
}

void tvms_vm_write(const tvms_vm_executable *executable, tvms_dialect dialect,
                   tvms_strbuf *out) {
  bool scopes = tvms_release_has(dialect, TVMS_FACT_executables_have_scopes);
  put_u64(out, scopes ? TVMS_VM_MAGIC_SCOPES : TVMS_VM_MAGIC);
  put_text(out, TVMS_VM_VERSION, strlen(TVMS_VM_VERSION));
  put_u64(out, executable->functions.len);
  for (uint32_t i = 0; i < executable->functions.len; i++)
    put_function(out, &executable->functions.items[i]);
  if (scopes) put_scopes(out, executable);
  put_u64(out, executable->constants.len);
  for (uint32_t i = 0; i < executable->constants.len; i++)
    put_constant(out, &executable->constants.items[i]);
  put_words(out, executable->offsets.items, executable->offsets.len);
  put_words(out, executable->words.items, executable->words.len);
  put_places(out, executable);
}

// The executable is module 0 and imports module 1, the library.
void tvms_vm_write_bundle(const tvms_vm_executable *executable, tvms_dialect dialect,
                          tvms_strbuf *out) {
  static const int64_t offsets[] = {0, 1, 1}, children[] = {1};
  tvms_strbuf code, tail;
  tvms_strbuf_init(&code, out->memory);
  tvms_strbuf_init(&tail, out->memory);
  tvms_vm_write(executable, dialect, &code);
  put_words(&tail, offsets, 3);
  put_words(&tail, children, 1);
  put_text(&tail, TVMS_VM_KIND, strlen(TVMS_VM_KIND));
  put_text(&tail, code.text, code.len);
  put_text(&tail, "_lib", 4);
  put_text(out, tail.text, tail.len);
  tvms_strbuf_fini(&tail);
  tvms_strbuf_fini(&code);
}
