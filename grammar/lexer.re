// Lexical rules of Python 3.12 (docs.python.org/3.12/reference/lexical_analysis.html).
//
// A rule returns a kind of token or calls the function that finds the token's end; what
// is longer than a line stands in literal.c and identifier.c. Strings have a fast rule for
// the common case and fall back to tvms_lexer_take_string for line joins, triple quotes and
// everything that is wrong. The text ends with NULs, so no rule can run over its end.
// indentation.c includes the generated file: a call for each token would be felt.

// Reads the token that begins at or after `cursor`. White space, comments and joined
// lines are skipped; a line end inside brackets too.
static inline __attribute__((always_inline)) tvms_token_kind lex(tvms_lexer *lexer) {
  const unsigned char *cursor = (const unsigned char *)lexer->cursor;
  const unsigned char *marker;
  const unsigned char *token;
#define CALL(call)                                                                       \
  do {                                                                                   \
    lexer->token = (const char *)token;                                                  \
    lexer->cursor = (const char *)cursor;                                                \
    return call;                                                                         \
  } while (0)
#define TAKE(KIND) CALL(TVMS_TOK_##KIND)
again:
  cursor += *cursor == ' ';  // most tokens have one before them, or none
  token = cursor;
  /*!re2c
  re2c:define:YYCTYPE = "unsigned char";
  re2c:define:YYCURSOR = cursor;
  re2c:define:YYMARKER = marker;
  re2c:yyfill:enable = 0;
  re2c:indent:string = "  ";

  narrow   = [A-Za-z0-9_];
  wide     = [\x80-\xff];
  name     = [A-Za-z_] narrow*;
  digits   = [0-9] ("_"? [0-9])*;
  exponent = [eE] [+-]? digits;
  float    = digits "." digits? exponent? | "." digits exponent? | digits exponent;
  based    = "0" [xX] ("_"? [0-9a-fA-F])+ | "0" [oO] ("_"? [0-7])+ | "0" [bB] ("_"? [01])+;
  zero     = "0" ("_"? "0")*;
  int      = [1-9] ("_"? [0-9])* | zero | based;
  prefix   = [rRbBuU] | [bB] [rR] | [rR] [bB];
  fprefix  = [fF] | [fF] [rR] | [rR] [fF];
  single   = ['] [^'\\\n\r\x00\x80-\xff]* ['];
  double   = ["] [^"\\\n\r\x00\x80-\xff]* ["];
  single_escaped = ['] ([^'\\\n\r\x00] | "\\" [^\n\r\x00])* ['];
  double_escaped = ["] ([^"\\\n\r\x00] | "\\" [^\n\r\x00])* ["];

  [ \t\f]+         { goto again; }
  "\r\n" | [\r\n]  { if (lexer->depth) goto again; TAKE(NEWLINE); }
  "#" [^\n\r\x00]* { cursor = tvms_lexer_take_comment(lexer, token, cursor); goto again; }
  "\\" ("\r\n" | [\r\n]) { goto again; }
  "\\"             { CALL(tvms_lexer_take_backslash(lexer)); }
  "\x00"           { if ((const char *)token < lexer->end) goto again;
                     cursor = token; TAKE(END); }

  "and"      { TAKE(AND); }       "as"       { TAKE(AS); }
  "assert"   { TAKE(ASSERT); }    "async"    { TAKE(ASYNC); }
  "await"    { TAKE(AWAIT); }     "break"    { TAKE(BREAK); }
  "class"    { TAKE(CLASS); }     "continue" { TAKE(CONTINUE); }
  "def"      { TAKE(DEF); }       "del"      { TAKE(DEL); }
  "elif"     { TAKE(ELIF); }      "else"     { TAKE(ELSE); }
  "except"   { TAKE(EXCEPT); }    "finally"  { TAKE(FINALLY); }
  "for"      { TAKE(FOR); }       "from"     { TAKE(FROM); }
  "global"   { TAKE(GLOBAL); }    "if"       { TAKE(IF); }
  "import"   { TAKE(IMPORT); }    "in"       { TAKE(IN); }
  "is"       { TAKE(IS); }        "lambda"   { TAKE(LAMBDA); }
  "nonlocal" { TAKE(NONLOCAL); }  "not"      { TAKE(NOT); }
  "or"       { TAKE(OR); }        "pass"     { TAKE(PASS); }
  "raise"    { TAKE(RAISE); }     "return"   { TAKE(RETURN); }
  "try"      { TAKE(TRY); }       "while"    { TAKE(WHILE); }
  "with"     { TAKE(WITH); }      "yield"    { TAKE(YIELD); }
  "True"     { TAKE(TRUE); }      "False"    { TAKE(FALSE); }
  "None"     { TAKE(NONE); }

  name                          { TAKE(NAME); }
  ((narrow \ [0-9]) narrow*)? wide { CALL(tvms_lexer_take_wide_name(lexer)); }

  int                           { TAKE(INT); }
  digits                        { CALL(tvms_lexer_take_leading_zero(lexer)); }
  (float | digits) [jJ]         { CALL(tvms_lexer_take_number(lexer, TVMS_TOK_IMAGINARY)); }
  float                         { TAKE(FLOAT); }
  (int | float) (narrow | wide) { CALL(tvms_lexer_take_number(lexer, TVMS_TOK_INT)); }

  [uU]? (single | double)                       { TAKE(STRING); }
  prefix? (single_escaped | double_escaped)     { CALL(tvms_lexer_take_escapes(lexer)); }
  prefix? ['"]                                  { CALL(tvms_lexer_take_string(lexer)); }
  prefix? (['] ['] ['] | ["] ["] ["])           { CALL(tvms_lexer_take_string(lexer)); }
  fprefix ['"]                                  { CALL(tvms_lexer_take_fstring(lexer)); }

  "("   { TAKE(OPEN_ROUND); }   ")"   { TAKE(SHUT_ROUND); }
  "["   { TAKE(OPEN_SQUARE); }  "]"   { TAKE(SHUT_SQUARE); }
  "{"   { TAKE(OPEN_CURLY); }   "}"   { TAKE(SHUT_CURLY); }
  ","   { TAKE(COMMA); }        ":"   { TAKE(COLON); }
  ";"   { TAKE(SEMICOLON); }    "."   { TAKE(DOT); }
  "..." { TAKE(ELLIPSIS); }     "->"  { TAKE(ARROW); }
  "="   { TAKE(ASSIGN); }       ":="  { TAKE(WALRUS); }
  "=="  { TAKE(EQ); }           "!="  { TAKE(NE); }
  "<"   { TAKE(LT); }           "<="  { TAKE(LE); }
  ">"   { TAKE(GT); }           ">="  { TAKE(GE); }
  "|"   { TAKE(BIT_OR); }       "|="  { TAKE(IS_OR); }
  "^"   { TAKE(BIT_XOR); }      "^="  { TAKE(IS_XOR); }
  "&"   { TAKE(BIT_AND); }      "&="  { TAKE(IS_AND); }
  "<<"  { TAKE(SHIFT_LEFT); }   "<<=" { TAKE(IS_LEFT); }
  ">>"  { TAKE(SHIFT_RIGHT); }  ">>=" { TAKE(IS_RIGHT); }
  "+"   { TAKE(PLUS); }         "+="  { TAKE(IS_PLUS); }
  "-"   { TAKE(MINUS); }        "-="  { TAKE(IS_MINUS); }
  "*"   { TAKE(STAR); }         "*="  { TAKE(IS_TIMES); }
  "@"   { TAKE(AT); }           "@="  { TAKE(IS_AT); }
  "/"   { TAKE(SLASH); }        "/="  { TAKE(IS_DIV); }
  "//"  { TAKE(FLOOR_DIV); }    "//=" { TAKE(IS_FLOOR); }
  "%"   { TAKE(MOD); }          "%="  { TAKE(IS_MOD); }
  "**"  { TAKE(POWER); }        "**=" { TAKE(IS_POWER); }
  "~"   { TAKE(INVERT); }
  *     { CALL(tvms_lexer_take_stray(lexer)); }
  */
}
