// Undefined names: what is reported of them.
#ifndef TVMS_PARSER_EVAL_UNDEFINED_H
#define TVMS_PARSER_EVAL_UNDEFINED_H

#include "parser/eval/eval.h"

// Reports a name that nothing binds; silently where anything may be bound, and for names of
// Python's own in a lenient reader.
void tvms_eval_report_undefined_name(tvms_reader *reader, tvms_sym name,
                                     tvms_span span);

// A name that nothing binds was reported in a function of Python: its definitions do not say so again.
void tvms_eval_note_undefined_within(tvms_reader *reader, tvms_sym name,
                                     tvms_span function);

// Forgets which names were reported in a definition; a namespace that is missing stays known for
// the file.
void tvms_eval_forget_undefined(tvms_reader *reader);

// Remarks that what stands at `span` was meant as a string, with its quotes as a fix.
void tvms_eval_offer_quotes(tvms_reader *reader, tvms_diag *diag, tvms_span span);

#endif
