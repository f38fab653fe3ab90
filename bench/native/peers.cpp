// What convolutions.py, products.py and bytes.py compare with: oneDNN (one thread, constant weights in the
// layout that it likes best, images with channels last), libxsmm's generated code, and the peak.
#include <dnnl.hpp>
#include <immintrin.h>
#include <libxsmm.h>

#include <time.h>
#include <unordered_map>
#include <vector>

using namespace dnnl;

namespace {
struct Work {
  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
  primitive step;
  std::unordered_map<int, memory> arguments;
  std::vector<memory> kept;
};

memory reordered(Work &w, const memory::desc &from, const memory::desc &to, void *data) {
  memory given(from, w.cpu, data), made(to, w.cpu);
  reorder(given, made).execute(w.queue, given, made);
  w.queue.wait();
  return made;
}

post_ops after(bool add, bool relu) {
  post_ops ops;
  if (add) ops.append_sum(1.0f);
  if (relu) ops.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
  return ops;
}
} // namespace

// Memory is float, images n x h x h x c and weights o x i x h x w (g x o x i x h x w if groups > 1).
// Returns NULL if oneDNN cannot do it. With `add` the result is added to what `y` holds.
extern "C" void *peer_convolution(long batch, long channels, long filters, long size, long high, long wide, long stride, long pad_high, long pad_wide, long dilation, long groups,
                                  int add, int relu, float *x, float *weights, float *bias, float *y) {
  try {
    Work *w = new Work;
    auto steps = [&](long window, long pad) { return (size + 2 * pad - dilation * (window - 1) - 1) / stride + 1; };
    auto f32 = memory::data_type::f32;
    using tag = memory::format_tag;
    memory::dims source{batch, channels, size, size}, target{batch, filters, steps(high, pad_high), steps(wide, pad_wide)}, pad{pad_high, pad_wide};
    memory::dims plain{filters, channels, high, wide}, grouped{groups, filters / groups, channels / groups, high, wide};
    memory::dims shape = groups > 1 ? grouped : plain;
    memory::desc sd(source, f32, tag::nhwc), td(target, f32, tag::nhwc), bd({filters}, f32, tag::x), any(shape, f32, tag::any);
    convolution_forward::desc d(prop_kind::forward_inference, algorithm::convolution_direct, sd, any, bd, td, {stride, stride},
                                  {dilation - 1, dilation - 1}, pad, pad);
    primitive_attr attr;
    attr.set_post_ops(after(add, relu));
    convolution_forward::primitive_desc pd(d, attr, w->cpu);
    memory packed = reordered(*w, memory::desc(shape, f32, groups > 1 ? tag::goihw : tag::oihw), pd.weights_desc(), weights);
    w->step = convolution_forward(pd);
    w->arguments = {{DNNL_ARG_SRC, memory(sd, w->cpu, x)}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_BIAS, memory(bd, w->cpu, bias)}, {DNNL_ARG_DST, memory(td, w->cpu, y)}};
    return w;
  } catch (const error &) {
    return nullptr;
  }
}

// The step of a product, with its second operand as it takes it.
static void prepare(Work &w, const matmul::primitive_desc &pd, const memory::desc &ad, void *a, memory packed, const memory::desc &yd, void *y) {
  w.step = matmul(pd);
  w.arguments = {{DNNL_ARG_SRC, memory(ad, w.cpu, a)}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_DST, memory(yd, w.cpu, y)}};
}

// y = a x b, `batch` times; with `constant` b is packed beforehand, else it is read as it is.
extern "C" void *peer_product(long batch, long m, long n, long k, int a_turned, int b_turned, int constant, float *a, float *b, float *y) {
  try {
    Work *w = new Work;
    auto f32 = memory::data_type::f32;
    auto strided = [&](long rows, long columns, bool turned) {
      return memory::desc({batch, rows, columns}, f32, turned ? memory::dims{rows * columns, 1, rows} : memory::dims{rows * columns, columns, 1});
    };
    memory::desc ad = strided(m, k, a_turned), bd = strided(k, n, b_turned), yd = strided(m, n, false);
    memory::desc wanted = constant ? memory::desc({batch, k, n}, f32, memory::format_tag::any) : bd;
    matmul::primitive_desc pd(matmul::desc(ad, wanted, yd), w->cpu);
    memory packed = constant ? reordered(*w, bd, pd.weights_desc(), b) : memory(bd, w->cpu, b);
    prepare(*w, pd, ad, a, packed, yd, y);
    return w;
  } catch (const error &) {
    return nullptr;
  }
}

// y = a x b of bytes, which have a sign or not, with sums of 32 bits; NULL if oneDNN cannot do it.
extern "C" void *peer_product_of_bytes(long m, long n, long k, int a_signed, int b_signed, int b_turned, int constant, void *a, void *b, int *y) {
  try {
    Work *w = new Work;
    using type = memory::data_type;
    memory::desc ad({m, k}, a_signed ? type::s8 : type::u8, memory::dims{k, 1}), yd({m, n}, type::s32, memory::dims{n, 1});
    type second = b_signed ? type::s8 : type::u8;
    memory::desc bd({k, n}, second, b_turned ? memory::dims{1, k} : memory::dims{n, 1});
    memory::desc wanted = constant ? memory::desc({k, n}, second, memory::format_tag::any) : bd;
    matmul::primitive_desc pd(matmul::desc(ad, wanted, yd), w->cpu);
    memory packed = constant ? reordered(*w, bd, pd.weights_desc(), b) : memory(bd, w->cpu, b);
    prepare(*w, pd, ad, a, packed, yd, y);
    return w;
  } catch (const error &) {
    return nullptr;
  }
}

extern "C" void peer_run(void *work) {
  Work *w = static_cast<Work *>(work);
  w->step.execute(w->queue, w->arguments);
  w->queue.wait();
}

// Code of libxsmm for C = A x B, or NULL if it has none for the shape. It counts columns first, so B is
// its first operand.
extern "C" void *peer_generated(long m, long n, long k) {
  float one = 1, zero = 0;
  libxsmm_blasint lda = n, ldb = k, ldc = n;
  int flags = LIBXSMM_GEMM_FLAG_NONE;
  return (void *)libxsmm_smmdispatch(n, m, k, &lda, &ldb, &ldc, &one, &zero, &flags, nullptr);
}

extern "C" void peer_run_generated(void *code, float *a, float *b, float *y) { ((libxsmm_smmfunction)code)(b, a, y); }

// Bytes of the widest vectors of the processor, and how many sums in them hide the time of a multiply-add and stay in registers.
#ifdef __AVX512F__
enum { PEAK_BYTES = 64, PEAK_SUMS = 24 };
#else
enum { PEAK_BYTES = 32, PEAK_SUMS = 12 };
#endif

// GFLOP/s of multiply-adds whose operands are in registers, the best of some runs.
extern "C" double peer_peak(void) {
  typedef float vec __attribute__((vector_size(PEAK_BYTES)));
  enum { STEPS = 200000, RUNS = 20, OPERATIONS = 2 * PEAK_BYTES / sizeof(float) };
  double best = 0;
  for (int run = 0; run < RUNS; run++) {
    vec sums[PEAK_SUMS], a, b;
#pragma GCC unroll 24
    for (int i = 0; i < PEAK_SUMS; i++)
      sums[i] = vec{} + (float)i;
    a = vec{} + 0.999f, b = vec{} + 1e-3f;
    timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (int step = 0; step < STEPS; step++) {
#pragma GCC unroll 24
      for (int i = 0; i < PEAK_SUMS; i++)
        sums[i] = sums[i] * a + b;
      asm volatile("" : "+v"(a), "+v"(b));
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
#pragma GCC unroll 24
    for (int i = 0; i < PEAK_SUMS; i++)
      asm volatile("" : : "v"(sums[i]));
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    double speed = 1e-9 * OPERATIONS * PEAK_SUMS * (double)STEPS / seconds;
    best = speed > best ? speed : best;
  }
  return best;
}

// Gop/s of the sums of four products of bytes (vpdpbusd) in registers, the best of some runs; 0: the processor has none.
extern "C" double peer_peak_of_bytes(void) {
#ifdef __AVX512VNNI__
  enum { SUMS = 24, STEPS = 200000, RUNS = 20, OPERATIONS = 2 * 64 };
  double best = 0;
  for (int run = 0; run < RUNS; run++) {
    __m512i sums[SUMS], a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(-5);
#pragma GCC unroll 24
    for (int i = 0; i < SUMS; i++)
      sums[i] = _mm512_set1_epi32(i);
    timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (int step = 0; step < STEPS; step++) {
#pragma GCC unroll 24
      for (int i = 0; i < SUMS; i++)
        sums[i] = _mm512_dpbusd_epi32(sums[i], a, b);
      asm volatile("" : "+v"(a), "+v"(b));
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
#pragma GCC unroll 24
    for (int i = 0; i < SUMS; i++)
      asm volatile("" : : "v"(sums[i]));
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    double speed = 1e-9 * OPERATIONS * SUMS * (double)STEPS / seconds;
    best = speed > best ? speed : best;
  }
  return best;
#else
  return 0;
#endif
}
