// Attributes that the body of a class of Python gives it: in
//
//   class Config:
//       block = 8
//
// `Config.block` is 8. The class itself stays unknown, so nothing is said of what is made of
// it.
#include "parser/eval/class.h"

typedef struct {
  uint32_t count;
  tvms_sym *names;
  tvms_eval_value *values;
} attributes;

static bool is_kept(const tvms_binding *binding) {
  return tvms_eval_value_is_known(binding->value) || tvms_eval_is_class(binding->value);
}

tvms_eval_value tvms_eval_class_make(tvms_reader *reader) {
  const tvms_binding *newest = reader->scopes.items[reader->scopes.len - 1].newest;
  uint32_t count = 0;
  for (const tvms_binding *b = newest; b; b = b->next)
    count += is_kept(b);
  if (!count) return TVMS_UNKNOWN;
  attributes *made = tvms_arena_new(&reader->kept, attributes);
  made->names = tvms_arena_array(&reader->kept, tvms_sym, count);
  made->values = tvms_arena_array(&reader->kept, tvms_eval_value, count);
  for (const tvms_binding *b = newest; b; b = b->next) {
    if (!is_kept(b)) continue;
    made->names[made->count] = b->name;
    made->values[made->count++] = b->value;
  }
  return (tvms_eval_value){
      .kind = TVMS_EVAL_UNKNOWN, .flags = TVMS_EVAL_OF_CLASS, .as.object = made};
}

tvms_eval_value tvms_eval_class_attribute(tvms_eval_value object, tvms_sym name) {
  const attributes *all = object.as.object;
  for (uint32_t i = 0; i < all->count; i++) {
    if (all->names[i] == name) return all->values[i];
  }
  return TVMS_UNKNOWN;
}
