#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the documents show is what gexp does. run.sh GEXP [DOCUMENT…]; `./dev bless docs` writes what it shows.
#
# Every fence ```gexp that begins with `gexp 1` is a file. It is saved as NAME.gexp in a folder of its document's (NAME.md), or as
# the comment above it says, and run:
#   <!-- run: sim:gtx980 -->       on another device than sim:gtx780
#   <!-- check only: WHY -->       not run; its CUDA text must compile for sm_90 where NVRTC can
#   <!-- file: ring.gexp -->       another name (with `, run: …`, `, check only: …` behind it)
#   <!-- refused -->               must be refused; the plain fence that follows is what it says
# A fence ```cuda with a `<!-- file: … -->` above it is saved.
# Fences ```console hold commands (`$ …`; one that ends in `\` goes on in the next line) and what they print.
# In what is printed, a line `…` stands for lines that are left out, and `…` at a line's end for the rest of that line.
set -u
gexp=$(readlink -f "$1")
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$gexp" "$work/bin/gexp"
export PATH=$work/bin:$PATH GEXP_EXPERIMENTS=$root/experiments GEXP_STORE=none NO_COLOR=1
passed=0 failed=0 skipped=0
fail() {
  failed=$((failed + 1))
  echo "FAIL $*"
}
# Seconds differ from run to run, and progress is shown while it lasts.
settled() { sed -E -e 's/, [0-9]+\.[0-9] s$/, 0.1 s/' -e '/^\[[0-9]+\/[0-9]+\] /d'; }
run_file() {  # WHERE FILE MODE
  local where=$1 file=$2 mode=$3 device=sim:gtx780
  [ "$mode" = refused ] && return
  gexp fmt --check "$file" >/dev/null 2>&1 || fail "$where is not as \`gexp fmt\` writes it"
  case $mode in
    check*)
      if ! gexp check "$file" >"$work/out" 2>&1 || ! gexp emit --cuda "$file" >"$work/out" 2>&1; then
        fail "$where"
        head -c 800 "$work/out"
        return
      fi
      gexp emit --ptx --arch sm_90 "$file" >"$work/out" 2>&1
      case $? in
        0) passed=$((passed + 1)) ;;
        *) if grep -qE 'E0706|E0701' "$work/out"; then skipped=$((skipped + 1)); else fail "$where: $(head -c 800 "$work/out")"; fi ;;
      esac
      return ;;
    run:*) device=${mode#run:} device=${device# } ;;
  esac
  if timeout 120 gexp run "$file" --device "$device" >"$work/out" 2>"$work/err" && ! grep -q '  undetermined' "$work/out"; then
    passed=$((passed + 1))
  else
    fail "$where: gexp run on $device"
    head -c 1500 "$work/out" "$work/err"
  fi
}

document() {  # PATH: writes it anew to $work/new
  local path=$1 name fence='' mode='' file='' number=0 start=0 body='' out
  name=$(basename "$path" .md)
  mkdir -p "$work/$name"
  cd "$work/$name" || exit 3
  ln -sfn "$root/runtime" runtime  # commands name models as from the repository
  local wanted=''  # text of the plain fence that must come next
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    if [ -z "$fence" ]; then
      echo "$line"
      case $line in
        '<!-- '*' -->')
          mode=${line#<!-- } mode=${mode% -->}
          file=
          if [[ $mode =~ ^file:\ ([a-z0-9_.]+)(,\ (.*))?$ ]]; then file=${BASH_REMATCH[1]} mode=${BASH_REMATCH[3]:-}; fi ;;
        '```'*) fence=$line body='' start=$number ;;
        '') ;;
        *) mode='' file='' ;;
      esac
      continue
    fi
    if [ "$line" != '```' ]; then
      body+=$line$'\n'
      continue
    fi
    case $fence in
      '```gexp')
        printf '%s' "$body"
        if [[ $body == 'gexp 1'* || $mode == refused ]]; then
          out=${file:-$name.gexp}
          [ "$mode" = refused ] && out=wrong.gexp
          printf '%s' "$body" >"$out"
          run_file "$path:$start" "$out" "$mode" >&3
          if [ "$mode" = refused ]; then
            wanted=$(timeout 60 gexp run "$out" --device sim:gtx780 --quiet 2>&1)
            local code=$?
            if [ $code -lt 2 ]; then fail "$path:$start: it is not refused" >&3; fi
          fi
        fi ;;
      '```cuda')
        printf '%s' "$body"
        if [ -n "$file" ]; then printf '%s' "$body" >"$file"; fi ;;
      '```console')
        local command shown='' had='' goes_on=''
        while IFS= read -r command; do
          if [ -n "$goes_on" ]; then
            echo "$command"
            had+=$'\n'$command
          elif [[ $command == '$ '* ]]; then
            [ -n "$had" ] && answer "$had" "$shown"
            echo "$command"
            had=${command#\$ } shown=''
          else
            shown+=$command$'\n'
            continue
          fi
          goes_on=''
          [[ $command == *\\ ]] && goes_on=yes
        done <<<"${body%$'\n'}"
        [ -n "$had" ] && answer "$had" "$shown" ;;
      '```')
        if [ -n "$wanted" ]; then shown_or_said "$body" "$wanted"; wanted=''; else printf '%s' "$body"; fi ;;
      *) printf '%s' "$body" ;;
    esac
    echo "$line"
    fence='' mode='' file=''
  done <"$path" 3>&1 >"$work/new"
}

# What a command prints, as the document shows it.
answer() { shown_or_said "$2" "$(timeout 120 bash -c "$1" 2>&1 </dev/null | settled)"; }

# The document's own lines SHOWN if they are those of SAID but for what they leave out by `…`, else what was SAID.
shown_or_said() {
  if SHOWN=$1 awk 'BEGIN { n = split(ENVIRON["SHOWN"], w, "\n") - 1; at = 1 }
      function is_shown() { return $0 == w[at] || (w[at] ~ /.…$/ && index($0, substr(w[at], 1, length(w[at]) - length("…"))) == 1) }
      { if (at <= n && w[at] == "…") { any = 1; ++at }
        if (at <= n && is_shown()) { ++at; any = 0 } else if (!any) { bad = 1 } }
      END { if (at <= n && w[at] == "…") ++at; exit bad || at <= n }' <<<"$2"; then
    printf '%s' "$1"
  elif [ -n "$2" ]; then
    printf '%s\n' "$2"
  fi
}

if [ $# -gt 0 ]; then
  mapfile -t documents < <(readlink -f "$@")
else  # every page but those that are tables of results, or say why
  mapfile -t documents < <(find "$root/README.md" "$root/docs" -name '*.md' -not -path '*/docs/papers/*' -not -path '*/docs/results/*' \
    -not -path '*/docs/decisions/*' | sort)
fi
for path in "${documents[@]}"; do
  document "$path"
  if cmp -s "$work/new" "$path"; then
    passed=$((passed + 1))
  elif [ -n "${GEXP_BLESS:-}" ]; then
    cp "$work/new" "$path"
    echo "blessed $path"
  else
    fail "$path shows something else"
    diff "$path" "$work/new" | head -40
  fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
