// Putting elements with their places in order: a stable sort, and a heap of the best ones.
//
// Comparisons with NaN are all false, so NaN has no place in an order, and what a sort makes of
// it follows from which elements it compares. The steps here are those of std::stable_sort and
// the heaps of GNU's C++ library, which TVM's functions are made with: so both give the same.
#ifndef TVMS_RUNTIME_ORDER_H
#define TVMS_RUNTIME_ORDER_H

#include "runtime/number.h"

// An element and its place along the axis.
typedef struct {
  int64_t place;
  tvms_scalar key;
} tvms_order_item;

typedef enum {
  TVMS_ORDER_SIGNED,
  TVMS_ORDER_UNSIGNED,
  TVMS_ORDER_REAL
} tvms_order_kind;

typedef struct {
  uint8_t kind;  // tvms_order_kind
  bool descends;
  bool by_place;  // equal elements are in the order of their places
} tvms_order;

// What elements of this type are compared as.
tvms_order_kind tvms_order_kind_of(tvms_dl_type type);

// Does `a` come before `b`?
bool tvms_order_before(const tvms_order *order, const tvms_order_item *a,
                       const tvms_order_item *b);

// Sorts `count` items; equal ones stay as they were. `spare` has room for half of them,
// rounded up.
void tvms_order_sort(const tvms_order *order, tvms_order_item *items, int64_t count,
                     tvms_order_item *spare);

// Makes a heap of `count` items: the last one in order stands first.
void tvms_order_heap(const tvms_order *order, tvms_order_item *items, int64_t count);

// Puts `item` into a heap of `count` items, whose first one leaves it. There is room for one
// item more behind them.
void tvms_order_heap_exchange(const tvms_order *order, tvms_order_item *items,
                              int64_t count, tvms_order_item item);

#endif
