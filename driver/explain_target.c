// What is known of a target. Apart from explain.c, because it needs what building needs, which
// the program without native code has not.
#include "driver/explain_target.h"

#include "driver/build.h"

bool tvms_explain_target(tvms_context *context,
                         const tvms_backend *TVMS_NULLABLE backend, const char *text,
                         tvms_strbuf *out, tvms_strbuf *why) {
  tvms_unit unit;
  tvms_target target = {0};
  tvms_native_options options = {0};
  tvms_unit_init(&unit, context, TVMS_DIALECT_CURRENT);
  bool buildable =
      backend ? tvms_build_find_target(backend, text, &unit, &target, &options, why)
              : tvms_target_parse(&unit, text, &target, why);
  // A kind of TVM that is not a machine of LLVM is refused by `build`, but it is known.
  bool known = buildable || (target.kind && !target.triple);
  if (known) tvms_target_describe(&target, out);
  if (known && !buildable)
    tvms_strbuf_printf(out, "not for build: %s\n", tvms_strbuf_text(why));
  tvms_unit_fini(&unit);
  return known;
}
