// The plan is made anew on a copy of the module: what runs was not planned.
#include "driver/profile_plan.h"

#include "driver/copy.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "passes/manager.h"
#include "passes/pipeline.h"
#include "support/trial.h"

// Storages of StaticPlanBlockMemory: from the binding that allocates one to the last that uses
// a tensor of it.
typedef struct {
  int64_t bytes;
  uint32_t first, last, tensors;
} storage;

typedef struct {
  tvms_memory *memory;
  uint32_t *storage_of;  // of a variable, one up, by id
  uint32_t at;
  TVMS_VEC(storage) storages;
} plan;

static tvms_walk_step see_tensor(void *self, tvms_node *node, tvms_field_role role) {
  plan *pl = self;
  (void)role;
  if (node->kind == TVMS_NODE_VAR && pl->storage_of[node->id])
    pl->storages.items[pl->storage_of[node->id] - 1].last = pl->at;
  return TVMS_WALK_ON;
}

static int64_t size_of_storage(const tvms_call *call) {
  const tvms_node *shape = call->args.len ? call->args.items[0] : NULL;
  if (!shape || shape->kind != TVMS_NODE_SHAPE_EXPR) return 0;
  tvms_list values = tvms_as_shape_expr(shape)->values;
  bool known = values.len == 1 && values.items[0]->kind == TVMS_NODE_INT_IMM;
  return known ? tvms_as_int_imm(values.items[0])->value : 0;
}

static tvms_walk_step see_allocation(void *self, tvms_node *node,
                                     tvms_field_role role) {
  plan *pl = self;
  (void)role;
  if (node->kind != TVMS_NODE_VAR_BINDING) return TVMS_WALK_ON;
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  pl->at++;
  tvms_visitor uses = {.self = pl, .enter = see_tensor};
  (void)tvms_walk(pl->memory, binding->value, &uses);
  tvms_opcode opcode = tvms_op_called(binding->value);
  if (opcode == TVMS_R_memory_alloc_storage) {
    storage made = {size_of_storage(tvms_as_call(binding->value)), pl->at, pl->at, 0};
    tvms_vec_push(pl->memory, &pl->storages, made);
    pl->storage_of[binding->var->id] = pl->storages.len;
  } else if (opcode == TVMS_R_memory_alloc_tensor) {
    const tvms_node *from = tvms_as_call(binding->value)->args.items[0];
    uint32_t owner = from->kind == TVMS_NODE_VAR ? pl->storage_of[from->id] : 0;
    pl->storage_of[binding->var->id] = owner;
    if (owner) pl->storages.items[owner - 1].tensors++;
  }
  return TVMS_WALK_SKIP;
}

static const char planning[] = "dataflow-lower,StaticPlanBlockMemory";

static bool make_plan(tvms_module *module) {
  tvms_context *context = module->context;
  tvms_pipeline pipeline;
  if (!tvms_pipeline_parse(context, "<planning>", planning, &pipeline)) return false;
  bool done = tvms_pipeline_run(context, module, &pipeline, UINT32_MAX, NULL, NULL);
  tvms_pipeline_fini(context, &pipeline);
  return done && !context->diags.errors;
}

static void put_storages(tvms_json *json, const plan *pl) {
  for (uint32_t i = 0; i < pl->storages.len; i++) {
    const storage *s = &pl->storages.items[i];
    tvms_json_open(json, '{');
    tvms_json_put_int(json, "bytes", s->bytes);
    tvms_json_put_int(json, "first", s->first);
    tvms_json_put_int(json, "last", s->last);
    tvms_json_put_int(json, "tensors", s->tensors);
    tvms_json_close(json, '}');
  }
}

void tvms_profile_plan(tvms_json *json, const tvms_profile *p, const tvms_member *entry,
                       tvms_arena *arena) {
  tvms_module *module = tvms_copy_module(p->interp->module);
  tvms_trial trial;
  tvms_trial_begin(&trial, &p->interp->context->diags);
  plan pl = {.memory = p->memory};
  const tvms_member *member = NULL;
  if (make_plan(module)) member = tvms_module_find(module, entry->name);
  tvms_trial_drop(&trial);
  tvms_json_key(json, "storages");
  tvms_json_open(json, '[');
  if (member && member->function->kind == TVMS_NODE_FUNCTION) {
    pl.storage_of = tvms_arena_array(arena, uint32_t, member->unit->next_id);
    tvms_visitor visitor = {.self = &pl, .enter = see_allocation};
    (void)tvms_walk(p->memory, tvms_as_function(member->function)->body, &visitor);
    put_storages(json, &pl);
  }
  tvms_json_close(json, ']');
  tvms_vec_fini(p->memory, &pl.storages);
  tvms_module_destroy(module);
}
