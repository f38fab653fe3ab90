// Configs of targets as TVM keeps them: OBJECT_MAP with a text for each key.
//
// T.target("cuda") and T.target({"kind": "llvm", "mcpu": "znver4"}) say little; TVM fills in
// the rest when it makes a target, and prints all of it. Which values those are, by kind or
// tag and by release, are the rows of ir/targets.def; which options a kind has and what
// their values must be, those of ir/target_options.def. The release is that of the unit.
//
// ir/target.h is what passes and back ends ask; this is what stands in a program.
#ifndef TVMS_IR_TARGET_CONFIG_H
#define TVMS_IR_TARGET_CONFIG_H

#include "ir/dialect.h"
#include "ir/node.h"

// What a release fills in for a kind ("cuda") or a tag ("nvidia/nvidia-a100"): its kind, its
// keys and the rest, with an empty "tag". NULL: the release knows neither.
tvms_node *TVMS_NULLABLE tvms_target_config_defaults(tvms_unit *unit, const char *name,
                                                     size_t len);

// `given` over `defaults`, as TVM completes a config: the triple of the machine goes where
// only a CPU is given, and the keys are those that are given, or the device and those of the
// kind. `given` may be NULL; its values have been checked.
tvms_node *tvms_target_config_complete(tvms_unit *unit, tvms_node *defaults,
                                       const tvms_node *TVMS_NULLABLE given);

// Does a config, which may be NULL, say supports_subgroups? Only the kind webgpu has it, since
// 0.25 (TVM: UpdateWebGPUAttrs of src/backend/webgpu/codegen/target_kind.cc).
bool tvms_target_config_has_subgroups(const tvms_node *TVMS_NULLABLE map);

// The kind or tag of a release whose name is nearest to `name`, or NULL if none is near.
const char *TVMS_NULLABLE tvms_target_config_near(tvms_dialect dialect,
                                                  const char *name);

// The triple that a release fills in for the kind llvm.
const char *tvms_target_config_triple(tvms_dialect dialect);

// ---- Options ----

typedef enum {
  TVMS_TARGET_OPTION_STR,
  TVMS_TARGET_OPTION_INT,
  TVMS_TARGET_OPTION_BOOL,
  TVMS_TARGET_OPTION_LIST,  // of texts
  TVMS_TARGET_OPTION_ANY,
  TVMS_TARGET_OPTION_NONE,  // the kind has no such option
} tvms_target_option_type;

// The type of option `key` of a kind. Any kind has the key "kind".
tvms_target_option_type tvms_target_option_of(tvms_dialect dialect, const char *kind,
                                              const char *key);

// The option of the kind whose name is nearest to `key`, or NULL if none is near.
const char *TVMS_NULLABLE tvms_target_option_near(tvms_dialect dialect,
                                                  const char *kind, const char *key);

// Is an option of this name a list of texts, for the kinds that have it?
bool tvms_target_option_is_list(const char *key);

// What values of a type are called in messages: "an int".
const char *tvms_target_option_wanted(tvms_target_option_type type);

// `value` as the release keeps it (a truth for a number and the other way round), or NULL
// if it is not of the type.
tvms_node *TVMS_NULLABLE tvms_target_option_value(tvms_unit *unit,
                                                  tvms_target_option_type type,
                                                  tvms_node *value);

// The value that an option `-key=text` of 0.22 stands for, "" being `-key` alone. NULL: the
// text is not a number and should be one.
tvms_node *TVMS_NULLABLE tvms_target_option_parse(tvms_unit *unit,
                                                  tvms_target_option_type type,
                                                  const char *text);

#endif
