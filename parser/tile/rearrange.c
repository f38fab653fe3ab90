// A.rearrange("a (b c) -> …"): a view, a permutation, a view.
#include "parser/tile/rearrange.h"

#include "parser/eval/convert.h"
#include "parser/tile/view.h"

#include <string.h>

// One axis of a pattern: "a (b c) -> …".
typedef struct {
  tvms_sym name;
  uint32_t group;
  int64_t size;  // 0: not known yet
} pattern_axis;

typedef struct {
  pattern_axis axes[TVMS_VIEW_DIMS];
  uint32_t count;
  uint32_t groups;
} pattern_side;

static bool parse_side(tvms_reader *reader, const char *text, size_t len,
                       pattern_side *side) {
  *side = (pattern_side){.count = 0};
  bool open = false;
  for (size_t i = 0; i < len;) {
    if (text[i] == ' ') {
      i++;
    } else if (text[i] == '(' && !open) {
      open = true;
      i++;
    } else if (text[i] == ')' && open) {
      open = false;
      side->groups++;
      i++;
    } else {
      size_t begin = i;
      while (i < len && text[i] != ' ' && text[i] != '(' && text[i] != ')') {
        i++;
      }
      if (side->count == TVMS_VIEW_DIMS || i == begin) return false;
      side->axes[side->count++] =
          (pattern_axis){tvms_symbol_intern(reader->context, text + begin, i - begin),
                         side->groups, 0};
      if (!open) side->groups++;
    }
  }
  return !open;
}

static bool size_of(tvms_reader *reader, tvms_eval_value sizes, tvms_sym name,
                    tvms_ref ref, int64_t *size) {
  const char *text = tvms_symbol_text(reader->context, name);
  for (uint32_t i = 0; i + 1 < sizes.len; i += 2) {
    if (strcmp(sizes.as.items[i].as.text, text) != 0) continue;
    return tvms_eval_to_int(reader, sizes.as.items[i + 1], ref, size) && *size > 0;
  }
  *size = 0;
  return true;
}

// Sizes of the axes on the left, from the shape.
static const char *solve_sizes(tvms_reader *reader, pattern_side *left, tvms_list shape,
                               tvms_eval_value sizes, tvms_ref ref) {
  for (uint32_t g = 0; g < left->groups; g++) {
    int64_t whole, known = 1;
    pattern_axis *open = NULL;
    if (!tvms_view_constant(shape.items[g], &whole)) return "the shape is symbolic";
    for (uint32_t i = 0; i < left->count; i++) {
      pattern_axis *axis = &left->axes[i];
      if (axis->group != g) continue;
      if (!size_of(reader, sizes, axis->name, ref, &axis->size))
        return "a size is wrong";
      if (!axis->size && open) return "more than one size in a group is open";
      if (axis->size)
        known *= axis->size;
      else
        open = axis;
    }
    if (whole % known || (!open && whole != known)) {
      return "the sizes do not multiply to the dimension";
    }
    if (open) open->size = whole / known;
  }
  return NULL;
}

static bool find_axes(const pattern_side *left, pattern_side *right, uint32_t *order) {
  if (left->count != right->count) return false;
  for (uint32_t i = 0; i < right->count; i++) {
    uint32_t k = 0;
    while (k < left->count && left->axes[k].name != right->axes[i].name) {
      k++;
    }
    if (k == left->count) return false;
    order[i] = k;
    right->axes[i].size = left->axes[k].size;
  }
  return true;
}

// The value given as `name=`, unknown if it is not.
static tvms_eval_value size_named(const tvms_reader *reader, tvms_eval_value sizes,
                                  tvms_sym name) {
  const char *text = tvms_symbol_text(reader->context, name);
  for (uint32_t i = 0; i + 1 < sizes.len; i += 2) {
    if (strcmp(sizes.as.items[i].as.text, text) == 0) return sizes.as.items[i + 1];
  }
  return TVMS_UNKNOWN;
}

tvms_eval_value tvms_view_rearrange(tvms_reader *reader, tvms_node *node,
                                    tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS], dims[TVMS_VIEW_DIMS];
  uint32_t order[TVMS_VIEW_DIMS];
  pattern_side left, right;
  const tvms_buffer *parent = tvms_as_buffer(node);
  if (!tvms_signature_bind_method(reader, "*pattern, **sizes", "rearrange", call,
                                  args)) {
    return tvms_reader_failed(reader);
  }
  if (args[0].len == 1) {
    args[0] = args[0].as.items[0];
  } else if (!args[0].len) {
    args[0] = size_named(reader, args[1], TVMS_SYM_pattern);
  }
  const char *text = args[0].kind == TVMS_EVAL_STR ? args[0].as.text : "";
  const char *arrow = strstr(text, "->");
  if (!arrow || !parse_side(reader, text, (size_t)(arrow - text), &left)
      || !parse_side(reader, arrow + 2, strlen(arrow + 2), &right)
      || left.groups != parent->shape.len) {
    return tvms_view_report(reader, call, "the pattern does not fit the buffer");
  }
  const char *wrong = solve_sizes(reader, &left, parent->shape, args[1], call);
  if (wrong) return tvms_view_report(reader, call, wrong);
  if (!find_axes(&left, &right, order)) {
    return tvms_view_report(reader, call,
                            "both sides of the pattern must have the same axes");
  }
  for (uint32_t i = 0; i < left.count; i++) {
    dims[i] = tvms_eval_value_int(left.axes[i].size);
  }
  tvms_eval_value value =
      tvms_view_as(reader, parent, dims, left.count, TVMS_NOTHING, call);
  if (!tvms_eval_value_is_known(value)) return value;
  value = tvms_view_permute(reader, tvms_as_buffer(value.as.node), order, call);
  if (!tvms_eval_value_is_known(value)) return value;
  for (uint32_t g = 0; g < right.groups; g++) {
    int64_t size = 1;
    for (uint32_t i = 0; i < right.count; i++) {
      if (right.axes[i].group == g) size *= right.axes[i].size;
    }
    dims[g] = tvms_eval_value_int(size);
  }
  return tvms_view_as(reader, tvms_as_buffer(value.as.node), dims, right.groups,
                      TVMS_NOTHING, call);
}
