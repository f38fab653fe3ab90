// Functions around the kernels, as machine code (backend/x86/kept.h). LLVM would take a tenth of the time of
// a matrix product for them.
#include "backend/x86/kept.h"

#include "backend/core/parallel.h"
#include "runtime/parallel.h"

#include <elf.h>
#include <stddef.h>

static void refer_to(tvms_x86_code *c, const char *name, uint32_t type, bool weak,
                     bool hidden) {
  uint32_t symbol = tvms_x86_symbol_of(c, name);
  if (weak) c->symbols.items[symbol].weak = true;
  if (hidden) c->symbols.items[symbol].hidden = true;
  tvms_x86_refer(c, symbol, type, 0);
}

static void refer_to_c(tvms_x86_code *c, const char *name) {
  refer_to(c, name, R_X86_64_PLT32, true, false);
}

// ---- Kept memory ----

void tvms_x86_add_take(tvms_x86_code *c, const char *name) {
  uint32_t symbol = tvms_x86_begin(c, name);
  TVMS_X86_BYTES(c, "\x52"              // push rdx
                    "\x31\xC0"          // look: xor eax, eax
                    "\x48\x87\x07"      // xchg [rdi], rax
                    "\x48\x85\xC0"      // test rax, rax
                    "\x75\x31"          // jne found
                    "\x48\x83\xC7\x08"  // add rdi, 8
                    "\x48\xFF\xCE"      // dec rsi
                    "\x75\xED"          // jne look
                    "\x48\x8B\x34\x24"  // none: mov rsi, [rsp]
                    "\x48\x83\xC6\x7F"  // add rsi, 127: the head, and up to a multiple
                    "\x48\x83\xE6\xC0"  // and rsi, -64
                    "\xBF\x40\0\0\0"    // mov edi, 64
                    "\xE8");            // call aligned_alloc
  refer_to_c(c, "aligned_alloc");
  TVMS_X86_BYTES(c, "\x48\x85\xC0"      // test rax, rax
                    "\x74\x0B"          // je end
                    "\x48\x8B\x14\x24"  // mov rdx, [rsp]
                    "\x48\x89\x10"      // mov [rax], rdx
                    "\x48\x83\xC0\x40"  // use: add rax, 64
                    "\x5A"              // end: pop rdx
                    "\xC3"              // ret
                    "\x48\x8B\x14\x24"  // found: mov rdx, [rsp]
                    "\x48\x39\x10"      // cmp [rax], rdx
                    "\x73\xF1"          // jae use
                    "\x48\x89\xC7"      // mov rdi, rax
                    "\xE8");            // call free
  refer_to_c(c, "free");
  TVMS_X86_BYTES(c, "\xEB\xC5");  // jmp none
  tvms_x86_end(c, symbol);
}

void tvms_x86_add_give(tvms_x86_code *c, const char *name) {
  uint32_t symbol = tvms_x86_begin(c, name);
  TVMS_X86_BYTES(c, "\x48\x83\xEA\x40"      // sub rdx, 64
                    "\x31\xC0"              // look: xor eax, eax
                    "\xF0\x48\x0F\xB1\x17"  // lock cmpxchg [rdi], rdx
                    "\x74\x11"              // je end
                    "\x48\x83\xC7\x08"      // add rdi, 8
                    "\x48\xFF\xCE"          // dec rsi
                    "\x75\xEE"              // jne look
                    "\x48\x89\xD7"          // mov rdi, rdx
                    "\xE9");                // jmp free
  refer_to_c(c, "free");
  TVMS_X86_BYTES(c, "\xC3");  // end: ret
  tvms_x86_end(c, symbol);
}

static void drop_list(tvms_x86_code *c, const tvms_x86_list *list) {
  TVMS_X86_BYTES(c, "\x48\x8D\x1D");  // lea rbx, [rip + list]
  refer_to(c, list->name, R_X86_64_PC32, false, true);
  TVMS_X86_BYTES(c, "\xBD");  // mov ebp, places
  tvms_x86_bytes(c, (const char *)&list->places, sizeof list->places);
  TVMS_X86_BYTES(c, "\x31\xFF"      // look: xor edi, edi
                    "\x48\x87\x3B"  // xchg [rbx], rdi
                    "\x48\x85\xFF"  // test rdi, rdi
                    "\x74\x05"      // je next
                    "\xE8");        // call free
  refer_to_c(c, "free");
  TVMS_X86_BYTES(c, "\x48\x83\xC3\x08"  // next: add rbx, 8
                    "\xFF\xCD"          // dec ebp
                    "\x75\xE9");        // jne look
}

void tvms_x86_add_leave(tvms_x86_code *c, const tvms_x86_list *lists, uint32_t count) {
  c->has_end = true;
  c->end = c->code.len;
  TVMS_X86_BYTES(c, "\x53"                // push rbx
                    "\x55"                // push rbp
                    "\x48\x83\xEC\x08");  // sub rsp, 8
  for (uint32_t i = 0; i < count; i++)
    drop_list(c, &lists[i]);
  TVMS_X86_BYTES(c, "\x48\x83\xC4\x08"  // add rsp, 8
                    "\x5D"              // pop rbp
                    "\x5B"              // pop rbx
                    "\xC3");            // ret
}

// ---- Threads ----

void tvms_x86_add_launch(tvms_x86_code *c, const char *name) {
  tvms_x86_add_variable(c, TVMS_PARALLEL_SLOT);
  uint32_t symbol = tvms_x86_begin(c, name);
  TVMS_X86_BYTES(c, "\x48\x8B\x05");  // mov rax, [rip + …]
  refer_to(c, TVMS_PARALLEL_SLOT, R_X86_64_REX_GOTPCRELX, false, false);
  TVMS_X86_BYTES(
      c, "\x48\x8B\x00"  // mov rax, [rax]
         "\x48\x85\xC0"  // test rax, rax
         "\x74\x04"      // je own
         "\x31\xD2"  // xor edx, edx: TVM takes 0 for as many tasks as it has threads
         "\xFF\xE0"  // jmp rax
         "\x48\x8B\x05");  // own: mov rax, [rip + …]
  refer_to(c, TVMS_PARALLEL_LAUNCH, R_X86_64_REX_GOTPCRELX, true, false);
  TVMS_X86_BYTES(c,
                 "\x48\x85\xC0"                    // test rax, rax
                 "\x74\x02"                        // je alone
                 "\xFF\xE0"                        // jmp rax
                 "\x48\x83\xEC\x18"                // alone: sub rsp, 24
                 "\x48\xC7\x04\x24\0\0\0\0"        // mov qword [rsp], 0
                 "\x48\xC7\x44\x24\x08\x01\0\0\0"  // mov qword [rsp + 8], 1: one task
                 "\x48\x89\xF8"                    // mov rax, rdi
                 "\x48\x89\xF2"                    // mov rdx, rsi
                 "\x31\xFF"                        // xor edi, edi
                 "\x48\x89\xE6"                    // mov rsi, rsp
                 "\xFF\xD0"                        // call rax
                 "\x48\x83\xC4\x18"                // add rsp, 24
                 "\xC3");                          // ret
  tvms_x86_end(c, symbol);
}
_Static_assert(offsetof(tvms_parallel_env, tasks) == 8
                   && sizeof(tvms_parallel_env) == 16,
               "as launch makes it");

// The frame of a task below rbp, and the record: a lock, the number of the task that failed, its error, the
// extent of the loop, values.
enum { RECORD = -8, NUMBER = -16, ERROR_END = -16, LOCK = 0, TASK = 4, RAISED = 8 };

// RAX gets where task R8 begins: R9 steps for each, and R10 more of all RCX. Changes RDX.
static void begin_of_task(tvms_x86_code *c) {
  tvms_x86_with(c, TVMS_X86_LOAD, RAX, R8);
  tvms_x86_with(c, TVMS_X86_MUL, RAX, R10);
  TVMS_X86_BYTES(c, "\x48\x99"        // cqo
                    "\x48\xF7\xF9");  // idiv rcx
  tvms_x86_with(c, TVMS_X86_LOAD, RDX, R8);
  tvms_x86_with(c, TVMS_X86_MUL, RDX, R9);
  tvms_x86_with(c, TVMS_X86_ADD, RAX, RDX);
}

// R10 gets the first step of the task, R11 how many there are, as backend/llvm/parallel.c shares them.
static void share(tvms_x86_code *c, int64_t extent) {
  tvms_x86_at(c, TVMS_X86_LOAD_INT32, true, RCX, RSI,
              offsetof(tvms_parallel_env, tasks));
  tvms_x86_at(c, TVMS_X86_LOAD_INT32, true, R8, RBP, NUMBER);
  tvms_x86_at(c, TVMS_X86_LOAD, true, RAX, RDX, extent);
  TVMS_X86_BYTES(c, "\x48\x99"        // cqo
                    "\x48\xF7\xF9");  // idiv rcx: rax the least share, rdx what is left
  tvms_x86_with(c, TVMS_X86_LOAD, R9, RAX);
  tvms_x86_with(c, TVMS_X86_LOAD, R10, RDX);
  begin_of_task(c);
  tvms_x86_with(c, TVMS_X86_LOAD, R11, RAX);
  tvms_x86_at(c, TVMS_X86_ADDRESS, true, R8, R8, 1);
  begin_of_task(c);
  tvms_x86_with(c, TVMS_X86_LOAD, R10, R11);
  tvms_x86_with(c, TVMS_X86_LOAD, R11, RAX);
  tvms_x86_with(c, TVMS_X86_SUB, R11, R10);
}

// Calls the steps: error, values, first, count.
static void call_steps(tvms_x86_code *c, const char *steps, uint32_t values,
                       int64_t first_value, int64_t error) {
  static const tvms_x86_register registers[] = {RDI, RSI, RDX, RCX, R8, R9};
  enum { REGISTERS = sizeof registers / sizeof registers[0] };
  tvms_x86_at(c, TVMS_X86_LOAD, true, RAX, RBP, RECORD);
  for (uint32_t i = 1; i < values + 3; i++) {
    bool on_stack = i >= REGISTERS;
    tvms_x86_register to = on_stack ? RDI : registers[i];
    if (i <= values)
      tvms_x86_at(c, TVMS_X86_LOAD, true, to, RAX, first_value + 8 * ((int64_t)i - 1));
    else
      tvms_x86_with(c, TVMS_X86_LOAD, to, i == values + 1 ? R10 : R11);
    if (on_stack) tvms_x86_at(c, TVMS_X86_STORE, true, to, RSP, 8 * (i - REGISTERS));
  }
  tvms_x86_at(c, TVMS_X86_ADDRESS, true, RDI, RBP, error);
  TVMS_X86_BYTES(c, "\xE8");  // call steps
  refer_to(c, steps, R_X86_64_PLT32, false, true);
}

// Writes the error of a task into the record, unless an earlier task has failed.
static void report(tvms_x86_code *c, uint32_t raised, int64_t error) {
  uint32_t wait = tvms_x86_label(c), done = tvms_x86_label(c);
  tvms_x86_at(c, TVMS_X86_LOAD, true, RDX, RBP, RECORD);
  tvms_x86_land(c, wait);
  tvms_x86_set(c, RAX, 1);
  TVMS_X86_BYTES(c, "\x87\x02"    // xchg [rdx], eax: the lock
                    "\x85\xC0");  // test eax, eax
  tvms_x86_jump_to(c, TVMS_X86_UNEQUAL, wait);
  tvms_x86_at(c, TVMS_X86_LOAD, false, RAX, RBP, NUMBER);
  tvms_x86_at(c, TVMS_X86_CMP, false, RAX, RDX, TASK);
  tvms_x86_jump_to(c, TVMS_X86_AT_LEAST, done);
  tvms_x86_at(c, TVMS_X86_STORE, false, RAX, RDX, TASK);
  for (uint32_t i = 0; i < raised; i++) {
    tvms_x86_at(c, TVMS_X86_LOAD, true, RCX, RBP, error + 8 * (int64_t)i);
    tvms_x86_at(c, TVMS_X86_STORE, true, RCX, RDX, RAISED + 8 * (int64_t)i);
  }
  tvms_x86_land(c, done);
  tvms_x86_store_number(c, RDX, LOCK, 0);
}

void tvms_x86_add_task(tvms_x86_code *c, const char *name, const char *steps,
                       uint32_t values, uint32_t raised) {
  int64_t error = ERROR_END - 8 * (int64_t)raised,
          extent = RAISED + 8 * (int64_t)raised;
  uint32_t symbol = tvms_x86_symbol_of(c, name);
  c->symbols.items[symbol].hidden = true;
  uint64_t place = tvms_x86_open(c, symbol);
  uint32_t fine = tvms_x86_label(c);
  tvms_x86_at(c, TVMS_X86_STORE, true, RDX, RBP, RECORD);
  tvms_x86_at(c, TVMS_X86_STORE, false, RDI, RBP, NUMBER);
  share(c, extent);
  tvms_x86_set(c, RAX, 0);
  for (uint32_t i = 0; i < raised; i++)
    tvms_x86_at(c, TVMS_X86_STORE, true, RAX, RBP, error + 8 * (int64_t)i);
  call_steps(c, steps, values, extent + 8, error);
  TVMS_X86_BYTES(c, "\x85\xC0");  // test eax, eax
  tvms_x86_jump_to(c, TVMS_X86_EQUAL, fine);
  report(c, raised, error);
  tvms_x86_land(c, fine);
  TVMS_X86_BYTES(c, "\x31\xC0"  // xor eax, eax
                    "\xC9"      // leave
                    "\xC3");    // ret
  uint32_t bytes = 16 + 8 * raised + 8 * values;
  tvms_x86_close(c, symbol, place, (bytes + 15) / 16 * 16);
}
