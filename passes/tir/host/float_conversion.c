// Conversions between floats of any layout, written with operators of unsigned integers.
//
// Sign, exponent and mantissa move to their new places. Bits of the mantissa that do not fit
// are rounded to even beforehand, on the whole number, so that a carry goes into the
// exponent; the exponent gets the new bias.
#include "passes/tir/host/float_conversion.h"

#include "ir/fold_ops.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/tir/host/function_target.h"

#include <stdlib.h>
#include <string.h>

// ---- Families ----

bool tvms_host_float_is(tvms_host_float_family family, tvms_dtype dtype) {
  if (family == TVMS_HOST_BFLOAT16)
    return dtype.code == TVMS_BFLOAT && dtype.bits == 16;
  if (family == TVMS_HOST_HALF)
    return (dtype.code == TVMS_BFLOAT || dtype.code == TVMS_FLOAT) && dtype.bits == 16;
  return dtype.code >= TVMS_FLOAT8_E3M4 && dtype.code <= TVMS_FLOAT8_E8M0FNU;
}

bool tvms_host_float_is_native(tvms_host_float_family family,
                               const tvms_node *function) {
  const tvms_node *config = tvms_host_target_of(function);
  if (!config || config->kind != TVMS_NODE_OBJECT_MAP) return false;
  if (strcmp(tvms_host_target_kind(config), "cuda") != 0) return false;
  const char *arch = tvms_object_as_text(tvms_object_map_get(config, "arch"));
  if (!arch || strncmp(arch, "sm_", 3) != 0) return false;
  // Ampere and later; Ada Lovelace and later.
  return strtol(arch + 3, NULL, 10) >= (family == TVMS_HOST_BFLOAT16 ? 80 : 89);
}

static bool is_of(tvms_host_float_family family, const tvms_node *node) {
  return tvms_host_float_is(family, node->dtype)
         || (node->sinfo && node->sinfo->kind == TVMS_NODE_SINFO_POINTER
             && tvms_host_float_is(family, node->sinfo->dtype));
}

static bool reinterprets_as_itself(const tvms_node *node) {
  return tvms_call_opcode(node) == TVMS_TIR_reinterpret
         && !tvms_dtype_is_handle(node->dtype)
         && tvms_dtype_same(tvms_as_call(node)->args.items[0]->dtype, node->dtype);
}

// What a buffer consists of is looked at where it is defined.
static tvms_walk_step find_family(void *self, tvms_node *node, tvms_field_role role) {
  tvms_host_float_family family = *(const tvms_host_float_family *)self;
  bool found = is_of(family, node) || reinterprets_as_itself(node);
  bool used = false;
  if (node->kind == TVMS_NODE_ALLOCATE)
    found |= tvms_host_float_is(family, tvms_as_allocate(node)->element);
  if (node->kind == TVMS_NODE_BUFFER) {
    found |= tvms_host_float_is(family, tvms_as_buffer(node)->element)
             || is_of(family, tvms_as_buffer(node)->data);
    used = role != TVMS_ROLE_DEFINE;
  }
  if (found) return TVMS_WALK_STOP;
  return used ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

// The same for all families at once. Nodes that stood in the function when nothing was found in
// it are not looked at again, nor what stands below them: nodes do not change.
static tvms_walk_step find_any(void *self, tvms_node *node, tvms_field_role role) {
  const tvms_unit *unit = self;
  if (node->id < unit->plain_before) return TVMS_WALK_SKIP;
  if (!node->sinfo && (node->kind == TVMS_NODE_INT_IMM || tvms_node_is_binary(node))
      && (node->dtype.code == TVMS_INT || node->dtype.code == TVMS_BOOL))
    return TVMS_WALK_ON;
  tvms_host_float_family family = TVMS_HOST_BFLOAT16;
  if (find_family(&family, node, role) == TVMS_WALK_STOP) return TVMS_WALK_STOP;
  family = TVMS_HOST_FLOAT8;
  return find_family(&family, node, role);
}

bool tvms_host_float_concerns(tvms_host_float_family family, tvms_unit *unit,
                              tvms_node *function) {
  tvms_memory *memory = &unit->context->memory;
  tvms_visitor any = {.self = unit, .enter = find_any};
  if (tvms_walk(memory, function, &any)) {
    unit->plain_before = unit->next_id;
    return false;
  }
  tvms_visitor visitor = {.self = &family, .enter = find_family};
  return !tvms_walk(memory, function, &visitor);
}

tvms_dtype tvms_host_float_storage(tvms_dtype dtype) {
  dtype.code = TVMS_UINT;
  return dtype;
}

// ---- Layouts ----

typedef struct {
  int exponent;  // bits
  int mantissa;  // bits
  int bias;
} float_layout;

static const struct {
  uint8_t code;
  uint8_t bits;
  float_layout layout;
} layouts[] = {
    {TVMS_FLOAT, 16, {5, 10, 15}},           {TVMS_FLOAT, 32, {8, 23, 127}},
    {TVMS_FLOAT, 64, {11, 52, 1023}},        {TVMS_BFLOAT, 16, {8, 7, 127}},
    {TVMS_FLOAT8_E3M4, 8, {3, 4, 3}},        {TVMS_FLOAT8_E4M3, 8, {4, 3, 7}},
    {TVMS_FLOAT8_E4M3B11FNUZ, 8, {4, 3, 7}}, {TVMS_FLOAT8_E4M3FN, 8, {4, 3, 7}},
    {TVMS_FLOAT8_E4M3FNUZ, 8, {4, 3, 7}},    {TVMS_FLOAT8_E5M2, 8, {5, 2, 15}},
    {TVMS_FLOAT8_E5M2FNUZ, 8, {5, 2, 15}},   {TVMS_FLOAT8_E8M0FNU, 8, {8, 0, 127}},
    {TVMS_FLOAT6_E2M3FN, 6, {2, 3, 1}},      {TVMS_FLOAT6_E3M2FN, 6, {3, 2, 3}},
    {TVMS_FLOAT4_E2M1FN, 4, {2, 1, 1}},
};

static float_layout layout_of(tvms_dtype dtype) {
  size_t i = 0, count = sizeof layouts / sizeof *layouts;
  while (i < count
         && (layouts[i].code != dtype.code || layouts[i].bits != dtype.bits)) {
    i++;
  }
  TVMS_CHECK(i < count);  // only floats are converted
  return layouts[i].layout;
}

// ---- Conversion ----

tvms_node *tvms_host_float_reinterpret(tvms_unit *unit, tvms_dtype dtype,
                                       tvms_node *value) {
  if (tvms_dtype_same(dtype, value->dtype)) return value;
  return tvms_call_new_of(unit, dtype, TVMS_TIR_reinterpret, &value, 1, TVMS_NO_SPAN);
}

static tvms_node *number(tvms_unit *unit, tvms_dtype dtype, int64_t value) {
  return tvms_build_int(unit, dtype, value, TVMS_NO_SPAN);
}

static tvms_node *left(tvms_unit *unit, tvms_node *a, int bits) {
  return tvms_build_bitwise(unit, TVMS_TIR_shift_left, a, number(unit, a->dtype, bits),
                            TVMS_NO_SPAN);
}

static tvms_node *right(tvms_unit *unit, tvms_node *a, int bits) {
  return tvms_build_bitwise(unit, TVMS_TIR_shift_right, a, number(unit, a->dtype, bits),
                            TVMS_NO_SPAN);
}

static tvms_node *mask(tvms_unit *unit, tvms_node *a, int64_t bits) {
  return tvms_build_bitwise(unit, TVMS_TIR_bitwise_and, a, number(unit, a->dtype, bits),
                            TVMS_NO_SPAN);
}

static tvms_node *either(tvms_unit *unit, tvms_node *a, tvms_node *b) {
  return tvms_build_bitwise(unit, TVMS_TIR_bitwise_or, a, b, TVMS_NO_SPAN);
}

static tvms_node *build(tvms_unit *unit, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *cast(tvms_unit *unit, tvms_dtype dtype, tvms_node *value) {
  return tvms_build_cast(unit, dtype, value, TVMS_NO_SPAN);
}

// `bits` moved by `up` places, as `dtype`; negative: down.
static tvms_node *shifted(tvms_unit *unit, tvms_dtype dtype, tvms_node *bits, int up) {
  return up >= 0 ? left(unit, cast(unit, dtype, bits), up)
                 : cast(unit, dtype, right(unit, bits, -up));
}

// Half of what is cut off, and one less if the last bit that stays is 0.
static tvms_node *rounded(tvms_unit *unit, tvms_node *bits, int cut) {
  tvms_node *last = mask(unit, right(unit, bits, cut), 1);
  tvms_node *half = number(unit, bits->dtype, ((int64_t)1 << (cut - 1)) - 1);
  return build(unit, TVMS_NODE_ADD, bits, build(unit, TVMS_NODE_ADD, last, half));
}

// The exponents are equally wide: all bits move at once.
static tvms_node *convert_whole(tvms_unit *unit, tvms_node *bits, tvms_dtype to, int up,
                                int bias, int mantissa) {
  tvms_node *moved = shifted(unit, to, bits, up);
  if (!bias) return moved;
  tvms_node *shift = left(unit, number(unit, to, abs(bias)), mantissa);
  return build(unit, bias > 0 ? TVMS_NODE_ADD : TVMS_NODE_SUB, moved, shift);
}

static tvms_node *convert_parts(tvms_unit *unit, tvms_node *bits, tvms_dtype to,
                                float_layout from, float_layout new) {
  int up = new.mantissa - from.mantissa, bias = new.bias - from.bias;
  tvms_node *mantissa =
      mask(unit, shifted(unit, to, bits, up), ((int64_t)1 << new.mantissa) - 1);
  tvms_node *old = right(unit, left(unit, bits, 1), from.mantissa + 1);
  tvms_node *sign =
      left(unit, cast(unit, to, right(unit, bits, from.mantissa + from.exponent)),
           new.mantissa + new.exponent);
  tvms_node *biased = old;
  if (bias > 0)
    biased = build(unit, TVMS_NODE_ADD, old, number(unit, old->dtype, bias));
  if (bias < 0)
    biased = build(unit, TVMS_NODE_SUB, old, number(unit, old->dtype, -bias));
  tvms_node *exponent = left(unit, cast(unit, to, biased), new.mantissa);
  tvms_node *whole = either(unit, either(unit, mantissa, exponent), sign);
  if (bias >= 0) return whole;
  tvms_node *small = build(unit, TVMS_NODE_LT, old, number(unit, old->dtype, -bias));
  return tvms_build_if_then_else(unit, small, number(unit, to, 0), whole, TVMS_NO_SPAN);
}

tvms_node *tvms_host_float_convert(tvms_unit *unit, tvms_node *value, tvms_dtype to) {
  float_layout from = layout_of(value->dtype), new = layout_of(to);
  tvms_dtype storage = tvms_host_float_storage(to);
  tvms_node *bits =
      tvms_host_float_reinterpret(unit, tvms_host_float_storage(value->dtype), value);
  int up = new.mantissa - from.mantissa;
  if (up < 0) bits = rounded(unit, bits, -up);
  tvms_node *result =
      from.exponent == new.exponent
          ? convert_whole(unit, bits, storage, up, new.bias - from.bias, new.mantissa)
          : convert_parts(unit, bits, storage, from, new);
  return tvms_host_float_reinterpret(unit, to, result);
}
