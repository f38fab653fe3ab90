// From values to nodes, texts and numbers; and what a value is called in messages.
#ifndef TVMS_PARSER_EVAL_CONVERT_H
#define TVMS_PARSER_EVAL_CONVERT_H

#include "parser/eval/eval.h"

// An attribute value: raw scalars stay raw, dicts and lists become objects.
tvms_node *TVMS_NULLABLE tvms_eval_to_object(tvms_reader *reader, tvms_eval_value value,
                                             tvms_ref ref);

// A dict with string keys as OBJECT_MAP; NONE gives NULL in *map and true.
TVMS_NODISCARD bool tvms_eval_to_map(tvms_reader *reader, tvms_eval_value value,
                                     tvms_ref ref, tvms_node **map);

// A data type: from text or a dtype object. The second one also takes what makes values of
// the type, T.float32, as few parameters of TVM do.
TVMS_NODISCARD bool tvms_eval_to_dtype(tvms_reader *reader, tvms_eval_value value,
                                       tvms_ref ref, tvms_dtype *dtype);

// The same, which also takes what makes values of the type, T.float32, as few
// parameters of TVM do.
TVMS_NODISCARD bool tvms_eval_to_named_dtype(tvms_reader *reader, tvms_eval_value value,
                                             tvms_ref ref, tvms_dtype *dtype);

// "inf", "-inf" and "nan" as the floats that NumPy makes of them; other text as it is.
tvms_eval_value tvms_eval_special_float(tvms_eval_value text);

// A Python int (IntImm counts where TVM converts it), text, or truth.
TVMS_NODISCARD bool tvms_eval_to_int(tvms_reader *reader, tvms_eval_value value,
                                     tvms_ref ref, int64_t *result);

// A str of Python; its bytes live as long as the value. False after a report.
TVMS_NODISCARD bool tvms_eval_to_text(tvms_reader *reader, tvms_eval_value value,
                                      tvms_ref ref, tvms_bytes *text);

// True or False; an int counts as in Python. False after a report.
TVMS_NODISCARD bool tvms_eval_to_flag(tvms_reader *reader, tvms_eval_value value,
                                      tvms_ref ref, bool *flag);

// What a value is, for messages: "int", "buffer 'A'", "T.grid(…)".
const char *tvms_eval_describe(tvms_reader *reader, tvms_eval_value value);

// A copy of `items` in reader->values.
tvms_eval_value *tvms_eval_keep_items(tvms_reader *reader, const tvms_eval_value *items,
                                      uint32_t len);

// True if the value is exactly this text.
bool tvms_eval_value_is_exactly(tvms_eval_value value, const char *text);

// Adds to a finding of what stands at `ref` that it is to be called.
void tvms_eval_suggest_call(tvms_reader *reader, tvms_diag *diag, tvms_ref ref);

// Reports at `ref` that an index is out of range for so many items.
void tvms_eval_report_index(tvms_reader *reader, tvms_ref ref, uint32_t count);

// Reports at `ref` that `what` must be `expected`, unless the value is unknown. NULL for
// `what` names the argument of the call at work that stands at `ref`, or else quotes the text.
void tvms_eval_report_wrong_type(tvms_reader *reader, tvms_ref ref,
                                 const char *TVMS_NULLABLE what, const char *expected,
                                 tvms_eval_value value);

// The same for who has more to say about it; NULL if nothing was reported, because the value is
// unknown.
tvms_diag *TVMS_NULLABLE tvms_eval_report_type(tvms_reader *reader, tvms_ref ref,
                                               const char *TVMS_NULLABLE what,
                                               const char *expected,
                                               tvms_eval_value value);

// Whether finding `id` was just reported of the item that stands before this one, with nothing but
// commas and blanks between: both are one mistake then.
bool tvms_eval_item_before_has(const tvms_reader *reader, tvms_diag_id id,
                               tvms_ref ref);

// Adds to the finding what an element of a buffer looks like: "an element is A[..., ...]".
void tvms_eval_note_element(tvms_reader *reader, tvms_diag *diag,
                            const tvms_node *buffer);

#endif
