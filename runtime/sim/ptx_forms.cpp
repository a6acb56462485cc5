// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_forms.h"

#include "runtime/sim/ptx_decoder.h"

// The first form that fits an instruction is the one that decodes it. A new instruction is a row here, a handler in one of the files
// ptx_decode*.cpp where none fits, and an operation in compute.h or wide.h.
namespace gexp::sim {
namespace {

constexpr std::string_view kIntegers = "u16 u32 u64 s16 s32 s64", kWords = "u32 u64 s32 s64", kBits = "b16 b32 b64";
constexpr std::string_view kFloats = "f32 f64", kHalves = "f16 f16x2 bf16 bf16x2";
constexpr std::string_view kRounding = "rn rz rm rp ftz", kCompared = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64";
constexpr std::string_view kSetTypes = "u32 s32 f32", kHalfSetTypes = "u16 s16 u32 s32 f16 bf16 f16x2 bf16x2";
constexpr std::string_view kComparison = "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan";
constexpr std::string_view kCompareMay = "and or xor ftz";
constexpr std::string_view kValues = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64";
constexpr std::string_view kSpaces = "global shared shared::cta local param param::entry param::func const";
constexpr std::string_view kLoad = "global shared shared::cta shared::cluster local param param::entry param::func const ca cg cv cs lu nc volatile relaxed acquire weak "
                                   "mmio cta gpu sys cluster v2 v4 v8 L1::* L2::*";
constexpr std::string_view kStore = "global shared shared::cta shared::cluster local param param::func wb cg cs wt volatile relaxed release weak mmio cta gpu sys cluster "
                                    "v2 v4 v8 L1::* L2::*";
constexpr std::string_view kAtomic = "global shared shared::cta shared::cluster relaxed acquire release acq_rel cta gpu sys cluster";
constexpr std::string_view kConverted = "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64";
constexpr std::string_view kAnywhere = "global shared shared::cta";
constexpr std::string_view kVideo = "sat clamp wrap add min max";

using D = Decoder;

constexpr Form kForms[] = {
    {"9.7.1", "add", "", "", kIntegers, "", &D::plain, Op::Add, Op::Mov, 2},
    {"9.7.1", "add", "sat", "", "s32", "", &D::plain, Op::AddSat, Op::Mov, 2},
    {"9.7.1", "add", "", "", "u16x2 s16x2", "", &D::pairs, Op::Add, Op::Mov, 2},
    {"9.7.1", "sub", "", "", kIntegers, "", &D::plain, Op::Sub, Op::Mov, 2},
    {"9.7.1", "sub", "sat", "", "s32", "", &D::plain, Op::SubSat, Op::Mov, 2},
    {"9.7.1", "mul", "lo", "", kIntegers, "", &D::plain, Op::Mul, Op::Mov, 2, Cost::Multiply},
    {"9.7.1", "mul", "hi", "", kIntegers, "", &D::plain, Op::MulHiS, Op::MulHiU, 2, Cost::Multiply},
    {"9.7.1", "mul", "wide", "", "u16 u32 s16 s32", "", &D::wide_multiply, Op::MulWideS, Op::MulWideU, 2},
    {"9.7.1", "mad", "lo", "", kIntegers, "", &D::plain, Op::Mad, Op::Mov, 3, Cost::Multiply},
    {"9.7.1", "mad", "hi", "", kIntegers, "", &D::plain, Op::MadHiS, Op::MadHiU, 3, Cost::Multiply},
    {"9.7.1", "mad", "hi sat", "", "s32", "", &D::plain, Op::MadHiSat, Op::Mov, 3, Cost::Multiply},
    {"9.7.1", "mad", "wide", "", "u16 u32 s16 s32", "", &D::wide_multiply, Op::MadWideS, Op::MadWideU, 3},
    {"9.7.1", "mul24", "lo|hi", "", "u32 s32", "", &D::multiply24, Op::Mad24S, Op::Mad24U, 2},
    {"9.7.1", "mad24", "lo|hi", "", "u32 s32", "", &D::multiply24, Op::Mad24S, Op::Mad24U, 3},
    {"9.7.1", "mad24", "hi sat", "", "s32", "", &D::multiply24, Op::Mad24S, Op::Mad24U, 3},
    {"9.7.1", "sad", "", "", kIntegers, "", &D::plain, Op::SadS, Op::SadU, 3},
    {"9.7.1", "div", "", "", kIntegers, "", &D::plain, Op::DivS, Op::DivU, 2, Cost::Divide},
    {"9.7.1", "rem", "", "", kIntegers, "", &D::plain, Op::RemS, Op::RemU, 2, Cost::Divide},
    {"9.7.1", "abs", "", "", "s16 s32 s64", "", &D::plain, Op::AbsS, Op::Mov, 1},
    {"9.7.1", "neg", "", "", "s16 s32 s64", "", &D::plain, Op::Neg, Op::Mov, 1},
    {"9.7.1", "min", "", "", kIntegers, "", &D::plain, Op::MinS, Op::MinU, 2},
    {"9.7.1", "min", "relu", "", "s32 s16x2", "", &D::not_negative, Op::MinS},
    {"9.7.1", "min", "", "", "u16x2 s16x2", "", &D::pairs, Op::MinS, Op::MinU, 2},
    {"9.7.1", "max", "", "", kIntegers, "", &D::plain, Op::MaxS, Op::MaxU, 2},
    {"9.7.1", "max", "relu", "", "s32 s16x2", "", &D::not_negative, Op::MaxS},
    {"9.7.1", "max", "", "", "u16x2 s16x2", "", &D::pairs, Op::MaxS, Op::MaxU, 2},
    {"9.7.1", "popc", "", "", "b32 b64", "", &D::plain, Op::Popc, Op::Mov, 1},
    {"9.7.1", "clz", "", "", "b32 b64", "", &D::plain, Op::Clz, Op::Mov, 1},
    {"9.7.1", "bfind", "", "shiftamt", kWords, "", &D::plain, Op::FindS, Op::FindU, 1},
    {"9.7.1", "fns", "", "", "b32", "", &D::plain, Op::Fns, Op::Mov, 3},
    {"9.7.1", "brev", "", "", "b32 b64", "", &D::plain, Op::Brev, Op::Mov, 1},
    {"9.7.1", "bfe", "", "", kWords, "", &D::plain, Op::BfeS, Op::BfeU, 3},
    {"9.7.1", "bfi", "", "", "b32 b64", "", &D::insert, Op::Bfi},
    {"9.7.1", "szext", "clamp|wrap", "", "u32 s32", "", &D::plain, Op::Extend, Op::Mov, 2},
    {"9.7.1", "bmsk", "clamp|wrap", "", "b32", "", &D::plain, Op::Mask, Op::Mov, 2},
    {"9.7.1", "dp4a", "", "", "u32 s32", "u32 s32", &D::dot, Op::Dot4},
    {"9.7.1", "dp2a", "lo|hi", "", "u32 s32", "u32 s32", &D::dot, Op::Dot2},

    {"9.7.2", "add", "cc", "", kWords, "", &D::carry, Op::Add, Op::Mov, 2},
    {"9.7.2", "addc", "", "cc", kWords, "", &D::carry, Op::Add, Op::Mov, 2},
    {"9.7.2", "sub", "cc", "", kWords, "", &D::carry, Op::Sub, Op::Mov, 2},
    {"9.7.2", "subc", "", "cc", kWords, "", &D::carry, Op::Sub, Op::Mov, 2},
    {"9.7.2", "mad", "lo|hi cc", "", kWords, "", &D::carry, Op::Mad, Op::Mov, 3, Cost::Multiply},
    {"9.7.2", "madc", "lo|hi", "cc", kWords, "", &D::carry, Op::Mad, Op::Mov, 3, Cost::Multiply},

    {"9.7.3", "testp", "finite|infinite|number|notanumber|normal|subnormal", "", kFloats, "", &D::test, Op::FTest},
    {"9.7.3", "copysign", "", "", kFloats, "", &D::plain, Op::FCopySign, Op::Mov, 2},
    {"9.7.3", "add", "", "rn rz rm rp ftz sat", kFloats, "", &D::plain, Op::FAdd, Op::Mov, 2},
    {"9.7.3", "sub", "", "rn rz rm rp ftz sat", kFloats, "", &D::plain, Op::FSub, Op::Mov, 2},
    {"9.7.3", "mul", "", "rn rz rm rp ftz sat", kFloats, "", &D::plain, Op::FMul, Op::Mov, 2, Cost::Multiply},
    {"9.7.3", "fma", "", "rn rz rm rp ftz sat", kFloats, "", &D::plain, Op::FFma, Op::Mov, 3, Cost::Multiply},
    {"9.7.3", "mad", "", "rn rz rm rp ftz sat", kFloats, "", &D::plain, Op::FFma, Op::Mov, 3, Cost::Multiply},
    {"9.7.3", "div", "", "approx full rn rz rm rp ftz", kFloats, "", &D::plain, Op::FDiv, Op::Mov, 2, Cost::Divide},
    {"9.7.3", "abs", "", "ftz", kFloats, "", &D::plain, Op::FAbs, Op::Mov, 1},
    {"9.7.3", "neg", "", "ftz", kFloats, "", &D::plain, Op::FNeg, Op::Mov, 1},
    {"9.7.3", "min", "", "ftz NaN xorsign abs", kFloats, "", &D::plain, Op::FMin, Op::Mov, 2},
    {"9.7.3", "max", "", "ftz NaN xorsign abs", kFloats, "", &D::plain, Op::FMax, Op::Mov, 2},
    {"9.7.3", "rcp", "", "approx rn rz rm rp ftz", kFloats, "", &D::reciprocal, Op::FDiv},
    {"9.7.3", "sqrt", "", "approx rn rz rm rp ftz", kFloats, "", &D::plain, Op::FSqrt, Op::Mov, 1, Cost::Divide},
    {"9.7.3", "rsqrt", "", "approx ftz", kFloats, "", &D::plain, Op::FRsqrt, Op::Mov, 1, Cost::Divide},
    {"9.7.3", "sin", "", "approx ftz", "f32", "", &D::plain, Op::FSin, Op::Mov, 1, Cost::Divide},
    {"9.7.3", "cos", "", "approx ftz", "f32", "", &D::plain, Op::FCos, Op::Mov, 1, Cost::Divide},
    {"9.7.3", "lg2", "", "approx ftz", "f32", "", &D::plain, Op::FLg2, Op::Mov, 1, Cost::Divide},
    {"9.7.3", "ex2", "", "approx ftz", "f32", "", &D::plain, Op::FEx2, Op::Mov, 1, Cost::Divide},
    {"9.7.3", "tanh", "approx", "", "f32", "", &D::plain, Op::FTanh, Op::Mov, 1, Cost::Divide},

    {"9.7.4", "add", "", "rn ftz sat", kHalves, "", &D::plain, Op::FAdd, Op::Mov, 2},
    {"9.7.4", "sub", "", "rn ftz sat", kHalves, "", &D::plain, Op::FSub, Op::Mov, 2},
    {"9.7.4", "mul", "", "rn ftz sat", kHalves, "", &D::plain, Op::FMul, Op::Mov, 2, Cost::Multiply},
    {"9.7.4", "fma", "rn", "ftz sat relu", kHalves, "", &D::plain, Op::FFma, Op::Mov, 3, Cost::Multiply},
    {"9.7.4", "neg", "", "ftz", kHalves, "", &D::plain, Op::FNeg, Op::Mov, 1},
    {"9.7.4", "abs", "", "ftz", kHalves, "", &D::plain, Op::FAbs, Op::Mov, 1},
    {"9.7.4", "min", "", "ftz NaN xorsign abs", kHalves, "", &D::plain, Op::FMin, Op::Mov, 2},
    {"9.7.4", "max", "", "ftz NaN xorsign abs", kHalves, "", &D::plain, Op::FMax, Op::Mov, 2},
    {"9.7.4", "tanh", "approx", "", kHalves, "", &D::plain, Op::FTanh, Op::Mov, 1, Cost::Divide},
    {"9.7.4", "ex2", "approx", "ftz", kHalves, "", &D::plain, Op::FEx2, Op::Mov, 1, Cost::Divide},

    {"9.7.5", "add", "", "rn rz rm rp sat", "f32", "f16 bf16", &D::mixed, Op::FAdd, Op::Mov, 2},
    {"9.7.5", "sub", "", "rn rz rm rp sat", "f32", "f16 bf16", &D::mixed, Op::FSub, Op::Mov, 2},
    {"9.7.5", "fma", "rn|rz|rm|rp", "sat", "f32", "f16 bf16", &D::mixed, Op::FFma, Op::Mov, 3, Cost::Multiply},

    {"9.7.6", "set", kComparison, kCompareMay, kSetTypes, kCompared, &D::set},
    {"9.7.6", "setp", kComparison, kCompareMay, kCompared, "", &D::compare},
    {"9.7.6", "selp", "", "", kCompared, "", &D::choose, Op::Selp},
    {"9.7.6", "slct", "", "ftz", kCompared, "s32 f32", &D::choose, Op::Slct},
    {"9.7.7", "set", kComparison, kCompareMay, kHalfSetTypes, kHalves, &D::set},
    {"9.7.7", "set", kComparison, kCompareMay, "f16 bf16", kCompared, &D::set},
    {"9.7.7", "setp", kComparison, kCompareMay, kHalves, "", &D::compare},

    {"9.7.8", "and", "", "", "pred b16 b32 b64", "", &D::plain, Op::And, Op::Mov, 2},
    {"9.7.8", "or", "", "", "pred b16 b32 b64", "", &D::plain, Op::Or, Op::Mov, 2},
    {"9.7.8", "xor", "", "", "pred b16 b32 b64", "", &D::plain, Op::Xor, Op::Mov, 2},
    {"9.7.8", "not", "", "", "pred b16 b32 b64", "", &D::plain, Op::Not, Op::Mov, 1},
    {"9.7.8", "cnot", "", "", kBits, "", &D::plain, Op::Cnot, Op::Mov, 1},
    {"9.7.8", "lop3", "", "", "b32", "", &D::table, Op::Lop3},
    {"9.7.8", "lop3", "and|or", "", "b32", "", &D::table, Op::Lop3},
    {"9.7.8", "shf", "l clamp", "", "b32", "", &D::plain, Op::FunnelL, Op::Mov, 3},
    {"9.7.8", "shf", "l wrap", "", "b32", "", &D::plain, Op::FunnelLWrap, Op::Mov, 3},
    {"9.7.8", "shf", "r clamp", "", "b32", "", &D::plain, Op::FunnelR, Op::Mov, 3},
    {"9.7.8", "shf", "r wrap", "", "b32", "", &D::plain, Op::FunnelRWrap, Op::Mov, 3},
    {"9.7.8", "shl", "", "", kBits, "", &D::shift, Op::Shl, Op::Shl},
    {"9.7.8", "shr", "", "", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "", &D::shift, Op::ShrS, Op::ShrU},

    {"9.7.9", "mov", "", "v2 v4 v8", "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f16x2 bf16x2 f32 f64", "", &D::move, Op::Mov, Op::Mov, 1},
    {"9.7.9", "shfl", "up|down|bfly|idx", "sync", "b32", "", &D::across},
    {"9.7.9", "prmt", "", "f4e b4e rc8 ecl ecr rc16", "b32", "", &D::permute, Op::Prmt},
    {"9.7.9", "ld", "", kLoad, kValues, "", &D::memory},
    {"9.7.9", "ldu", "", kLoad, kValues, "", &D::memory},
    {"9.7.9", "st", "", kStore, kValues, "", &D::memory},
    {"9.7.9", "prefetch", "", "global local L1 L2 L2::*", "", "", &D::prefetch},
    {"9.7.9", "prefetchu", "L1", "", "", "", &D::nothing},
    {"9.7.9", "discard", "L2", "global", "", "", &D::nothing},
    {"9.7.9", "applypriority", "L2::evict_normal", "global", "", "", &D::nothing},
    {"9.7.9", "mapa", "", "shared::cluster", "u32 u64", "", &D::map_shared},
    {"9.7.9", "createpolicy", "", "fractional range L2::* cvt global", "b64", "", &D::policy},
    {"9.7.9", "getctarank", "", "shared::cluster", "u32 u64", "", &D::rank_of},
    {"9.7.9", "isspacep", "global|shared|shared::cta|shared::cluster|local|const|param", "", "", "", &D::is_space},
    {"9.7.9", "cvta", "", "to global shared local const param", "u32 u64", "", &D::window, Op::Add},
    {"9.7.9", "cvt", "", "rn rz rm rp rni rzi rmi rpi ftz sat relu satfinite", kConverted, kConverted, &D::convert},
    {"9.7.9", "cvt", "rn|rz|rna", "relu satfinite", "tf32", "f32", &D::convert},
    {"9.7.9", "cvt", "rn|rz", "relu satfinite", "f16x2 bf16x2", "f32", &D::convert, Op::CvtPair},
    {"9.7.9", "cvt", "rn satfinite", "relu", "e4m3x2 e5m2x2", "f32 f16x2", &D::convert, Op::CvtPair},
    {"9.7.9", "cvt", "rn", "relu", "f16x2", "e4m3x2 e5m2x2", &D::convert, Op::CvtPair},
    {"9.7.9", "cvt", "pack sat", "u2 s2 u4 s4", "u8 s8 u16 s16 s32", "s32 b32", &D::pack, Op::CvtPack},
    {"9.7.9", "cp", "async ca|cg shared|shared::cta global", "L2::*", "", "", &D::copy},
    {"9.7.9", "cp", "async bulk shared::cluster|shared::cta global mbarrier::complete_tx::bytes", "L2::cache_hint", "", "", &D::bulk},
    {"9.7.9", "cp", "async bulk tensor 2d shared::cluster|shared::cta global mbarrier::complete_tx::bytes", "tile", "", "", &D::tile},
    {"9.7.9", "cp", "async commit_group|wait_group|wait_all", "", "", "", &D::wait},

    {"9.7.10", "tex", "1d|2d|3d v4", "level grad", "u32 s32 f32", "s32 f32", &D::texture},

    {"9.7.11", "suld", "b 1d|2d|3d trap|clamp|zero", "v2 v4", "b8 b16 b32 b64", "", &D::surface},
    {"9.7.11", "sust", "b 1d|2d|3d trap|clamp|zero", "v2 v4", "b8 b16 b32 b64", "", &D::surface},

    {"9.7.12", "bra", "", "uni", "", "", &D::branch},
    {"9.7.12", "brx", "idx", "uni", "", "", &D::branch},
    {"9.7.12", "call", "", "uni", "", "", &D::call},
    {"9.7.12", "ret", "", "uni", "", "", &D::end},
    {"9.7.12", "exit", "", "", "", "", &D::end},

    {"9.7.13", "bar", "sync|arrive", "cta aligned", "", "", &D::barrier},
    {"9.7.13", "bar", "red popc|and|or", "cta aligned", "u32 pred", "", &D::barrier},
    {"9.7.13", "bar", "warp sync", "", "", "", &D::across},
    {"9.7.13", "barrier", "sync|arrive", "cta aligned", "", "", &D::barrier},
    {"9.7.13", "barrier", "red popc|and|or", "cta aligned", "u32 pred", "", &D::barrier},
    {"9.7.13", "barrier", "cluster arrive|wait", "release relaxed acquire aligned", "", "", &D::meet},
    {"9.7.13", "membar", "cta|gl|sys", "", "", "", &D::fence},
    {"9.7.13", "fence", "", "sc acq_rel acquire release cta gpu sys cluster mbarrier_init proxy async alias global shared::cta", "", "", &D::fence},
    {"9.7.13", "atom", "add|min|max|and|or|xor|inc|dec|exch|cas", kAtomic, "b32 b64 u32 u64 s32 s64", "", &D::atomic},
    {"9.7.13", "atom", "exch|cas", kAtomic, "b16", "", &D::atomic},
    {"9.7.13", "atom", "add", kAtomic, kFloats, "", &D::atomic},
    {"9.7.13", "atom", "add noftz", kAtomic, kHalves, "", &D::atomic},
    {"9.7.13", "red", "add|min|max|and|or|xor|inc|dec", kAtomic, "b32 b64 u32 u64 s32 s64", "", &D::atomic},
    {"9.7.13", "red", "add", kAtomic, kFloats, "", &D::atomic},
    {"9.7.13", "red", "add noftz", kAtomic, kHalves, "", &D::atomic},
    {"9.7.13", "mbarrier", "init|inval", "shared shared::cta", "b64", "", &D::phases},
    {"9.7.13", "mbarrier", "arrive|arrive_drop", "noComplete release relaxed cta shared shared::cta", "b64", "", &D::phases},
    {"9.7.13", "mbarrier", "arrive expect_tx", "release relaxed cta shared shared::cta", "b64", "", &D::phases},
    {"9.7.13", "mbarrier", "expect_tx|complete_tx", "relaxed cta shared shared::cta", "b64", "", &D::phases},
    {"9.7.13", "mbarrier", "test_wait|try_wait", "parity acquire relaxed cta shared shared::cta", "b64", "", &D::phases},
    {"9.7.13", "mbarrier", "pending_count", "", "b64", "", &D::pending},
    {"9.7.13", "cp", "async mbarrier arrive", "noinc shared shared::cta", "b64", "", &D::arrive_after_copies},
    {"9.7.13", "griddepcontrol", "launch_dependents|wait", "", "", "", &D::nothing},
    {"9.7.13", "vote", "all|any|uni", "sync", "pred", "", &D::across},
    {"9.7.13", "vote", "ballot", "sync", "b32", "", &D::across},
    {"9.7.13", "match", "any|all sync", "", "b32 b64", "", &D::across},
    {"9.7.13", "activemask", "", "", "b32", "", &D::across},
    {"9.7.13", "redux", "sync add|min|max", "", "u32 s32", "", &D::across},
    {"9.7.13", "redux", "sync and|or|xor", "", "b32", "", &D::across},
    {"9.7.13", "elect", "sync", "", "", "", &D::across},

    {"9.7.14", "mma", "sync aligned m16n8k8|m16n8k16 row col", "", "f32", "f16 bf16 f32", &D::multiply_matrices},
    {"9.7.14", "mma", "sync aligned m16n8k8|m16n8k16 row col", "", "f16", "f16", &D::multiply_matrices},
    {"9.7.14", "mma", "sync aligned m16n8k4|m16n8k8 row col", "", "f32", "tf32 f32", &D::multiply_matrices},
    {"9.7.14", "mma", "sync aligned m16n8k16|m16n8k32 row col", "satfinite", "s32", "u8 s8 s32", &D::multiply_matrices},
    {"9.7.14", "wmma", "load a|b sync aligned row|col m16n16k16|m8n32k16|m32n8k16|m16n16k8|m8n8k4", kAnywhere, "f16 bf16 tf32 u8 s8 f64", "", &D::fragment},
    {"9.7.14", "wmma", "load c sync aligned row|col m16n16k16|m8n32k16|m32n8k16|m16n16k8|m8n8k4", kAnywhere, "f16 f32 s32 f64", "", &D::fragment},
    {"9.7.14", "wmma", "store d sync aligned row|col m16n16k16|m8n32k16|m32n8k16|m16n16k8|m8n8k4", kAnywhere, "f16 f32 s32 f64", "", &D::fragment},
    {"9.7.14", "wmma", "mma sync aligned row|col m16n16k16|m8n32k16|m32n8k16", "row col", "f16 f32", "f16 f32 bf16", &D::multiply_fragments},
    {"9.7.14", "wmma", "mma sync aligned row|col m16n16k16|m8n32k16|m32n8k16", "row col satfinite", "s32", "u8 s8 s32", &D::multiply_fragments},
    {"9.7.14", "wmma", "mma sync aligned row|col m16n16k8", "row col", "f32", "tf32 f32", &D::multiply_fragments},
    {"9.7.14", "wmma", "mma sync aligned row|col m8n8k4", "row col rn", "f64", "f64", &D::multiply_fragments},
    {"9.7.14", "ldmatrix", "sync aligned m8n8 x1|x2|x4", "trans shared shared::cta", "b16", "", &D::matrix},
    {"9.7.14", "stmatrix", "sync aligned m8n8 x1|x2|x4", "trans shared shared::cta", "b16", "", &D::matrix},
    {"9.7.14", "movmatrix", "sync aligned m8n8 trans", "", "b16", "", &D::across},

    {"9.7.15", "wgmma", "mma_async sync aligned", "m64n*", "f32", "f16 bf16", &D::multiply_shared},
    {"9.7.15", "wgmma", "mma_async sync aligned", "m64n*", "s32", "u8 s8", &D::multiply_shared},
    {"9.7.15", "wgmma", "mma_async sync aligned e4m3|e5m2", "m64n*", "f32", "", &D::multiply_shared},
    {"9.7.15", "wgmma", "fence|commit_group|wait_group sync aligned", "", "", "", &D::nothing},

    {"9.7.18", "vadd", "", kVideo, "u32 s32", "u32 s32", &D::video},
    {"9.7.18", "vsub", "", kVideo, "u32 s32", "u32 s32", &D::video},
    {"9.7.18", "vabsdiff", "", kVideo, "u32 s32", "u32 s32", &D::video},
    {"9.7.18", "vmin", "", kVideo, "u32 s32", "u32 s32", &D::video},
    {"9.7.18", "vmax", "", kVideo, "u32 s32", "u32 s32", &D::video},
    {"9.7.18", "vshl", "clamp|wrap", kVideo, "u32 s32", "u32 s32", &D::video},
    {"9.7.18", "vshr", "clamp|wrap", kVideo, "u32 s32", "u32 s32", &D::video},

    {"9.7.19", "nanosleep", "", "", "u32", "", &D::nothing},
    {"9.7.19", "setmaxnreg", "inc|dec sync aligned", "", "u32", "", &D::nothing},
    {"9.7.19", "pmevent", "", "mask", "", "", &D::nothing},
    {"9.7.19", "brkpt", "", "", "", "", &D::end},
    {"9.7.19", "trap", "", "", "", "", &D::end},
};

constexpr Section kSections[] = {
    {"9.7.1", "Integer arithmetic"}, {"9.7.2", "Extended-precision integer arithmetic"}, {"9.7.3", "Floating point"},
    {"9.7.4", "Half-precision floating point"}, {"9.7.5", "Mixed-precision floating point"}, {"9.7.6", "Comparison and selection"},
    {"9.7.7", "Half-precision comparison"}, {"9.7.8", "Logic and shift"}, {"9.7.9", "Data movement and conversion"}, {"9.7.10", "Texture"},
    {"9.7.11", "Surface"}, {"9.7.12", "Control flow"}, {"9.7.13", "Parallel synchronization and communication"},
    {"9.7.14", "Warp-level matrix multiply-accumulate"}, {"9.7.15", "Asynchronous warpgroup matrix multiply-accumulate"},
    {"9.7.16", "Tensor memory (tcgen05)"}, {"9.7.17", "Stack manipulation"}, {"9.7.18", "Video"}, {"9.7.19", "Miscellaneous"}};

constexpr Refused kRefusals[] = {
    {"5.4", "initial values that are parts of an address, as 0xFF(name); of an address that is declared later", "not written yet"},
    {"9.7.3", "add, sub, mul, fma of .f32x2", "not written yet"},
    {"9.7.3", "min, max of three operands", "not written yet"},
    {"9.7.9", "cvt of .e2m1x2, .e2m3x2, .e3m2x2, .ue8m0x2; .rs", "not written yet"},
    {"9.7.9", "ld, st, mov, atom of .b128", "registers of 128 bits are not written yet"},
    {"9.7.9", "st.async, red.async, st.bulk, multimem, cp.reduce, tensormap; cp.async.bulk from shared memory, .prefetch and .multicast, .tensor but .2d.tile", "not written yet"},
    {"9.7.10", "tex of .a1d, .a2d, .cube, .acube, .2dms, .a2dms, .base, .f16; tld4, txq, istypep", "not written yet"},
    {"9.7.11", "suld, sust of .a1d, .a2d, .p; sured, suq", "not written yet"},
    {"9.7.13", "mbarrier of another block: .cluster", "not written yet"},
    {"9.7.13", "tensormap fences", "not written yet"},
    {"9.7.13", "atom, red with vectors", "not written yet"},
    {"9.7.14", "wmma of .s4, .u4, .b1; mma of .m8n8k4, .m8n8k16, .m8n8k32, .m16n8k64 and longer ones, of f64, e4m3, e5m2, s4, u4 and b1, or .sp", "not written yet"},
    {"9.7.15", "wgmma of matrices in registers, with a swizzle, transposed or negated; of f16 results, tf32 and b1; .sp", "not written yet"},
    {"9.7.16", "tcgen05", "not written yet"},
    {"9.7.17", "alloca, stacksave, stackrestore", "not written yet"},
    {"9.7.18", "vset, vmad; operands with .b0 … .h1; vadd2, vadd4 and their like", "not written yet"},
    {"10", "%is_explicit_cluster, %aggr_smem_size, %current_graph_exec, %pm, %envreg but 1 and 2, %reserved_smem_offset but 1", "not written yet"},
    {"11", ".reqnctapercluster of several dimensions; calls of an .alias", "not written yet"},
};

}  // namespace

std::span<const Form> ptx_forms() { return kForms; }
std::span<const Section> ptx_sections() { return kSections; }
std::span<const Refused> ptx_refused() { return kRefusals; }

}  // namespace gexp::sim
