// The function that raises, as machine code (backend/x86/raise.h).
#include "backend/x86/raise.h"

#include "interp/interp.h"
#include "runtime/abi.h"

#include <elf.h>

// The address of a symbol that others may define, from the table that the loader fills in.
static void load_address(tvms_x86_code *c, uint32_t symbol) {
  TVMS_X86_BYTES(c, "\x48\x8B\x05");  // mov rax, [rip + …]
  tvms_x86_refer(c, symbol, R_X86_64_REX_GOTPCRELX, 0);
}

void tvms_x86_add_refuse(tvms_x86_code *c, const char *raise) {
  // It reads at rdx and writes at rdi; r9 is where it goes back to at the end of the signature, or 0.
  static const char fill[] = "\x55"          // push rbp
                             "\x48\x89\xE5"  // mov rbp, rsp
                             "\x4C\x29\xC4"  // sub rsp, r8
                             "\x48\x89\xE7"  // mov rdi, rsp
                             "\x45\x31\xC9"  // xor r9d, r9d
                             "\x8A\x02"      // next: mov al, [rdx]
                             "\x48\xFF\xC2"  // inc rdx
                             "\x3C\x01"      // cmp al, TVMS_SIGNATURE_MARK
                             "\x75\x08"      // jne put
                             "\x49\x89\xD1"  // mov r9, rdx
                             "\x48\x89\xCA"  // mov rdx, rcx
                             "\xEB\xEF"      // jmp next
                             "\x88\x07"      // put: mov [rdi], al
                             "\x48\xFF\xC7"  // inc rdi
                             "\x84\xC0"      // test al, al
                             "\x75\xE6"      // jne next
                             "\x48\xFF\xCF"  // dec rdi
                             "\x4C\x89\xCA"  // mov rdx, r9
                             "\x45\x31\xC9"  // xor r9d, r9d
                             "\x48\x85\xD2"  // test rdx, rdx
                             "\x75\xD8"      // jne next
                             "\x48\x89\xE2"  // mov rdx, rsp
                             "\x31\xFF";     // xor edi, edi
  static const char leave[] = "\xC9\xC3";    // leave; ret
  _Static_assert(TVMS_SIGNATURE_MARK == 1, "the machine code compares with 1");
  uint32_t symbol = tvms_x86_begin(c, TVMS_X86_REFUSE_NAME);
  TVMS_X86_BYTES(c, fill);
  tvms_x86_call(c, raise);
  TVMS_X86_BYTES(c, leave);
  tvms_x86_end(c, symbol);
}

void tvms_x86_add_raise(tvms_x86_code *c, const char *name) {
  static const char keep[] = "\x48\x85\xFF"      // test rdi, rdi
                             "\x74\x08"          // je find
                             "\x48\x89\x37"      // mov [rdi], rsi
                             "\x48\x89\x57\x08"  // mov [rdi + 8], rdx
                             "\xC3";             // ret; find:
  static const char given[] = "\x48\x8B\x00"     // mov rax, [rax]
                              "\x48\x85\xC0"     // test rax, rax
                              "\x75\x0C";        // jne call
  static const char leave[] = "\x48\x85\xC0"     // test rax, rax
                              "\x74\x08"         // je end
                              "\x48\x89\xF7"     // call: mov rdi, rsi
                              "\x48\x89\xD6"     // mov rsi, rdx
                              "\xFF\xE0"         // jmp rax
                              "\xC3";            // end: ret
  // The host's loader finds it by name and fills it.
  uint32_t variable = tvms_x86_add_variable(c, TVMS_RAISE_SLOT);
  uint32_t weak = tvms_x86_symbol_of(c, "TVMFFIErrorSetRaisedFromCStr");
  c->symbols.items[weak].weak = true;
  uint32_t symbol = tvms_x86_begin(c, name);
  TVMS_X86_BYTES(c, keep);
  load_address(c, variable);
  TVMS_X86_BYTES(c, given);
  load_address(c, weak);
  TVMS_X86_BYTES(c, leave);
  tvms_x86_end(c, symbol);
}
