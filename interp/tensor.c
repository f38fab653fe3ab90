#include "interp/tensor.h"

#include "support/diag_ids.h"
#include "support/strbuf.h"

TVMS_NORETURN void tvms_interp_no_tensor(tvms_interp_frame *f, tvms_span span,
                                         tvms_dl_type type, int32_t ndim,
                                         const int64_t *shape) {
  char name[TVMS_DTYPE_TEXT];
  tvms_strbuf text;
  tvms_strbuf_init(&text, &f->context->memory);
  tvms_dtype dtype = {type.code, type.bits, (int16_t)type.lanes};
  tvms_strbuf_printf(&text, "%s[", tvms_dtype_text(dtype, name));
  for (int32_t i = 0; i < ndim; i++)
    tvms_strbuf_printf(&text, i ? ", %lld" : "%lld", (long long)shape[i]);
  tvms_strbuf_putc(&text, ']');
  const char *kept =
      tvms_arena_text(&f->context->arena, tvms_strbuf_text(&text), text.len);
  tvms_strbuf_fini(&text);
  fault(f, TVMS_D_tensor_not_made, span, kept);
}

tvms_tensor *tvms_interp_new_tensor(tvms_interp_frame *f, tvms_span span,
                                    tvms_dl_type type, int32_t ndim,
                                    const int64_t *shape) {
  bool stored = tvms_dl_element_size(type) && type.lanes;
  tvms_tensor *made =
      stored ? tvms_tensor_new(f->interp->heap, type, ndim, shape) : NULL;
  if (!made) tvms_interp_no_tensor(f, span, type, ndim, shape);
  return made;
}
