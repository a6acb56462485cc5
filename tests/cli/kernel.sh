#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user of `kernel "FILE" entry NAME(…)` sees: what the kernel is given and records, what is refused and where, how a kernel or a
# compile that does not end well ends, and that results hold the file. kernel.sh GEXP
set -u
. "$(dirname "$(readlink -f "$0")")/checks.sh"
gexp=$(readlink -f "$1") root=$(dirname "$(readlink -f "$0")")/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
export GEXP_STORE=none GEXP_CACHE=$work/cache

# spec TIMED [FIND [BEFORE]]: writes t.gexp, whose stage times this and asks that.
spec() {
  printf 'gexp 1\nexperiment t\nmemory A: u32[4KiB] in global\nmemory B: u32[4KiB] in global\nstage s {\n%s\n  timed %s\n  repeat 2\n  find v: %s\n}\n' \
    "${3:-}" "$1" "${2:-cycles = value(max(r))}" >t.gexp
}
# expect NAME CODE WORDS [OPTIONS…]: of `gexp run t.gexp`, its exit code, and words (a regular expression) that it prints.
expect() {
  local name=$1 code=$2 words=$3
  shift 3
  judge "$name" "$code" "$words" -- "$gexp" run t.gexp --device sim:gtx780 "$@"
}

cat >k.cu <<'CU'
struct Pair { int a, b; };
// 1000 where every argument arrived as it was given; else the number of those that did.
__global__ void given(float f, double d, int i, unsigned char c, long long l, const unsigned* memory, unsigned* out) {
  out[threadIdx.x] = f == 1.5f && d == -0.25 && i == -7 && c == 200 && l == 8589934592ll && memory[1023] == 0 ? 1000 : 1;
}
extern "C" __global__ void fill(unsigned* to, unsigned n) { for (unsigned i = threadIdx.x; i < n; i += blockDim.x) to[i] = i * SCALE; }
__global__ void sum(const unsigned* from, unsigned n, unsigned long long* out) {
  unsigned long long all = 0;
  for (unsigned i = 0; i < n; ++i) all += from[i];
  out[0] = all;
}
template <int N, typename T> __global__ void size(T* out) { out[threadIdx.x] = N * 100 + sizeof(T); }
__global__ void follow(const unsigned* links, unsigned steps, unsigned* out) {
  unsigned at = 0;
  for (unsigned i = 0; i < steps; ++i) out[i] = 10 + (at = links[at]);
}
__global__ void half(unsigned* out) { out[2 * threadIdx.x] = 1; }
__global__ void outside(unsigned* to) { to[1 << 28] = 1; }
__global__ void endless(volatile unsigned* from) { while (from[0] == 0) {} }
__global__ void whole(Pair pair, unsigned* out) { out[0] = pair.a; }
__global__ void half(float* out) { out[0] = 1; }
namespace other { __global__ void size(float* out) { out[0] = 1; } }
CU
k='kernel "k.cu" entry' d='define SCALE = 3'

# What a kernel is given, and what it records.
spec "r total { $k given(3 / 2, -1 / 4, -7, 200, 8GiB, A, r) $d }" 'cycles = value(max(r))' '  launch grid 1 block 64'
expect 'numbers of each width, and a memory of zeros' 0 's.v +1000 cycles'
spec "r each { $k sum(B, 16, r[1] as 8B) $d }" 'cycles = value(max(r))' "  warm grid 1 block 32 { $k fill(B, 16) $d }"
expect 'a warm-up that fills a memory, a macro, a record of 8 bytes' 0 's.v +360 cycles'
spec "r each { $k sum(B, 16, r[1] as 8B) $d }" 'cycles = value(max(r), x: 2)' "  launch grid 1 block 1
  sweep x in 1..2
  warm { $k fill(B, 4 * x) define SCALE = x }"
expect 'values of the point in the text and beside it' 0 's.v +56 cycles'
spec "r total { $k size(r) template 4, \"unsigned\" $d }" 'cycles = value(max(r))' '  launch grid 1 block 32'
expect 'a template' 0 's.v +404 cycles'
spec "r each { $k follow(A by ring, count(ring), r[count(ring)]) $d }" 'cycles = value(mean(r))' '  pattern ring = uniform(stride: 256B, span: 1KiB)'
expect 'the links of a pattern, as indices of elements' 0 's.v +106 cycles'
spec "r wall { $k fill(A, 64) $d }" 's = value(median(r))'
expect 'the time of a launch' 0 's.v +[0-9.e-]+ .?s'
spec "r wall { $k fill(A, 64) $d }" 'B = value(moved(r))'
expect 'what it moves is not known' 0 's.v +undetermined'
cat >clocks.cu <<'CUDA'
__global__ void clocks(unsigned* began, unsigned* ended) { began[threadIdx.x] = 100 + threadIdx.x, ended[threadIdx.x] = 140 + threadIdx.x; }
CUDA
spec 'r each { kernel "clocks.cu" entry clocks(r[2], r[2]) }' 'cycles = value(took)' '  launch grid 1 block 2
  derive took: cycles = median(r where step in 2..3) - median(r where step < 2)'
expect 'a record in two parts' 0 's.v +40 cycles'
spec 'r total { kernel "clocks.cu" entry clocks(r, r) }' 'cycles = value(max(r))' '  launch grid 1 block 64'
expect 'of one entry a thread each' 0 's.v +203 cycles'
spec 'r each { kernel "clocks.cu" entry clocks(r[2], r[67108864]) }'
expect 'with more entries than are recorded' 2 't.gexp:.*E0418.*the parts of the record have 67108866 entries'
cat >add.ptx <<'PTX'
.version 6.0
.target sm_50
.address_size 64
.visible .entry other(.param .u64 to) { ret; }
.visible .entry add(.param .u32 a, .param .f32 b, .param .u64 to)
{
  .reg .u32 %r<3>; .reg .f32 %f<2>; .reg .u64 %d<2>;
  ld.param.u32 %r1, [a];
  ld.param.f32 %f1, [b];
  ld.param.u64 %d1, [to];
  cvt.rzi.u32.f32 %r2, %f1;
  add.u32 %r1, %r1, %r2;
  st.global.u32 [%d1], %r1;
  ret;
}
PTX
spec 'r each { kernel "add.ptx" entry add(40, 5 / 2, r) }'
expect 'PTX as it stands' 0 's.v +42 cycles'

# A cache in software changes the kernel and nothing that it computes.
spec "r each { $k sum(B, 16, r[1] as 8B) $d }" 'cycles = value(max(r))' "  transform soft_l1(line: 16B, monitor: 4)
  warm grid 1 block 32 { $k fill(B, 16) $d }"
expect 'a kernel with a cache in software' 0 's.v +360 cycles'
"$gexp" emit t.gexp --ptx --device sim:gtx780 >out.txt 2>err.txt
that 'gexp emit shows it before' grep -q '^// gexp: before k.cu entry sum SCALE=3 transform soft_l1(line: 16B, monitor: 4)' out.txt
that 'and after' grep -q '^// gexp: after k.cu entry sum' out.txt
that 'with its lines' grep -q 'sl_*_lines' out.txt
spec "r total { $k half(r) $d }" 'cycles = value(max(r))' '  transform soft_l1(line: 16B)'
sed -i 's/half(r)/size(r) template 4, "unsigned"/' t.gexp
expect 'a kernel with nothing to cache' 2 'E0514.*nothing to cache in `size<4, unsigned>`: no loop of it accesses a memory'
cat >add_up.cu <<'CUDA'
__global__ void add_up(unsigned* all, unsigned n) { for (unsigned i = 0; i < n; ++i) atomicAdd(all + i, 1u); }
CUDA
spec 'r wall { kernel "add_up.cu" entry add_up(B, 16) }' 's = value(median(r))' '  transform soft_l1(line: 16B)'
expect 'a loop of atomics' 2 'E0514.*nothing to cache in `add_up`: atomic or volatile accesses touch what its loops could cache'
spec "r wall { $k fill(A, 64) $d }" 's = value(median(r))' '  transform soft_l1(line: 8B)'
judge 'no machine code of it' 2 'E0508.*what `transform` makes is PTX' -- "$gexp" emit t.gexp --cubin --arch sm_90 --stage s --device sim:gtx780
spec "r wall { $k fill(A, 64) $d }" 's = value(median(r))' '  transform soft_l1(line: 12B)'
expect 'a line of another size' 2 't.gexp:6:27: error\[E0418\]: a line of 12 B'
spec "r wall { $k fill(A, 64) $d }" 's = value(median(r))' '  transform soft_l1(line: 0B)'
expect 'no line: the kernel as it is' 0 '1 of 1 findings found'
"$gexp" emit t.gexp --ptx --device sim:gtx780 >out.txt 2>err.txt
that 'nothing is changed then' test "$(grep -c 'sl_*_lines' out.txt)" -eq 0

# Of 16 words that a thread reads one after the other, 12 are in the line of the one before.
cat >walk.cu <<'CU'
__global__ void walk(const unsigned* from, unsigned* to, unsigned n) {
  for (unsigned i = 0; i < n; ++i) to[threadIdx.x * 64 + i * 4] = from[threadIdx.x * n + i];
}
CU
walk='launch grid 1 block 4 transform soft_l1(monitor: 1000,'
spec 'r total { kernel "walk.cu" entry walk(A, B, 16, r) }' 'cycles = value(mean(r))' "  $walk line: 16B, hits: 0)"
expect 'hits of a walk through words' 0 's.v +750 cycles'
sed -i 's/hits: 0/hits: 1/' t.gexp
expect 'a walk through lines hits none' 0 's.v +0 cycles'
sed -i 's/hits: 1/hits: 2/' t.gexp
expect 'a number has no hits' 2 't.gexp:6:[0-9]*: error\[E0418\]: argument 2 of the kernel is no memory'
sed -i 's/hits: 2/hits: 0/; s/16, r/r, 16/' t.gexp
expect 'the record is the last argument' 2 'E0418.*hits are written into the record, a value for each thread'

# What does not fit, at its place in the spec.
spec "r wall { $k fill(A) $d }" 's = value(median(r))'
expect 'an argument too few' 2 't.gexp:7:.*E0512.*takes 2 arguments, 1 is given'
spec "r wall { $k fill(A, 64, 1) $d }" 's = value(median(r))'
expect 'one too many' 2 't.gexp:7:.*E0512.*takes 2 arguments, 3 are given'
spec "r wall { $k fill(A, B) $d }" 's = value(median(r))'
expect 'a memory for a number' 2 't.gexp:7:46: error\[E0512\]: parameter 2 of `fill` is a number of 4 B, no pointer'
spec "r wall { $k fill(A, 1 / 2) $d }" 's = value(median(r))'
expect 'a fraction for a whole number' 2 't.gexp:7:46: error\[E0512\]: 0.5 is no whole number of 4 B'
spec "r wall { $k fill(A, 8GiB) $d }" 's = value(median(r))'
expect 'a number that is too large' 2 't.gexp:7:46: error\[E0512\]: 8589934592 is no whole number of 4 B'
spec "r total { $k whole(1, r) $d }"
expect 'a structure' 2 'E0512.*parameter 1 of `whole` is a structure'
spec "r wall { $k fil(A, 64) $d }" 's = value(median(r))'
expect 'an entry that is not there' 2 't.gexp:7:.*E0511.*k.cu has no kernel `fil`'
that 'and those that are' grep -q 'hint: did you mean `fill`? it has .*fill' err.txt
spec "r total { $k siez(r) template 4 $d }"
expect 'a template that is not there' 2 'E0511.*k.cu has no kernel `siez<4>`'
that 'and the one that was meant, without what NVRTC says' sh -c 'grep -q "did you mean .size" err.txt && ! grep -q "NVRTC says" err.txt'
spec "r total { $k half(r) $d }"
expect 'two entries of one name' 2 'E0511.*k.cu has 2 kernels `half`'
spec "r total { $k size(r) template 4 $d }"
expect 'a template argument too few' 2 'E0511.*k.cu has no kernel `size<4>`'
spec 'r wall { kernel "add.ptx" entry sub(A) }' 's = value(median(r))'
expect 'an entry that PTX does not have' 2 'E0511.*add.ptx has no kernel `sub`'
printf '#define P(x) __has_##x\n#if P(include)("/etc/passwd") || P(include)("%s/k.cu")\n#define SEEN 1\n#else\n#define SEEN 2\n#endif\n__global__ void k(unsigned* out) { out[0] = SEEN; }\n' "$work" >seen.cu
spec 'r each { kernel "seen.cu" entry k(r) }'
if "$gexp" doctor | grep -q seccomp; then expect 'a text that asks for files by its macros finds none' 0 's.v +2 cycles'; fi
printf '__global__ void k(unsigned* out) { out[0] = "\033[31m"[0]; }\n' >control.cu
spec 'r each { kernel "control.cu" entry k(r) }'
expect 'a character that controls a terminal' 2 'control.cu:1:.*E0101.*u001b belongs in no text'
printf '__global__ void k(unsigned* out) {\n  out[0] = 1;\n  out[1] = missing;\n}\n' >bad.cu
spec 'r wall { kernel "bad.cu" entry k(A) }' 's = value(median(r))'
expect 'a text that does not compile, at its line' 2 'bad.cu:3:3: error\[E0513\]: the kernel does not compile: .*missing'
that 'and where it is launched' grep -q '^t.gexp:7:25: note: it is launched here' err.txt
{ printf 'gexp 1\nexperiment t\nmemory A: u32[4KiB] in global\nstage first { timed r wall { load A at 0B } find v: s = value(median(r)) }\n'; sed -n '/^stage/,$p' t.gexp; } >two.gexp
mv two.gexp t.gexp
expect 'it is told before another stage is measured' 2 'bad.cu:3:3: error'
that 'of which nothing was measured' test "$(grep -c '^\[1/2\]' err.txt)" -eq 0

# How a launch or a compile ends badly.
spec "r wall { $k outside(A) $d }" 's = value(median(r))'
expect 'a store outside every memory' 4 '(t.gexp:7)' --json
that 'is told as such' grep -q 'outside every allocation' out.txt
spec "r wall { $k endless(A) $d }" 's = value(median(r))'
expect 'a kernel without an end' 4 'still running after 0.3 s|within 0.3 s' --launch-limit 0.3 --json
spec "r total { $k size(r[3]) template 1, \"unsigned\" $d }" 'cycles = value(max(r))' '  launch grid 1 block 2'
expect 'a record that is not written' 4 'wrote nothing into entry 2 of its record, which has 3' --json
{ printf '__global__ void k(unsigned* x) { *x = '; printf '%20000s' '' | tr ' ' '('; printf 1; printf '%20000s' '' | tr ' ' ')'; printf '; }\n'; } >deep.cu
spec 'r wall { kernel "deep.cu" entry k(A) }' 's = value(median(r))'
expect 'a text on which NVRTC crashes' 2 'NVRTC crashed while it compiled deep.cu|nested'
printf 'template <unsigned N, unsigned M> struct G { static constexpr unsigned v = G<N - 1, 2 * M>::v + G<N - 1, 2 * M + 1>::v; };\ntemplate <unsigned M> struct G<0, M> { static constexpr unsigned v = M; };\n__global__ void k(unsigned* x) { *x = G<26, 1>::v; }\n' >slow.cu
spec 'r wall { kernel "slow.cu" entry k(A) }' 's = value(median(r))'
begin=$SECONDS
expect 'a compile that takes too long' 4 'the time of --time-limit is used up' --time-limit 1
that 'ends with the run' test $((SECONDS - begin)) -le 5
GEXP_MEMORY_LIMIT=256 timeout 60 "$gexp" run t.gexp --device sim:gtx780 --time-limit 40 >out.txt 2>err.txt
that 'one that takes too much memory ends' test $? -eq 3
that 'and says why' grep -q 'E0722' err.txt

# Files: what is none, locks, results that hold them.
mkfifo pipe.cu && mkdir folder.cu sub && ln -s /etc/passwd out.cu && ln -s ../k.cu sub/up.cu
for file in pipe folder out; do
  spec "r wall { kernel \"$file.cu\" entry k(A) }" 's = value(median(r))'
  expect "$file.cu" 2 't.gexp:7:.*E012[12]'
done
mkdir kernels && cp k.cu kernels/k.cu && ln -s ../kernels/k.cu sub/link.cu
for path in ../kernels/k.cu "$work/kernels/k.cu" link.cu; do
  spec "r total { kernel \"$path\" entry size(r) template 4, \"unsigned\" $d }"
  mv t.gexp sub && cd sub || exit 3
  expect "$path outside the folder" 2 'E012[01].*' --allow ../folder.cu
  that 'whose hint is --allow' grep -q 'hint: .*--allow' err.txt
  expect "$path where it is allowed" 0 's.v +404 cycles' --allow ../kernels --out r.json
  that 'to gexp check and gexp lock too' bash -c "\"$gexp\" lock t.gexp --allow ../kernels/k.cu >out.txt 2>&1"
  that 'is in the result' bash -c "\"$gexp\" infer r.json >out.txt 2>&1"
  cd ..
done
expect 'a folder to allow that is not there' 2 'is not there' --allow nowhere
spec "r each { $k sum(B, 16, r[1] as 8B) $d }" 'cycles = value(max(r))' "  warm { $k fill(B, 16) $d }"
cp t.gexp locked.gexp
that 'gexp lock writes a hash for each' test "$("$gexp" lock locked.gexp)" = 'locked.gexp: 2 hashes written'
that 'that hold' "$gexp" lock --check locked.gexp >out.txt
that 'and are as gexp fmt has them' "$gexp" check locked.gexp >out.txt
export GEXP_STORE=$work/store.db
run() { timeout 60 "$gexp" run t.gexp --device sim:gtx780 --quiet "$@" >out.txt 2>err.txt; }
run --out result.json
run
that 'what was measured is kept' grep -q '^s: kept from result 1' out.txt
# edit NAME FROM TO: of the spec; the stage is measured again.
edit() {
  sed -i "s/$2/$3/" t.gexp
  run
  that "$1 is measured" test "$(grep -c '^s: kept' out.txt)" -eq 0
}
edit 'another macro' 'B, 16) define SCALE = 3' 'B, 16) define SCALE = 4'
edit 'another argument' 'sum(B, 16,' 'sum(B, 15,'
edit 'another memory' 'sum(B' 'sum(A'
edit 'another entry width' 'as 8B' 'as 4B'
edit 'a cache in software' '  timed' '  transform soft_l1(line: 8B)\n  timed'
edit 'another line' 'line: 8B' 'line: 16B'
edit 'other monitoring' 'line: 16B' 'line: 16B, monitor: 5'
edit 'no line' 'line: 16B' 'line: 0B'
cp locked.gexp t.gexp
run
that 'a hash changes nothing' grep -q '^s: kept from result 1' out.txt
"$gexp" export 1 bundle.gexpz >out.txt 2>&1
sed -i 's/all += from/all += 2 * from/' k.cu
cp locked.gexp t.gexp
run
that 'a locked file that was edited is refused' test "$(grep -c E0123 err.txt)" -eq 2
"$gexp" lock t.gexp >out.txt
run
that 'an edited kernel is measured again' grep -qE 's.v +720 cycles' out.txt
rm k.cu t.gexp locked.gexp
mkdir elsewhere && cd elsewhere || exit 3
for result in ../result.json ../bundle.gexpz; do
  timeout 60 "$gexp" infer "$result" >out.txt 2>err.txt
  that "$result is inferred again without the file" grep -qE 's.v +360 cycles' out.txt
  timeout 60 "$gexp" replay "$result" >out.txt 2>err.txt
  that "$result is replayed" grep -q 'all 1 findings are the same' out.txt
done

# A document of 840 KiB, and a device of 768 KiB: it is counted piece by piece, and cannot be had whole.
sed 's/^memory = "6 GiB"/memory = "768 KiB"/' "$root/runtime/sim/models/titanblack.toml" >little.toml
little=(--device sim:little.toml --quiet --set counting=224 --set fetchers=32 --set pieces=4)
judge 'more data than the device holds' 1 'pass +counts.single == counts.double' -- \
  "$gexp" run "$root/experiments/soft_l1/streamed.gexp" "${little[@]}"
cp "$root/experiments/soft_l1/streamed.cu" .
sed 's/u8\[document\] in host/u8[document] in global/' "$root/experiments/soft_l1/streamed.gexp" >whole.gexp
judge 'which it cannot hold at once' 3 'E0501.*has 786432 B of memory, not 860160' -- "$gexp" run whole.gexp "${little[@]}"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
