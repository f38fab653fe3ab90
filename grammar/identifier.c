// Bytes beyond ASCII: names by Unicode's rules, and what is not text at all.
//
// Python takes a name if its NFKC form is XID_Start XID_Continue*, and compares names by
// that form (reference, 2.3). utf8proc knows categories, not XID, so the few characters
// that Unicode adds to the categories (Other_ID_Start, Other_ID_Continue) stand here.
#include "grammar/identifier.h"

#include "grammar/lexer.h"
#include "grammar/meant.h"
#include "support/diag_ids.h"

#include <string.h>
#include <utf8proc.h>

enum { MOST_BAD_BYTES = 20 };

static bool is_start(utf8proc_int32_t c) {
  switch ((int)utf8proc_category(c)) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
  case UTF8PROC_CATEGORY_NL: return c != 0x2E2F;  // VERTICAL TILDE is pattern syntax
  default:
    return c == '_' || c == 0x1885 || c == 0x1886 || c == 0x2118 || c == 0x212E
           || c == 0x309B || c == 0x309C;
  }
}

static bool is_continue(utf8proc_int32_t c) {
  switch ((int)utf8proc_category(c)) {
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_MC:
  case UTF8PROC_CATEGORY_ND:
  case UTF8PROC_CATEGORY_PC: return true;
  default:
    return is_start(c) || c == 0x00B7 || c == 0x0387 || (c >= 0x1369 && c <= 0x1371)
           || c == 0x19DA;
  }
}

static utf8proc_ssize_t decode(const char *at, const char *end, utf8proc_int32_t *c) {
  return utf8proc_iterate((const utf8proc_uint8_t *)at, end - at, c);
}

static bool is_ascii_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
         || c == '_';
}

tvms_token_kind tvms_lexer_take_stray(tvms_lexer *lexer) {
  utf8proc_int32_t c;
  utf8proc_ssize_t len = decode(lexer->token, lexer->end, &c);
  lexer->cursor = lexer->token + (len > 0 ? len : 1);
  if (len <= 0) {  // reported by tvms_lexer_check_text
    while (lexer->cursor < lexer->end && decode(lexer->cursor, lexer->end, &c) < 0) {
      lexer->cursor++;
    }
    return TVMS_TOK_STRAY;
  }
  char text[8] = {0};
  bool shown = c > ' ' && c != 0x7F;
  if (shown) memcpy(text, lexer->token, (size_t)len);
  const tvms_diag *last = lexer->context->diags.last;
  tvms_span span = tvms_lexer_span(lexer);
  // `=!`: it belongs to what was just reported.
  if (last && last->source == lexer->context->diags.source
      && last->span.begin < span.begin && last->span.end == span.end)
    return TVMS_TOK_STRAY;
  tvms_diag *diag =
      tvms_diag_report(&lexer->context->diags, TVMS_D_stray_character, span,
                       shown ? "'" : "", text, shown ? "' " : "", (unsigned)c);
  lexer->cursor = tvms_lexer_explain_stray(lexer, diag, (uint32_t)c, lexer->cursor);
  return TVMS_TOK_STRAY;
}

const char *tvms_lexer_name_end(const tvms_lexer *lexer, const char *begin) {
  const char *at = begin;
  for (;;) {
    utf8proc_int32_t c;
    if (is_ascii_name(*at)) {
      at++;
      continue;
    }
    utf8proc_ssize_t len = (unsigned char)*at < 0x80 ? -1 : decode(at, lexer->end, &c);
    if (len <= 0 || !(at == begin ? is_start(c) : is_continue(c))) return at;
    at += len;
  }
}

// Interns the NFKC form. Returns false if that is not a name.
static bool normalise(tvms_lexer *lexer) {
  const utf8proc_uint8_t *text = (const utf8proc_uint8_t *)lexer->token;
  utf8proc_ssize_t len = lexer->cursor - lexer->token;
  utf8proc_option_t options =
      (utf8proc_option_t)(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  tvms_arena *scratch = &lexer->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  utf8proc_ssize_t wanted = utf8proc_decompose(text, len, NULL, 0, options);
  bool fine = wanted > 0;
  if (fine) {
    utf8proc_int32_t *wide =
        tvms_arena_array(scratch, utf8proc_int32_t, (size_t)wanted + 1);
    wanted = utf8proc_decompose(text, len, wide, wanted, options);
    utf8proc_ssize_t count = utf8proc_normalize_utf32(wide, wanted, options);
    fine = count > 0 && is_start(wide[0]);
    for (utf8proc_ssize_t i = 1; i < count; i++) {
      fine = fine && is_continue(wide[i]);
    }
    utf8proc_ssize_t size = fine ? utf8proc_reencode(wide, count, options) : 0;
    if (fine) {
      lexer->symbol =
          tvms_symbol_intern(lexer->context, (const char *)wide, (size_t)size);
    }
  }
  tvms_arena_reset(scratch, mark);
  return fine;
}

tvms_token_kind tvms_lexer_take_wide_name(tvms_lexer *lexer) {
  lexer->cursor = tvms_lexer_name_end(lexer, lexer->token);
  if (lexer->cursor == lexer->token || !normalise(lexer))
    return tvms_lexer_take_stray(lexer);
  return TVMS_TOK_WIDE_NAME;
}

// True if the 8 bytes at `at` are ASCII without NUL.
static bool is_plain_word(const char *at) {
  uint64_t word;
  memcpy(&word, at, 8);
  return ((word | (word - 0x0101010101010101u)) & 0x8080808080808080u) == 0;
}

// Reports the bytes up to the next sound character. Returns where that is.
static const char *report_bad_bytes(tvms_lexer *lexer, const char *at) {
  const char *begin = at;
  utf8proc_int32_t c;
  do {
    at++;
  } while (at < lexer->end && *at && decode(at, lexer->end, &c) < 0);
  tvms_span span = {tvms_lexer_offset(lexer, begin), tvms_lexer_offset(lexer, at)};
  tvms_diag_report(&lexer->context->diags, TVMS_D_bad_utf8, span,
                   (unsigned char)*begin);
  return at;
}

// A mark of two bytes at the beginning: what Windows PowerShell writes into a file with '>'.
static bool is_utf16(const tvms_lexer *lexer) {
  const char *text = lexer->cursor;
  return lexer->end - text >= 2
         && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0);
}

// A file with a NUL byte near its beginning is no text: that is all to say of it.
static bool is_binary(tvms_lexer *lexer) {
  enum { NEAR = 4096 };
  size_t size = (size_t)(lexer->end - lexer->cursor);
  const char *nul = memchr(lexer->cursor, '\0', size < NEAR ? size : NEAR);
  if (!nul || nul == lexer->end) return false;
  uint32_t begin = tvms_lexer_offset(lexer, nul);
  tvms_diag *diag = tvms_diag_report(&lexer->context->diags, TVMS_D_nul_byte,
                                     (tvms_span){begin, begin + 1});
  tvms_diag_remark(&lexer->context->diags, diag,
                   is_utf16(lexer) ? "the text is UTF-16; save it as UTF-8"
                                   : "the file is not read");
  lexer->cursor = lexer->end;
  return true;
}

void tvms_lexer_check_text(tvms_lexer *lexer) {
  bool whole = lexer->cursor == lexer->surface->source->text;
  if (whole && is_binary(lexer)) return;
  const char *at = lexer->cursor;
  for (uint32_t bad = 0; at < lexer->end && bad < MOST_BAD_BYTES;) {
    if (lexer->end - at >= 8 && is_plain_word(at)) {
      at += 8;
      continue;
    }
    utf8proc_int32_t c;
    utf8proc_ssize_t len = decode(at, lexer->end, &c);
    if (len > 0 && c != 0) {
      at += len;
      continue;
    }
    bad++;
    if (len > 0) {
      uint32_t begin = tvms_lexer_offset(lexer, at);
      while (at < lexer->end && *at == '\0') {
        at++;
      }
      tvms_span span = {begin, tvms_lexer_offset(lexer, at)};
      tvms_diag_report(&lexer->context->diags, TVMS_D_nul_byte, span);
    } else {
      at = report_bad_bytes(lexer, at);
    }
  }
}
