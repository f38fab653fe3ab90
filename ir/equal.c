// Structural equality and hashing over the schema.
//
// Two functions are equal if one becomes the other by renaming what they define. Comparison
// pairs variables and buffers where a DEFINE field has them, and from there on each may stand
// for the other only; free ones are themselves, or are paired where they are first met, if the
// caller asks for that. A hash numbers definitions in the order of the walk and so does not
// see names either. Which fields count stands in ir/nodes.def; it is what TVM's
// structural_equal compares.
#include "ir/equal.h"

#include "ir/node_map.h"
#include "ir/omitted.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_memory *memory;
  const tvms_equal_options *options;
  tvms_node_map left;   // variable or buffer of a -> of b
  tvms_node_map right;  // and back
  bool same;
} comparison;

static bool compare(comparison *c, const tvms_node *TVMS_NULLABLE a,
                    const tvms_node *TVMS_NULLABLE b, tvms_field_role role);

// ---- Differences ----

static bool differ(comparison *c, const tvms_node *TVMS_NULLABLE a,
                   const tvms_node *TVMS_NULLABLE b, const char *what) {
  c->same = false;
  if (c->options->report) c->options->report(c->options->self, a, b, what);
  return false;
}

static bool differ_in(comparison *c, const tvms_node *a, const tvms_node *b,
                      const char *prefix, const char *field) {
  char what[64];
  snprintf(what, sizeof what, "%s '%s'", prefix, field);
  return differ(c, a, b, what);
}

// Go on after a difference? Only to report more of them.
static bool goes_on(const comparison *c) {
  return c->same || c->options->report;
}

// ---- What counts in a head ----

// Flags that change the meaning of a node.
static uint8_t meaningful_flags(uint8_t kind) {
  switch (kind) {
  case TVMS_NODE_VAR:
  case TVMS_NODE_BINDING_BLOCK: return TVMS_FLAG_DATAFLOW;
  case TVMS_NODE_INT_IMM: return TVMS_FLAG_LARGE;
  case TVMS_NODE_SINFO_OBJECT: return TVMS_FLAG_STRING;
  case TVMS_NODE_SINFO_SHAPE: return TVMS_FLAG_KNOWN;
  case TVMS_NODE_SINFO_FUNC: return TVMS_FLAG_KNOWN | TVMS_FLAG_PURE;
  case TVMS_NODE_FUNCTION: return TVMS_FLAG_PRIVATE | TVMS_FLAG_PURE;
  case TVMS_NODE_PRIM_FUNC:
    return TVMS_FLAG_PRIVATE | TVMS_FLAG_S_TIR | TVMS_FLAG_PERSISTENT;
  default: return 0;
  }
}

// TVM writes scalars, but for those of rare types, and texts of one line into the program: what
// a text leaves out is none of them.
static bool is_never_omitted(const tvms_node *node) {
  if (tvms_node_omitted(node)) return false;
  if (node->kind == TVMS_NODE_STRING_IMM) {
    tvms_bytes text = tvms_as_string_imm(node)->value;
    return !text.len || !memchr(text.text, '\n', text.len);
  }
  if (node->kind == TVMS_NODE_OBJECT_TENSOR) return false;
  const tvms_constant *constant = tvms_as_constant(node);
  uint8_t code = constant->element.code;
  return constant->shape.len == 0
         && (code == TVMS_INT || code == TVMS_FLOAT || code == TVMS_BOOL);
}

// Of the type no more than both texts say is compared.
static bool compare_omitted(comparison *c, const tvms_node *a, const tvms_node *b) {
  if (is_never_omitted(a) || is_never_omitted(b)) return differ(c, a, b, "value");
  (*c->options->omitted)++;
  if (a->kind != TVMS_NODE_CONSTANT) return true;
  const tvms_constant *x = tvms_as_constant(a), *y = tvms_as_constant(b);
  if (tvms_dtype_is_void(x->element) || tvms_dtype_is_void(y->element)) return true;
  if (!tvms_dtype_same(x->element, y->element))
    return differ_in(c, a, b, "value of", "element");
  if (x->shape.len != y->shape.len) return differ_in(c, a, b, "number of", "shape");
  for (uint32_t i = 0; i < x->shape.len; i++) {
    if (!tvms_node_same_expr(x->shape.items[i], y->shape.items[i]))
      return differ_in(c, a, b, "value of", "shape");
  }
  return true;
}

static bool is_omitted_pair(const comparison *c, const tvms_node *a,
                            const tvms_node *b) {
  return c->options->omitted && a->kind == b->kind
         && (tvms_node_omitted(a) || tvms_node_omitted(b));
}

static bool same_head(comparison *c, const tvms_node *a, const tvms_node *b) {
  if (a->kind != b->kind) return differ(c, a, b, "kind");
  if (!tvms_dtype_same(a->dtype, b->dtype)) return differ(c, a, b, "dtype");
  if ((a->flags ^ b->flags) & meaningful_flags(a->kind))
    return differ(c, a, b, "flags");
  return true;
}

// ---- Variables and buffers ----

static bool pair_up(comparison *c, const tvms_node *a, const tvms_node *b) {
  tvms_node_map_put(&c->left, a, (tvms_node *)(uintptr_t)b);
  tvms_node_map_put(&c->right, b, (tvms_node *)(uintptr_t)a);
  return true;
}

static bool compare_fields(comparison *c, const tvms_node *a, const tvms_node *b,
                           tvms_field_role role);

static bool compare_var(comparison *c, const tvms_node *a, const tvms_node *b,
                        tvms_field_role role) {
  const tvms_node *known_a = tvms_node_map_get(&c->left, a);
  const tvms_node *known_b = tvms_node_map_get(&c->right, b);
  if (known_a || known_b) {
    return (known_a == b && known_b == a) || differ(c, a, b, "variable");
  }
  bool defines = role == TVMS_ROLE_DEFINE || role == TVMS_ROLE_DEFINE_REC;
  if (!defines && !c->options->map_free) {
    return a == b || differ(c, a, b, "variable");
  }
  if (!pair_up(c, a, b)) return false;
  return compare(c, a->sinfo, b->sinfo, role);
}

static bool compare_buffer(comparison *c, const tvms_node *a, const tvms_node *b,
                           tvms_field_role role) {
  const tvms_node *known_a = tvms_node_map_get(&c->left, a);
  const tvms_node *known_b = tvms_node_map_get(&c->right, b);
  if (known_a || known_b) {
    return (known_a == b && known_b == a) || differ(c, a, b, "buffer");
  }
  // A buffer that is used without a definition is compared by what it is.
  if (!compare_fields(c, a, b, role)) return false;
  return pair_up(c, a, b);
}

// ---- Fields ----

static bool compare_lists(comparison *c, const tvms_node *a, const tvms_node *b,
                          const tvms_field *field, tvms_field_role role) {
  const tvms_list *x = (const void *)((const char *)a + field->offset);
  const tvms_list *y = (const void *)((const char *)b + field->offset);
  if (x->len != y->len) differ_in(c, a, b, "number of", field->name);
  uint32_t common = x->len < y->len ? x->len : y->len;
  bool same = x->len == y->len;
  for (uint32_t i = 0; i < common && goes_on(c); i++) {
    same = compare(c, x->items[i], y->items[i], role) && same;
  }
  return same;
}

static bool same_value(const tvms_node *a, const tvms_node *b,
                       const tvms_field *field) {
  const void *x = (const char *)a + field->offset, *y = (const char *)b + field->offset;
  switch (field->type) {
  case TVMS_TYPE_SYM: return *(const tvms_sym *)x == *(const tvms_sym *)y;
  case TVMS_TYPE_INT: return *(const int64_t *)x == *(const int64_t *)y;
  case TVMS_TYPE_FLOAT: return memcmp(x, y, sizeof(double)) == 0;
  case TVMS_TYPE_DTYPE:
    return tvms_dtype_same(*(const tvms_dtype *)x, *(const tvms_dtype *)y);
  case TVMS_TYPE_FLAG: return *(const uint32_t *)x == *(const uint32_t *)y;
  case TVMS_TYPE_TEXT:
  case TVMS_TYPE_BYTES:
    return tvms_bytes_same(*(const tvms_bytes *)x, *(const tvms_bytes *)y);
  case TVMS_TYPE_NODE:
  case TVMS_TYPE_LIST: break;
  }
  return true;
}

// The role of what stands in a field: inside a recursive definition everything defines.
static tvms_field_role role_below(tvms_field_role outer, const tvms_field *field) {
  return outer == TVMS_ROLE_DEFINE_REC ? outer : field->role;
}

static bool compare_fields(comparison *c, const tvms_node *a, const tvms_node *b,
                           tvms_field_role role) {
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)a->kind);
  bool same = true;
  for (uint32_t i = 0; i < schema->field_count && goes_on(c); i++) {
    const tvms_field *field = &schema->fields[i];
    tvms_field_role below = role_below(role, field);
    if (field->type == TVMS_TYPE_NODE) {
      const tvms_node *x =
          *(tvms_node *const *)(const void *)((const char *)a + field->offset);
      const tvms_node *y =
          *(tvms_node *const *)(const void *)((const char *)b + field->offset);
      same = compare(c, x, y, below) && same;
    } else if (field->type == TVMS_TYPE_LIST) {
      same = compare_lists(c, a, b, field, below) && same;
    } else if (field->role == TVMS_ROLE_VALUE && !same_value(a, b, field)) {
      same = differ_in(c, a, b, "value of", field->name);
    }
  }
  return same;
}

static bool compare(comparison *c, const tvms_node *TVMS_NULLABLE a,
                    const tvms_node *TVMS_NULLABLE b, tvms_field_role role) {
  if (!a && !b) return true;
  if (!a || !b) return differ(c, a, b, "presence");
  if (a == b && a->id == 0)
    return true;  // closed StructInfo, which the context has once
  if (is_omitted_pair(c, a, b)) return compare_omitted(c, a, b);
  if (!same_head(c, a, b)) return false;
  if (!tvms_memory_enter(c->memory)) tvms_memory_unwind(c->memory, TVMS_OVER_LIMIT);
  bool same;
  if (a->kind == TVMS_NODE_VAR)
    same = compare_var(c, a, b, role);
  else if (a->kind == TVMS_NODE_BUFFER)
    same = compare_buffer(c, a, b, role);
  else
    same = compare_fields(c, a, b, role);
  tvms_memory_leave(c->memory);
  return same;
}

bool tvms_node_equal_with(tvms_context *context, const tvms_node *a, const tvms_node *b,
                          const tvms_equal_options *options) {
  comparison c = {.memory = &context->memory, .options = options, .same = true};
  tvms_node_map_init(&c.left, &context->memory);
  tvms_node_map_init(&c.right, &context->memory);
  compare(&c, a, b, TVMS_ROLE_USE);
  tvms_node_map_fini(&c.left);
  tvms_node_map_fini(&c.right);
  return c.same;
}

bool tvms_node_equal(tvms_context *context, const tvms_node *a, const tvms_node *b) {
  static const tvms_equal_options strict = {0};
  return a == b || tvms_node_equal_with(context, a, b, &strict);
}

// ---- Expressions ----

static bool expr_lists_equal(const tvms_list *x, const tvms_list *y) {
  if (x->len != y->len) return false;
  for (uint32_t i = 0; i < x->len; i++) {
    const tvms_node *a = x->items[i], *b = y->items[i];
    if (a != b && (!a || !b || !tvms_node_same_expr(a, b))) return false;
  }
  return true;
}

bool tvms_node_same_fields(const tvms_node *a, const tvms_node *b) {
  if (a->kind == TVMS_NODE_VAR || a->kind == TVMS_NODE_BUFFER) return false;
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)a->kind);
  for (uint32_t i = 0; i < schema->field_count; i++) {
    const tvms_field *field = &schema->fields[i];
    const void *x = (const char *)a + field->offset,
               *y = (const char *)b + field->offset;
    if (field->type == TVMS_TYPE_NODE) {
      const tvms_node *p = *(tvms_node *const *)x, *q = *(tvms_node *const *)y;
      if (p != q && (!p || !q || !tvms_node_same_expr(p, q))) return false;
    } else if (field->type == TVMS_TYPE_LIST) {
      if (!expr_lists_equal(x, y)) return false;
    } else if (field->role == TVMS_ROLE_VALUE && !same_value(a, b, field)) {
      return false;
    }
  }
  return true;
}

bool tvms_node_same_exprs(tvms_list a, tvms_list b) {
  bool same = a.len == b.len;
  for (uint32_t i = 0; same && i < a.len; i++)
    same = tvms_node_same_expr(a.items[i], b.items[i]);
  return same;
}

// ---- Hash ----

typedef struct {
  tvms_memory *memory;
  tvms_node_map numbers;  // defined variable or buffer -> its number, as a pointer
  uint32_t next;
} hasher;

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

static uint64_t hash_node(hasher *h, const tvms_node *TVMS_NULLABLE node,
                          tvms_field_role role);

static uint64_t hash_value(uint64_t hash, const tvms_node *node,
                           const tvms_field *field) {
  const void *at = (const char *)node + field->offset;
  switch (field->type) {
  case TVMS_TYPE_SYM: return mix(hash, *(const tvms_sym *)at);
  case TVMS_TYPE_FLAG: return mix(hash, *(const uint32_t *)at);
  case TVMS_TYPE_INT:
  case TVMS_TYPE_FLOAT: {
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    return mix(hash, bits);
  }
  case TVMS_TYPE_DTYPE: {
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    return mix(hash, bits);
  }
  case TVMS_TYPE_TEXT:
  case TVMS_TYPE_BYTES: {
    const tvms_bytes *text = at;
    return mix(hash, tvms_interner_hash(text->text ? text->text : "", text->len));
  }
  case TVMS_TYPE_NODE:
  case TVMS_TYPE_LIST: break;
  }
  return hash;
}

static uint64_t hash_fields(hasher *h, uint64_t hash, const tvms_node *node,
                            tvms_field_role role) {
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)node->kind);
  for (uint32_t i = 0; i < schema->field_count; i++) {
    const tvms_field *field = &schema->fields[i];
    const void *at = (const char *)node + field->offset;
    tvms_field_role below = role_below(role, field);
    if (field->type == TVMS_TYPE_NODE) {
      hash = mix(hash, hash_node(h, *(tvms_node *const *)at, below));
    } else if (field->type == TVMS_TYPE_LIST) {
      const tvms_list *list = at;
      hash = mix(hash, list->len);
      for (uint32_t j = 0; j < list->len; j++) {
        hash = mix(hash, hash_node(h, list->items[j], below));
      }
    } else if (field->role == TVMS_ROLE_VALUE) {
      hash = hash_value(hash, node, field);
    }
  }
  return hash;
}

// A variable or buffer counts by the number of its definition; a free variable by itself. Types of parameters define
// sizes.
static uint64_t hash_identity(hasher *h, const tvms_node *node, tvms_field_role role) {
  const void *number = tvms_node_map_get(&h->numbers, node);
  if (number) return (uint64_t)(uintptr_t)number;
  bool is_var = node->kind == TVMS_NODE_VAR;
  if (is_var && role != TVMS_ROLE_DEFINE && role != TVMS_ROLE_DEFINE_REC) {
    return mix(1, (uint64_t)(uintptr_t)node);
  }
  uint64_t hash = is_var ? 0 : hash_fields(h, 2, node, role);
  uintptr_t own = ((uintptr_t)h->next++ << 4) + 8;
  tvms_node_map_put(&h->numbers, node, (tvms_node *)own);
  if (is_var && role == TVMS_ROLE_DEFINE_REC) hash = hash_node(h, node->sinfo, role);
  return mix(hash, own);
}

static uint64_t hash_node(hasher *h, const tvms_node *TVMS_NULLABLE node,
                          tvms_field_role role) {
  if (!node) return 0;
  if (!tvms_memory_enter(h->memory)) tvms_memory_unwind(h->memory, TVMS_OVER_LIMIT);
  uint32_t dtype;
  memcpy(&dtype, &node->dtype, sizeof dtype);
  uint64_t hash = mix(node->kind, dtype);
  if (node->kind == TVMS_NODE_VAR || node->kind == TVMS_NODE_BUFFER)
    hash = mix(hash, hash_identity(h, node, role));
  else
    hash = hash_fields(h, hash, node, role);
  tvms_memory_leave(h->memory);
  return hash;
}

uint64_t tvms_node_hash(tvms_context *context, const tvms_node *node) {
  hasher h = {.memory = &context->memory};
  tvms_node_map_init(&h.numbers, &context->memory);
  uint64_t hash = hash_node(&h, node, TVMS_ROLE_USE);
  tvms_node_map_fini(&h.numbers);
  return hash;
}
