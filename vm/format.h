// The format of executables, and of the modules that a library has inside: what writer and reader
// share.
//
// All numbers are little-endian; texts and arrays stand behind their length in 64 bits.
//
//   executable   magic, version "0.14", functions, memory scopes (not up to 0.23), constants, code; behind that, where
//                TVM does not read any more, a table that only tvms writes: its magic, lines, names
//   bundle       length of what follows; import tree: offsets and children, two arrays; per
//                module its kind and, but for "_lib", the library itself, its bytes. The first one
//                is the root.
//
// TVM: src/runtime/vm/executable.cc; tvm-ffi: src/ffi/extra/library_module.cc.
#ifndef TVMS_VM_FORMAT_H
#define TVMS_VM_FORMAT_H

#include "runtime/abi.h"

// Where a library has its bundle, and the kind of a module that is an executable.
#define TVMS_VM_BUNDLE_SYMBOL "__tvm_ffi__library_bin"
#define TVMS_VM_KIND          "relax.VMExecutable"

#define TVMS_VM_MAGIC        UINT64_C(0xD225DE2F4214151D)
#define TVMS_VM_MAGIC_SCOPES UINT64_C(0xD225DE2F4214151E)  // with memory scopes
#define TVMS_VM_PLACES_MAGIC UINT64_C(0x736563616C70736D)
#define TVMS_VM_TENSOR_MAGIC UINT64_C(0xDD5E40F096B4A13F)
#define TVMS_VM_VERSION      "0.14"

// What stands in front of a constant: its kind as an index of types of tvm-ffi.
enum {
  TVMS_VM_FORMAT_INT = 1,
  TVMS_VM_FORMAT_FLOAT = 3,
  TVMS_VM_FORMAT_DTYPE = 5,
  TVMS_VM_FORMAT_TEXT = 65,
  TVMS_VM_FORMAT_SHAPE = 69,
  TVMS_VM_FORMAT_TENSOR = 70,
};

#endif
