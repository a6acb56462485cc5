# SPDX-License-Identifier: Apache-2.0
"""What each kernel is given, and what the host says of what it has written then. Arrays are by their place among the arguments."""
import math
from dataclasses import dataclass
from typing import Callable

import numpy as np

f32, s32, u32 = np.float32, np.int32, np.uint32
SEED = 5


@dataclass
class Case:
    file: str
    kernel: str
    arguments: list
    grid: str
    block: str
    right: Callable
    shared: int = 0
    without: tuple = ()   # items of the text with one of these words are left out
    headers: tuple = ()   # whose text stands before
    includes: tuple = ()  # of the toolkit


def near(found, wanted, tolerance=1e-5):
    return bool(np.allclose(found, wanted, rtol=tolerance, atol=tolerance))


def same(found, wanted):
    return bool(np.array_equal(found, wanted))


def first_ones():
    """Samples of the folder 0_Introduction."""
    of = "0_Introduction/"
    random = np.random.default_rng(SEED)
    a, b = random.random(1000, f32), random.random(1000, f32)
    yield Case(of + "vectorAdd/vectorAdd.cu", "vectorAdd", [a, b, np.zeros(1000, f32), 1000], "4", "256", lambda o: same(o[2], a + b))
    m, n = random.random((32, 64), f32), random.random((64, 32), f32)
    for size in (16, 32):
        yield Case(of + "matrixMul/matrixMul.cu", f"MatrixMulCUDA<{size}>", [np.zeros(1024, f32), m.ravel(), n.ravel(), 64, 32],
                   f"{32 // size}x{32 // size}", f"{size}x{size}", lambda o: near(o[0], (m @ n).ravel()))
    count = np.arange(512, dtype=s32)
    yield Case(of + "asyncAPI/asyncAPI.cu", "increment_kernel", [count, 26], "4", "128", lambda o: same(o[0], count + 26))
    yield Case(of + "simpleOccupancy/simpleOccupancy.cu", "square", [count[:500], 500], "4", "128", lambda o: same(o[0], count[:500] ** 2))
    x = random.random(32, f32)
    yield Case(of + "template/template.cu", "testKernel", [x, np.zeros(32, f32)], "1", "32", lambda o: same(o[1], x * f32(32)), shared=128)
    for name, dtype in (("float", f32), ("int", s32)):
        y = np.arange(32, dtype=dtype)
        yield Case(of + "simpleTemplates/simpleTemplates.cu", f"testKernel<{name}>", [y, np.zeros(32, dtype)], "1", "32",
                   lambda o, y=y: same(o[1], y * 32), shared=128, without=("ArrayComparator", "ArrayFileWriter", "runTest", "computeGold"))
    start = np.zeros(11, s32)
    start[8] = start[10] = 0xff
    yield Case(of + "simpleAtomicIntrinsics/simpleAtomicIntrinsics_kernel.cuh", "testKernel", [start], "64", "256", lambda o: atomics(o[0]))
    votes = np.array([0] * 63 + [1] * 49 + [0] * 16, dtype=u32)
    lanes = votes.reshape(-1, 32)
    for kernel, wanted in (("VoteAnyKernel1", lanes.any(1)), ("VoteAllKernel2", lanes.all(1))):
        yield Case(of + "simpleVoteIntrinsics/simpleVote_kernel.cuh", kernel, [votes, np.zeros(128, u32), 128], "1", "128",
                   lambda o, wanted=wanted: same(o[1], np.repeat(wanted, 32)))
    h, g = (random.standard_normal(8192).astype(np.float16) for _ in range(2))
    pairs = (h.astype(f32) * g.astype(f32)).reshape(-1, 2).sum(1)
    products = [sum(pairs[t + 128 + block :: 1024].sum() for t in range(128)) for block in range(8)]
    for kernel in ("scalarProductKernel_intrinsics", "scalarProductKernel_native"):
        yield Case(of + "fp16ScalarProduct/fp16ScalarProduct.cu", kernel,
                   [h.view(np.uint16), g.view(np.uint16), np.zeros(8, f32), 4096], "8", "128",
                   lambda o: bool(abs(o[2] - np.array(products)).max() < 1), includes=("cuda_fp16.h",))
    t = random.random(512, f32)
    yield Case(of + "clock/clock.cu", "timedReduction", [t, np.zeros(4, f32), np.zeros(8, np.int64)], "4", "256",
               lambda o: bool((o[1] == t.min()).all() and (o[2][4:] > o[2][:4]).all()), shared=2048)
    v, w = random.random(1024, f32), random.random(1024, f32)
    yield Case(of + "simpleAWBarrier/simpleAWBarrier.cu", "normVecByDotProductAWBarrier", [v, w, np.zeros(8), 1024], "4", "128",
               lambda o: near(o[0], v / (v.astype(float) * w).sum() ** 0.5, 1e-3), shared=64, without=("runNorm",))


def atomics(found):
    """As simpleAtomicIntrinsics says it, where the order of threads does not matter."""
    n = 64 * 256
    up = down = odd = 0
    every, one = 0xff, 0xff
    for i in range(n):
        up = 0 if up >= 17 else up + 1
        down = 137 if down == 0 or down > 137 else down - 1
        every &= 2 * i + 7
        odd |= 1 << (i & 31)
        one ^= i
    odd -= (odd >> 31) << 32
    wanted = {0: 10 * n, 1: -10 * n, 3: n - 1, 4: 0, 5: up, 6: down, 8: every, 9: odd, 10: one}
    return all(found[k] == value for k, value in wanted.items()) and 0 <= found[2] < n and 0 <= found[7] < n


def sorts():
    random = np.random.default_rng(SEED)
    keys, values, zeros = random.integers(0, 2**31, 2048, dtype=u32), np.arange(2048, dtype=u32), np.zeros(2048, u32)

    def sorted_by_blocks(o):
        return same(o[0].reshape(-1, 1024), np.sort(keys.reshape(-1, 1024), 1)) and same(keys[o[1]], o[0])
    for file, kernel, more in (("0_Introduction/mergeSort/mergeSort.cu", "mergeSortSharedKernel<1u>", []),
                               ("0_Introduction/mergeSort/bitonic.cu", "bitonicSortSharedKernel", [1]),
                               ("2_Concepts_and_Techniques/sortingNetworks/bitonicSort.cu", "bitonicSortShared", [1]),
                               ("2_Concepts_and_Techniques/sortingNetworks/oddEvenMergeSort.cu", "oddEvenMergeSortShared", [1])):
        yield Case(file, kernel, [zeros, zeros, keys, values, 1024] + more, "2", "512", sorted_by_blocks)


def reductions():
    of = "2_Concepts_and_Techniques/"
    random = np.random.default_rng(SEED)
    n = 3000
    numbers = random.integers(-100, 100, n, dtype=s32)
    file = of + "reduction/reduction_kernel.cu"
    for kernel in ("reduce0<int>", "reduce1<int>", "reduce2<int>"):
        yield Case(file, kernel, [numbers, np.zeros(24, s32), n], "24", "128", lambda o: int(o[1].sum()) == int(numbers.sum()), shared=1024)
    for kernel in ("reduce3<int>", "reduce4<int,128>", "reduce5<int,128>", "reduce6<int,128,false>", "reduce7<int,128,false>",
                   "cg_reduce<int>", "multi_warp_cg_reduce<int,128,64>"):
        yield Case(file, kernel, [numbers, np.zeros(12, s32), n], "12", "128", lambda o: int(o[1].sum()) == int(numbers.sum()), shared=2048)
    doubles = random.random(n)
    yield Case(file, "reduce6<double,128,false>", [doubles, np.zeros(12), n], "12", "128",
               lambda o: near(o[1].sum(), doubles.sum(), 1e-12), shared=4096)
    floats = random.random(5000, f32)
    file = of + "threadFenceReduction/threadFenceReduction_kernel.cuh"
    yield Case(file, "reduceSinglePass<128,false>", [floats, np.zeros(16, f32), 5000], "16", "128",
               lambda o: near(o[1][0], floats.sum(), 1e-4), shared=1024)
    yield Case(file, "reduceMultiPass<128,false>", [floats, np.zeros(16, f32), 5000], "16", "128",
               lambda o: near(o[1].sum(), floats.sum(), 1e-4), shared=1024)
    yield Case(of + "reductionMultiBlockCG/reductionMultiBlockCG.cu", "reduceSinglePassMultiBlockCG",
               [floats, np.zeros(64, f32), 5000], "16", "128", lambda o: near(o[1][0], floats.sum(), 1e-3),
               shared=1024, without=("benchmarkReduce", "runTest"))
    a, b = random.random(2048, f32), random.random(2048, f32)
    yield Case(of + "scalarProd/scalarProd_kernel.cuh", "scalarProdGPU", [np.zeros(8, f32), a, b, 8, 256], "4", "256",
               lambda o: near(o[0], (a * b).reshape(8, 256).sum(1)))
    c = random.random(4096, f32)
    yield Case("3_CUDA_Features/simpleCudaGraphs/simpleCudaGraphs.cu", "reduce", [c, np.zeros(4), 4096, 4], "4", "512",
               lambda o: near(o[1].sum(), c.astype(float).sum()))


def scans_and_histograms():
    of = "2_Concepts_and_Techniques/"
    random = np.random.default_rng(SEED)
    u = random.integers(0, 1000, 4096, dtype=u32)
    before = np.concatenate([np.concatenate([[0], np.cumsum(u[i : i + 1024])[:-1]]) for i in range(0, 4096, 1024)])
    yield Case(of + "scan/scan.cu", "scanExclusiveShared", [np.zeros(4096, u32), u, 1024], "4", "256", lambda o: same(o[0], before))
    s = random.integers(0, 100, 1024, dtype=s32)
    sums = np.concatenate([np.cumsum(s[i : i + 256]) for i in range(0, 1024, 256)])
    yield Case(of + "shfl_scan/shfl_scan.cu", "shfl_scan_test", [s, 32, np.zeros(4, s32)], "4", "256",
               lambda o: same(o[0], sums) and same(o[2], s.reshape(4, 256).sum(1)), shared=32)
    yield Case(of + "shfl_scan/shfl_scan.cu", "uniform_add", [s, np.arange(4, dtype=s32), 1024], "4", "256",
               lambda o: same(o[0], s + np.repeat(np.arange(4), 256)))
    d = random.integers(0, 2**32, 4096, dtype=u32)
    by_byte = np.bincount(d.view(np.uint8), minlength=256)
    common = of + "histogram/histogram_common.h"
    yield Case(of + "histogram/histogram256.cu", "histogram256Kernel", [np.zeros(1024, u32), d, 4096], "4", "192",
               lambda o: same(o[0].reshape(-1, 256).sum(0), by_byte), headers=(common,))
    yield Case(of + "histogram/histogram64.cu", "histogram64Kernel", [np.zeros(512, u32), d, 1024], "8", "64",
               lambda o: same(o[0].reshape(-1, 64).sum(0), np.bincount(d.view(np.uint8) >> 2, minlength=64)))
    p = random.integers(0, 2**20, 4096, dtype=u32)
    yield Case(of + "histogram/histogram256.cu", "mergeHistogram256Kernel", [np.zeros(256, u32), p, 16], "256", "256",
               lambda o: same(o[0], p.reshape(16, 256).sum(0)))


def transforms():
    random = np.random.default_rng(SEED)
    image = random.random(4096, f32)
    file = "6_Performance/transpose/transpose.cu"
    for kernel in ("copy", "copySharedMem"):
        yield Case(file, kernel, [np.zeros(4096, f32), image, 64, 64], "2x2", "32x16", lambda o: same(o[0], image))
    for kernel in ("transposeNaive", "transposeCoalesced", "transposeNoBankConflicts", "transposeDiagonal"):
        yield Case(file, kernel, [np.zeros(4096, f32), image, 64, 64], "2x2", "32x16",
                   lambda o: same(o[0], image.reshape(64, 64).T.ravel()))
    w = random.random(2048, f32)
    yield Case("5_Domain_Specific/fastWalshTransform/fastWalshTransform_kernel.cuh", "fwtBatch1Kernel",
               [np.zeros(2048, f32), w, 10], "2", "256",
               lambda o: near(o[0], np.concatenate([walsh(w[:1024]), walsh(w[1024:])]), 1e-3), shared=4096)
    m = random.random(1024, f32) * 255
    cosines = np.array([[math.cos((2 * x + 1) * row * math.pi / 16) / 2 for x in range(8)] for row in range(8)])
    cosines[0] = math.sqrt(1 / 8)
    square, by_eight = m.reshape(32, 32).astype(float), range(0, 32, 8)
    blocks = [[cosines @ square[i : i + 8, j : j + 8] @ cosines.T for j in by_eight] for i in by_eight]
    yield Case("2_Concepts_and_Techniques/dct8x8/dct8x8_kernel2.cuh", "CUDAkernel2DCT", [np.zeros(1024, f32), m, 32], "1x2", "8x4x2",
               lambda o: near(o[0].reshape(32, 32), np.block(blocks), 2e-2))


def walsh(a):
    a, half = a.astype(float).copy(), 1
    while half < len(a):
        for i in range(0, len(a), 2 * half):
            x, y = a[i : i + half].copy(), a[i + half : i + 2 * half].copy()
            a[i : i + half], a[i + half : i + 2 * half] = x + y, x - y
        half *= 2
    return a


def models():
    of = "5_Domain_Specific/"
    random = np.random.default_rng(SEED)
    price, strike, years = random.random(512, f32) * 25 + 5, random.random(512, f32) * 99 + 1, random.random(512, f32) * 9.75 + 0.25
    price, strike, years = (array.astype(f32) for array in (price, strike, years))

    def options(o):
        s, x, t = price.astype(float), strike.astype(float), years.astype(float)
        rate, spread = 0.02, 0.30
        d1 = (np.log(s / x) + (rate + spread * spread / 2) * t) / (spread * np.sqrt(t))
        d2 = d1 - spread * np.sqrt(t)

        def below(d):
            return 0.5 * (1 + np.vectorize(math.erf)(d / math.sqrt(2)))
        later = x * np.exp(-rate * t)
        return near(o[0], s * below(d1) - later * below(d2), 2e-4) and near(o[1], later * below(-d2) - s * below(-d1), 2e-4)
    yield Case(of + "BlackScholes/BlackScholes_kernel.cuh", "BlackScholesGPU",
               [np.zeros(512, f32), np.zeros(512, f32), price, strike, years, "0.02", "0.30", 512], "2", "128", options)
    directions = random.integers(0, 2**32, 32, dtype=u32)

    def sobol(o):
        wanted = np.zeros(1024, f32)
        for i in range(1024):
            bits = i ^ (i >> 1)
            x = 0
            for k in range(32):
                x ^= int(directions[k]) if bits >> k & 1 else 0
            wanted[i] = f32(x) * f32(2.3283064365386963e-10)
        return same(o[3], wanted)
    yield Case(of + "SobolQRNG/sobol_gpu.cu", "sobolGPU_kernel", [1024, 1, directions, np.zeros(1024, f32)], "4x1", "64", sobol)


def features():
    of = "3_CUDA_Features/"
    random = np.random.default_rng(SEED)
    v = random.integers(0, 1000, 2048, dtype=s32)
    odd = v % 2 == 1
    yield Case(of + "binaryPartitionCG/binaryPartitionCG.cu", "oddEvenCountAndSumCG",
               [v, np.zeros(1, s32), np.zeros(2, s32), 2048], "4", "128",
               lambda o: bool(o[1][0] == odd.sum() and o[2][0] == v[odd].sum() and o[2][1] == v[~odd].sum()))
    f = random.integers(-50, 50, 3000, dtype=s32)
    yield Case(of + "warpAggregatedAtomicsCG/warpAggregatedAtomicsCG.cu", "filter_arr",
               [np.zeros(3000, s32), np.zeros(1, s32), f, 3000], "6", "256",
               lambda o: sorted(o[0][: o[1][0]]) == sorted(f[f > 0]))
    yield Case("2_Concepts_and_Techniques/inlinePTX/inlinePTX.cu", "sequence_gpu", [np.zeros(300, s32), 300], "3", "128",
               lambda o: same(o[0], np.arange(300) % 32), without=("sequence_cpu",))
    m, n, flat = random.random((32, 64), f32), random.random((64, 32), f32), np.full((64, 32), 0.01, f32)
    stages = ("AsyncCopyMultiStageLargeChunk", "AsyncCopyLargeChunk", "AsyncCopyLargeChunkAWBarrier", "AsyncCopySingleStage",
              "AsyncCopyMultiStage", "AsyncCopyMultiStageSharedState", "Naive", "NaiveLargeChunk")
    for kernel in stages:
        b = flat if "LargeChunk" in kernel else n
        yield Case(of + "globalToShmemAsyncCopy/globalToShmemAsyncCopy.cu", f"MatrixMul{kernel}<16>",
                   [np.zeros(1024, f32), m.ravel(), b.ravel(), 64, 32], "2x2", "16x18" if kernel.endswith("SharedState") else "16x16",
                   lambda o, b=b: near(o[0], (m @ b).ravel()))


def all_of_them():
    for group in (first_ones, sorts, reductions, scans_and_histograms, transforms, models, features):
        yield from group()
