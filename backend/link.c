// Linking with the system's tools: the compiler driver knows where libc and libm are; what needs
// neither is linked without it.
//
// Nothing may stay undefined (-z defs) but weak symbols, which are tvm-ffi's and may be
// missing; so a library can be loaded by a program that knows nothing of TVM.
#define _GNU_SOURCE
#include "backend/link.h"

#include "backend/backend.h"
#include "backend/core/boxes.h"
#include "backend/core/parallel.h"
#include "backend/load.h"
#include "support/source.h"
#include "support/vec.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Does the object ask for the threads? It names the symbol if so, and nothing else has this name.
static bool has_parallel_loops(const tvms_strbuf *code) {
  return memmem(code->text, code->len, TVMS_PARALLEL_LAUNCH,
                sizeof TVMS_PARALLEL_LAUNCH)
         != NULL;
}

// Does it ask for objects?
static bool has_boxes(const tvms_strbuf *code) {
  return memmem(code->text, code->len, TVMS_BOX_PREFIX, sizeof TVMS_BOX_PREFIX - 1)
         != NULL;
}

// The table of symbols of an object, and where their names stand. False if there is none.
static bool find_symbols(const tvms_strbuf *code, Elf64_Shdr *table, uint64_t *names) {
  Elf64_Ehdr head;
  if (code->len < sizeof head) return false;
  memcpy(&head, code->text, sizeof head);
  *table = (Elf64_Shdr){0};
  for (uint32_t i = 0; i < head.e_shnum && table->sh_type != SHT_SYMTAB; i++) {
    memcpy(table, code->text + head.e_shoff + i * sizeof *table, sizeof *table);
  }
  if (table->sh_type != SHT_SYMTAB) return false;
  Elf64_Shdr texts;
  memcpy(&texts, code->text + head.e_shoff + table->sh_link * sizeof texts,
         sizeof texts);
  *names = texts.sh_offset;
  return true;
}

void tvms_backend_ask_for_threads(tvms_strbuf *object) {
  Elf64_Shdr table;
  uint64_t names;
  if (!find_symbols(object, &table, &names)) return;
  for (uint64_t at = sizeof(Elf64_Sym); at < table.sh_size; at += sizeof(Elf64_Sym)) {
    char *place = object->text + table.sh_offset + at;
    Elf64_Sym symbol;
    memcpy(&symbol, place, sizeof symbol);
    if (symbol.st_shndx != SHN_UNDEF
        || strcmp(object->text + names + symbol.st_name, TVMS_PARALLEL_LAUNCH) != 0)
      continue;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(symbol.st_info));
    memcpy(place, &symbol, sizeof symbol);
  }
}

// Functions of the C library itself, which every process has that loads a library, and of tvm-ffi. Naming a library
// that is not loaded yet, such as libm, takes longer to load than all else.
static bool is_in_process(const char *name) {
  static const char *const names[] = {"aligned_alloc", "free", "snprintf"};
  bool found = strncmp(name, "TVMFFI", 6) == 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++)
    found = strcmp(name, names[i]) == 0;
  return found;
}

// Does the object use a function of a library that must be named?
static bool needs_libraries(const tvms_strbuf *code) {
  Elf64_Shdr table;
  uint64_t names;
  if (!find_symbols(code, &table, &names)) return true;
  for (uint64_t at = sizeof(Elf64_Sym); at < table.sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    memcpy(&symbol, code->text + table.sh_offset + at, sizeof symbol);
    const char *name = code->text + names + symbol.st_name;
    if (symbol.st_shndx == SHN_UNDEF && !is_in_process(name)) return true;
  }
  return false;
}

// The environment, with messages in English.
static char **environment(tvms_memory *memory) {
  static const char english[] = "LC_ALL=C";
  size_t count = 0, kept = 0;
  while (environ[count])
    count++;
  char **made = tvms_memory_alloc(memory, (count + 2) * sizeof *made);
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], english, 7) != 0) made[kept++] = environ[i];
  made[kept++] = (char *)(uintptr_t)english;
  made[kept] = NULL;
  return made;
}

// Appends what comes out of a file, up to its end.
static void read_all(int file, tvms_strbuf *out) {
  char piece[4096];
  for (;;) {
    ssize_t len = read(file, piece, sizeof piece);
    if (len > 0)
      tvms_strbuf_add(out, piece, (size_t)len);
    else if (!len || errno != EINTR)
      return;
  }
}

// Runs a program, and appends what it says on standard error; its error number, or 0 and how it ended.
static int run(const char *const *arguments, tvms_strbuf *said, int *status) {
  int ends[2];
  pid_t child;
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  char **variables = environment(said->memory);
  int error = posix_spawnp(&child, arguments[0], &actions, NULL,
                           (char *const *)(uintptr_t)arguments, variables);
  tvms_memory_free(said->memory, variables);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (!error) read_all(ends[0], said);
  close(ends[0]);
  while (!error && waitpid(child, status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return error;
}

static bool run_driver(const char *const *arguments, tvms_strbuf *why) {
  tvms_strbuf said;
  tvms_strbuf_init(&said, why->memory);
  int status, error = run(arguments, &said, &status);
  bool good = !error && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (error == ENOENT) {
    tvms_strbuf_printf(
        why,
        "libraries and archives need the tools of a C compiler, and '%s' was not found "
        "(on Debian, install gcc); an object file (.o) can be written without them",
        arguments[0]);
  } else if (error) {
    tvms_strbuf_printf(why, "cannot start '%s': %s", arguments[0], strerror(error));
  } else if (!good) {
    tvms_strbuf_printf(why, "'%s' failed%s", arguments[0], said.len ? ":\n" : "");
    tvms_strbuf_add(why, said.text, said.len);
  }
  tvms_strbuf_fini(&said);
  return good;
}

// What needs no library needs no compiler driver that knows where they are, nor its 20 ms.
static bool link_alone(tvms_memory *memory, const char *object, const char *library) {
  // Without pages between code and data, and without a page that is only read once it was filled in, there is less to
  // map: loading it takes three quarters of the time.
  const char *arguments[] = {"ld",
                             "-shared",
                             "--eh-frame-hdr",
                             "--hash-style=gnu",
                             "-o",
                             library,
                             "-z",
                             "noexecstack",
                             "-z",
                             "noseparate-code",
                             "-z",
                             "norelro",
                             object,
                             NULL};
  tvms_strbuf said;
  tvms_strbuf_init(&said, memory);
  int status;
  bool good =
      !run(arguments, &said, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  tvms_strbuf_fini(&said);
  return good;
}

bool tvms_backend_link_library(const char *object, const tvms_strbuf *code,
                               const char *const *files, uint32_t count,
                               const char *library, tvms_strbuf *why) {
  if (!needs_libraries(code) && link_alone(why->memory, object, library)) return true;
  tvms_strbuf threads;
  tvms_strbuf_init(&threads, why->memory);
  bool parallel = has_parallel_loops(code), needs = parallel || has_boxes(code);
  bool linked = !needs || tvms_backend_find_threads(&threads, why);
  TVMS_VEC(const char *) arguments = {0};
  const char *const before[] = {"cc", "-shared", "-o", library, object};
  for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
    tvms_vec_push(why->memory, &arguments, before[i]);
  for (uint32_t i = 0; i < count; i++)
    tvms_vec_push(why->memory, &arguments, files[i]);
  // libm is needed even though its functions are weak; nothing else may be missing. What is
  // weak takes nothing out of an archive by itself.
  const char *const behind[] = {
      "-Wl,-z,defs", "-Wl,--no-as-needed",
      "-lm",         needs ? tvms_strbuf_text(&threads) : NULL,
      "-pthread",    parallel ? "-Wl,-u," TVMS_PARALLEL_LAUNCH : NULL};
  for (size_t i = 0; i < sizeof behind / sizeof behind[0]; i++)
    if (behind[i]) tvms_vec_push(why->memory, &arguments, behind[i]);
  tvms_vec_push(why->memory, &arguments, (const char *)NULL);
  if (linked) linked = run_driver(arguments.items, why);
  tvms_vec_fini(why->memory, &arguments);
  tvms_strbuf_fini(&threads);
  return linked;
}

// Copies the archive with the run time to `archive`, for `ar` to add to.
static bool copy_run_time(const char *archive, tvms_strbuf *why) {
  tvms_strbuf path;
  tvms_strbuf_init(&path, why->memory);
  bool good = tvms_backend_find_threads(&path, why);
  tvms_source *source =
      good ? tvms_source_read(why->memory, tvms_strbuf_text(&path)) : NULL;
  if (good && !source)
    tvms_strbuf_printf(why, "%s: %s", tvms_strbuf_text(&path), strerror(errno));
  FILE *file = source ? fopen(archive, "wb") : NULL;
  good = file && fwrite(source->text, 1, source->size, file) == source->size;
  if (file && fclose(file) != 0) good = false;
  if (source && !good) tvms_strbuf_printf(why, "%s: %s", archive, strerror(errno));
  if (source) tvms_source_destroy(why->memory, source);
  tvms_strbuf_fini(&path);
  return good;
}

bool tvms_backend_archive(const char *object, bool with_run_time, const char *archive,
                          tvms_strbuf *why) {
  const char *arguments[] = {"ar", "rcs", archive, object, NULL};
  unlink(archive);
  return (!with_run_time || copy_run_time(archive, why)) && run_driver(arguments, why);
}
