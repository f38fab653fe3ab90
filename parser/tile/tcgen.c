// Layouts of tensor memory and of the registers that exchange tiles with it, and the
// buffers that are declared with them: T.wg_reg_tile(…), T.alloc_tcgen05_ldst_frag(…).
#include "arith/layout.h"
#include "ir/build.h"
#include "parser/eval/convert.h"
#include "parser/tile/handlers.h"
#include "parser/tile/view.h"
#include "parser/tir/buffer.h"
#include "parser/tir/buffer_form.h"
#include "parser/tir/simple.h"

#include <string.h>

enum { MOST_ITERS = 8, WARPGROUP = 128 };

typedef struct {
  int64_t extent, stride;
  tvms_sym axis;
} plain_iter;

static tvms_node *plain_layout(tvms_reader *reader, const plain_iter *iters,
                               uint32_t count) {
  tvms_unit *unit = reader->unit;
  tvms_node *made[MOST_ITERS];
  tvms_list none = {0};
  for (uint32_t i = 0; i < count; i++) {
    made[i] = tvms_layout_iter_new(
        unit,
        tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), iters[i].extent, TVMS_NO_SPAN),
        tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), iters[i].stride, TVMS_NO_SPAN),
        iters[i].axis);
  }
  return tvms_tile_layout_new(unit, tvms_list_copy(unit, made, count), none, none);
}

static tvms_eval_value refused(tvms_reader *reader, tvms_ref ref, const char *why) {
  tvms_reader_report(reader, bad_layout, ref, why);
  return tvms_reader_failed(reader);
}

// ---- Warp groups ----------------------------------------------------------------------------

// Each thread holds one row.
static tvms_node *rows_of_threads(tvms_reader *reader, int64_t rows, int64_t cols) {
  plain_iter iters[] = {{rows, 1, TVMS_SYM_tid_in_wg}, {cols, 1, TVMS_SYM_m}};
  return plain_layout(reader, iters, 2);
}

tvms_eval_value tvms_call_wg_local_layout(tvms_reader *reader,
                                          const tvms_call_args *call) {
  int64_t cols, rows;
  if (!tvms_eval_to_int(reader, call->args[0], call->refs[0], &cols)
      || !tvms_eval_to_int(reader, call->args[1], call->refs[1], &rows)) {
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(rows_of_threads(reader, rows, cols));
}

static tvms_node *registers(tvms_reader *reader, tvms_dtype dtype, const int64_t *shape,
                            uint32_t rank, tvms_node *layout, tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  tvms_node *dims[2];
  for (uint32_t i = 0; i < rank; i++) {
    dims[i] = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), shape[i], TVMS_NO_SPAN);
  }
  tvms_buffer_form form = {.dtype = dtype,
                           .scope = TVMS_SYM_local,
                           .align = -1,
                           .layout = layout,
                           .shape = tvms_list_copy(unit, dims, rank)};
  tvms_node *buffer = tvms_tir_buffer_make(reader, &form, ref);
  tvms_tir_emit_alloc(reader, buffer, NULL, ref);
  return buffer;
}

tvms_eval_value tvms_call_wg_reg_tile(tvms_reader *reader, const tvms_call_args *call) {
  int64_t shape[] = {WARPGROUP, 0};
  tvms_dtype dtype;
  if (!tvms_tir_inside_function(reader, call)
      || !tvms_eval_to_int(reader, call->args[0], call->refs[0], &shape[1])
      || !tvms_eval_to_dtype(reader, call->args[1], call->refs[1], &dtype)) {
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(registers(reader, dtype, shape, 2,
                                        rows_of_threads(reader, WARPGROUP, shape[1]),
                                        call->ref));
}

// ---- Data paths of tcgen05.mma --------------------------------------------------------------

// What a data path does with rows and columns: lanes are scattered 16 to a warp, or the
// columns are folded `fold` times, each over `step` further lanes.
static const struct {
  char letter;
  bool later;  // where TVMS_FACT_datapaths_have_slabs
  int64_t rows, fold, step;
  bool scattered;
} datapaths[] = {
    {'A', true, 128, 1, 0, false}, {'B', true, 64, 2, 64, false},
    {'C', true, 64, 1, 0, true},   {'D', false, 128, 1, 0, false},
    {'E', true, 64, 2, 64, false}, {'F', false, 64, 1, 0, true},
    {'G', true, 32, 4, 32, false},
};

static tvms_node *datapath_layout(tvms_reader *reader, size_t at, int64_t cols,
                                  int64_t slab) {
  tvms_sym lane = TVMS_SYM_TLane, col = TVMS_SYM_TCol;
  int64_t rows = datapaths[at].rows, fold = datapaths[at].fold;
  if (datapaths[at].scattered) {
    plain_iter iters[] = {{4, 32, lane}, {16, 1, lane}, {cols, 1, col}};
    tvms_node *layout = plain_layout(reader, iters, 3);
    if (slab) {
      tvms_node *shift =
          tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32), 16, TVMS_NO_SPAN);
      shift = tvms_layout_iter_new(reader->unit, NULL, shift, lane);
      tvms_as_tile_layout(layout)->offset = tvms_list_copy(reader->unit, &shift, 1);
    }
    return layout;
  }
  plain_iter plain[] = {{rows, 1, lane}, {cols, 1, col}};
  plain_iter folded[] = {
      {rows, 1, lane}, {fold, datapaths[at].step, lane}, {cols / fold, 1, col}};
  return fold > 1 ? plain_layout(reader, folded, 3) : plain_layout(reader, plain, 2);
}

tvms_eval_value tvms_call_tmem_datapath_layout(tvms_reader *reader,
                                               const tvms_call_args *call) {
  int64_t rows, cols, slab = 0;
  tvms_eval_value letter = call->args[0];
  bool slabs = tvms_release_has(reader->dialect, TVMS_FACT_datapaths_have_slabs);
  if (!tvms_eval_to_int(reader, call->args[1], call->refs[1], &rows)
      || !tvms_eval_to_int(reader, call->args[2], call->refs[2], &cols)
      || (slabs && !tvms_eval_to_int(reader, call->args[3], call->refs[3], &slab))) {
    return tvms_reader_failed(reader);
  }
  for (size_t i = 0; i < sizeof datapaths / sizeof datapaths[0]; i++) {
    bool named = letter.kind == TVMS_EVAL_STR && letter.len == 1
                 && letter.as.text[0] == datapaths[i].letter
                 && (slabs || !datapaths[i].later);
    if (!named) continue;
    if (rows != datapaths[i].rows) {
      return refused(reader, call->ref, "the data path has a different number of rows");
    }
    if (cols % datapaths[i].fold) {
      return refused(reader, call->ref,
                     "the columns must be divisible by the fold of the data path");
    }
    if (slab < 0 || slab > 1 || (slab && !datapaths[i].scattered)) {
      return refused(reader, call->ref, "the data path has no such half");
    }
    return tvms_eval_value_node(datapath_layout(reader, i, cols, slab));
  }
  tvms_eval_report_wrong_type(reader, call->refs[0], "the data path",
                              "the letter of a data path", letter);
  return tvms_reader_failed(reader);
}

// ---- Fragments of tcgen05.ld and tcgen05.st -------------------------------------------------

// The parts of an atom in registers of 32 bits: 0 stands for the repetition.
static const struct {
  const char *shape;
  int64_t columns, most;  // of one repetition; most repetitions
  uint32_t row_count, count;
  plain_iter iters[6];
} atoms[] = {
    {"16x64b",
     2,
     128,
     3,
     5,
     {{4, 1, TVMS_SYM_wid_in_wg},
      {2, 1, TVMS_SYM_laneid},
      {8, 4, TVMS_SYM_laneid},
      {0, 1, TVMS_SYM_m},
      {2, 2, TVMS_SYM_laneid}}},
    {"16x128b",
     4,
     64,
     3,
     5,
     {{4, 1, TVMS_SYM_wid_in_wg},
      {2, 1, TVMS_SYM_m},
      {8, 4, TVMS_SYM_laneid},
      {0, 2, TVMS_SYM_m},
      {4, 1, TVMS_SYM_laneid}}},
    {"16x256b",
     8,
     32,
     3,
     6,
     {{4, 1, TVMS_SYM_wid_in_wg},
      {2, 2, TVMS_SYM_m},
      {8, 4, TVMS_SYM_laneid},
      {0, 4, TVMS_SYM_m},
      {4, 1, TVMS_SYM_laneid},
      {2, 1, TVMS_SYM_m}}},
};

static bool is_repetition(int64_t count, int64_t most) {
  return count > 0 && count <= most && (count & (count - 1)) == 0;
}

// The fragment of a 16-row atom; 128 rows are two of them in each warp.
static tvms_node *atom_layout(tvms_reader *reader, size_t at, int64_t rows,
                              int64_t repetition, int64_t packed) {
  plain_iter iters[MOST_ITERS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < atoms[at].count; i++) {
    plain_iter part = atoms[at].iters[i];
    if (part.extent == 0) part.extent = repetition;
    if (part.axis == TVMS_SYM_m) part.stride *= packed;
    iters[count++] = part;
    if (i == 0 && rows == WARPGROUP) {
      int64_t used = repetition * atoms[at].columns / 2;
      iters[count++] = (plain_iter){2, used * packed, TVMS_SYM_m};
    }
  }
  if (packed > 1) iters[count++] = (plain_iter){packed, 1, TVMS_SYM_m};
  return plain_layout(reader, iters, count);
}

// The layout of a fragment; NULL with a reason.
static tvms_node *fragment_layout(tvms_reader *reader, tvms_eval_value shape,
                                  int64_t rows, int64_t cols, tvms_dtype dtype,
                                  const char **why) {
  int64_t packed = dtype.bits ? 32 / dtype.bits : 0;
  *why = "the shape fits no instruction";
  if (dtype.bits != 16 && dtype.bits != 32) return NULL;
  if (rows != WARPGROUP && rows != WARPGROUP / 2) return NULL;
  if (tvms_eval_value_is_exactly(shape, "32x32b")) {
    bool folded = rows != WARPGROUP;
    if (folded
        && (packed > 1
            || !tvms_release_has(reader->dialect, TVMS_FACT_datapaths_have_slabs)))
      return NULL;
    int64_t per = folded ? 2 : packed;
    if (cols % per || !is_repetition(cols / per, 128)) return NULL;
    plain_iter iters[] = {{rows, 1, TVMS_SYM_tid_in_wg},
                          {2, rows, TVMS_SYM_tid_in_wg},
                          {cols / 2, 1, TVMS_SYM_m}};
    return folded ? plain_layout(reader, iters, 3)
                  : rows_of_threads(reader, rows, cols);
  }
  for (size_t i = 0; i < sizeof atoms / sizeof atoms[0]; i++) {
    int64_t per = atoms[i].columns * packed;
    if (!tvms_eval_value_is_exactly(shape, atoms[i].shape)) continue;
    if (cols % per || !is_repetition(cols / per, atoms[i].most)) return NULL;
    return atom_layout(reader, i, rows, cols / per, packed);
  }
  return NULL;
}

// A pair of ints. False after a report.
static bool read_pair(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                      int64_t *rows, int64_t *cols) {
  if (tvms_eval_value_is_sequence(value) && value.len == 2) {
    return tvms_eval_to_int(reader, value.as.items[0], ref, rows)
           && tvms_eval_to_int(reader, value.as.items[1], ref, cols);
  }
  tvms_eval_report_wrong_type(reader, ref, "the shape", "rows and columns", value);
  return false;
}

static tvms_node *read_fragment(tvms_reader *reader, const tvms_call_args *call,
                                int64_t *rows, int64_t *cols, tvms_dtype *dtype) {
  const char *why;
  if (!read_pair(reader, call->args[1], call->refs[1], rows, cols)
      || !tvms_eval_to_dtype(reader, call->args[2], call->refs[2], dtype)) {
    return NULL;
  }
  tvms_node *layout =
      fragment_layout(reader, call->args[0], *rows, *cols, *dtype, &why);
  if (!layout) tvms_reader_report(reader, bad_layout, call->ref, why);
  return layout;
}

tvms_eval_value tvms_call_tcgen05_atom_layout(tvms_reader *reader,
                                              const tvms_call_args *call) {
  int64_t rows, cols;
  tvms_dtype dtype;
  tvms_node *layout = read_fragment(reader, call, &rows, &cols, &dtype);
  return layout ? tvms_eval_value_node(layout) : tvms_reader_failed(reader);
}

// Registers for a tile of a warp group, seen in its shape.
static tvms_eval_value fragment(tvms_reader *reader, tvms_dtype dtype, int64_t rows,
                                int64_t cols, tvms_node *layout, tvms_ref ref) {
  int64_t each = rows * cols / WARPGROUP;
  tvms_node *flat = registers(reader, dtype, &each, 1, NULL, ref);
  tvms_eval_value dims[] = {tvms_eval_value_int(rows), tvms_eval_value_int(cols)};
  return tvms_view_as(reader, tvms_as_buffer(flat), dims, 2,
                      tvms_eval_value_node(layout), ref);
}

tvms_eval_value tvms_call_alloc_tcgen05_ldst_frag(tvms_reader *reader,
                                                  const tvms_call_args *call) {
  int64_t rows, cols;
  tvms_dtype dtype;
  if (!tvms_tir_inside_function(reader, call)) return TVMS_UNKNOWN;
  tvms_node *layout = read_fragment(reader, call, &rows, &cols, &dtype);
  if (!layout) return tvms_reader_failed(reader);
  return fragment(reader, dtype, rows, cols, layout, call->ref);
}

tvms_eval_value tvms_call_alloc_cast_frag(tvms_reader *reader,
                                          const tvms_call_args *call) {
  tvms_node *source = tvms_eval_value_node_of(call->args[0], TVMS_NODE_BUFFER);
  tvms_dtype dtype;
  int64_t dims[2];
  if (!tvms_tir_inside_function(reader, call)) return TVMS_UNKNOWN;
  tvms_list shape = source ? tvms_as_buffer(source)->shape : (tvms_list){0};
  bool sound = shape.len == 2 && tvms_view_constant(shape.items[0], &dims[0])
               && tvms_view_constant(shape.items[1], &dims[1]);
  if (!sound) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the source",
                                "a buffer of rows and columns", call->args[0]);
    return tvms_reader_failed(reader);
  }
  if (!tvms_eval_to_dtype(reader, call->args[1], call->refs[1], &dtype)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *layout = tvms_as_buffer(source)->layout;
  if (!layout) layout = tvms_layout_row_major(reader->unit, shape);
  return fragment(reader, dtype, dims[0], dims[1], layout, call->ref);
}
