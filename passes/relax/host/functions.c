// Functions as values: what can be seen is a FUNCTION or a CHOICE and costs nothing; an object is made of it
// where it leaves the function.
//
//   T.anylist_setitem_call_packed(objects, 0, "vm.builtin.make_closure", "scaled", …)
//   T.anylist_setitem_call_packed(objects, 1, "vm.builtin.invoke_closure", T.anylist_getitem(objects, 0), …)
//
// The name is that of a function of the module, of which back ends take the entry, or of one that whoever loads the
// library has (R.ExternFunc), and what it has captured comes behind the arguments of each call.
#include "passes/relax/host/functions.h"

#include "ir/build.h"
#include "passes/relax/host/bindings.h"
#include "passes/relax/host/calls.h"
#include "passes/relax/host/choices.h"
#include "passes/relax/host/objects.h"
#include "passes/relax/host/values.h"

#include <string.h>

// A function that whoever loads the library has, by its name.
static tvms_host_value *TVMS_NULLABLE external(tvms_host *h, const tvms_node *node) {
  tvms_bytes name = tvms_as_extern_func(node)->symbol;
  tvms_node *text = tvms_string_imm_new(h->unit, name.text, name.len, TVMS_NO_SPAN);
  tvms_node_vec args = {0};
  tvms_vec_push(tvms_host_memory(h), &args, text);
  tvms_host_value *made =
      tvms_host_make(h, "vm.builtin.make_closure", &args, node->span);
  tvms_vec_fini(tvms_host_memory(h), &args);
  return made;
}

tvms_host_value *tvms_host_function_value(tvms_host *h, const tvms_node *node) {
  if (node->kind == TVMS_NODE_EXTERN_FUNC) return external(h, node);
  const tvms_member *member = node->kind == TVMS_NODE_GLOBAL_VAR
                                  ? tvms_module_named(h->run->module, node)
                                  : NULL;
  uint32_t index = member ? (uint32_t)(member - h->run->module->members) : 0;
  bool known = member && member->function && index < h->function_count
               && (member->function->kind == TVMS_NODE_FUNCTION
                   || member->function->kind == TVMS_NODE_PRIM_FUNC);
  if (!known)
    return tvms_host_refuse(h, node->span,
                            "a value is a function that is defined elsewhere");
  tvms_host_value *value = tvms_host_value_new(h, TVMS_HOST_FUNCTION);
  value->member = index;
  return value;
}

// Appends values as a packed function takes them that keeps what it gets.
static bool push_kept(tvms_host *h, tvms_host_value *const *values, uint32_t count,
                      tvms_node_vec *args) {
  for (uint32_t i = 0; i < count && !h->failed; i++)
    tvms_host_push_boxed(h, values[i], args);
  return !h->failed;
}

bool tvms_host_box_function(tvms_host *h, const tvms_host_value *function,
                            const tvms_host_value *to) {
  const tvms_member *member = &h->run->module->members[function->member];
  const char *name = tvms_symbol_text(h->run->context, member->name);
  tvms_node_vec args = {0};
  h->functions[function->member].boxed = true;
  tvms_vec_push(tvms_host_memory(h), &args,
                tvms_string_imm_new(h->unit, name, strlen(name), TVMS_NO_SPAN));
  if (push_kept(h, function->fields, function->count, &args))
    tvms_host_set(h, to, "vm.builtin.make_closure", &args, TVMS_NO_SPAN);
  tvms_vec_fini(tvms_host_memory(h), &args);
  return !h->failed;
}

// A closure over a function of which nothing is known here.
static tvms_host_value *TVMS_NULLABLE extend(tvms_host *h, tvms_host_value *function,
                                             const tvms_host_value *captured,
                                             tvms_span span) {
  tvms_node_vec args = {0};
  tvms_host_value *made = NULL;
  if (push_kept(h, &function, 1, &args)
      && push_kept(h, captured->fields, captured->count, &args))
    made = tvms_host_make(h, "vm.builtin.make_closure", &args, span);
  tvms_vec_fini(tvms_host_memory(h), &args);
  return made;
}

// make_closure(function, (captured…)): the function may be a closure, whose values come behind these.
tvms_host_value *tvms_host_make_closure(tvms_host *h, const tvms_call *call) {
  tvms_host_value *function = tvms_host_eval(h, call->args.items[0]);
  const tvms_host_value *captured =
      function ? tvms_host_eval(h, call->args.items[1]) : NULL;
  if (!captured) return NULL;
  if (captured->kind != TVMS_HOST_TUPLE)
    return tvms_host_refuse(h, call->head.span, "what it captures is not a tuple");
  if (function->kind != TVMS_HOST_FUNCTION)
    return extend(h, function, captured, call->head.span);
  uint32_t count = captured->count + function->count;
  tvms_host_value *closure = tvms_host_value_of(h, TVMS_HOST_FUNCTION, count);
  closure->member = function->member;
  for (uint32_t i = 0; i < count; i++)
    closure->fields[i] = i < captured->count ? captured->fields[i]
                                             : function->fields[i - captured->count];
  return closure;
}

// Calls an object. It may keep its arguments, so they are not lent.
static tvms_host_value *TVMS_NULLABLE invoke_object(tvms_host *h, const tvms_node *node,
                                                    const tvms_host_value *function,
                                                    tvms_list args) {
  tvms_memory *memory = tvms_host_memory(h);
  tvms_node_vec all = {0};
  tvms_host_value *result = NULL;
  tvms_vec_push(memory, &all, tvms_host_item(h, function));
  for (uint32_t i = 0; i < args.len && !h->failed; i++) {
    tvms_host_value *value = tvms_host_eval(h, args.items[i]);
    if (value) tvms_host_push_boxed(h, value, &all);
  }
  if (!h->failed)
    result = tvms_host_make(h, "vm.builtin.invoke_closure", &all, node->span);
  tvms_vec_fini(memory, &all);
  if (!result || !node->sinfo) return result;
  return tvms_host_unboxed(h, node->sinfo, result,
                           "result of a function: ", node->span);
}

tvms_host_value *tvms_host_invoke(tvms_host *h, tvms_node *node, tvms_node *callee,
                                  tvms_list args) {
  const tvms_host_value *function = tvms_host_eval(h, callee);
  if (!function) return NULL;
  switch ((int)function->kind) {
  case TVMS_HOST_CHOICE: return tvms_host_invoke_choice(h, node, function, args);
  case TVMS_HOST_FUNCTION: return tvms_host_call_function(h, node, function, args);
  case TVMS_HOST_OBJECT: return invoke_object(h, node, function, args);
  default: return tvms_host_refuse(h, node->span, "what it calls is not a function");
  }
}

tvms_host_value *tvms_host_invoke_closure(tvms_host *h, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  if (call->args.items[1]->kind != TVMS_NODE_TUPLE)
    return tvms_host_refuse(h, node->span, "its arguments are not written out");
  return tvms_host_invoke(h, node, call->args.items[0],
                          tvms_as_tuple(call->args.items[1])->fields);
}
