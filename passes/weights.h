// Files of named tensors: .npz as numpy.savez writes them, and .safetensors.
#ifndef TVMS_PASSES_WEIGHTS_H
#define TVMS_PASSES_WEIGHTS_H

#include "ir/node.h"

// One tensor; it points into the file.
typedef struct {
  const char *name;  // `name_len` bytes
  size_t name_len;
  const char *data;
  size_t size;
  const char *TVMS_NULLABLE unread;  // why it cannot be read; then nothing follows
  bool npy;  // `data` is an .npy file; otherwise elements, which the following describe
  tvms_dtype dtype;
  int32_t ndim;
  int64_t shape[32];
} tvms_relax_weight;

typedef struct {
  tvms_context *context;
  tvms_shared *TVMS_NULLABLE file;
  TVMS_VEC(tvms_relax_weight) items;
} tvms_relax_weights;

// Maps a file, of any size, and finds its tensors. Returns NULL, or why that cannot be done. `fini` lets go of
// the file, also after a failure; constants that were made of it hold it longer.
const char *TVMS_NULLABLE tvms_relax_weights_init(tvms_relax_weights *weights,
                                                  tvms_context *context,
                                                  const char *path);

// The same for a file that is there already, whose holder the weights become. Its name says which of both it is.
const char *TVMS_NULLABLE tvms_relax_weights_read(tvms_relax_weights *weights,
                                                  tvms_context *context,
                                                  const char *name, tvms_shared *file);

// Lets go of the file and frees what is known of it.
void tvms_relax_weights_fini(tvms_relax_weights *weights);

// Has a tensor this name, or one that becomes it?
bool tvms_relax_weight_is(const tvms_relax_weight *weight, const char *name);

// The tensor of this name as a CONSTANT of `unit` with its type; NULL: there is none, or it
// cannot be read, which `why` tells then and is NULL otherwise. A name of the file may have other characters where the one that is asked for has underscores:
// "layers.0.weight" is TVM's parameter layers_0_weight, and "0.weight" may be _0_weight. An array of a void type of numpy is read as `wanted` (a type that
// numpy lacks, such as bfloat16) if its elements are as large.
tvms_node *TVMS_NULLABLE tvms_relax_weights_find(const tvms_relax_weights *weights,
                                                 tvms_unit *unit, const char *name,
                                                 tvms_dtype wanted,
                                                 const char *TVMS_NULLABLE *why);

#endif
