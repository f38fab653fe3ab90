// Buffers: declarations with the attributes that must be said.
//
// A declaration says what is not TVM's default, in the order of its parameters. What a
// buffer brings with it is defined before it is used: a variable of its shape that
// nothing else mentions becomes part of the declaration, any other is bound in a line of
// its own above it. See printer/alias.c for buffers over the data of others.
#include "printer/buffer.h"

#include "ir/equal.h"
#include "printer/access.h"
#include "printer/alias.h"
#include "printer/expr.h"
#include "printer/names.h"
#include "printer/plan.h"
#include "printer/state.h"
#include "printer/text.h"
#include "printer/tile.h"

enum { DEFAULT_ALIGN = 64 };

bool tvms_print_same(const tvms_node *a, const tvms_node *b) {
  return a == b || (a && b && tvms_node_same_expr(a, b));
}

tvms_sym tvms_print_scope_of(const tvms_node *buffer) {
  const tvms_node *data = tvms_as_buffer(buffer)->data;
  if (!data || !data->sinfo || data->sinfo->kind != TVMS_NODE_SINFO_POINTER) return 0;
  return tvms_as_sinfo_pointer(data->sinfo)->scope;
}

// ---- Layouts ----

// The same number of whatever width, or the same expression.
static bool same_factor(const tvms_node *a, const tvms_node *b) {
  if (!tvms_node_is_int_imm(a) || !tvms_node_is_int_imm(b))
    return tvms_print_same(a, b);
  return tvms_as_int_imm(a)->value == tvms_as_int_imm(b)->value;
}

// Whether `stride` is what `inner` times `extent` folds to.
static bool is_product(const tvms_node *stride, const tvms_node *inner,
                       const tvms_node *extent) {
  if (tvms_node_is_int(inner, 1)) return tvms_print_same(stride, extent);
  if (tvms_node_is_int(extent, 1)) return tvms_print_same(stride, inner);
  if (tvms_node_is_int_imm(inner) && tvms_node_is_int_imm(extent)) {
    return tvms_node_is_int(stride, tvms_as_int_imm(inner)->value
                                        * tvms_as_int_imm(extent)->value);
  }
  return stride && stride->kind == TVMS_NODE_MUL
         && same_factor(tvms_as_binary(stride)->a, inner)
         && tvms_print_same(tvms_as_binary(stride)->b, extent);
}

bool tvms_print_is_row_major(const tvms_printer *p, const tvms_node *layout,
                             tvms_list shape) {
  if (layout->kind != TVMS_NODE_TILE_LAYOUT) return false;
  const tvms_tile_layout *tile = tvms_as_tile_layout(layout);
  if (tile->replica.len || tile->offset.len || tile->shard.len != shape.len)
    return false;
  const tvms_layout_iter *inner = NULL;
  for (uint32_t i = tile->shard.len; i > 0; i--) {
    const tvms_layout_iter *iter = tvms_as_layout_iter(tile->shard.items[i - 1]);
    const tvms_name *axis = tvms_interner_name(&p->context->names, iter->axis);
    if (strcmp(axis->text, "m") != 0
        || !tvms_print_same(iter->extent, shape.items[i - 1]))
      return false;
    bool dense = inner ? is_product(iter->stride, inner->stride, inner->extent)
                       : tvms_node_is_int(iter->stride, 1);
    if (!dense) return false;
    inner = iter;
  }
  return true;
}

print_layout tvms_print_layout_of(const tvms_printer *p, const tvms_node *buffer) {
  const tvms_node *layout = tvms_as_buffer(buffer)->layout;
  if (!layout) return p->s_tir ? LAYOUT_NONE : LAYOUT_DEFAULT;
  if (layout->kind == TVMS_NODE_OBJECT_NONE) return LAYOUT_NONE;
  return tvms_print_is_row_major(p, layout, tvms_as_buffer(buffer)->shape)
             ? LAYOUT_DEFAULT
             : LAYOUT_OTHER;
}

bool tvms_print_is_scalar(const tvms_printer *p, const tvms_node *node,
                          bool allocated) {
  if (!tvms_release_has(p->dialect, TVMS_FACT_assignments_make_scalars)
      || node->kind != TVMS_NODE_BUFFER)
    return false;
  const tvms_buffer *buffer = tvms_as_buffer(node);
  // Pointers are scalars in 0.25 only.
  if (tvms_dtype_is_handle(buffer->element)
      && !tvms_release_has(p->dialect, TVMS_FACT_pointers_become_scalars)) {
    return false;
  }
  return buffer->shape.len == 1 && tvms_node_is_int(buffer->shape.items[0], 1)
         && buffer->strides.len == 0 && buffer->align == DEFAULT_ALIGN
         && buffer->offset_factor == 1 && buffer->allocated_addr.len == 0
         && (!allocated || !buffer->elem_offset
             || tvms_node_is_int(buffer->elem_offset, 0))
         && tvms_print_layout_of(p, node) == LAYOUT_DEFAULT;
}

// ---- Uses ----

// Adds `A = T.Buffer(…)` where TVM would put it.
static void define_here(tvms_printer *p, const tvms_node *buffer) {
  uint32_t frame = tvms_print_lowest_frame(p, buffer);
  if (frame == UINT32_MAX) return;
  tvms_sym name = tvms_print_define(p, buffer, frame);
  print_added line;
  tvms_print_begin_line(p, &line, frame);
  tvms_print_sym(p, name);
  PUT(p, " = ");
  // From 0.25 on a buffer over the data of another one, as classic programs have it, must
  // be declared by a statement.
  bool was_classic =
      p->module
      && tvms_release_has(p->module->dialect, TVMS_FACT_buffers_need_no_declaration);
  bool borrows = was_classic
                 && !tvms_release_has(p->dialect, TVMS_FACT_buffers_need_no_declaration)
                 && tvms_as_buffer(buffer)->data
                 && tvms_print_defined(p, tvms_as_buffer(buffer)->data);
  if (!borrows)
    tvms_print_buffer_decl(p, buffer, "Buffer", NULL, frame,
                           tvms_release_has(p->dialect, TVMS_FACT_buffers_are_variables)
                               ? DEFINES_FREELY
                               : DEFINES_DATA);
  else if (!tvms_print_alias(p, buffer, NULL))
    tvms_print_buffer_decl(p, buffer, "decl_buffer", NULL, frame, DEFINES_NOTHING);
  tvms_print_end_line(p, &line);
}

void tvms_print_scalar_name(tvms_printer *p, const tvms_node *buffer) {
  if (!tvms_print_defined(p, buffer) && !p->quiet) define_here(p, buffer);
  const print_name *name = tvms_print_name_of(p, buffer);
  tvms_sym sym = name->how == NAMED_TEXT ? name->name : tvms_as_buffer(buffer)->name;
  if (sym)
    tvms_print_sym(p, sym);
  else
    PUT(p, "buffer");
}

void tvms_print_buffer(tvms_printer *p, const tvms_node *buffer) {
  if (buffer->kind != TVMS_NODE_BUFFER) {
    tvms_print_any(p, buffer);
    return;
  }
  tvms_print_scalar_name(p, buffer);
  if (!tvms_print_is_scalar(p, buffer, true)) return;
  tvms_print_put(p, tvms_release_has(p->dialect, TVMS_FACT_scalars_name_source)
                        ? ".source"
                        : ".buffer");
}

// ---- Declarations ----

// A declaration in the making.
typedef struct {
  tvms_printer *p;
  const tvms_node *node;
  const tvms_buffer *buffer;
  uint32_t frame;
  print_definitions definitions;
  bool annotation;                        // of a parameter
  const tvms_node *TVMS_NULLABLE source;  // of DECL_BUFFER
  TVMS_VEC(const tvms_node *) fresh;      // variables that get a line of their own
} decl;

typedef struct {
  const tvms_node *var;
  uint32_t count;
} occurrences;

static bool count_var(void *self, const tvms_node *var) {
  occurrences *found = self;
  found->count += var == found->var;
  return true;
}

// How often the buffer's attributes mention `var`.
static uint32_t occurs(const decl *d, const tvms_node *var) {
  occurrences found = {var, 0};
  tvms_print_each_var(d->p, d->buffer->elem_offset, count_var, &found);
  tvms_print_each_var(d->p, d->buffer->data, count_var, &found);
  for (uint32_t i = 0; i < d->buffer->strides.len; i++) {
    tvms_print_each_var(d->p, d->buffer->strides.items[i], count_var, &found);
  }
  for (uint32_t i = 0; i < d->buffer->shape.len; i++) {
    tvms_print_each_var(d->p, d->buffer->shape.items[i], count_var, &found);
  }
  return found.count;
}

static bool is_new(const decl *d, const tvms_node *node) {
  return node && node->kind == TVMS_NODE_VAR && !tvms_print_defined(d->p, node);
}

static void define_apart(decl *d, const tvms_node *var) {
  tvms_print_define(d->p, var, d->frame);
  tvms_vec_push(d->p->memory, &d->fresh, var);
}

// A new variable that nothing else in the buffer mentions becomes a part of it.
static bool define_inline(decl *d, const tvms_node *var, print_naming how,
                          uint32_t index) {
  if (occurs(d, var) != 1) {
    define_apart(d, var);
    return false;
  }
  tvms_print_define_part(d->p, var, d->frame, how, d->node, index);
  return true;
}

static bool sees_new(void *self, const tvms_node *var) {
  tvms_printer *p = self;
  const print_name *name = tvms_print_name_of(p, var);
  return name->how != NAMED_NOT && !name->signature;
}

static bool unmark(void *self, const tvms_node *var) {
  tvms_print_name_of(self, var)->signature = false;
  return true;
}

// In a signature the first expression that sees a new variable is quoted; one that
// combines type variables always is (see function_tir.c).
static bool wants_quotes(decl *d, const tvms_node *dim) {
  if (!d->annotation || dim->kind == TVMS_NODE_INT_IMM) return false;
  tvms_printer *p = d->p;
  bool bare = dim->kind == TVMS_NODE_VAR;
  if (!tvms_print_each_var(p, dim, sees_new, p)) return true;
  return !bare && tvms_print_mentions_type_var(p, dim);
}

static void print_shape(decl *d) {
  tvms_printer *p = d->p;
  PUT(p, "(");
  for (uint32_t i = 0; i < d->buffer->shape.len; i++) {
    const tvms_node *dim = d->buffer->shape.items[i];
    if (i) PUT(p, ", ");
    bool quotes = wants_quotes(d, dim);
    if (is_new(d, dim)) define_apart(d, dim);
    size_t from = p->out->len;
    tvms_print_any(p, dim);
    if (quotes) tvms_print_quote_since(p, from);
    if (d->annotation) tvms_print_each_var(p, dim, unmark, p);
  }
  tvms_print_put(p, d->buffer->shape.len == 1 ? ",)" : ")");
}

static void print_element(const decl *d) {
  tvms_dtype element = d->buffer->element;
  if (tvms_dtype_is_handle(element)
      && !tvms_release_has(d->p->dialect, TVMS_FACT_buffers_hold_pointers)) {
    tvms_print_cannot(d->p, d->node, "a buffer of handles");
  }
  tvms_print_quoted_dtype(d->p, element);
}

// The data of a buffer that has a source: its own pointer, which stands for another one.
static void print_source(decl *d) {
  tvms_printer *p = d->p;
  const tvms_node *data = d->buffer->data;
  if (is_new(d, d->source)) define_apart(d, d->source);
  PUT(p, ", data=");
  tvms_print_any(p, d->source);
  if (is_new(d, data)) define_inline(d, data, NAMED_DATA, 0);
}

static void print_data(decl *d) {
  tvms_printer *p = d->p;
  const tvms_node *data = d->buffer->data;
  const char *scope = tvms_symbol_text(p->context, tvms_print_scope_of(d->node));
  if (!data) return;
  bool tmem = tvms_release_has(p->dialect, TVMS_FACT_tile_programs_exist)
              && strcmp(scope, "tmem") == 0;
  if (d->source && !tmem) {
    print_source(d);
    return;
  }
  if (d->definitions == DEFINES_FREELY && !is_new(d, data)) return;
  bool inlined = false;
  if (is_new(d, data)) {
    // From 0.26 on a buffer without a source simply has its own data.
    bool own = d->definitions >= DEFINES_DATA
               || tvms_release_has(p->dialect, TVMS_FACT_buffers_are_variables) || tmem;
    if (own)
      inlined = define_inline(d, data, NAMED_DATA, 0);
    else
      define_apart(d, data);
  }
  if (inlined || tmem) return;
  PUT(p, ", data=");
  tvms_print_any(p, data);
}

static void print_strides(decl *d) {
  tvms_printer *p = d->p;
  if (d->buffer->strides.len == 0) return;
  PUT(p, ", strides=(");
  for (uint32_t i = 0; i < d->buffer->strides.len; i++) {
    const tvms_node *stride = d->buffer->strides.items[i];
    if (i) PUT(p, ", ");
    if (is_new(d, stride) && define_inline(d, stride, NAMED_STRIDE, i)) {
      const tvms_name *name =
          tvms_interner_name(&p->context->names, tvms_print_hint(p, stride));
      tvms_print_quoted(p, name->text, name->len);
    } else {
      tvms_print_any(p, stride);
    }
  }
  tvms_print_put(p, d->buffer->strides.len == 1 ? ",)" : ")");
}

static tvms_dtype index_dtype(const tvms_buffer *buffer) {
  return buffer->shape.len ? buffer->shape.items[0]->dtype : TVMS_DTYPE(INT, 64);
}

// Returns true if the offset is a part of the buffer, so that its factor must be said.
static bool print_offset(decl *d) {
  tvms_printer *p = d->p;
  const tvms_node *offset = d->buffer->elem_offset;
  if (!offset) return false;
  if (is_new(d, offset)) {
    define_inline(d, offset, NAMED_OFFSET, 0);
    return true;
  }
  bool zero = tvms_node_is_int(offset, 0);
  bool usual = !tvms_release_has(p->dialect, TVMS_FACT_offsets_have_index_dtype)
               || d->buffer->shape.len == 0
               || tvms_dtype_same(offset->dtype, index_dtype(d->buffer));
  if (zero && usual) return false;
  PUT(p, ", elem_offset=");
  tvms_print_any(p, offset);
  return false;
}

static void print_int_keyword(tvms_printer *p, const char *name, int64_t value) {
  PUT(p, ", ");
  tvms_print_put(p, name);
  PUT(p, "=");
  tvms_print_int(p, value);
}

static void print_classic_rest(decl *d) {
  tvms_printer *p = d->p;
  if (!tvms_release_has(p->dialect, TVMS_FACT_buffers_have_separators)) {
    if (d->buffer->buffer_type) tvms_print_cannot(p, d->node, "buffer_type");
    if (d->buffer->axis_separators.len)
      tvms_print_cannot(p, d->node, "axis_separators");
    return;
  }
  if (d->buffer->buffer_type) PUT(p, ", buffer_type=\"auto\"");
  if (d->buffer->axis_separators.len) {
    PUT(p, ", axis_separators=[");
    tvms_print_list(p, d->buffer->axis_separators);
    PUT(p, "]");
  }
}

static void print_layout_keyword(decl *d) {
  tvms_printer *p = d->p;
  print_layout layout = tvms_print_layout_of(p, d->node);
  if (!tvms_release_has(p->dialect, TVMS_FACT_buffers_have_layouts)) {
    if (layout == LAYOUT_OTHER) tvms_print_cannot(p, d->node, "the layout of a buffer");
  } else if (layout == LAYOUT_OTHER) {
    PUT(p, ", layout=");
    tvms_print_layout_value(p, d->buffer->layout);
  } else if (layout == LAYOUT_NONE && !p->s_tir) {
    PUT(p, ", layout=None");
  }
}

static void print_address(decl *d) {
  tvms_printer *p = d->p;
  tvms_list address = d->buffer->allocated_addr;
  if (address.len == 0) return;
  if (!tvms_release_has(p->dialect, TVMS_FACT_buffers_have_layouts)) {
    tvms_print_cannot(p, d->node, "allocated_addr");
    return;
  }
  PUT(p, ", allocated_addr=");
  if (address.len > 1) {
    PUT(p, "[");
    tvms_print_list(p, address);
    PUT(p, "]");
  } else if (address.items[0]->kind == TVMS_NODE_BUFFER_LOAD
             && tvms_release_has(p->dialect, TVMS_FACT_scalar_addresses_have_index)) {
    // With its index, which the name of a scalar buffer would leave out.
    const tvms_buffer_load *load = tvms_as_buffer_load(address.items[0]);
    tvms_print_scalar_name(p, load->buffer);
    tvms_print_indices(p, load->indices);
  } else {
    tvms_print_any(p, address.items[0]);
  }
}

// `n, m = T.int32(), T.int32()` for the variables that the buffer brings with it.
static void print_fresh(decl *d) {
  tvms_printer *p = d->p;
  if (d->fresh.len == 0) return;
  print_added line;
  tvms_print_begin_line(p, &line, d->frame);
  for (uint32_t i = 0; i < d->fresh.len; i++) {
    if (i) PUT(p, ", ");
    tvms_print_any(p, d->fresh.items[i]);
  }
  PUT(p, " = ");
  for (uint32_t i = 0; i < d->fresh.len; i++) {
    if (i) PUT(p, ", ");
    tvms_print_var_creation(p, d->fresh.items[i]);
  }
  tvms_print_end_line(p, &line);
  tvms_vec_fini(p->memory, &d->fresh);
}

// TVM's default; a dtype that is not said is this one.
static bool is_float32(tvms_dtype d) {
  return d.code == TVMS_FLOAT && d.bits == 32 && d.lanes == 1;
}

// Everything after the leading arguments, from the shape to the closing parenthesis.
// `hide_scope`: the name of the callee says the scope.
static void print_attributes(decl *d, bool hide_scope) {
  tvms_printer *p = d->p;
  print_shape(d);
  if (d->annotation || !is_float32(d->buffer->element)) {
    PUT(p, ", ");
    print_element(d);
  }
  print_data(d);
  print_strides(d);
  bool factor = print_offset(d);
  tvms_sym scope = tvms_print_scope_of(d->node);
  const tvms_name *scope_name = tvms_interner_name(&p->context->names, scope);
  bool named = scope_name->len && strcmp(scope_name->text, "global") != 0;
  if (scope && !hide_scope && named) {
    PUT(p, ", scope=");
    tvms_print_quoted(p, scope_name->text, scope_name->len);
  }
  if (d->buffer->align != DEFAULT_ALIGN)
    print_int_keyword(p, "align", d->buffer->align);
  if (factor || d->buffer->offset_factor != 1) {
    print_int_keyword(p, "offset_factor", d->buffer->offset_factor);
  }
  print_classic_rest(d);
  print_layout_keyword(d);
  print_address(d);
  PUT(p, ")");
  print_fresh(d);
}

// Declarations of scalar buffers, which have a short form of their own.
static bool print_scalar_decl(decl *d, const char *method) {
  tvms_printer *p = d->p;
  if (strcmp(method, "decl_buffer") != 0 || !tvms_print_is_scalar(p, d->node, false)) {
    return false;
  }
  // The attributes are visited for their definitions, and then said differently.
  tvms_strbuf unused;
  tvms_strbuf_init(&unused, p->memory);
  tvms_strbuf *before = tvms_print_redirect(p, &unused);
  bool own_data = is_new(d, d->buffer->data) && !d->source;
  print_attributes(d, false);
  tvms_print_redirect(p, before);
  tvms_strbuf_fini(&unused);
  tvms_print_t(p, "decl_scalar");
  PUT(p, "(");
  if (!tvms_release_has(p->dialect, TVMS_FACT_declarations_take_types)) {
    print_element(d);
  } else {
    tvms_print_t(p, "");
    tvms_print_dtype(p, d->buffer->element);
  }
  if (!own_data || !tvms_release_has(p->dialect, TVMS_FACT_buffers_are_variables)) {
    PUT(p, ", data=");
    tvms_print_any(p, d->source ? d->source : d->buffer->data);
  }
  PUT(p, ", elem_offset=");
  tvms_print_any(p, d->buffer->elem_offset);
  tvms_sym scope = tvms_print_scope_of(d->node);
  PUT(p, ", scope=\"");
  tvms_print_put(p, scope ? tvms_symbol_text(p->context, scope) : "global");
  PUT(p, "\")");
  return true;
}

void tvms_print_buffer_decl(tvms_printer *p, const tvms_node *buffer,
                            const char *method, const tvms_strbuf *before,
                            uint32_t frame, print_definitions definitions) {
  decl d = {p,         buffer, tvms_as_buffer(buffer), frame, definitions, false,
            p->source, {0}};
  p->source = NULL;
  if (print_scalar_decl(&d, method)) return;
  bool hide_scope = false;
  if (strcmp(method, "alloc_buffer") == 0
      && tvms_release_has(p->dialect, TVMS_FACT_allocations_name_scope)) {
    const char *scope = tvms_symbol_text(p->context, tvms_print_scope_of(buffer));
    if (strcmp(scope, "shared") == 0) method = "alloc_shared";
    if (strcmp(scope, "local") == 0) method = "alloc_local";
    hide_scope = strcmp(method, "alloc_buffer") != 0;
  }
  tvms_print_t(p, method);
  PUT(p, "(");
  if (before) {
    tvms_strbuf_add(p->out, before->text, before->len);
    PUT(p, ", ");
  }
  print_attributes(&d, hide_scope);
}

void tvms_print_buffer_type(tvms_printer *p, const tvms_node *buffer) {
  uint32_t frame = tvms_print_top_index(p);
  decl d = {p, buffer, tvms_as_buffer(buffer), frame, DEFINES_FREELY, true, NULL, {0}};
  tvms_print_t(p, "Buffer");
  PUT(p, "(");
  print_attributes(&d, false);
}

void tvms_print_buffer_annotation(tvms_printer *p, const tvms_node *buffer,
                                  uint32_t frame) {
  decl d = {p, buffer, tvms_as_buffer(buffer), frame, DEFINES_ALL, true, NULL, {0}};
  tvms_print_t(p, "Buffer");
  PUT(p, "(");
  if (tvms_release_has(p->dialect, TVMS_FACT_signatures_hold_buffers)) {
    print_attributes(&d, false);
    return;
  }
  // Up to 0.25 a signature says shape and dtype only, whatever else there is.
  d.definitions = DEFINES_DATA;
  print_shape(&d);
  PUT(p, ", ");
  print_element(&d);
  PUT(p, ")");
  if (is_new(&d, d.buffer->data)) define_inline(&d, d.buffer->data, NAMED_DATA, 0);
}
