// How two StructInfos relate: is one a base of the other, what do they have in common, and
// what remains when variables go out of sight (TVM: TypeBaseCheck, TypeLCA,
// EraseToWellDefined).
#ifndef TVMS_STRUCTINFO_RELATE_H
#define TVMS_STRUCTINFO_RELATE_H

#include "structinfo/dims.h"
#include "structinfo/sinfo.h"
#include "support/vec.h"

// Outcomes, worst first: results combine by taking the smallest.
typedef enum {
  TVMS_FIT_NEVER,    // disjoint
  TVMS_FIT_WEAK,     // the value's type says too little; needs match_cast
  TVMS_FIT_RUNTIME,  // a dimension is not proved; checked when the program runs
  TVMS_FIT_PROVED,
} tvms_sinfo_fit;

// How well a value of `derived` fits where `base` is asked for.
tvms_sinfo_fit tvms_sinfo_relate(tvms_prover *prover, tvms_node *base,
                                 tvms_node *derived);

// Are two devices, or two meshes, the same one? A type may name one by an equal object of its
// own.
bool tvms_sinfo_same_place(const tvms_unit *unit, const tvms_node *a,
                           const tvms_node *b);

// Values of variables that a call gave to the parameters of its callee.
typedef struct {
  tvms_node *var;
  tvms_node *value;
} tvms_dim_binding;

typedef struct {
  TVMS_VEC(tvms_dim_binding) bindings;
} tvms_dim_map;

// The value of a variable, or NULL.
tvms_node *TVMS_NULLABLE tvms_sinfo_dim_map_find(const tvms_dim_map *map,
                                                 const tvms_node *var);

// As tvms_sinfo_relate for a parameter and an argument: a variable that is a dimension of the
// parameter takes its value from the argument when it is first seen; `conflict` tells
// that a later argument gives it a value that is proved to be another.
tvms_sinfo_fit tvms_sinfo_relate_argument(tvms_prover *prover, tvms_dim_map *map,
                                          tvms_node *param, tvms_node *argument,
                                          bool *conflict);

// The least type that both fit into.
tvms_node *tvms_sinfo_join(tvms_prover *prover, tvms_node *a, tvms_node *b);

// `sinfo` with its variables replaced by what `lookup` gives for them; a shape with a
// variable that has no value keeps only its rank.
tvms_node *tvms_sinfo_erase(tvms_prover *prover, tvms_node *sinfo,
                            tvms_dim_lookup *lookup, void *data);

// `sinfo` with its dimensions as TVM's analyzer leaves them, which is how the caller of a
// function with symbolic sizes sees its result; itself if nothing changes.
tvms_node *tvms_sinfo_simplify(tvms_prover *prover, tvms_node *sinfo);

#endif
