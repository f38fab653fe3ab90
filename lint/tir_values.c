// Data types, scopes, tags of threads, indices and extents that TVM takes as they are when it
// reads a text, and that end the compilation much later, or never run.
//
// Scopes and tags are those of StorageScope and ThreadScope of TVM
// (src/runtime/thread_storage_scope.h): a scope begins with the name of a kind of memory, and
// what follows is free.
#include "lint/tir_values.h"

#include "support/diag_ids.h"
#include "support/names.h"

#include <string.h>

static const char *const scopes[] = {
    "global",
    "shared",
    "local",
    "warp",
    "texture",
    "wmma.matrix_a",
    "wmma.matrix_b",
    "wmma.accumulator",
    "amx.tmm",
    "m16n8k8.matrixA",
    "m16n8k8.matrixB",
    "m16n8k8.matrixC",
    "metal.simdgroup",
    "metal.cooperative_tensor",
    "trn.sbuf",
    "trn.psum",
    "tmem",
};

static const char *const tags[] = {
    "threadIdx.x",
    "threadIdx.y",
    "threadIdx.z",
    "blockIdx.x",
    "blockIdx.y",
    "blockIdx.z",
    "vthread",
    "vthread.x",
    "vthread.y",
    "vthread.z",
    "cthread",
    "clusterCtaIdx.x",
    "clusterCtaIdx.y",
    "clusterCtaIdx.z",
    "preferredClusterCtaIdx.x",
    "preferredClusterCtaIdx.y",
    "preferredClusterCtaIdx.z",
};

enum {
  SCOPE_COUNT = sizeof scopes / sizeof scopes[0],
  TAG_COUNT = sizeof tags / sizeof tags[0],
};

static void report_word(tvms_lint *lint, tvms_diag_id id, tvms_span span,
                        const char *word, const char *const *known, uint32_t count) {
  tvms_diags *diags = &lint->context->diags;
  tvms_diag *diag = tvms_diag_report(diags, id, span, word);
  const char *near = tvms_diag_nearest_name(word, known, count);
  if (near) tvms_diag_remark(diags, diag, "did you mean '%s'?", near);
}

static void check_scope(tvms_lint *lint, const tvms_node *type, tvms_span span) {
  if (!type || type->kind != TVMS_NODE_SINFO_POINTER) return;
  tvms_sym sym = tvms_as_sinfo_pointer(type)->scope;
  if (!sym) return;
  const char *scope = tvms_symbol_text(lint->context, sym);
  for (uint32_t i = 0; i < SCOPE_COUNT; i++) {
    size_t len = strlen(scopes[i]);
    bool known =
        strncmp(scope, scopes[i], len) == 0
        && (scope[len] == '\0' || !strchr("abcdefghijklmnopqrstuvwxyz_", scope[len]));
    if (known) return;
  }
  report_word(lint, TVMS_D_storage_scope, span, scope, scopes, SCOPE_COUNT);
}

static void check_tag(tvms_lint *lint, const tvms_node *axis, tvms_span span) {
  tvms_sym sym = tvms_as_iter_var(axis)->thread_tag;
  if (!sym) return;
  const char *tag = tvms_symbol_text(lint->context, sym);
  for (uint32_t i = 0; i < TAG_COUNT; i++) {
    if (strcmp(tag, tags[i]) == 0) return;
  }
  report_word(lint, TVMS_D_thread_tag, span, tag, tags, TAG_COUNT);
}

// Widths that machines or packed formats have.
static bool is_sound(tvms_dtype dtype) {
  uint8_t bits = dtype.bits;
  switch (dtype.code) {
  case TVMS_INT:
  case TVMS_UINT: return bits && (bits & (bits - 1)) == 0;
  case TVMS_FLOAT: return bits == 8 || bits == 16 || bits == 32 || bits == 64;
  case TVMS_BFLOAT: return bits == 16;
  default: return true;
  }
}

bool tvms_lint_check_dtype(tvms_lint *lint, tvms_diag_id id, tvms_dtype dtype,
                           tvms_span span) {
  if (tvms_dtype_is_void(dtype) || is_sound(dtype) || !span.end) return false;
  char text[TVMS_DTYPE_TEXT];
  tvms_diag_report(&lint->context->diags, id, span, tvms_dtype_text(dtype, text));
  return true;
}

static void check_dtype(tvms_lint *lint, tvms_dtype dtype, tvms_span span) {
  (void)tvms_lint_check_dtype(lint, TVMS_D_dtype_width, dtype, span);
}

static void check_indices(tvms_lint *lint, tvms_list indices) {
  for (uint32_t i = 0; i < indices.len; i++) {
    const tvms_node *index = indices.items[i];
    if (!tvms_dtype_is_real(index->dtype)) continue;
    tvms_diag_report(&lint->context->diags, TVMS_D_float_index, index->span);
  }
}

static void check_extent(tvms_lint *lint, const tvms_node *extent, tvms_span span) {
  if (extent->kind != TVMS_NODE_INT_IMM || extent->flags & TVMS_FLAG_LARGE) return;
  int64_t value = tvms_as_int_imm(extent)->value;
  if (value >= 0) return;
  tvms_diag_report(&lint->context->diags, TVMS_D_negative_extent,
                   extent->span.end ? extent->span : span, (long long)value);
}

static void check_buffer(tvms_lint *lint, const tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  check_dtype(lint, buffer->element, node->span);
  check_scope(lint, buffer->data->sinfo, node->span);
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    check_extent(lint, buffer->shape.items[i], node->span);
  }
}

void tvms_lint_check_var(tvms_lint *lint, const tvms_node *var) {
  check_dtype(lint, var->dtype, var->span);
}

void tvms_lint_check_tir_node(tvms_lint *lint, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_BUFFER: check_buffer(lint, node); break;
  case TVMS_NODE_CAST: check_dtype(lint, node->dtype, node->span); break;
  case TVMS_NODE_BUFFER_LOAD:
  case TVMS_NODE_STORE: check_indices(lint, *tvms_node_element(node).indices); break;
  case TVMS_NODE_FOR: check_extent(lint, tvms_as_for(node)->extent, node->span); break;
  case TVMS_NODE_ITER_VAR: {
    const tvms_iter_var *axis = tvms_as_iter_var(node);
    check_tag(lint, node, node->span);
    if (axis->dom) check_extent(lint, tvms_as_range(axis->dom)->extent, node->span);
    break;
  }
  default: break;
  }
}
