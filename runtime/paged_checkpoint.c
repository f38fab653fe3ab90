// Checkpoints of a paged cache: their text, and pages on the way out and in.
#include "runtime/paged_checkpoint.h"

#include "runtime/box_object.h"
#include "runtime/paged_arrays.h"
#include "runtime/paged_restore.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char tvms_paged_cache_type[] = "relax.vm.PagedAttentionKVCache";
const char tvms_paged_group_layout[] =
    "1,num_logical_pages,2,num_kv_heads,page_size,qk_head_dim";

enum { LINE = 512, REAL = 40, DIMENSIONS = 6 };

// ---- What may be in one ----

static void check_layout(const tvms_paged *p) {
  const tvms_paged_made *made = &p->head->made;
  for (uint32_t i = 0; i < p->head->layers; i++) {
    if (tvms_paged_kind_at(p, i) != TVMS_LAYER_HEADS)
      tvms_paged_refuse(p, "PagedAttentionKVCache checkpointing only supports "
                           "full-context MHA/GQA layers.");
  }
  if (made->key_size != made->value_size)
    tvms_paged_refuse(p, "PagedAttentionKVCache checkpointing requires qk_head_dim to "
                         "equal v_head_dim.");
  if (p->head->slides || p->head->window)
    tvms_paged_refuse(p, "PagedAttentionKVCache checkpointing does not support "
                         "sliding-window cache layouts.");
  if (made->rotary_factors)
    tvms_paged_refuse(p, "PagedAttentionKVCache checkpointing does not support RoPE "
                         "extension factors.");
}

static const tvms_paged_sequence *sequence_of(const tvms_paged *p, int64_t id) {
  if (id)
    tvms_paged_refuse(
        p, "PagedAttentionKVCache checkpointing only supports sequence id 0, got %lld.",
        (long long)id);
  const tvms_paged_sequence *sequence = tvms_paged_sequence_of(p, id);
  if (sequence->nodes)
    tvms_paged_refuse(p, "PagedAttentionKVCache checkpointing requires committed "
                         "token-chain state.");
  return sequence;
}

static const tvms_paged_sequence *exported(const tvms_paged *p, int64_t id) {
  check_layout(p);
  if (p->head->imports)
    tvms_paged_refuse(p, "PagedAttentionKVCache checkpoint import must be finished "
                         "before exporting a checkpoint.");
  return sequence_of(p, id);
}

static const tvms_paged_sequence *imported(const tvms_paged *p, int64_t id) {
  check_layout(p);
  if (!p->head->imports)
    tvms_paged_refuse(p,
                      "PagedAttentionKVCache checkpoint import has not been prepared.");
  return sequence_of(p, id);
}

// ---- Text ----

int64_t tvms_paged_page_bytes(const tvms_paged *p) {
  const tvms_paged_made *made = &p->head->made;
  int64_t element = (made->type.bits * made->type.lanes + 7) / 8;
  return 2 * made->key_heads * p->head->page_size * made->key_size * element;
}

int64_t tvms_paged_pages_for(const tvms_paged *p, int64_t length) {
  return (length + p->head->page_size - 1) / p->head->page_size;
}

void tvms_paged_type_text(const tvms_paged *p, char text[24]) {
  tvms_box_dtype_text(p->head->made.type, text, 24);
}

const char *tvms_paged_rotary_text(const tvms_paged *p) {
  static const char *const modes[] = {"none", "normal", "inline"};
  return modes[p->head->made.rotary_mode];
}

// A text that grows in the area for it.
typedef struct {
  const tvms_paged *p;
  char *text;
  uint64_t len;
} writer;

TVMS_PRINTF(2, 3) static void put(writer *w, const char *format, ...) {
  char line[LINE];
  va_list arguments;
  va_start(arguments, format);
  int len = vsnprintf(line, LINE, format, arguments);
  va_end(arguments);
  uint64_t count = len < LINE ? (uint64_t)len : LINE - 1;
  w->text = w->p->host->area(w->p->host, TVMS_PAGED_TEXT, w->len + count + 1);
  memcpy(w->text + w->len, line, count + 1);
  w->len += count;
}

// FNV-1a of 64 bits over a description of the layout.
void tvms_paged_layout_hash(const tvms_paged *p, char hash[TVMS_PAGED_HASH]) {
  const tvms_paged_head *head = p->head;
  const tvms_paged_made *made = &head->made;
  writer w = {.p = p};
  char type[24];
  check_layout(p);
  tvms_paged_type_text(p, type);
  put(&w, "format_version=1;cache_type=%s;page_size=%lld;num_layers=%u;",
      tvms_paged_cache_type, (long long)head->page_size, head->layers);
  put(&w,
      "layer_begin=%lld;layer_end=%lld;num_qo_heads=%lld;num_kv_heads=%lld;"
      "qk_head_dim=%lld;v_head_dim=%lld;",
      (long long)head->first_layer, (long long)head->first_layer + head->layers,
      (long long)made->query_heads, (long long)made->key_heads,
      (long long)made->key_size, (long long)made->value_size);
  put(&w, "dtype=%s;rope_mode=%s;rotary_scale=%.17g;rotary_theta=%.17g;", type,
      tvms_paged_rotary_text(p), made->rotary_scale, made->rotary_theta);
  put(&w,
      "has_rope_ext_factors=0;support_sliding_window=0;support_layer_sliding_window=0;"
      "page_group_layout=%s;attn_kinds=",
      tvms_paged_group_layout);
  for (uint32_t i = 0; i < head->layers; i++)
    put(&w, "%smha", i ? "," : "");
  uint64_t sum = UINT64_C(14695981039346656037);
  for (uint64_t i = 0; i < w.len; i++)
    sum = (sum ^ (unsigned char)w.text[i]) * UINT64_C(1099511628211);
  snprintf(hash, TVMS_PAGED_HASH, "%016llx", (unsigned long long)sum);
}

// A number that is not an integer even if it looks like one.
static void put_real(writer *w, const char *key, double value) {
  char text[REAL];
  snprintf(text, REAL, "%.17g", value);
  put(w, "\"%s\":%s%s,", key, text, strpbrk(text, ".en") ? "" : ".0");
}

static void put_layout(writer *w) {
  const tvms_paged_head *head = w->p->head;
  const tvms_paged_made *made = &head->made;
  char type[24];
  tvms_paged_type_text(w->p, type);
  put(w,
      "{\"format_version\":1,\"cache_type\":\"%s\",\"page_size\":%lld,\"num_layers\":%u,"
      "\"layer_begin\":%lld,\"layer_end\":%lld,",
      tvms_paged_cache_type, (long long)head->page_size, head->layers,
      (long long)head->first_layer, (long long)head->first_layer + head->layers);
  put(w,
      "\"num_qo_heads\":%lld,\"num_kv_heads\":%lld,\"qk_head_dim\":%lld,"
      "\"v_head_dim\":%lld,",
      (long long)made->query_heads, (long long)made->key_heads,
      (long long)made->key_size, (long long)made->value_size);
  put(w,
      "\"reserved_num_seqs\":%lld,\"num_total_pages\":%lld,\"prefill_chunk_size\":%lld,"
      "\"dtype\":\"%s\",\"attn_kinds\":[",
      (long long)head->most_sequences, (long long)head->total_pages,
      (long long)head->most_tokens, type);
  for (uint32_t i = 0; i < head->layers; i++)
    put(w, "%s\"mha\"", i ? "," : "");
  put(w, "],\"rope_mode\":\"%s\",", tvms_paged_rotary_text(w->p));
  put_real(w, "rotary_scale", made->rotary_scale);
  put_real(w, "rotary_theta", made->rotary_theta);
  put(w,
      "\"has_rope_ext_factors\":false,\"support_sliding_window\":false,"
      "\"support_layer_sliding_window\":false,\"page_group_layout\":\"%s\",",
      tvms_paged_group_layout);
}

static void put_pages(writer *w, int64_t length) {
  int64_t size = w->p->head->page_size;
  put(w, "\"logical_pages\":[");
  for (int64_t at = 0; at < length; at += size)
    put(w, "%s{\"logical_page_index\":%lld,\"start_pos\":%lld,\"length\":%lld}",
        at ? "," : "", (long long)(at / size), (long long)at,
        (long long)(length - at < size ? length - at : size));
  put(w, "],\"groups\":[");
}

const char *tvms_paged_checkpoint(tvms_paged *p, int64_t id) {
  const tvms_paged_sequence *sequence = exported(p, id);
  const tvms_paged_head *head = p->head;
  writer w = {.p = p};
  char hash[TVMS_PAGED_HASH], type[24];
  int64_t pages = tvms_paged_pages_for(p, sequence->length);
  tvms_paged_layout_hash(p, hash);
  tvms_paged_type_text(p, type);
  put_layout(&w);
  put(&w, "\"layout_hash\":\"%s\",\"seq_id\":0,\"seq_length\":%d,", hash,
      sequence->length);
  put_pages(&w, sequence->length);
  for (uint32_t i = 0; i < head->layers; i++) {
    long long layer = head->first_layer + i;
    put(&w,
        "%s{\"group_index\":%u,\"layer_begin\":%lld,\"layer_end\":%lld,"
        "\"num_logical_pages\":%lld,\"dtype\":\"%s\",\"shape\":[1,%lld,2,%lld,%lld,%lld],"
        "\"nbytes\":%lld}",
        i ? "," : "", i, layer, layer + 1, (long long)pages, type, (long long)pages,
        (long long)head->made.key_heads, (long long)head->page_size,
        (long long)head->made.key_size, (long long)(pages * tvms_paged_page_bytes(p)));
  }
  put(&w, "]}");
  return w.text;
}

// ---- Pages ----

static void check_group(const tvms_paged *p, int64_t layer, const char *what) {
  if (layer < 0)
    tvms_paged_refuse(p,
                      "PagedAttentionKVCache checkpoint %s got invalid group id %lld.",
                      what, (long long)layer);
  if (layer >= p->head->layers)
    tvms_paged_refuse(p,
                      "PagedAttentionKVCache checkpoint %s got invalid group id %lld, "
                      "but only %u groups are available.",
                      what, (long long)layer, p->head->layers);
}

// The elements of the tensor for a sequence.
static char *tensor_of(const tvms_paged *p, const tvms_paged_sequence *sequence,
                       const char *what) {
  const tvms_paged_made *made = &p->head->made;
  const tvms_dl_tensor *given = p->host->given(p->host, 3);
  static const char *const wrong[DIMENSIONS] = {
      "group count", "number of logical pages", "K/V axis", "number of KV heads",
      "page size",   "head dimension"};
  int64_t sizes[DIMENSIONS] = {1,
                               tvms_paged_pages_for(p, sequence->length),
                               2,
                               made->key_heads,
                               p->head->page_size,
                               made->key_size};
  bool typed = given->dtype.code == made->type.code
               && given->dtype.bits == made->type.bits
               && given->dtype.lanes == made->type.lanes;
  if (!typed || given->ndim != DIMENSIONS)
    tvms_paged_refuse(p, "%s expects the tensor in layout (%s).%s", what,
                      tvms_paged_group_layout, typed ? "" : " The dtype mismatches.");
  for (uint32_t i = 0; i < DIMENSIONS; i++) {
    if (given->shape[i] != sizes[i])
      tvms_paged_refuse(p, "%s expects the tensor in layout (%s). The %s mismatches.",
                        what, tvms_paged_group_layout, wrong[i]);
  }
  return (char *)given->data + given->byte_offset;
}

// Zeroes what no token has of a page that begins with so many.
static void clear_rest(const tvms_paged *p, char *page, int64_t tokens) {
  int64_t rows = 2 * p->head->made.key_heads, size = p->head->page_size;
  int64_t row = tvms_paged_page_bytes(p) / rows, token = row / size;
  for (int64_t i = 0; i < rows; i++)
    memset(page + i * row + tokens * token, 0, (size_t)((size - tokens) * token));
}

// Copies pages of a layer into a tensor, or out of one.
static void copy_pages(tvms_paged *p, const tvms_paged_sequence *sequence,
                       int64_t layer, char *tensor, bool out) {
  tvms_paged_host *host = p->host;
  int64_t bytes = tvms_paged_page_bytes(p), left = sequence->length;
  uint32_t depth = tvms_paged_depth(p, sequence);
  char *pages = host->area(host, TVMS_PAGED_PAGES + (uint32_t)layer, 0);
  int32_t *trace = host->area(host, TVMS_PAGED_TRACE, (depth + 1) * sizeof *trace);
  tvms_paged_trace(p, sequence, trace);
  for (uint32_t d = 0; d < depth; d++) {
    const tvms_paged_block *block = &p->blocks[trace[d]];
    const int32_t *list = tvms_paged_pages_of(p, block);
    for (int32_t i = 0; i < block->pages && left > 0; i++) {
      char *page = pages + list[i] * bytes, *to = out ? tensor : page;
      memcpy(to, out ? page : tensor, (size_t)bytes);
      if (left < p->head->page_size) clear_rest(p, to, left);
      left -= p->head->page_size;
      tensor += bytes;
    }
  }
}

void tvms_paged_export(tvms_paged *p, int64_t id, int64_t layer) {
  const tvms_paged_sequence *sequence = exported(p, id);
  check_group(p, layer, "export");
  copy_pages(p, sequence, layer, tensor_of(p, sequence, "ExportPageGroup"), true);
}

static uint8_t *read_of(const tvms_paged *p) {
  return p->host->area(p->host, TVMS_PAGED_READ, p->head->layers);
}

// A sequence of so many tokens, which nobody has written, in a cache that is empty.
static void fill(tvms_paged *p, int64_t id, int64_t length) {
  tvms_paged_add(p, id);
  tvms_paged_sequence *sequence = tvms_paged_sequence_of(p, id);
  sequence->length = (int32_t)length;
  if (length) tvms_paged_reserve(p, sequence, length);
}

void tvms_paged_prepare(tvms_paged *p, int64_t id, const char *text, uint64_t len) {
  tvms_part all;
  check_layout(p);
  if (id)
    tvms_paged_refuse(p,
                      "PagedAttentionKVCache checkpoint import only supports sequence "
                      "id 0, got %lld.",
                      (long long)id);
  if (!tvms_part_read(text, len, &all))
    tvms_paged_refuse(
        p, "Failed to parse PagedAttentionKVCache checkpoint metadata JSON.");
  int64_t length = tvms_paged_read_checkpoint(p, id, all);
  memset(read_of(p), 0, p->head->layers);
  tvms_paged_clear(p);
  fill(p, id, length);
  p->head->imports = true;
}

void tvms_paged_import(tvms_paged *p, int64_t id, int64_t layer) {
  const tvms_paged_sequence *sequence = imported(p, id);
  check_group(p, layer, "import");
  uint8_t *done = read_of(p) + layer;
  if (*done)
    tvms_paged_refuse(
        p, "PagedAttentionKVCache checkpoint group %lld was already imported.",
        (long long)layer);
  copy_pages(p, sequence, layer, tensor_of(p, sequence, "ImportPageGroup"), false);
  *done = 1;
}

void tvms_paged_finish(tvms_paged *p, int64_t id) {
  imported(p, id);
  const uint8_t *done = read_of(p);
  for (uint32_t i = 0; i < p->head->layers; i++) {
    if (!done[i])
      tvms_paged_refuse(
          p, "PagedAttentionKVCache checkpoint import is missing group %u.", i);
  }
  p->head->imports = false;
}

int64_t tvms_paged_length_of(const tvms_paged *p, int64_t id) {
  if (p->head->imports)
    tvms_paged_refuse(p, "PagedAttentionKVCache sequence length is unavailable until "
                         "checkpoint import is finished.");
  return tvms_paged_sequence_of(p, id)->length;
}

TVMS_NORETURN void tvms_paged_refuse_transfer(const tvms_paged *p) {
  tvms_paged_refuse(p, "a cache that is transferred is expected: TVM needs NVSHMEM, "
                       "which CPUs do not have, to make one");
}
