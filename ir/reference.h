// Every name of I, T and R that the tables know, for people: signatures and releases.
#ifndef TVMS_IR_REFERENCE_H
#define TVMS_IR_REFERENCE_H

#include "ir/dialect.h"

#include <stddef.h>

typedef enum {
  TVMS_REFERENCE_CALL,         // is called with the parameters of `signature`
  TVMS_REFERENCE_VALUE,        // an attribute that is not called
  TVMS_REFERENCE_TYPE,         // a data type
  TVMS_REFERENCE_OPERATOR,     // an operator of TIR: any arguments, or `inputs`
  TVMS_REFERENCE_INSTRUCTION,  // of PTX: operands in `signature`, modifiers in `doc`
} tvms_reference_kind;

// One signature of one name.
typedef struct {
  tvms_reference_kind kind;
  const char *space;  // "T", "R", "T.axis"
  const char *name;   // what follows: "grid", "nn.relu"
  const char *TVMS_NULLABLE signature;
  int inputs;  // of an OPERATOR; -1: any number
  const char *TVMS_NULLABLE doc;
  tvms_dialect since, until;  // first and last release; until NONE: and later
} tvms_reference;

// Shows every entry, those of a name one after the other and old ones first. They last as
// long as the program.
void tvms_reference_each(void (*see)(void *self, const tvms_reference *entry),
                         void *self);

// True if the whole name of an entry ("T.grid") is `text`; instructions of PTX may have
// modifiers behind it.
bool tvms_reference_is(const tvms_reference *entry, const char *text);

// "every release", "since 0.25", "up to 0.22", "0.25 to 0.26", "0.26 only".
void tvms_reference_releases(const tvms_reference *entry, char *out, size_t size);

// "T.grid(*extents)": an entry as a call writes it; cut to fit.
void tvms_reference_form(const tvms_reference *entry, char *out, size_t size);

#endif
