// The plug-in's table: target, optimisation, files and code in memory.
//
// Everything of LLVM that is open is held as a resource of the context's memory, so that
// an error in the middle of code generation closes it. No unwinding ever crosses a frame
// of LLVM: its functions return before anything of tvms can fail.
#include "backend/core/boxes.h"
#include "backend/core/parallel.h"
#include "backend/llvm/debug.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/kept.h"
#include "backend/llvm/module.h"
#include "backend/llvm/optimise.h"
#include "backend/llvm/target.h"
#include "backend/x86/object.h"
#include "runtime/box.h"
#include "runtime/parallel.h"
#include "support/diag_ids.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/LLJIT.h>
#include <stdio.h>

// What one compilation has open.
typedef struct {
  emitter e;
  LLVMTargetMachineRef machine;
  bool orders;                               // the machine was opened so
  LLVMTargetMachineRef TVMS_NULLABLE quick;  // of what is around the kernels
  LLVMMemoryBufferRef object;
  LLVMMemoryBufferRef TVMS_NULLABLE around;   // the other object
  LLVMMemoryBufferRef TVMS_NULLABLE entries;  // that of `direct`
  tvms_x86_code direct;
  char *TVMS_NULLABLE complaint;  // of LLVM: the first error that it has found
  tvms_native_form form;
  tvms_strbuf *out;
  tvms_jit *jit;
} job;

struct tvms_jit {
  tvms_memory *memory;
  LLVMOrcLLJITRef lljit;
};

static void close_job(void *what) {
  job *j = what;
  LLVMDisposeMessage(j->complaint);
  if (j->object) LLVMDisposeMemoryBuffer(j->object);
  if (j->around) LLVMDisposeMemoryBuffer(j->around);
  if (j->entries) LLVMDisposeMemoryBuffer(j->entries);
  if (j->machine) tvms_llvm_close_machine(j->e.options, j->orders, j->machine);
  if (j->quick) LLVMDisposeTargetMachine(j->quick);
  tvms_emit_debug_dispose(&j->e);
  if (j->e.builder) LLVMDisposeBuilder(j->e.builder);
  if (j->e.kernels) LLVMDisposeModule(j->e.kernels);
  if (j->e.around) LLVMDisposeModule(j->e.around);
  if (j->e.llvm) LLVMContextDispose(j->e.llvm);
}

// Reports a text of LLVM and leaves; `text` is copied first.
TVMS_NORETURN static void fail(job *j, char *text, void (*dispose)(char *)) {
  tvms_context *context = j->e.context;
  char line[512];
  snprintf(line, sizeof line, "%s", text ? text : "no reason given");
  if (text) dispose(text);
  tvms_diag_report(&context->diags, TVMS_D_code_generation, (tvms_span){0, 0}, line);
  tvms_memory_unwind(&context->memory, TVMS_FOUND_ERRORS);
}

// Remembers the first error that LLVM finds while it generates code; without a handler it
// would print it and end the process.
static void note_error(LLVMDiagnosticInfoRef info, void *what) {
  job *j = what;
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || j->complaint) return;
  j->complaint = LLVMGetDiagInfoDescription(info);
}

static void fail_if_complained(job *j) {
  char *complaint = j->complaint;
  j->complaint = NULL;
  if (complaint) fail(j, complaint, LLVMDisposeMessage);
}

static void check_target(job *j) {
  tvms_context *context = j->e.context;
  tvms_strbuf why;
  tvms_strbuf_init(&why, &context->memory);
  if (!tvms_llvm_check_target(j->e.options, &why)) {
    tvms_diag_report(&context->diags, TVMS_D_code_generation, (tvms_span){0, 0},
                     tvms_strbuf_text(&why));
    tvms_memory_unwind(&context->memory, TVMS_FOUND_ERRORS);
  }
  tvms_strbuf_fini(&why);
}

static void open_machine(job *j) {
  char *why = NULL;
  j->machine = tvms_llvm_open_machine(j->e.options, j->orders, &why);
  if (!j->machine) fail(j, why, LLVMDisposeMessage);
}

// The code is known: it gets the machine that it needs.
static void choose_machine(job *j) {
  if (j->orders == tvms_llvm_gains_from_order(j->e.kernels)) return;
  tvms_llvm_close_machine(j->e.options, j->orders, j->machine);
  j->machine = NULL;
  j->orders = !j->orders;
  open_machine(j);
}

static LLVMModuleRef new_module(emitter *e, const char *triple,
                                LLVMTargetDataRef layout) {
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("tvms", e->llvm);
  LLVMSetTarget(module, triple);
  LLVMSetModuleDataLayout(module, layout);
  return module;
}

static void open_modules(job *j) {
  emitter *e = &j->e;
  e->llvm = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(e->llvm, note_error, j);
  e->builder = LLVMCreateBuilderInContext(e->llvm);
  char *triple = LLVMGetTargetMachineTriple(j->machine);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(j->machine);
  e->pointer_bytes = LLVMPointerSize(layout);
  e->without_half = tvms_llvm_lacks_half(triple, j->machine);
  e->kernels = e->module = new_module(e, triple, layout);
  // Lines would have to be described in both.
  bool whole = e->options->lines_of || j->form != TVMS_NATIVE_OBJECT;
  if (!whole) j->quick = tvms_llvm_open_quick_machine(triple);
  if (j->quick) {
    e->around = new_module(e, triple, layout);
    e->direct = &j->direct;
    tvms_x86_init(e->direct, &e->context->memory);
  }
  e->joins = e->around && !j->jit;
  e->in_memory = j->jit != NULL;
  LLVMDisposeTargetData(layout);
  LLVMDisposeMessage(triple);
}

// Are all parameters passed in the same way whatever the processor has? Vectors are not.
static bool is_plain(LLVMTypeRef type) {
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  return kind == LLVMVoidTypeKind || kind == LLVMPointerTypeKind
         || kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind
         || (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64);
}

static bool is_plain_function(LLVMValueRef function) {
  LLVMTypeRef type = LLVMGlobalGetValueType(function);
  bool plain = is_plain(LLVMGetReturnType(type));
  for (unsigned i = 0; i < LLVMCountParams(function) && plain; i++)
    plain = is_plain(LLVMTypeOf(LLVMGetParam(function, i)));
  return plain;
}

// Says for which processor each function is, so that vectors get its width.
static void mark_functions(job *j, LLVMModuleRef module) {
  char *cpu = LLVMGetTargetMachineCPU(j->machine);
  char *features = LLVMGetTargetMachineFeatureString(j->machine);
  bool any = module == j->e.around;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    any &= is_plain_function(f);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f)) continue;
    if (!any) {
      LLVMAddTargetDependentFunctionAttr(f, "target-cpu", cpu);
      LLVMAddTargetDependentFunctionAttr(f, "target-features", features);
    }
    // Loops stay loops: a call of memset would be an undefined symbol.
    LLVMAddTargetDependentFunctionAttr(f, "no-builtins", "");
    LLVMAddTargetDependentFunctionAttr(f, "frame-pointer", "none");
  }
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
}

// In builds that check themselves: it takes a fiftieth of the time of a compilation.
static void verify(job *j) {
#ifndef NDEBUG
  char *why = NULL;
  if (LLVMVerifyModule(j->e.kernels, LLVMReturnStatusAction, &why))
    fail(j, why, LLVMDisposeMessage);
  LLVMDisposeMessage(why);
#else
  (void)j;
#endif
}

static void optimise(job *j) {
  verify(j);
  LLVMErrorRef error =
      tvms_llvm_optimise(j->e.kernels, j->e.around, &j->e.context->scratch, j->machine);
  if (error) fail(j, LLVMGetErrorMessage(error), LLVMDisposeErrorMessage);
}

static LLVMMemoryBufferRef emit_file(job *j, LLVMTargetMachineRef machine,
                                     LLVMModuleRef module, LLVMCodeGenFileType type) {
  char *why = NULL;
  LLVMMemoryBufferRef file;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, type, &why, &file))
    fail(j, why, LLVMDisposeMessage);
  fail_if_complained(j);
  return file;
}

static bool has_content(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) return true;
  for (LLVMValueRef v = LLVMGetFirstGlobal(module); v; v = LLVMGetNextGlobal(v))
    if (LLVMGetInitializer(v)) return true;
  return false;
}

static void emit_direct(job *j) {
  tvms_strbuf object;
  tvms_strbuf_init(&object, &j->e.context->memory);
  tvms_x86_object(j->e.direct, &object);
  j->entries =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(object.text, object.len, "entries");
  tvms_strbuf_fini(&object);
  tvms_x86_fini(j->e.direct);
}

// Makes the objects of both modules, and of entries that need no LLVM.
static void emit_objects(job *j) {
  emitter *e = &j->e;
  j->object = emit_file(j, j->machine, e->kernels, LLVMObjectFile);
  if (e->around && has_content(e->around))
    j->around = emit_file(j, j->quick, e->around, LLVMObjectFile);
  if (e->direct) emit_direct(j);
}

static tvms_object_file file_of(LLVMMemoryBufferRef object) {
  return (tvms_object_file){LLVMGetBufferStart(object), LLVMGetBufferSize(object)};
}

// Adds the object of both modules and of data.
static void add_object(job *j, tvms_strbuf *out) {
  emitter *e = &j->e;
  emit_objects(j);
  if (!j->entries) {
    tvms_object_file whole = file_of(j->object);
    tvms_strbuf_add(out, whole.bytes, whole.size);
    return;
  }
  tvms_object_file files[3] = {file_of(j->object), file_of(j->entries)};
  uint32_t count = 2;
  if (j->around) files[count++] = file_of(j->around);
  bool joined = tvms_join_objects(&e->context->scratch, files, count, e->data.items,
                                  e->data.len, out);
  if (!joined) fail(j, NULL, NULL);
  tvms_vec_fini(&e->context->memory, &e->data);
}

static void build(job *j) {
  check_target(j);
  open_machine(j);
  open_modules(j);
  tvms_emit_module(&j->e);
  choose_machine(j);
  mark_functions(j, j->e.kernels);
  optimise(j);
  tvms_emit_entries(&j->e);
  mark_functions(j, j->e.around ? j->e.around : j->e.kernels);
}

static void run_emit(void *argument) {
  job *j = argument;
  tvms_resource resource;
  tvms_memory_hold(&j->e.context->memory, &resource, close_job, j);
  build(j);
  if (j->form == TVMS_NATIVE_OBJECT) {
    add_object(j, j->out);
  } else if (j->form == TVMS_NATIVE_IR) {
    char *text = LLVMPrintModuleToString(j->e.kernels);
    tvms_strbuf_puts(j->out, text);
    LLVMDisposeMessage(text);
  } else {
    j->object = emit_file(j, j->machine, j->e.kernels, LLVMAssemblyFile);
    tvms_strbuf_add(j->out, LLVMGetBufferStart(j->object),
                    LLVMGetBufferSize(j->object));
  }
  tvms_memory_release(&j->e.context->memory, &resource);
  close_job(j);
}

static tvms_status emit(tvms_context *context, const tvms_module *module,
                        const tvms_native_options *options, tvms_native_form form,
                        tvms_strbuf *out) {
  job j = {.form = form, .out = out};
  j.e.context = context;
  j.e.program = module;
  j.e.options = options;
  return tvms_memory_protect(&context->memory, run_emit, &j);
}

// ---- Code in memory ----

static void check(job *j, LLVMErrorRef error) {
  if (error) fail(j, LLVMGetErrorMessage(error), LLVMDisposeErrorMessage);
}

static void *TVMS_NULLABLE find_symbol(void *self, const char *name) {
  const tvms_jit *jit = self;
  LLVMOrcExecutorAddress address = 0;
  LLVMErrorRef error = LLVMOrcLLJITLookup(jit->lljit, &address, name);
  if (error) LLVMConsumeError(error);
  return error ? NULL : (void *)(uintptr_t)address;
}

static void close_jit(tvms_jit *jit) {
  if (!jit->lljit) return;
  tvms_kept_free(find_symbol, jit);
  LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->lljit));
  jit->lljit = NULL;
}

static void define(job *j, LLVMOrcJITDylibRef library, const char *name,
                   uintptr_t address) {
  LLVMOrcCSymbolMapPair pair = {.Name =
                                    LLVMOrcLLJITMangleAndIntern(j->jit->lljit, name),
                                .Sym = {(LLVMOrcExecutorAddress)address, {0, 0}}};
  check(j, LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(&pair, 1)));
}

// Code in memory has the threads and the objects of the plug-in.
static void define_runtime(job *j, LLVMOrcJITDylibRef library) {
  static const struct {
    const char *name;
    tvms_box_function *function;
  } boxes[] = {
#define BOX(name, function) {TVMS_BOX_PREFIX #function, tvms_box_##function},
#include "runtime/boxes.def"
#undef BOX
  };
  define(j, library, TVMS_PARALLEL_LAUNCH, (uintptr_t)tvms_parallel_launch);
  define(j, library, TVMS_BOX_PREFIX "drop", (uintptr_t)tvms_box_drop);
  define(j, library, TVMS_BOX_PREFIX "put", (uintptr_t)tvms_box_put);
  define(j, library, TVMS_BOX_PREFIX "call", (uintptr_t)tvms_box_call);
  for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
    // Two names may have one function.
    bool seen = false;
    for (size_t k = 0; k < i; k++)
      seen |= boxes[k].function == boxes[i].function;
    if (!seen) define(j, library, boxes[i].name, (uintptr_t)boxes[i].function);
  }
}

// The JIT takes the object.
static void add_to_library(job *j, LLVMOrcJITDylibRef library,
                           LLVMMemoryBufferRef *object) {
  LLVMMemoryBufferRef taken = *object;
  *object = NULL;
  check(j, LLVMOrcLLJITAddObjectFile(j->jit->lljit, library, taken));
}

static void run_compile(void *argument) {
  job *j = argument;
  tvms_memory *memory = &j->e.context->memory;
  tvms_resource resource;
  j->jit = tvms_memory_alloc(memory, sizeof *j->jit);
  j->jit->memory = memory;
  tvms_memory_hold(memory, &resource, close_job, j);
  build(j);
  emit_objects(j);
  LLVMOrcLLJITRef lljit = NULL;
  check(j, LLVMOrcCreateLLJIT(&lljit, NULL));
  j->jit->lljit = lljit;
  LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(lljit);
  LLVMOrcDefinitionGeneratorRef process = NULL;
  check(j, LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
               &process, LLVMOrcLLJITGetGlobalPrefix(lljit), NULL, NULL));
  LLVMOrcJITDylibAddGenerator(library, process);
  define_runtime(j, library);
  add_to_library(j, library, &j->object);
  if (j->around) add_to_library(j, library, &j->around);
  if (j->entries) add_to_library(j, library, &j->entries);
  tvms_memory_release(memory, &resource);
  close_job(j);
}

static tvms_status compile(tvms_context *context, const tvms_module *module,
                           const tvms_native_options *options, tvms_jit **jit) {
  job j = {.form = TVMS_NATIVE_OBJECT};
  j.e.context = context;
  j.e.program = module;
  j.e.options = options;
  tvms_status status = tvms_memory_protect(&context->memory, run_compile, &j);
  if (status != TVMS_OK && j.jit) close_jit(j.jit);
  *jit = j.jit;
  return status;
}

static tvms_safe_call find(tvms_jit *jit, const char *name) {
  tvms_strbuf symbol;
  tvms_strbuf_init(&symbol, jit->memory);
  tvms_strbuf_printf(&symbol, TVMS_SAFE_CALL_PREFIX "%s", name);
  void *found = find_symbol(jit, tvms_strbuf_text(&symbol));
  tvms_strbuf_fini(&symbol);
  return (tvms_safe_call)(uintptr_t)found;
}

__attribute__((visibility("default"))) extern const tvms_backend tvms_backend_llvm;

const tvms_backend tvms_backend_llvm = {
    .version = TVMS_BACKEND_VERSION,
    .name = "LLVM " TVMS_LLVM_VERSION,
    .check_target = tvms_llvm_check_target,
    .emit = emit,
    .compile = compile,
    .find = find,
    .close = close_jit,
};
