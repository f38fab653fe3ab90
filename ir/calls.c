// Namespaces of ir/calls.def by their paths.
#include "ir/calls.h"

static const char *const paths[] = {
    "",
#define CALL(ns, name, signature, since, until, handler)
#define NAMESPACE(ident, path) path,
#include "ir/calls.def"
};

const char *tvms_namespace_text(tvms_namespace namespace_) {
  return paths[namespace_];
}
