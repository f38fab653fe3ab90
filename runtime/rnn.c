// Slots of sequences and places in their rings; tensors are copied here, and otherwise touched by functions only.
#include "runtime/rnn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST = INT32_MAX / 4 };

// Areas. The first is the head, as that of a paged cache.
enum {
  HEAD,
  SEQUENCES,
  FREE,
  SLOTS,
  PLACES,
  BATCH,
  LENGTHS,
  INITS,
  STORAGES = INITS + TVMS_RNN_STATES
};

typedef struct {
  int64_t id;
  int64_t slot;
  int64_t place;    // of its last step
  int64_t history;  // steps that it can go back
} sequence;

typedef struct {
  uint32_t ndim;
  int64_t shape[TVMS_PAGED_RANK];  // of the storage
  tvms_dl_type type;
  uint64_t bytes;  // of one place
} state_tensor;

typedef struct {
  uint32_t kind;  // TVMS_STATE_RNN
  bool dirty;     // the arrays of the batch do not say what sequences are now
  int64_t layers, most, history, states;
  int64_t sequences;
  int64_t free;    // slots that are free
  int64_t batch;   // sequences of it
  int64_t synced;  // in its arrays; -1: these were never made
  state_tensor tensors[TVMS_RNN_STATES];
} head;

static TVMS_NORETURN TVMS_PRINTF(2, 3) void refuse(tvms_paged_host *host,
                                                   const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  host->refuse(host, text);
  __builtin_unreachable();
}

static head *head_of(tvms_paged_host *host) {
  return host->area(host, HEAD, sizeof(head));
}

static void *array(tvms_paged_host *host, uint32_t area, int64_t count, size_t size) {
  return host->area(host, area, (uint64_t)count * size);
}

// ---- Creation ----

static void check_count(tvms_paged_host *host, int64_t count, int64_t least,
                        const char *text) {
  if (count < least) refuse(host, "%s", text);
  if (count > MOST) refuse(host, "a smaller state is expected");
}

uint32_t tvms_rnn_areas(tvms_paged_host *host, const tvms_rnn_made *made) {
  check_count(host, made->layers, 1, "The number of layers should be greater than 0.");
  check_count(host, made->sequences, 1,
              "The number of reserved sequences should be greater than 0.");
  check_count(host, made->history, 1,
              "At least 1 history slot to store the current state");
  check_count(host, made->states, 1,
              "The number of states per layer should be greater than 0.");
  if (made->states > TVMS_RNN_STATES)
    refuse(host, "at most %d states per layer are expected", TVMS_RNN_STATES);
  if (made->gets != made->states)
    refuse(host,
           "The number of state getters should be the same as the number of states per "
           "layer, but got %lld and %lld respectively.",
           (long long)made->gets, (long long)made->states);
  if (made->sets != made->states)
    refuse(host,
           "The number of state setters should be the same as the number of states per "
           "layer, but got %lld and %lld respectively.",
           (long long)made->sets, (long long)made->states);
  for (int64_t i = 0; i < made->states; i++) {
    if (!made->inits[i] || made->inits[i]->ndim + 2 > TVMS_PAGED_RANK)
      refuse(host, "states of at most %d dimensions are expected", TVMS_PAGED_RANK - 2);
  }
  if (made->layers > MOST / TVMS_RNN_STATES)
    refuse(host, "a smaller state is expected");
  return STORAGES + (uint32_t)(made->layers * made->states);
}

static state_tensor tensor_of(tvms_paged_host *host, const tvms_rnn_made *made,
                              const tvms_dl_tensor *init) {
  state_tensor t = {.ndim = (uint32_t)init->ndim + 2, .type = init->dtype};
  t.bytes = ((uint64_t)init->dtype.bits + 7) / 8 * init->dtype.lanes;
  t.shape[0] = made->sequences;
  t.shape[1] = made->history;
  for (int32_t i = 0; i < init->ndim; i++) {
    t.shape[i + 2] = init->shape[i];
    if (__builtin_mul_overflow(t.bytes, (uint64_t)init->shape[i], &t.bytes))
      refuse(host, "a smaller state is expected");
  }
  return t;
}

void tvms_rnn_create(tvms_paged_host *host, const tvms_rnn_made *made) {
  head *h = head_of(host);
  *h = (head){.kind = TVMS_STATE_RNN,
              .layers = made->layers,
              .most = made->sequences,
              .history = made->history,
              .states = made->states,
              .synced = -1};
  for (int64_t i = 0; i < made->states; i++) {
    state_tensor t = tensor_of(host, made, made->inits[i]);
    h->tensors[i] = t;
    void *init = host->area(host, INITS + (uint32_t)i, t.bytes);
    memcpy(init, (char *)made->inits[i]->data + made->inits[i]->byte_offset,
           (size_t)t.bytes);
    uint64_t bytes = t.bytes;
    if (__builtin_mul_overflow(bytes, (uint64_t)(made->sequences * made->history),
                               &bytes))
      refuse(host, "a smaller state is expected");
    for (int64_t k = 0; k < made->layers; k++)
      host->area(host, STORAGES + (uint32_t)(k * made->states + i), bytes);
  }
  tvms_rnn_clear(host);
}

void tvms_rnn_clear(tvms_paged_host *host) {
  head *h = head_of(host);
  int64_t *slots = array(host, FREE, h->most, sizeof *slots);
  h->sequences = 0;
  h->free = h->most;
  for (int64_t i = 0; i < h->most; i++)
    slots[i] = h->most - 1 - i;
  h->dirty = false;
}

// ---- Sequences ----

static sequence *find(tvms_paged_host *host, int64_t id) {
  const head *h = head_of(host);
  sequence *all = array(host, SEQUENCES, h->most, sizeof *all);
  for (int64_t i = 0; i < h->sequences; i++) {
    if (all[i].id == id) return &all[i];
  }
  return NULL;
}

// `what` is "sequence" or "parent sequence".
static sequence *found(tvms_paged_host *host, int64_t id, const char *what) {
  sequence *s = find(host, id);
  if (!s)
    refuse(host, "The %s \"%lld\" cannot be found in the space state storage.", what,
           (long long)id);
  return s;
}

// A new one with a free slot.
static sequence *insert(tvms_paged_host *host, int64_t id) {
  head *h = head_of(host);
  if (!h->free) refuse(host, "The Sequence slot is full, cannot accept new sequence.");
  sequence *all = array(host, SEQUENCES, h->most, sizeof *all);
  const int64_t *slots = array(host, FREE, h->most, sizeof *slots);
  sequence *made = &all[h->sequences++];
  *made = (sequence){.id = id, .slot = slots[--h->free]};
  h->dirty = true;
  return made;
}

// Where a place of a slot is in a storage.
static char *place_in(tvms_paged_host *host, int64_t layer, int64_t state, int64_t slot,
                      int64_t place) {
  const head *h = head_of(host);
  char *base = host->area(host, STORAGES + (uint32_t)(layer * h->states + state), 0);
  return base + (uint64_t)(slot * h->history + place) * h->tensors[state].bytes;
}

void tvms_rnn_add(tvms_paged_host *host, int64_t id) {
  if (find(host, id))
    refuse(host, "The sequence \"%lld\" is already in the space state storage.",
           (long long)id);
  const sequence *made = insert(host, id);
  const head *h = head_of(host);
  for (int64_t layer = 0; layer < h->layers; layer++) {
    for (int64_t state = 0; state < h->states; state++)
      memcpy(place_in(host, layer, state, made->slot, 0),
             host->area(host, INITS + (uint32_t)state, 0),
             (size_t)h->tensors[state].bytes);
  }
}

void tvms_rnn_remove(tvms_paged_host *host, int64_t id) {
  sequence *gone = found(host, id, "sequence");
  head *h = head_of(host);
  sequence *all = array(host, SEQUENCES, h->most, sizeof *all);
  int64_t *slots = array(host, FREE, h->most, sizeof *slots);
  slots[h->free++] = gone->slot;
  *gone = all[--h->sequences];
  h->dirty = true;
}

void tvms_rnn_fork(tvms_paged_host *host, int64_t parent_id, int64_t child_id) {
  found(host, parent_id, "parent sequence");
  if (find(host, child_id))
    refuse(host, "The child sequence \"%lld\" is already in the space state storage.",
           (long long)child_id);
  sequence *child = insert(host, child_id);
  const sequence *parent = find(host, parent_id);
  child->place = parent->place;
  child->history = parent->history;
  const head *h = head_of(host);
  for (int64_t layer = 0; layer < h->layers; layer++) {
    for (int64_t state = 0; state < h->states; state++)
      memcpy(place_in(host, layer, state, child->slot, 0),
             place_in(host, layer, state, parent->slot, 0),
             (size_t)h->tensors[state].bytes * (size_t)h->history);
  }
}

void tvms_rnn_pop(tvms_paged_host *host, int64_t id, int64_t count) {
  sequence *s = found(host, id, "sequence");
  head *h = head_of(host);
  if (count < 0)
    refuse(host, "The length of rolling back %lld cannot be negative.",
           (long long)count);
  if (count > s->history)
    refuse(host,
           "The sequence only has %lld available history in the space state storage, "
           "while the length of rollback is %lld which exceeds the sequence length.",
           (long long)s->history, (long long)count);
  s->history -= count;
  s->place = (s->place - count + h->history) % h->history;
  h->dirty = true;
}

// ---- Batches ----

// TVM makes the arrays of a batch anew only if something has changed since they were made.
static void sync(tvms_paged_host *host) {
  head *h = head_of(host);
  const int64_t *ids = array(host, BATCH, h->batch, sizeof *ids);
  int32_t *slots = array(host, SLOTS, h->batch, sizeof *slots),
          *places = array(host, PLACES, h->batch, sizeof *places);
  for (int64_t i = 0; i < h->batch; i++) {
    const sequence *s = found(host, ids[i], "sequence");
    slots[i] = (int32_t)s->slot;
    places[i] = (int32_t)s->place;
  }
  h->synced = h->batch;
  h->dirty = false;
}

static void check_chain(tvms_paged_host *host, tvms_paged_shape lengths,
                        tvms_paged_shape parents) {
  int64_t at = 0;
  for (int64_t i = 0; i < lengths.count; i++) {
    for (int64_t k = 0; k < lengths.sizes[i]; k++, at++) {
      if (at >= parents.count || parents.sizes[at] != k - 1)
        refuse(host, "Unexpected token tree for RNN state. RNN state only supports "
                     "chains as token trees.");
    }
  }
}

void tvms_rnn_begin(tvms_paged_host *host, tvms_paged_shape ids,
                    tvms_paged_shape lengths, const tvms_paged_shape *parents) {
  if (ids.count != lengths.count)
    refuse(host, "The seq_ids size (%lld) and append_lengths size (%lld) mismatch.",
           (long long)ids.count, (long long)lengths.count);
  if (parents) check_chain(host, lengths, *parents);
  head *h = head_of(host);
  size_t bytes = (size_t)ids.count * sizeof(int64_t);
  void *batch = array(host, BATCH, ids.count, sizeof(int64_t)),
       *counts = array(host, LENGTHS, ids.count, sizeof(int64_t));
  if (bytes) memcpy(batch, ids.sizes, bytes);
  if (bytes) memcpy(counts, lengths.sizes, bytes);
  h->batch = ids.count;
  if (h->dirty) sync(host);
}

void tvms_rnn_end(tvms_paged_host *host) {
  head *h = head_of(host);
  const int64_t *ids = array(host, BATCH, h->batch, sizeof *ids),
                *lengths = array(host, LENGTHS, h->batch, sizeof *lengths);
  for (int64_t i = 0; i < h->batch; i++)
    found(host, ids[i], "sequence");  // before any of them changes
  for (int64_t i = 0; i < h->batch; i++) {
    sequence *s = found(host, ids[i], "sequence");
    // What came as several steps cannot be gone back in.
    int64_t more = s->history + 1 < h->history ? s->history + 1 : h->history - 1;
    s->history = lengths[i] > 1 ? 0 : more;
    s->place = (s->place + 1) % h->history;
  }
  h->dirty = true;
}

// ---- Tensors ----

static const head *check_tensor(tvms_paged_host *host, int64_t layer, int64_t state) {
  const head *h = head_of(host);
  if (layer < 0 || layer >= h->layers)
    refuse(host, "there is no layer %lld", (long long)layer);
  if (state < 0 || state >= h->states)
    refuse(host, "there is no state %lld", (long long)state);
  return h;
}

static tvms_paged_argument array_of(uint32_t area, int64_t count) {
  return (tvms_paged_argument){.kind = TVMS_PAGED_AREA,
                               .at = area,
                               .type = {TVMS_DL_INT, 32, 1},
                               .ndim = 1,
                               .shape = {count}};
}

void tvms_rnn_use(tvms_paged_host *host, int64_t layer, int64_t state, bool sets) {
  enum { CONTENT = 3 };
  const head *h = check_tensor(host, layer, state);
  if (h->dirty || h->synced < 0)
    refuse(host,
           "The auxiliary arrays are not synchronized to device. Please call "
           "`BeginForward` to synchronize before calling `%s`.",
           sets ? "Set" : "Get");
  if (!h->batch) refuse(host, "The curent batch size should be greater than 0.");
  const state_tensor *t = &h->tensors[state];
  const tvms_dl_tensor *content = host->given(host, CONTENT);
  tvms_paged_argument args[] = {
      {.kind = TVMS_PAGED_AREA,
       .at = STORAGES + (uint32_t)(layer * h->states + state),
       .type = t->type,
       .ndim = (int32_t)t->ndim},
      array_of(SLOTS, h->synced),
      array_of(PLACES, h->synced),
      {.kind = TVMS_PAGED_GIVEN,
       .at = CONTENT,
       .type = content->dtype,
       .ndim = content->ndim},
  };
  if (content->ndim > TVMS_PAGED_RANK)
    refuse(host, "a tensor of at most %d dimensions is expected", TVMS_PAGED_RANK);
  memcpy(args[0].shape, t->shape, sizeof t->shape);
  for (int32_t i = 0; i < content->ndim; i++)
    args[3].shape[i] = content->shape[i];
  host->call(host, sets ? tvms_rnn_set_function(state) : tvms_rnn_get_function(state),
             args, 4);
}

const void *tvms_rnn_look(tvms_paged_host *host, int64_t layer, int64_t state,
                          int64_t id, tvms_paged_argument *tensor) {
  const head *h = check_tensor(host, layer, state);
  const sequence *s = found(host, id, "sequence");
  const state_tensor *t = &h->tensors[state];
  *tensor = (tvms_paged_argument){.type = t->type, .ndim = (int32_t)t->ndim - 2};
  memcpy(tensor->shape, t->shape + 2, sizeof t->shape - 2 * sizeof *t->shape);
  return place_in(host, layer, state, s->slot, s->place);
}
