// The order of the keys of a metadata section.
//
// TVM keeps the section in a std::unordered_map by key while it prints
// (include/tvm/script/printer/ir_docsifier.h) and writes its entries as they come. In the
// C++ library of its wheels they are one list, in which the entries of a bucket stand
// together. A key of an empty bucket goes to the front of the list, any other to the front
// of its bucket, and the first 13 keys share 13 buckets. So keys come out last one first,
// but "relax.expr.Constant" stays with "tirx.StringImm", whose bucket it shares.
#include "printer/metadata_order.h"

#include <stddef.h>
#include <string.h>

enum { BUCKETS = 13 };

static uint64_t mix(uint64_t bits) {
  return bits ^ bits >> 47;
}

static uint64_t load(const char *text, size_t len) {
  uint64_t bits = 0;
  for (size_t i = len; i-- > 0;) {
    bits = bits << 8 | (unsigned char)text[i];
  }
  return bits;
}

// std::hash of a text on 64-bit machines: MurmurHash64A.
static uint64_t hash_of(const char *text) {
  static const uint64_t seed = 0xc70f6907, multiplier = 0xc6a4a7935bd1e995;
  size_t len = strlen(text);
  uint64_t hash = seed ^ len * multiplier;
  for (; len >= 8; text += 8, len -= 8) {
    hash = (hash ^ mix(load(text, 8) * multiplier) * multiplier) * multiplier;
  }
  if (len) hash = (hash ^ load(text, len)) * multiplier;
  return mix(mix(hash) * multiplier);
}

static uint32_t bucket_of(const char *key) {
  return (uint32_t)(hash_of(key) % BUCKETS);
}

void tvms_print_sort_metadata_keys(const char **keys, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    const char *key = keys[i];
    uint32_t at = 0;
    while (at < i && bucket_of(keys[at]) != bucket_of(key)) {
      at++;
    }
    if (at == i) at = 0;
    memmove(keys + at + 1, keys + at, (i - at) * sizeof *keys);
    keys[at] = key;
  }
}
