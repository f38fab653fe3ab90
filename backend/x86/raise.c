// The function that raises, as machine code (backend/x86/raise.h).
#include "backend/x86/raise.h"

#include "runtime/abi.h"

#include <elf.h>

// The address of a symbol that others may define, from the table that the loader fills in.
static void load_address(tvms_x86_code *c, uint32_t symbol) {
  tvms_x86_bytes(c, "\x48\x8B\x05", 3);  // mov rax, [rip + …]
  tvms_x86_refer(c, symbol, R_X86_64_REX_GOTPCRELX, 0);
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
  static const char call[] = "\x48\x85\xC0"      // test rax, rax
                             "\x74\x08"          // je end
                             "\x48\x89\xF7"      // call: mov rdi, rsi
                             "\x48\x89\xD6"      // mov rsi, rdx
                             "\xFF\xE0"          // jmp rax
                             "\xC3";             // end: ret
  // The host's loader finds it by name and fills it.
  uint32_t variable = tvms_x86_add_variable(c, TVMS_RAISE_SLOT);
  uint32_t weak = tvms_x86_symbol_of(c, "TVMFFIErrorSetRaisedFromCStr");
  c->symbols.items[weak].weak = true;
  uint32_t symbol = tvms_x86_symbol_of(c, name);
  tvms_x86_symbol *s = &c->symbols.items[symbol];
  s->defined = s->hidden = true;
  s->at = c->code.len;
  tvms_x86_bytes(c, keep, sizeof keep - 1);
  load_address(c, variable);
  tvms_x86_bytes(c, given, sizeof given - 1);
  load_address(c, weak);
  tvms_x86_bytes(c, call, sizeof call - 1);
  s->size = c->code.len - s->at;
}
