// Explanations of shapes as lines of text and as JSON.
#ifndef TVMS_DRIVER_EXPLAIN_SHAPE_TEXT_H
#define TVMS_DRIVER_EXPLAIN_SHAPE_TEXT_H

#include "driver/explain_shape.h"
#include "support/json.h"

// For people: each value, each dimension, and below it the steps back, each step once.
void tvms_explain_shape_text(const tvms_shape_explanation *explanation,
                             tvms_source *source, tvms_strbuf *out);

// The members `values`, `steps` and `comparisons` of the object that is open.
void tvms_explain_shape_json(const tvms_shape_explanation *explanation,
                             tvms_source *source, tvms_json *json);

#endif
