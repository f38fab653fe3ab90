// Calls of instructions whose arguments changed with 0.27 (ir/device/changed.def): matched
// against the pattern of the one release and written by that of the other.
#include "printer/changed.h"

#include "ir/device/changed.h"
#include "printer/object.h"
#include "printer/state.h"
#include "printer/text.h"

#include <string.h>

// The arguments that stand for the names of a row.
typedef const tvms_node *captures[TVMS_CHANGED_CAPTURES];

static bool is_text(const tvms_node *arg, const char *text) {
  if (arg->kind != TVMS_NODE_STRING_IMM) return false;
  return tvms_bytes_is(tvms_as_string_imm(arg)->value, text);
}

// The argument of a call of this operator, or NULL.
static const tvms_node *TVMS_NULLABLE operand(const tvms_node *arg,
                                              tvms_tir_opcode opcode) {
  bool called = tvms_call_opcode(arg) == opcode;
  return called ? tvms_as_call(arg)->args.items[0] : NULL;
}

// What was made an uint32.
static const tvms_node *plain_number(const tvms_node *arg) {
  bool cast = arg->kind == TVMS_NODE_CAST
              && tvms_dtype_same(tvms_as_cast(arg)->value->dtype, TVMS_DTYPE(INT, 32));
  return cast ? tvms_as_cast(arg)->value : arg;
}

static bool matches(const tvms_node *arg, const tvms_changed_item *item,
                    captures found) {
  switch ((tvms_changed_kind)item->kind) {
  case TVMS_CHANGED_TEXT: return is_text(arg, item->text);
  case TVMS_CHANGED_NUMBER:
  case TVMS_CHANGED_TRUTH: return tvms_node_is_int(arg, item->number);
  case TVMS_CHANGED_ADDRESS: arg = operand(arg, TVMS_TIR_address_of); break;
  case TVMS_CHANGED_SHARED:
    arg = operand(arg, TVMS_TIR_cuda__cvta_generic_to_shared);
    break;
  case TVMS_CHANGED_UINT32: arg = plain_number(arg); break;
  case TVMS_CHANGED_ANY: break;
  }
  found[item->name] = arg;
  return arg != NULL;
}

static bool matches_all(tvms_list args, const tvms_changed_call *call, captures found) {
  if (args.len != call->count) return false;
  for (uint32_t k = 0; k < args.len; k++) {
    if (!matches(args.items[k], &tvms_changed_items[call->first + k], found))
      return false;
  }
  return true;
}

// A number as older releases have them, or an uint32.
static void print_number(tvms_printer *p, const tvms_node *value, bool is_unsigned) {
  bool constant = value->kind == TVMS_NODE_INT_IMM;
  bool as_is = tvms_dtype_same(value->dtype, TVMS_DTYPE(UINT, 32)) == is_unsigned;
  if (as_is || (!constant && !is_unsigned)) {
    tvms_print_object(p, value);
  } else if (constant) {
    tvms_dtype dtype = is_unsigned ? TVMS_DTYPE(UINT, 32) : TVMS_DTYPE(INT, 32);
    int64_t number = tvms_as_int_imm(value)->value;
    tvms_print_object(p, tvms_int_imm_new(&p->scratch, dtype, number, value->span));
  } else {
    tvms_print_t(p, "Cast(\"uint32\", ");
    tvms_print_object(p, value);
    PUT(p, ")");
  }
}

static void print_named(tvms_printer *p, const tvms_node *value, bool is_unsigned) {
  if (tvms_dtype_is_int(value->dtype) || tvms_dtype_is_uint(value->dtype))
    print_number(p, value, is_unsigned);
  else
    tvms_print_object(p, value);
}

static void print_item(tvms_printer *p, const tvms_changed_item *item, captures found) {
  switch ((tvms_changed_kind)item->kind) {
  case TVMS_CHANGED_TEXT: tvms_strbuf_printf(p->out, "\"%s\"", item->text); return;
  case TVMS_CHANGED_NUMBER: tvms_strbuf_int(p->out, item->number); return;
  case TVMS_CHANGED_TRUTH:
    tvms_print_t(p, item->number ? "bool(True)" : "bool(False)");
    return;
  case TVMS_CHANGED_ADDRESS: tvms_print_t(p, "address_of("); break;
  case TVMS_CHANGED_SHARED: tvms_print_t(p, "cuda.cvta_generic_to_shared("); break;
  case TVMS_CHANGED_ANY:
  case TVMS_CHANGED_UINT32:
    print_named(p, found[item->name], item->kind == TVMS_CHANGED_UINT32);
    return;
  }
  print_named(p, found[item->name], false);
  PUT(p, ")");
}

static void print_call(tvms_printer *p, const char *spelling,
                       const tvms_changed_call *call, captures found) {
  bool first = true;
  tvms_print_t(p, spelling);
  PUT(p, "(");
  for (uint32_t k = 0; k < call->count; k++) {
    tvms_print_comma(p, &first);
    print_item(p, &tvms_changed_items[call->first + k], found);
  }
  PUT(p, ")");
}

bool tvms_print_changed(tvms_printer *p, const tvms_node *node,
                        tvms_tir_opcode opcode) {
  if (!p->module
      || tvms_release_has(p->module->dialect, TVMS_FACT_ptx_names_are_classic)
      || tvms_release_has(p->dialect, TVMS_FACT_ptx_names_are_classic))
    return false;
  bool was_new = tvms_release_has(p->module->dialect, TVMS_FACT_ptx_has_forms);
  if (was_new == (tvms_release_has(p->dialect, TVMS_FACT_ptx_has_forms))) return false;
  captures found;
  for (uint32_t i = 0; i < tvms_changed_count; i++) {
    const tvms_changed_row *row = &tvms_changed_rows[i];
    const tvms_changed_call *from = was_new ? &row->newer : &row->older;
    const tvms_changed_call *to = was_new ? &row->older : &row->newer;
    if (opcode != (tvms_tir_opcode)from->opcode) continue;
    const char *spelling =
        tvms_tir_op_spelling((tvms_tir_opcode)to->opcode, p->dialect);
    if (!spelling || !matches_all(tvms_as_call(node)->args, from, found)) continue;
    print_call(p, spelling, to, found);
    return true;
  }
  return false;
}
