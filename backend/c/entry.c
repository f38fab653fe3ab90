// The entry of a PrimFunc in C: steps, the call of the body, results.
#include "backend/c/entry.h"

#include "backend/c/results.h"
#include "backend/c/steps.h"
#include "backend/core/place.h"
#include "backend/core/plain.h"
#include "ir/build.h"
#include "runtime/abi.h"

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

// What a body gets besides its parameters: memory for an error, and for a number that it returns.
static void lend(c_emitter *e, const tvms_member *member) {
  tvms_c_line(e, "struct held held;");
  tvms_c_line(e, "held.outside = %d;", !tvms_place_is_relax(member->function));
  tvms_c_line(e, "i64 slot[1] = {0};");
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
  c_steps steps = tvms_c_steps_open(e, entry, member);
  tvms_c_open(e, "%sint %s(void *self, const void *args, i32 count, void *result)",
              linkage, own);
  tvms_c_line(e, "(void)self, (void)result;");
  tvms_c_steps_take(e, &steps);
  tvms_strbuf args;
  tvms_strbuf_init(&args, &e->context->memory);
  bool serves = entry->contract.result_text != NULL;
  if (serves) tvms_c_make_results(e, entry);
  for (uint32_t i = 0; i < entry->contract.inputs; i++) {
    bool tensor = function->buffers.items[i] != NULL;
    tvms_dtype dtype =
        tensor ? TVMS_DTYPE(HANDLE, 64) : function->params.items[i]->dtype;
    tvms_strbuf_printf(&args, ", %s", argument_of(e, entry->params[i], dtype));
  }
  for (uint32_t i = entry->contract.inputs; i < function->params.len; i++)
    tvms_strbuf_printf(&args, ", result%u", i);
  for (uint32_t i = 0; i < sizes.len; i++) {
    const tvms_node *size = sizes.items[i];
    tvms_strbuf_printf(&args, ", %s",
                       argument_of(e, entry->vars[size->id] - 1, size->dtype));
  }
  tvms_vec_fini(&e->context->memory, &sizes);
  lend(e, member);
  tvms_c_open(e, "if (body_%s(&held, slot%s))", name, tvms_strbuf_text(&args));
  tvms_strbuf_fini(&args);
  if (serves) tvms_c_free_results(e, entry);
  tvms_c_line(e, "return raise_left(&held);");
  tvms_c_close(e);
  if (serves) tvms_c_give_results(e, entry);
  if (!tvms_dtype_is_void(e->result_dtype))
    tvms_c_store_any(e, e->result_dtype, "slot", "(ptr)result");
  tvms_c_line(e, "return 0;");
  if (serves) tvms_c_end_results(e, entry);
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
  tvms_strbuf fields, args;
  tvms_strbuf_init(&fields, &e->context->memory);
  tvms_strbuf_init(&args, &e->context->memory);
  for (uint32_t i = 0; i < contract.inputs; i++) {
    const tvms_node *param = function->params.items[i];
    bool object = !function->buffers.items[i] && tvms_dtype_is_handle(param->dtype);
    if (object) {
      tvms_strbuf_printf(&fields, " i64 f%u[2];", i);
      tvms_strbuf_printf(&args, ", (ptr)in->f%u", i);
      continue;
    }
    const char *type = field_type(e, function->buffers.items[i], param);
    tvms_strbuf_printf(&fields, " %s f%u;", type, i);
    bool truth = !function->buffers.items[i] && tvms_dtype_is_bool(param->dtype);
    tvms_strbuf_printf(&args, ", in->f%u%s", i, truth ? " != 0" : "");
  }
  for (uint32_t i = contract.inputs; i < contract.inputs + contract.results; i++)
    tvms_strbuf_printf(&args, ", out[%u]", i - contract.inputs);
  if (contract.has_workspace) tvms_strbuf_printf(&args, ", workspace");
  for (uint32_t i = 0; i < sizes.len; i++) {
    tvms_strbuf_printf(&fields, " %s n%u;", field_type(e, NULL, sizes.items[i]), i);
    tvms_strbuf_printf(&args, ", in->n%u", i);
  }
  tvms_vec_fini(&e->context->memory, &sizes);
  const char *head = tvms_c_text(
      e, "int %s(const struct %s_in *in, ptrm *out, ptr workspace)", plain, plain);
  tvms_c_line(e, "struct %s_in {%s };", plain,
              fields.len ? tvms_strbuf_text(&fields) : " char none;");
  tvms_c_line(e, "%s;", head);
  tvms_c_open(e, "%s", head);
  tvms_c_line(e, "(void)in, (void)out, (void)workspace;");
  lend(e, member);
  tvms_c_line(e, "return body_%s(&held, slot%s) ? raise_left(&held) : 0;", name,
              tvms_strbuf_text(&args));
  tvms_strbuf_fini(&fields);
  tvms_strbuf_fini(&args);
  tvms_c_close(e);
}
