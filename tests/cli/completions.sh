#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is made of the commands' table: help, man page, completions. completions.sh GEXP
set -u
gexp=$(readlink -f "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
failures=0
fail() { echo "FAIL $*"; failures=$((failures + 1)); }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
export GEXP_STORE=none

# Every command that the help lists has its heading in the man page, and its completions.
listed=$("$gexp" --help | sed -n '/^Measure:/,$p' | sed -n 's/^  \([a-z]\+\) .*/\1/p')
[ "$(wc -w <<<"$listed")" -ge 15 ] || fail "the help lists few commands: $listed"
"$gexp" man >gexp.1
"$gexp" completions bash >gexp.bash
"$gexp" completions zsh >_gexp
"$gexp" completions fish >gexp.fish
for command in $listed; do
  grep -q "^\.SS .*gexp $command\\\\fR" gexp.1 || fail "the man page lacks $command"
  grep -q "^    '$command')" gexp.bash || fail "bash does not know $command"
  grep -q "^_gexp_${command}_command" _gexp || fail "zsh does not know $command"
  grep -q -- " -a $command " gexp.fish || fail "fish does not know $command"
  for option in $("$gexp" "$command" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'); do
    grep -qF -- "\\fB${option//-/\\-}\\fR" gexp.1 || fail "the man page lacks $command $option"
    grep -q -- "-l ${option#--} " gexp.fish || fail "fish does not know $command $option"
  done
done
for hidden in worker words; do
  ! grep -q "gexp $hidden" gexp.1 || fail "the man page lists $hidden"
done
[ "$("$gexp" --help | grep -cE '^  (worker|words) ')" -eq 0 ] || fail "the help lists what is for gexp itself"
"$gexp" completions csh >/dev/null 2>&1
[ $? -eq 2 ] || fail "an unknown shell is no mistake"

# The reference page's tables are the same rows.
page=$root/docs/reference/commands.md
[ "$("$gexp" words commands | wc -l)" -ge 15 ] || fail "few rows of commands"
"$gexp" words commands | awk -F'\t' '
  $1 != group { group = $1; printf "\n## %s\n\n| command | what it does |\n|---|---|\n", group }
  { printf "| `%s` | %s |\n", $2, $3 }
  END { print "" }' >tables.md
sed -n '/^<!-- Made of/,/^<!-- end/p' "$page" | sed '1d;$d' >now.md
if [ -n "${GEXP_BLESS:-}" ]; then
  sed -i -e '/^<!-- Made of/,/^<!-- end/{/^<!--/!d}' -e '/^<!-- Made of/r tables.md' "$page"
elif ! cmp -s tables.md now.md; then
  fail "$page is not what the commands say: ./dev bless cli_completions"
fi

bash -n gexp.bash || fail "bash cannot read its completions"
if command -v zsh >/dev/null; then zsh -n _gexp || fail "zsh cannot read its completions"; fi
if command -v fish >/dev/null; then fish --no-execute gexp.fish || fail "fish cannot read its completions"; fi
if command -v man >/dev/null; then
  said=$(man --warnings -l gexp.1 2>&1 >/dev/null)
  [ -z "$said" ] || fail "man warns: $said"
fi

# What bash offers behind some words; the last is being typed.
ln -s "$gexp" gexp
PATH=$work:$PATH
# shellcheck disable=SC1091
. ./gexp.bash
offered() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); COMPREPLY=(); _gexp; printf '%s\n' "${COMPREPLY[@]}"; }
offers() {  # WORD WORDS…
  local wanted=$1
  shift
  offered "$@" | grep -qxF -- "$wanted" || fail "behind '$*' bash offers no '$wanted': $(offered "$@" | tr '\n' ' ')"
}
touch my.gexp
offers survey gexp su
offers cache/structure.gexp gexp run cache/st
offers my.gexp gexp run my
offers --time-limit gexp run my.gexp --ti
offers sim:gtx780 gexp run my.gexp --device sim:gtx7
offers prune gexp results pr
offers --dry-run gexp results prune --d
offers bash gexp completions b
offers last gexp infer la
[ -z "$(offered gexp run --quie | grep -v '^--quiet$')" ] || fail "bash offers what does not begin as typed"
echo "$failures failures"
[ "$failures" -eq 0 ]
