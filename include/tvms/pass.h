// Passes: what there is, and running pipelines of them.
//
// context.h has the rule for threads.
#ifndef TVMS_PASS_H
#define TVMS_PASS_H

#include <tvms/program.h>

#ifdef __cplusplus
extern "C" {
#endif

// A pass or a pipeline with a name. Everything is static.
typedef struct {
  size_t size;          // sizeof(tvms_pass_info), set by the caller
  const char *name;     // TVM's: "LegalizeOps"
  const char *summary;  // one line
  const char *since;    // first release of TVM that has a pass of this name
  const char *until;    // last one; NULL: the newest has it
  const char *passes;   // of a pipeline: what it stands for; else NULL
} tvms_pass_info;

// Fills `info` in for one pass, passes first, then pipelines. False: there is no such index.
// Any thread.
bool tvms_pass_list(uint32_t index, tvms_pass_info *info);

typedef struct {
  size_t size;          // sizeof(tvms_pass_option_info), set by the caller
  const char *name;     // "max_depth"
  const char *type;     // "boolean", "integer", "string", "data type", "list" or "map"
  const char *initial;  // the value if it is not given
  const char *summary;  // one line
} tvms_pass_option_info;

// Fills `info` in for one option of the pass with this name. False: there is no such pass or
// index. Any thread.
bool tvms_pass_list_option(const char *pass, uint32_t index,
                           tvms_pass_option_info *info);

typedef struct {
  size_t size;          // sizeof(tvms_program_transform_options)
  uint32_t stop_after;  // run so many passes; 0: all
  // Verify the module after each pass: what TVM verifies, which was reported, and tvms's own
  // invariants, whose violation is TVMS_INTERNAL.
  bool verify_each;
  // Told after each pass. It may call functions on the same context, print the program for
  // instance; those that would change or destroy it refuse it. It must return. NULL: nobody.
  void (*after)(void *user, const char *pass, bool changed, double seconds);
  void *user;
} tvms_program_transform_options;

// Runs a pipeline on a program, which it changes: names of passes and pipelines in TVM's or
// in kebab spelling, with options in braces, as "LegalizeOps,fuse-ops{max_depth=4}".
// TVMS_FOUND_ERRORS: the pipeline is wrong, which was reported, and nothing was done; or a
// pass failed, which was reported, and the program is as good as one that was read with
// errors. TVMS_BAD_ARGUMENT: the program was read with errors, or a call in progress shows it.
tvms_status tvms_program_transform(tvms_program *program, const char *pipeline,
                                   const tvms_program_transform_options *options);

#ifdef __cplusplus
}
#endif

#endif
