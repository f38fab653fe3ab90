// What the checks at the begin of a function say of its parameters.
#include "driver/machine_inputs.h"

#include "driver/inputs.h"
#include "runtime/npy.h"
#include "runtime/random.h"

#include <string.h>

enum { ASSERT_NUMBER, STORE, SKIP, ASSERT_SLOT };  // codes of match_shape

// A size of a parameter, by the pair of match_shape.
typedef struct {
  int64_t code;
  int64_t operand;
} size_pair;

typedef enum { KIND_UNKNOWN, KIND_TENSOR, KIND_SHAPE, KIND_NUMBER } param_kind;

typedef struct {
  param_kind kind;
  tvms_dl_type type;  // lanes 0: not said
  int64_t ndim;
  const int64_t *TVMS_NULLABLE pairs;  // words of match_shape, or NULL
} param_facts;

typedef struct {
  tvms_machine_inputs *inputs;
  param_facts *params;
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

static void learn(fact_table *t, const int64_t *words) {
  const tvms_vm_executable *e = t->inputs->executable;
  int64_t count = words[3];
  bool of_param = count > 1 && tvms_vm_word_kind(words[4]) == TVMS_VM_REGISTER
                  && words[4] < t->inputs->function->arity;
  if (!of_param) return;
  tvms_bytes name = e->functions.items[words[2]].name;
  param_facts *param = &t->params[words[4]];
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
  } else if (tvms_bytes_is(name, "vm.builtin.match_shape") && count > 3) {
    int64_t ndim = number_of(words[6]);
    if (!param->pairs && ndim >= 0 && 3 + 2 * ndim <= count) {
      param->pairs = words + 7;
      param->ndim = ndim;
    }
  }
}

static void learn_all(fact_table *t) {
  const tvms_vm_function *function = t->inputs->function;
  for (int64_t i = function->begin; i < function->end; i++) {
    const int64_t *words = tvms_vm_instruction(t->inputs->executable, i);
    if (words[0] == TVMS_VM_CALL) learn(t, words);
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

// Sizes of a given input decide the slots that they are stored in.
static void learn_sizes(fact_table *t, uint32_t index) {
  const param_facts *param = &t->params[index];
  tvms_value value = t->inputs->values[index];
  bool sized = value.kind == TVMS_VALUE_TENSOR && param->pairs
               && param->ndim == value.tensor->view.ndim;
  for (int64_t i = 0; sized && i < param->ndim; i++) {
    size_pair pair = pair_at(param, i);
    if (pair.code != STORE || !reach_slot(t, pair.operand)) continue;
    t->slots.items[pair.operand] = value.tensor->shape[i];
    t->known.items[pair.operand] = true;
  }
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

static tvms_value number_value(tvms_dl_type type, tvms_scalar number) {
  if (tvms_scalar_kind_is_real(type.code))
    return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = number.f};
  bool is_bool = type.code == TVMS_DL_BOOL;
  return (tvms_value){.kind = is_bool ? TVMS_VALUE_BOOL : TVMS_VALUE_INT,
                      .i = number.i};
}

static bool random_value(fact_table *t, uint32_t index) {
  const param_facts *param = &t->params[index];
  tvms_machine_inputs *inputs = t->inputs;
  const char *name = name_of(inputs, index);
  if (param->kind == KIND_NUMBER && param->type.lanes == 1) {
    inputs->values[index] =
        number_value(param->type, tvms_random_scalar(param->type, inputs->seed, name));
    return true;
  }
  if (param->ndim < 0 || (param->ndim > 0 && !param->pairs)) return false;
  int64_t *shape = tvms_arena_array(&inputs->context->arena, int64_t, param->ndim + 1);
  for (int64_t i = 0; i < param->ndim; i++) {
    if (!size_of(t, pair_at(param, i), &shape[i])) return false;
  }
  if (param->kind == KIND_SHAPE) {
    tvms_tensor *made = tvms_shape_new(inputs->heap, (int32_t)param->ndim, shape);
    inputs->values[index] = (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = made};
    return true;
  }
  if (param->kind != KIND_TENSOR || !tvms_dl_element_size(param->type)) return false;
  tvms_tensor *tensor =
      tvms_tensor_new(inputs->heap, param->type, (int32_t)param->ndim, shape);
  if (!tensor) return false;
  tvms_random_fill(tensor, inputs->seed, name);
  inputs->values[index] = tvms_value_of_tensor(tensor);
  return true;
}

static param_facts *facts_of(tvms_machine_inputs *inputs, fact_table *t) {
  uint32_t count = (uint32_t)inputs->function->arity;
  *t = (fact_table){.inputs = inputs};
  t->params = tvms_arena_array(&inputs->context->arena, param_facts, count + 1);
  learn_all(t);
  return t->params;
}

static const char *TVMS_NULLABLE load(tvms_machine_inputs *inputs, uint32_t index,
                                      const tvms_source *array) {
  fact_table t;
  const param_facts *param = &facts_of(inputs, &t)[index];
  tvms_npy npy;
  const char *wrong = tvms_npy_parse(&npy, array->text, array->size);
  if (wrong) return wrong;
  tvms_dl_type type = param->type.lanes ? param->type : tvms_npy_type(&npy);
  if (!tvms_npy_fits(&npy, type))
    return tvms_inputs_other_type(inputs->context, &npy, type);
  tvms_tensor *tensor = tvms_npy_tensor(inputs->heap, &npy, array->text, type);
  if (!tensor) return "its tensor is too large";
  bool number = param->kind == KIND_NUMBER && tvms_tensor_len(tensor) == 1;
  inputs->values[index] = number ? number_value(type, tvms_tensor_get(tensor, 0))
                                 : tvms_value_of_tensor(tensor);
  return NULL;
}

void tvms_machine_inputs_give(tvms_machine_inputs *inputs, uint32_t index,
                              const tvms_source *array) {
  const char *wrong = load(inputs, index, array);
  if (wrong) tvms_machine_inputs_refuse(inputs, name_of(inputs, index), wrong);
}

bool tvms_machine_inputs_fill(tvms_machine_inputs *inputs) {
  if (inputs->context->diags.errors) return false;
  fact_table t;
  uint32_t count = (uint32_t)inputs->function->arity;
  facts_of(inputs, &t);
  for (uint32_t i = 0; i < count; i++)
    learn_sizes(&t, i);
  for (uint32_t i = 0; i < count; i++) {
    if (inputs->values[i].kind != TVMS_VALUE_NONE || random_value(&t, i)) continue;
    tvms_diag_report(&inputs->context->diags, TVMS_D_no_random_input, (tvms_span){0, 0},
                     name_of(inputs, i));
  }
  tvms_vec_fini(&inputs->context->memory, &t.slots);
  tvms_vec_fini(&inputs->context->memory, &t.known);
  return !inputs->context->diags.errors;
}
