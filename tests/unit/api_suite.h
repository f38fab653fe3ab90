// The ground of the suites about the functions of include/tvms: programs, and a context made
// afresh for every test.
#ifndef TVMS_TESTS_UNIT_API_SUITE_H
#define TVMS_TESTS_UNIT_API_SUITE_H

#include <tvms/tvms.h>

#include <criterion/criterion.h>

// A PrimFunc `scale` of two tensors and a factor.
extern const char scale[];

// A module with the function `main` of Relax, which adds and calls relu.
extern const char model[];

// A module whose only fault is a name that is not defined: 'wid' for 'wide'.
extern const char misspelt[];

// The context of the test that runs. A test may put another in its place.
extern tvms_context *context;

// Makes the context with the default options.
void open_context(void);

// Destroys it with all that it has.
void close_context(void);

#define API_SUITE TestSuite(api, .init = open_context, .fini = close_context)

// A source of the context with this text.
tvms_source *source_of(const char *name, const char *text);

// Reads a program that has no errors.
tvms_program *read_text(const char *text);

// Prints a program; `release` NULL: as it was read. The text is the context's.
char *print_as(tvms_program *program, const char *release);

#endif
