// The rows of ir/calls.def that files, modules and targets answer: a handler for each name in the column `handler`.
#ifndef TVMS_PARSER_HANDLERS_H
#define TVMS_PARSER_HANDLERS_H

#include "parser/eval/row.h"

tvms_handler tvms_call_decorator;
tvms_handler tvms_call_dummy_global_info;
tvms_handler tvms_call_lookup_vdevice;
tvms_handler tvms_call_module_attrs;
tvms_handler tvms_call_module_get_attr;
tvms_handler tvms_call_module_global_infos;
tvms_handler tvms_call_module_set_attr;
tvms_handler tvms_call_target;
tvms_handler tvms_call_vdevice;

#endif
