// Objects of native code: references, and the functions of runtime/boxes.def, called as compiled code calls them.
#include "runtime/box.h"
#include "runtime/box_object.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char raised[256];

static void keep(void *self, const char *kind, const char *text) {
  (void)self;
  snprintf(raised, sizeof raised, "%s: %s", kind, text);
}

static tvms_box_raiser *raiser(void) {
  static tvms_box_raiser told = {keep};
  raised[0] = 0;
  return &told;
}

static tvms_any number(int64_t value) {
  return (tvms_any){.type_index = TVMS_ANY_INT, .v.i = value};
}

static tvms_any text(const char *value) {
  return (tvms_any){.type_index = TVMS_ANY_TEXT, .v.p = (void *)(uintptr_t)value};
}

typedef struct {
  tvms_dl_tensor tensor;
  int64_t shape[2];
} rows;

static tvms_any lend(rows *r, float *data, int64_t count, int64_t width) {
  r->shape[0] = count;
  r->shape[1] = width;
  r->tensor = (tvms_dl_tensor){.data = data,
                               .device = {TVMS_DL_CPU, 0},
                               .ndim = 2,
                               .dtype = {TVMS_DL_FLOAT, 32, 1},
                               .shape = r->shape};
  return (tvms_any){.type_index = TVMS_ANY_DL_TENSOR, .v.p = &r->tensor};
}

static int32_t call(const char *name, const tvms_any *args, int32_t count,
                    tvms_any *box) {
  return tvms_box_call(tvms_box_find(name), raiser(), args, count, box);
}

#define CALL(name, box, ...)                                                           \
  call(name, (tvms_any[]){__VA_ARGS__},                                                \
       (int32_t)(sizeof((tvms_any[]){__VA_ARGS__}) / sizeof(tvms_any)), box)

static const tvms_box_tensor *tensor(const tvms_any *box) {
  cr_assert_eq(box->type_index, TVMS_ANY_TENSOR);
  return box->v.p;
}

static uint32_t references(const tvms_any *box) {
  return (uint32_t)((const tvms_any_object *)box->v.p)->references;
}

// A cache that reserves two rows of two numbers and has the first.
static void make_cache(tvms_any *cache) {
  float one[] = {1, 2};
  rows r, s;
  int64_t sizes[] = {2, 2}, two = 2;
  tvms_any shape = lend(&s, one, 1, 2);
  s.tensor.dtype = (tvms_dl_type){TVMS_DL_INT, 64, 1};
  s.tensor.data = sizes;
  s.tensor.ndim = 1;
  s.tensor.shape = &two;
  cr_assert_eq(CALL("vm.builtin.attention_kv_cache_create", cache, lend(&r, one, 1, 2),
                    shape, number(-1)),
               0);
}

#define CACHE "vm.builtin.attention_kv_cache_"

Test(box, a_cache_grows) {
  tvms_any boxes[2] = {0};
  float more[] = {3, 4, 5, 6, 7, 8, 9, 10};
  rows r;
  make_cache(&boxes[0]);
  cr_assert_eq(CALL(CACHE "append", &boxes[0], boxes[0], lend(&r, more, 4, 2)), 0);
  cr_assert_eq(references(&boxes[0]), 1);
  cr_assert_eq(CALL(CACHE "view", &boxes[1], boxes[0]), 0);
  cr_assert_eq(tensor(&boxes[1])->tensor.shape[0], 5);
  const float *seen = tensor(&boxes[1])->tensor.data;
  for (int i = 0; i < 10; i++)
    cr_assert_eq(seen[i], (float)i + 1);
  tvms_box_drop(boxes, 2);
}

Test(box, a_view_is_served_again) {
  tvms_any boxes[3] = {0};
  make_cache(&boxes[0]);
  cr_assert_eq(CALL(CACHE "view", &boxes[1], boxes[0]), 0);
  const void *first = boxes[1].v.p;
  cr_assert_eq(CALL(CACHE "view", &boxes[2], boxes[0]), 0);
  cr_assert_neq(boxes[2].v.p, first);
  tvms_box_drop(boxes + 1, 2);
  cr_assert_eq(CALL(CACHE "view", &boxes[1], boxes[0]), 0);
  const void *again = boxes[1].v.p;
  tvms_box_drop(boxes + 1, 1);
  cr_assert_eq(CALL(CACHE "view", &boxes[1], boxes[0]), 0);
  cr_assert_eq(boxes[1].v.p, again);
  // It outlives its cache.
  tvms_box_drop(boxes, 1);
  cr_assert_eq(((const float *)tensor(&boxes[1])->tensor.data)[1], 2);
  tvms_box_drop(boxes, 3);
}

Test(box, a_window_keeps_its_sinks) {
  tvms_any boxes[2] = {0};
  float more[] = {3, 4, 5, 6}, last[] = {7, 8};
  rows r;
  make_cache(&boxes[0]);
  const char *name = CACHE "window_override_with_sinks";
  cr_assert_eq(
      CALL(name, &boxes[0], boxes[0], lend(&r, more, 2, 2), number(4), number(1)), 0);
  cr_assert_eq(
      CALL(name, &boxes[0], boxes[0], lend(&r, last, 1, 2), number(4), number(1)), 0);
  cr_assert_eq(CALL(CACHE "view", &boxes[1], boxes[0]), 0);
  cr_assert_eq(tensor(&boxes[1])->tensor.shape[0], 4);
  cr_assert_neq(
      CALL(name, &boxes[0], boxes[0], lend(&r, more, 2, 2), number(2), number(1)), 0);
  tvms_box_drop(boxes, 2);
}

Test(box, caches_of_a_tuple_lose_rows) {
  tvms_any boxes[3] = {0};
  make_cache(&boxes[0]);
  cr_assert_eq(CALL("vm.builtin.make_tuple", &boxes[1], boxes[0]), 0);
  cr_assert_eq(references(&boxes[0]), 2);
  cr_assert_neq(CALL(CACHE "array_popn", &boxes[2], boxes[1], number(2)), 0);
  cr_assert_str_eq(raised, "ValueError: " CACHE
                           "array_popn: no more rows than are filled are expected");
  cr_assert_eq(CALL(CACHE "array_popn", &boxes[2], boxes[1], number(1)), 0);
  cr_assert_eq(CALL(CACHE "array_clear", &boxes[2], boxes[1]), 0);
  cr_assert_eq(CALL("vm.builtin.tuple_getitem", &boxes[2], boxes[1], number(0)), 0);
  cr_assert_eq(boxes[2].v.p, boxes[0].v.p);
  cr_assert_neq(CALL("vm.builtin.tuple_getitem", &boxes[2], boxes[1], number(1)), 0);
  tvms_box_drop(boxes, 3);
}

Test(box, distinct_numbers) {
  tvms_any boxes[3] = {0};
  float data[] = {3, -0.0F, 1, 0, 3, -2};
  rows r;
  tvms_any yes = number(1), no = number(0);
  cr_assert_eq(
      CALL("relax.run.unique", &boxes[0], lend(&r, data, 3, 2), yes, yes, yes, yes), 0);
  static const int64_t expected[3][6] = {
      {5, 1, 2, 0}, {3, 1, 2, 1, 3, 0}, {1, 2, 1, 2}};
  for (int64_t field = 1; field < 4; field++) {
    cr_assert_eq(CALL("vm.builtin.tuple_getitem", &boxes[1], boxes[0], number(field)),
                 0);
    const tvms_dl_tensor *got = &tensor(&boxes[1])->tensor;
    cr_assert_eq(got->shape[0], field == 2 ? 6 : 4);
    cr_assert_arr_eq(got->data, expected[field - 1],
                     (size_t)got->shape[0] * sizeof(int64_t));
  }
  // Rows, in the order in which they occur.
  float same[] = {5, 6, 1, 2, 5, 6};
  cr_assert_eq(CALL("relax.run.unique", &boxes[1], lend(&r, same, 3, 2), no, no, no, no,
                    number(0)),
               0);
  cr_assert_eq(tensor(&boxes[1])->tensor.shape[0], 2);
  cr_assert_arr_eq(tensor(&boxes[1])->tensor.data, same, 4 * sizeof(float));
  cr_assert_eq(CALL("relax.run.nonzero", &boxes[2], lend(&r, data, 3, 2)), 0);
  static const int64_t places[] = {0, 1, 2, 2, 0, 0, 0, 1};
  cr_assert_arr_eq(tensor(&boxes[2])->tensor.data, places, sizeof places);
  cr_assert_eq(CALL("relax.run.unique", &boxes[2], lend(&r, data, 0, 2), yes), 0);
  cr_assert_eq(tensor(&boxes[2])->tensor.shape[0], 0);
  cr_assert_neq(CALL("relax.run.unique", &boxes[2], lend(&r, data, 3, 2), no, no, no,
                     no, number(2)),
                0);
  tvms_box_drop(boxes, 3);
}

Test(box, tokens_are_chosen) {
  tvms_any box = {0}, top = {.type_index = TVMS_ANY_FLOAT, .v.f = 0.9}, at = top;
  float likely[] = {0.25F, 0.5F, 0.125F, 0.125F}, nan[] = {NAN, NAN};
  rows r;
  at.v.f = 0.7;
  cr_assert_eq(
      CALL("vm.builtin.sample_top_p_from_prob", &box, lend(&r, likely, 1, 4), top, at),
      0);
  cr_assert_eq(box.v.i, 0);
  cr_assert_neq(
      CALL("vm.builtin.sample_top_p_from_prob", &box, lend(&r, nan, 1, 2), top, at), 0);
  cr_assert_eq(CALL("vm.builtin.sample_top_p_from_logits", &box, lend(&r, nan, 1, 2),
                    at, top, at),
               0);
  cr_assert_neq(
      CALL("vm.builtin.sample_top_p_from_prob", &box, lend(&r, likely, 2, 2), top, at),
      0);
  cr_assert_neq(CALL("vm.builtin.apply_repetition_penalty", &box,
                     lend(&r, likely, 1, 4), lend(&r, likely, 1, 4), top),
                0);
  tvms_box_drop(&box, 1);
}

Test(box, wrong_arguments_are_refused) {
  tvms_any boxes[2] = {0};
  float wide[] = {1, 2, 3};
  rows r;
  make_cache(&boxes[0]);
  cr_assert_neq(CALL(CACHE "append", &boxes[1], boxes[0], lend(&r, wide, 1, 3)), 0);
  cr_assert_neq(CALL(CACHE "append", &boxes[1], boxes[0]), 0);
  cr_assert_neq(CALL(CACHE "append", &boxes[1], number(1), number(2)), 0);
  cr_assert_str_eq(raised, "ValueError: " CACHE "append: a cache is expected");
  cr_assert_neq(CALL(CACHE "view", &boxes[1], boxes[0], number(1)), 0);
  cr_assert_neq(CALL("vm.builtin.copy", &boxes[1]), 0);
  cr_assert_neq(CALL("tvms.new_tensor", &boxes[1], text("float33x"), number(1)), 0);
  cr_assert_neq(CALL("tvms.new_tensor", &boxes[1], text("float32"), number(-1)), 0);
  cr_assert_neq(CALL("tvms.new_tensor", &boxes[1], text("float32"), number(INT64_MAX),
                     number(INT64_MAX)),
                0);
  cr_assert_str_eq(raised, "MemoryError: tvms.new_tensor: out of memory");
  cr_assert_eq(boxes[1].type_index, TVMS_ANY_NONE);
  tvms_box_drop(boxes, 2);
}

// Short texts are in the value itself, others are objects.
Test(box, texts_are_copied) {
  tvms_any boxes[3] = {0};
  char small[8], wide[] = "eight by", few[] = "tirx";
  cr_assert_eq(CALL("vm.builtin.copy", &boxes[0], text(few)), 0);
  cr_assert_eq(CALL("vm.builtin.copy", &boxes[1], text(wide)), 0);
  few[0] = wide[0] = '-';
  cr_assert(tvms_box_small_text(boxes[0], small));
  cr_assert_str_eq(small, "tirx");
  cr_assert_not(tvms_box_small_text(boxes[1], small));
  cr_assert_eq(boxes[1].type_index, 65);
  const char *TVMS_NULLABLE const *content =
      (const void *)((const tvms_any_object *)boxes[1].v.p + 1);
  cr_assert_str_eq(content[0], "eight by");
  cr_assert_eq(CALL("vm.builtin.make_tuple", &boxes[2], boxes[0], boxes[1]), 0);
  tvms_box_drop(boxes, 3);
}

Test(box, checks) {
  tvms_any boxes[2] = {0};
  float data[] = {1, 2};
  rows r;
  cr_assert_eq(CALL("vm.builtin.copy", &boxes[0], lend(&r, data, 1, 2)), 0);
  cr_assert_neq(tensor(&boxes[0])->tensor.data, data);
  cr_assert_eq(CALL("vm.builtin.check_tensor_info", &boxes[1], boxes[0], number(2),
                    text("float32"), text("x: ")),
               0);
  cr_assert_neq(CALL("vm.builtin.check_tensor_info", &boxes[1], boxes[0], number(1),
                     text("float32"), text("x: ")),
                0);
  cr_assert_str_eq(raised,
                   "TypeError: x: a tensor of 1 dimensions and float32 is expected, "
                   "not a tensor of 2 dimensions and float32");
  cr_assert_eq(CALL("ffi.Shape", &boxes[1], number(3), number(4)), 0);
  cr_assert_eq(
      CALL("vm.builtin.check_shape_info", &boxes[0], boxes[1], number(2), text("s: ")),
      0);
  cr_assert_neq(
      CALL("vm.builtin.check_shape_info", &boxes[0], boxes[1], number(1), text("s: ")),
      0);
  tvms_any real = {.type_index = TVMS_ANY_FLOAT, .v.f = 1};
  const char *name = "vm.builtin.check_prim_value_info";
  cr_assert_eq(CALL(name, &boxes[0], real, text("float32"), text("n: ")), 0);
  cr_assert_neq(CALL(name, &boxes[0], real, text("int64"), text("n: ")), 0);
  tvms_any pair = {0};
  cr_assert_eq(CALL("vm.builtin.make_tuple", &pair, number(1), text("long enough")), 0);
  name = "vm.builtin.check_tuple_info";
  cr_assert_eq(CALL(name, &boxes[0], pair, number(2), text("t: ")), 0);
  cr_assert_neq(CALL(name, &boxes[0], pair, number(3), text("t: ")), 0);
  cr_assert_neq(CALL(name, &boxes[0], real, number(1), text("t: ")), 0);
  name = "vm.builtin.check_string_info";
  cr_assert_eq(CALL(name, &boxes[0], text("lent"), text("u: ")), 0);
  cr_assert_eq(CALL("vm.builtin.tuple_getitem", &boxes[1], pair, number(1)), 0);
  cr_assert_eq(CALL(name, &boxes[0], boxes[1], text("u: ")), 0);
  cr_assert_neq(CALL(name, &boxes[0], pair, text("u: ")), 0);
  tvms_box_drop(&pair, 1);
  tvms_box_drop(boxes, 2);
}
