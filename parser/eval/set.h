// Sets and dicts of the evaluation: what is equal stands once. Both are lists; a table of
// hashes, which is dropped at once, makes building them linear.
#ifndef TVMS_PARSER_EVAL_SET_H
#define TVMS_PARSER_EVAL_SET_H

#include "parser/eval/eval.h"

// True if the value may be an item of a set or a key of a dict. False if it is something
// else, which is reported, or unknown.
bool tvms_eval_can_hash(tvms_reader *reader, tvms_eval_value item, tvms_ref ref);

// The set of `items`, which are used up. Reports an item that Python cannot hash at `ref`.
tvms_eval_value tvms_eval_make_set(tvms_reader *reader, tvms_eval_value items,
                                   tvms_ref ref);

// The dict of keys and values in turn; of equal keys the first place and the last value count.
tvms_eval_value tvms_eval_make_dict(tvms_reader *reader,
                                    const tvms_eval_value_vec *pairs, tvms_ref ref);

// Adds a key and a value to the pairs that a dict is made of.
void tvms_eval_push_pair(tvms_reader *reader, tvms_eval_value_vec *pairs,
                         tvms_eval_value key, tvms_eval_value value);

// Union, intersection and differences of sets, union of dicts. False: not defined.
bool tvms_eval_set_operator(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                            tvms_eval_value b, tvms_ref ref, tvms_eval_value *result);

// `<`, `<=`, `>` and `>=` of two sets: whether one is part of the other.
bool tvms_eval_sets_compare(const tvms_reader *reader, tvms_surf_op op,
                            tvms_eval_value a, tvms_eval_value b);

#endif
