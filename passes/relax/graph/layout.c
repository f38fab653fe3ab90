// Orders of axes as text, and what is done with them: how ConvertLayout speaks of values.
//
// TVM: SLayout (s_tir/data_layout.cc) and relax/transform/infer_layout_utils.cc.
#include "passes/relax/graph/layout.h"

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "structinfo/make.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// One axis: its letter, and of a block its length.
typedef struct {
  char letter;
  int64_t block;
} axis_part;

// The axis that begins at `*at`, which moves behind it. False at the end.
static bool next_axis(const char **at, axis_part *axis) {
  *axis = (axis_part){0};
  while (isdigit((unsigned char)**at))
    axis->block = axis->block * 10 + (*(*at)++ - '0');
  if (!**at) return false;
  axis->letter = *(*at)++;
  return true;
}

static bool axis_at(const tvms_layout *layout, uint32_t i, axis_part *axis) {
  const char *at = layout->text;
  bool found = next_axis(&at, axis);
  while (found && i-- > 0)
    found = next_axis(&at, axis);
  return found;
}

static size_t append_axis(char *text, size_t len, axis_part axis) {
  if (len >= TVMS_LAYOUT_SIZE) return len;
  int more = axis.block
                 ? snprintf(text + len, TVMS_LAYOUT_SIZE - len, "%lld%c",
                            (long long)axis.block, axis.letter)
                 : snprintf(text + len, TVMS_LAYOUT_SIZE - len, "%c", axis.letter);
  return len + (size_t)more;
}

tvms_layout tvms_relax_layout_initial(int64_t ndim) {
  tvms_layout layout = {{0}};
  for (int64_t i = 0; i < ndim && i < TVMS_LAYOUT_AXES; i++)
    layout.text[i] = (char)('A' + i);
  return layout;
}

bool tvms_relax_layout_parse(const char *text, size_t len, tvms_layout *layout) {
  *layout = (tvms_layout){{0}};
  if (len >= TVMS_LAYOUT_SIZE) return false;
  memcpy(layout->text, text, len);
  const char *at = layout->text;
  axis_part axis;
  uint32_t count = 0;
  while (next_axis(&at, &axis)) {
    bool capital = axis.letter >= 'A' && axis.letter <= 'Z';
    bool small = axis.letter >= 'a' && axis.letter <= 'z';
    if ((!capital && !small) || capital == (axis.block > 0)) return false;
    if (tvms_relax_layout_find(layout, axis.letter) != (int)count && capital)
      return false;
    count++;
  }
  return axis.block == 0;
}

uint32_t tvms_relax_layout_ndim(const tvms_layout *layout) {
  uint32_t count = 0;
  for (const char *at = layout->text; *at; at++)
    count += isdigit((unsigned char)*at) == 0;
  return count;
}

bool tvms_relax_layout_has_blocks(const tvms_layout *layout) {
  for (const char *at = layout->text; *at; at++)
    if (islower((unsigned char)*at)) return true;
  return false;
}

bool tvms_relax_layout_same(const tvms_layout *a, const tvms_layout *b) {
  return strcmp(a->text, b->text) == 0;
}

char tvms_relax_layout_letter(const tvms_layout *layout, uint32_t i) {
  axis_part axis;
  return axis_at(layout, i, &axis) ? axis.letter : '\0';
}

int tvms_relax_layout_find(const tvms_layout *layout, char letter) {
  const char *at = layout->text;
  axis_part axis;
  for (int i = 0; next_axis(&at, &axis); i++)
    if (axis.letter == letter) return i;
  return -1;
}

bool tvms_relax_layout_move(const tvms_layout *input, const tvms_layout *src,
                            const tvms_layout *dst, tvms_layout *result) {
  *result = (tvms_layout){{0}};
  uint32_t ndim = tvms_relax_layout_ndim(src);
  if (tvms_relax_layout_ndim(dst) != ndim || tvms_relax_layout_ndim(input) != ndim)
    return false;
  size_t len = 0;
  for (uint32_t i = 0; i < ndim; i++) {
    int from = tvms_relax_layout_find(src, tvms_relax_layout_letter(dst, i));
    axis_part axis;
    if (from < 0 || !axis_at(input, (uint32_t)from, &axis)) return false;
    len = append_axis(result->text, len, axis);
  }
  return len < TVMS_LAYOUT_SIZE;
}

bool tvms_relax_layout_move_text(const char *input, const tvms_layout *src,
                                 const tvms_layout *dst,
                                 char result[TVMS_LAYOUT_SIZE]) {
  uint32_t ndim = tvms_relax_layout_ndim(src);
  memset(result, 0, TVMS_LAYOUT_SIZE);
  if (tvms_relax_layout_ndim(dst) != ndim || strlen(input) != ndim) return false;
  for (uint32_t i = 0; i < ndim; i++) {
    int from = tvms_relax_layout_find(src, tvms_relax_layout_letter(dst, i));
    if (from < 0) return false;
    result[i] = input[from];
  }
  return true;
}

bool tvms_relax_layout_translate(const char *ref, const tvms_layout *src,
                                 const tvms_layout *desired,
                                 char result[TVMS_LAYOUT_SIZE]) {
  memset(result, 0, TVMS_LAYOUT_SIZE);
  size_t len = 0;
  for (const char *at = desired->text; *at; at++) {
    if (isdigit((unsigned char)*at)) {
      result[len++] = *at;
      continue;
    }
    const char *from = strchr(src->text, toupper((unsigned char)*at));
    size_t place = from ? (size_t)(from - src->text) : strlen(ref);
    if (place >= strlen(ref)) return false;
    bool small = islower((unsigned char)*at);
    result[len++] = small ? (char)tolower((unsigned char)ref[place]) : ref[place];
  }
  return true;
}

int tvms_relax_layout_axis(const tvms_layout *layout, int64_t axis) {
  int64_t ndim = tvms_relax_layout_ndim(layout);
  if (ndim == 0) return -1;
  return tvms_relax_layout_find(layout, (char)('A' + (axis % ndim + ndim) % ndim));
}

bool tvms_relax_layout_widen(const tvms_layout *src, int64_t ndim,
                             tvms_layout *result) {
  int64_t old = tvms_relax_layout_ndim(src);
  *result = *src;
  if (old == ndim) return true;
  if (old > ndim || ndim > TVMS_LAYOUT_AXES) return false;
  int64_t more = ndim - old;
  *result = tvms_relax_layout_initial(more);
  for (int64_t i = 0; i < old; i++)
    result->text[more + i] = (char)(src->text[i] + more);
  return true;
}

bool tvms_relax_layout_narrow(const tvms_layout *src, int64_t ndim,
                              tvms_layout *result) {
  int64_t old = tvms_relax_layout_ndim(src), more = old - ndim;
  if (more < 0 || tvms_relax_layout_has_blocks(src)) return false;
  *result = (tvms_layout){{0}};
  for (int64_t i = 0; i < old; i++) {
    int64_t axis = src->text[i] - 'A';
    if ((i < more) != (axis < more)) return false;
    if (i >= more) result->text[i - more] = (char)(src->text[i] - more);
  }
  return true;
}

// The product of the blocks of an axis; 1 if it has none.
static int64_t factor_of(const tvms_layout *layout, char letter) {
  const char *at = layout->text;
  axis_part axis;
  int64_t factor = 1;
  while (next_axis(&at, &axis)) {
    if (axis.block && toupper((unsigned char)axis.letter) == letter)
      factor *= axis.block;
  }
  return factor;
}

bool tvms_relax_layout_divides(const tvms_layout *src, const tvms_layout *dst,
                               tvms_list shape) {
  uint32_t ndim = tvms_relax_layout_ndim(src);
  if (tvms_relax_layout_has_blocks(src) || ndim != shape.len) return false;
  for (uint32_t i = 0; i < ndim; i++) {
    char letter = tvms_relax_layout_letter(src, i);
    int64_t dim;
    if (tvms_relax_layout_find(dst, letter) < 0) return false;
    if (tvms_sinfo_dim_int(shape.items[i], &dim) && dim % factor_of(dst, letter) != 0)
      return false;
  }
  for (uint32_t i = 0; i < tvms_relax_layout_ndim(dst); i++) {
    char letter = (char)toupper((unsigned char)tvms_relax_layout_letter(dst, i));
    if (tvms_relax_layout_find(src, letter) < 0) return false;
  }
  return true;
}

// ---- Index maps ----

static tvms_node *number(tvms_unit *unit, int64_t value) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
}

static tvms_node *combine(tvms_unit *unit, tvms_node_kind kind, tvms_node *a,
                          int64_t b) {
  return tvms_build_binary(unit, kind, a, number(unit, b), TVMS_NO_SPAN);
}

// The length of all blocks of this letter behind axis `i`.
static int64_t blocks_behind(const tvms_layout *layout, uint32_t i, char small) {
  int64_t factor = 1;
  axis_part axis;
  for (uint32_t k = i + 1; axis_at(layout, k, &axis); k++)
    if (axis.letter == small) factor *= axis.block;
  return factor;
}

// The index of the whole axis `letter`, from the indices in the order of `src`.
static tvms_node *TVMS_NULLABLE whole_index(tvms_unit *unit, const tvms_layout *src,
                                            tvms_list vars, char letter) {
  tvms_node *sum = NULL;
  axis_part axis;
  bool exists = false;
  for (uint32_t i = 0; axis_at(src, i, &axis); i++) {
    if (toupper((unsigned char)axis.letter) != letter) continue;
    exists |= !axis.block;
    int64_t factor =
        axis.block ? blocks_behind(src, i, axis.letter) : factor_of(src, letter);
    tvms_node *term = combine(unit, TVMS_NODE_MUL, vars.items[i], factor);
    sum = sum ? tvms_build_binary(unit, TVMS_NODE_ADD, sum, term, TVMS_NO_SPAN) : term;
  }
  return exists ? sum : NULL;
}

static tvms_node *TVMS_NULLABLE index_in(tvms_unit *unit, const tvms_layout *src,
                                         const tvms_layout *dst, tvms_list vars,
                                         uint32_t i) {
  axis_part axis;
  if (!axis_at(dst, i, &axis)) return NULL;
  char letter = (char)toupper((unsigned char)axis.letter);
  tvms_node *whole = whole_index(unit, src, vars, letter);
  if (!whole) return NULL;
  int64_t factor =
      axis.block ? blocks_behind(dst, i, axis.letter) : factor_of(dst, letter);
  whole = combine(unit, TVMS_NODE_FLOOR_DIV, whole, factor);
  if (axis.block) whole = combine(unit, TVMS_NODE_FLOOR_MOD, whole, axis.block);
  return tvms_arith_simplify(unit, whole);
}

tvms_node *tvms_relax_layout_index_map(tvms_unit *unit, const tvms_layout *src,
                                       const tvms_layout *dst) {
  tvms_node *vars[TVMS_LAYOUT_SIZE], *indices[TVMS_LAYOUT_SIZE];
  uint32_t from = tvms_relax_layout_ndim(src), to = tvms_relax_layout_ndim(dst);
  for (uint32_t i = 0; i < from; i++) {
    char name[12];
    int len = snprintf(name, sizeof name, "i%u", i);
    tvms_sym sym = tvms_symbol_intern(unit->context, name, (size_t)len);
    vars[i] = tvms_var_new(unit, sym, TVMS_DTYPE(INT, 32), TVMS_NO_SPAN);
  }
  tvms_index_map *map = tvms_node_make(unit, INDEX_MAP, TVMS_NO_SPAN);
  map->initial_indices = tvms_list_copy(unit, vars, from);
  for (uint32_t i = 0; i < to; i++) {
    indices[i] = index_in(unit, src, dst, map->initial_indices, i);
    if (!indices[i]) return NULL;
  }
  map->final_indices = tvms_list_copy(unit, indices, to);
  return &map->head;
}

// ---- Orders of values ----

tvms_node *tvms_relax_layout_node(tvms_unit *unit, const tvms_layout *layout) {
  return tvms_object_str_new(unit, layout->text, strlen(layout->text), TVMS_NO_SPAN);
}

bool tvms_relax_layout_of_node(const tvms_node *node, tvms_layout *layout) {
  if (node->kind != TVMS_NODE_OBJECT_STR) return false;
  tvms_bytes text = tvms_as_object_str(node)->value;
  *layout = (tvms_layout){{0}};
  if (text.len) memcpy(layout->text, text.text, text.len);
  return true;
}

tvms_node *tvms_relax_layout_of_type(tvms_unit *unit, const tvms_node *type) {
  if (type && type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    tvms_list items = tvms_list_copy(unit, fields.items, fields.len);
    for (uint32_t i = 0; i < fields.len; i++)
      items.items[i] = tvms_relax_layout_of_type(unit, fields.items[i]);
    return tvms_object_array_new(unit, items.items, items.len, TVMS_NO_SPAN);
  }
  int64_t ndim = TVMS_UNKNOWN_NDIM;
  if (tvms_sinfo_is_tensor(type)) ndim = tvms_as_sinfo_tensor(type)->ndim;
  if (ndim < 0 || ndim > TVMS_LAYOUT_AXES)
    return tvms_object_none_new(unit, TVMS_NO_SPAN);
  tvms_layout initial = tvms_relax_layout_initial(ndim);
  return tvms_relax_layout_node(unit, &initial);
}

bool tvms_relax_layout_same_node(const tvms_node *a, const tvms_node *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == TVMS_NODE_OBJECT_NONE) return true;
  if (a->kind == TVMS_NODE_OBJECT_STR)
    return tvms_bytes_same(tvms_as_object_str(a)->value, tvms_as_object_str(b)->value);
  tvms_list x = tvms_as_object_array(a)->items, y = tvms_as_object_array(b)->items;
  for (uint32_t i = 0; i < x.len && x.len == y.len; i++)
    if (!tvms_relax_layout_same_node(x.items[i], y.items[i])) return false;
  return x.len == y.len;
}

bool tvms_relax_layout_unknown(const tvms_node *node) {
  if (node->kind == TVMS_NODE_OBJECT_NONE) return true;
  if (node->kind != TVMS_NODE_OBJECT_ARRAY) return false;
  tvms_list items = tvms_as_object_array(node)->items;
  for (uint32_t i = 0; i < items.len; i++)
    if (tvms_relax_layout_unknown(items.items[i])) return true;
  return false;
}
