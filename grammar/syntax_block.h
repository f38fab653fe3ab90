// Lines and blocks in the syntax check, and going on behind a mistake. See syntax.h.
#ifndef TVMS_GRAMMAR_SYNTAX_BLOCK_H
#define TVMS_GRAMMAR_SYNTAX_BLOCK_H

#include "grammar/syntax_reader.h"

// A logical line begins at hand: a mistake in it is another one.
void tvms_syntax_begin_line(tvms_syntax *s);

// The ':' of a header; false if it is refused.
bool tvms_syntax_colon(tvms_syntax *s);

// ':' and a block.
void tvms_syntax_block(tvms_syntax *s);

// Goes from the end of a header's line into its block; false if there is none, which is a mistake.
bool tvms_syntax_open_block(tvms_syntax *s);

// Goes out of it.
void tvms_syntax_shut_block(tvms_syntax *s);

// Statements up to the end of a block or of the text; `lost`: of a statement that was given up, whose clauses
// may stand among them.
void tvms_syntax_statements(tvms_syntax *s, bool lost);

// Goes to where a statement may begin behind one that was given up.
void tvms_syntax_recover(tvms_syntax *s);

#endif
