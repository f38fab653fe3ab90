// Targets of PrimFuncs: for which machine one is, and which machine is its host.
#ifndef TVMS_PASSES_TIR_HOST_FUNCTION_TARGET_H
#define TVMS_PASSES_TIR_HOST_FUNCTION_TARGET_H

#include "ir/node.h"

// The config of the function's target, as it was written; NULL if it has none.
const tvms_node *TVMS_NULLABLE tvms_host_target_of(const tvms_node *function);

// The config of the host of a target; NULL if it names none.
const tvms_node *TVMS_NULLABLE tvms_host_of_target(const tvms_node *config);

// T.target of this config without its host.
tvms_node *tvms_host_without(tvms_unit *unit, const tvms_node *config);

// The kind of a target ("llvm"), or "" if the config does not say.
const char *tvms_host_target_kind(const tvms_node *config);

// The device type of DLPack that a target is for. Kinds that only later releases know count as
// devices of their own: -1.
int tvms_host_device_type(const tvms_node *config);

// What DLPack calls that device ("cpu"); NULL where the type is -1.
const char *TVMS_NULLABLE tvms_host_device_name(const tvms_node *config);

// The numbers of DLPack.
enum {
  TVMS_HOST_DEVICE_CPU = 1,
  TVMS_HOST_DEVICE_EXTENSION = 12,
  TVMS_HOST_DEVICE_HEXAGON = 16,
};

// Reports that a pass needs the target of a function that has none, and what gives it one.
void tvms_host_target_report(tvms_context *context, const tvms_node *function,
                             const char *name, const char *pass);

#endif
