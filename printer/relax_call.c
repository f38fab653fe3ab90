// Calls of Relax: operators with their attributes, packed functions, functions.
#include "printer/relax_call.h"

#include "ir/object.h"
#include "ir/op.h"
#include "printer/expr.h"
#include "printer/object.h"
#include "printer/sinfo.h"
#include "printer/state.h"
#include "printer/text.h"

static bool is_relax_name(const tvms_printer *p, const tvms_node *callee) {
  const char *name = tvms_symbol_text(p->context, tvms_as_operator(callee)->name);
  return strncmp(name, "relax.", 6) == 0;
}

// Everything but calls of TIR operators and of PrimFuncs by TIR.
bool tvms_print_is_relax_call(const tvms_node *node) {
  const tvms_node *callee = tvms_as_call(node)->callee;
  switch (callee->kind) {
  case TVMS_NODE_OPERATOR: return tvms_op_called(node) != TVMS_R_NONE;
  case TVMS_NODE_GLOBAL_VAR: return tvms_dtype_is_void(node->dtype) && node->sinfo;
  default: return true;
  }
}

// The attributes of a call in the order in which they are printed.
typedef struct {
  tvms_printer *p;
  const tvms_call *call;
  const tvms_attr_schema *TVMS_NULLABLE schema;
  bool first;
} arguments;

static void print_attr_value(tvms_printer *p, const tvms_attr_row *row,
                             const tvms_node *value) {
  if (value && value->kind == TVMS_NODE_OBJECT_VDEVICE) {
    tvms_print_object(p, value);
    return;
  }
  bool void_dtype = !value && row->type == TVMS_ATTR_OPT_DTYPE
                    && tvms_release_has(p->dialect, TVMS_FACT_absent_dtypes_are_void);
  if (void_dtype)
    PUT(p, "\"void\"");
  else if (!value && (row->type == TVMS_ATTR_INTS || row->type == TVMS_ATTR_INT_LIST))
    PUT(p, "[]");
  else
    tvms_print_object(p, value);
}

static void print_attrs(arguments *a) {
  tvms_printer *p = a->p;
  if (!a->schema) {
    const tvms_node *map = tvms_attr(a->call, 0);
    if (!map || map->kind != TVMS_NODE_OBJECT_MAP) return;
    const tvms_object_map *pairs = tvms_as_object_map(map);
    if (a->call->callee->kind == TVMS_NODE_EXTERN_FUNC) {
      tvms_print_comma(p, &a->first);
      PUT(p, "attrs_type_key=\"ir.DictAttrs\"");
    }
    for (uint32_t i = 0; i < pairs->keys.len; i++) {
      const char *key = tvms_object_as_text(pairs->keys.items[i]);
      tvms_print_comma(p, &a->first);
      tvms_print_put(p, key ? key : "");
      PUT(p, "=");
      tvms_print_object(p, pairs->values.items[i]);
    }
    return;
  }
  for (uint32_t i = 0; i < a->schema->count; i++) {
    const tvms_attr_row *row = &a->schema->rows[i];
    if (!tvms_attr_in(row, p->dialect)) continue;
    tvms_print_comma(p, &a->first);
    tvms_print_put(p, row->name);
    PUT(p, "=");
    print_attr_value(p, row, tvms_attr(a->call, i));
  }
}

static void print_callee_arg(tvms_printer *p, const tvms_node *arg) {
  if (arg->kind == TVMS_NODE_EXTERN_FUNC) {
    tvms_bytes symbol = tvms_as_extern_func(arg)->symbol;
    tvms_print_quoted(p, symbol.text, symbol.len);
  } else {
    tvms_print_object(p, arg);
  }
}

static void print_type_args(arguments *a) {
  tvms_printer *p = a->p;
  tvms_list types = a->call->type_args;
  if (types.len == 0) return;
  tvms_print_comma(p, &a->first);
  tvms_print_put(p, tvms_release_has(p->dialect, TVMS_FACT_types_are_called_ty)
                        ? "ty_args=("
                        : "sinfo_args=(");
  tvms_print_list(p, types);
  tvms_print_put(p, types.len == 1 ? ",)" : ")");
}

// ---- call_tir and its relatives ----

static bool has_dtensor(const tvms_node *type) {
  if (type->kind != TVMS_NODE_SINFO_TUPLE) return type->kind == TVMS_NODE_SINFO_DTENSOR;
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  for (uint32_t i = 0; i < fields.len; i++) {
    if (fields.items[i]->kind == TVMS_NODE_SINFO_DTENSOR) return true;
  }
  return false;
}

static void print_out_type(tvms_printer *p, const tvms_node *type) {
  tvms_print_put(p, tvms_release_has(p->dialect, TVMS_FACT_types_are_called_ty)
                        ? ", out_ty="
                        : ", out_sinfo=");
  if (type->kind != TVMS_NODE_SINFO_TUPLE) {
    tvms_print_sinfo(p, type);
    return;
  }
  PUT(p, "[");
  tvms_print_list(p, tvms_as_sinfo_tuple(type)->fields);
  PUT(p, "]");
}

static void print_grad(tvms_printer *p, const tvms_call *call) {
  const tvms_node *kwargs = tvms_attr(call, TVMS_ATTR_with_grad_te_grad_kwargs);
  PUT(p, ", te_grad_name=");
  tvms_print_object(p, tvms_attr(call, TVMS_ATTR_with_grad_te_grad_name));
  bool given =
      kwargs && kwargs->kind == TVMS_NODE_OBJECT_MAP && tvms_object_map_count(kwargs);
  if (!given) return;
  PUT(p, ", te_grad_kwargs=");
  tvms_print_object(p, kwargs);
}

// Up to 0.25 scalars go in tir_vars, later they stand among the other arguments.
static void print_dps_args(tvms_printer *p, const tvms_call *call) {
  print_callee_arg(p, call->args.items[0]);
  if (call->args.len < 2) return;
  PUT(p, ", ");
  tvms_print_object(p, call->args.items[1]);
}

static void print_destination_call(tvms_printer *p, const tvms_call *call,
                                   tvms_opcode opcode) {
  const tvms_node *type = call->type_args.len ? call->type_args.items[0] : NULL;
  bool distributed = opcode == TVMS_R_call_tir && type && has_dtensor(type);
  tvms_print_r(p, distributed ? "dist.call_tir" : tvms_op_of(opcode)->name);
  PUT(p, "(");
  print_dps_args(p, call);
  if (type) print_out_type(p, type);
  if (opcode == TVMS_R_call_tir_inplace) {
    PUT(p, ", inplace_indices=");
    tvms_print_object(p, tvms_attr(call, TVMS_ATTR_inplace_inplace_indices));
  }
  if (opcode == TVMS_R_call_tir_with_grad) print_grad(p, call);
  if (call->args.len == 3) {
    if (!tvms_release_has(p->dialect, TVMS_FACT_call_tir_has_tir_vars))
      tvms_print_cannot(p, call->args.items[2], "tir_vars");
    PUT(p, ", tir_vars=");
    tvms_print_object(p, call->args.items[2]);
  }
  PUT(p, ")");
}

// ---- Operators with a form of their own ----

// The text of the format goes last, by keyword.
static void print_with_format(tvms_printer *p, const tvms_call *call, const char *name,
                              uint32_t format) {
  bool first = true;
  tvms_print_r(p, name);
  PUT(p, "(");
  for (uint32_t i = 0; i < call->args.len; i++) {
    if (i == format) continue;
    tvms_print_comma(p, &first);
    tvms_print_object(p, call->args.items[i]);
  }
  if (format < call->args.len) {
    tvms_print_comma(p, &first);
    PUT(p, "format=");
    tvms_print_object(p, call->args.items[format]);
  }
  PUT(p, ")");
}

static void print_hint_on_device(tvms_printer *p, const tvms_call *call) {
  tvms_print_r(p, "hint_on_device(");
  print_callee_arg(p, call->args.items[0]);
  PUT(p, ", ");
  bool classic = !tvms_release_has(p->dialect, TVMS_FACT_hints_on_device_say_scope);
  tvms_print_r(p, classic ? "device(dev_type=" : "device(device_type=");
  tvms_print_object(p, tvms_attr(call, TVMS_ATTR_hint_on_device_device_type));
  tvms_print_put(p, classic ? ", dev_id=" : ", index=");
  tvms_print_object(p, tvms_attr(call, TVMS_ATTR_hint_on_device_index));
  PUT(p, ")");
  const tvms_node *scope = tvms_attr(call, TVMS_ATTR_hint_on_device_memory_scope);
  if (!classic) {
    PUT(p, ", ");
    if (scope)
      tvms_print_object(p, scope);
    else
      PUT(p, "\"global\"");
  }
  PUT(p, ")");
}

static void print_to_vdevice(tvms_printer *p, const tvms_call *call) {
  const tvms_node *device = tvms_attr(call, TVMS_ATTR_to_vdevice_dst_vdevice);
  tvms_print_r(p, "to_vdevice(");
  print_callee_arg(p, call->args.items[0]);
  PUT(p, ", dst_vdevice=");
  if (device && device->kind == TVMS_NODE_OBJECT_VDEVICE)
    tvms_print_vdevice_name(p, device);
  else
    tvms_print_object(p, device);
  PUT(p, ")");
}

static bool print_special(tvms_printer *p, const tvms_call *call, tvms_opcode opcode) {
  switch ((int)opcode) {
  case TVMS_R_call_tir:
  case TVMS_R_call_tir_inplace:
  case TVMS_R_call_tir_with_grad:
  case TVMS_R_call_dps_packed:
  case TVMS_R_dist_call_tir_local_view:
    print_destination_call(p, call, opcode);
    return true;
  case TVMS_R_assert_op: print_with_format(p, call, "assert_op", 1); return true;
  case TVMS_R_print: print_with_format(p, call, "print", 0); return true;
  case TVMS_R_hint_on_device: print_hint_on_device(p, call); return true;
  case TVMS_R_to_vdevice: print_to_vdevice(p, call); return true;
  default: return false;
  }
}

static void print_prefix(arguments *a, tvms_opcode opcode) {
  tvms_printer *p = a->p;
  const tvms_node *callee = a->call->callee;
  if (callee->kind == TVMS_NODE_EXTERN_FUNC) {
    tvms_print_r(p, "call_packed(");
    tvms_print_comma(p, &a->first);
    print_callee_arg(p, callee);
    return;
  }
  if (opcode != TVMS_R_NONE)
    tvms_print_r(p, tvms_op_of(opcode)->name);
  else if (callee->kind == TVMS_NODE_OPERATOR)
    tvms_print_r(p, tvms_symbol_text(p->context, tvms_as_operator(callee)->name)
                        + (is_relax_name(p, callee) ? 6 : 0));
  else
    tvms_print_expr(p, callee, LEVEL_ATOM);
  PUT(p, "(");
}

static bool is_alloc_tensor(tvms_opcode opcode) {
  return opcode == TVMS_R_memory_alloc_tensor || opcode == TVMS_R_vm_alloc_tensor;
}

// The device index of alloc_tensor that a program of 0.24 or older leaves open.
static void print_device(tvms_printer *p, const tvms_call *call, tvms_opcode opcode) {
  bool open =
      p->module
      && !tvms_release_has(p->module->dialect, TVMS_FACT_alloc_tensor_has_device)
      && tvms_release_has(p->dialect, TVMS_FACT_alloc_tensor_has_device);
  if (!open || !is_alloc_tensor(opcode) || call->args.len != 4) return;
  if (!tvms_release_has(p->dialect, TVMS_FACT_scalars_are_tir)) {
    PUT(p, ", ");
    tvms_print_r(p, "prim_value(0)");
  } else {
    PUT(p, ", 0");
  }
}

// How many arguments are written: up to 0.24 alloc_tensor has no device index, which is 0.
static uint32_t written_args(tvms_printer *p, const tvms_call *call,
                             tvms_opcode opcode) {
  uint32_t count = call->args.len;
  if (!is_alloc_tensor(opcode) || count != 5
      || tvms_release_has(p->dialect, TVMS_FACT_alloc_tensor_has_device))
    return count;
  const tvms_node *index = call->args.items[4];
  bool zero = index->kind == TVMS_NODE_PRIM_VALUE
              && tvms_node_is_int(tvms_as_prim_value(index)->value, 0);
  if (!zero) tvms_print_cannot(p, &call->head, "the device of alloc_tensor");
  return count - 1;
}

void tvms_print_relax_call(tvms_printer *p, const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_opcode opcode = tvms_op_called(node);
  if (opcode != TVMS_R_NONE && print_special(p, call, opcode)) return;
  arguments a = {p, call, NULL, true};
  if (opcode != TVMS_R_NONE) {
    a.schema = tvms_op_schema(opcode);
    bool inspects =
        strncmp(tvms_op_of(opcode)->name, "inspect.", 8) == 0 && p->module
        && tvms_release_has(p->module->dialect, TVMS_FACT_tensors_can_be_inspected)
        && !tvms_release_has(p->dialect, TVMS_FACT_tensors_can_be_inspected);
    if (inspects || !tvms_op_in(opcode, p->dialect)) {
      tvms_print_cannot(p, node, tvms_op_of(opcode)->name);
    }
  }
  print_prefix(&a, opcode);
  uint32_t count = written_args(p, call, opcode);
  for (uint32_t i = 0; i < count; i++) {
    tvms_print_comma(p, &a.first);
    if (i == 0)
      print_callee_arg(p, call->args.items[i]);
    else
      tvms_print_object(p, call->args.items[i]);
  }
  print_device(p, call, opcode);
  print_attrs(&a);
  print_type_args(&a);
  PUT(p, ")");
}
