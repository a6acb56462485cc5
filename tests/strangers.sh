# Files of a public repository, for a test that a script sources this for. Nothing of them is kept in this repository.
# strangers VARIABLE FOLDER REPOSITORY COMMIT PATTERN…: `found` is the folder that VARIABLE names, or else FOLDER, into which the files that
# match are fetched at a fixed commit. Where that is not possible the test is skipped.
strangers() {
  local variable=$1 folder=$2 repository=$3 commit=$4 error
  shift 4
  found=${!variable:-}
  [ -z "$found" ] || return 0
  found=$folder
  [ "$(git -C "$folder" rev-parse HEAD 2>/dev/null)" = "$commit" ] && return 0
  error=$(fetch_strangers "$folder" "$repository" "$commit" "$@" 2>&1) && return 0
  echo "SKIPPED: no network: $repository is not here and cannot be fetched ($(printf '%s' "$error" | tail -n 1)); $variable=FOLDER names a copy"
  rm -rf "$folder"
  exit 77
}

fetch_strangers() {  # FOLDER REPOSITORY COMMIT PATTERN…
  local folder=$1 repository=$2 commit=$3 seconds=${GEXP_FETCH_SECONDS:-60}
  shift 3
  rm -rf "$folder" &&
    git init -q "$folder" &&
    git -C "$folder" config core.sparseCheckout true &&
    git -C "$folder" config advice.detachedHead false &&
    printf '%s\n' "$@" >"$folder/.git/info/sparse-checkout" &&
    git -C "$folder" remote add origin "$repository" &&
    git -C "$folder" config extensions.partialClone origin &&
    GIT_TERMINAL_PROMPT=0 timeout "$seconds" git -C "$folder" fetch -q --depth 1 --filter=blob:none origin "$commit" &&
    GIT_TERMINAL_PROMPT=0 timeout "$seconds" git -C "$folder" checkout -q FETCH_HEAD
}
