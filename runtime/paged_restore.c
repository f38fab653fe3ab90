// What the text of a checkpoint must say to fit a cache: its layout, and pages and tensors that follow from the number
// of tokens. TVM 0.27: src/runtime/vm/paged_kv_cache.cc, CheckCheckpointImportMetadata.
#include "runtime/paged_restore.h"

#include "runtime/paged_checkpoint.h"

#include <string.h>

static const char of_checkpoint[] = "PagedAttentionKVCache checkpoint import metadata";
static const char of_group[] = "PagedAttentionKVCache checkpoint import group metadata";

// An object of the text, and what messages call it.
typedef struct {
  const tvms_paged *p;
  const char *what;
  tvms_part object;
} fields;

static tvms_part field(const fields *f, const char *key) {
  tvms_part value;
  if (!tvms_part_field(f->object, key, &value))
    tvms_paged_refuse(f->p, "%s missing field \"%s\".", f->what, key);
  return value;
}

static TVMS_NORETURN void refuse_kind(const fields *f, const char *key,
                                      const char *expected) {
  tvms_paged_refuse(f->p, "%s field \"%s\" is not %s.", f->what, key, expected);
}

static int64_t integer(const fields *f, const char *key) {
  tvms_part value = field(f, key);
  tvms_part_kind kind = tvms_part_kind_of(value);
  if (kind != TVMS_PART_INT && kind != TVMS_PART_BOOL)
    refuse_kind(f, key, "an integer");
  return tvms_part_integer(value);
}

static tvms_part list(const fields *f, const char *key) {
  tvms_part value = field(f, key);
  if (tvms_part_kind_of(value) != TVMS_PART_LIST) refuse_kind(f, key, "a list");
  return value;
}

static void expect(const fields *f, const char *key, int64_t expected) {
  int64_t value = integer(f, key);
  if (value != expected)
    tvms_paged_refuse(f->p, "%s field \"%s\" mismatch: expected %lld, got %lld.",
                      f->what, key, (long long)expected, (long long)value);
}

static void expect_text(const fields *f, const char *key, const char *expected) {
  enum { SHOWN = 64 };
  tvms_part value = field(f, key);
  if (tvms_part_kind_of(value) != TVMS_PART_TEXT) refuse_kind(f, key, "a text");
  int len = (int)(value.end - value.begin < SHOWN ? value.end - value.begin : SHOWN);
  if (!tvms_part_is(value, expected))
    tvms_paged_refuse(f->p, "%s field \"%s\" mismatch: expected %s, got %.*s.", f->what,
                      key, expected, len > 2 ? len - 2 : 0, value.begin + 1);
}

static void expect_real(const fields *f, const char *key, double expected) {
  tvms_part value = field(f, key);
  tvms_part_kind kind = tvms_part_kind_of(value);
  if (kind != TVMS_PART_INT && kind != TVMS_PART_BOOL && kind != TVMS_PART_REAL)
    refuse_kind(f, key, "a number");
  double number = tvms_part_real(value);
  if (number != expected)
    tvms_paged_refuse(f->p, "%s field \"%s\" mismatch: expected %g, got %g.", f->what,
                      key, expected, number);
}

static void expect_positive(const fields *f, const char *key) {
  if (integer(f, key) <= 0)
    tvms_paged_refuse(f->p, "%s field \"%s\" must be positive.", f->what, key);
}

static void check_kinds(const fields *f) {
  tvms_part kinds = list(f, "attn_kinds"), kind = {0};
  int64_t count = 0;
  for (; tvms_part_next(kinds, &kind); count++) {
    bool text = tvms_part_kind_of(kind) == TVMS_PART_TEXT;
    if (count < f->p->head->layers && !(text && tvms_part_is(kind, "mha")))
      tvms_paged_refuse(
          f->p, "%s field \"attn_kinds\" mismatch at local layer %lld: expected mha.",
          f->what, (long long)count);
  }
  if (count != f->p->head->layers)
    tvms_paged_refuse(f->p, "%s field \"attn_kinds\" size mismatch.", f->what);
}

static void check_layout(const fields *f) {
  const tvms_paged_head *head = f->p->head;
  const tvms_paged_made *made = &head->made;
  char type[24], hash[TVMS_PAGED_HASH];
  tvms_paged_type_text(f->p, type);
  expect(f, "format_version", 1);
  expect_text(f, "cache_type", tvms_paged_cache_type);
  expect(f, "page_size", head->page_size);
  expect(f, "num_layers", head->layers);
  expect(f, "layer_begin", head->first_layer);
  expect(f, "layer_end", head->first_layer + head->layers);
  expect(f, "num_qo_heads", made->query_heads);
  expect(f, "num_kv_heads", made->key_heads);
  expect(f, "qk_head_dim", made->key_size);
  expect(f, "v_head_dim", made->value_size);
  expect_positive(f, "reserved_num_seqs");
  expect_positive(f, "num_total_pages");
  expect_positive(f, "prefill_chunk_size");
  expect_text(f, "dtype", type);
  expect_text(f, "rope_mode", tvms_paged_rotary_text(f->p));
  expect_real(f, "rotary_scale", made->rotary_scale);
  expect_real(f, "rotary_theta", made->rotary_theta);
  expect(f, "has_rope_ext_factors", 0);
  expect(f, "support_sliding_window", 0);
  expect(f, "support_layer_sliding_window", 0);
  expect_text(f, "page_group_layout", tvms_paged_group_layout);
  tvms_paged_layout_hash(f->p, hash);
  tvms_part said = field(f, "layout_hash");
  if (tvms_part_kind_of(said) != TVMS_PART_TEXT || !tvms_part_is(said, hash))
    tvms_paged_refuse(f->p,
                      "PagedAttentionKVCache checkpoint import layout hash mismatch: "
                      "expected %s.",
                      hash);
  check_kinds(f);
}

static fields object_of(const fields *f, const char *what, tvms_part object) {
  if (tvms_part_kind_of(object) != TVMS_PART_OBJECT)
    tvms_paged_refuse(f->p, "%s has something that is not an object.", what);
  return (fields){f->p, what, object};
}

static void check_pages(const fields *f, int64_t length) {
  tvms_part pages = list(f, "logical_pages"), page = {0};
  int64_t needed = tvms_paged_pages_for(f->p, length), size = f->p->head->page_size;
  int64_t count = 0;
  while (tvms_part_next(pages, &page))
    count++;
  if (count != needed)
    tvms_paged_refuse(
        f->p,
        "PagedAttentionKVCache checkpoint import sequence length mismatch: "
        "seq_length %lld requires %lld logical pages, but metadata has "
        "%lld.",
        (long long)length, (long long)needed, (long long)count);
  page = (tvms_part){0};
  for (int64_t at = 0; tvms_part_next(pages, &page); at += size) {
    fields one = object_of(f, of_checkpoint, page);
    expect(&one, "logical_page_index", at / size);
    expect(&one, "start_pos", at);
    expect(&one, "length", length - at < size ? length - at : size);
  }
}

static void check_shape(const fields *group, int64_t pages) {
  const tvms_paged_head *head = group->p->head;
  const int64_t sizes[] = {
      1, pages, 2, head->made.key_heads, head->page_size, head->made.key_size};
  enum { RANK = sizeof sizes / sizeof sizes[0] };
  tvms_part shape = list(group, "shape"), size = {0};
  int64_t count = 0;
  while (tvms_part_next(shape, &size))
    count++;
  if (count != RANK)
    tvms_paged_refuse(group->p, "%s field \"shape\" rank mismatch.", group->what);
  size = (tvms_part){0};
  for (uint32_t i = 0; tvms_part_next(shape, &size); i++) {
    if (tvms_part_kind_of(size) != TVMS_PART_INT)
      refuse_kind(group, "shape", "a list of integers");
    int64_t got = tvms_part_integer(size);
    if (got != sizes[i])
      tvms_paged_refuse(
          group->p, "%s field \"shape\" mismatch at dim %u: expected %lld, got %lld.",
          group->what, i, (long long)sizes[i], (long long)got);
  }
}

static void check_groups(const fields *f, int64_t pages) {
  const tvms_paged_head *head = f->p->head;
  tvms_part groups = list(f, "groups"), item = {0};
  char type[24];
  int64_t count = 0;
  tvms_paged_type_text(f->p, type);
  while (tvms_part_next(groups, &item))
    count++;
  if (count != head->layers)
    tvms_paged_refuse(f->p, "%s size mismatch: expected %u, got %lld.", of_group,
                      head->layers, (long long)count);
  item = (tvms_part){0};
  for (uint32_t i = 0; tvms_part_next(groups, &item); i++) {
    fields group = object_of(f, of_group, item);
    expect(&group, "group_index", i);
    expect(&group, "layer_begin", head->first_layer + i);
    expect(&group, "layer_end", head->first_layer + i + 1);
    expect(&group, "num_logical_pages", pages);
    expect_text(&group, "dtype", type);
    check_shape(&group, pages);
    expect(&group, "nbytes", pages * tvms_paged_page_bytes(f->p));
  }
}

int64_t tvms_paged_read_checkpoint(const tvms_paged *p, int64_t id, tvms_part all) {
  if (tvms_part_kind_of(all) != TVMS_PART_OBJECT)
    tvms_paged_refuse(
        p, "PagedAttentionKVCache checkpoint metadata should be a JSON object.");
  fields f = {p, of_checkpoint, all};
  check_layout(&f);
  expect(&f, "seq_id", id);
  int64_t length = integer(&f, "seq_length");
  if (length < 0)
    tvms_paged_refuse(
        p, "PagedAttentionKVCache checkpoint import seq_length cannot be negative.");
  if (length > INT32_MAX)
    tvms_paged_refuse(
        p, "PagedAttentionKVCache checkpoint import seq_length exceeds int32 range.");
  int64_t pages = tvms_paged_pages_for(p, length);
  int64_t source = integer(&f, "num_total_pages");
  if (pages > source)
    tvms_paged_refuse(p,
                      "PagedAttentionKVCache checkpoint metadata requires %lld pages, "
                      "but reports a source cache with only %lld pages.",
                      (long long)pages, (long long)source);
  if (pages > p->head->total_pages)
    tvms_paged_refuse(
        p,
        "PagedAttentionKVCache checkpoint import requires %lld pages, but "
        "this cache only has %lld pages.",
        (long long)pages, (long long)p->head->total_pages);
  check_pages(&f, length);
  check_groups(&f, pages);
  return length;
}
