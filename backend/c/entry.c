// The entry of a PrimFunc in C: a line for each step (backend/core/entry.h).
#include "backend/c/entry.h"

#include "backend/c/results.h"
#include "backend/core/plain.h"
#include "ir/build.h"
#include "runtime/abi.h"

static bool is_pointer(const tvms_entry *entry, uint32_t at) {
  const tvms_entry_step *step = &entry->steps[at];
  switch (step->kind) {
  case TVMS_ENTRY_ARGUMENTS:
  case TVMS_ENTRY_LOAD_POINTER:
  case TVMS_ENTRY_OFFSET: return true;
  case TVMS_ENTRY_CHOOSE:
    return is_pointer(entry, step->b) && is_pointer(entry, step->c);
  default: return false;
  }
}

static const char *operand(c_emitter *e, const tvms_entry *entry, uint32_t at) {
  return tvms_c_text(e, is_pointer(entry, at) ? "WORD(s%u)" : "s%u", at);
}

static const char *binary(c_emitter *e, const tvms_entry *entry, uint32_t at,
                          const char *sign) {
  const tvms_entry_step *step = &entry->steps[at];
  return tvms_c_text(e, "%s %s %s", operand(e, entry, step->a), sign,
                     operand(e, entry, step->b));
}

static const char *wrapping(c_emitter *e, const tvms_entry_step *step,
                            const char *sign) {
  return tvms_c_text(e, "(i64)((u64)s%u %s (u64)s%u)", step->a, sign, step->b);
}

static const char *helper(c_emitter *e, const tvms_entry_step *step, const char *name) {
  return tvms_c_text(e, "%s(s%u, s%u)", name, step->a, step->b);
}

static const char *value_of(c_emitter *e, const tvms_entry *entry, uint32_t at) {
  const tvms_entry_step *step = &entry->steps[at];
  long long number = step->number;
  const char *at_field = step->field
                             ? tvms_c_text(e, "AT_%s", tvms_layout_name(step->field))
                             : tvms_c_text(e, "%lld", number);
  uint32_t a = step->a, b = step->b;
  switch (step->kind) {
  case TVMS_ENTRY_ARGUMENTS: return "(ptr)args";
  case TVMS_ENTRY_COUNT: return "count";
  case TVMS_ENTRY_NUMBER: return tvms_c_text(e, "%lldll", number);
  case TVMS_ENTRY_LOAD_INT32: return tvms_c_text(e, "*(i32m *)(s%u + %s)", a, at_field);
  case TVMS_ENTRY_LOAD_INT64: return tvms_c_text(e, "*(i64m *)(s%u + %s)", a, at_field);
  case TVMS_ENTRY_LOAD_POINTER:
    return tvms_c_text(e, "*(ptrm *)(s%u + %s)", a, at_field);
  case TVMS_ENTRY_OFFSET: return tvms_c_text(e, "s%u + %lld", a, number);
  case TVMS_ENTRY_ADD: return wrapping(e, step, "+");
  case TVMS_ENTRY_SUB: return wrapping(e, step, "-");
  case TVMS_ENTRY_MUL: return wrapping(e, step, "*");
  case TVMS_ENTRY_GROW_ADD: return helper(e, step, "add_bounded");
  case TVMS_ENTRY_GROW_SUB: return helper(e, step, "sub_bounded");
  case TVMS_ENTRY_GROW_MUL: return helper(e, step, "mul_bounded");
  case TVMS_ENTRY_DIV: return helper(e, step, "div_to_zero");
  case TVMS_ENTRY_MOD: return helper(e, step, "mod_to_zero");
  case TVMS_ENTRY_FLOOR_DIV: return helper(e, step, "div_floor");
  case TVMS_ENTRY_FLOOR_MOD: return helper(e, step, "mod_floor");
  case TVMS_ENTRY_MIN: return tvms_c_text(e, "s%u < s%u ? s%u : s%u", a, b, a, b);
  case TVMS_ENTRY_MAX: return tvms_c_text(e, "s%u > s%u ? s%u : s%u", a, b, a, b);
  case TVMS_ENTRY_BITS_AND: return binary(e, entry, at, "&");
  case TVMS_ENTRY_SIGNED: return tvms_c_text(e, "(i%lld)s%u", number, a);
  case TVMS_ENTRY_UNSIGNED: return tvms_c_text(e, "(u%lld)s%u", number, a);
  case TVMS_ENTRY_REAL: return tvms_c_text(e, "bits_of((f64)s%u)", a);
  case TVMS_ENTRY_EQUAL: return binary(e, entry, at, "==");
  case TVMS_ENTRY_IS:
    return tvms_c_text(e, "%s == %lldll", operand(e, entry, a), number);
  case TVMS_ENTRY_AT_LEAST: return binary(e, entry, at, ">=");
  case TVMS_ENTRY_EITHER: return binary(e, entry, at, "|");
  case TVMS_ENTRY_BOTH: return binary(e, entry, at, "&");
  case TVMS_ENTRY_NOT: return tvms_c_text(e, "!s%u", a);
  default: return tvms_c_text(e, "s%u ? s%u : s%u", a, b, step->c);
  }
}

static void write_step(c_emitter *e, const tvms_entry *entry, uint32_t at) {
  const tvms_entry_step *step = &entry->steps[at];
  if (step->kind < TVMS_ENTRY_CHECK) {
    tvms_c_line(e, "const %s s%u = %s;", is_pointer(entry, at) ? "ptr" : "i64", at,
                value_of(e, entry, at));
    return;
  }
  const char *holds = step->kind == TVMS_ENTRY_CHECK ? tvms_c_text(e, "s%u", step->a)
                                                     : binary(e, entry, at, "==");
  tvms_c_check(e, holds, step->error, step->text, TVMS_NO_SPAN);
}

// A step's value as a parameter of this type.
static const char *argument_of(c_emitter *e, uint32_t step, tvms_dtype dtype) {
  const char *value = tvms_c_text(e, "s%u", step);
  if (!tvms_dtype_is_real(dtype)) return value;
  value = tvms_c_text(e, "real_of(%s)", value);
  return tvms_c_convert(e, TVMS_DTYPE(FLOAT, 64), dtype, value);
}

bool tvms_c_is_exported(const c_emitter *e, const tvms_member *member) {
  return e->exports_all || !(member->function->flags & TVMS_FLAG_PRIVATE);
}

const char *tvms_c_entry_name(c_emitter *e, const tvms_member *member) {
  const char *name = tvms_symbol_text(e->context, member->name);
  bool exported = tvms_c_is_exported(e, member);
  return tvms_c_text(e, exported ? TVMS_SAFE_CALL_PREFIX "%s" : "entry_%s", name);
}

void tvms_c_entry(c_emitter *e, const tvms_member *member) {
  const char *name = tvms_symbol_text(e->context, member->name);
  const char *own = tvms_c_entry_name(e, member);
  const char *exported = e->plain_prefix ? "__attribute__((weak)) " : "";
  const char *linkage = tvms_c_is_exported(e, member) ? exported : "static ";
  const tvms_entry *entry = tvms_entry_new(e->context, member, true);
  const tvms_prim_func *function = entry->function;
  tvms_params_sizes sizes = {0};
  tvms_params_collect(&e->context->memory, function, &sizes);
  tvms_c_line(e, "%sint %s(void *self, const void *args, i32 count, void *result);",
              linkage, own);
  tvms_c_open(e, "%sint %s(void *self, const void *args, i32 count, void *result)",
              linkage, own);
  tvms_c_line(e, "(void)self, (void)result;");
  for (uint32_t i = 0; i < entry->count; i++) {
    write_step(e, entry, i);
  }
  const char *args = "";
  bool serves = entry->contract.result_text != NULL;
  if (serves) tvms_c_make_results(e, entry);
  for (uint32_t i = 0; i < entry->contract.inputs; i++) {
    bool tensor = function->buffers.items[i] != NULL;
    tvms_dtype dtype =
        tensor ? TVMS_DTYPE(HANDLE, 64) : function->params.items[i]->dtype;
    args = tvms_c_text(e, "%s, %s", args, argument_of(e, entry->params[i], dtype));
  }
  for (uint32_t i = entry->contract.inputs; i < function->params.len; i++)
    args = tvms_c_text(e, "%s, result%u", args, i);
  for (uint32_t i = 0; i < sizes.len; i++) {
    const tvms_node *size = sizes.items[i];
    args = tvms_c_text(e, "%s, %s", args,
                       argument_of(e, entry->vars[size->id] - 1, size->dtype));
  }
  tvms_vec_fini(&e->context->memory, &sizes);
  tvms_c_line(e, "i64 slot[3] = {0};");
  tvms_c_open(e, "if (body_%s(slot%s))", name, args);
  if (serves) tvms_c_free_results(e, entry);
  tvms_c_line(e, "return raise_held(slot, \"\");");
  tvms_c_close(e);
  if (serves) tvms_c_give_results(e, entry);
  if (!tvms_dtype_is_void(e->result_dtype))
    tvms_c_store_any(e, e->result_dtype, "slot", "(ptr)result");
  tvms_c_line(e, "return 0;");
  tvms_c_close(e);
}

// A field of a struct as the type of a parameter.
static const char *field_type(c_emitter *e, const tvms_node *TVMS_NULLABLE buffer,
                              const tvms_node *param) {
  if (buffer) return "ptr";
  return tvms_dtype_is_bool(param->dtype) ? "u8"
                                          : tvms_c_type(e, param->dtype, param->span);
}

void tvms_c_plain(c_emitter *e, const tvms_member *member) {
  const char *name = tvms_symbol_text(e->context, member->name);
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  tvms_contract contract = tvms_call_contract(function);
  if (!contract.result_text || !e->plain_prefix) return;
  const char *plain = tvms_plain_name(e->program, member, e->plain_prefix);
  tvms_params_sizes sizes = {0};
  tvms_params_collect(&e->context->memory, function, &sizes);
  const char *fields = "", *args = "";
  for (uint32_t i = 0; i < contract.inputs; i++) {
    const tvms_node *param = function->params.items[i];
    bool object = !function->buffers.items[i] && tvms_dtype_is_handle(param->dtype);
    if (object) {
      fields = tvms_c_text(e, "%s i64 f%u[2];", fields, i);
      args = tvms_c_text(e, "%s, (ptr)in->f%u", args, i);
      continue;
    }
    const char *type = field_type(e, function->buffers.items[i], param);
    fields = tvms_c_text(e, "%s %s f%u;", fields, type, i);
    bool truth = !function->buffers.items[i] && tvms_dtype_is_bool(param->dtype);
    args = tvms_c_text(e, "%s, in->f%u%s", args, i, truth ? " != 0" : "");
  }
  for (uint32_t i = contract.inputs; i < contract.inputs + contract.results; i++)
    args = tvms_c_text(e, "%s, out[%u]", args, i - contract.inputs);
  if (contract.has_workspace) args = tvms_c_text(e, "%s, workspace", args);
  for (uint32_t i = 0; i < sizes.len; i++) {
    fields =
        tvms_c_text(e, "%s %s n%u;", fields, field_type(e, NULL, sizes.items[i]), i);
    args = tvms_c_text(e, "%s, in->n%u", args, i);
  }
  tvms_vec_fini(&e->context->memory, &sizes);
  const char *head = tvms_c_text(
      e, "int %s(const struct %s_in *in, ptrm *out, ptr workspace)", plain, plain);
  tvms_c_line(e, "struct %s_in {%s };", plain, *fields ? fields : " char none;");
  tvms_c_line(e, "%s;", head);
  tvms_c_open(e, "%s", head);
  tvms_c_line(e, "(void)in, (void)out, (void)workspace;");
  tvms_c_line(e, "i64 slot[3] = {0};");
  tvms_c_line(e, "return body_%s(slot%s) ? raise_held(slot, \"\") : 0;", name, args);
  tvms_c_close(e);
}
