// One paragraph per function of the table: packed ones by their name, others with their code.
//
//   @main:
//     call  vm.builtin.make_shape in: %2, i1, i1, i1 dst: %3
//     ret   %3
//
//   @vm.builtin.make_shape packed_func;
//
// TVM: src/runtime/vm/executable.cc, AsText. Columns are padded on the right and grow.
#include "vm/text.h"

typedef struct {
  const tvms_vm_executable *executable;
  tvms_strbuf *out;
} text;

// Blanks up to `width` bytes behind `begin`.
static void pad(text *t, size_t begin, size_t width) {
  size_t len = t->out->len - begin;
  if (len < width) tvms_strbuf_fill(t->out, ' ', width - len);
}

static void put_register(text *t, int64_t index) {
  if (index == TVMS_VM_VOID) {
    tvms_strbuf_puts(t->out, "%void");
  } else if (index == TVMS_VM_SELF) {
    tvms_strbuf_puts(t->out, "%vm");
  } else {
    tvms_strbuf_putc(t->out, '%');
    tvms_strbuf_int(t->out, index);
  }
}

static void put_name(text *t, int64_t index) {
  tvms_bytes name = t->executable->functions.items[index].name;
  tvms_strbuf_add(t->out, name.text, name.len);
}

static void put_argument(text *t, int64_t word) {
  int64_t value = tvms_vm_word_value(word);
  switch (tvms_vm_word_kind(word)) {
  case TVMS_VM_REGISTER: put_register(t, value); return;
  case TVMS_VM_IMMEDIATE:
    tvms_strbuf_putc(t->out, 'i');
    tvms_strbuf_int(t->out, value);
    return;
  case TVMS_VM_CONSTANT:
    tvms_strbuf_printf(t->out, "c[%lld]", (long long)value);
    return;
  default:
    tvms_strbuf_puts(t->out, "f[");
    put_name(t, value);
    tvms_strbuf_putc(t->out, ']');
  }
}

static void put_call(text *t, const int64_t *words) {
  tvms_strbuf_puts(t->out, "call  ");
  size_t begin = t->out->len;
  put_name(t, words[2]);
  pad(t, begin, 16);
  tvms_strbuf_puts(t->out, " in: ");
  begin = t->out->len;
  for (int64_t i = 0; i < words[3]; i++) {
    if (i) tvms_strbuf_puts(t->out, ", ");
    put_argument(t, words[4 + i]);
  }
  pad(t, begin, 12);
  tvms_strbuf_puts(t->out, " dst: ");
  put_register(t, words[1]);
}

static void put_instruction(text *t, const int64_t *words) {
  tvms_strbuf_puts(t->out, "  ");
  switch (words[0]) {
  case TVMS_VM_CALL: put_call(t, words); break;
  case TVMS_VM_RET:
    tvms_strbuf_puts(t->out, "ret   ");
    put_register(t, words[1]);
    break;
  case TVMS_VM_GOTO:
    tvms_strbuf_puts(t->out, "goto  ");
    tvms_strbuf_int(t->out, words[1]);
    break;
  default:
    tvms_strbuf_puts(t->out, "If    ");
    put_register(t, words[1]);
    tvms_strbuf_puts(t->out, ", ");
    tvms_strbuf_int(t->out, words[2]);
  }
  tvms_strbuf_putc(t->out, '\n');
}

static void put_function(text *t, const tvms_vm_function *function) {
  tvms_strbuf_putc(t->out, '@');
  tvms_strbuf_add(t->out, function->name.text, function->name.len);
  if (function->kind == TVMS_VM_IS_PACKED) {
    tvms_strbuf_puts(t->out, " packed_func;\n\n");
    return;
  }
  if (function->kind == TVMS_VM_IS_COMPILED) {
    tvms_strbuf_printf(t->out, " num_inputs=%lld vm_tir_func;\n\n",
                       (long long)function->arity);
    return;
  }
  tvms_strbuf_puts(t->out, ":\n");
  for (int64_t i = function->begin; i < function->end; i++)
    put_instruction(t, tvms_vm_instruction(t->executable, i));
  tvms_strbuf_putc(t->out, '\n');
}

void tvms_vm_text(const tvms_vm_executable *executable, tvms_strbuf *out) {
  text t = {executable, out};
  for (uint32_t i = 0; i < executable->functions.len; i++)
    put_function(&t, &executable->functions.items[i]);
}
