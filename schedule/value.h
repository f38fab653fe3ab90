// Values of a schedule's script: references to blocks and loops, numbers, texts, lists of them, functions of indices.
#ifndef TVMS_SCHEDULE_VALUE_H
#define TVMS_SCHEDULE_VALUE_H

#include "schedule/state.h"

typedef enum {
  TVMS_VALUE_NONE,
  TVMS_VALUE_BLOCK,
  TVMS_VALUE_LOOP,
  TVMS_VALUE_INT,
  TVMS_VALUE_BOOL,
  TVMS_VALUE_FLOAT,
  TVMS_VALUE_TEXT,
  TVMS_VALUE_LIST,
  TVMS_VALUE_DICT,    // keys and values in turn
  TVMS_VALUE_LAMBDA,  // what the reader makes an index map of
} tvms_sched_kind;

typedef struct tvms_sched_value tvms_sched_value;

// A function of indices that a script writes as a lambda (or that a trace holds): INDEX_MAP, made in the unit of a
// function for so many axes, whose types are those of `like`. NULL after a report.
typedef tvms_node *TVMS_NULLABLE tvms_sched_map_maker(void *self, tvms_unit *unit,
                                                      const tvms_dtype *like,
                                                      uint32_t count);

struct tvms_sched_value {
  tvms_sched_kind kind;
  tvms_span span;               // where the script says it
  tvms_sched_ref ref;           // BLOCK, LOOP
  int64_t number;               // INT, BOOL
  double real;                  // FLOAT
  const char *text;             // TEXT; of a LAMBDA what a trace writes for it
  tvms_sched_value *items;      // LIST, DICT
  uint32_t len;                 // of items
  tvms_sched_map_maker *maker;  // LAMBDA
  void *self;                   // of the maker
  tvms_node *TVMS_NULLABLE
      map;        // that a step made of a LAMBDA or a number, in its function's unit
  uint32_t name;  // number of a result, for traces; 0: none
};

#endif
