// Padding: elements outside the data have a value, or repeat what is inside.
//
// The modes that repeat map every index along every axis, padded or not.
#include "te/element.h"
#include "te/legalizers.h"

// Where the element that stands `at` steps from the first one comes from.
typedef tvms_node *(*origin)(tvms_te *te, tvms_node *at, tvms_node *size);

static tvms_node *distance(tvms_te *te, tvms_node *x) {
  return x ? tvms_build_abs(te->unit, x, TVMS_NO_SPAN) : NULL;
}

static bool is_branchless(const tvms_te *te) {
  return tvms_release_has(te->unit->dialect, TVMS_FACT_padding_is_branchless);
}

// Turns back at the first and the last element, which are not repeated.
static tvms_node *reflected(tvms_te *te, tvms_node *at, tvms_node *size) {
  if (is_branchless(te)) {
    tvms_node *last = SUB(size, INT32(1));
    return SUB(last, distance(te, SUB(last, distance(te, at))));
  }
  tvms_node *turned = SUB(SUB(MUL(INT32(2), size), INT32(2)), at);
  tvms_node *behind = IF(GE(at, size), turned, at);
  return IF(LT(at, INT32(0)), MUL(at, INT32(-1)), behind);
}

static tvms_node *clamped(tvms_te *te, tvms_node *at, tvms_node *size) {
  if (is_branchless(te)) return MAX(INT32(0), MIN(SUB(size, INT32(1)), at));
  tvms_node *behind = IF(GE(at, size), SUB(size, INT32(1)), at);
  return IF(LT(at, INT32(0)), INT32(0), behind);
}

static tvms_node *wrapped(tvms_te *te, tvms_node *at, tvms_node *size) {
  return FLOOR_MOD(ADD(at, size), size);
}

static const struct {
  const char *mode, *name, *stage;
  origin source;
} modes[] = {
    {"reflect", "reflect_pad", "ReflectPadInput", reflected},
    {"replicate", "replicate_pad", "ReplicatePadInput", clamped},
    {"circular", "circular_pad", "CircularPadInput", wrapped},
};

static bool repeat(tvms_legal *legal, tvms_node *x, const int64_t *before,
                   const int64_t *after, const char *stage_name, origin source) {
  tvms_te *te = &legal->te;
  tvms_list from = tvms_te_shape(x);
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len);
  for (uint32_t i = 0; i < from.len; i++) {
    tvms_node *size = ADD(ADD(from.items[i], INDEX(before[i])), INDEX(after[i]));
    shape.items[i] = tvms_analyzer_simplify(te->analyzer, size);
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "i");
  tvms_list indices = tvms_list_copy(te->unit, stage.axes.items, shape.len);
  for (uint32_t i = 0; i < from.len; i++) {
    tvms_node *at = SUB(indices.items[i], INDEX(before[i]));
    indices.items[i] = source(te, at, from.items[i]);
    if (!indices.items[i]) return false;
  }
  tvms_node *value = tvms_te_load(te, x, indices.items, indices.len);
  return tvms_legal_return(legal, tvms_te_close(&stage, stage_name, value));
}

bool tvms_legalize_pad(tvms_legal *legal) {
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  uint32_t rank = tvms_te_shape(x).len;
  tvms_list widths = tvms_attr_list(call, TVMS_ATTR_pad_pad_width);
  int64_t *before = tvms_arena_array(&te->unit->arena, int64_t, rank);
  int64_t *after = tvms_arena_array(&te->unit->arena, int64_t, rank);
  for (uint32_t i = 0; i < rank; i++) {
    before[i] = tvms_attr_item_int(widths.items[2 * i]);
    after[i] = tvms_attr_item_int(widths.items[2 * i + 1]);
  }
  tvms_bytes mode = tvms_attr_text(call, TVMS_ATTR_pad_pad_mode);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (!tvms_bytes_is(mode, modes[i].mode)) continue;
    legal->name = modes[i].name;
    return repeat(legal, x, before, after, modes[i].stage, modes[i].source);
  }
  legal->name = "pad";
  double fill = tvms_attr_float(call, TVMS_ATTR_pad_pad_value, 0);
  tvms_node *value = tvms_te_const(te, tvms_te_dtype(x), fill);
  x = tvms_te_pad(te, x, before, after, value, "PadInput", "i", false);
  return tvms_legal_return(legal, x);
}
