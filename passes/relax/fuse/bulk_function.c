// The PrimFunc of a run: its callees take pointers, so it calls them directly.
//
//   def fused_bulk_call(x: T.Buffer((n, 4)), y: T.Buffer((n, 4))):
//       storage0 = T.sblock_alloc_buffer((n, 4))
//       cls.add_unpacked(x.data, storage0.data, n)
//       cls.relu_unpacked(storage0.data, y.data, n)
//
// Tensors that only the run knows are planned in the order of the calls: each takes the smallest
// memory whose last user has been called, and new memory if none is large enough.
#include "passes/relax/fuse/bulk_function.h"

#include "ir/build.h"
#include "ir/clone.h"
#include "ir/equal.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/fuse/unpack_prim_func.h"
#include "passes/relax/make.h"

#include <stdio.h>
#include <string.h>

static tvms_memory *memory_of(const tvms_fuse_bulk_run *f) {
  return &f->in.run->context->memory;
}

// Where the PrimFunc of the run is made.
typedef struct {
  tvms_unit *unit;
  tvms_node_map known;  // symbols of the caller: those of the PrimFunc
  tvms_node_vec params;
  tvms_node_vec buffers;  // by parameter; NULL: a number
  // Memory for what only the run needs.
  tvms_node_vec memory;
  TVMS_VEC(const tvms_fuse_bulk_tensor *) first;  // that the memory was made for
  TVMS_VEC(int) busy_until;                       // call that uses it last
} builder;

// The number of elements; -1 if that is not a number.
static int64_t elements_of(const tvms_fuse_bulk_tensor *t) {
  int64_t count = 1;
  for (uint32_t i = 0; i < t->shape.len; i++) {
    if (!tvms_node_is_int_imm(t->shape.items[i])) return -1;
    count *= tvms_as_int_imm(t->shape.items[i])->value;
  }
  return count;
}

static bool is_same_shape(const tvms_fuse_bulk_tensor *a,
                          const tvms_fuse_bulk_tensor *b) {
  if (a->shape.len != b->shape.len) return false;
  for (uint32_t i = 0; i < a->shape.len; i++) {
    if (!tvms_node_same_expr(a->shape.items[i], b->shape.items[i])) return false;
  }
  return true;
}

// Is there room for `t` where `first` was? Sizes that are no numbers must be the same.
static bool has_room(const tvms_fuse_bulk_tensor *first,
                     const tvms_fuse_bulk_tensor *t) {
  if (!tvms_dtype_same(tvms_as_buffer(first->like)->element,
                       tvms_as_buffer(t->like)->element))
    return false;
  int64_t room = elements_of(first), count = elements_of(t);
  return room >= 0 && count >= 0 ? room >= count : is_same_shape(first, t);
}

// A buffer that is free at the call and large enough, the smallest one; a new one if there is
// none.
static tvms_node *take_memory(tvms_fuse_bulk_run *f, builder *b,
                              const tvms_fuse_bulk_tensor *t, int call) {
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; i < b->memory.len; i++) {
    const tvms_fuse_bulk_tensor *first = b->first.items[i];
    if (b->busy_until.items[i] >= call || !has_room(first, t)) continue;
    if (best == UINT32_MAX || elements_of(first) < elements_of(b->first.items[best]))
      best = i;
  }
  if (best == UINT32_MAX) {
    char name[32];
    snprintf(name, sizeof name, "storage%u", b->memory.len);
    tvms_node *made =
        tvms_fuse_dense_buffer(b->unit, t->like, t->shape, &b->known, name);
    best = b->memory.len;
    tvms_vec_push(memory_of(f), &b->memory, made);
    tvms_vec_push(memory_of(f), &b->first, t);
    tvms_vec_push(memory_of(f), &b->busy_until, t->last);
  }
  b->busy_until.items[best] = t->last;
  return b->memory.items[best];
}

static const char *name_of(const tvms_fuse_bulk_run *f, const tvms_fuse_bulk_tensor *t,
                           char text[32], uint32_t i) {
  if (t->var->kind == TVMS_NODE_VAR && t->field < 0)
    return tvms_symbol_text(f->in.run->context, tvms_as_var(t->var)->name);
  snprintf(text, 32, "t%u", i);
  return text;
}

// The direct call of one callee.
static tvms_node *direct_call(tvms_fuse_bulk_run *f, builder *b,
                              const tvms_fuse_bulk_call *call, tvms_sym name) {
  tvms_node_vec args = {0};
  for (uint32_t i = 0; i < call->count; i++) {
    const tvms_fuse_bulk_operand *o = &f->operands.items[call->first + i];
    tvms_node *arg = o->number
                         ? tvms_clone(b->unit, o->number, &b->known)
                         : tvms_as_buffer(f->tensors.items[o->tensor].buffer)->data;
    tvms_vec_push(memory_of(f), &args, arg);
  }
  tvms_node *value =
      tvms_call_new(b->unit, (tvms_dtype){0}, tvms_relax_make_global_var(b->unit, name),
                    args.items, args.len, TVMS_NO_SPAN);
  tvms_vec_fini(memory_of(f), &args);
  return tvms_evaluate_new(b->unit, value, TVMS_NO_SPAN);
}

static tvms_node *with_memory(const builder *b, tvms_node *body) {
  if (b->memory.len == 0) return body;
  tvms_block *root = tvms_node_make(b->unit, BLOCK, TVMS_NO_SPAN);
  root->name = tvms_bytes_copy(b->unit, "root", 4);
  root->alloc_buffers = tvms_list_copy(b->unit, b->memory.items, b->memory.len);
  root->body = body;
  tvms_block_realize *realize = tvms_node_make(b->unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->predicate = tvms_bool_imm_new(b->unit, true, TVMS_NO_SPAN);
  realize->block = &root->head;
  return &realize->head;
}

static void add_param(tvms_fuse_bulk_run *f, builder *b, tvms_node *param,
                      tvms_node *TVMS_NULLABLE buffer) {
  tvms_vec_push(memory_of(f), &b->params, param);
  tvms_vec_push(memory_of(f), &b->buffers, buffer);
}

static void add_buffer_params(tvms_fuse_bulk_run *f, builder *b, bool results) {
  char text[32];
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    tvms_fuse_bulk_tensor *t = &f->tensors.items[i];
    if (t->made ? !results || !t->leaves : results) continue;
    t->buffer = tvms_fuse_dense_buffer(b->unit, t->like, t->shape, &b->known,
                                       name_of(f, t, text, i));
    tvms_sym name = tvms_as_buffer(t->buffer)->name;
    add_param(f, b,
              tvms_pointer_var_new(b->unit, name, (tvms_dtype){0}, 0, TVMS_NO_SPAN),
              t->buffer);
  }
}

// Finds the symbols of the caller that stand in the run and are no dimension of what it takes
// and gives.
static void find_symbols(tvms_fuse_bulk_run *f) {
  tvms_node_map defined;
  tvms_node_map_init(&defined, memory_of(f));
  for (int inner = 0; inner < 2; inner++) {
    for (uint32_t i = 0; i < f->tensors.len; i++) {
      const tvms_fuse_bulk_tensor *t = &f->tensors.items[i];
      for (uint32_t k = 0; k < t->shape.len; k++) {
        tvms_node *size = t->shape.items[k];
        if (inner)
          tvms_relax_symbols_free(memory_of(f), size, &defined, &f->symbols);
        else if ((!t->made || t->leaves) && tvms_relax_is_symbol(size))
          tvms_node_map_put(&defined, size, size);
      }
    }
  }
  for (uint32_t i = 0; i < f->operands.len; i++) {
    tvms_node *number = f->operands.items[i].number;
    if (number) tvms_relax_symbols_free(memory_of(f), number, &defined, &f->symbols);
  }
  tvms_node_map_fini(&defined);
}

// Parameters: tensors from outside, numbers, and results last. Memory for the other tensors.
static void make_buffers(tvms_fuse_bulk_run *f, builder *b) {
  add_buffer_params(f, b, false);
  for (uint32_t i = 0; i < f->symbols.len; i++)
    add_param(f, b, tvms_clone(b->unit, f->symbols.items[i], &b->known), NULL);
  add_buffer_params(f, b, true);
  for (uint32_t c = 0; c < f->calls.len; c++) {
    const tvms_fuse_bulk_call *call = &f->calls.items[c];
    for (uint32_t i = 0; i < call->count; i++) {
      const tvms_fuse_bulk_operand *o = &f->operands.items[call->first + i];
      if (o->number || f->tensors.items[o->tensor].buffer) continue;
      tvms_fuse_bulk_tensor *t = &f->tensors.items[o->tensor];
      t->buffer = take_memory(f, b, t, (int)c);
    }
  }
}

static void builder_fini(const tvms_fuse_bulk_run *f, builder *b) {
  tvms_node_map_fini(&b->known);
  tvms_vec_fini(memory_of(f), &b->params);
  tvms_vec_fini(memory_of(f), &b->buffers);
  tvms_vec_fini(memory_of(f), &b->memory);
  tvms_vec_fini(memory_of(f), &b->first);
  tvms_vec_fini(memory_of(f), &b->busy_until);
}

tvms_sym tvms_fuse_bulk_function_add(tvms_fuse_bulk_run *f) {
  tvms_unit *unit = tvms_functions_open_unit(f->in.run);
  builder b = {.unit = unit};
  tvms_node_map_init(&b.known, memory_of(f));
  tvms_node_vec stmts = {0};
  find_symbols(f);
  make_buffers(f, &b);
  for (uint32_t i = 0; i < f->calls.len; i++) {
    tvms_sym callee = tvms_fuse_unpack(f->in.run, f->calls.items[i].callee);
    tvms_vec_push(memory_of(f), &stmts, direct_call(f, &b, &f->calls.items[i], callee));
  }
  tvms_prim_func *made = tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN);
  made->head.flags = TVMS_FLAG_PRIVATE | TVMS_FLAG_S_TIR;
  made->params = tvms_list_copy(unit, b.params.items, b.params.len);
  made->buffers = tvms_list_copy(unit, b.buffers.items, b.buffers.len);
  made->body =
      with_memory(&b, tvms_seq_new(unit, stmts.items, stmts.len, TVMS_NO_SPAN));
  tvms_vec_fini(memory_of(f), &stmts);
  builder_fini(f, &b);
  return tvms_functions_add_unique(f->in.run, "fused_bulk_call", unit, &made->head);
}
