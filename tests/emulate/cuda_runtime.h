/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stands before the CUDA toolkit's header of this name, for .cu files that run on the CPU: see emulate.h. It has
 * what this project uses of CUDA, spelt as there. */
#ifndef EMULATE_CUDA_RUNTIME_H
#define EMULATE_CUDA_RUNTIME_H

#include "emulate.h"

#include <initializer_list> /* the toolkit's header brings it, too */
#include <new>
#include <tuple>
#include <type_traits>

/* ---------------------------------------------------------------- qualifiers */

#define __host__
#define __device__
#define __global__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ /* as in __attribute__((__noinline__)) of other headers */
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
/* __shared__ is compile.py's. */

/* For functions of this file, whose accesses are announced by hand. */
#define EMULATE_INLINE static inline __attribute__((always_inline))
#define EMULATE_RAW __attribute__((no_sanitize("thread"), noinline)) static

/* ---------------------------------------------------------------- types */

struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

#define EMULATE_VECTORS(type, name, align2, align4)                                                            \
    struct name##2 { type x, y; } __attribute__((aligned(align2)));                                            \
    struct name##4 { type x, y, z, w; } __attribute__((aligned(align4)));                                      \
    static inline name##2 make_##name##2(type x, type y) { return name##2{ x, y }; }                           \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return name##4{ x, y, z, w }; }
EMULATE_VECTORS(unsigned char, uchar, 2, 4)
EMULATE_VECTORS(unsigned short, ushort, 4, 8)
EMULATE_VECTORS(short, short, 4, 8)
EMULATE_VECTORS(int, int, 8, 16)
EMULATE_VECTORS(unsigned, uint, 8, 16)
EMULATE_VECTORS(unsigned long long, ulonglong, 16, 16)
EMULATE_VECTORS(float, float, 8, 16)
struct int3 { int x, y, z; };
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return uint3{ x, y, z }; }
static inline int3 make_int3(int x, int y, int z) { return int3{ x, y, z }; }

/* ---------------------------------------------------------------- errors */

#include "cuda_errors.h"

#define CUDART_VERSION 13000

/* ---------------------------------------------------------------- the API */

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
struct cudaGraphEdgeData;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrClusterLaunch = 120,
};
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated
};
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess, cudaDriverEntryPointSymbolNotFound };
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
};
enum : unsigned {
    cudaStreamDefault = 0, cudaStreamNonBlocking = 1,
    cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
    cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4,
    cudaEnableDefault = 0,
};

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int multiProcessorCount, major, minor, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor;
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion;
};
enum cudaLaunchAttributeID {
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributePriority = 8,
};
enum { cudaGraphInstantiateFlagUseNodePriority = 8 };
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    union {
        int programmaticStreamSerializationAllowed, priority;
        struct { unsigned x, y, z; } clusterDim;
    } val;
};
struct cudaKernelNodeParams {
    void *func;
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams;
    void **extra;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};

#pragma GCC visibility push(default)
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetStreamPriorityRange(int *lowest, int *highest);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **entry, unsigned version, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *found = nullptr);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void **memory, size_t size);
cudaError_t cudaFree(void *memory);
cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned flags);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
cudaError_t cudaHostGetFlags(unsigned *flags, void *host);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory);
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *memory, int value, size_t size);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2DAsync(void *memory, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                     size_t *n);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *params);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *params);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

namespace emulate {
cudaError_t launch(const Call &call, const void *arguments, cudaStream_t stream);
cudaError_t function_attributes(cudaFuncAttributes *attributes);
cudaError_t function_attribute(const void *function, cudaFuncAttribute attribute, int value);
cudaError_t occupancy(int *blocks);
cudaError_t cluster_occupancy(int *n, const void *kernel, const cudaLaunchConfig_t *config);
} // namespace emulate
#pragma GCC visibility pop

template <typename T> static inline cudaError_t cudaMalloc(T **memory, size_t size)
{
    return cudaMalloc((void **)(void *)memory, size);
}

template <typename T> static inline cudaError_t cudaHostAlloc(T **memory, size_t size, unsigned flags)
{
    return cudaHostAlloc((void **)(void *)memory, size, flags);
}

template <typename F> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, F *)
{
    return emulate::function_attributes(attributes);
}

template <typename F>
static inline cudaError_t cudaFuncSetAttribute(F *function, cudaFuncAttribute attribute, int value)
{
    return emulate::function_attribute((const void *)function, attribute, value);
}

template <typename F>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F *, int, size_t)
{
    return emulate::occupancy(blocks);
}

template <typename F>
static inline cudaError_t cudaOccupancyMaxActiveClusters(int *n, F *kernel, const cudaLaunchConfig_t *config)
{
    return emulate::cluster_occupancy(n, (const void *)kernel, config);
}

/* ---------------------------------------------------------------- launches */

namespace emulate {

static inline dim3 cluster_of(const cudaLaunchConfig_t &config)
{
    dim3 cluster;
    for (unsigned i = 0; i < config.numAttrs; i++)
        if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
            const auto &size = config.attrs[i].val.clusterDim;
            cluster = dim3(size.x, size.y, size.z);
        }
    return cluster;
}

namespace {

template <typename... Parameters> struct Site {
    const char *name;
    void (*kernel)(Parameters...);
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    dim3 cluster;

    using Arguments = std::tuple<std::decay_t<Parameters>...>;

    static_assert((std::is_trivially_copyable_v<std::decay_t<Parameters>> && ...), "arguments are copied as bytes");

    static void get_addresses(void *arguments, void **addresses)
    {
        std::apply([&](auto &...each) { ((*addresses++ = (void *)&each), ...); }, *(Arguments *)arguments);
    }

    template <size_t... I>
    static void copy(void *arguments, void *const *addresses, std::index_sequence<I...>)
    {
        ::new (arguments) Arguments(*(const std::tuple_element_t<I, Arguments> *)addresses[I]...);
    }

    static void set_arguments(void *arguments, void *const *addresses)
    {
        copy(arguments, addresses, std::index_sequence_for<Parameters...>());
    }

    static void call(const void *kernel, const void *arguments)
    {
        std::apply((void (*)(Parameters...))kernel, *(const Arguments *)arguments);
    }

    cudaError_t operator()(const std::decay_t<Parameters> &...values) const
    {
        const Arguments arguments(values...);
        return launch({ name, (const void *)kernel, { grid.x, grid.y, grid.z }, { block.x, block.y, block.z },
                        { cluster.x, cluster.y, cluster.z }, shared, sizeof...(Parameters), sizeof(Arguments), call,
                        get_addresses, set_arguments },
                      &arguments, stream);
    }
};

template <typename... Parameters>
Site<Parameters...> launch_site(const char *name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                size_t shared = 0, cudaStream_t stream = nullptr, dim3 cluster = 1)
{
    return { name, kernel, grid, block, shared, stream, cluster };
}

} // namespace
} // namespace emulate

template <typename... Parameters, typename... Values>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                                             Values... values)
{
    return emulate::launch_site(nullptr, kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                                config->stream, emulate::cluster_of(*config))(values...);
}

/* ---------------------------------------------------------------- inside kernels: where am I */

namespace emulate {
#pragma GCC visibility push(default)
__attribute__((const)) uint3 thread_idx();
__attribute__((const)) uint3 block_idx();
__attribute__((const)) uint3 block_dim();
__attribute__((const)) uint3 grid_dim();
#pragma GCC visibility pop
} // namespace emulate
/* threadIdx.x and so on: compile.py makes calls of them. */
static const int warpSize = 32;

/* ---------------------------------------------------------------- inside kernels: together */

EMULATE_INLINE void __syncthreads() { emulate::barrier(emulate::Barrier::PLAIN, 0); }
EMULATE_INLINE int __syncthreads_or(int value) { return emulate::barrier(emulate::Barrier::OR, value); }
EMULATE_INLINE int __syncthreads_and(int value) { return emulate::barrier(emulate::Barrier::AND, value); }
EMULATE_INLINE int __syncthreads_count(int value) { return emulate::barrier(emulate::Barrier::COUNT, value); }
EMULATE_INLINE void __threadfence() { emulate::fence(); }
EMULATE_INLINE void __threadfence_block() { emulate::fence(); }
EMULATE_INLINE void __threadfence_system() { emulate::system_fence(); }
EMULATE_INLINE void __nanosleep(unsigned) { emulate::yield(); }

EMULATE_INLINE void __syncwarp(unsigned mask = ~0u) { emulate::collective(emulate::Collective::SYNC, mask, 0); }
EMULATE_INLINE unsigned __activemask() { return emulate::active_mask(); }
EMULATE_INLINE unsigned __ballot_sync(unsigned mask, int yes)
{
    return (unsigned)emulate::collective(emulate::Collective::BALLOT, mask, yes != 0);
}
EMULATE_INLINE int __any_sync(unsigned mask, int yes)
{
    return (int)emulate::collective(emulate::Collective::ANY, mask, yes != 0);
}
EMULATE_INLINE int __all_sync(unsigned mask, int yes)
{
    return (int)emulate::collective(emulate::Collective::ALL, mask, yes != 0);
}

namespace emulate {
namespace {
template <typename T> uint64_t to_bits(T value)
{
    static_assert(sizeof(T) <= 8, "a value of at most 64 bits");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
template <typename T> T from_bits(uint64_t bits)
{
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
} // namespace
} // namespace emulate

#define EMULATE_SHUFFLE(name, kind)                                                                       \
    template <typename T> EMULATE_INLINE T name(unsigned mask, T value, unsigned argument, int width = 32) \
    {                                                                                                     \
        return emulate::from_bits<T>(                                                                     \
            emulate::collective(emulate::Collective::kind, mask, emulate::to_bits(value), argument, (unsigned)width)); \
    }
EMULATE_SHUFFLE(__shfl_sync, INDEX)
EMULATE_SHUFFLE(__shfl_up_sync, UP)
EMULATE_SHUFFLE(__shfl_down_sync, DOWN)
EMULATE_SHUFFLE(__shfl_xor_sync, XOR)

#define EMULATE_REDUCE(name, type, kind)                                                               \
    EMULATE_INLINE type name(unsigned mask, type value)                                                 \
    {                                                                                                  \
        return (type)emulate::collective(emulate::Collective::kind, mask, (unsigned)value);            \
    }
EMULATE_REDUCE(__reduce_add_sync, unsigned, ADD)
EMULATE_REDUCE(__reduce_add_sync, int, ADD)
EMULATE_REDUCE(__reduce_min_sync, unsigned, MIN)
EMULATE_REDUCE(__reduce_min_sync, int, MIN_SIGNED)
EMULATE_REDUCE(__reduce_max_sync, unsigned, MAX)
EMULATE_REDUCE(__reduce_max_sync, int, MAX_SIGNED)
EMULATE_REDUCE(__reduce_and_sync, unsigned, AND)
EMULATE_REDUCE(__reduce_or_sync, unsigned, OR)
EMULATE_REDUCE(__reduce_xor_sync, unsigned, BIT_XOR)

template <typename T> EMULATE_INLINE unsigned __match_any_sync(unsigned mask, T value)
{
    return (unsigned)emulate::collective(emulate::Collective::MATCH_ANY, mask, emulate::to_bits(value));
}
template <typename T> EMULATE_INLINE unsigned __match_all_sync(unsigned mask, T value, int *all)
{
    const unsigned lanes = (unsigned)emulate::collective(emulate::Collective::MATCH_ALL, mask, emulate::to_bits(value));
    *all = lanes != 0;
    return lanes;
}

/* ---------------------------------------------------------------- inside kernels: atomics, loads, stores */

#define EMULATE_ATOMIC(name, expression)                                                                     \
    template <typename T> EMULATE_RAW T name(T *at, std::common_type_t<T> value)                             \
    {                                                                                                        \
        static_assert(!std::is_same_v<T, unsigned long> && !std::is_same_v<T, long>, "CUDA has none for long"); \
        static_assert(sizeof(T) >= 4, "CUDA has none this small");                                           \
        emulate::access(at, sizeof(T), emulate::Access::ATOMIC, __builtin_return_address(0));                        \
        const T old = *at;                                                                                   \
        *at = (expression);                                                                                  \
        return old;                                                                                          \
    }                                                                                                        \
    template <typename T> static inline T name##_block(T *at, std::common_type_t<T> value) { return name(at, value); } \
    template <typename T> static inline T name##_system(T *at, std::common_type_t<T> value) { return name(at, value); }
EMULATE_ATOMIC(atomicAdd, old + value)
EMULATE_ATOMIC(atomicSub, old - value)
EMULATE_ATOMIC(atomicMin, value < old ? value : old)
EMULATE_ATOMIC(atomicMax, value > old ? value : old)
EMULATE_ATOMIC(atomicAnd, old & value)
EMULATE_ATOMIC(atomicOr, old | value)
EMULATE_ATOMIC(atomicXor, old ^ value)
EMULATE_ATOMIC(atomicExch, value)
EMULATE_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
EMULATE_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)

template <typename T> EMULATE_RAW T atomicCAS(T *at, std::common_type_t<T> expected, std::common_type_t<T> value)
{
    static_assert(!std::is_same_v<T, unsigned long> && !std::is_same_v<T, long>, "CUDA has none for long");
    emulate::access(at, sizeof(T), emulate::Access::ATOMIC, __builtin_return_address(0));
    const T old = *at;
    if (old == expected)
        *at = value;
    return old;
}

#define EMULATE_LOAD(name, kind)                                      \
    template <typename T> EMULATE_RAW T name(const T *at)             \
    {                                                                 \
        emulate::access(at, sizeof(T), emulate::Access::kind, __builtin_return_address(0));        \
        return *at;                                                   \
    }
EMULATE_LOAD(__ldg, READ)
EMULATE_LOAD(__ldca, READ)
EMULATE_LOAD(__ldcs, READ)
EMULATE_LOAD(__ldcg, STRONG_READ) /* past the L1 cache */
EMULATE_LOAD(__ldcv, STRONG_READ)

#define EMULATE_STORE(name, kind)                                                    \
    template <typename T> EMULATE_RAW void name(T *at, std::common_type_t<T> value)  \
    {                                                                                \
        emulate::access(at, sizeof(T), emulate::Access::kind, __builtin_return_address(0));                       \
        *at = value;                                                                 \
    }
EMULATE_STORE(__stwb, WRITE)
EMULATE_STORE(__stcs, WRITE)
EMULATE_STORE(__stcg, STRONG_WRITE)
EMULATE_STORE(__stwt, STRONG_WRITE)

/* ---------------------------------------------------------------- inside kernels: arithmetic */

template <typename A, typename B> static constexpr inline std::common_type_t<A, B> min(A a, B b)
{
    return (std::common_type_t<A, B>)b < (std::common_type_t<A, B>)a ? b : a;
}
template <typename A, typename B> static constexpr inline std::common_type_t<A, B> max(A a, B b)
{
    return (std::common_type_t<A, B>)a < (std::common_type_t<A, B>)b ? b : a;
}

static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (unsigned i = 0; i < 32; i += 8)
        c += (a >> i & 255) * (b >> i & 255);
    return c;
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n)
{
    return (unsigned)(((unsigned long long)high << 32 | low) << (n & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (n & 31));
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned select)
{
    const unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned out = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned chosen = select >> 4 * i & 15, byte = (unsigned)(both >> 8 * (chosen & 7)) & 255;
        out |= (chosen & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
    }
    return out;
}

/* Several pieces of a word at once. */
#define EMULATE_PIECES(name, type, expression)                                               \
    static inline unsigned name(unsigned x, unsigned y)                                      \
    {                                                                                        \
        const unsigned n = 8 * sizeof(type);                                                 \
        unsigned out = 0;                                                                    \
        for (unsigned i = 0; i < 32; i += n) {                                               \
            const type a = (type)(x >> i), b = (type)(y >> i);                               \
            out |= ((unsigned)(expression) & ((1u << n) - 1)) << i;                          \
        }                                                                                    \
        return out;                                                                          \
    }
EMULATE_PIECES(__vcmpeq4, unsigned char, a == b ? 255 : 0)
EMULATE_PIECES(__vcmpne4, unsigned char, a != b ? 255 : 0)
EMULATE_PIECES(__vcmpgtu4, unsigned char, a > b ? 255 : 0)
EMULATE_PIECES(__vcmpgeu4, unsigned char, a >= b ? 255 : 0)
EMULATE_PIECES(__vcmpltu4, unsigned char, a < b ? 255 : 0)
EMULATE_PIECES(__vcmpleu4, unsigned char, a <= b ? 255 : 0)
EMULATE_PIECES(__vcmpgts4, signed char, a > b ? 255 : 0)
EMULATE_PIECES(__vseteq4, unsigned char, a == b)
EMULATE_PIECES(__vsetne4, unsigned char, a != b)
EMULATE_PIECES(__vsetgtu4, unsigned char, a > b)
EMULATE_PIECES(__vmaxu4, unsigned char, a > b ? a : b)
EMULATE_PIECES(__vminu4, unsigned char, a < b ? a : b)
EMULATE_PIECES(__vadd4, unsigned char, a + b)
EMULATE_PIECES(__vsub4, unsigned char, a - b)
EMULATE_PIECES(__vabsdiffu4, unsigned char, a > b ? a - b : b - a)
EMULATE_PIECES(__vaddus4, unsigned char, a + b > 255 ? 255 : a + b)
EMULATE_PIECES(__vmaxu2, unsigned short, a > b ? a : b)
EMULATE_PIECES(__vminu2, unsigned short, a < b ? a : b)

static inline long long clock64() { return (long long)emulate::nanoseconds(); }
static inline unsigned __float_as_uint(float x) { return emulate::from_bits<unsigned>(emulate::to_bits(x)); }
static inline float __uint_as_float(unsigned x) { return emulate::from_bits<float>(x); }

#endif
