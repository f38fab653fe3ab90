// The ground of the suites about the evaluation alone: a reader of one text after the other, made afresh for every test,
// and a room of theirs beside Python's kinds.
//
// They are linked without the other rooms of parser/, so the tables that the evaluation works with are made here:
// Python's kinds have their operations, one kind has operations that note what they were asked, and nothing else has any.
#ifndef TVMS_TESTS_UNIT_EVAL_SUITE_H
#define TVMS_TESTS_UNIT_EVAL_SUITE_H

#include "parser/eval/ops.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "support/names.h"

#include <criterion/criterion.h>

enum {
  ROOM = 1,
  PROBE = TVMS_EVAL_KINDS_OF(ROOM),  // its operations note what they were asked
  MENTIONED,                         // stands for the place that mentions it
};

// Of the test that runs; the reader and what it reads are there from begin() on.
extern tvms_context context;
extern tvms_surface surface;
extern tvms_reader reader;

// What an operation of a PROBE was asked last.
extern char asked[64];

void open_context(void);

// Ends the text, too.
void close_context(void);

#define EVAL_SUITE TestSuite(eval, .init = open_context, .fini = close_context)

// Begins to read `text`, of the current release.
void begin(const char *text);

tvms_sym symbol(const char *name);

void bind(const char *name, tvms_eval_value value);

// Binds the name `probe` to a PROBE.
void bind_probe(void);

// The expression that the first statement of the text is.
tvms_ref expression(void);

// What the findings so far are called: "E0219 E0301". The text holds until the next call.
const char *findings(void);

// repr(value), or the findings if it is unknown. The text holds until the next call.
const char *shown(tvms_eval_value value);

// The value of `text` where Python evaluates it.
const char *in_python(const char *text);

// The same with the name `probe` bound, by either evaluator.
const char *with_probe(const char *text, tvms_evaluator evaluator);

#define expect_text(actual, expected)                                                  \
  do {                                                                                 \
    const char *gave = (actual);                                                       \
    cr_expect_str_eq(gave, expected, "%s gave %s, not %s", #actual, gave, expected);   \
  } while (0)

#endif
