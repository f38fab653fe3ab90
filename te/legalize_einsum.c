// Description of einsum: one stage that folds over the labels which the result lacks.
//
// Labels are letters; an ellipsis is label 0 and stands for as many axes as an operand has
// besides its labels, which broadcast. TVM: topi/einsum.cc.
#include "te/element.h"
#include "te/legalizers.h"

#include <string.h>

typedef struct {
  uint8_t labels[64];
  uint32_t len;
  bool ellipsis;
} subscript;

enum { OPERANDS = 26, LABELS = 128 };

typedef struct {
  tvms_te *te;
  subscript inputs[OPERANDS], output;
  uint32_t count;
  tvms_node *extents[LABELS];  // by label
  tvms_node *axes[LABELS];
  tvms_list ellipsis;  // shape that an ellipsis stands for
  bool has_ellipsis;
  tvms_node_vec ellipsis_axes;
} einsum;

static bool add_label(subscript *s, uint8_t label) {
  if (s->len == sizeof s->labels || (label == 0 && s->ellipsis)) return false;
  s->labels[s->len++] = label;
  s->ellipsis = s->ellipsis || label == 0;
  return true;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Without an arrow the result has the labels that occur once, in alphabetical order.
static void imply_output(einsum *e) {
  uint32_t counts[LABELS] = {0};
  for (uint32_t i = 0; i < e->count; i++) {
    for (uint32_t j = 0; j < e->inputs[i].len; j++)
      counts[e->inputs[i].labels[j]]++;
  }
  for (uint32_t i = 0; i < LABELS; i++) {
    if (counts[i] == 1 || (i == 0 && counts[i] > 0)) {
      (void)add_label(&e->output, (uint8_t)i);
    }
  }
}

static bool parse(einsum *e, tvms_bytes text) {
  subscript *at = &e->inputs[0];
  bool arrow = false;
  e->count = 1;
  for (size_t i = 0; i < text.len; i++) {
    const char *c = text.text + i;
    size_t rest = text.len - i;
    if (*c == ' ') continue;
    if (*c == ',' && !arrow) {
      if (e->count == OPERANDS) return false;
      at = &e->inputs[e->count++];
    } else if (*c == '-' && rest > 1 && c[1] == '>' && !arrow) {
      arrow = true;
      at = &e->output;
      i++;
    } else if (*c == '.' && rest > 2 && c[1] == '.' && c[2] == '.') {
      if (!add_label(at, 0)) return false;
      i += 2;
    } else if (!is_letter(*c) || !add_label(at, (uint8_t)*c)) {
      return false;
    }
  }
  if (!arrow) imply_output(e);
  return true;
}

// What two extents broadcast to.
static tvms_node *common(tvms_te *te, tvms_node *a, tvms_node *b) {
  bool known_a = tvms_node_is_int_imm(a), known_b = tvms_node_is_int_imm(b);
  if (known_a && known_b) {
    int64_t x = tvms_as_int_imm(a)->value, y = tvms_as_int_imm(b)->value;
    if (x == y) return a;
    return x == 1 || y == 1 ? INT32(x > y ? x : y) : NULL;
  }
  if (known_a) return b;
  return known_b ? a : MAX(a, b);
}

static bool note_extents(einsum *e, const subscript *s, tvms_list shape) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < s->len; i++) {
    uint8_t label = s->labels[i];
    if (label == 0) {
      if (shape.len + 1 < s->len) return false;
      tvms_list part = {shape.items + at, shape.len + 1 - s->len};
      at += part.len;
      e->ellipsis =
          e->has_ellipsis ? tvms_te_broadcast_shape(e->te, e->ellipsis, part) : part;
      e->has_ellipsis = true;
      continue;
    }
    if (at >= shape.len) return false;
    tvms_node *extent = shape.items[at++], *known = e->extents[label];
    e->extents[label] = known ? common(e->te, known, extent) : extent;
    if (!e->extents[label]) return false;
  }
  return at == shape.len;
}

static tvms_list output_shape(einsum *e) {
  tvms_memory *memory = &e->te->unit->context->memory;
  tvms_node_vec dims = {0};
  for (uint32_t i = 0; i < e->output.len; i++) {
    uint8_t label = e->output.labels[i];
    for (uint32_t j = 0; label == 0 && j < e->ellipsis.len; j++)
      tvms_vec_push(memory, &dims, e->ellipsis.items[j]);
    if (label != 0) tvms_vec_push(memory, &dims, e->extents[label]);
  }
  tvms_list shape = tvms_list_copy(e->te->unit, dims.items, dims.len);
  tvms_vec_fini(memory, &dims);
  return shape;
}

static void name_axes(einsum *e, tvms_stage *stage) {
  tvms_memory *memory = &e->te->unit->context->memory;
  uint32_t at = 0;
  for (uint32_t i = 0; i < e->output.len; i++) {
    uint8_t label = e->output.labels[i];
    for (uint32_t j = 0; label == 0 && j < e->ellipsis.len; j++)
      tvms_vec_push(memory, &e->ellipsis_axes, stage->axes.items[at++]);
    if (label != 0) e->axes[label] = stage->axes.items[at++];
  }
}

// Adds the axes that are folded over; false if there are none.
static bool add_folded(einsum *e, tvms_stage *stage) {
  tvms_memory *memory = &e->te->unit->context->memory;
  bool folds = false;
  for (uint32_t j = 0; e->ellipsis_axes.len < e->ellipsis.len; j++) {
    tvms_vec_push(memory, &e->ellipsis_axes,
                  tvms_te_reduce(stage, "k", e->ellipsis.items[j]));
    folds = true;
  }
  for (uint32_t i = 1; i < LABELS; i++) {
    if (!e->extents[i] || e->axes[i]) continue;
    char name[2] = {(char)i, '\0'};
    e->axes[i] = tvms_te_reduce(stage, name, e->extents[i]);
    folds = true;
  }
  return folds;
}

static tvms_node *stretched(tvms_te *te, tvms_node *axis, tvms_node *own,
                            tvms_node *all) {
  bool one = tvms_node_is_int(own, 1) && !tvms_node_is_int(all, 1);
  return one ? tvms_te_const(te, axis->dtype, 0) : axis;
}

static tvms_node *load_operand(einsum *e, const subscript *s, tvms_node *x) {
  tvms_list shape = tvms_te_shape(x);
  tvms_list indices = tvms_list_copy(e->te->unit, shape.items, shape.len);
  uint32_t at = 0;
  for (uint32_t i = 0; i < s->len; i++) {
    uint8_t label = s->labels[i];
    uint32_t own = shape.len + 1 - s->len, all = e->ellipsis.len;
    for (uint32_t j = 0; label == 0 && j < own; j++, at++) {
      indices.items[at] = stretched(e->te, e->ellipsis_axes.items[all - own + j],
                                    shape.items[at], e->ellipsis.items[all - own + j]);
    }
    if (label == 0) continue;
    indices.items[at] =
        stretched(e->te, e->axes[label], shape.items[at], e->extents[label]);
    at++;
  }
  return tvms_te_load(e->te, x, indices.items, indices.len);
}

static bool outputs_known(const einsum *e) {
  for (uint32_t i = 0; i < e->output.len; i++) {
    uint8_t label = e->output.labels[i];
    if (label == 0 ? !e->has_ellipsis : !e->extents[label]) return false;
  }
  return true;
}

bool tvms_legalize_einsum(tvms_legal *legal) {
  legal->name = "einsum";
  tvms_te *te = &legal->te;
  einsum e = {.te = te};
  const tvms_node *arg = tvms_legal_arg(legal, 0);
  if (arg->kind != TVMS_NODE_TUPLE) return false;
  tvms_list fields = tvms_as_tuple(arg)->fields;
  tvms_bytes text = tvms_attr_text(legal->call, TVMS_ATTR_einsum_subscripts);
  if (!parse(&e, text) || e.count != fields.len) return false;
  tvms_node *operands[OPERANDS];
  for (uint32_t i = 0; i < e.count; i++) {
    operands[i] = tvms_legal_tensor(legal, fields.items[i]);
    if (!note_extents(&e, &e.inputs[i], tvms_te_shape(operands[i]))) return false;
  }
  if (!outputs_known(&e)) return false;
  tvms_stage stage;
  tvms_te_open(te, &stage, output_shape(&e), "ax");
  name_axes(&e, &stage);
  bool folds = add_folded(&e, &stage);
  tvms_node *value = load_operand(&e, &e.inputs[0], operands[0]);
  for (uint32_t i = 1; i < e.count; i++)
    value = MUL(value, load_operand(&e, &e.inputs[i], operands[i]));
  tvms_vec_fini(&te->unit->context->memory, &e.ellipsis_axes);
  tvms_node *result = folds
                          ? tvms_te_close_fold(&stage, "T_einsum", TVMS_FOLD_SUM, value)
                          : tvms_te_close(&stage, "T_einsum", value);
  return tvms_legal_return(legal, result);
}
