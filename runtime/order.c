// A stable sort and a heap.
//
// The sort halves the items, sorts runs of seven in each half by insertion, merges runs there and
// back between the items and the spare room, and merges the halves at last.
#include "runtime/order.h"

#include <string.h>

typedef tvms_order_item item;

tvms_order_kind tvms_order_kind_of(tvms_dl_type type) {
  if (tvms_scalar_kind_is_real(type.code)) return TVMS_ORDER_REAL;
  return type.code == TVMS_DL_INT ? TVMS_ORDER_SIGNED : TVMS_ORDER_UNSIGNED;
}

static bool is_less(uint8_t kind, tvms_scalar a, tvms_scalar b) {
  if (kind == TVMS_ORDER_REAL) return a.f < b.f;
  return kind == TVMS_ORDER_SIGNED ? a.i < b.i : (uint64_t)a.i < (uint64_t)b.i;
}

static bool is_same(uint8_t kind, tvms_scalar a, tvms_scalar b) {
  return kind == TVMS_ORDER_REAL ? a.f >= b.f && a.f <= b.f : a.i == b.i;
}

bool tvms_order_before(const tvms_order *order, const item *a, const item *b) {
  if (order->by_place && is_same(order->kind, a->key, b->key))
    return a->place < b->place;
  return order->descends ? is_less(order->kind, b->key, a->key)
                         : is_less(order->kind, a->key, b->key);
}

static void move(item *to, const item *from, int64_t count) {
  memmove(to, from, (size_t)count * sizeof *to);
}

// ---- Runs ----

static void insert_each(const tvms_order *order, item *items, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    item next = items[i];
    int64_t at = i;
    if (tvms_order_before(order, &next, &items[0])) {
      at = 0;
    } else {
      while (tvms_order_before(order, &next, &items[at - 1]))
        at--;
    }
    move(items + at + 1, items + at, i - at);
    items[at] = next;
  }
}

// Merges a and the b_count items behind it into `to`; returns where they end.
static item *merge(const tvms_order *order, const item *a, int64_t a_count,
                   const item *b, int64_t b_count, item *to) {
  while (a_count > 0 && b_count > 0) {
    bool second = tvms_order_before(order, b, a);
    *to++ = second ? *b++ : *a++;
    *(second ? &b_count : &a_count) -= 1;
  }
  move(to, a, a_count);
  to += a_count;
  move(to, b, b_count);
  return to + b_count;
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// Merges neighbouring runs of `length` items into `to`.
static void merge_runs(const tvms_order *order, const item *from, int64_t count,
                       int64_t length, item *to) {
  for (; count > 0; from += 2 * length, count -= 2 * length) {
    int64_t first = least(length, count), second = least(length, count - first);
    to = merge(order, from, first, from + first, second, to);
  }
}

static void sort_half(const tvms_order *order, item *items, int64_t count,
                      item *spare) {
  enum { RUN = 7 };
  for (int64_t i = 0; i < count; i += RUN)
    insert_each(order, items + i, least(RUN, count - i));
  for (int64_t length = RUN; length < count; length *= 4) {
    merge_runs(order, items, count, length, spare);
    merge_runs(order, spare, count, 2 * length, items);
  }
}

// As merge, from the ends: the first part lies before `items + first`, the second in `b`.
static void merge_backward(const tvms_order *order, item *items, int64_t first,
                           const item *b, int64_t second) {
  while (first > 0 && second > 0) {
    bool left = tvms_order_before(order, &b[second - 1], &items[first - 1]);
    item *to = items + first + second - 1;
    *to = left ? items[--first] : b[--second];
  }
  move(items, b, second);
}

void tvms_order_sort(const tvms_order *order, item *items, int64_t count, item *spare) {
  if (count < 2) return;
  int64_t first = (count + 1) / 2, second = count - first;
  sort_half(order, items, first, spare);
  sort_half(order, items + first, second, spare);
  if (first <= second) {
    move(spare, items, first);
    merge(order, spare, first, items + first, second, items);
  } else {
    move(spare, items + first, second);
    merge_backward(order, items, first, spare, second);
  }
}

// ---- Heaps ----

// Lets `value` rise from `hole` towards `top`.
static void rise(const tvms_order *order, item *items, int64_t hole, int64_t top,
                 item value) {
  while (hole > top) {
    int64_t parent = (hole - 1) / 2;
    if (!tvms_order_before(order, &items[parent], &value)) break;
    items[hole] = items[parent];
    hole = parent;
  }
  items[hole] = value;
}

// Lets the hole at `top` sink to the end, and `value` rise from there.
static void sink(const tvms_order *order, item *items, int64_t top, int64_t count,
                 item value) {
  int64_t hole = top;
  while (2 * hole + 2 < count) {
    int64_t child = 2 * hole + 2;
    if (tvms_order_before(order, &items[child], &items[child - 1])) child--;
    items[hole] = items[child];
    hole = child;
  }
  if (2 * hole + 2 == count) {
    items[hole] = items[count - 1];
    hole = count - 1;
  }
  rise(order, items, hole, top, value);
}

void tvms_order_heap(const tvms_order *order, item *items, int64_t count) {
  for (int64_t top = count / 2 - 1; top >= 0; top--)
    sink(order, items, top, count, items[top]);
}

void tvms_order_heap_exchange(const tvms_order *order, item *items, int64_t count,
                              item value) {
  rise(order, items, count, 0, value);
  item last = items[count];
  items[count] = items[0];
  sink(order, items, 0, count, last);
}
