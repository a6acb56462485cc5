#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user of `gexp sim` sees: what a kernel is given and writes, what is refused, how a kernel that does not end well ends. sim.sh GEXP
set -u
. "$(dirname "$(readlink -f "$0")")/checks.sh"
gexp=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3

# expect NAME CODE WORDS ARGUMENTS…: of `gexp sim`, its exit code, and words (a regular expression) that it prints.
expect() {
  local name=$1 code=$2 words=$3
  shift 3
  judge "$name" "$code" "$words" -- "$gexp" sim "$@"
}

cat >add.cu <<'CU'
__global__ void add(const float* x, float* y, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + by;
}
template <typename T> __global__ void twice(T* x) { x[threadIdx.x] *= 2; }
template __global__ void twice<int>(int*);
CU
cat >plane.cu <<'CU'
__global__ void plane(unsigned* out) { out[(blockIdx.y * gridDim.x + blockIdx.x) * 6 + threadIdx.y * 3 + threadIdx.x] = blockIdx.y * 1000 + blockIdx.x * 100 + threadIdx.y * 10 + threadIdx.x; }
CU
cat >bad.cu <<'CU'
__global__ void outside(int* x) { x[1 << 28] = 1; }
__global__ void endless(volatile int* x) { while (x[0] == 0) {} }
__global__ void wide(int* x) { __shared__ int s[64]; s[threadIdx.x * 32 % 64] = 1; if (threadIdx.x < 16) __syncthreads(); }
CU
cat >image.cu <<'CU'
__global__ void image(cudaTextureObject_t from, cudaSurfaceObject_t to) {
  surf2Dwrite(tex2D<float>(from, threadIdx.x / 4.0f, threadIdx.y / 2.0f), to, threadIdx.x * 4, threadIdx.y);
}
CU
cat >printing.cu <<'CU'
__global__ void printing(int n) {
  printf("thread %d of %i: %5.3f %d %x %lld %s%%\n", threadIdx.x, n, 1.5f, -3, 255u, 9000000000ll, "word");
  if (threadIdx.x == 3) printf("\x1b[2J%c", '!');
  if (n == 5) printf((const char*)16);
}
CU
printf '#include <stdio.h>\nint main() { return 0; }\n' >host.cu
a=(add.cu 'f32[64]=index' 'f32[64]' 1.5 60 --entry add --block 64 --device sim:gtx980)

expect 'a kernel' 0 '^  1  f32\[64\]  60 of 64 elements changed: 1.5 2.5 3.5 4.5 ' "${a[@]}"
that 'it says SIMULATED' grep -q '^SIMULATED: add(float const\*, float\*, float, int) with 1 blocks of 64 threads on sim:gtx980$' out.txt
that 'what was not written is as it was' grep -q '^  0  f32\[64\]=index  as it was$' out.txt
that 'loads coalesce' grep -qE 'memory +2 loads, 2 stores, 0 atomics of warps made 4 requests, 1.00 each' out.txt
that 'where warps waited, as a line of the source' grep -qE '% at add.cu:3: memory' out.txt
expect 'a whole number for a float' 0 'changed: 2 3 4' add.cu 'f32[64]=index' 'f32[64]' 2 64 --entry add --block 64
expect 'two dimensions' 0 ': 0 1 2 10 11 12 100 101 102 110 111 112 1000' plane.cu 'u32[24]' --grid 2x2 --block 3x2 --show 0
expect 'an instance of a template' 0 'changed: 2 4 6$' add.cu 's32[]=1,2,3' --entry twice --block 3
expect 'as JSON' 0 '"requests": 4' "${a[@]}" --json
that 'and nothing else' test "$(head -c 1 out.txt)" = '{'
expect 'a file of bytes, and one saved' 0 'all|changed' add.cu 'f32[64]=index' 'f32[64]' 1 64 --entry add --block 64 --save 1=y.bin
expect 'which is read again' 0 'changed: 2 3 4' add.cu 'f32[]=@y.bin' 'f32[64]' 1 64 --entry add --block 64
expect 'a texture and a surface' 0 '^  1  surf:f32\[4x2\]  8 of 8 elements changed: 3.5 2.5 3.5 4.5 3.5 2.5 3.5 4.5$' image.cu 'tex,linear,normalized,wrap:f32[4x2]=index' 'surf:f32[4x2]' --block 4x2
expect 'a texture of what is no element' 2 '`f32x3` is no element' image.cu 'tex:f32x3[4]' 'surf:f32[4]'
expect 'a texture that cannot be interpolated' 2 '`linear` is for f32' image.cu 'tex,linear:u8[4]' 'surf:f32[4]'
expect 'a texture of a word that is none' 2 '`smooth` is none of linear' image.cu 'tex,smooth:f32[4]' 'surf:f32[4]'
expect 'a texture without an end' 2 '`wrap` and `mirror` are for places that are `normalized`' image.cu 'tex,wrap:f32[4]' 'surf:f32[4]'
expect 'a surface with a filter' 2 'as it lies in memory' image.cu 'tex:f32[4]' 'surf,linear:f32[4]'
expect 'a texture of four dimensions' 2 'one to three dimensions' image.cu 'tex:f32[4x4x4x4]' 'surf:f32[4]'
expect 'what threads print' 0 '^  \| thread 3 of 4: 1.500 -3 ff 9000000000 word%$' printing.cu 4 --block 4
that 'each thread its own, in order' test "$(grep -c '^  | thread [0-3] of 4: ' out.txt)" = 4
that 'and nothing that a terminal would obey' grep -q '^  | \\u001b\[2J!$' out.txt
expect 'a format that is nowhere' 4 'load of 1 B at 0x10 is through a null pointer' printing.cu 5 --block 1
expect 'a timeline' 0 '' "${a[@]}" --timeline t.json
expect 'a picture of it' 0 '' "${a[@]}" --timeline t.svg
that 'which is a drawing' python3 -c "
import xml.etree.ElementTree as tree
assert sum(e.tag.endswith('}rect') and any(c.tag.endswith('}title') for c in e) for e in tree.parse('t.svg').iter()) > 3"
that 'that a viewer reads' python3 -c "import json; e = json.load(open('t.json'))['traceEvents']; assert any(x['ph'] == 'X' and x['name'] == 'memory' for x in e)"
"$gexp" sim "${a[@]}" >one.txt; "$gexp" sim "${a[@]}" >two.txt
that 'the same twice' cmp -s one.txt two.txt
expect 'chance' 0 'changed' add.cu 'f32[64]=random' 'f32[64]' 1 64 --entry add --block 64 --seed 1
cp out.txt one.txt
expect 'other chance' 0 'changed' add.cu 'f32[64]=random' 'f32[64]' 1 64 --entry add --block 64 --seed 2
that 'is other' test "$(grep '64 of 64' one.txt)" != "$(grep '64 of 64' out.txt)"

expect 'several kernels' 2 'E0510.*2 kernels' add.cu 1
that 'which are named' grep -q 'add(float const\*, float\*, float, int); void twice<int>(int\*)' err.txt
expect 'no such kernel' 2 'no kernel `sub`' add.cu 1 --entry sub
expect 'too few arguments' 2 'takes 4 arguments, 1 were given' add.cu 1 --entry add
expect 'no such type' 2 '`f23` is no type' add.cu 'f23[64]' 'f32[64]' 1 1 --entry add
expect 'a text for a number' 2 '`x1`.*whole number' add.cu 'f32[64]' 'f32[64]' 1 x1 --entry add
expect 'a fraction for a whole number' 2 'it is no whole number of 4 B' add.cu 'f32[64]' 'f32[64]' 1 1.5 --entry add
expect 'an array for a value' 2 'is a value of 4 B, no pointer' add.cu 'f32[64]' 'f32[64]' 1 'u32[4]' --entry add
expect 'a value of another size' 2 'it has 8 B' add.cu 'f32[64]' 'f32[64]' f64=1 1 --entry add
expect 'values that are not as many' 2 '2 values for 3 elements' add.cu 'f32[3]=1,2' 'f32[64]' 1 1 --entry add
expect 'a value that does not fit' 2 '`256` is no u8' add.cu 'u8[3]=256' 'f32[64]' 1 1 --entry add
expect 'an array larger than may be' 2 'more than the [0-9]+ B that it may have' add.cu 'f32[99999999999]' 'f32[64]' 1 1 --entry add
expect 'one of so many elements that they overflow' 2 'E0510' add.cu 'f64[18446744073709551615]' 'f32[64]' 1 1 --entry add
expect 'a file that is not there' 2 'none.bin' add.cu 'f32[]=@none.bin' 'f32[64]' 1 1 --entry add
expect 'an endless file' 2 '/dev/zero' add.cu 'f32[]=@/dev/zero' 'f32[64]' 1 1 --entry add
expect 'an extent that is none' 2 '--block' add.cu 1 --block 0x4
expect 'an argument to show that is none' 2 '--show 7' "${a[@]}" --show 7
printf 'SQLite format 3\0' >some.db
expect 'a timeline over a store' 3 'it is a store' "${a[@]}" --timeline some.db
expect 'a timeline over the kernel' 3 'it is what is read' "${a[@]}" --timeline add.cu
expect 'a timeline in a folder that is none' 3 'cannot write' "${a[@]}" --timeline nowhere/t.json
expect 'one file for two' 3 'would be written twice' "${a[@]}" --save 1=x.bin --timeline x.bin
cp "$(dirname "$gexp")/../../runtime/sim/models/gtx980.toml" model.toml 2>/dev/null || echo >model.toml
expect 'an array over the model' 3 'it is what is read' add.cu 'f32[64]' 'f32[64]' 1 64 --entry add --device sim:model.toml --save 1=model.toml
expect 'an array over what an argument read' 3 'it is what is read' add.cu 'f32[]=@y.bin' 'f32[64]' 1 64 --entry add --save 1=y.bin
mkfifo pipe
expect 'a pipe that nobody reads' 3 'nobody reads this pipe' "${a[@]}" --save 1=pipe
cat pipe >piped.bin &
expect 'a pipe that somebody reads' 0 '' "${a[@]}" --save 1=pipe
wait
that 'who gets the array' test "$(stat -c %s piped.bin)" -eq 256
{ printf '__global__ void deep(int* x) { *x = '; printf '%20000s' '' | tr ' ' '('; printf 1; printf '%20000s' '' | tr ' ' ')'; printf '; }\n'; } >deep.cu
expect 'a text on which NVRTC crashes' 2 'NVRTC crashed while it compiled deep.cu|nested' deep.cu 'u32[4]'
expect 'a value to save' 2 'argument 3 is no array' "${a[@]}" --save 3=x.bin
that 'nothing ran for it' test ! -s out.txt
expect 'a GPU' 2 'simulated devices' add.cu 1 --device cuda:0
expect 'no such device' 3 'E0600' add.cu 1 --entry add --device sim:gtx98
expect 'a file of another kind' 2 'no kernel' t.json 1
expect 'code of the host' 2 'E0702' host.cu
that 'is told as such' grep -q 'device code alone' err.txt
expect 'more threads than a block has' 4 '2048 threads are more' add.cu 'f32[64]' 'f32[64]' 1 1 --entry add --block 2048

expect 'a fault' 4 'outside every allocation|E0803' bad.cu 's32[4]' --entry outside
expect 'a kernel without an end' 4 'still running after 1 s' bad.cu 's32[4]' --entry endless --time-limit 1
timeout 60 "$gexp" sim bad.cu 's32[4]' --entry endless >out.txt 2>err.txt &
sleep 1.5
kill -INT $!
wait $!
that 'Ctrl-C ends it' test $? -eq 130

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
