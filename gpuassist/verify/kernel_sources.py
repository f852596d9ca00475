"""The programs that prove a compiler, in CUDA C++ as plain as CUDA 9 takes it, and what they print.

The runtime is linked statically by nvcc, so that the result needs the driver and nothing else. Memory is overwritten first: a GPU
hands out what lay there before, which may be the right result of the run before.
"""

from __future__ import annotations

from msgspec import Struct


class KernelProgram(Struct, frozen=True):
    """A program, what it prints where its result is right, and whether it tells in words what is wrong."""

    source: str
    right: str
    tells: bool = False


_ANSWER = """\
#include <cstdio>
__global__ void answer(int *out) { *out = 42; }
int main() {
    int *out = nullptr, found = 0;
    cudaError_t error = cudaMalloc(&out, sizeof found);
    if (error == cudaSuccess) { error = cudaMemset(out, 0, sizeof found); }
    if (error == cudaSuccess) { answer<<<1, 1>>>(out); error = cudaGetLastError(); }
    if (error == cudaSuccess) { error = cudaMemcpy(&found, out, sizeof found, cudaMemcpyDeviceToHost); }
    if (error != cudaSuccess) { std::fprintf(stderr, "CUDA error %d: %s\\n", (int)error, cudaGetErrorString(error)); return 1; }
    std::printf("%d\\n", found);
    return 0;
}
"""

# Three arrays, each element from its own block and thread, the first by way of its block's shared memory. Every number is whole and
# below 2**24 in float, below 2**53 in double, so that there is no rounding: each element must be the expected one.
_ARRAYS = """\
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
enum { BLOCKS = 256, THREADS = 256, COUNT = BLOCKS * THREADS };
__global__ void fill(unsigned *whole, float *single, double *twice) {
    __shared__ unsigned held[THREADS];
    unsigned block = blockIdx.x, thread = threadIdx.x, i = block * blockDim.x + thread;
    held[thread] = (block * 2654435761u) ^ (thread * 40503u + block);
    __syncthreads();
    whole[i] = held[THREADS - 1 - thread];
    single[i] = 3.0f * (float)i + (float)thread;
    twice[i] = (double)i * (double)i * 1000003.0 + (double)block;
}
static void check(cudaError_t error) {
    if (error == cudaSuccess) { return; }
    std::fprintf(stderr, "CUDA error %d: %s\\n", (int)error, cudaGetErrorString(error));
    std::exit(1);
}
template <typename T> static T *poisoned() {
    T *there = nullptr;
    check(cudaMalloc(&there, COUNT * sizeof(T)));
    check(cudaMemset(there, 0xA5, COUNT * sizeof(T)));
    return there;
}
template <typename T> static int differing(const char *kind, const T *there, const std::vector<T> &wanted) {
    std::vector<T> found(COUNT);
    check(cudaMemcpy(&found[0], there, COUNT * sizeof(T), cudaMemcpyDeviceToHost));
    int wrong = 0, first = 0;
    for (int i = COUNT - 1; i >= 0; --i) {
        if (std::memcmp(&found[i], &wanted[i], sizeof(T)) != 0) { ++wrong; first = i; }
    }
    if (wrong) {
        std::printf("%d of %d elements of type %s, the first at [%d]: %.17g and not %.17g\\n", wrong, (int)COUNT, kind, first,
                    (double)found[first], (double)wanted[first]);
    }
    return wrong;
}
int main() {
    std::vector<unsigned> whole(COUNT);
    std::vector<float> single(COUNT);
    std::vector<double> twice(COUNT);
    for (int block = 0; block < BLOCKS; ++block) {
        for (int thread = 0; thread < THREADS; ++thread) {
            int i = block * THREADS + thread;
            whole[i] = ((unsigned)block * 2654435761u) ^ ((unsigned)(THREADS - 1 - thread) * 40503u + (unsigned)block);
            single[i] = (float)(3 * i + thread);
            twice[i] = (double)((long long)i * i * 1000003LL + block);
        }
    }
    unsigned *a = poisoned<unsigned>();
    float *b = poisoned<float>();
    double *c = poisoned<double>();
    fill<<<BLOCKS, THREADS>>>(a, b, c);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    int wrong = differing("int", a, whole) + differing("float", b, single) + differing("double", c, twice);
    if (wrong == 0) { std::printf("all %d elements are right\\n", 3 * (int)COUNT); }
    return 0;
}
"""

ANSWER = KernelProgram(_ANSWER, "42")
ARRAYS = KernelProgram(_ARRAYS, "all 196608 elements are right", tells=True)
