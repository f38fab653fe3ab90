// Functions of the module as values of Relax: their type, before they are read, too.
#include "parser/relax/member.h"

#include "ir/clone.h"
#include "parser/tir/function.h"
#include "parser/tir/member.h"
#include "parser/tir/tir.h"
#include "structinfo/make.h"
#include "support/trial.h"

static bool is_prim_func(const tvms_reader *reader, const tvms_member *member) {
  if (member->function) return member->function->kind == TVMS_NODE_PRIM_FUNC;
  const tvms_def *def = tvms_definition_find(reader, member);
  return def && def->decoration.language == &tvms_tir_language;
}

tvms_node *TVMS_NULLABLE tvms_relax_member_type(tvms_reader *reader,
                                                const tvms_member *member) {
  tvms_unit *unit = reader->unit;
  const tvms_node *function = member->function;
  if (is_prim_func(reader, member)) {
    tvms_dtype dtype = tvms_definition_declared_return(reader, member);
    tvms_node *ret = tvms_dtype_is_void(dtype) ? tvms_sinfo_tuple_new(unit, NULL, 0)
                                               : tvms_sinfo_prim_new(unit, dtype, NULL);
    return tvms_sinfo_func_new_opaque(unit, ret, true);
  }
  if (!function || !function->sinfo) return NULL;
  if (member->unit == unit) return function->sinfo;
  tvms_node_map known;
  tvms_node_map_init(&known, &reader->context->memory);
  tvms_node *type = tvms_clone(unit, function->sinfo, &known);
  tvms_node_map_fini(&known);
  return type;
}
