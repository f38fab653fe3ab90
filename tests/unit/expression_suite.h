// The ground of a suite about expressions and statements of TIR: a context, a unit and a
// reader of S-expressions, made afresh for every test.
//
//   EXPRESSION_SUITE(fold, TVMS_DIALECT_CURRENT)
//
// declares the suite `fold` with `context`, `unit` and `read(text)`.
#ifndef TVMS_TESTS_UNIT_EXPRESSION_SUITE_H
#define TVMS_TESTS_UNIT_EXPRESSION_SUITE_H

#include "sexpr.h"
#include "support/names.h"

#include <criterion/criterion.h>

#define EXPRESSION_SUITE(name, dialect)                                                \
  static tvms_context context;                                                         \
  static tvms_unit unit;                                                               \
  static sexpr reader;                                                                 \
  static void open_unit(void) {                                                        \
    tvms_context_init(&context, &tvms_names);                                          \
    tvms_unit_init(&unit, &context, dialect);                                          \
    reader = (sexpr){.unit = &unit};                                                   \
  }                                                                                    \
  static void close_unit(void) {                                                       \
    tvms_unit_fini(&unit);                                                             \
    tvms_context_fini(&context);                                                       \
  }                                                                                    \
  static tvms_node *read(const char *text) {                                           \
    return sexpr_read(&reader, text);                                                  \
  }                                                                                    \
  TestSuite(name, .init = open_unit, .fini = close_unit)

#endif
