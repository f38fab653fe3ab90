// Functions of the module as values of Relax: their type, before they are read, too.
#ifndef TVMS_PARSER_RELAX_MEMBER_H
#define TVMS_PARSER_RELAX_MEMBER_H

#include "parser/eval/eval.h"

// StructInfo of a member as seen by calls of it, or NULL if it is not declared yet.
tvms_node *TVMS_NULLABLE tvms_relax_member_type(tvms_reader *reader,
                                                const tvms_member *member);

#endif
