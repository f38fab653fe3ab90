// Every invariant of ir/verify.c, broken on purpose.
//
// Each row takes a sound function, breaks one thing and says what must be found. The sound
// functions are
//   def f(A: Buffer((8,)), n: int64):
//     for i in range(8): with block: v = axis.spatial(8, i); A[v] = A[v] + 1.0
//     k = n + 1
//     A[k] = 0.0
// and
//   def g(x: Tensor((8,), "float32")): with dataflow: lv = (x, x); gv = lv  return gv
#include "ir/build.h"
#include "ir/op.h"
#include "ir/verify.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <string.h>

static tvms_context context;
static tvms_module *module;

// The parts of the sound functions.
static struct {
  tvms_unit *unit;
  tvms_prim_func *function;
  tvms_node *n;
  tvms_buffer *buffer;
  tvms_node *sum;
  tvms_buffer_load *load;
  tvms_store *store, *last;
  tvms_iter_var *axis;
  tvms_block *block;
  tvms_block_realize *realize;
  tvms_for *loop;
  tvms_bind *bind;
  tvms_seq *seq;
} f;

static struct {
  tvms_unit *unit;
  tvms_function *function;
  tvms_sinfo_tensor *type;
  tvms_tuple *tuple;
  tvms_var_binding *first, *second;
  tvms_binding_block *block;
  tvms_seq_expr *seq;
} g;

static tvms_sym name(const char *text) {
  return tvms_symbol_intern(&context, text, strlen(text));
}

static tvms_list list_of(tvms_unit *unit, tvms_node *item) {
  return tvms_list_copy(unit, &item, 1);
}

static tvms_node *int64_of(tvms_unit *unit, int64_t value) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64), value, TVMS_NO_SPAN);
}

static tvms_store *new_store(tvms_node *value, tvms_node *index) {
  tvms_store *store = tvms_node_make(f.unit, STORE, TVMS_NO_SPAN);
  store->buffer = &f.buffer->head;
  store->value = value;
  store->indices = list_of(f.unit, index);
  return store;
}

static void make_buffer(void) {
  tvms_dtype f32 = TVMS_DTYPE(FLOAT, 32);
  f.buffer = tvms_node_make(f.unit, BUFFER, TVMS_NO_SPAN);
  f.buffer->name = name("A");
  f.buffer->element = f32;
  f.buffer->data = tvms_pointer_var_new(f.unit, name("A"), f32, 0, TVMS_NO_SPAN);
  f.buffer->shape = list_of(f.unit, int64_of(f.unit, 8));
  f.buffer->elem_offset = int64_of(f.unit, 0);
  f.buffer->align = 64;
  f.buffer->offset_factor = 1;
}

static tvms_node *make_loop(void) {
  tvms_dtype i64 = TVMS_DTYPE(INT, 64), f32 = TVMS_DTYPE(FLOAT, 32);
  f.axis = tvms_node_make(f.unit, ITER_VAR, TVMS_NO_SPAN);
  f.axis->dom =
      tvms_range_new(f.unit, int64_of(f.unit, 0), int64_of(f.unit, 8), TVMS_NO_SPAN);
  f.axis->var = tvms_var_new(f.unit, name("v"), i64, TVMS_NO_SPAN);
  tvms_node *load = tvms_buffer_load_new(f.unit, &f.buffer->head, &f.axis->var, 1, NULL,
                                         TVMS_NO_SPAN);
  f.load = tvms_as_buffer_load(load);
  tvms_node *one = tvms_float_imm_new(f.unit, f32, 1.0, TVMS_NO_SPAN);
  f.sum = tvms_binary_new(f.unit, TVMS_NODE_ADD, load, one, TVMS_NO_SPAN);
  f.store = new_store(f.sum, f.axis->var);
  f.block = tvms_node_make(f.unit, BLOCK, TVMS_NO_SPAN);
  f.block->iter_vars = list_of(f.unit, &f.axis->head);
  f.block->body = &f.store->head;
  f.block->name = tvms_bytes_copy(f.unit, "block", 5);
  f.loop = tvms_node_make(f.unit, FOR, TVMS_NO_SPAN);
  f.loop->var = tvms_var_new(f.unit, name("i"), i64, TVMS_NO_SPAN);
  f.loop->min = int64_of(f.unit, 0);
  f.loop->extent = int64_of(f.unit, 8);
  f.realize = tvms_node_make(f.unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  f.realize->iter_values = list_of(f.unit, f.loop->var);
  f.realize->predicate = tvms_bool_imm_new(f.unit, true, TVMS_NO_SPAN);
  f.realize->block = &f.block->head;
  f.loop->body = &f.realize->head;
  return &f.loop->head;
}

static void make_prim_func(void) {
  tvms_member *member = tvms_module_add(module, name("f"), TVMS_NO_SPAN);
  tvms_dtype i64 = TVMS_DTYPE(INT, 64), f32 = TVMS_DTYPE(FLOAT, 32);
  f.unit = member->unit;
  make_buffer();
  f.n = tvms_var_new(f.unit, name("n"), i64, TVMS_NO_SPAN);
  tvms_node *handle =
      tvms_pointer_var_new(f.unit, name("a"), (tvms_dtype){0}, 0, TVMS_NO_SPAN);
  tvms_node *params[] = {handle, f.n}, *buffers[] = {&f.buffer->head, NULL};
  f.bind = tvms_node_make(f.unit, BIND, TVMS_NO_SPAN);
  f.bind->value =
      tvms_binary_new(f.unit, TVMS_NODE_ADD, f.n, int64_of(f.unit, 1), TVMS_NO_SPAN);
  f.bind->var = tvms_var_new(f.unit, name("k"), i64, TVMS_NO_SPAN);
  f.last = new_store(tvms_float_imm_new(f.unit, f32, 0.0, TVMS_NO_SPAN), f.bind->var);
  tvms_node *stmts[] = {make_loop(), &f.bind->head, &f.last->head};
  f.seq = tvms_as_seq(tvms_seq_new(f.unit, stmts, 3, TVMS_NO_SPAN));
  f.function = tvms_node_make(f.unit, PRIM_FUNC, TVMS_NO_SPAN);
  f.function->head.flags = TVMS_FLAG_S_TIR;
  f.function->name = member->name;
  f.function->params = tvms_list_copy(f.unit, params, 2);
  f.function->buffers = tvms_list_copy(f.unit, buffers, 2);
  f.function->body = &f.seq->head;
  member->function = &f.function->head;
}

static tvms_node *new_tensor_type(void) {
  tvms_shape_expr *shape = tvms_node_make(g.unit, SHAPE_EXPR, TVMS_NO_SPAN);
  shape->values = list_of(g.unit, int64_of(g.unit, 8));
  tvms_sinfo_tensor *type = tvms_node_make(g.unit, SINFO_TENSOR, TVMS_NO_SPAN);
  type->head.dtype = TVMS_DTYPE(FLOAT, 32);
  type->shape = &shape->head;
  type->ndim = 1;
  return &type->head;
}

static tvms_var_binding *new_binding(const char *text, tvms_node *value,
                                     unsigned flags) {
  tvms_var_binding *binding = tvms_node_make(g.unit, VAR_BINDING, TVMS_NO_SPAN);
  binding->value = value;
  binding->var = tvms_var_new(g.unit, name(text), (tvms_dtype){0}, TVMS_NO_SPAN);
  binding->var->sinfo = value->sinfo;
  binding->var->flags = (uint8_t)flags;
  return binding;
}

static void make_function(void) {
  tvms_member *member = tvms_module_add(module, name("g"), TVMS_NO_SPAN);
  g.unit = member->unit;
  tvms_node *x = tvms_var_new(g.unit, name("x"), (tvms_dtype){0}, TVMS_NO_SPAN);
  x->sinfo = new_tensor_type();
  g.type = tvms_as_sinfo_tensor(x->sinfo);
  tvms_node *two[] = {x, x}, *types[] = {x->sinfo, x->sinfo};
  g.tuple = tvms_node_make(g.unit, TUPLE, TVMS_NO_SPAN);
  g.tuple->fields = tvms_list_copy(g.unit, two, 2);
  tvms_sinfo_tuple *type = tvms_node_make(g.unit, SINFO_TUPLE, TVMS_NO_SPAN);
  type->fields = tvms_list_copy(g.unit, types, 2);
  g.tuple->head.sinfo = &type->head;
  g.first = new_binding("lv", &g.tuple->head, TVMS_FLAG_DATAFLOW);
  g.second = new_binding("gv", g.first->var, 0);
  tvms_node *bindings[] = {&g.first->head, &g.second->head};
  g.block = tvms_node_make(g.unit, BINDING_BLOCK, TVMS_NO_SPAN);
  g.block->head.flags = TVMS_FLAG_DATAFLOW;
  g.block->bindings = tvms_list_copy(g.unit, bindings, 2);
  g.seq = tvms_node_make(g.unit, SEQ_EXPR, TVMS_NO_SPAN);
  g.seq->blocks = list_of(g.unit, &g.block->head);
  g.seq->body = g.second->var;
  g.seq->head.sinfo = &type->head;
  g.function = tvms_node_make(g.unit, FUNCTION, TVMS_NO_SPAN);
  g.function->name = member->name;
  g.function->params = list_of(g.unit, x);
  g.function->ret = &type->head;
  g.function->body = &g.seq->head;
  member->function = &g.function->head;
}

static void make_module(void) {
  module = tvms_module_create(&context, TVMS_DIALECT_27, 0);
  make_prim_func();
  make_function();
}

static void open_context(void) {
  tvms_context_init(&context, &tvms_names);
}
static void close_context(void) {
  tvms_context_fini(&context);
}

TestSuite(verify, .init = open_context, .fini = close_context);

Test(verify, sound_functions_are_sound) {
  make_module();
  const char *wrong = tvms_verify_module(module);
  cr_assert_null(wrong, "%s", wrong);
}

// A device that lies with `unit`, named by the type of the parameter of g.
static void name_device_of(tvms_unit *unit) {
  tvms_object_vdevice *device = tvms_node_make(unit, OBJECT_VDEVICE, TVMS_NO_SPAN);
  tvms_object_target *target = tvms_node_make(unit, OBJECT_TARGET, TVMS_NO_SPAN);
  target->config = int64_of(unit, 0);
  device->target = &target->head;
  g.type->vdevice = &device->head;
}

Test(verify, a_type_names_a_device_of_its_module) {
  make_module();
  name_device_of(&module->unit);
  const char *wrong = tvms_verify_module(module);
  cr_assert_null(wrong, "%s", wrong);
}

// ---- What can be broken ----

static void foreign_node(void) {
  f.bind->value =
      tvms_binary_new(f.unit, TVMS_NODE_ADD, f.n, int64_of(g.unit, 1), TVMS_NO_SPAN);
}
static void foreign_device(void) {
  name_device_of(&tvms_module_create(&context, TVMS_DIALECT_27, 0)->unit);
}
static void device_of_other_function(void) {
  name_device_of(f.unit);
}
static void same_id(void) {
  f.sum->id = f.n->id;
}
static void id_of_nothing(void) {
  f.sum->id = f.unit->next_id;
}
static void interned_expression(void) {
  f.sum->id = 0;
  f.sum->flags |= TVMS_FLAG_INTERNED;
}
static void id_without_flag(void) {
  f.sum->id = 0;
}
static void open_part_of_closed_type(void) {
  tvms_sinfo_tuple *closed = tvms_arena_new(&context.arena, tvms_sinfo_tuple);
  closed->head.kind = TVMS_NODE_SINFO_TUPLE;
  closed->head.flags = TVMS_FLAG_INTERNED;
  closed->fields = list_of(g.unit, &g.type->head);
  g.function->ret = &closed->head;
}
static void statement_twice(void) {
  f.seq->stmts.items[2] = &f.bind->head;
}
static void binding_twice(void) {
  g.block->bindings.items[1] = &g.first->head;
}
static void missing_part(void) {
  f.loop->extent = NULL;
}
static void missing_item(void) {
  f.seq->stmts.items[1] = NULL;
}
static void wrong_kind(void) {
  f.axis->dom = f.n;
}
static void wrong_class(void) {
  f.loop->body = f.sum;
}
static void type_of_wrong_class(void) {
  g.tuple->head.sinfo = f.n;
}
static void flag_without_meaning(void) {
  f.loop->head.flags = TVMS_FLAG_PURE;
}
static void endless_text(void) {
  f.block->name = (tvms_bytes){"block of some kind", 5};
}
static void unequal_operands(void) {
  tvms_as_binary(f.sum)->b =
      tvms_float_imm_new(f.unit, TVMS_DTYPE(FLOAT, 16), 1.0, TVMS_NO_SPAN);
}
static void unequal_result(void) {
  f.sum->dtype = TVMS_DTYPE(FLOAT, 64);
}
static void large_constant(void) {
  tvms_node *bytes = tvms_int_imm_new(f.unit, TVMS_DTYPE(INT, 8), 1, TVMS_NO_SPAN);
  tvms_as_int_imm(bytes)->value = 256;
  f.loop->step = bytes;
}
static void vector_constant(void) {
  f.loop->min->dtype.lanes = 4;
}
static void unequal_range(void) {
  f.loop->min = tvms_int_imm_new(f.unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
}
static void unequal_binding(void) {
  f.bind->var->dtype = TVMS_DTYPE(INT, 32);
}
static void unequal_element(void) {
  f.load->head.dtype = TVMS_DTYPE(FLOAT, 16);
}
static void stored_dtype(void) {
  f.last->value = tvms_float_imm_new(f.unit, TVMS_DTYPE(FLOAT, 16), 0.0, TVMS_NO_SPAN);
}
static void too_few_indices(void) {
  f.last->indices.len = 0;
}
static void parameter_without_buffer_slot(void) {
  f.function->buffers.len = 1;
}
static void axis_without_value(void) {
  f.realize->iter_values.len = 0;
}
static void axis_without_domain(void) {
  f.axis->dom = NULL;
}
static void unknown_loop(void) {
  f.loop->for_kind = 17;
}
static void thread_without_binding(void) {
  f.loop->for_kind = TVMS_FOR_THREAD_BINDING;
}
static void unknown_axis(void) {
  f.axis->iter_type = 17;
}
static void short_sequence(void) {
  f.seq->stmts.len = 1;
}
static void untyped_variable(void) {
  g.second->var->sinfo = NULL;
}
static void untyped_field(void) {
  g.tuple->fields.items[0] =
      tvms_var_new(g.unit, name("y"), (tvms_dtype){0}, TVMS_NO_SPAN);
}
static void untyped_sequence(void) {
  g.seq->head.sinfo = NULL;
}
static void untyped_parameter(void) {
  g.function->params.items[0] =
      tvms_var_new(g.unit, name("y"), (tvms_dtype){0}, TVMS_NO_SPAN);
}
static void nested_value(void) {
  tvms_tuple_get_item *item = tvms_node_make(g.unit, TUPLE_GET_ITEM, TVMS_NO_SPAN);
  item->tuple = g.tuple->fields.items[0];
  item->head.sinfo = &g.type->head;
  g.tuple->fields.items[1] = &item->head;
}
static void wrong_rank(void) {
  g.type->ndim = 2;
}
static void variable_twice(void) {
  f.bind->var = f.loop->var;
}
static void buffer_twice(void) {
  f.block->alloc_buffers = list_of(f.unit, &f.buffer->head);
}
static void use_before_definition(void) {
  f.loop->extent = f.bind->var;
}
static void use_behind_scope(void) {
  f.last->indices = list_of(f.unit, f.loop->var);
}
static void dataflow_variable_outside(void) {
  g.seq->body = g.first->var;
}
static void undefined_value(void) {
  tvms_node *y = tvms_var_new(g.unit, name("y"), (tvms_dtype){0}, TVMS_NO_SPAN);
  y->sinfo = &g.type->head;
  g.tuple->fields.items[0] = y;
}
static void region_of_nothing(void) {
  tvms_buffer *other = tvms_node_make(f.unit, BUFFER, TVMS_NO_SPAN);
  uint32_t id = other->head.id;
  *other = *f.buffer;
  other->head.id = id;
  tvms_node *range =
      tvms_range_new(f.unit, int64_of(f.unit, 0), int64_of(f.unit, 8), TVMS_NO_SPAN);
  f.block->writes = list_of(
      f.unit, tvms_buffer_region_new(f.unit, &other->head, &range, 1, TVMS_NO_SPAN));
}
static void other_release(void) {
  f.unit->dialect = TVMS_DIALECT_22;
}
static void other_name(void) {
  g.function->name = name("h");
}
static void two_of_a_name(void) {
  module->members[1].name = module->members[0].name;
}

static const struct {
  void (*breaks)(void);
  const char *found;
} rows[] = {
    {foreign_node, "f: node 'int_imm'"},
    {foreign_device, "g: node 'object_vdevice'"},
    {device_of_other_function, "g: node 'object_vdevice'"},
    {same_id, "another node has its id"},
    {id_of_nothing, "it is not of this unit"},
    {interned_expression, "nodes of its kind are not shared"},
    {id_without_flag, "an id of 0 is not interned"},
    {open_part_of_closed_type, "it is not interned, but what it is a part of is"},
    {statement_twice, "node 'bind' (id"},
    {binding_twice, "it stands in two places"},
    {missing_part, "field 'extent' is missing"},
    {missing_item, "field 'stmts' is missing"},
    {wrong_kind, "field 'dom' holds a node of kind var"},
    {wrong_class, "field 'body' holds a node of kind add"},
    {type_of_wrong_class, "its type is not one"},
    {flag_without_meaning, "a flag that means nothing for its kind"},
    {endless_text, "field 'name' is a text without an end"},
    {unequal_operands, "the operands differ in dtype"},
    {unequal_result, "the dtype is not that of the operands"},
    {large_constant, "the value does not fit the dtype"},
    {vector_constant, "a constant is not a scalar"},
    {unequal_range, "a loop variable differs from its range in dtype"},
    {unequal_binding, "variable and value differ in dtype"},
    {unequal_element, "the dtype is not that of the elements"},
    {stored_dtype, "the dtype is not that of the elements"},
    {too_few_indices, "it does not have one index per dimension"},
    {parameter_without_buffer_slot, "parameters and buffers differ in number"},
    {axis_without_value, "axes and values differ in number"},
    {axis_without_domain, "an axis has no domain"},
    {unknown_loop, "the kind of loop is unknown"},
    {thread_without_binding, "a thread binding has no thread"},
    {unknown_axis, "the type of axis is unknown"},
    {short_sequence, "a sequence has fewer than two statements"},
    {untyped_variable, "the variable has no StructInfo"},
    {untyped_field, "a part has no StructInfo"},
    {untyped_sequence, "it has no StructInfo"},
    {untyped_parameter, "a parameter has no StructInfo"},
    {nested_value, "a part is neither a leaf nor a tuple"},
    {wrong_rank, "the rank is not that of the shape"},
    {variable_twice, "it is defined in two places"},
    {buffer_twice, "node 'buffer'"},
    {use_before_definition, "it is used in front of its definition"},
    {use_behind_scope, "it is used behind its scope"},
    {dataflow_variable_outside, "it is used behind its scope"},
    {undefined_value, "it is used in front of its definition"},
    {region_of_nothing, "a block accesses it, but nothing defines it"},
    {other_release, "its unit is of another release"},
    {other_name, "it does not have the name of its member"},
    {two_of_a_name, "another function has its name"},
};

Test(verify, whatever_is_broken_is_found) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    make_module();
    rows[i].breaks();
    const char *wrong = tvms_verify_module(module);
    cr_expect(wrong && strstr(wrong, rows[i].found), "row %zu: '%s', but got '%s'", i,
              rows[i].found, wrong ? wrong : "nothing");
    tvms_module_destroy(module);
  }
}

Test(verify, functions_that_are_not_checked_have_no_scopes) {
  make_module();
  f.function->head.flags |= TVMS_FLAG_UNCHECKED;
  use_behind_scope();
  cr_assert_null(tvms_verify_module(module));
}

Test(verify, functions_without_blocks_may_use_what_nothing_defines) {
  make_module();
  f.function->head.flags = 0;
  f.last->indices = list_of(
      f.unit, tvms_var_new(f.unit, name("free"), TVMS_DTYPE(INT, 64), TVMS_NO_SPAN));
  cr_assert_null(tvms_verify_module(module));
  use_behind_scope();
  cr_assert_not_null(tvms_verify_module(module));
}
