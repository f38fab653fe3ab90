// Memory that two values share, by what a call promises or where tensors lie in a storage.
//
// *In place.* What R.call_tir_inplace is given for an output is overwritten, so its old value is
// gone behind the call; later uses see the new one. Copies of a variable are the same memory, and
// so is what is taken out of a tuple; the tuple is used where any of it is. What one branch overwrites does not concern the other one, and nothing is said behind the `if`.
//
// *Storage.* A tensor lives from its first use to its last one. Two tensors of one storage whose
// bytes meet must not live at the same time: the second one overwrites the first. Uses in a branch
// count where the `if` stands, so only the straight way through the function is looked at.
#include "lint/relax_memory.h"

#include "ir/object.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "lint/call_tir.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <ctype.h>
#include <string.h>

void tvms_lint_note_call(tvms_lint_calls *calls, const tvms_node *call) {
  switch ((int)tvms_op_called(call)) {
  case TVMS_R_call_tir_inplace: calls->inplace = true; break;
  case TVMS_R_memory_alloc_tensor:
  case TVMS_R_vm_alloc_tensor: calls->storage = true; break;
  case TVMS_R_call_tir: calls->tir = true; break;
  default: break;
  }
}

typedef struct {
  const tvms_node *call;   // that overwrote it; NULL: none
  const tvms_node *root;   // the variable that it is a copy of; NULL: itself
  const tvms_node *tuple;  // that was bound to it; NULL: none
} variable;

typedef struct {
  const tvms_node *var;
  const tvms_node *storage;
  int64_t begin, end;    // bytes in the storage
  uint32_t first, last;  // numbers of bindings
} tensor;

typedef struct {
  tvms_lint *lint;
  tvms_memory *memory;
  variable *vars;      // by id
  uint32_t count;      // of vars
  tvms_node_vec gone;  // overwritten ones, innermost scope last
  TVMS_VEC(uint32_t) scopes;
  TVMS_VEC(tensor) tensors;
  uint32_t *tensor_of;  // by id of the variable: its number, plus one
  uint32_t now;         // number of the binding at hand
  tvms_span using;      // of the value at hand
} search;

static const char *name_of(const search *s, const tvms_node *var) {
  return tvms_symbol_text(s->lint->context, tvms_as_var(var)->name);
}

static const tvms_node *root_of(const search *s, const tvms_node *var) {
  const tvms_node *root = var->id < s->count ? s->vars[var->id].root : NULL;
  return root ? root : var;
}

// The tuple that a variable stands for.
static const tvms_tuple *TVMS_NULLABLE tuple_of(const search *s, const tvms_node *var) {
  if (var->kind != TVMS_NODE_VAR || var->id >= s->count) return NULL;
  const tvms_node *tuple = s->vars[root_of(s, var)->id].tuple;
  return tuple ? tvms_as_tuple(tuple) : NULL;
}

// The variable at the place that `node` takes out of a tuple; NULL if that is not known.
static const tvms_node *TVMS_NULLABLE item_of(const search *s, const tvms_node *node) {
  if (node->kind != TVMS_NODE_TUPLE_GET_ITEM) return NULL;
  const tvms_tuple_get_item *get = tvms_as_tuple_get_item(node);
  const tvms_tuple *tuple = tuple_of(s, get->tuple);
  if (!tuple || get->index < 0 || get->index >= tuple->fields.len) return NULL;
  const tvms_node *item = tuple->fields.items[get->index];
  return item->kind == TVMS_NODE_VAR && item->id < s->count ? item : NULL;
}

// A copy is the same memory.
static void note_copy(search *s, const tvms_node *node) {
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  variable *made = &s->vars[binding->var->id];
  const tvms_node *item = item_of(s, binding->value);
  if (item || binding->value->kind == TVMS_NODE_VAR)
    made->root = root_of(s, item ? item : binding->value);
  if (binding->value->kind == TVMS_NODE_TUPLE) made->tuple = binding->value;
}

// ---- In place ----

static void note_inplace(search *s, const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  if (call->args.len < 2 || call->args.items[1]->kind != TVMS_NODE_TUPLE) return;
  tvms_list args = tvms_as_tuple(call->args.items[1])->fields;
  tvms_list places = tvms_attr_list(call, TVMS_ATTR_inplace_inplace_indices);
  for (uint32_t i = 0; i < places.len; i++) {
    int64_t place;
    if (!tvms_object_as_int(places.items[i], &place)) continue;
    if (place < 0 || place >= args.len) continue;
    tvms_node *arg = args.items[place];
    if (arg->kind != TVMS_NODE_VAR) continue;
    tvms_node *root = (tvms_node *)(uintptr_t)root_of(s, arg);
    s->vars[root->id].call = node;
    tvms_vec_push(s->memory, &s->gone, root);
  }
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// Where a variable stands in the text of what uses it, whose nodes do not tell; else all of that.
static tvms_span place_of(const search *s, const char *name) {
  const char *text = s->lint->surface->source->text;
  uint32_t len = (uint32_t)strlen(name);
  for (uint32_t at = s->using.begin; at + len <= s->using.end; at++) {
    bool here = memcmp(text + at, name, len) == 0 && !is_word(text[at + len])
                && (at == s->using.begin || !is_word(text[at - 1]));
    if (here) return (tvms_span){at, at + len};
  }
  return s->using;
}

// `var`, or what it holds at some place, is used where the text says `said`.
static void use_after(search *s, const tvms_node *var, const tvms_node *said) {
  variable *known = &s->vars[root_of(s, var)->id];
  const tvms_tuple *tuple = tuple_of(s, var);
  for (uint32_t i = 0; tuple && i < tuple->fields.len; i++) {
    const tvms_node *field = tuple->fields.items[i];
    if (field->kind == TVMS_NODE_VAR && field->id < s->count && !tuple_of(s, field))
      use_after(s, field, said);
  }
  if (!known->call) return;
  tvms_diags *diags = &s->lint->context->diags;
  const char *name = name_of(s, said);
  tvms_span place = place_of(s, name);
  // What is used without a name of its own is called by that of the memory.
  bool named = place.begin != s->using.begin || place.end != s->using.end;
  if (!named) name = name_of(s, root_of(s, var));
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_inplace_used_later, place, name);
  tvms_diag_note(diags, diag, known->call->span, "this call overwrites it");
  known->call = NULL;
}

static bool is_kill(const tvms_node *call) {
  uint32_t op = tvms_op_called(call);
  return op == TVMS_R_memory_kill_tensor || op == TVMS_R_memory_kill_storage
         || op == TVMS_R_vm_kill_object;
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  if (node->kind != TVMS_NODE_VAR && node->span.end
      && tvms_node_class_of(node) == TVMS_CLASS_EXPR)
    s->using = node->span;
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ_EXPR: tvms_vec_push(s->memory, &s->scopes, s->gone.len); break;
  case TVMS_NODE_CALL: return is_kill(node) ? TVMS_WALK_SKIP : TVMS_WALK_ON;
  case TVMS_NODE_VAR:
    if (role == TVMS_ROLE_USE && node->id < s->count) use_after(s, node, node);
    break;
  case TVMS_NODE_VAR_BINDING:
    if (!item_of(s, tvms_as_var_binding(node)->value)) break;
    note_copy(s, node);
    return TVMS_WALK_SKIP;
  default: break;
  }
  return TVMS_WALK_ON;
}

static void leave(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  (void)role;
  switch ((int)node->kind) {
  case TVMS_NODE_VAR_BINDING: note_copy(s, node); break;
  case TVMS_NODE_CALL:
    if (tvms_op_called(node) == TVMS_R_call_tir_inplace) note_inplace(s, node);
    break;
  case TVMS_NODE_SEQ_EXPR:
    for (uint32_t begin = s->scopes.items[--s->scopes.len]; s->gone.len > begin;) {
      s->vars[s->gone.items[--s->gone.len]->id].call = NULL;
    }
    break;
  default: break;
  }
}

static void check_inplace(search *s) {
  tvms_visitor visitor = {.self = s, .enter = enter, .leave = leave};
  (void)tvms_walk(s->memory, s->lint->function, &visitor);
}

// ---- Storage ----

static bool as_int(const tvms_node *node, int64_t *value) {
  if (node->kind == TVMS_NODE_PRIM_VALUE) node = tvms_as_prim_value(node)->value;
  if (node->kind != TVMS_NODE_INT_IMM) return false;
  *value = tvms_as_int_imm(node)->value;
  return *value >= 0;
}

// The bytes of a tensor with known sizes.
static bool size_of(const tvms_node *type, int64_t *bytes) {
  tvms_list dims;
  if (!type || type->kind != TVMS_NODE_SINFO_TENSOR) return false;
  if (!tvms_sinfo_dims(type, &dims) || tvms_dtype_is_void(type->dtype)) return false;
  *bytes = (type->dtype.bits * (int64_t)type->dtype.lanes + 7) / 8;
  for (uint32_t i = 0; i < dims.len; i++) {
    int64_t dim;
    if (!as_int(dims.items[i], &dim)) return false;
    if (__builtin_mul_overflow(*bytes, dim, bytes)) return false;
  }
  return true;
}

static bool is_tensor(const tvms_node *value) {
  uint32_t op = value->kind == TVMS_NODE_CALL ? tvms_op_called(value) : 0;
  return op == TVMS_R_memory_alloc_tensor || op == TVMS_R_vm_alloc_tensor;
}

static void note_tensor(search *s, const tvms_var_binding *binding) {
  const tvms_call *call = tvms_as_call(binding->value);
  tensor t = {.var = binding->var, .first = UINT32_MAX};
  if (call->args.len < 3 || call->args.items[0]->kind != TVMS_NODE_VAR) return;
  if (!as_int(call->args.items[1], &t.begin)) return;
  if (!size_of(binding->var->sinfo, &t.end)) return;
  if (__builtin_add_overflow(t.begin, t.end, &t.end)) return;
  t.storage = root_of(s, call->args.items[0]);
  tvms_vec_push(s->memory, &s->tensors, t);
  s->tensor_of[binding->var->id] = s->tensors.len;
}

static tvms_walk_step use(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  if (node->kind == TVMS_NODE_CALL && is_kill(node)) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_VAR || role != TVMS_ROLE_USE) return TVMS_WALK_ON;
  const tvms_node *root = root_of(s, node);
  uint32_t number = root->id < s->count ? s->tensor_of[root->id] : 0;
  if (!number) return TVMS_WALK_ON;
  tensor *t = &s->tensors.items[number - 1];
  if (t->first == UINT32_MAX) t->first = s->now;
  t->last = s->now;
  return TVMS_WALK_ON;
}

static void scan_storage(search *s) {
  tvms_visitor visitor = {.self = s, .enter = use};
  const tvms_seq_expr *seq =
      tvms_as_seq_expr(tvms_as_function(s->lint->function)->body);
  for (uint32_t i = 0; i < seq->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(seq->blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++, s->now++) {
      tvms_node *node = bindings.items[k];
      const tvms_node *value =
          node->kind == TVMS_NODE_VAR_BINDING ? tvms_as_var_binding(node)->value : NULL;
      if (value) note_copy(s, node);
      if (value && is_tensor(value)) note_tensor(s, tvms_as_var_binding(node));
      if (!value || value->kind != TVMS_NODE_VAR) tvms_walk(s->memory, node, &visitor);
    }
  }
  tvms_walk(s->memory, seq->body, &visitor);
}

static bool meet(const tensor *a, const tensor *b) {
  bool live = a->first <= b->last && b->first <= a->last;
  bool used = a->first != UINT32_MAX && b->first != UINT32_MAX;
  return used && live && a->storage == b->storage && a->begin < b->end
         && b->begin < a->end;
}

static void check_overlap(search *s) {
  enum { MOST_BEFORE = 64 };
  tvms_diags *diags = &s->lint->context->diags;
  for (uint32_t i = 1; i < s->tensors.len; i++) {
    const tensor *t = &s->tensors.items[i];
    uint32_t least = i > MOST_BEFORE ? i - MOST_BEFORE : 0;
    for (uint32_t k = i; k-- > least;) {
      const tensor *other = &s->tensors.items[k];
      if (!meet(t, other)) continue;
      tvms_diag *diag = tvms_diag_report(diags, TVMS_D_storage_overlap, t->var->span,
                                         name_of(s, t->var), name_of(s, other->var));
      tvms_diag_note(diags, diag, other->var->span,
                     "'%s' is in bytes %lld to %lld of the same storage",
                     name_of(s, other->var), (long long)other->begin,
                     (long long)other->end - 1);
      break;
    }
  }
}

// The bytes that a storage was asked to have; -1 if they cannot be told.
static int64_t storage_size(const tvms_node *value) {
  if (value->kind != TVMS_NODE_CALL) return -1;
  if (tvms_op_called(value) != TVMS_R_memory_alloc_storage) return -1;
  const tvms_call *call = tvms_as_call(value);
  if (!call->args.len || call->args.items[0]->kind != TVMS_NODE_SHAPE_EXPR) return -1;
  tvms_list sizes = tvms_as_shape_expr(call->args.items[0])->values;
  int64_t size;
  return sizes.len == 1 && as_int(sizes.items[0], &size) ? size : -1;
}

static tvms_walk_step see_storage(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  (void)role;
  if (node->kind != TVMS_NODE_VAR_BINDING) return TVMS_WALK_ON;
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  int64_t size = storage_size(binding->value);
  if (size < 0) return TVMS_WALK_ON;
  for (uint32_t i = 0; i < s->tensors.len; i++) {
    const tensor *t = &s->tensors.items[i];
    if (t->storage != binding->var || t->end <= size) continue;
    tvms_diags *diags = &s->lint->context->diags;
    tvms_diag *diag =
        tvms_diag_report(diags, TVMS_D_storage_too_small, t->var->span,
                         name_of(s, t->var), (long long)t->end, (long long)size);
    tvms_diag_note(diags, diag, binding->var->span, "'%s' has %lld bytes",
                   name_of(s, binding->var), (long long)size);
  }
  return TVMS_WALK_ON;
}

static void check_storage(search *s) {
  scan_storage(s);
  check_overlap(s);
  tvms_visitor visitor = {.self = s, .enter = see_storage};
  if (tvms_lint_wants(s->lint, TVMS_D_storage_too_small) && s->tensors.len)
    (void)tvms_walk(s->memory, s->lint->function, &visitor);
}

void tvms_lint_check_calls(tvms_lint *lint, const tvms_lint_calls *calls) {
  if (calls->tir) tvms_lint_check_call_tir(lint);
  if (!calls->inplace && !calls->storage) return;
  tvms_memory *memory = &lint->context->memory;
  uint32_t count = lint->unit->next_id;
  search s = {
      .lint = lint,
      .memory = memory,
      .count = count,
      .vars = tvms_memory_alloc(memory, count * sizeof(variable)),
      .tensor_of = tvms_memory_alloc(memory, count * sizeof(uint32_t)),
  };
  if (calls->inplace) check_inplace(&s);
  if (calls->storage) check_storage(&s);
  tvms_vec_fini(memory, &s.tensors);
  tvms_vec_fini(memory, &s.scopes);
  tvms_vec_fini(memory, &s.gone);
  tvms_memory_free(memory, s.tensor_of);
  tvms_memory_free(memory, s.vars);
}
