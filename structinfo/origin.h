// Where a dimension of the result of a call comes from: the words of the rule that inferred
// it, and the dimensions of the arguments that it is made of.
//
// No rule keeps a record of its own. Asked afterwards, the call is inferred again with a fresh
// variable in the place of each dimension of its arguments: what the rule makes of them is
// the formula, and the variables in it are the sources. A rule that needs to know that two
// dimensions are equal, or what number one of them is, says nothing of fresh ones; then equal
// dimensions share a variable, and in a last trial numbers stay.
#ifndef TVMS_STRUCTINFO_ORIGIN_H
#define TVMS_STRUCTINFO_ORIGIN_H

#include "structinfo/infer.h"

// A dimension of a value: of its field `field` if it is a tuple (else TVMS_NO_FIELD).
typedef struct {
  int32_t field;
  uint32_t dim;
} tvms_dim_place;

enum { TVMS_NO_FIELD = -1 };

// The same of an argument of a call.
typedef struct {
  uint32_t argument;
  tvms_dim_place place;
} tvms_dim_source;

typedef struct {
  tvms_node *TVMS_NULLABLE
      formula;                     // over variables called like "x[0]"; NULL: not known
  const tvms_dim_source *sources;  // in order of arguments
  uint32_t count;
} tvms_dim_origin;

// The origin of one dimension of the result of `in->call`, which has been inferred. Everything
// belongs to the arena of the unit. Reports nothing.
tvms_dim_origin tvms_infer_origin(tvms_inference *in, tvms_dim_place place);

// What the rule of an operator says about shapes; NULL for what is no operator.
const char *TVMS_NULLABLE tvms_infer_words(tvms_opcode op);

// The dimensions of a type, or of one field of a tuple; false if they are not known.
bool tvms_dims_at(const tvms_node *TVMS_NULLABLE type, int32_t field, tvms_list *dims);

#endif
