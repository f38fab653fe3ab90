// Names of runtime/boxes.def, for emitters.
#include "backend/core/boxes.h"

#include "interp/meaning.h"
#include "ir/build.h"
#include "ir/op.h"

#include <string.h>

const char *tvms_boxes_symbol(const char *name) {
  static const struct {
    const char *name, *symbol;
  } boxes[] = {
#define BOX(name, function) {name, TVMS_BOX_PREFIX #function},
#include "runtime/boxes.def"
#undef BOX
  };
  for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
    if (!strcmp(boxes[i].name, name)) return boxes[i].symbol;
  }
  return NULL;
}

// Does argument `at` of a packed call name a function that becomes a closure?
static bool names_function(tvms_list args, uint32_t first, uint32_t at) {
  const tvms_node *name = args.items[first];
  return at == first + 1 && name->kind == TVMS_NODE_STRING_IMM
         && tvms_bytes_is(tvms_as_string_imm(name)->value, "vm.builtin.make_closure")
         && args.items[at]->kind == TVMS_NODE_STRING_IMM;
}

const tvms_member *tvms_boxes_entry_of(const tvms_module *module, tvms_list args,
                                       uint32_t first, uint32_t at) {
  return names_function(args, first, at) ? tvms_meaning_of_named(module, args.items[at])
                                         : NULL;
}

const char *tvms_boxes_external_of(const tvms_module *module, tvms_list args,
                                   uint32_t first, uint32_t at) {
  bool external =
      names_function(args, first, at) && !tvms_meaning_of_named(module, args.items[at]);
  return external ? tvms_as_string_imm(args.items[at])->value.text : NULL;
}

int64_t tvms_boxes_of(const tvms_call *call) {
  if (call->args.len != 2) return -1;
  const tvms_node *kind = call->args.items[0], *count = call->args.items[1];
  bool list = kind->kind == TVMS_NODE_STRING_IMM && tvms_node_is_int_imm(count)
              && tvms_bytes_is(tvms_as_string_imm(kind)->value, "anylist");
  int64_t boxes = list ? tvms_as_int_imm(count)->value : -1;
  return boxes > 0 && boxes < UINT16_MAX ? boxes : -1;
}
