/* limit: how fast can Python-syntax text be read and written at all?
 *
 * A minimal Python tokenizer (re2c), a recursive-descent parser into an arena, and a printer
 * without line wrapping: no diagnostics, no comments kept, no meaning. A floor for the work,
 * to measure tvms against on the machine at hand; not a part of tvms. It is written for
 * speed and brevity, and nothing else is asked of it.
 *
 *   limit bench FILE [RUNS]                   medians of every stage in process (CPU time)
 *   limit wc|lex|parse|print|check FILE       one pass as a whole process
 *
 * `check` compares what it prints with what it read. LIMIT_HUGE_PAGES=1 asks for huge pages.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;

enum {
  T_EOF, T_NEWLINE, T_INDENT, T_DEDENT, T_NAME, T_NUM, T_STR,
  K_and, K_as, K_assert, K_async, K_await, K_break, K_class, K_continue, K_def,
  K_del, K_elif, K_else, K_except, K_finally, K_for, K_from, K_global, K_if,
  K_import, K_in, K_is, K_lambda, K_nonlocal, K_not, K_or, K_pass, K_raise,
  K_return, K_try, K_while, K_with, K_yield, K_True, K_False, K_None,
  O_LP, O_RP, O_LB, O_RB, O_LC, O_RC, O_COMMA, O_COLON, O_SEMI, O_DOT, O_ELL,
  O_ARROW, O_ASSIGN, O_WALRUS,
  O_EQ, O_NE, O_LT, O_GT, O_LE, O_GE,
  O_OR, O_XOR, O_AND, O_SHL, O_SHR, O_ADD, O_SUB, O_MUL, O_AT, O_DIV, O_FDIV,
  O_MOD, O_POW, O_INV,
  A_OR, A_XOR, A_AND, A_SHL, A_SHR, A_ADD, A_SUB, A_MUL, A_AT, A_DIV, A_FDIV,
  A_MOD, A_POW, T_ERR
};

typedef struct { u32 start; u32 len_kind; } Tok;          /* len << 8 | kind */
#define TK(t) ((t).len_kind & 255u)
#define TL(t) ((t).len_kind >> 8)

static jmp_buf fail;
static u32 fail_at;
static void die_at(u32 pos) { fail_at = pos; longjmp(fail, 1); }

/* ---------------------------------------------------------------- lexer -- */
typedef struct {
  const u8 *base, *p;
  int paren, bol, ind, pend;          /* pend: DEDENTs still to hand out */
  int indents[256];
} Lex;

static void lex_init(Lex *L, const u8 *s) {
  L->base = L->p = s; L->paren = 0; L->bol = 1; L->ind = 0; L->pend = 0;
  L->indents[0] = 0;
}

static const u8 *triple(const u8 *p, u8 q, const u8 *base) {
  for (;;) {
    while (*p != q && *p != '\\' && *p) p++;
    if (!*p) die_at((u32)(p - base));
    if (*p == '\\') { p += 2; continue; }
    if (p[1] == q && p[2] == q) return p + 3;
    p++;
  }
}

static inline int lex_next(Lex *L, Tok *out) {
  const u8 *p = L->p, *m, *s;
  (void)m;
#define RET(k) do { L->p = p; out->start = (u32)(s - L->base); \
    out->len_kind = ((u32)(p - s) << 8) | (k); return (k); } while (0)
  if (L->pend) { L->pend--; s = p; RET(T_DEDENT); }
  if (L->bol) {
    for (;;) {
      const u8 *q = p;
      int col = 0;
      while (*q == ' ') q++;
      col = (int)(q - p);
      if (*q == '\t' || *q == '\f') { while (*q == ' ' || *q == '\t' || *q == '\f') { col += *q == '\t' ? 8 - col % 8 : 1; q++; } }
      if (*q == '#') { const u8 *e = (const u8 *)strchr((const char *)q, '\n'); q = e ? e : q + strlen((const char *)q); }
      if (*q == '\r') q++;
      if (*q == '\n') { p = q + 1; continue; }
      s = q; p = q;
      if (!*q) col = 0;
      L->bol = 0;
      if (col > L->indents[L->ind]) {
        if (L->ind == 255) die_at((u32)(q - L->base));
        L->indents[++L->ind] = col; RET(T_INDENT);
      }
      if (col < L->indents[L->ind]) {
        int n = 0;
        while (L->indents[L->ind] > col) { L->ind--; n++; }
        if (L->indents[L->ind] != col) die_at((u32)(q - L->base));
        L->pend = n - 1; RET(T_DEDENT);
      }
      break;
    }
  }
again:
  s = p;
/*!re2c
  re2c:define:YYCTYPE = u8;
  re2c:define:YYCURSOR = p;
  re2c:define:YYMARKER = m;
  re2c:yyfill:enable = 0;
  re2c:flags:case-ranges = 1;

  id   = [A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*;
  d    = [0-9] ("_"? [0-9])*;
  ex   = [eE] [+-]? d;
  num  = (d ("." d?)? ex? | "." d ex?) [jJ]?
       | "0" [xX] ("_"? [0-9a-fA-F])+ | "0" [oO] ("_"? [0-7])+ | "0" [bB] ("_"? [01])+;
  pre  = [rRbBuUfF]?[rRbBfF]?;
  sq   = ['] ([^'\\\n\x00] | "\\" [^\x00])* ['];
  dq   = ["] ([^"\\\n\x00] | "\\" [^\x00])* ["];

  [ \t\f\r]+      { goto again; }
  "#" [^\n\x00]*  { goto again; }
  "\\" "\r"? "\n" { goto again; }
  "\n"            { if (L->paren) goto again; L->bol = 1; RET(T_NEWLINE); }
  "\x00"          { p = s; if (L->ind) { L->pend = L->ind - 1; L->ind = 0; RET(T_DEDENT); } RET(T_EOF); }
  "and" { RET(K_and); } "as" { RET(K_as); } "assert" { RET(K_assert); }
  "async" { RET(K_async); } "await" { RET(K_await); } "break" { RET(K_break); }
  "class" { RET(K_class); } "continue" { RET(K_continue); } "def" { RET(K_def); }
  "del" { RET(K_del); } "elif" { RET(K_elif); } "else" { RET(K_else); }
  "except" { RET(K_except); } "finally" { RET(K_finally); } "for" { RET(K_for); }
  "from" { RET(K_from); } "global" { RET(K_global); } "if" { RET(K_if); }
  "import" { RET(K_import); } "in" { RET(K_in); } "is" { RET(K_is); }
  "lambda" { RET(K_lambda); } "nonlocal" { RET(K_nonlocal); } "not" { RET(K_not); }
  "or" { RET(K_or); } "pass" { RET(K_pass); } "raise" { RET(K_raise); }
  "return" { RET(K_return); } "try" { RET(K_try); } "while" { RET(K_while); }
  "with" { RET(K_with); } "yield" { RET(K_yield); } "True" { RET(K_True); }
  "False" { RET(K_False); } "None" { RET(K_None); }
  id  { RET(T_NAME); }
  num { RET(T_NUM); }
  pre (sq | dq) { RET(T_STR); }
  pre ['][']['] { p = triple(p, '\'', L->base); RET(T_STR); }
  pre ["]["]["] { p = triple(p, '"', L->base); RET(T_STR); }
  "(" { L->paren++; RET(O_LP); } ")" { L->paren--; RET(O_RP); }
  "[" { L->paren++; RET(O_LB); } "]" { L->paren--; RET(O_RB); }
  "{" { L->paren++; RET(O_LC); } "}" { L->paren--; RET(O_RC); }
  "," { RET(O_COMMA); } ":" { RET(O_COLON); } ";" { RET(O_SEMI); }
  "." { RET(O_DOT); } "..." { RET(O_ELL); } "->" { RET(O_ARROW); }
  "=" { RET(O_ASSIGN); } ":=" { RET(O_WALRUS); }
  "==" { RET(O_EQ); } "!=" { RET(O_NE); } "<" { RET(O_LT); } ">" { RET(O_GT); }
  "<=" { RET(O_LE); } ">=" { RET(O_GE); }
  "|" { RET(O_OR); } "^" { RET(O_XOR); } "&" { RET(O_AND); } "<<" { RET(O_SHL); }
  ">>" { RET(O_SHR); } "+" { RET(O_ADD); } "-" { RET(O_SUB); } "*" { RET(O_MUL); }
  "@" { RET(O_AT); } "/" { RET(O_DIV); } "//" { RET(O_FDIV); } "%" { RET(O_MOD); }
  "**" { RET(O_POW); } "~" { RET(O_INV); }
  "|=" { RET(A_OR); } "^=" { RET(A_XOR); } "&=" { RET(A_AND); } "<<=" { RET(A_SHL); }
  ">>=" { RET(A_SHR); } "+=" { RET(A_ADD); } "-=" { RET(A_SUB); } "*=" { RET(A_MUL); }
  "@=" { RET(A_AT); } "/=" { RET(A_DIV); } "//=" { RET(A_FDIV); } "%=" { RET(A_MOD); }
  "**=" { RET(A_POW); }
  *   { die_at((u32)(s - L->base)); return T_ERR; }
*/
}

static u64 lex_count(const u8 *s) {
  Lex L; Tok t; u64 n = 0;
  lex_init(&L, s);
  while (lex_next(&L, &t) != T_EOF) n++;
  return n;
}

static u32 lex_store(const u8 *s, Tok *out) {
  Lex L; u32 n = 0;
  lex_init(&L, s);
  while (lex_next(&L, &out[n]) != T_EOF) n++;
  return n + 1;
}

/* ------------------------------------------------- identifier interning -- */
typedef struct { u64 hash; u32 start, len, id; } Sym;
static Sym *symtab; static u32 symcap, symcnt;
static u32 *tok_sym;
static u64 hash_id(const u8 *p, u32 n) {
  u64 h = 0x9E3779B97F4A7C15ull ^ n;
  while (n >= 8) { u64 w; memcpy(&w, p, 8); h = (h ^ w) * 0xff51afd7ed558ccdull; h ^= h >> 32; p += 8; n -= 8; }
  if (n) { u64 w; memcpy(&w, p, 8); w &= (1ull << (n * 8)) - 1; h = (h ^ w) * 0xff51afd7ed558ccdull; h ^= h >> 32; }
  return h;                                      /* the buffer is padded */
}
static void intern_all(const u8 *s, const Tok *t, u32 n) {
  symcnt = 0;
  memset(symtab, 0, sizeof(Sym) * symcap);
  for (u32 i = 0; i < n; i++) {
    if (TK(t[i]) != T_NAME) continue;
    u32 len = TL(t[i]);
    u64 h = hash_id(s + t[i].start, len);
    u32 k = (u32)h & (symcap - 1);
    for (;; k = (k + 1) & (symcap - 1)) {
      Sym *y = &symtab[k];
      if (!y->len) { y->hash = h; y->start = t[i].start; y->len = len; y->id = ++symcnt; break; }
      if (y->hash == h && y->len == len && !memcmp(s + y->start, s + t[i].start, len)) break;
    }
    tok_sym[i] = symtab[k].id;
  }
}

/* --------------------------------------------------------------- parser -- */
enum {
  N_NONE, N_NAME, N_NUM, N_STR, N_CONST, N_ATTR, N_SUB, N_CALL, N_KW, N_STAR,
  N_DSTAR, N_UN, N_BIN, N_BOOL, N_CMP, N_TERN, N_LAMBDA, N_TUPLE, N_LIST, N_SET,
  N_DICT, N_LCOMP, N_SCOMP, N_DCOMP, N_GEN, N_COMPFOR, N_SLICE, N_WALRUS,
  N_YIELD, N_YIELDFROM, N_AWAIT, N_OP,
  N_BLOCK, N_DEF, N_CLASS, N_PARAMS, N_PARAM, N_FOR, N_WHILE, N_IF, N_WITH,
  N_ITEM, N_RETURN, N_ASSIGN, N_AUG, N_ANN, N_EXPR, N_PASS, N_BREAK, N_CONT,
  N_ASSERT, N_IMPORT, N_FROM, N_ALIAS, N_RAISE, N_TRY, N_HANDLER, N_DEL,
  N_GLOBAL, N_NONLOCAL
};
typedef struct { u8 kind, op; u16 flag; u32 tok, end, n, kid; } Node;

static const u8 *S;
static Tok *T;
static u32 P;
static Node *nodes; static u32 nn;
static u32 *kids; static u32 nk;
static u32 *stk; static u32 sp;

#define CUR TK(T[P])
static inline int acc(u32 k) { if (CUR == k) { P++; return 1; } return 0; }
static inline void want(u32 k) { if (CUR != k) die_at(T[P].start); P++; }
static inline u32 mk(u8 kind, u8 op, u32 tok, const u32 *k, u32 n) {
  u32 i = nn++;
  nodes[i] = (Node){kind, op, 0, tok, P, n, nk};
  for (u32 j = 0; j < n; j++) kids[nk++] = k[j];
  return i;
}
static inline u32 mk0(u8 kind, u8 op, u32 tok) { return mk(kind, op, tok, NULL, 0); }
static inline u32 mk1(u8 kind, u8 op, u32 tok, u32 a) { return mk(kind, op, tok, &a, 1); }
static inline u32 mk2(u8 kind, u8 op, u32 tok, u32 a, u32 b) { u32 k[2] = {a, b}; return mk(kind, op, tok, k, 2); }
static inline u32 mk3(u8 kind, u8 op, u32 tok, u32 a, u32 b, u32 c) { u32 k[3] = {a, b, c}; return mk(kind, op, tok, k, 3); }
static inline u32 mkl(u8 kind, u8 op, u32 tok, u32 sp0) {
  u32 i = mk(kind, op, tok, stk + sp0, sp - sp0);
  sp = sp0; return i;
}

static u32 expr(void);
static u32 disj(void);
static u32 binary(int lvl);
static u32 exprlist(int star_ok);
static u32 block(void);
static u32 stmt(void);

static u32 comp_for(u32 sp0) {               /* pushes COMPFOR nodes */
  while (CUR == K_for || (CUR == K_async && TK(T[P + 1]) == K_for)) {
    u32 t = P; int as = acc(K_async); want(K_for);
    u32 s1 = sp;
    /* targets: no 'in' operator inside */
    u32 t1 = P, tg = binary(1);
    if (CUR == O_COMMA) {
      u32 s2 = sp; stk[sp++] = tg;
      while (acc(O_COMMA)) { if (CUR == K_in) break; stk[sp++] = acc(O_MUL) ? mk1(N_STAR, 0, P - 1, binary(1)) : binary(1); }
      tg = mkl(N_TUPLE, 0, t1, s2);
    }
    want(K_in);
    stk[sp++] = tg; { u32 it = disj(); stk[sp++] = it; }
    while (acc(K_if)) { u32 c = disj(); stk[sp++] = c; }
    u32 c = mkl(N_COMPFOR, (u8)as, t, s1);
    stk[sp++] = c;
  }
  return sp - sp0;
}
static int is_for(void) { return CUR == K_for || (CUR == K_async && TK(T[P + 1]) == K_for); }

static u32 named(void) {                     /* named expression or starred */
  u32 t = P;
  if (acc(O_MUL)) return mk1(N_STAR, 0, t, binary(1));
  u32 e = expr();
  if (CUR == O_WALRUS) { P++; return mk2(N_WALRUS, 0, t, e, expr()); }
  return e;
}

static u32 lambda_params(u32 t);

static u32 slice1(void) {
  u32 t = P, a = 0, b = 0, c = 0;
  if (CUR != O_COLON) {
    a = named();
    if (CUR != O_COLON) return a;
  }
  P++;
  if (CUR != O_COLON && CUR != O_COMMA && CUR != O_RB) b = expr();
  if (acc(O_COLON) && CUR != O_COMMA && CUR != O_RB) c = expr();
  return mk3(N_SLICE, 0, t, a, b, c);
}

static u32 yield_expr(void) {
  u32 t = P; want(K_yield);
  if (acc(K_from)) return mk1(N_YIELDFROM, 0, t, expr());
  if (CUR == O_RP || CUR == T_NEWLINE || CUR == O_RB || CUR == O_ASSIGN || CUR == O_SEMI) return mk1(N_YIELD, 0, t, 0);
  return mk1(N_YIELD, 0, t, exprlist(1));
}

static u32 atom(void) {
  u32 t = P;
  switch (CUR) {
    case T_NAME: P++; return mk0(N_NAME, 0, t);
    case T_NUM: P++; return mk0(N_NUM, 0, t);
    case T_STR: P++; while (CUR == T_STR) P++; return mk0(N_STR, 0, t);
    case K_True: case K_False: case K_None: case O_ELL: P++; return mk0(N_CONST, 0, t);
    case O_LP: {
      P++;
      if (acc(O_RP)) return mk0(N_TUPLE, 0, t);
      if (CUR == K_yield) { u32 y = yield_expr(); want(O_RP); return y; }
      u32 s0 = sp, e = named();
      if (is_for()) { stk[sp++] = e; comp_for(s0); want(O_RP); return mkl(N_GEN, 0, t, s0); }
      if (CUR == O_COMMA) {
        stk[sp++] = e;
        while (acc(O_COMMA)) { if (CUR == O_RP) break; e = named(); stk[sp++] = e; }
        want(O_RP);
        return mkl(N_TUPLE, 0, t, s0);
      }
      want(O_RP);
      return e;
    }
    case O_LB: {
      P++;
      u32 s0 = sp;
      if (acc(O_RB)) return mk0(N_LIST, 0, t);
      u32 e = named();
      stk[sp++] = e;
      if (is_for()) { comp_for(s0); want(O_RB); return mkl(N_LCOMP, 0, t, s0); }
      while (acc(O_COMMA)) { if (CUR == O_RB) break; e = named(); stk[sp++] = e; }
      want(O_RB);
      return mkl(N_LIST, 0, t, s0);
    }
    case O_LC: {
      P++;
      u32 s0 = sp, e;
      if (acc(O_RC)) return mk0(N_DICT, 0, t);
      if (acc(O_POW)) { stk[sp++] = 0; e = binary(1); stk[sp++] = e; goto dict; }
      e = named();
      stk[sp++] = e;
      if (acc(O_COLON)) {
        e = expr(); stk[sp++] = e;
        if (is_for()) { comp_for(s0); want(O_RC); return mkl(N_DCOMP, 0, t, s0); }
      dict:
        while (acc(O_COMMA)) {
          if (CUR == O_RC) break;
          if (acc(O_POW)) { stk[sp++] = 0; e = binary(1); stk[sp++] = e; continue; }
          e = expr(); stk[sp++] = e; want(O_COLON); e = expr(); stk[sp++] = e;
        }
        want(O_RC);
        return mkl(N_DICT, 0, t, s0);
      }
      if (is_for()) { comp_for(s0); want(O_RC); return mkl(N_SCOMP, 0, t, s0); }
      while (acc(O_COMMA)) { if (CUR == O_RC) break; e = named(); stk[sp++] = e; }
      want(O_RC);
      return mkl(N_SET, 0, t, s0);
    }
  }
  die_at(T[P].start);
  return 0;
}

static void call_args(void) {                /* after '(' ; pushes, eats ')' */
  while (CUR != O_RP) {
    u32 t = P, e;
    if (CUR == T_NAME && TK(T[P + 1]) == O_ASSIGN) { P += 2; e = mk1(N_KW, 0, t, expr()); }
    else if (acc(O_POW)) e = mk1(N_DSTAR, 0, t, expr());
    else {
      if (acc(O_MUL)) e = mk1(N_STAR, 0, t, expr()); else e = named();
      if (is_for()) { u32 s1 = sp; stk[sp++] = e; comp_for(s1); e = mkl(N_GEN, 1, t, s1); }
    }
    stk[sp++] = e;
    if (!acc(O_COMMA)) break;
  }
  want(O_RP);
}

static u32 primary(void) {
  u32 t = P;
  if (acc(K_await)) return mk1(N_AWAIT, 0, t, primary());
  u32 e = atom();
  for (;;) {
    if (CUR == O_DOT) { P++; u32 nm = P; want(T_NAME); e = mk1(N_ATTR, 0, nm, e); }
    else if (CUR == O_LP) { P++; u32 s0 = sp; stk[sp++] = e; call_args(); e = mkl(N_CALL, 0, t, s0); }
    else if (CUR == O_LB) {
      P++;
      u32 t1 = P, s0 = sp, i = slice1();
      if (CUR == O_COMMA) {
        stk[sp++] = i;
        while (acc(O_COMMA)) { if (CUR == O_RB) break; i = slice1(); stk[sp++] = i; }
        i = mkl(N_TUPLE, 0, t1, s0);
      }
      want(O_RB);
      e = mk2(N_SUB, 0, t, e, i);
    } else return e;
  }
}

static u32 unary(void);
static u32 power(void) {
  u32 t = P, e = primary();
  if (acc(O_POW)) return mk2(N_BIN, O_POW, t, e, unary());
  return e;
}
static u32 unary(void) {
  u32 t = P;
  if (CUR == O_SUB || CUR == O_ADD || CUR == O_INV) { u8 op = (u8)CUR; P++; return mk1(N_UN, op, t, unary()); }
  return power();
}
static const u8 prec[256] = {
  [O_OR] = 1, [O_XOR] = 2, [O_AND] = 3, [O_SHL] = 4, [O_SHR] = 4, [O_ADD] = 5,
  [O_SUB] = 5, [O_MUL] = 6, [O_AT] = 6, [O_DIV] = 6, [O_FDIV] = 6, [O_MOD] = 6 };
static u32 binary(int lvl) {
  u32 t = P, l = unary();
  for (;;) {
    int p = prec[CUR];
    if (!p || p < lvl) return l;
    u8 op = (u8)CUR; P++;
    l = mk2(N_BIN, op, t, l, binary(p + 1));
  }
}
static u32 cmp(void) {
  u32 t = P, l = binary(1);
  u32 k = CUR;
  if (!((k >= O_EQ && k <= O_GE) || k == K_in || k == K_is || k == K_not)) return l;
  u32 s0 = sp; stk[sp++] = l;
  for (;;) {
    k = CUR;
    u32 ot = P; u8 op;
    if (k >= O_EQ && k <= O_GE) { op = (u8)k; P++; }
    else if (k == K_in) { op = K_in; P++; }
    else if (k == K_is) { P++; op = acc(K_not) ? 1 : K_is; }
    else if (k == K_not && TK(T[P + 1]) == K_in) { P += 2; op = 2; }
    else break;
    u32 o = mk0(N_OP, op, ot); stk[sp++] = o;
    u32 r = binary(1); stk[sp++] = r;
  }
  return mkl(N_CMP, 0, t, s0);
}
static u32 inv(void) { u32 t = P; if (acc(K_not)) return mk1(N_UN, K_not, t, inv()); return cmp(); }
static u32 conjunct(void) {
  u32 t = P, l = inv();
  if (CUR != K_and) return l;
  u32 s0 = sp; stk[sp++] = l;
  while (acc(K_and)) { u32 r = inv(); stk[sp++] = r; }
  return mkl(N_BOOL, K_and, t, s0);
}
static u32 disj(void) {
  u32 t = P, l = conjunct();
  if (CUR != K_or) return l;
  u32 s0 = sp; stk[sp++] = l;
  while (acc(K_or)) { u32 r = conjunct(); stk[sp++] = r; }
  return mkl(N_BOOL, K_or, t, s0);
}
static u32 expr(void) {
  u32 t = P;
  if (CUR == K_lambda) { P++; return lambda_params(t); }
  u32 e = disj();
  if (acc(K_if)) { u32 c = disj(); want(K_else); u32 f = expr(); return mk3(N_TERN, 0, t, e, c, f); }
  return e;
}
static int ends_list(u32 k) {
  return k == T_NEWLINE || k == O_ASSIGN || k == O_SEMI || k == O_COLON || k == K_in || k == T_EOF ||
         (k >= A_OR && k <= A_POW) || k == O_RP;
}
static u32 exprlist(int named_ok) {          /* a, b, *c -> tuple, or one */
  (void)named_ok;
  u32 t = P, e = named();
  if (CUR != O_COMMA) return e;
  u32 s0 = sp; stk[sp++] = e;
  while (acc(O_COMMA)) { if (ends_list(CUR)) break; e = named(); stk[sp++] = e; }
  return mkl(N_TUPLE, 0, t, s0);
}
static u32 targetlist(void) {                /* for-targets: stop before 'in' */
  u32 t = P, e = acc(O_MUL) ? mk1(N_STAR, 0, t, binary(1)) : binary(1);
  if (CUR != O_COMMA) return e;
  u32 s0 = sp; stk[sp++] = e;
  while (acc(O_COMMA)) { if (CUR == K_in) break; u32 t2 = P; e = acc(O_MUL) ? mk1(N_STAR, 0, t2, binary(1)) : binary(1); stk[sp++] = e; }
  return mkl(N_TUPLE, 0, t, s0);
}

/* PARAM: op 0 plain, 1 *args, 2 **kw, 3 bare '*', 4 '/' ; kids ann, default */
static void params(u32 close, int ann_ok) {
  while (CUR != close) {
    u32 t = P; u8 op = 0; u32 ann = 0, def = 0;
    if (acc(O_MUL)) { op = 1; if (CUR == O_COMMA) op = 3; }
    else if (acc(O_POW)) op = 2;
    else if (acc(O_DIV)) op = 4;
    if (op < 3) {
      t = P; want(T_NAME);
      if (ann_ok && acc(O_COLON)) ann = op == 1 ? named() : expr();
      if (acc(O_ASSIGN)) def = expr();
    }
    u32 p = mk2(N_PARAM, op, t, ann, def); stk[sp++] = p;
    if (!acc(O_COMMA)) break;
  }
}
static u32 lambda_params(u32 t) {
  u32 s0 = sp; params(O_COLON, 0);
  u32 ps = mkl(N_PARAMS, 0, t, s0);
  want(O_COLON);
  return mk2(N_LAMBDA, 0, t, ps, expr());
}

static u32 funcdef(u32 t, u32 decs, u8 as) {
  want(K_def);
  u32 nm = P; want(T_NAME); want(O_LP);
  u32 s0 = sp; params(O_RP, 1);
  u32 ps = mkl(N_PARAMS, 0, nm, s0);
  want(O_RP);
  u32 ret = acc(O_ARROW) ? exprlist(0) : 0;
  (void)t;
  u32 b = block();
  u32 k[4] = {decs, ps, ret, b};
  return mk(N_DEF, as, nm, k, 4);
}
static u32 classdef(u32 decs) {
  want(K_class);
  u32 nm = P; want(T_NAME);
  u32 s0 = sp;
  if (acc(O_LP)) call_args();
  u32 bases = mkl(N_PARAMS, 1, nm, s0);
  u32 b = block();
  return mk3(N_CLASS, 0, nm, decs, bases, b);
}
static u32 block(void) {
  u32 t = P; want(O_COLON);
  u32 s0 = sp;
  if (acc(T_NEWLINE)) {
    want(T_INDENT);
    while (!acc(T_DEDENT)) { u32 s = stmt(); stk[sp++] = s; while (acc(O_SEMI)) if (CUR != T_NEWLINE) { s = stmt(); stk[sp++] = s; } acc(T_NEWLINE); }
  } else {
    do { if (CUR == T_NEWLINE) break; u32 s = stmt(); stk[sp++] = s; } while (acc(O_SEMI));
    want(T_NEWLINE);
  }
  return mkl(N_BLOCK, 0, t, s0);
}
static u32 ifstmt(u32 t) {
  u32 c = named(), b = block(), e = 0;
  if (CUR == K_elif) { u32 t2 = P; P++; e = ifstmt(t2); }
  else if (acc(K_else)) e = block();
  return mk3(N_IF, 0, t, c, b, e);
}
static int paren_with(void) {                /* with ( a as b, ... ): */
  u32 i = P, d = 0; int as = 0;
  for (;; i++) {
    u32 k = TK(T[i]);
    if (k == O_LP || k == O_LB || k == O_LC) d++;
    else if (k == O_RP || k == O_RB || k == O_RC) { if (--d == 0) break; }
    else if (k == K_as && d == 1) as = 1;
    else if (k == T_NEWLINE || k == T_EOF) return 0;
  }
  return as && TK(T[i + 1]) == O_COLON;
}
static u32 dotted(void) { u32 t = P; want(T_NAME); while (acc(O_DOT)) want(T_NAME); u32 r = mk0(N_NAME, 1, t); return r; }

static u32 stmt(void) {
  u32 t = P, s0 = sp;
  switch (CUR) {
    case O_AT: {
      while (acc(O_AT)) { u32 e = named(); stk[sp++] = e; want(T_NEWLINE); }
      u32 d = mkl(N_BLOCK, 1, t, s0);
      if (CUR == K_class) return classdef(d);
      u8 as = (u8)acc(K_async);
      return funcdef(t, d, as);
    }
    case K_def: return funcdef(t, 0, 0);
    case K_class: return classdef(0);
    case K_async: P++;
      if (CUR == K_def) return funcdef(t, 0, 1);
      if (CUR == K_for) goto forst;
      goto withst;
    case K_for: forst: {
      u8 as = TK(T[P - 1]) == K_async && P > t; P++;
      u32 tg = targetlist(); want(K_in); u32 it = exprlist(0), b = block(), e = 0;
      if (acc(K_else)) e = block();
      u32 k[4] = {tg, it, b, e}; return mk(N_FOR, as, t, k, 4);
    }
    case K_while: { P++; u32 c = named(), b = block(), e = 0; if (acc(K_else)) e = block(); return mk3(N_WHILE, 0, t, c, b, e); }
    case K_if: P++; return ifstmt(t);
    case K_with: withst: {
      u8 as = TK(T[P]) == K_with && P > t; P++;
      int par = CUR == O_LP && paren_with();
      if (par) P++;
      do {
        if (par && CUR == O_RP) break;
        u32 t2 = P, e = expr(), v = 0;
        if (acc(K_as)) v = CUR == O_LP || CUR == O_LB ? atom() : primary();
        u32 it = mk2(N_ITEM, 0, t2, e, v); stk[sp++] = it;
      } while (acc(O_COMMA));
      if (par) want(O_RP);
      u32 items = mkl(N_PARAMS, 2, t, s0);
      return mk2(N_WITH, as, t, items, block());
    }
    case K_try: {
      P++; u32 b = block(); stk[sp++] = b;
      u32 el = 0, fi = 0;
      while (CUR == K_except) {
        u32 t2 = P; P++; u32 e = 0, nm = 0; u8 star = (u8)acc(O_MUL);
        if (CUR != O_COLON) { e = expr(); if (acc(K_as)) { u32 q = P; want(T_NAME); nm = mk0(N_NAME, 0, q); } }
        u32 hb = block(); u32 h = mk3(N_HANDLER, star, t2, e, nm, hb); stk[sp++] = h;
      }
      if (acc(K_else)) el = block();
      if (acc(K_finally)) fi = block();
      stk[sp++] = el; stk[sp++] = fi;
      return mkl(N_TRY, 0, t, s0);
    }
    case K_return: { P++; u32 e = ends_list(CUR) ? 0 : exprlist(1); return mk1(N_RETURN, 0, t, e); }
    case K_pass: P++; return mk0(N_PASS, 0, t);
    case K_break: P++; return mk0(N_BREAK, 0, t);
    case K_continue: P++; return mk0(N_CONT, 0, t);
    case K_assert: { P++; u32 a = expr(), b = 0; if (acc(O_COMMA)) b = expr(); return mk2(N_ASSERT, 0, t, a, b); }
    case K_raise: { P++; u32 a = 0, b = 0; if (!ends_list(CUR)) { a = expr(); if (acc(K_from)) b = expr(); } return mk2(N_RAISE, 0, t, a, b); }
    case K_del: P++; return mk1(N_DEL, 0, t, exprlist(0));
    case K_global: case K_nonlocal: {
      u8 k = CUR == K_global ? N_GLOBAL : N_NONLOCAL; P++;
      do { u32 e = atom(); stk[sp++] = e; } while (acc(O_COMMA));
      return mkl(k, 0, t, s0);
    }
    case K_import: {
      P++;
      do { u32 a = dotted(), b = 0; if (acc(K_as)) b = atom(); u32 e = mk2(N_ALIAS, 0, t, a, b); stk[sp++] = e; } while (acc(O_COMMA));
      return mkl(N_IMPORT, 0, t, s0);
    }
    case K_from: {
      P++; u8 lvl = 0; u32 m = 0;
      while (CUR == O_DOT || CUR == O_ELL) { lvl = (u8)(lvl + (CUR == O_ELL ? 3 : 1)); P++; }
      if (CUR == T_NAME) m = dotted();
      stk[sp++] = m; want(K_import);
      int par = acc(O_LP);
      if (acc(O_MUL)) { u32 e = mk2(N_ALIAS, 1, t, 0, 0); stk[sp++] = e; }
      else do { if (par && CUR == O_RP) break; u32 a = atom(), b = 0; if (acc(K_as)) b = atom(); u32 e = mk2(N_ALIAS, 0, t, a, b); stk[sp++] = e; } while (acc(O_COMMA));
      if (par) want(O_RP);
      return mkl(N_FROM, lvl, t, s0);
    }
  }
  u32 e = CUR == K_yield ? yield_expr() : exprlist(1);
  if (CUR == O_ASSIGN) {
    stk[sp++] = e;
    while (acc(O_ASSIGN)) { e = CUR == K_yield ? yield_expr() : exprlist(1); stk[sp++] = e; }
    return mkl(N_ASSIGN, 0, t, s0);
  }
  if (CUR >= A_OR && CUR <= A_POW) { u8 op = (u8)CUR; P++; u32 v = CUR == K_yield ? yield_expr() : exprlist(1); return mk2(N_AUG, op, t, e, v); }
  if (CUR == O_COLON) {
    P++; u32 a = expr(), v = 0; if (acc(O_ASSIGN)) v = exprlist(1);
    u32 r = mk3(N_ANN, 0, t, e, a, v);
    if (TK(T[t]) == O_LP) nodes[r].flag = 1;      /* (x): int */
    return r;
  }
  return mk1(N_EXPR, 0, t, e);
}

static u32 parse(void) {
  P = 0; nn = 1; nk = 0; sp = 0;
  u32 s0 = sp;
  while (CUR != T_EOF) {
    if (acc(T_NEWLINE)) continue;
    u32 s = stmt(); stk[sp++] = s;
    while (acc(O_SEMI)) if (CUR != T_NEWLINE) { s = stmt(); stk[sp++] = s; }
  }
  return mkl(N_BLOCK, 2, 0, s0);
}

/* -------------------------------------------------------------- printer -- */
static char *ob, *op_; static int ind;
static inline void w(const char *s, size_t n) { memcpy(op_, s, n); op_ += n; }
#define W(lit) w(lit, sizeof(lit) - 1)
static inline void wt(u32 t) { w((const char *)S + T[t].start, TL(T[t])); }
static void nl(void) { *op_++ = '\n'; memset(op_, ' ', (size_t)ind * 4); op_ += ind * 4; }
static const char *opname(u8 k) {
  static const char *const o[256] = {
    [1] = "is not", [2] = "not in", [K_in] = "in", [K_is] = "is", [O_EQ] = "==", [O_NE] = "!=",
    [O_LT] = "<", [O_GT] = ">", [O_LE] = "<=", [O_GE] = ">=", [O_OR] = "|", [O_XOR] = "^",
    [O_AND] = "&", [O_SHL] = "<<", [O_SHR] = ">>", [O_ADD] = "+", [O_SUB] = "-", [O_MUL] = "*",
    [O_AT] = "@", [O_DIV] = "/", [O_FDIV] = "//", [O_MOD] = "%", [O_POW] = "**",
    [A_OR] = "|=", [A_XOR] = "^=", [A_AND] = "&=", [A_SHL] = "<<=", [A_SHR] = ">>=", [A_ADD] = "+=",
    [A_SUB] = "-=", [A_MUL] = "*=", [A_AT] = "@=", [A_DIV] = "/=", [A_FDIV] = "//=", [A_MOD] = "%=",
    [A_POW] = "**=", [K_and] = "and", [K_or] = "or" };
  return o[k];
}
static void wop(u8 k) { const char *s = opname(k); *op_++ = ' '; size_t n = strlen(s); w(s, n); *op_++ = ' '; }
/* precedence of printed node: 0 walrus/yield/bare tuple .. 20 atom */
static int nprec(const Node *n) {
  switch (n->kind) {
    case N_WALRUS: case N_YIELD: case N_YIELDFROM: return 0;
    case N_LAMBDA: return 1; case N_TERN: return 2;
    case N_BOOL: return n->op == K_or ? 3 : 4;
    case N_UN: return n->op == K_not ? 5 : 14;
    case N_CMP: return 6;
    case N_BIN: return n->op == O_POW ? 15 : 6 + prec[n->op];
    case N_AWAIT: return 16;
    default: return 20;
  }
}
static void pe(u32 i, int min);
static void plist(const Node *n, u32 from, int min) {
  for (u32 j = from; j < n->n; j++) { if (j > from) W(", "); pe(kids[n->kid + j], min); }
}
static void comps(const Node *n, u32 from) {
  for (u32 j = from; j < n->n; j++) {
    Node *c = &nodes[kids[n->kid + j]];
    if (c->op) W(" async for "); else W(" for ");
    u32 tg = kids[c->kid]; pe(tg, 7); W(" in "); pe(kids[c->kid + 1], 3);
    for (u32 k = 2; k < c->n; k++) { W(" if "); pe(kids[c->kid + k], 3); }
  }
}
static void pparams(const Node *n) {
  for (u32 j = 0; j < n->n; j++) {
    if (j) W(", ");
    Node *p = &nodes[kids[n->kid + j]];
    if (p->op == 1) W("*"); else if (p->op == 2) W("**");
    else if (p->op == 3) { W("*"); continue; } else if (p->op == 4) { W("/"); continue; }
    wt(p->tok);
    u32 a = kids[p->kid], d = kids[p->kid + 1];
    if (a) { W(": "); pe(a, 1); if (d) { W(" = "); pe(d, 1); } }
    else if (d) { W("="); pe(d, 1); }
  }
}
static void bare(u32 i) {                       /* tuple without parentheses */
  Node *n = &nodes[i];
  if (n->kind == N_TUPLE && n->n) { plist(n, 0, 0); if (n->n == 1) W(","); }
  else pe(i, 0);
}
static void pe(u32 i, int min) {
  Node *n = &nodes[i];
  u32 *k = kids + n->kid;
  int pr = nprec(n);
  int par = pr < min;
  if (par) W("(");
  switch (n->kind) {
    case N_NAME:
      if (n->op) { for (u32 t = n->tok; t < n->end; t++) wt(t); } else wt(n->tok);
      break;
    case N_NUM: case N_CONST: wt(n->tok); break;
    case N_STR: for (u32 t = n->tok; t < n->end; t++) { if (t > n->tok) W(" "); wt(t); } break;
    case N_ATTR:
      if (nodes[k[0]].kind == N_NUM) { W("("); pe(k[0], 0); W(")"); } else pe(k[0], 17);
      W("."); wt(n->tok); break;
    case N_SUB: {
      pe(k[0], 17); W("[");
      Node *x = &nodes[k[1]];
      if (x->kind == N_TUPLE && x->n) bare(k[1]); else pe(k[1], 0);
      W("]"); break;
    }
    case N_SLICE: if (k[0]) pe(k[0], 1); W(":"); if (k[1]) pe(k[1], 1); if (k[2]) { W(":"); pe(k[2], 1); } break;
    case N_CALL:
      pe(k[0], 17); W("(");
      if (n->n == 2 && nodes[k[1]].kind == N_GEN) { Node *g = &nodes[k[1]]; pe(kids[g->kid], 0); comps(g, 1); }
      else plist(n, 1, 0);
      W(")"); break;
    case N_KW: wt(n->tok); W("="); pe(k[0], 1); break;
    case N_STAR: W("*"); pe(k[0], 7); break;
    case N_DSTAR: W("**"); pe(k[0], 7); break;
    case N_UN: if (n->op == K_not) { W("not "); pe(k[0], 5); } else { const char *s = n->op == O_INV ? "~" : opname(n->op); w(s, 1); pe(k[0], 14); } break;
    case N_BIN: if (n->op == O_POW) { pe(k[0], 16); wop(n->op); pe(k[1], 14); } else { pe(k[0], pr); wop(n->op); pe(k[1], pr + 1); } break;
    case N_BOOL: for (u32 j = 0; j < n->n; j++) { if (j) wop(n->op); pe(k[j], pr + 1); } break;
    case N_CMP: pe(k[0], 7); for (u32 j = 1; j < n->n; j += 2) { wop(nodes[k[j]].op); pe(k[j + 1], 7); } break;
    case N_TERN: pe(k[0], 3); W(" if "); pe(k[1], 3); W(" else "); pe(k[2], 1); break;
    case N_LAMBDA: W("lambda"); if (nodes[k[0]].n) { W(" "); pparams(&nodes[k[0]]); } W(": "); pe(k[1], 1); break;
    case N_TUPLE: W("("); plist(n, 0, 0); if (n->n == 1) W(","); W(")"); break;
    case N_LIST: W("["); plist(n, 0, 0); W("]"); break;
    case N_SET: W("{"); plist(n, 0, 0); W("}"); break;
    case N_DICT:
      W("{");
      for (u32 j = 0; j < n->n; j += 2) { if (j) W(", "); if (k[j]) { pe(k[j], 1); W(": "); pe(k[j + 1], 1); } else { W("**"); pe(k[j + 1], 7); } }
      W("}"); break;
    case N_LCOMP: W("["); pe(k[0], 0); comps(n, 1); W("]"); break;
    case N_SCOMP: W("{"); pe(k[0], 0); comps(n, 1); W("}"); break;
    case N_GEN: W("("); pe(k[0], 0); comps(n, 1); W(")"); break;
    case N_DCOMP: W("{"); pe(k[0], 1); W(": "); pe(k[1], 1); comps(n, 2); W("}"); break;
    case N_WALRUS: pe(k[0], 20); W(" := "); pe(k[1], 1); break;
    case N_YIELD: W("yield"); if (k[0]) { W(" "); bare(k[0]); } break;
    case N_YIELDFROM: W("yield from "); pe(k[0], 1); break;
    case N_AWAIT: W("await "); pe(k[0], 17); break;
    default: die_at(T[n->tok].start);
  }
  if (par) W(")");
}
static void ps(u32 i);
static void pblock(u32 i) {
  Node *n = &nodes[i];
  W(":"); ind++;
  for (u32 j = 0; j < n->n; j++) { nl(); ps(kids[n->kid + j]); }
  ind--;
}
static void pdecs(u32 d) { if (d) for (u32 j = 0; j < nodes[d].n; j++) { W("@"); pe(kids[nodes[d].kid + j], 0); nl(); } }
static void pif(Node *n) {
  u32 *k = kids + n->kid;
  pe(k[0], 0); pblock(k[1]);
  if (k[2]) {
    nl();
    if (nodes[k[2]].kind == N_IF) { W("elif "); pif(&nodes[k[2]]); } else { W("else"); pblock(k[2]); }
  }
}
static void ps(u32 i) {
  Node *n = &nodes[i];
  u32 *k = kids + n->kid;
  switch (n->kind) {
    case N_DEF: pdecs(k[0]); if (n->op) W("async "); W("def "); wt(n->tok); W("("); pparams(&nodes[k[1]]); W(")"); if (k[2]) { W(" -> "); pe(k[2], 0); } pblock(k[3]); break;
    case N_CLASS: pdecs(k[0]); W("class "); wt(n->tok); if (nodes[k[1]].n) { W("("); plist(&nodes[k[1]], 0, 0); W(")"); } pblock(k[2]); break;
    case N_FOR: if (n->op) W("async "); W("for "); bare(k[0]); W(" in "); bare(k[1]); pblock(k[2]); if (k[3]) { nl(); W("else"); pblock(k[3]); } break;
    case N_WHILE: W("while "); pe(k[0], 0); pblock(k[1]); if (k[2]) { nl(); W("else"); pblock(k[2]); } break;
    case N_IF: W("if "); pif(n); break;
    case N_WITH: { if (n->op) W("async "); W("with "); Node *a = &nodes[k[0]]; for (u32 j = 0; j < a->n; j++) { if (j) W(", "); u32 *q = kids + nodes[kids[a->kid + j]].kid; pe(q[0], 1); if (q[1]) { W(" as "); pe(q[1], 1); } } pblock(k[1]); break; }
    case N_RETURN: W("return"); if (k[0]) { W(" "); bare(k[0]); } break;
    case N_ASSIGN: for (u32 j = 0; j < n->n; j++) { if (j) W(" = "); bare(k[j]); } break;
    case N_AUG: pe(k[0], 0); wop(n->op); bare(k[1]); break;
    case N_ANN: if (n->flag && nodes[k[0]].kind == N_NAME) { W("("); pe(k[0], 0); W(")"); } else pe(k[0], 0); W(": "); pe(k[1], 1); if (k[2]) { W(" = "); bare(k[2]); } break;
    case N_EXPR: bare(k[0]); break;
    case N_PASS: W("pass"); break;
    case N_BREAK: W("break"); break;
    case N_CONT: W("continue"); break;
    case N_ASSERT: W("assert "); pe(k[0], 1); if (k[1]) { W(", "); pe(k[1], 1); } break;
    case N_RAISE: W("raise"); if (k[0]) { W(" "); pe(k[0], 1); if (k[1]) { W(" from "); pe(k[1], 1); } } break;
    case N_DEL: W("del "); bare(k[0]); break;
    case N_GLOBAL: W("global "); plist(n, 0, 0); break;
    case N_NONLOCAL: W("nonlocal "); plist(n, 0, 0); break;
    case N_IMPORT: W("import "); for (u32 j = 0; j < n->n; j++) { if (j) W(", "); u32 *q = kids + nodes[k[j]].kid; pe(q[0], 0); if (q[1]) { W(" as "); pe(q[1], 0); } } break;
    case N_FROM: W("from "); for (int j = 0; j < n->op; j++) W("."); if (k[0]) pe(k[0], 0); W(" import "); for (u32 j = 1; j < n->n; j++) { if (j > 1) W(", "); if (nodes[k[j]].op) { W("*"); continue; } u32 *q = kids + nodes[k[j]].kid; pe(q[0], 0); if (q[1]) { W(" as "); pe(q[1], 0); } } break;
    case N_TRY: {
      W("try"); pblock(k[0]);
      for (u32 j = 1; j + 2 < n->n; j++) { Node *h = &nodes[k[j]]; u32 *q = kids + h->kid; nl(); W("except"); if (h->op) W("*"); if (q[0]) { W(" "); pe(q[0], 1); if (q[1]) { W(" as "); pe(q[1], 0); } } pblock(q[2]); }
      if (k[n->n - 2]) { nl(); W("else"); pblock(k[n->n - 2]); }
      if (k[n->n - 1]) { nl(); W("finally"); pblock(k[n->n - 1]); }
      break;
    }
    default: die_at(T[n->tok].start);
  }
}
static size_t print_all(u32 root) {
  op_ = ob; ind = 0;
  Node *n = &nodes[root];
  for (u32 j = 0; j < n->n; j++) { ps(kids[n->kid + j]); *op_++ = '\n'; }
  return (size_t)(op_ - ob);
}

/* -------------------------------------------------------------- harness -- */
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
static int cmpd(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return x < y ? -1 : x > y; }
static volatile u64 sink;
static void *big(size_t n) {
  void *p = mmap(NULL, n ? n : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) { perror("mmap"); exit(2); }
  if (n >= (4u << 20) && getenv("LIMIT_HUGE_PAGES")) madvise(p, n, MADV_HUGEPAGE);
  return p;
}
static u64 count_nl(const u8 *s, size_t n) {
  u64 c = 0; const u8 *p = s, *e = s + n;
  while ((p = memchr(p, '\n', (size_t)(e - p)))) { c++; p++; }
  return c;
}

int main(int argc, char **argv) {
  if (argc < 3) { fprintf(stderr, "usage: limit bench|wc|lex|parse|print|check FILE [RUNS]\n"); return 2; }
  const char *mode = argv[1];
  int fd = open(argv[2], O_RDONLY);
  struct stat st;
  if (fd < 0 || fstat(fd, &st)) { perror(argv[2]); return 2; }
  size_t n = (size_t)st.st_size;
  u8 *buf = big(n + 64);
  for (size_t got = 0; got < n;) { ssize_t r = read(fd, buf + got, n - got); if (r <= 0) return 2; got += (size_t)r; }
  close(fd);
  S = buf;
  if (setjmp(fail)) { u32 line = 1; for (u32 i = 0; i < fail_at && i < n; i++) line += buf[i] == '\n'; fprintf(stderr, "limit: cannot parse: line %u\n", line); return 1; }
  /* worst cases, reserved but touched only as used */
  T = big(sizeof(Tok) * (n + 64) * 2);
  if (!strcmp(mode, "wc")) { printf("%llu\n", (unsigned long long)count_nl(buf, n)); return 0; }
  if (!strcmp(mode, "lex")) { printf("%u tokens\n", lex_store(buf, T)); return 0; }
  nodes = big(sizeof(Node) * (n + 64));
  kids = big(sizeof(u32) * (n + 64) * 2);
  stk = big(sizeof(u32) * (n + 64));
  symcap = 1024; while (symcap < n / 24) symcap *= 2;
  symtab = big(sizeof(Sym) * symcap);
  tok_sym = big(sizeof(u32) * (n + 64));
  ob = big(n * 4 + 4096);
  if (!strcmp(mode, "parse") || !strcmp(mode, "print") || !strcmp(mode, "check")) {
    u32 nt = lex_store(buf, T);
    intern_all(buf, T, nt);
    u32 root = parse();
    if (mode[1] == 'a') { printf("%u tokens, %u nodes, %u child slots\n", nt, nn, nk); return 0; }
    size_t o = print_all(root);
    if (mode[0] == 'c') { printf("%s\n", o == n && !memcmp(ob, buf, n) ? "same" : "differs"); return 0; }
    for (size_t d = 0; d < o;) { ssize_t r = write(1, ob + d, o - d); if (r <= 0) return 2; d += (size_t)r; }
    return 0;
  }
  int runs = argc > 3 ? atoi(argv[3]) : 15;
  if (runs > 1000) runs = 1000;
  u64 lines = count_nl(buf, n);
  u8 *dst = big(n + 64);
  u32 nt = 0, root = 0; size_t olen = 0;
  static double ts[1000];
  int inner = n < 100000 ? (int)(2000000 / n) + 1 : 1;
  printf("# %s: %zu bytes, %llu lines, %d runs x %d\n", "input", n, (unsigned long long)lines, runs, inner);
  printf("stage\tmedian_ms\tmin_ms\tMB/s\tns/line\n");
#define STAGE(name, code) do { \
    for (int r = 0; r < runs + 1; r++) { double t0 = now(); for (int q = 0; q < inner; q++) { code; } \
      double dt = (now() - t0) / inner; if (r) ts[r - 1] = dt; } \
    qsort(ts, (size_t)runs, sizeof(double), cmpd); double md = ts[runs / 2]; \
    printf("%s\t%.4f\t%.4f\t%.1f\t%.2f\n", name, md * 1e3, ts[0] * 1e3, (double)n / md / 1e6, md * 1e9 / (double)lines); } while (0)
  STAGE("memcpy", memcpy(dst, buf, n); sink += dst[n / 2]);
  STAGE("memchr newline", sink += count_nl(buf, n));
  STAGE("lex, count only", sink += lex_count(buf));
  STAGE("lex, 8-byte tokens stored", nt = lex_store(buf, T); sink += nt);
  STAGE("intern identifiers (tokens given)", intern_all(buf, T, nt); sink += symcnt);
  STAGE("parse (tokens given)", root = parse(); sink += root);
  STAGE("lex + intern + parse", nt = lex_store(buf, T); intern_all(buf, T, nt); root = parse(); sink += root);
  STAGE("print (AST given)", olen = print_all(root); sink += olen);
  STAGE("lex + intern + parse + print", nt = lex_store(buf, T); intern_all(buf, T, nt); root = parse(); olen = print_all(root); sink += olen);
  printf("# tokens %u (%.2f bytes each), nodes %u (%.2f bytes of input each), child slots %u, identifiers %u, printed %zu bytes\n",
         nt, (double)n / nt, nn, (double)n / nn, nk, symcnt, olen);
  printf("# AST arena: %.2f bytes per input byte (tokens %.2f + nodes %.2f + child slots %.2f)\n",
         (sizeof(Tok) * (double)nt + sizeof(Node) * (double)nn + 4.0 * nk) / (double)n,
         sizeof(Tok) * (double)nt / (double)n, sizeof(Node) * (double)nn / (double)n, 4.0 * nk / (double)n);
  return 0;
}
