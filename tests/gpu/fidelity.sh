#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The timed region in machine code: between two reads of the clock stand the load and the instruction that uses its value, and nothing
# else. fidelity.sh GEXP [sm_NN]; exits with 77 where there is no disassembler or no NVRTC that makes machine code.
set -u
gexp=$(readlink -f "$1") arch=${2:-sm_90}
for tool in nvdisasm /usr/local/cuda/bin/nvdisasm; do command -v "$tool" >/dev/null && disassembler=$tool && break; done
[ -n "${disassembler:-}" ] || { echo "skipped: no nvdisasm"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3

# The instructions between neighbouring clock reads, a line a region: opcodes with their registers.
regions() {
  "$disassembler" -c "$1" | sed -n 's@^ */\*[0-9a-f]*\*/ *\(.*\);.*$@\1@p; /^\.L_/s/.*/LABEL/p' | awk '
    /CLOCK/ { if (open) print region; open = 1; region = ""; next }
    /^LABEL|BRA|EXIT|BSYNC|BSSY|RET/ { open = 0; next }
    open { region = region (region == "" ? "" : " | ") $0 }'
}
failed=0
check() {  # NAME ELEMENT PATH
  cat >"$1.gexp" <<S
gexp 1
experiment fidelity
memory A: $2[64KiB] in global
stage s {
  pattern ring = uniform(stride: 128B, span: 16KiB)
  launch grid 1 block 1
  warm { chase A by ring laps 2 via $3 }
  timed lat each { chase A by ring laps 1 via $3 }
  repeat 1
  find hit: cycles = fastest(lat)
}
S
  "$gexp" emit "$1.gexp" --cubin --arch "$arch" >"$1.cubin" || exit 77
  regions "$1.cubin" >"$1.txt"
  # Regions of one load, the one that is timed: whatever else is in it works on the loaded value, or moves a register while the load is
  # under way, as 8-byte links need it.
  # A NOP is the assembler's padding; the timed one has none. Regions of many loads are the chains that calibrate.
  if awk -F ' [|] ' '
    { loads = 0; for (i = 1; i <= NF; ++i) loads += $i ~ /LDG/ }
    loads == 1 && !/ST[GSL]/ {
      delete of_load; padded = loaded = 0
      for (i = 1; i <= NF; ++i) {
        rest = $i; sub(/^@!?U?P[0-9T]+ /, "", rest); name = rest; sub(/ .*/, "", name); sub(/^[^ ]+ */, "", rest)
        count = split(rest, words, /[ ,.\[\]]+/)
        if (name == "NOP") { padded = 1; continue }
        uses = name ~ /LDG/
        for (w = 2; w <= count; ++w) if (words[w] in of_load) uses = 1
        if (!uses && loaded && name ~ /^(IMAD[.])?MOV/) { ++moves; continue }  # it is issued while the load is under way
        if (name ~ /LDG/) loaded = 1
        if (!uses) { print "  besides the load: " $i; bad = 1 }
        for (w = 1; w <= count && (w == 1 || words[w] ~ /^P[0-9]$/); ++w) if (words[w] ~ /^(R[0-9]+|P[0-9])$/) of_load[words[w]] = 1
        if (name ~ /64|WIDE/ && words[1] ~ /^R/) of_load["R" substr(words[1], 2) + 1] = 1
      }
      ++seen; pure += !padded
    }
    END { printf "  %d regions of one load and what works on its value, %d of them without padding; %d moves while it is under way\n", seen, pure, moves; exit !(seen >= 1 && pure >= 1 && !bad) }' "$1.txt"; then
    echo "ok   $1"
  else
    failed=1
    echo "FAIL $1"
    cut -c 1-300 "$1.txt"
  fi
}
for path in ca cg nc cv; do
  check "${path}4" u32 $path
  check "${path}8" u64 $path
done
exit $failed
