// What the checks at the begin of a function say of its parameters.
#include "driver/machine_inputs.h"

#include "driver/inputs.h"
#include "runtime/random.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

enum { ASSERT_NUMBER, STORE, SKIP, ASSERT_SLOT };  // codes of match_shape

// A size of a parameter, by the pair of match_shape.
typedef struct {
  int64_t code;
  int64_t operand;
} size_pair;

typedef enum {
  KIND_UNKNOWN,
  KIND_TENSOR,
  KIND_SHAPE,
  KIND_NUMBER,
  KIND_TUPLE
} param_kind;

// What is known of a parameter, or of a field of a tuple.
typedef struct param_facts param_facts;
struct param_facts {
  param_kind kind;
  tvms_dl_type type;  // lanes 0: not said
  int64_t ndim;       // of a tuple its fields
  const int64_t *TVMS_NULLABLE
      pairs;  // words of match_shape or match_prim_value, or NULL
  param_facts *fields;
};

typedef struct {
  tvms_machine_inputs *inputs;
  param_facts *params;
  int64_t fields;           // of all tuples
  param_facts **registers;  // what is in them; NULL: nothing of a parameter
  TVMS_VEC(int64_t) slots;  // of the shape heap
  TVMS_VEC(uint8_t) known;
} fact_table;

static const char *name_of(const tvms_machine_inputs *inputs, uint32_t index) {
  if (index >= inputs->function->param_count) return "";
  tvms_bytes name = inputs->function->params[index];
  return tvms_arena_text(&inputs->context->arena, name.text, name.len);
}

int64_t tvms_machine_inputs_find(const tvms_machine_inputs *inputs, const char *name,
                                 size_t len) {
  const tvms_vm_function *function = inputs->function;
  for (uint32_t i = 0; i < function->param_count && i < function->arity; i++) {
    tvms_bytes own = function->params[i];
    if (own.len == len && (!len || memcmp(own.text, name, len) == 0)) return i;
  }
  return -1;
}

void tvms_machine_inputs_refuse(const tvms_machine_inputs *inputs, const char *name,
                                const char *why) {
  tvms_diag_report(&inputs->context->diags, TVMS_D_bad_input, (tvms_span){0, 0}, name,
                   why);
}

// ---- Facts ----

static int64_t number_of(int64_t word) {
  return tvms_vm_word_kind(word) == TVMS_VM_IMMEDIATE ? tvms_vm_word_value(word) : -1;
}

static tvms_dl_type type_of(const fact_table *t, int64_t word) {
  const tvms_vm_executable *e = t->inputs->executable;
  if (tvms_vm_word_kind(word) != TVMS_VM_CONSTANT) return (tvms_dl_type){0};
  const tvms_vm_constant *constant = &e->constants.items[tvms_vm_word_value(word)];
  return constant->kind == TVMS_VM_DTYPE ? constant->dtype : (tvms_dl_type){0};
}

enum { MOST_FIELDS = 1 << 16 };

static void learn_check(fact_table *t, param_facts *param, tvms_bytes name,
                        const int64_t *words) {
  int64_t count = words[3];
  if (tvms_bytes_is(name, "vm.builtin.check_tensor_info")) {
    param->kind = KIND_TENSOR;
    param->ndim = number_of(words[5]);
    if (count > 3) param->type = type_of(t, words[6]);
  } else if (tvms_bytes_is(name, "vm.builtin.check_shape_info")) {
    param->kind = KIND_SHAPE;
    param->ndim = number_of(words[5]);
  } else if (tvms_bytes_is(name, "vm.builtin.check_prim_value_info")) {
    param->kind = KIND_NUMBER;
    param->type = type_of(t, words[5]);
  } else if (tvms_bytes_is(name, "vm.builtin.check_tuple_info")) {
    int64_t fields = number_of(words[5]);
    if (fields < 0 || fields > MOST_FIELDS - t->fields) return;
    t->fields += fields;
    param->kind = KIND_TUPLE;
    param->ndim = fields;
    param->fields =
        tvms_arena_array(&t->inputs->context->arena, param_facts, (size_t)fields + 1);
  }
}

static void learn_match(param_facts *param, tvms_bytes name, const int64_t *words) {
  int64_t count = words[3];
  if (param->pairs || count < 4) return;
  if (tvms_bytes_is(name, "vm.builtin.match_shape")) {
    int64_t ndim = number_of(words[6]);
    if (ndim < 0 || ndim > count || 3 + 2 * ndim > count) return;
    param->pairs = words + 7;
    param->ndim = ndim;
  } else if (tvms_bytes_is(name, "vm.builtin.match_prim_value")) {
    param->pairs = words + 6;
    param->ndim = 1;
  }
}

// What the result of a call is of a parameter: a field of a tuple, or nothing.
static param_facts *TVMS_NULLABLE field_of(const param_facts *TVMS_NULLABLE tuple,
                                           tvms_bytes name, const int64_t *words) {
  bool takes = tuple && tuple->kind == KIND_TUPLE && words[3] == 2
               && tvms_bytes_is(name, "vm.builtin.tuple_getitem");
  int64_t field = takes ? number_of(words[5]) : -1;
  return field >= 0 && field < tuple->ndim ? &tuple->fields[field] : NULL;
}

static void learn(fact_table *t, const int64_t *words) {
  int64_t registers = t->inputs->function->registers;
  tvms_bytes name = t->inputs->executable->functions.items[words[2]].name;
  bool of_register = words[3] > 0 && tvms_vm_word_kind(words[4]) == TVMS_VM_REGISTER
                     && words[4] < registers;
  param_facts *param = of_register ? t->registers[words[4]] : NULL;
  if (param && param->kind == KIND_UNKNOWN && words[3] > 1)
    learn_check(t, param, name, words);
  if (param) learn_match(param, name, words);
  if (words[1] < registers) t->registers[words[1]] = field_of(param, name, words);
}

// The checks come before anything else.
static void learn_all(fact_table *t) {
  const tvms_vm_function *function = t->inputs->function;
  for (int64_t i = function->begin; i < function->end; i++) {
    const int64_t *words = tvms_vm_instruction(t->inputs->executable, i);
    if (words[0] != TVMS_VM_CALL) return;
    learn(t, words);
  }
}

enum { MOST_SLOTS = 1 << 20 };

static size_pair pair_at(const param_facts *param, int64_t dimension) {
  return (size_pair){number_of(param->pairs[2 * dimension]),
                     number_of(param->pairs[2 * dimension + 1])};
}

static bool reach_slot(fact_table *t, int64_t slot) {
  if (slot < 0 || slot >= MOST_SLOTS) return false;
  tvms_memory *memory = &t->inputs->context->memory;
  tvms_vec_reach(memory, &t->slots, (uint32_t)slot);
  tvms_vec_reach(memory, &t->known, (uint32_t)slot);
  return true;
}

static void learn_slot(fact_table *t, size_pair pair, int64_t size) {
  bool held = pair.code == STORE || pair.code == ASSERT_SLOT;
  if (!held || !reach_slot(t, pair.operand) || t->known.items[pair.operand]) return;
  t->slots.items[pair.operand] = size;
  t->known.items[pair.operand] = true;
}

// Sizes of a given input decide the slots that they are stored in or compared with.
static void learn_sizes(fact_table *t, const param_facts *param, tvms_value value) {
  bool sized = value.kind == TVMS_VALUE_TENSOR || value.kind == TVMS_VALUE_SHAPE;
  bool tuple = value.kind == TVMS_VALUE_TUPLE && param->kind == KIND_TUPLE;
  sized = sized && param->pairs && param->kind != KIND_NUMBER
          && param->ndim == value.tensor->view.ndim;
  for (int64_t i = 0; sized && i < param->ndim; i++)
    learn_slot(t, pair_at(param, i), value.tensor->shape[i]);
  if (value.kind == TVMS_VALUE_INT && param->kind == KIND_NUMBER && param->pairs)
    learn_slot(t, pair_at(param, 0), value.i);
  for (int64_t i = 0; tuple && i < param->ndim && i < value.tuple->len; i++)
    learn_sizes(t, &param->fields[i], value.tuple->items[i]);
}

static bool size_of(fact_table *t, size_pair pair, int64_t *size) {
  if (pair.code == ASSERT_NUMBER) {
    *size = pair.operand;
    return true;
  }
  if (pair.code == SKIP || !reach_slot(t, pair.operand)) return false;
  if (!t->known.items[pair.operand]) t->slots.items[pair.operand] = TVMS_FREE_SIZE;
  t->known.items[pair.operand] = true;
  *size = t->slots.items[pair.operand];
  return true;
}

// ---- Values ----

// The sizes of a tensor or a shape in the arena, or NULL.
static int64_t *TVMS_NULLABLE shape_of(fact_table *t, const param_facts *param) {
  if (param->ndim < 0 || (param->ndim > 0 && !param->pairs)) return NULL;
  int64_t *shape =
      tvms_arena_array(&t->inputs->context->arena, int64_t, (size_t)param->ndim + 1);
  for (int64_t i = 0; i < param->ndim; i++) {
    if (!size_of(t, pair_at(param, i), &shape[i])) return NULL;
  }
  return shape;
}

static bool random_number(fact_table *t, const param_facts *param, const char *name,
                          tvms_value *value) {
  int64_t size;
  if (param->type.lanes != 1) return false;
  size_pair pair = param->pairs ? pair_at(param, 0) : (size_pair){SKIP, 0};
  bool stored = pair.code == STORE && reach_slot(t, pair.operand)
                && !t->known.items[pair.operand];
  bool decided = param->pairs && !stored && size_of(t, pair, &size);
  tvms_scalar number = tvms_random_scalar(param->type, t->inputs->seed, name);
  if (decided) number.i = size;
  *value = tvms_inputs_of_scalar(param->type, number);
  if (stored && value->kind == TVMS_VALUE_INT) learn_slot(t, pair, value->i);
  return true;
}

static bool random_value(fact_table *t, const param_facts *param, const char *name,
                         tvms_value *value);

static bool random_tuple(fact_table *t, const param_facts *param, const char *name,
                         tvms_value *value) {
  if (value->kind == TVMS_VALUE_NONE)
    *value =
        (tvms_value){.kind = TVMS_VALUE_TUPLE,
                     .tuple = tvms_tuple_new(t->inputs->heap, (uint32_t)param->ndim)};
  for (int64_t i = 0; i < param->ndim && i < value->tuple->len; i++) {
    char part[256];
    snprintf(part, sizeof part, "%.200s.%lld", name, (long long)i);
    if (!random_value(t, &param->fields[i], part, &value->tuple->items[i]))
      return false;
  }
  return true;
}

// A value that is given already stays; a tuple gets the fields that it lacks.
static bool random_value(fact_table *t, const param_facts *param, const char *name,
                         tvms_value *value) {
  tvms_machine_inputs *inputs = t->inputs;
  if (value->kind != TVMS_VALUE_NONE && value->kind != TVMS_VALUE_TUPLE) return true;
  if (param->kind == KIND_TUPLE) return random_tuple(t, param, name, value);
  if (param->kind == KIND_NUMBER) return random_number(t, param, name, value);
  int64_t *shape = shape_of(t, param);
  if (!shape) return false;
  if (param->kind == KIND_SHAPE) {
    tvms_tensor *made = tvms_shape_new(inputs->heap, (int32_t)param->ndim, shape);
    *value = (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = made};
    return true;
  }
  if (param->kind != KIND_TENSOR || !tvms_dl_element_size(param->type)) return false;
  tvms_tensor *tensor =
      tvms_tensor_new(inputs->heap, param->type, (int32_t)param->ndim, shape);
  if (!tensor) return false;
  tvms_random_fill(tensor, inputs->seed, name);
  *value = tvms_value_of_tensor(tensor);
  return true;
}

static void open_facts(tvms_machine_inputs *inputs, fact_table *t) {
  uint32_t count = (uint32_t)inputs->function->arity;
  tvms_arena *arena = &inputs->context->arena;
  *t = (fact_table){.inputs = inputs};
  t->params = tvms_arena_array(arena, param_facts, (size_t)count + 1);
  t->registers =
      tvms_arena_array(arena, param_facts *, (size_t)inputs->function->registers + 1);
  for (uint32_t i = 0; i < count; i++)
    t->registers[i] = &t->params[i];
  learn_all(t);
}

// ---- What is given ----

static const char *TVMS_NULLABLE give_array(tvms_machine_inputs *inputs,
                                            const param_facts *param, const char *path,
                                            tvms_value *value) {
  const char *wrong = tvms_inputs_array(inputs->context, inputs->heap, inputs->files,
                                        path, param->type, value);
  if (!wrong && param->kind == KIND_NUMBER) *value = tvms_inputs_unbox(*value);
  return wrong;
}

// A tensor without dimensions that holds a number.
static bool give_scalar(tvms_machine_inputs *inputs, const param_facts *param,
                        const char *text, tvms_value *value) {
  bool scalar = param->kind == KIND_TENSOR && param->ndim == 0
                && tvms_dl_element_size(param->type)
                && tvms_inputs_number(param->type, text, value);
  if (!scalar) return false;
  *value = tvms_inputs_scalar_tensor(inputs->heap, param->type, *value);
  return true;
}

static const char *TVMS_NULLABLE give_value(tvms_machine_inputs *inputs,
                                            const param_facts *param, const char *text,
                                            tvms_value *value) {
  tvms_context *context = inputs->context;
  if (param->kind == KIND_SHAPE
      && tvms_inputs_shape(&context->arena, inputs->heap, text, value))
    return NULL;
  if (param->kind == KIND_NUMBER && tvms_inputs_number(param->type, text, value))
    return NULL;
  if (param->kind != KIND_TUPLE)
    return give_scalar(inputs, param, text, value)
               ? NULL
               : give_array(inputs, param, text, value);
  const char **parts, *wrong = tvms_inputs_tuple(context, inputs->heap, text,
                                                 (uint32_t)param->ndim, &parts, value);
  for (int64_t i = 0; i < param->ndim && !wrong; i++)
    wrong = give_value(inputs, &param->fields[i], parts[i], &value->tuple->items[i]);
  return wrong;
}

// Goes down to the field that the place names; the tuples on the way are made. NULL: there is no such field.
static tvms_value *TVMS_NULLABLE find_place(tvms_machine_inputs *inputs,
                                            const param_facts **param,
                                            const char *place, tvms_value *value) {
  while (*place) {
    int64_t field = tvms_inputs_next_field(&place);
    if (field < 0 || (*param)->kind != KIND_TUPLE || field >= (*param)->ndim)
      return NULL;
    if (value->kind == TVMS_VALUE_NONE)
      *value =
          (tvms_value){.kind = TVMS_VALUE_TUPLE,
                       .tuple = tvms_tuple_new(inputs->heap, (uint32_t)(*param)->ndim)};
    *param = &(*param)->fields[field];
    value = &value->tuple->items[field];
  }
  return value;
}

void tvms_machine_inputs_give(tvms_machine_inputs *inputs, uint32_t index,
                              const char *place, const char *text) {
  fact_table t;
  open_facts(inputs, &t);
  const param_facts *param = &t.params[index];
  tvms_value *value = find_place(inputs, &param, place, &inputs->values[index]);
  const char *wrong =
      value ? give_value(inputs, param, text, value) : "it has no such field";
  char name[256];
  snprintf(name, sizeof name, "%.100s%.100s", name_of(inputs, index), place);
  if (wrong)
    tvms_machine_inputs_refuse(
        inputs, tvms_arena_text(&inputs->context->arena, name, strlen(name)), wrong);
}

bool tvms_machine_inputs_fill(tvms_machine_inputs *inputs) {
  if (inputs->context->diags.errors) return false;
  fact_table t;
  uint32_t count = (uint32_t)inputs->function->arity;
  open_facts(inputs, &t);
  for (uint32_t i = 0; i < count; i++)
    learn_sizes(&t, &t.params[i], inputs->values[i]);
  for (uint32_t i = 0; i < count; i++) {
    if (random_value(&t, &t.params[i], name_of(inputs, i), &inputs->values[i]))
      continue;
    tvms_diag_report(&inputs->context->diags, TVMS_D_no_random_input, (tvms_span){0, 0},
                     name_of(inputs, i));
  }
  tvms_vec_fini(&inputs->context->memory, &t.slots);
  tvms_vec_fini(&inputs->context->memory, &t.known);
  return !inputs->context->diags.errors;
}
