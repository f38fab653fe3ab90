// A whole module: declarations first, so that order does not matter, then bodies. Entries
// come when LLVM has optimised the bodies: they are straight-line code that its passes, 10 ms
// of them, would not make better.
//
// PrimFuncs call each other's bodies, without checks. Private ones get no entry, except
// where something outside must find them: beside a Relax function, as TVM makes them
// (AttachGlobalSymbol), and for the interpreter.
#include "backend/llvm/module.h"

#include "backend/llvm/body.h"
#include "backend/llvm/debug.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/entry.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/helper.h"
#include "backend/llvm/kept.h"
#include "backend/llvm/modules.h"
#include "backend/llvm/optimise.h"
#include "backend/llvm/parallel.h"
#include "backend/llvm/plain.h"
#include "backend/llvm/steps.h"
#include "backend/llvm/symbols.h"
#include "backend/x86/entry.h"
#include "backend/x86/raise.h"
#include "interp/result.h"
#include "ir/contract.h"

static bool is_compiled(const tvms_member *member) {
  return member->function && member->function->kind == TVMS_NODE_PRIM_FUNC;
}

static void make_types(emitter *e) {
  e->i1 = LLVMInt1TypeInContext(e->llvm);
  e->i8 = LLVMInt8TypeInContext(e->llvm);
  e->i16 = LLVMInt16TypeInContext(e->llvm);
  e->i32 = LLVMInt32TypeInContext(e->llvm);
  e->i64 = LLVMInt64TypeInContext(e->llvm);
  e->f32 = LLVMFloatTypeInContext(e->llvm);
  e->f64 = LLVMDoubleTypeInContext(e->llvm);
  e->pointer = LLVMPointerTypeInContext(e->llvm, 0);
}

static void open_function(emitter *e, const tvms_member *member) {
  uint32_t ids = member->unit->next_id;
  e->member = member;
  e->source = tvms_as_prim_func(member->function);
  e->vars = tvms_arena_array(&e->context->scratch, LLVMValueRef, ids);
  e->wide = tvms_arena_array(&e->context->scratch, LLVMValueRef, ids);
  e->views = tvms_arena_array(&e->context->scratch, view *, ids);
  e->bindings = tvms_scaled_bindings(e->context, e->source->body, ids);
  e->result_dtype = tvms_interp_result_dtype(&e->context->memory, member->function);
  e->memory.len = 0;
  e->borrow = NULL;
  e->raiser_of = NULL;
  e->frame = 0;
  e->loop = NULL;
  e->in_index = false;
  e->in_parallel = false;
  e->stores = 0;
  e->past = 0;
  e->strided_count = 0;
  e->phased_count = 0;
}

static void declare_body(emitter *e, const tvms_member *member) {
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  size_vars sizes = {0};
  tvms_emit_collect_sizes(e, function, &sizes);
  LLVMTypeRef type = tvms_emit_body_type(e, function, &sizes);
  LLVMValueRef body = LLVMAddFunction(e->module, tvms_emit_body_name(e, member), type);
  LLVMSetLinkage(body, LLVMInternalLinkage);
  tvms_vec_fini(&e->context->memory, &sizes);
}

// Relax functions call PrimFuncs by name, so beside one of them all are visible, as TVM
// makes them (AttachGlobalSymbol).
static bool has_relax(const tvms_module *program) {
  for (uint32_t i = 0; i < program->member_count; i++) {
    const tvms_node *function = program->members[i].function;
    if (function && function->kind == TVMS_NODE_FUNCTION) return true;
  }
  return false;
}

static bool has_entry(const emitter *e, const tvms_member *member) {
  if (!is_compiled(member)) return false;
  bool all = e->options->traced || has_relax(e->program);
  return all || !(member->function->flags & TVMS_FLAG_PRIVATE);
}

// Until the entries are there, nothing seems to use what they will use: LLVM must keep it
// and its parameters.
static void set_visible(emitter *e, bool visible) {
  for (uint32_t i = 0; i < e->program->member_count; i++) {
    const tvms_member *member = &e->program->members[i];
    if (!has_entry(e, member)) continue;
    tvms_mark mark = tvms_arena_mark(&e->context->scratch);
    LLVMValueRef body = LLVMGetNamedFunction(e->module, tvms_emit_body_name(e, member));
    if (visible)
      LLVMSetLinkage(body, LLVMExternalLinkage);
    else if (body)  // a long one is in the other module, and hidden
      tvms_emit_hide(e, body);
    tvms_arena_reset(&e->context->scratch, mark);
  }
  LLVMValueRef raise = LLVMGetNamedFunction(e->module, TVMS_EMIT_RAISE_NAME);
  if (raise && !e->around)
    LLVMSetLinkage(raise, visible ? LLVMExternalLinkage : LLVMPrivateLinkage);
}

void tvms_emit_module(emitter *e) {
  const tvms_module *program = e->program;
  make_types(e);
  tvms_emit_debug_open(e);
  for (uint32_t i = 0; i < program->member_count; i++) {
    if (is_compiled(&program->members[i])) declare_body(e, &program->members[i]);
  }
  for (uint32_t i = 0; i < program->member_count; i++) {
    const tvms_member *member = &program->members[i];
    if (!is_compiled(member)) continue;
    tvms_mark mark = tvms_arena_mark(&e->context->scratch);
    open_function(e, member);
    tvms_emit_body(e, member);
    tvms_llvm_mark_code(e->function, e->stores);
    tvms_arena_reset(&e->context->scratch, mark);
  }
  tvms_emit_debug_none(e);
  tvms_emit_debug_close(e);
  set_visible(e, true);
}

// What the library has inside, as read-only data.
static void add_content(emitter *e) {
  const tvms_native_options *options = e->options;
  if (!options->content_name) return;
  LLVMValueRef bytes =
      LLVMConstStringInContext2(e->llvm, options->content, options->content_size, true);
  LLVMValueRef content =
      LLVMAddGlobal(e->module, LLVMTypeOf(bytes), options->content_name);
  LLVMSetInitializer(content, bytes);
  LLVMSetGlobalConstant(content, true);
  LLVMSetAlignment(content, TVMS_TENSOR_ALIGNMENT);
}

// Makes an entry without LLVM. False if that cannot be.
static bool made_directly(emitter *e, const tvms_member *member, bool hidden) {
  if (!e->direct || !tvms_dtype_is_void(e->result_dtype)) return false;
  const tvms_entry *entry = tvms_entry_new(e->context, member, !e->options->traced);
  if (!tvms_x86_serves(entry)) return false;
  tvms_x86_entry_names names = {.name = tvms_emit_entry_name(e, member),
                                .hidden = hidden,
                                .weak = e->options->plain_prefix != NULL,
                                .body = tvms_emit_body_name(e, member),
                                .traced = e->options->traced};
  tvms_x86_add_entry(e->direct, entry, &names);
  return true;
}

static void add_raise(emitter *e) {
  if (!e->direct || e->options->traced) return;
  bool wanted = e->direct->symbols.len || tvms_helper_is_used(e, TVMS_EMIT_RAISE_NAME);
  if (!wanted) return;
  if (tvms_x86_is_named(e->direct, TVMS_X86_REFUSE_NAME))
    tvms_x86_add_refuse(e->direct, TVMS_EMIT_RAISE_NAME);
  tvms_x86_add_raise(e->direct, TVMS_EMIT_RAISE_NAME);
}

void tvms_emit_entries(emitter *e) {
  const tvms_module *program = e->program;
  LLVMModuleRef kernels = tvms_emit_go_around(e);
  for (uint32_t i = 0; i < program->member_count; i++) {
    const tvms_member *member = &program->members[i];
    // One of no use outside may be called by its name here.
    bool exported = has_entry(e, member);
    bool called = !exported && member->function
                  && member->function->kind == TVMS_NODE_PRIM_FUNC
                  && tvms_emit_function_named(e, tvms_emit_entry_name(e, member));
    if (!exported && !called) continue;
    tvms_mark mark = tvms_arena_mark(&e->context->scratch);
    open_function(e, member);
    if (made_directly(e, member, called)) {
      tvms_arena_reset(&e->context->scratch, mark);
      continue;
    }
    tvms_emit_entry(e, member);
    if (called) tvms_emit_hide(e, e->function);
    bool served = tvms_call_contract(tvms_as_prim_func(member->function)).result_text;
    if (served && e->options->plain_prefix)
      tvms_emit_plain(e, member, e->options->plain_prefix);
    tvms_arena_reset(&e->context->scratch, mark);
  }
  tvms_emit_walker(e);
  tvms_emit_kept_end(e);
  tvms_emit_parallel_end(e);
  add_content(e);
  add_raise(e);
  tvms_emit_go_back(e, kernels);
  set_visible(e, false);
  tvms_vec_fini(&e->context->memory, &e->memory);
}
