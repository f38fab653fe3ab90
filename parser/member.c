// Functions of a module where its text mentions them: cls.f, Module.f, cls.f(…).
#include "parser/tir/member.h"

#include "parser/eval/eval.h"
#include "parser/eval/ops.h"
#include "parser/relax/value.h"
#include "parser/room.h"
#include "parser/tir/access.h"
#include "parser/tir/tir.h"
#include "parser/tir/values.h"
#include "support/diag_ids.h"

#include <string.h>

// Whether the text has `def name(` behind the name of the module: of a function that is none of it.
static bool has_header(const tvms_reader *reader, const char *name, tvms_span *header) {
  const char *text = reader->surface->source->text;
  size_t len = strlen(name);
  for (const char *at = text + reader->module->name_span.end; (at = strstr(at, "def "));
       at += 4) {
    const char *found = at + 4;
    if (strncmp(found, name, len) != 0 || found[len] != '(') continue;
    *header = (tvms_span){(uint32_t)(found - text), (uint32_t)(found + len - text)};
    return true;
  }
  return false;
}

// Whether the line at `header` was refused, which is the reason then.
static bool is_refused(const tvms_diags *diags, tvms_span header) {
  const char *text = diags->source->text;
  uint32_t end = header.end + (uint32_t)strcspn(text + header.end, "\n");
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    bool syntax = diag->id < TVMS_D_undefined_name && diag->source == diags->source;
    if (syntax && diag->span.begin >= header.begin && diag->span.begin <= end)
      return true;
  }
  return false;
}

static void report_no_member(tvms_reader *reader, tvms_sym name, tvms_span span) {
  tvms_diags *diags = &reader->context->diags;
  const tvms_module *module = reader->module;
  const char *text = tvms_symbol_text(reader->context, name);
  uint32_t len = tvms_interner_name(&reader->context->names, name)->len;
  span.begin = span.end - len;
  tvms_span header;
  bool bare = has_header(reader, text, &header);
  // Without the namespace that a refused import was to bind nothing is a decorator.
  if (bare && (reader->open || is_refused(diags, header))) return;
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_no_member, span, text);
  if (bare) {
    tvms_diag_note(diags, diag, header,
                   "no decorator makes this a function of the module");
    return;
  }
  TVMS_VEC(const char *) names = {0};
  uint32_t count = module->member_count;
  if (!tvms_diags_may_compare_names(diags, count)) count = 0;
  for (uint32_t i = 0; i < count; i++) {
    tvms_vec_push(&reader->context->memory, &names,
                  tvms_symbol_text(reader->context, module->members[i].name));
  }
  const char *near = tvms_diag_nearest_name(text, names.items, names.len);
  tvms_vec_fini(&reader->context->memory, &names);
  if (!near) return;
  tvms_diag_remark(diags, diag, "did you mean '%s'?", near);
  tvms_diag_fix(diags, diag, span, false, "%s", near);
}

static tvms_eval_value module_attribute(tvms_reader *reader, tvms_eval_value module,
                                        tvms_sym name, tvms_ref ref) {
  (void)module;
  tvms_span span = tvms_reader_span_of(reader, ref);
  if (!tvms_module_find(reader->module, name)) {
    report_no_member(reader, name, span);
    return tvms_reader_failed(reader);
  }
  tvms_global_var *node = tvms_node_make(reader->unit, GLOBAL_VAR, span);
  node->name = name;
  return tvms_eval_value_node(&node->head);
}

const tvms_eval_value_ops tvms_member_module_ops = {.attribute = module_attribute};

static tvms_eval_value function_call(tvms_reader *reader, tvms_eval_value callee,
                                     tvms_ref call) {
  return tvms_relax_of(reader) ? tvms_relax_call_global(reader, callee.as.node, call)
                               : tvms_tir_call_global(reader, callee.as.node, call);
}

const tvms_eval_value_ops tvms_member_function_ops = {
    TVMS_NODE_OPERATIONS,
    .attribute = tvms_tir_attribute,
    .call = function_call,
    .subscript = tvms_tir_subscript,
};
