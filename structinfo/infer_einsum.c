// The rule of einsum: every letter of the equation is a length.
//
// In "...ij,jk->...ik" the operands say what i, j and k are. A length of 1 gives way to another
// one, and two others that are provably different are an error. What "..." stands for in each
// operand is broadcast. The output takes lengths by its letters; without an arrow it has "..." and
// the letters that occur once, in their order. If the shape of an operand is not known, neither
// is that of the result.
#include "structinfo/infer_common.h"
#include "structinfo/make.h"

#include <string.h>

enum { LETTERS = 128, MOST_LABELS = 32, ELLIPSIS = '.' };

typedef struct {
  char labels[MOST_LABELS];
  uint32_t count;
} subscript;

typedef struct {
  const char *at;
  const char *end;
  bool arrow;  // "->" was read: what follows is the output
} equation;

typedef struct {
  tvms_inference *in;
  tvms_node *lengths[LETTERS];
  uint32_t uses[LETTERS];
  tvms_dims rest;  // what "..." stands for
} lengths;

// Reads labels up to the next comma, the arrow or the end. False if the text is malformed.
static bool next_subscript(equation *e, subscript *s) {
  s->count = 0;
  for (; e->at < e->end; e->at++) {
    char c = *e->at;
    if (c == ' ') continue;
    if (c == ',') {
      e->at++;
      return true;
    }
    if (c == '-') {
      bool sound = !e->arrow && e->end - e->at > 1 && e->at[1] == '>';
      e->at += 2;
      e->arrow = true;
      return sound;
    }
    if (c == '.') {
      if (e->end - e->at < 3 || memcmp(e->at, "...", 3) != 0) return false;
      e->at += 2;
    } else if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
      return false;
    }
    if (s->count == MOST_LABELS) return false;
    s->labels[s->count++] = c;
  }
  return true;
}

static bool is_one(const tvms_node *TVMS_NULLABLE dim) {
  int64_t value;
  return dim && tvms_sinfo_dim_int(dim, &value) && value == 1;
}

static bool has_ellipsis(const subscript *s) {
  return memchr(s->labels, ELLIPSIS, s->count) != NULL;
}

static bool set_length(lengths *l, unsigned char label, tvms_node *dim) {
  tvms_node *known = l->lengths[label];
  if (known && !is_one(known) && !is_one(dim)
      && tvms_dim_differ(l->in->prover, known, dim)) {
    tvms_in_unequal(l->in, 0, "lengths of a label", known, dim);
    return false;
  }
  if (!known || is_one(known)) l->lengths[label] = dim;
  return true;
}

// Takes the lengths of one operand.
static bool take_operand(lengths *l, const subscript *s, tvms_list dims) {
  bool open = has_ellipsis(s);
  uint32_t named = s->count - open;
  if (open ? dims.len < named : dims.len != named) {
    tvms_in_expects(l->in, 0, "operands whose rank matches their labels");
    return false;
  }
  uint32_t axis = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    unsigned char label = (unsigned char)s->labels[i];
    l->uses[label]++;
    if (label != ELLIPSIS) {
      if (!set_length(l, label, dims.items[axis++])) return false;
      continue;
    }
    tvms_list rest = {dims.items + axis, dims.len - named}, before;
    before = (tvms_list){l->rest.items, l->rest.len};
    if (tvms_in_broadcast(l->in, before, rest, &l->rest) == TVMS_BROADCAST_FAILED) {
      return false;
    }
    axis += rest.len;
  }
  return true;
}

// Without an arrow the output has the labels that occur once, in order of their letters.
static void implied_output(const lengths *l, subscript *output) {
  output->count = 0;
  if (l->uses[ELLIPSIS]) output->labels[output->count++] = ELLIPSIS;
  for (int c = 'A'; c <= 'z' && output->count < MOST_LABELS; c++) {
    if (l->uses[c] == 1) output->labels[output->count++] = (char)c;
  }
}

static tvms_node *TVMS_NULLABLE result_of(lengths *l, const subscript *output,
                                          const tvms_tensor_argument *first,
                                          tvms_node *TVMS_NULLABLE vdevice) {
  tvms_dims dims = tvms_dims_new(l->in, output->count + l->rest.len);
  uint32_t count = 0;
  for (uint32_t i = 0; i < output->count; i++) {
    unsigned char label = (unsigned char)output->labels[i];
    if (label == ELLIPSIS) {
      for (uint32_t k = 0; k < l->rest.len; k++) {
        dims.items[count++] = l->rest.items[k];
      }
    } else if (l->lengths[label]) {
      dims.items[count++] = l->lengths[label];
    } else {
      return tvms_in_expects(l->in, TVMS_THE_CALL,
                             "output labels that occur in an input");
    }
  }
  dims.len = count;
  return tvms_in_result(l->in, dims, first->dtype, vdevice);
}

tvms_node *tvms_infer_einsum(tvms_inference *in) {
  tvms_tensor_argument *tensors;
  uint32_t count;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensors(in, 0, &tensors, &count))
    return NULL;
  if (!count) return tvms_in_expects(in, 0, "at least one tensor");
  tvms_node *vdevice = tvms_in_shared_vdevice(in, tensors, count);
  for (uint32_t i = 0; i < count; i++) {
    if (!tvms_dtype_same(tensors[i].dtype, tensors[0].dtype)) {
      return tvms_in_wrong_dtype(in, 0, "one data type", tensors[i].dtype);
    }
    if (!tensors[i].known) {
      return tvms_in_result_ndim(in, tensors[i].ndim, tensors[0].dtype, vdevice);
    }
  }
  const tvms_node *attr = tvms_attr(in->call, TVMS_ATTR_einsum_subscripts);
  if (!attr || attr->kind != TVMS_NODE_OBJECT_STR) {
    return tvms_in_expects(in, TVMS_THE_CALL, "subscripts");
  }
  tvms_bytes text = tvms_as_object_str(attr)->value;
  equation e = {text.text, text.text + text.len, false};
  lengths l = {.in = in};
  subscript s;
  for (uint32_t i = 0; i < count; i++) {
    if (e.arrow || !next_subscript(&e, &s)) {
      return tvms_in_expects(in, TVMS_THE_CALL, "subscripts for every operand");
    }
    if (!take_operand(&l, &s, tensors[i].dims)) return NULL;
  }
  if (!e.arrow) {
    implied_output(&l, &s);
  } else if (!next_subscript(&e, &s) || e.at < e.end) {
    return tvms_in_expects(in, TVMS_THE_CALL, "one output after the arrow");
  }
  return result_of(&l, &s, &tensors[0], vdevice);
}
