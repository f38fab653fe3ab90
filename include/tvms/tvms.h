// tvms: TVMScript, the text of Apache TVM's programs, read, checked, printed, transformed,
// run and compiled. This header includes all others; docs/embedding.md has an example.
#ifndef TVMS_TVMS_H
#define TVMS_TVMS_H

#include <tvms/context.h>
#include <tvms/diag.h>
#include <tvms/pass.h>
#include <tvms/plugin.h>
#include <tvms/program.h>
#include <tvms/run.h>
#include <tvms/source.h>
#include <tvms/text.h>
#include <tvms/types.h>

#endif
