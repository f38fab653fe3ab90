// MultiplyQuantized: products and convolutions of what was bytes multiply the bytes.
//
// Before: lv = R.dequantize(x, sx, zx); lv1 = R.dequantize(w, sw, R.const(0, "int8")); gv = R.matmul(lv, lv1)    with x of uint8, w of int8
// After:  lv = R.matmul(x, w, out_dtype="int32"); lv1 = R.sum(R.astype(w, "int32"), axis=[0], keepdims=True)
//         gv = R.astype(lv - R.astype(zx, "int32") * lv1, "float32") * (sx * sw)
//
// Before: lv = R.subtract(R.astype(x, "int32"), z); lv1 = R.astype(w, "int32"); gv = R.matmul(lv, lv1)
// After:  the same without scales
//
// Models that are quantized are exported so: a quantize and a dequantize around each operator, or integers. ScheduleCPU multiplies four
// bytes at a time on targets that can. Sums are those of the integers, so that results of floats are rounded once, and not in each
// step. What the zeros add is that many times the sum of the other operand, which of constants is computed beforehand. Of a convolution
// the channels come first, and are three or more, the zero of the weight is 0 (of uint8 128), and an image that is padded is so with its zero, a constant
// then; a matrix may be turned. Scales of the weight may be one for each output. TVM has no such pass.
#include "ir/object.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/graph/simplifier.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

typedef tvms_relax_simplifier simplifier;

enum { IMAGE = 4, BYTE = 8, MIDDLE = 128 };

// An operand that was bytes.
typedef struct {
  tvms_node *bytes;
  tvms_node *TVMS_NULLABLE scale;         // NULL: of integers there is none
  tvms_node *TVMS_NULLABLE zero;          // NULL: it is 0
  int64_t axis;                           // of the scale
  const tvms_call *TVMS_NULLABLE turned;  // the permute_dims behind
} factor;

typedef struct {
  simplifier *s;
  tvms_relax_mutator *m;
  const tvms_call *call;
  factor x, w;
} product;

static const tvms_dtype int32 = {TVMS_INT, 32, 1}, int8 = {TVMS_INT, BYTE, 1},
                        float32 = {TVMS_FLOAT, 32, 1};

// ---- Operands ----

static bool is_bytes(const tvms_node *value) {
  if (!value->sinfo || !tvms_sinfo_is_tensor(value->sinfo)) return false;
  tvms_dtype dtype = value->sinfo->dtype;
  return dtype.bits == BYTE && (dtype.code == TVMS_INT || dtype.code == TVMS_UINT);
}

static int64_t ndim_of(const tvms_node *value) {
  bool tensor = value->sinfo && tvms_sinfo_is_tensor(value->sinfo);
  return tensor ? tvms_as_sinfo_tensor(value->sinfo)->ndim : -1;
}

static bool has_dtype(const tvms_node *value, tvms_dtype dtype) {
  return value->sinfo && tvms_dtype_same(value->sinfo->dtype, dtype);
}

static const tvms_constant *TVMS_NULLABLE constant_of(simplifier *s, tvms_node *value) {
  value = tvms_relax_definitions_unwrap(&s->definitions, value);
  bool known = value->kind == TVMS_NODE_CONSTANT && !tvms_as_constant(value)->omitted;
  return known ? tvms_as_constant(value) : NULL;
}

static bool is_zero(simplifier *s, tvms_node *value) {
  const tvms_constant *c = constant_of(s, value);
  if (!c) return false;
  for (size_t i = 0; i < c->data.len; i++) {
    if (c->data.text[i]) return false;
  }
  return true;
}

// The one byte that a constant is.
static bool byte_of(simplifier *s, tvms_node *value, int64_t *byte) {
  const tvms_constant *c = constant_of(s, value);
  if (!c || c->data.len != 1 || !is_bytes(value)) return false;
  unsigned char bits = (unsigned char)c->data.text[0];
  *byte = value->sinfo->dtype.code == TVMS_INT ? (signed char)bits : bits;
  return true;
}

static bool read_dequantized(simplifier *s, const tvms_node *value, factor *f) {
  const tvms_call *call =
      tvms_relax_definitions_call(&s->definitions, value, TVMS_R_dequantize);
  if (!call || !has_dtype(value, float32) || !is_bytes(call->args.items[0])
      || !has_dtype(call->args.items[1], float32))
    return false;
  tvms_node *zero = call->args.items[2];
  *f = (factor){.bytes = call->args.items[0],
                .scale = call->args.items[1],
                .zero = is_zero(s, zero) ? NULL : zero,
                .axis = tvms_attr_int(call, TVMS_ATTR_quantize_axis, -1)};
  return true;
}

// int32(bytes), or int32(bytes) - zero
static bool read_integers(simplifier *s, const tvms_node *value, factor *f) {
  const tvms_call *minus =
      tvms_relax_definitions_call(&s->definitions, value, TVMS_R_subtract);
  if (minus) value = minus->args.items[0];
  const tvms_call *cast =
      tvms_relax_definitions_call(&s->definitions, value, TVMS_R_astype);
  if (!cast || !has_dtype(value, int32) || !is_bytes(cast->args.items[0])) return false;
  *f = (factor){.bytes = cast->args.items[0]};
  if (minus && !is_zero(s, minus->args.items[1])) f->zero = minus->args.items[1];
  return true;
}

// An operand, also behind a permute_dims.
static bool read_factor(simplifier *s, const tvms_node *value, factor *f) {
  const tvms_call *turned =
      tvms_relax_definitions_call(&s->definitions, value, TVMS_R_permute_dims);
  if (turned) value = turned->args.items[0];
  if (!read_dequantized(s, value, f) && !read_integers(s, value, f)) return false;
  f->turned = turned;
  bool single = !f->zero || ndim_of(f->zero) == 0;
  return single;
}

static bool has_one_scale(const factor *f) {
  return !f->scale || ndim_of(f->scale) == 0;
}

// ---- What takes their place ----

static tvms_node *now(product *p, tvms_node *value) {
  return tvms_rewrite(&p->m->rewriter, value);
}

static tvms_node *as(product *p, tvms_node *value, tvms_dtype dtype) {
  if (has_dtype(value, dtype)) return value;
  tvms_node *attr = tvms_object_dtype_new(p->m->unit, dtype, TVMS_NO_SPAN);
  return tvms_relax_op_with(p->m, TVMS_R_astype, &value, 1, &attr);
}

static tvms_node *binary(product *p, tvms_opcode opcode, tvms_node *a, tvms_node *b) {
  return tvms_relax_op_binary(p->m, opcode, a, b);
}

static tvms_node *bytes_of(product *p, const factor *f) {
  tvms_node *bytes = now(p, f->bytes);
  return f->turned ? tvms_relax_recall(p->m, &f->turned->head, &bytes) : bytes;
}

// `sum` without `zero` times what the other operand adds up to.
static tvms_node *without(product *p, tvms_node *sum, tvms_node *zero,
                          tvms_node *others) {
  zero = as(p, now(p, zero), int32);
  return binary(p, TVMS_R_subtract, sum, binary(p, TVMS_R_multiply, others, zero));
}

// The sum as the float that it stands for; `scale` is that of the weight.
static tvms_node *scaled(product *p, tvms_node *sum, tvms_node *scale) {
  tvms_node *both = binary(p, TVMS_R_multiply, now(p, p->x.scale), scale);
  return binary(p, TVMS_R_multiply, as(p, sum, float32), both);
}

// ---- Products of matrices ----

static bool fits_matmul(const product *p) {
  int64_t x = ndim_of(p->x.bytes), w = ndim_of(p->w.bytes);
  if (x < 2 || w < 2 || !has_one_scale(&p->x)) return false;
  if (has_one_scale(&p->w)) return true;
  // One for each column, which a turned matrix has as its rows.
  int64_t axis = p->w.axis < 0 ? p->w.axis + w : p->w.axis;
  bool turned = p->w.turned != NULL;
  if (turned && !tvms_relax_op_is_transpose(&p->w.turned->head)) return false;
  return w == 2 && ndim_of(p->w.scale) == 1 && axis == (turned ? 0 : 1);
}

static tvms_node *sum_along(product *p, tvms_node *bytes, int64_t axis) {
  return tvms_relax_op_reduce(p->m, TVMS_R_sum, as(p, bytes, int32), &axis, 1, true);
}

static tvms_node *TVMS_NULLABLE matmul(product *p) {
  if (!fits_matmul(p)) return NULL;
  tvms_node *x = bytes_of(p, &p->x), *w = bytes_of(p, &p->w);
  tvms_node *sum = tvms_relax_op_matmul(p->m, x, w, int32);
  if (p->x.zero) sum = without(p, sum, p->x.zero, sum_along(p, w, -2));
  if (p->w.zero) {
    tvms_node *rows = sum_along(p, x, -1);
    if (p->x.zero) {
      tvms_list dims;
      int64_t steps;
      if (!tvms_sinfo_tensor_dims(x->sinfo, &dims)
          || !tvms_sinfo_dim_int(dims.items[dims.len - 1], &steps))
        return NULL;
      tvms_node *count = tvms_relax_op_scalar(p->m, (double)steps, int32);
      rows = without(p, rows, p->x.zero, count);
    }
    sum = without(p, sum, p->w.zero, rows);
  }
  return p->x.scale ? scaled(p, sum, now(p, p->w.scale)) : sum;
}

// ---- Convolutions ----

static bool layouts_are_known(const tvms_call *call) {
  tvms_bytes result = tvms_attr_text(call, TVMS_ATTR_conv2d_out_layout);
  return tvms_bytes_is(tvms_attr_text(call, TVMS_ATTR_conv2d_data_layout), "NCHW")
         && tvms_bytes_is(tvms_attr_text(call, TVMS_ATTR_conv2d_kernel_layout), "OIHW")
         && (result.len == 0 || tvms_bytes_is(result, "NCHW"));
}

// Are there channels enough to be taken four at a time?
static bool has_channels(const product *p) {
  enum { FEWEST = 3 };
  tvms_list dims;
  int64_t channels;
  return tvms_sinfo_tensor_dims(p->w.bytes->sinfo, &dims) && dims.len == IMAGE
         && tvms_sinfo_dim_int(dims.items[1], &channels) && channels >= FEWEST;
}

// The weight with 0 as its zero; NULL: it is another number.
static tvms_node *TVMS_NULLABLE centred_weight(product *p) {
  tvms_node *w = now(p, p->w.bytes);
  int64_t zero;
  if (!p->w.zero) return w;
  if (!byte_of(p->s, p->w.zero, &zero) || zero != MIDDLE) return NULL;
  tvms_node *middle = tvms_relax_op_scalar(p->m, MIDDLE, int32);
  return as(p, binary(p, TVMS_R_subtract, as(p, w, int32), middle), int8);
}

// The image with its zero around it, so that the convolution pads nothing; NULL: its zero is not known.
static tvms_node *TVMS_NULLABLE padded(product *p, const int64_t *padding) {
  tvms_node *x = now(p, p->x.bytes);
  int64_t zero;
  if (!byte_of(p->s, p->x.zero, &zero)) return NULL;
  int64_t width[2 * IMAGE] = {0,          0,          0,          0,
                              padding[0], padding[2], padding[1], padding[3]};
  tvms_unit *unit = p->m->unit;
  tvms_node *attrs[TVMS_ATTR_pad_COUNT] = {
      [TVMS_ATTR_pad_pad_width] = tvms_relax_op_ints(unit, width, 2 * IMAGE),
      [TVMS_ATTR_pad_pad_value] =
          tvms_object_float_new(unit, (double)zero, TVMS_NO_SPAN),
      [TVMS_ATTR_pad_pad_mode] =
          tvms_object_str_new(unit, "constant", strlen("constant"), TVMS_NO_SPAN),
  };
  return tvms_relax_op_with(p->m, TVMS_R_nn_pad, &x, 1, attrs);
}

// A vector along the channels of the result.
static tvms_node *along_channels(product *p, tvms_node *vector) {
  const int64_t axes[] = {0, 2, 3};
  return tvms_relax_op_expand_dims(p->m, vector, axes, 3);
}

static tvms_node *TVMS_NULLABLE convolved(product *p, tvms_node *w) {
  int64_t padding[IMAGE], none[IMAGE] = {0};
  tvms_node *attrs[TVMS_ATTR_conv2d_COUNT], *args[] = {now(p, p->x.bytes), w};
  if (!tvms_attr_ints(p->call, TVMS_ATTR_conv2d_padding, padding, IMAGE)) return NULL;
  for (uint32_t i = 0; i < TVMS_ATTR_conv2d_COUNT; i++)
    attrs[i] = p->call->attrs.items[i];
  attrs[TVMS_ATTR_conv2d_out_dtype] =
      tvms_object_dtype_new(p->m->unit, int32, TVMS_NO_SPAN);
  bool pads = false;
  for (uint32_t i = 0; i < IMAGE; i++)
    pads |= padding[i] != 0;
  if (pads && p->x.zero) {
    args[0] = padded(p, padding);
    if (!args[0]) return NULL;
    attrs[TVMS_ATTR_conv2d_padding] = tvms_relax_op_ints(p->m->unit, none, IMAGE);
  }
  return tvms_relax_op_with(p->m, TVMS_R_nn_conv2d, args, 2, attrs);
}

static tvms_node *TVMS_NULLABLE convolution(product *p) {
  bool fits = layouts_are_known(p->call) && !p->x.turned && !p->w.turned
              && tvms_attr_int(p->call, TVMS_ATTR_conv2d_groups, 1) == 1
              && ndim_of(p->x.bytes) == IMAGE && has_channels(p) && has_one_scale(&p->x)
              && (has_one_scale(&p->w) || (ndim_of(p->w.scale) == 1 && p->w.axis == 0));
  tvms_node *w = fits ? centred_weight(p) : NULL;
  tvms_node *sum = w ? convolved(p, w) : NULL;
  if (!sum) return NULL;
  if (p->x.zero) {
    const int64_t axes[] = {1, 2, 3};
    tvms_node *sums =
        tvms_relax_op_reduce(p->m, TVMS_R_sum, as(p, w, int32), axes, 3, false);
    sum = without(p, sum, p->x.zero, along_channels(p, sums));
  }
  if (!p->x.scale) return sum;
  tvms_node *scale = now(p, p->w.scale);
  return scaled(p, sum, has_one_scale(&p->w) ? scale : along_channels(p, scale));
}

// ---- The pass ----

static tvms_node *enter_binding(tvms_rewriter *r, tvms_node *binding) {
  tvms_relax_mutator *m = r->self;
  simplifier *s = m->self;
  tvms_node *value = tvms_relax_binding_value(binding);
  tvms_opcode opcode = tvms_op_called(value);
  if (opcode != TVMS_R_matmul && opcode != TVMS_R_nn_conv2d) return TVMS_REWRITE_BELOW;
  product p = {.s = s, .m = m, .call = tvms_as_call(value)};
  if (!read_factor(s, p.call->args.items[0], &p.x)
      || !read_factor(s, p.call->args.items[1], &p.w) || !p.x.scale != !p.w.scale
      || !has_dtype(value, p.x.scale ? float32 : int32))
    return TVMS_REWRITE_BELOW;
  tvms_node *made = opcode == TVMS_R_matmul ? matmul(&p) : convolution(&p);
  if (!made) return TVMS_REWRITE_BELOW;
  s->any = true;
  return tvms_relax_rebind(m, binding, tvms_relax_settle(m, made));
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_relax_simplify(run, unit, function, enter_binding);
}

void tvms_pass_multiply_quantized(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
