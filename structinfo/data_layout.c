// Layouts: from text, and what they do to shapes.
#include "structinfo/data_layout.h"

#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <string.h>

static bool parse_layout(tvms_bytes text, tvms_data_layout *layout) {
  *layout = (tvms_data_layout){0};
  int64_t block = 0;
  for (uint32_t i = 0; i < text.len; i++) {
    char c = text.text[i];
    if (c >= '0' && c <= '9') {
      block = block * 10 + (c - '0');
      if (block > INT32_MAX) return false;
      continue;
    }
    bool capital = c >= 'A' && c <= 'Z', small = c >= 'a' && c <= 'z';
    if (layout->count == TVMS_MOST_LAYOUT_AXES || capital == (block > 0)) return false;
    if (!capital && !small) return false;
    char letter = small ? (char)(c - 'a' + 'A') : c;
    layout->axes[layout->count++] = (tvms_data_layout_axis){letter, block};
    block = 0;
  }
  return block == 0;
}

// Number of axes named `letter`: whole ones, or blocks.
static uint32_t count_axes(const tvms_data_layout *layout, char letter, bool blocks) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < layout->count; i++) {
    if (layout->axes[i].letter == letter && (layout->axes[i].block > 0) == blocks)
      count++;
  }
  return count;
}

static bool has_axes(const tvms_data_layout *layout, const char *plain) {
  for (const char *axis = plain; *axis; axis++) {
    if (count_axes(layout, *axis, false) != 1 || count_axes(layout, *axis, true) > 1) {
      return false;
    }
  }
  for (uint32_t i = 0; i < layout->count; i++) {
    if (!strchr(plain, layout->axes[i].letter)) return false;
  }
  return true;
}

bool tvms_in_data_layout(const tvms_inference *in, tvms_bytes text, const char *plain,
                         const char *what, tvms_data_layout *layout) {
  if (parse_layout(text, layout) && has_axes(layout, plain)) return true;
  tvms_diag_report(&in->unit->context->diags, TVMS_D_op_layout, in->call->head.span,
                   tvms_op_of(in->op)->name, plain, what, text.len ? text.text : "");
  return false;
}

bool tvms_in_data_layout_rank(const tvms_inference *in, uint32_t i,
                              const tvms_tensor_argument *tensor,
                              const tvms_data_layout *layout) {
  if (tensor->ndim == TVMS_UNKNOWN_NDIM || tensor->ndim == layout->count) return true;
  return tvms_in_wrong_ndim(in, i, layout->count, tensor->ndim);
}

bool tvms_data_layout_to_plain(const tvms_inference *in, const tvms_data_layout *layout,
                               const char *plain, tvms_list dims, tvms_dims *result) {
  *result = tvms_dims_new(in, (uint32_t)strlen(plain));
  for (uint32_t k = 0; k < result->len; k++) {
    int64_t block = 1;
    for (uint32_t i = 0; i < layout->count; i++) {
      if (layout->axes[i].letter != plain[k]) continue;
      if (layout->axes[i].block) {
        block = layout->axes[i].block;
      } else {
        result->items[k] = dims.items[i];
      }
    }
    if (block == 1) continue;
    result->items[k] =
        tvms_dim_binary_int(in->prover, TVMS_NODE_MUL, result->items[k], block);
    if (!result->items[k]) return false;
  }
  return true;
}

bool tvms_data_layout_from_plain(const tvms_inference *in,
                                 const tvms_data_layout *layout, const char *plain,
                                 tvms_dims dims, tvms_dims *result) {
  *result = tvms_dims_new(in, layout->count);
  for (uint32_t i = 0; i < layout->count; i++) {
    const tvms_data_layout_axis *axis = &layout->axes[i];
    if (axis->block) {
      result->items[i] = tvms_sinfo_dim_new(in->unit, axis->block);
      continue;
    }
    tvms_node *dim = dims.items[strchr(plain, axis->letter) - plain];
    for (uint32_t k = 0; k < layout->count; k++) {
      if (layout->axes[k].letter != axis->letter || !layout->axes[k].block) continue;
      dim = tvms_dim_binary_int(in->prover, TVMS_NODE_FLOOR_DIV, dim,
                                layout->axes[k].block);
      if (!dim) return false;
      dim = tvms_dim_simplify(in->prover, dim);
    }
    result->items[i] = dim;
  }
  return true;
}
