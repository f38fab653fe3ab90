// Scopes by their first word, axes of threads by theirs.
#include "schedule/storage_scope.h"

#include <string.h>

static bool starts(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

const char *tvms_storage_scope_of(const tvms_context *context,
                                  const tvms_node *buffer) {
  const tvms_node *type = tvms_as_buffer(buffer)->data->sinfo;
  if (!type || type->kind != TVMS_NODE_SINFO_POINTER) return "global";
  tvms_sym scope = tvms_as_sinfo_pointer(type)->scope;
  return scope ? tvms_symbol_text(context, scope) : "global";
}

tvms_storage_rank tvms_storage_rank_of(const char *scope) {
  if (starts(scope, "global.texture")) return TVMS_STORAGE_LOCAL;
  if (starts(scope, "global")) return TVMS_STORAGE_GLOBAL;
  if (starts(scope, "shared")) return TVMS_STORAGE_SHARED;
  return starts(scope, "warp") ? TVMS_STORAGE_WARP : TVMS_STORAGE_LOCAL;
}

const char *tvms_storage_tag_of(const char *scope) {
  static const char *const ranks[] = {
      "global.texture", "global",          "shared",          "warp",
      "local",          "wmma.matrix_a",   "wmma.matrix_b",   "wmma.accumulator",
      "amx.tmm",        "m16n8k8.matrixA", "m16n8k8.matrixB", "m16n8k8.matrixC",
      "metal.simdgroup"};
  for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
    if (starts(scope, ranks[i])) return scope + strlen(ranks[i]);
  }
  return scope;
}

bool tvms_storage_is_shared_by(tvms_storage_rank rank, const char *tag) {
  // The lanes of a warp are the threads of one axis.
  if (rank == TVMS_STORAGE_WARP) return strcmp(tag, "threadIdx.x") == 0;
  bool block = starts(tag, "threadIdx.") || starts(tag, "vthread");
  return rank == TVMS_STORAGE_GLOBAL || (rank == TVMS_STORAGE_SHARED && block);
}

bool tvms_storage_is_thread_axis(const char *tag) {
  static const char *const kinds[] = {"blockIdx.", "threadIdx.", "clusterCtaIdx.",
                                      "preferredClusterCtaIdx."};
  if (starts(tag, "vthread") || strcmp(tag, "cthread") == 0) return true;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    const char *dimension = tag + strlen(kinds[i]);
    if (starts(tag, kinds[i]))
      return dimension[0] >= 'x' && dimension[0] <= 'z' && !dimension[1];
  }
  return false;
}
