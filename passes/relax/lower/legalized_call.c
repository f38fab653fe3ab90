// The call of a PrimFunc that a description of te/ became.
#include "passes/relax/lower/legalized_call.h"

#include "ir/build.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"

tvms_node *tvms_relax_call_legalized(tvms_unit *unit, const tvms_call *call,
                                     tvms_sym name, const tvms_legalized *legalized) {
  tvms_node *type = legalized->types.items[0];
  if (legalized->types.len > 1) {
    type = tvms_sinfo_tuple_new(unit, legalized->types.items, legalized->types.len);
  }
  tvms_node *made =
      tvms_relax_make_call_tir(unit, name, legalized->args, type, call->head.span);
  if (legalized->sizes.len) {
    tvms_list sizes = legalized->sizes;
    tvms_list args = tvms_as_call(made)->args;
    tvms_node *all[] = {
        args.items[0], args.items[1],
        tvms_sinfo_shape_value_new(unit, sizes.items, sizes.len, call->head.span)};
    tvms_as_call(made)->args = tvms_list_copy(unit, all, 3);
  }
  return made;
}
