// Why a dimension is what it is: the rules that made it, one by one, back to annotations.
#ifndef TVMS_DRIVER_EXPLAIN_SHAPE_H
#define TVMS_DRIVER_EXPLAIN_SHAPE_H

#include "ir/module.h"
#include "structinfo/counter.h"
#include "structinfo/origin.h"
#include "support/vec.h"

// One step: a dimension of a value, and how it came about. Texts belong to the context.
typedef struct {
  const tvms_node *value;  // the variable
  tvms_dim_place place;
  const char *name;                   // "y[1]"; "y[0][1]" of a tuple
  const char *is;                     // "n * 4"
  tvms_span span;                     // of the binding or the parameter
  const char *rule;                   // "R.matmul", or what else binds the value
  const char *TVMS_NULLABLE words;    // what the rule says
  const char *TVMS_NULLABLE formula;  // over the dimensions in `from`, if it says more
  TVMS_VEC(uint32_t) from;            // steps
} tvms_shape_step;

// A value that was asked for.
typedef struct {
  const char *function;
  const char *name;
  const char *type;
  tvms_span span;
  const tvms_node *var;
  uint32_t first_root;  // steps for its dimensions, in order …
  uint32_t root_count;  // … none: its shape is not known
} tvms_shape_value;

typedef enum {
  TVMS_DIMS_EQUAL,
  TVMS_DIMS_DIFFER,
  TVMS_DIMS_UNPROVED
} tvms_dims_verdict;

// Two dimensions that were compared.
typedef struct {
  uint32_t dimension;
  const char *left, *right;
  tvms_dims_verdict verdict;
  const char *TVMS_NULLABLE example;  // "n = 1, m = 2"; NULL: none was found
  int64_t left_value, right_value;    // what the two are then
} tvms_shape_pair;

// Two values that were compared, of one function.
typedef struct {
  uint32_t left, right;  // values
  bool ranks_differ;     // or are not known: there are no pairs
  TVMS_VEC(tvms_shape_pair) pairs;
} tvms_shape_comparison;

// Everything that is to be said of one module. Lists belong to the context's memory.
typedef struct {
  TVMS_VEC(tvms_shape_value) values;
  TVMS_VEC(tvms_shape_step) steps;
  TVMS_VEC(tvms_shape_comparison) comparisons;
  bool left_out;  // there are more steps than are shown
} tvms_shape_explanation;

// Adds to `result` what explains the shape of every value of `module` that is called `name`
// ("y", or "main.y" of one function), and, if `other` is given, compares it with each that
// has this name in the same function. Types are written as `dialect` does.
void tvms_explain_shape(const tvms_module *module, tvms_dialect dialect,
                        const char *name, const char *TVMS_NULLABLE other,
                        tvms_shape_explanation *result);

// Frees the lists.
void tvms_explain_shape_fini(tvms_memory *memory, tvms_shape_explanation *result);

#endif
