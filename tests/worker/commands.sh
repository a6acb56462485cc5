#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command that reads a stranger's file is confined while it does, writes where it must all the same, and fills no disk. commands.sh GEXP
set -u
gexp=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
export GEXP_STORE=$work/kept/gexp.db GEXP_CACHE=$work/cache
mkdir kept made out
passed=0 failed=0
that() {  # NAME CONDITION…
  local name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $name"; head -n 5 out.txt; fi
}
text() { printf 'gexp 1\nexperiment small\nmemory A: u32[64KiB] in global\n%s\nstage s { sweep n in [1KiB, 2KiB, 4KiB, 8KiB] pattern r = uniform(stride: 32B, span: n) timed t each { chase A by r laps %s } repeat %s find h: cycles = fastest(t) }\n' "$1" "$2" "$3"; }
text 'let l = [i for i in 0..400000]' 2 3 >slow.gexp
text '' 200 100 >small.gexp
{ text '' 2 3; echo 'expect s.h == model.cg.hit'; } >verified.gexp
"$gexp" run small.gexp --device sim:gtx780 --out r.json >out.txt 2>&1
that 'a run' grep -q 'saved as' out.txt
cp r.json other.json
printf '.version 7.0\n.target sm_50\n.address_size 64\n.visible .entry quick(.param .u64 out)\n{\n.reg .b64 %%rd<2>;\nld.param.u64 %%rd1, [out];\nst.global.u32 [%%rd1], 7;\nret;\n}\n' >quick.ptx
printf '.version 7.0\n.target sm_50\n.address_size 64\n.visible .entry long()\n{\nAGAIN: bra AGAIN;\n}\n' >long.ptx

has() { case $("$gexp" doctor | sed -n '/^sandbox/{n;p}') in *"$1"*) true ;; *) false ;; esac; }
# seen COMMAND…: whether the kernel says, while it runs, that calls of one of its threads are filtered.
seen() {
  local try pid
  for try in $(seq 20); do
    "$gexp" "$@" >out.txt 2>&1 </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null; do
      if grep -qs '^Seccomp:.*2' /proc/$pid/task/*/status; then
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
        return 0
      fi
    done
    wait $pid
  done
  return 1
}
if has seccomp; then
  mkfifo out/infer out/report out/export
  that 'check is confined' seen check slow.gexp
  that 'fmt is confined' seen fmt --check slow.gexp
  that 'lock is confined' seen lock slow.gexp
  that 'plan is confined' seen plan slow.gexp --device sim:gtx780
  that 'emit is confined' seen emit slow.gexp --device sim:gtx780 --ptx
  that 'infer is confined' seen infer r.json --out out/infer
  that 'report is confined' seen report r.json -o out/report
  that 'export is confined' seen export r.json out/export
  that 'compare is confined' seen compare r.json other.json
  that 'results is confined' seen results
  that 'results name is confined' seen results name 1 first
  that 'replay is confined' seen replay r.json
  that 'run is confined' seen run small.gexp --device sim:gtx780 --fresh
  that 'survey is confined' seen survey small.gexp --device sim:gtx780 --fresh
  that 'verify is confined' seen verify verified.gexp --models 20 --noise none
  that 'sim is confined' seen sim long.ptx --time-limit 5
  that 'devices show is confined' seen devices show sim:h200
  { sleep 2; } | "$gexp" lsp >out.txt 2>&1 &
  sleep 1
  that 'lsp is confined' grep -q '^Seccomp:.*2' /proc/$!/status
  wait
fi

# What a command is to write it writes, wherever that is.
works() {  # NAME COMMAND…
  local name=$1
  shift
  "$@" >out.txt 2>&1
  that "$name" test $? -eq 0
}
works 'infer --out' "$gexp" infer r.json --out made/again.json
works 'report -o' "$gexp" report r.json -o made/page.html
works 'export' "$gexp" export r.json made/bundle.gexpz
works 'a bundle is read' "$gexp" infer made/bundle.gexpz
works 'through a link' "$gexp" infer r.json --out made/link.json
ln -sf "$work/small.gexp" made/link.gexp
works 'fmt through a link' "$gexp" fmt made/link.gexp
works 'lock' "$gexp" lock made/link.gexp
works 'emit --ptx into an empty cache' env GEXP_CACHE="$work/new" "$gexp" emit verified.gexp --device sim:gtx780 --ptx
that 'which it fills' test -d new/kernels
"$gexp" verify verified.gexp --models 2 --noise none --mutate --write-mutated made/mutated >out.txt 2>&1
that 'verify --write-mutated' test "$(ls made/mutated | wc -l)" = 2
works 'sim' "$gexp" sim quick.ptx 'u32[4]' --save 0=made/out.bin --timeline made/trace.json
that 'sim saves' test "$(od -An -tu4 made/out.bin | tr -d ' \n')" = 7000
works 'results name' "$gexp" results name 1 first

# Disk: an error that says so, nothing half-written, and what was stored before as it was.
# refused NAME COMMAND…
refused() {
  local name=$1
  shift
  GEXP_DISK_LIMIT=0 "$gexp" "$@" 2>&1 | cat >out.txt  # a file could not grow
  that "$name: an error" test "${PIPESTATUS[0]}" -eq 3
  that "$name: which says so" grep -q 'GEXP_DISK_LIMIT' out.txt
}
refused 'a result' infer r.json --out none.json
refused 'a page' report r.json -o none.html
refused 'a run' run small.gexp --fresh --device sim:gtx780 --quiet --out none.json
works 'what was stored stays' "$gexp" infer first
that 'nothing is half-written' test -z "$(find . -maxdepth 1 -name 'none*')"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
