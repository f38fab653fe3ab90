// The statements and expressions of Python that TVMScript files use.
//
// Every action is one call of a surf_* function of build.h. Nothing needs a destructor:
// nodes live in the surface's array. Sources: Python 3.12's reference, "Full Grammar
// specification". README.md lists where this grammar bends to stay LALR(1); what it takes
// too much of is refused by the builders, with a message of its own.

%name tvms_grammar
%token_prefix TERMINAL_
%token_type {surf_token}
%extra_context {surf_build *build}
%stack_size 0
%syntax_error {
  (void)yymajor;
  (void)yyminor;
  build->failed = true;
}
%include {
#include "grammar/build_stmt.h"
}

// Terminals that no rule has; see tokens.def.
%token UNTAKEN.

// ---------------------------------------------------------------------------------------
// Precedence, lowest first (reference, 6.17). IF … ELSE and lambda reach as far right as
// they can.
%right WALRUS.
%right LAMBDA.
%right IF ELSE.
%left OR.
%left AND.
%right NOT.
%left COMPARE.
%left BIT_OR.
%left BIT_XOR.
%left BIT_AND.
%left SHIFT.
%left PLUS MINUS.
%left STAR SLASH AT MULTIPLY.
%right SIGN INVERT.
%right POWER.
%left DOT OPEN_ROUND OPEN_SQUARE.

%type expr       {surf_expr}
%type strings    {surf_expr}
%type item       {surf_expr}
%type bare       {surf_expr}
%type index      {surf_expr}
%type sub        {surf_expr}
%type bound      {surf_expr}
%type dotted     {surf_expr}
%type simple     {surf_list}
%type series     {surf_list}
%type subs       {surf_list}
%type args       {surf_list}
%type pairs      {surf_list}
%type comps      {surf_list}
%type with_items {surf_list}
%type with_item  {surf_expr}
%type params     {surf_list}
%type plist      {surf_list}
%type param      {surf_expr}
%type lparams    {surf_list}
%type lparam     {surf_expr}
%type tparams    {surf_list}
%type tplist     {surf_list}
%type tparam     {surf_expr}
%type class_args {surf_list}
%type returns    {surf_expr}
%type targets    {surf_list}
%type names      {surf_list}
%type aliases    {surf_list}
%type alias      {surf_expr}
%type imported   {surf_list}
%type import     {surf_expr}
%type dots       {surf_token}
%type simples    {surf_list}
%type stmts      {surf_list}
%type stmt       {surf_list}
%type suite      {surf_list}
%type decorators {surf_list}
%type if_chain   {surf_chain}
%type compound   {tvms_ref}
%type definition {tvms_ref}
%type else_part  {surf_list}

// ---------------------------------------------------------------------------------------
// A file, or (after the token NESTED) an expression that stands in a string.
start ::= .
start ::= stmts(L).                       { surf_finish(build, L); }
start ::= NESTED bare(E).                 { surf_finish_nested(build, E); }

stmts ::= stmt.
stmts(A) ::= stmts(L) stmt(M).            { A = surf_join(build, L, M); }
stmts(A) ::= simples(L) NEWLINE.          { A = L; }
stmts(A) ::= simples(L) SEMICOLON NEWLINE. { A = L; }
stmts(A) ::= stmts(L) simples(M) NEWLINE. { A = surf_join(build, L, M); }
stmts(A) ::= stmts(L) simples(M) SEMICOLON NEWLINE. { A = surf_join(build, L, M); }

stmt(A) ::= compound(S).                  { A = surf_one(build, S); }
stmt(A) ::= ERROR(E) NEWLINE.             { A = surf_one(build, E.value); }
stmt(A) ::= ERROR(E) NEWLINE INDENT stmts(B) DEDENT. { A = surf_error_body(build, E, B); }

simples ::= simple.
simples(A) ::= simples(L) SEMICOLON simple(S). { A = surf_join(build, L, S); }

suite(A) ::= COLON simples(L) NEWLINE.    { A = L; }
suite(A) ::= COLON simples(L) SEMICOLON NEWLINE. { A = L; }
suite(A) ::= COLON ERROR(E) NEWLINE.      { A = surf_one(build, E.value); }
suite(A) ::= COLON NEWLINE INDENT stmts(L) DEDENT. { A = L; }
suite(A) ::= COLON NEWLINE MISSING(E).    { A = surf_one(build, E.value); }

// ---------------------------------------------------------------------------------------
// Simple statements. The result of each spans the statement.
simple(A) ::= bare(E).                    { A = surf_list_of(build, surf_expression(build, E)); }
simple(A) ::= targets(L) bare(V).         { A = surf_list_of(build, surf_assign(build, L, V)); }
simple(A) ::= bare(T) AUGMENT(O) bare(V). { A = surf_list_of(build, surf_augment(build, T, O, V)); }
simple(A) ::= bare(T) COLON expr(N).      { A = surf_list_of(build, surf_annotate(build, T, N, surf_none)); }
simple(A) ::= bare(T) COLON expr(N) ASSIGN bare(V). { A = surf_list_of(build, surf_annotate(build, T, N, V)); }
simple(A) ::= RETURN(K).                  { A = surf_list_of(build, surf_return(build, K, surf_none)); }
simple(A) ::= RETURN(K) bare(V).          { A = surf_list_of(build, surf_return(build, K, V)); }
simple(A) ::= ASSERT(K) expr(C).          { A = surf_list_of(build, surf_assert(build, K, C, surf_none)); }
simple(A) ::= ASSERT(K) expr(C) COMMA expr(M). { A = surf_list_of(build, surf_assert(build, K, C, M)); }
simple(A) ::= WORD(K).                    { A = surf_list_of(build, surf_word(build, K)); }
simple(A) ::= DEL(K) bare(T).             { A = surf_list_of(build, surf_delete(build, K, T)); }
simple(A) ::= SCOPE(K) names(L).          { A = surf_list_of(build, surf_scope(build, K, L)); }
simple(A) ::= IMPORT(K) aliases(L).       { A = surf_list_of(build, surf_import(build, K, L)); }
simple(A) ::= FROM(K) dotted(M) IMPORT imported(L). { A = surf_list_of(build, surf_from(build, K, surf_no_token, M, L)); }
simple(A) ::= FROM(K) dots(D) IMPORT imported(L). { A = surf_list_of(build, surf_from(build, K, D, surf_none, L)); }
simple(A) ::= FROM(K) dots(D) dotted(M) IMPORT imported(L). { A = surf_list_of(build, surf_from(build, K, D, M, L)); }

targets(A) ::= bare(T) ASSIGN.            { A = surf_target_list(build, surf_no_list, T); }
targets(A) ::= targets(L) bare(T) ASSIGN. { A = surf_target_list(build, L, T); }

names(A) ::= NAME(N).                     { A = surf_list_of(build, surf_name(build, N)); }
names(A) ::= names(L) COMMA NAME(N).      { A = surf_add(build, L, surf_name(build, N)); }

dotted(A) ::= NAME(N).                    { A = surf_dotted(build, N); }
dotted(A) ::= dotted(D) DOT NAME(N).      { A = surf_dotted_more(build, D, N); }

aliases(A) ::= alias(I).                  { A = surf_list_of(build, I); }
aliases(A) ::= aliases(L) COMMA alias(I). { A = surf_add(build, L, I); }
alias(A) ::= dotted(D).                   { A = surf_alias(build, D, surf_no_token); }
alias(A) ::= dotted(D) AS NAME(N).        { A = surf_alias(build, D, N); }

dots(A) ::= DOT(D).                       { A = surf_dots(D, 1); }
dots(A) ::= ELLIPSIS(D).                  { A = surf_dots(D, 3); }
dots(A) ::= dots(L) DOT.                  { A = surf_dots(L, 1); }
dots(A) ::= dots(L) ELLIPSIS.             { A = surf_dots(L, 3); }

// The list's end is where the statement ends.
imported(A) ::= STAR(S).                  { A = surf_all_names(S); }
imported ::= names_as.
imported(A) ::= OPEN_ROUND names_as(L) SHUT_ROUND(R). { A = surf_ended(L, R); }
imported(A) ::= OPEN_ROUND names_as(L) COMMA SHUT_ROUND(R). { A = surf_ended(surf_with_comma(L), R); }
%type names_as {surf_list}
names_as(A) ::= import(I).                { A = surf_list_of(build, I); }
names_as(A) ::= names_as(L) COMMA import(I). { A = surf_add(build, L, I); }
import(A) ::= NAME(N).                    { A = surf_alias(build, surf_dotted(build, N), surf_no_token); }
import(A) ::= NAME(N) AS NAME(M).         { A = surf_alias(build, surf_dotted(build, N), M); }
import(A) ::= BAD(B).                     { A = surf_bad(build, B); }

// ---------------------------------------------------------------------------------------
// Compound statements
compound(A) ::= if_chain(C).              { A = surf_if_end(build, C, surf_no_list); }
compound(A) ::= if_chain(C) ELSE suite(B). { A = surf_if_end(build, C, B); }
if_chain(A) ::= IF(K) expr(C) suite(B).   { A = surf_if(build, K, C, B); }
if_chain(A) ::= if_chain(X) ELIF(K) expr(C) suite(B). { A = surf_elif(build, X, K, C, B); }

else_part(A) ::= .                        { A = surf_no_list; }
else_part(A) ::= ELSE suite(B).           { A = B; }

compound(A) ::= WHILE(K) expr(C) suite(B) else_part(E). { A = surf_while(build, K, C, B, E); }
compound(A) ::= FOR(K) bare(T) FOR_IN bare(I) suite(B) else_part(E). { A = surf_for(build, K, T, I, B, E); }
compound(A) ::= WITH(K) with_items(L) suite(B). { A = surf_with(build, K, L, B); }

with_items(A) ::= with_item(I).           { A = surf_list_of(build, I); }
with_items(A) ::= with_items(L) COMMA with_item(I). { A = surf_add(build, L, I); }
with_item(A) ::= expr(E).                 { A = surf_with_item(build, E, surf_none); }
with_item(A) ::= expr(E) AS expr(T).      { A = surf_with_item(build, E, T); }

compound ::= definition.
compound(A) ::= decorators(L) definition(S). { A = surf_decorate(build, L, S); }
decorators(A) ::= AT(K) expr(E) NEWLINE.  { A = surf_decorator(build, surf_no_list, K, E); }
decorators(A) ::= decorators(L) AT(K) expr(E) NEWLINE. { A = surf_decorator(build, L, K, E); }

definition(A) ::= DEF(K) NAME(N) tparams(T) OPEN_ROUND params(P) SHUT_ROUND(E) returns(R) suite(B).
                                          { A = surf_def(build, K, N, T, surf_ended(P, E), R, B); }
definition(A) ::= CLASS(K) NAME(N) tparams(T) class_args(P) suite(B).
                                          { A = surf_class(build, K, N, T, P, B); }
returns(A) ::= .                          { A = surf_none; }
returns(A) ::= ARROW expr(E).             { A = E; }
class_args(A) ::= .                       { A = surf_no_list; }
class_args(A) ::= OPEN_ROUND SHUT_ROUND(R). { A = surf_ended(surf_no_list, R); }
class_args(A) ::= OPEN_ROUND args(L) SHUT_ROUND(R). { A = surf_ended(L, R); }
class_args(A) ::= OPEN_ROUND args(L) COMMA SHUT_ROUND(R). { A = surf_ended(surf_with_comma(L), R); }

params(A) ::= .                           { A = surf_no_list; }
params ::= plist.
params(A) ::= plist(L) COMMA.             { A = surf_with_comma(L); }
plist(A) ::= param(P).                    { A = surf_list_of(build, P); }
plist(A) ::= plist(L) COMMA param(P).     { A = surf_add(build, L, P); }
param ::= lparam.
param(A) ::= NAME(N) COLON expr(T).       { A = surf_param(build, TVMS_OP_PARAM, N, N, T, surf_none); }
param(A) ::= NAME(N) COLON expr(T) ASSIGN expr(V). { A = surf_param(build, TVMS_OP_PARAM, N, N, T, V); }
param(A) ::= STAR(S) NAME(N) COLON expr(T). { A = surf_param(build, TVMS_OP_STAR, S, N, T, surf_none); }
param(A) ::= STAR(S) NAME(N) COLON STAR(K) expr(T). { A = surf_param(build, TVMS_OP_STAR, S, N, surf_star(build, K, T), surf_none); }
param(A) ::= POWER(S) NAME(N) COLON expr(T). { A = surf_param(build, TVMS_OP_DOUBLE_STAR, S, N, T, surf_none); }
lparams(A) ::= .                          { A = surf_no_list; }
lparams ::= lplist.
lparams(A) ::= lplist(L) COMMA.           { A = surf_with_comma(L); }
%type lplist {surf_list}
lplist(A) ::= lparam(P).                  { A = surf_list_of(build, P); }
lplist(A) ::= lplist(L) COMMA lparam(P).  { A = surf_add(build, L, P); }
lparam(A) ::= NAME(N).                    { A = surf_param(build, TVMS_OP_PARAM, N, N, surf_none, surf_none); }
lparam(A) ::= NAME(N) ASSIGN expr(V).     { A = surf_param(build, TVMS_OP_PARAM, N, N, surf_none, V); }
lparam(A) ::= SLASH(S).                   { A = surf_param(build, TVMS_OP_SLASH, S, surf_no_token, surf_none, surf_none); }
lparam(A) ::= STAR(S).                    { A = surf_param(build, TVMS_OP_STAR, S, surf_no_token, surf_none, surf_none); }
lparam(A) ::= STAR(S) NAME(N).            { A = surf_param(build, TVMS_OP_STAR, S, N, surf_none, surf_none); }
lparam(A) ::= POWER(S) NAME(N).           { A = surf_param(build, TVMS_OP_DOUBLE_STAR, S, N, surf_none, surf_none); }
lparam(A) ::= BAD(B).                     { A = surf_bad(build, B); }

tparams(A) ::= .                          { A = surf_no_list; }
tparams(A) ::= OPEN_SQUARE tplist(L) SHUT_SQUARE. { A = L; }
tparams(A) ::= OPEN_SQUARE tplist(L) COMMA SHUT_SQUARE. { A = L; }
tplist(A) ::= tparam(P).                  { A = surf_list_of(build, P); }
tplist(A) ::= tplist(L) COMMA tparam(P).  { A = surf_add(build, L, P); }
tparam(A) ::= NAME(N).                    { A = surf_type_param(build, N, N, surf_none, surf_none); }
tparam(A) ::= NAME(N) ASSIGN expr(V).     { A = surf_type_param(build, N, N, surf_none, V); }
tparam(A) ::= NAME(N) COLON expr(T).      { A = surf_type_param(build, N, N, T, surf_none); }
tparam(A) ::= NAME(N) COLON expr(T) ASSIGN expr(V). { A = surf_type_param(build, N, N, T, V); }
tparam(A) ::= STAR(S) NAME(N).            { A = surf_type_param(build, S, N, surf_none, surf_none); }
tparam(A) ::= POWER(S) NAME(N).           { A = surf_type_param(build, S, N, surf_none, surf_none); }
tparam(A) ::= BAD(B).                     { A = surf_bad(build, B); }

// ---------------------------------------------------------------------------------------
// Lists of expressions. `bare` may be a tuple without parentheses; a series is items that
// each have a comma behind.
bare ::= expr.
bare(A) ::= series(L).                    { A = surf_bare_tuple(build, surf_with_comma(L)); }
bare(A) ::= series(L) item(E).            { A = surf_bare_tuple(build, surf_add(build, L, E)); }
series(A) ::= item(E) COMMA(C).           { A = surf_series(build, E, C); }
series(A) ::= series(L) item(E) COMMA(C). { A = surf_series_more(build, L, E, C); }
item ::= expr.
item(A) ::= STAR(S) expr(E).              { A = surf_star(build, S, E); }

// ---------------------------------------------------------------------------------------
// Expressions
expr(A) ::= NAME(N).                      { A = surf_name(build, N); }
expr(A) ::= NUMBER(N).                    { A = surf_literal(build, N); }
expr(A) ::= CONSTANT(N).                  { A = surf_literal(build, N); }
expr(A) ::= ELLIPSIS(N).                  { A = surf_ellipsis(build, N); }
expr(A) ::= BAD(B).                       { A = surf_bad(build, B); }
expr ::= strings.
strings(A) ::= STRING(S).                 { A = surf_string(build, S); }
strings(A) ::= strings(L) STRING(S).      { A = surf_strings(build, L, S); }

expr(A) ::= OPEN_ROUND(L) expr(E) SHUT_ROUND(R). { A = surf_paren(build, L, E, R); }
expr(A) ::= OPEN_ROUND(L) SHUT_ROUND(R).  { A = surf_tuple(build, L, surf_no_list, R); }
expr(A) ::= OPEN_ROUND(L) series(S) SHUT_ROUND(R). { A = surf_tuple(build, L, surf_with_comma(S), R); }
expr(A) ::= OPEN_ROUND(L) series(S) item(E) SHUT_ROUND(R). { A = surf_tuple(build, L, surf_add(build, S, E), R); }
expr(A) ::= OPEN_ROUND(L) expr(E) comps(C) SHUT_ROUND(R). { A = surf_comp(build, TVMS_SURF_GENERATOR, L, E, C, R); }

expr(A) ::= OPEN_SQUARE(L) SHUT_SQUARE(R). { A = surf_display(build, TVMS_SURF_LIST, L, surf_no_list, R); }
expr(A) ::= OPEN_SQUARE(L) item(E) SHUT_SQUARE(R). { A = surf_display(build, TVMS_SURF_LIST, L, surf_list_of(build, E), R); }
expr(A) ::= OPEN_SQUARE(L) series(S) SHUT_SQUARE(R). { A = surf_display(build, TVMS_SURF_LIST, L, surf_with_comma(S), R); }
expr(A) ::= OPEN_SQUARE(L) series(S) item(E) SHUT_SQUARE(R). { A = surf_display(build, TVMS_SURF_LIST, L, surf_add(build, S, E), R); }
expr(A) ::= OPEN_SQUARE(L) expr(E) comps(C) SHUT_SQUARE(R). { A = surf_comp(build, TVMS_SURF_LIST_COMP, L, E, C, R); }

expr(A) ::= OPEN_CURLY(L) SHUT_CURLY(R).  { A = surf_display(build, TVMS_SURF_DICT, L, surf_no_list, R); }
expr(A) ::= OPEN_CURLY(L) pairs(S) SHUT_CURLY(R). { A = surf_display(build, TVMS_SURF_DICT, L, S, R); }
expr(A) ::= OPEN_CURLY(L) pairs(S) COMMA SHUT_CURLY(R). { A = surf_display(build, TVMS_SURF_DICT, L, surf_with_comma(S), R); }
expr(A) ::= OPEN_CURLY(L) expr(K) COLON expr(V) comps(C) SHUT_CURLY(R). { A = surf_comp(build, TVMS_SURF_DICT_COMP, L, surf_pair(build, K, V), C, R); }
expr(A) ::= OPEN_CURLY(L) item(E) SHUT_CURLY(R). { A = surf_display(build, TVMS_SURF_SET, L, surf_list_of(build, E), R); }
expr(A) ::= OPEN_CURLY(L) series(S) SHUT_CURLY(R). { A = surf_display(build, TVMS_SURF_SET, L, surf_with_comma(S), R); }
expr(A) ::= OPEN_CURLY(L) series(S) item(E) SHUT_CURLY(R). { A = surf_display(build, TVMS_SURF_SET, L, surf_add(build, S, E), R); }
expr(A) ::= OPEN_CURLY(L) expr(E) comps(C) SHUT_CURLY(R). { A = surf_comp(build, TVMS_SURF_SET_COMP, L, E, C, R); }
pairs(A) ::= expr(K) COLON expr(V).       { A = surf_list_of(build, surf_pair(build, K, V)); }
pairs(A) ::= POWER(S) expr(V).            { A = surf_list_of(build, surf_double_star(build, S, V)); }
pairs(A) ::= pairs(L) COMMA expr(K) COLON expr(V). { A = surf_add(build, L, surf_pair(build, K, V)); }
pairs(A) ::= pairs(L) COMMA POWER(S) expr(V). { A = surf_add(build, L, surf_double_star(build, S, V)); }

comps(A) ::= FOR(K) bare(T) FOR_IN expr(I). { A = surf_list_of(build, surf_comp_for(build, K, T, I)); }
comps(A) ::= comps(L) FOR(K) bare(T) FOR_IN expr(I). { A = surf_add(build, L, surf_comp_for(build, K, T, I)); }
comps(A) ::= comps(L) COMP_IF(K) expr(C). { A = surf_add(build, L, surf_comp_if(build, K, C)); }

// The bracket right after `with`: a tuple, parentheses or the items themselves.
expr(A) ::= OPEN_ITEMS(L) SHUT_ROUND(R).  { A = surf_tuple(build, L, surf_no_list, R); }
expr(A) ::= OPEN_ITEMS(L) grouped(S) SHUT_ROUND(R). { A = surf_grouped(build, L, S, R); }
expr(A) ::= OPEN_ITEMS(L) grouped(S) COMMA SHUT_ROUND(R). { A = surf_grouped(build, L, surf_with_comma(S), R); }
expr(A) ::= OPEN_ITEMS(L) expr(E) comps(C) SHUT_ROUND(R). { A = surf_comp(build, TVMS_SURF_GENERATOR, L, E, C, R); }
%type grouped {surf_list}
%type group_item {surf_expr}
grouped(A) ::= group_item(I).             { A = surf_list_of(build, I); }
grouped(A) ::= grouped(L) COMMA group_item(I). { A = surf_add(build, L, I); }
group_item ::= item.
group_item(A) ::= expr(E) AS expr(T).     { A = surf_grouped_item(build, E, T); }

expr(A) ::= expr(O) DOT NAME(N).          { A = surf_attribute(build, O, N); }
expr(A) ::= expr(F) OPEN_ROUND SHUT_ROUND(R). { A = surf_call(build, F, surf_no_list, R); }
expr(A) ::= expr(F) OPEN_ROUND args(L) SHUT_ROUND(R). { A = surf_call(build, F, L, R); }
expr(A) ::= expr(F) OPEN_ROUND args(L) COMMA SHUT_ROUND(R). { A = surf_call(build, F, surf_with_comma(L), R); }
expr(A) ::= expr(F) OPEN_ROUND expr(E) comps(C) SHUT_ROUND(R). { A = surf_call_comp(build, F, E, C, R); }
expr(A) ::= expr(O) OPEN_SQUARE index(I) SHUT_SQUARE(R). { A = surf_subscript(build, O, I, R); }

args(A) ::= expr(E).                      { A = surf_list_of(build, E); }
args(A) ::= NAME(N) ASSIGN expr(V).       { A = surf_list_of(build, surf_keyword(build, N, V)); }
args(A) ::= STAR(S) expr(E).              { A = surf_list_of(build, surf_star(build, S, E)); }
args(A) ::= POWER(S) expr(E).             { A = surf_list_of(build, surf_double_star(build, S, E)); }
args(A) ::= args(L) COMMA expr(E).        { A = surf_argument(build, L, E); }
args(A) ::= args(L) COMMA NAME(N) ASSIGN expr(V). { A = surf_add(build, L, surf_keyword(build, N, V)); }
args(A) ::= args(L) COMMA STAR(S) expr(E). { A = surf_add(build, L, surf_star(build, S, E)); }
args(A) ::= args(L) COMMA POWER(S) expr(E). { A = surf_add(build, L, surf_double_star(build, S, E)); }

index ::= sub.
index(A) ::= subs(L).                     { A = surf_bare_tuple(build, surf_with_comma(L)); }
index(A) ::= subs(L) sub(E).              { A = surf_bare_tuple(build, surf_add(build, L, E)); }
subs(A) ::= sub(E) COMMA(C).              { A = surf_series(build, E, C); }
subs(A) ::= subs(L) sub(E) COMMA(C).      { A = surf_series_more(build, L, E, C); }
sub ::= expr.
sub(A) ::= STAR(S) expr(E).               { A = surf_star(build, S, E); }
sub(A) ::= bound(L) COLON(C) bound(U).    { A = surf_slice(build, L, C, U, surf_no_token, surf_none); }
sub(A) ::= bound(L) COLON(C) bound(U) COLON(D) bound(S). { A = surf_slice(build, L, C, U, D, S); }
bound(A) ::= .                            { A = surf_none; }
bound ::= expr.

expr(A) ::= expr(X) BIT_OR(O) expr(Y).    { A = surf_binary(build, X, O, Y); }
expr(A) ::= expr(X) BIT_XOR(O) expr(Y).   { A = surf_binary(build, X, O, Y); }
expr(A) ::= expr(X) BIT_AND(O) expr(Y).   { A = surf_binary(build, X, O, Y); }
expr(A) ::= expr(X) SHIFT(O) expr(Y).     { A = surf_binary(build, X, O, Y); }
expr(A) ::= expr(X) PLUS(O) expr(Y).      { A = surf_binary(build, X, O, Y); }
expr(A) ::= expr(X) MINUS(O) expr(Y).     { A = surf_binary(build, X, O, Y); }
expr(A) ::= expr(X) STAR(O) expr(Y).      { A = surf_binary(build, X, O, Y); }
expr(A) ::= expr(X) SLASH(O) expr(Y).     { A = surf_binary(build, X, O, Y); }
expr(A) ::= expr(X) AT(O) expr(Y).        { A = surf_binary(build, X, O, Y); }
expr(A) ::= expr(X) MULTIPLY(O) expr(Y).  { A = surf_binary(build, X, O, Y); }
expr(A) ::= expr(X) POWER(O) expr(Y).     { A = surf_binary(build, X, O, Y); }
expr(A) ::= MINUS(O) expr(X). [SIGN]      { A = surf_unary(build, O, TVMS_OP_NEGATE, X); }
expr(A) ::= PLUS(O) expr(X). [SIGN]       { A = surf_unary(build, O, TVMS_OP_PLUS, X); }
expr(A) ::= INVERT(O) expr(X).            { A = surf_unary(build, O, TVMS_OP_INVERT, X); }
expr(A) ::= NOT(O) expr(X).               { A = surf_not(build, O, X); }
expr(A) ::= expr(X) AND expr(Y).          { A = surf_bool(build, X, TVMS_OP_AND, Y); }
expr(A) ::= expr(X) OR expr(Y).           { A = surf_bool(build, X, TVMS_OP_OR, Y); }
expr(A) ::= expr(X) COMPARE(O) expr(Y).   { A = surf_compare(build, X, O, Y); }
expr(A) ::= expr(X) IF expr(C) ELSE expr(Y). { A = surf_if_exp(build, X, C, Y); }
expr(A) ::= LAMBDA(K) lparams(P) COLON expr(E). [LAMBDA] { A = surf_lambda(build, K, P, E); }
expr(A) ::= NAME(N) WALRUS expr(E).       { A = surf_walrus(build, N, E); }
