// What TVM calls variables and buffers: the name they are bound to, names of pointers and
// strides that follow their buffers, and the names that printed text is allowed to keep.
#include "parser/tir/names.h"

#include "parser/eval/origin.h"
#include "parser/tir/stmt.h"

#include <stdio.h>
#include <string.h>

// `name` followed by `suffix`.
tvms_sym tvms_tir_joined_name(tvms_reader *reader, tvms_sym name, const char *suffix) {
  size_t more = strlen(suffix);
  if (!more) return name;
  const tvms_name *text = tvms_interner_name(&reader->context->names, name);
  char *full = tvms_arena_alloc(&reader->values, text->len + more + 1);
  memcpy(full, text->text, text->len);
  memcpy(full + text->len, suffix, more + 1);
  return tvms_symbol_intern(reader->context, full, text->len + more);
}

// A name, and the number behind its last `_`; 0 without one.
typedef struct {
  const char *text;
  size_t len;
  size_t stem;  // length without `_` and number
  uint64_t number;
} numbered_name;

static numbered_name split_name(const char *text, size_t len) {
  numbered_name name = {text, len, len, 0};
  size_t at = len;
  while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9') {
    at--;
  }
  if (at == len || at < 2 || text[at - 1] != '_' || len - at > 9) return name;
  name.stem = at - 1;
  for (size_t i = at; i < len; i++) {
    name.number = name.number * 10 + (uint64_t)(text[i] - '0');
  }
  return name;
}

static bool has_stem(numbered_name name, const char *text, size_t len) {
  return name.number && name.stem == len && memcmp(name.text, text, len) == 0;
}

// `x_ptr_1` or `x_ptr` without `_ptr` and number; false if it has no such suffix.
static bool drop_suffix(numbered_name *name, const char *suffix) {
  size_t more = strlen(suffix);
  if (!more) return true;
  size_t ends[] = {name->stem, name->len};
  for (size_t i = 0; i < 2; i++) {
    if (ends[i] > more && memcmp(name->text + ends[i] - more, suffix, more) == 0) {
      *name = split_name(name->text, ends[i] - more);
      return true;
    }
  }
  return false;
}

// Whether a printer that calls the pointer (or stride) and its buffer alike, and tells them
// apart by a number, may have written both: the pointer comes first, so the number of the
// buffer is the larger one. `suffix` is what the pointer's name has besides, `_ptr`.
static bool are_alike(const tvms_reader *reader, tvms_sym follower, tvms_sym buffer,
                      const char *suffix) {
  const tvms_name *a = tvms_interner_name(&reader->context->names, follower);
  const tvms_name *b = tvms_interner_name(&reader->context->names, buffer);
  numbered_name first = split_name(a->text, a->len);
  numbered_name second = split_name(b->text, b->len);
  if (!drop_suffix(&first, suffix)) return false;
  bool same =
      first.len == second.len && memcmp(first.text, second.text, first.len) == 0;
  if (*suffix && same) return true;
  return has_stem(second, first.text, first.len)
         || (second.number > first.number && has_stem(first, second.text, second.stem));
}

// The name that the text itself gave a variable that follows a buffer.
static tvms_sym *own_name(tvms_reader *reader, const tvms_node *var) {
  while (tvms_tir_of(reader)->own_names.len <= var->id) {
    tvms_vec_push(&reader->context->memory, &tvms_tir_of(reader)->own_names, 0);
  }
  tvms_sym *name = &tvms_tir_of(reader)->own_names.items[var->id];
  if (!*name) *name = tvms_as_var(var)->name;
  return name;
}

// A variable takes the name of the last buffer that mentions it. So TVM does not print the
// same text again where the two differ by a number only: what was printed is left alone.
static void follow(tvms_reader *reader, tvms_node *var, tvms_sym buffer,
                   const char *suffix) {
  tvms_sym own = *own_name(reader, var);
  if (var->spare & TVMS_SPARE_KEEPS_NAME) return;
  if (are_alike(reader, own, buffer, suffix) && tvms_reader_is_printed(reader)) {
    var->spare |= TVMS_SPARE_KEEPS_NAME;
    tvms_as_var(var)->name = own;
    return;
  }
  tvms_as_var(var)->given = own;
  tvms_as_var(var)->name = tvms_tir_joined_name(reader, buffer, suffix);
}

// The pointer of a buffer follows its name: up to 0.25 also one that it shares, and at 0.25
// strides do, too.
static void name_parts(tvms_reader *reader, tvms_buffer *buffer, tvms_sym name) {
  const char *suffix =
      tvms_release_has(reader->dialect, TVMS_FACT_buffer_parts_have_suffixes) ? "_ptr"
                                                                              : "";
  if (buffer->data->kind == TVMS_NODE_VAR) {
    if (buffer->head.spare & TVMS_SPARE_OWN_DATA)
      tvms_as_var(buffer->data)->name = tvms_tir_joined_name(reader, name, suffix);
    else if (tvms_release_has(reader->dialect, TVMS_FACT_pointers_follow_buffer_names))
      follow(reader, buffer->data, name, suffix);
  }
  if (!tvms_release_has(reader->dialect, TVMS_FACT_buffer_parts_have_suffixes)) return;
  for (uint32_t i = 0; i < buffer->strides.len; i++) {
    if (buffer->strides.items[i]->kind != TVMS_NODE_VAR) continue;
    char part[16];
    snprintf(part, sizeof part, "_s%u", i);
    follow(reader, buffer->strides.items[i], name, part);
  }
}

void tvms_tir_name_node(tvms_reader *reader, tvms_node *node, tvms_sym name) {
  switch (node->kind) {
  case TVMS_NODE_VAR:
    tvms_as_var(node)->name = name;
    tvms_as_var(node)->given = 0;
    if (tvms_tir_of(reader)->own_names.len > node->id) {
      tvms_tir_of(reader)->own_names.items[node->id] = name;
      node->spare &= (uint16_t)~TVMS_SPARE_KEEPS_NAME;
    }
    break;
  case TVMS_NODE_ITER_VAR: tvms_as_var(tvms_as_iter_var(node)->var)->name = name; break;
  case TVMS_NODE_BUFFER: {
    tvms_buffer *buffer = tvms_as_buffer(node);
    buffer->name = name;
    name_parts(reader, buffer, name);
    break;
  }
  default: break;
  }
}
