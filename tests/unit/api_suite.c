// The ground of the suites about the functions of include/tvms.
#include "api_suite.h"

#include <string.h>

const char scale[] = "from tvm.script import tirx as T\n"
                     "\n"
                     "@T.prim_func\n"
                     "def scale(A: T.Buffer((2, 3), \"float32\"), B: T.Buffer((2, 3), "
                     "\"float32\"), factor: T.float32):\n"
                     "    for i, j in T.grid(2, 3):\n"
                     "        B[i, j] = A[i, j] * factor\n";

const char model[] = "from tvm.script import ir as I, relax as R\n"
                     "\n"
                     "@I.ir_module\n"
                     "class Model:\n"
                     "    @R.function\n"
                     "    def main(x: R.Tensor((\"n\", 4), \"float32\")):\n"
                     "        y = R.add(x, x)\n"
                     "        z = R.nn.relu(y)\n"
                     "        return z\n";

const char misspelt[] = "from tvm.script import ir as I, relax as R\n"
                        "\n"
                        "@I.ir_module\n"
                        "class Model:\n"
                        "    @R.function\n"
                        "    def main(x: R.Tensor((4,), \"float32\")):\n"
                        "        wide = R.add(x, x)\n"
                        "        return wid\n";

tvms_context *context;

void open_context(void) {
  cr_assert_eq(tvms_context_create(NULL, &context), TVMS_OK);
}

void close_context(void) {
  tvms_context_destroy(context);
}

tvms_source *source_of(const char *name, const char *text) {
  tvms_source *source;
  cr_assert_eq(tvms_source_add(context, name, text, strlen(text), &source), TVMS_OK);
  return source;
}

tvms_program *read_text(const char *text) {
  tvms_program *program;
  tvms_source *source = source_of("a.tvms", text);
  tvms_status status = tvms_program_read(context, source, NULL, &program);
  cr_assert_eq(status, TVMS_OK, "%s",
               tvms_diag_first(context) ? tvms_diag_message(tvms_diag_first(context))
                                        : tvms_context_message(context));
  return program;
}

char *print_as(tvms_program *program, const char *release) {
  tvms_program_print_options options = {.size = sizeof options, .release = release};
  char *text;
  size_t size;
  cr_assert_eq(tvms_program_print(program, &options, &text, &size), TVMS_OK);
  cr_assert_eq(strlen(text), size);
  return text;
}
