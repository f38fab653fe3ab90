// The rows of ir/calls.def that intrinsics answer: a handler for each name in the column `handler`.
#ifndef TVMS_PARSER_DEVICE_HANDLERS_H
#define TVMS_PARSER_DEVICE_HANDLERS_H

#include "parser/eval/row.h"

tvms_handler tvms_call_call_ffi_kernel;
tvms_handler tvms_call_tensormap_encode_tiled;

#endif
