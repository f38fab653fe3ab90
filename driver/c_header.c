// What C needs to call a Relax function: structs of its arguments and results, its memory and
// sizes as inline functions, and a prototype. Fields are in the order of backend/core/params.h.
#include "driver/c_header.h"

#include "backend/core/params.h"
#include "backend/core/plain.h"
#include "ir/build.h"
#include "ir/contract.h"

#include <ctype.h>
#include <string.h>

// ---- Names ----

// Words of C and C++, and what compilers define.
static const char *const reserved[] = {
    "auto",         "break",    "case",
    "char",         "const",    "continue",
    "default",      "do",       "double",
    "else",         "enum",     "extern",
    "float",        "for",      "goto",
    "if",           "inline",   "int",
    "long",         "register", "restrict",
    "return",       "short",    "signed",
    "sizeof",       "static",   "struct",
    "switch",       "typedef",  "union",
    "unsigned",     "void",     "volatile",
    "while",        "bool",     "alignas",
    "alignof",      "asm",      "catch",
    "constexpr",    "decltype", "delete",
    "dynamic_cast", "explicit", "export",
    "false",        "friend",   "mutable",
    "namespace",    "new",      "noexcept",
    "nullptr",      "operator", "private",
    "protected",    "public",   "reinterpret_cast",
    "static_cast",  "template", "this",
    "throw",        "true",     "typeid",
    "typename",     "typeof",   "using",
    "virtual",      "wchar_t",  "bitand",
    "bitor",        "compl",    "concept",
    "requires",     "xor",      "linux",
    "unix",
};

typedef struct {
  tvms_context *context;
  const tvms_member *member;
  const tvms_prim_func *function;
  tvms_contract contract;
  tvms_params_sizes sizes;
  const char **names;           // by id of a variable: "in->n"
  TVMS_VEC(const char *) used;  // names of fields
  const char *prefix;
  tvms_strbuf *out;
} header;

static const char *identifier(tvms_context *context, const char *text) {
  char *made = tvms_arena_alloc(&context->arena, strlen(text) + 3);
  char *at = made;
  if (!isalpha((unsigned char)*text) && *text != '_') *at++ = '_';
  for (; *text; text++)
    *at++ = isalnum((unsigned char)*text) ? *text : '_';
  *at = 0;
  return made;
}

const char *tvms_build_header_prefix(tvms_context *context, const char *path) {
  const char *name = strrchr(path, '/');
  name = name ? name + 1 : path;
  const char *dot = strrchr(name, '.');
  size_t len = dot && dot > name ? (size_t)(dot - name) : strlen(name);
  return identifier(context, tvms_arena_text(&context->arena, name, len));
}

static bool is_taken(const header *h, const char *name) {
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
    if (!strcmp(name, reserved[i])) return true;
  }
  for (uint32_t i = 0; i < h->used.len; i++) {
    if (!strcmp(name, h->used.items[i])) return true;
  }
  return false;
}

static const char *field_name(header *h, const char *text) {
  const char *name = identifier(h->context, text);
  for (uint32_t i = 1; is_taken(h, name); i++) {
    tvms_strbuf next;
    tvms_strbuf_init(&next, &h->context->memory);
    tvms_strbuf_printf(&next, "%s_%u", text, i);
    name = identifier(h->context, tvms_strbuf_text(&next));
    tvms_strbuf_fini(&next);
  }
  tvms_vec_push(&h->context->memory, &h->used, name);
  return name;
}

// ---- Types and sizes ----

static const char *type_of(tvms_dtype dtype) {
  static const char *const ints[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
  static const char *const uints[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  if (tvms_dtype_is_bool(dtype)) return "uint8_t";
  if (dtype.lanes != 1 || dtype.bits < 8) return "void";
  uint32_t at = dtype.bits == 8 ? 0 : dtype.bits == 16 ? 1 : dtype.bits == 32 ? 2 : 3;
  if (dtype.code == TVMS_FLOAT && dtype.bits == 32) return "float";
  if (dtype.code == TVMS_FLOAT && dtype.bits == 64) return "double";
  return dtype.code == TVMS_INT ? ints[at] : uints[at];
}

static void add_size(header *h, const tvms_node *size);

static void add_binary(header *h, const tvms_node *size) {
  static const struct {
    tvms_node_kind kind;
    const char *before, *between;
  } forms[] = {
      {TVMS_NODE_ADD, "tvms_plus(", ", "},
      {TVMS_NODE_SUB, "(", " - "},
      {TVMS_NODE_MUL, "tvms_times(", ", "},
      {TVMS_NODE_DIV, "(", " / "},
      {TVMS_NODE_MOD, "(", " % "},
      {TVMS_NODE_FLOOR_DIV, "tvms_floor_div(", ", "},
      {TVMS_NODE_FLOOR_MOD, "tvms_floor_mod(", ", "},
      {TVMS_NODE_MIN, "tvms_least(", ", "},
      {TVMS_NODE_MAX, "tvms_most(", ", "},
      {TVMS_NODE_EQ, "(", " == "},
      {TVMS_NODE_NE, "(", " != "},
      {TVMS_NODE_LT, "(", " < "},
      {TVMS_NODE_LE, "(", " <= "},
      {TVMS_NODE_GT, "(", " > "},
      {TVMS_NODE_GE, "(", " >= "},
      {TVMS_NODE_AND, "(", " && "},
      {TVMS_NODE_OR, "(", " || "},
  };
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (forms[i].kind != size->kind) continue;
    tvms_strbuf_puts(h->out, forms[i].before);
    add_size(h, tvms_as_binary(size)->a);
    tvms_strbuf_puts(h->out, forms[i].between);
    add_size(h, tvms_as_binary(size)->b);
    tvms_strbuf_putc(h->out, ')');
  }
}

static void add_choice(header *h, const tvms_node_choice *choice) {
  tvms_strbuf_putc(h->out, '(');
  add_size(h, choice->condition);
  tvms_strbuf_puts(h->out, " ? ");
  add_size(h, choice->yes);
  tvms_strbuf_puts(h->out, " : ");
  add_size(h, choice->no);
  tvms_strbuf_putc(h->out, ')');
}

// A size as an expression of C; back ends have refused what is not one (backend/core/entry.c).
static void add_size(header *h, const tvms_node *size) {
  tvms_node_choice choice = tvms_node_choice_of(size);
  if (choice.condition)
    add_choice(h, &choice);
  else if (size->kind == TVMS_NODE_INT_IMM)
    tvms_strbuf_printf(h->out, "%lld", (long long)tvms_as_int_imm(size)->value);
  else if (size->kind == TVMS_NODE_VAR)
    tvms_strbuf_puts(h->out, h->names[size->id] ? h->names[size->id] : "0");
  else if (size->kind == TVMS_NODE_CAST)
    add_size(h, tvms_as_cast(size)->value);
  else if (size->kind == TVMS_NODE_NOT) {
    tvms_strbuf_putc(h->out, '!');
    add_size(h, tvms_as_not(size)->a);
  } else
    add_binary(h, size);
}

static void add_shape(header *h, const tvms_buffer *buffer, const char *between) {
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    if (i) tvms_strbuf_puts(h->out, between);
    add_size(h, buffer->shape.items[i]);
  }
}

// ---- Structs ----

static bool is_object(const tvms_prim_func *function, uint32_t index) {
  return !function->buffers.items[index]
         && tvms_dtype_is_handle(function->params.items[index]->dtype);
}

static void add_field(header *h, uint32_t index, bool result) {
  char dtype[TVMS_DTYPE_TEXT];
  const tvms_node *param = h->function->params.items[index];
  const tvms_node *bound = h->function->buffers.items[index];
  if (is_object(h->function, index)) {
    const char *name =
        field_name(h, tvms_symbol_text(h->context, tvms_as_var(param)->name));
    tvms_strbuf_printf(h->out, "  tvms_object %s%s;\n", result ? "*" : "", name);
    return;
  }
  if (!bound) {
    const char *name =
        field_name(h, tvms_symbol_text(h->context, tvms_as_var(param)->name));
    tvms_strbuf_printf(h->out, "  %s %s;\n", type_of(param->dtype), name);
    return;
  }
  const tvms_buffer *buffer = tvms_as_buffer(bound);
  const char *name = field_name(h, tvms_symbol_text(h->context, buffer->name));
  tvms_strbuf_printf(h->out, "  %s%s *%s;  /* %s (", result ? "" : "const ",
                     type_of(buffer->element), name,
                     tvms_dtype_text(buffer->element, dtype));
  add_shape(h, buffer, ", ");
  tvms_strbuf_puts(h->out, ") */\n");
}

static void name_variable(header *h, const tvms_node *var, const char *field) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &h->context->memory);
  tvms_strbuf_printf(&text, "in->%s", field);
  h->names[var->id] = tvms_arena_text(&h->context->arena, text.text, text.len);
  tvms_strbuf_fini(&text);
}

// Names of variables first: sizes stand in comments before their fields.
static void name_variables(header *h) {
  tvms_list params = h->function->params;
  for (uint32_t i = 0; i < h->contract.inputs; i++) {
    const tvms_node *buffer = h->function->buffers.items[i];
    tvms_sym name =
        buffer ? tvms_as_buffer(buffer)->name : tvms_as_var(params.items[i])->name;
    const char *field = field_name(h, tvms_symbol_text(h->context, name));
    if (!buffer) name_variable(h, params.items[i], field);
  }
  for (uint32_t i = 0; i < h->sizes.len; i++) {
    const tvms_node *size = h->sizes.items[i];
    name_variable(h, size,
                  field_name(h, tvms_symbol_text(h->context, tvms_as_var(size)->name)));
  }
  h->used.len = 0;
}

static void add_structs(header *h, const char *name) {
  tvms_strbuf_puts(h->out, "typedef struct {\n");
  for (uint32_t i = 0; i < h->contract.inputs; i++)
    add_field(h, i, false);
  for (uint32_t i = 0; i < h->sizes.len; i++) {
    const tvms_node *size = h->sizes.items[i];
    const char *field =
        field_name(h, tvms_symbol_text(h->context, tvms_as_var(size)->name));
    tvms_strbuf_printf(h->out, "  %s %s;\n", type_of(size->dtype), field);
  }
  if (!h->used.len) tvms_strbuf_puts(h->out, "  char none;\n");
  tvms_strbuf_printf(h->out, "} %s_inputs;\n\ntypedef struct {\n", name);
  h->used.len = 0;
  for (uint32_t i = 0; i < h->contract.results; i++)
    add_field(h, h->contract.inputs + i, true);
  if (!h->used.len) tvms_strbuf_puts(h->out, "  char none;\n");
  tvms_strbuf_printf(h->out, "} %s_results;\n\n", name);
}

// ---- Functions ----

static void add_sizes(header *h, const char *name) {
  for (uint32_t i = 0; i < h->contract.results; i++) {
    uint32_t at = h->contract.inputs + i;
    if (is_object(h->function, at)) continue;
    const tvms_buffer *buffer = tvms_as_buffer(h->function->buffers.items[at]);
    tvms_strbuf_printf(h->out,
                       "/* Elements of %s. */\n"
                       "TVMS_INLINE int64_t %s_%s_size(const %s_inputs *in) {\n"
                       "  (void)in;\n  return ",
                       h->used.items[i], name, h->used.items[i], name);
    add_shape(h, buffer, " * ");
    tvms_strbuf_puts(h->out, buffer->shape.len ? ";\n}\n\n" : "1;\n}\n\n");
  }
  tvms_strbuf_printf(h->out,
                     "/* Bytes of memory that a call needs beside its results. */\n"
                     "TVMS_INLINE int64_t %s_workspace(const %s_inputs *in) {\n"
                     "  (void)in;\n  return ",
                     name, name);
  uint32_t last = h->function->params.len - 1;
  if (h->contract.has_workspace)
    add_shape(h, tvms_as_buffer(h->function->buffers.items[last]), " * ");
  else
    tvms_strbuf_putc(h->out, '0');
  tvms_strbuf_puts(h->out, ";\n}\n\n");
}

static void add_function(header *h, const char *name) {
  tvms_strbuf_printf(h->out, "/* ---- %s ---- */\n\n",
                     tvms_symbol_text(h->context, h->member->name));
  name_variables(h);
  add_structs(h, name);
  add_sizes(h, name);
  tvms_strbuf_printf(h->out,
                     "int32_t %s(const %s_inputs *in, const %s_results *out, void "
                     "*workspace);\n\n",
                     name, name, name);
  tvms_strbuf_printf(
      h->out,
      "/* The same in memory of so many bytes: nothing is written if that is too little. */\n"
      "TVMS_INLINE int32_t %s_within(const %s_inputs *in, const %s_results *out, void "
      "*workspace, int64_t bytes) {\n"
      "  int32_t status = tvms_workspace_check(\"%s\", workspace, bytes, %s_workspace(in));\n"
      "  return status ? status : %s(in, out, workspace);\n"
      "}\n\n",
      name, name, name, name, name, name);
}

static const char about[] =
    " * A function returns 0, or -1 if it failed; it tells why through the handler, if there is one.\n"
    " * Tensors lie in memory without gaps, at addresses that are multiples of 64 where they are\n"
    " * written. Results and workspace overlap nothing else. A workspace may be NULL if its size is 0,\n"
    " * and serves any number of calls, one after the other. */\n"
    "\n";

static const char before[] =
    "#include <stdint.h>\n"
    "#include <stdio.h>\n"
    "\n"
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n"
    "\n"
    "#ifndef TVMS_INLINE\n"
    "#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)\n"
    "#define TVMS_INLINE static inline\n"
    "#else\n"
    "#define TVMS_INLINE static __inline__\n"
    "#endif\n"
    "#endif\n"
    "\n"
    "#ifndef TVMS_HEADER_SIZES\n"
    "#define TVMS_HEADER_SIZES\n"
    "TVMS_INLINE int64_t tvms_floor_div(int64_t a, int64_t b) {\n"
    "  return a / b - (a % b != 0 && (a < 0) != (b < 0));\n"
    "}\n"
    "TVMS_INLINE int64_t tvms_floor_mod(int64_t a, int64_t b) {\n"
    "  return a - tvms_floor_div(a, b) * b;\n"
    "}\n"
    "TVMS_INLINE int64_t tvms_least(int64_t a, int64_t b) { return a < b ? a : b; }\n"
    "TVMS_INLINE int64_t tvms_most(int64_t a, int64_t b) { return a > b ? a : b; }\n"
    "/* Sizes that would be more than there can be are 2^62. */\n"
    "TVMS_INLINE int64_t tvms_plus(int64_t a, int64_t b) {\n"
    "  const int64_t most = (int64_t)1 << 62;\n"
    "  int64_t sum;\n"
    "  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? -most : most;\n"
    "  return sum > most ? most : sum;\n"
    "}\n"
    "TVMS_INLINE int64_t tvms_times(int64_t a, int64_t b) {\n"
    "  const int64_t most = (int64_t)1 << 62;\n"
    "  int64_t product;\n"
    "  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) != (b < 0) ? -most : most;\n"
    "  return product > most ? most : product;\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* Who is told of errors: a kind (\"ValueError\") and a text. */\n"
    "extern void (*__TVMFFIErrorSetRaisedFromCStr)(const char *kind, const char *text);\n"
    "\n"
    "#ifndef TVMS_HEADER_WORKSPACE\n"
    "#define TVMS_HEADER_WORKSPACE\n"
    "/* Does memory of so many bytes, at a multiple of 64, do for a function? 0, or -1 after the handler was told. */\n"
    "TVMS_INLINE int32_t tvms_workspace_check(const char *name, const void *workspace, int64_t bytes, int64_t needed) {\n"
    "  char text[192];\n"
    "  if (needed == 0 || (needed > 0 && workspace && bytes >= needed && (uintptr_t)workspace % 64 == 0)) return 0;\n"
    "  if (needed < 0)\n"
    "    sprintf(text, \"%.96s: a size is negative\", name);\n"
    "  else if (workspace && bytes >= needed)\n"
    "    sprintf(text, \"%.96s: the workspace is not at a multiple of 64\", name);\n"
    "  else\n"
    "    sprintf(text, \"%.96s: a workspace of %.0f bytes is needed, and there are %.0f\", name, (double)needed, (double)(workspace ? bytes : 0));\n"
    "  if (__TVMFFIErrorSetRaisedFromCStr) __TVMFFIErrorSetRaisedFromCStr(\"ValueError\", text);\n"
    "  return -1;\n"
    "}\n"
    "#endif\n"
    "\n";

// An object is a TVMFFIAny, and what it holds begins with a TVMFFIObject (runtime/abi.h).
static const char objects[] =
    "#ifndef TVMS_HEADER_OBJECTS\n"
    "#define TVMS_HEADER_OBJECTS\n"
    "/* An object: a cache, a tensor of a size that only the run tells, or what else a function gives.\n"
    " * All zero is none. An argument stays the caller's; a result is put where an object is or\n"
    " * none, which is dropped. Whoever has one drops it in the end. */\n"
    "typedef struct {\n"
    "  int32_t kind;  /* 0: none; 1, 2: `value` is a number; 3: the bits of a double; 68: a function; 70: a tensor */\n"
    "  uint32_t zero;\n"
    "  int64_t value;\n"
    "} tvms_object;\n"
    "\n"
    "typedef struct {\n"
    "  uint64_t references;\n"
    "  int32_t kind, zero;\n"
    "  void (*deleter)(void *object, int flags);\n"
    "  void *data;\n"
    "  int32_t device[2], rank;\n"
    "  uint8_t type[4];\n"
    "  int64_t *sizes;\n"
    "} tvms_object_content;\n"
    "\n"
    "TVMS_INLINE tvms_object_content *tvms_object_at(const tvms_object *object) {\n"
    "  return (tvms_object_content *)(intptr_t)object->value;\n"
    "}\n"
    "TVMS_INLINE void tvms_object_drop(tvms_object *object) {\n"
    "  tvms_object_content *held = object->kind >= 64 ? tvms_object_at(object) : 0;\n"
    "  uint64_t weak = (uint64_t)1 << 32, old;\n"
    "  object->kind = 0;\n"
    "  object->value = 0;\n"
    "  if (!held) return;\n"
    "  old = __atomic_fetch_sub(&held->references, 1, __ATOMIC_ACQ_REL);\n"
    "  if ((uint32_t)old != 1 || !held->deleter) return;\n"
    "  held->deleter(held, old == weak + 1 ? 3 : 1);\n"
    "  if (old == weak + 1) return;\n"
    "  if (__atomic_fetch_sub(&held->references, weak, __ATOMIC_ACQ_REL) == weak) held->deleter(held, 2);\n"
    "}\n"
    "/* Of an object that is a tensor: its elements, number of dimensions, and sizes. */\n"
    "TVMS_INLINE void *tvms_object_data(const tvms_object *object) { return tvms_object_at(object)->data; }\n"
    "TVMS_INLINE int32_t tvms_object_rank(const tvms_object *object) { return tvms_object_at(object)->rank; }\n"
    "TVMS_INLINE int64_t tvms_object_size(const tvms_object *object, int32_t axis) {\n"
    "  return tvms_object_at(object)->sizes[axis];\n"
    "}\n"
    "/* A function as an object, kind 68. Arguments stay the caller's; a tensor among them may also be of kind 7, a\n"
    " * pointer to what `data` begins. *result comes in as none, and is the caller's. -1 after the handler was told. */\n"
    "typedef int32_t tvms_function(void *self, const tvms_object *arguments, int32_t count, tvms_object *result);\n"
    "typedef struct {\n"
    "  uint64_t references;\n"
    "  int32_t kind, zero;\n"
    "  void (*deleter)(void *object, int flags);\n"
    "  tvms_function *call;\n"
    "  void *none;\n"
    "  void *state;  /* for `call`, whose `self` is this struct */\n"
    "} tvms_function_content;\n"
    "TVMS_INLINE int32_t tvms_object_call(const tvms_object *function, const tvms_object *arguments, int32_t count, tvms_object *result) {\n"
    "  tvms_function_content *content = (tvms_function_content *)(intptr_t)function->value;\n"
    "  return content->call(content, arguments, count, result);\n"
    "}\n"
    "/* A function of C. The struct is the caller's and must be there as long as anybody has the object. */\n"
    "TVMS_INLINE tvms_object tvms_object_of_function(tvms_function_content *content, tvms_function *call, void *state) {\n"
    "  tvms_object object;\n"
    "  content->references = ((uint64_t)1 << 32) + 1;\n"
    "  content->kind = object.kind = 68;\n"
    "  content->zero = 0;\n"
    "  content->deleter = 0;\n"
    "  content->call = call;\n"
    "  content->none = 0;\n"
    "  content->state = state;\n"
    "  object.zero = 0;\n"
    "  object.value = (intptr_t)content;\n"
    "  return object;\n"
    "}\n"
    "/* One owner more, as a function needs whose result is one of its arguments. */\n"
    "TVMS_INLINE tvms_object tvms_object_keep(const tvms_object *object) {\n"
    "  if (object->kind >= 64) __atomic_fetch_add(&tvms_object_at(object)->references, 1, __ATOMIC_RELAXED);\n"
    "  return *object;\n"
    "}\n"
    "#endif\n"
    "\n";

static bool has_objects(const tvms_module *module) {
  tvms_contract contract;
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (!tvms_plain_serves(&module->members[i], &contract)) continue;
    bool taken = contract.input_text && strchr(contract.input_text, 'o');
    if (taken || strchr(contract.result_text, 'o')) return true;
  }
  return false;
}

void tvms_build_header(tvms_context *context, const tvms_module *module,
                       const char *prefix, tvms_strbuf *out) {
  tvms_strbuf_printf(out,
                     "/* Functions of %s, made by tvms.\n *\n%s"
                     "#ifndef TVMS_MODEL_%s\n#define TVMS_MODEL_%s\n\n%s",
                     prefix, about, prefix, prefix, before);
  if (has_objects(module)) tvms_strbuf_puts(out, objects);
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    header h = {.context = context, .member = member, .prefix = prefix, .out = out};
    if (!tvms_plain_serves(member, &h.contract)) continue;
    h.function = tvms_as_prim_func(member->function);
    h.names = tvms_arena_array(&context->arena, const char *, member->unit->next_id);
    tvms_params_collect(&context->memory, h.function, &h.sizes);
    add_function(&h, tvms_plain_name(module, member, prefix));
    tvms_vec_fini(&context->memory, &h.sizes);
    tvms_vec_fini(&context->memory, &h.used);
  }
  tvms_strbuf_puts(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
