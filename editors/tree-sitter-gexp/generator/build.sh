#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh FOLDER: makes FOLDER/tree-sitter, the generator of tree-sitter 0.20.7, of Debian 12's source package and Debian's crates.
# For machines that cannot fetch the CLI's binary, which npm's tree-sitter-cli downloads. Needs cargo and node; installs nothing.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
folder=$(mkdir -p "${1:?build.sh FOLDER}" && cd "$1" && pwd)
command -v cargo >/dev/null || { echo "build.sh: there is no cargo; Debian's package is cargo" >&2; exit 1; }

# Debian's sources, by the mirror that this machine uses, in lists of our own.
mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null |
  head -n 1 | tr -d ' ') || true
[ -n "$mirror" ] || { echo "build.sh: no Debian mirror is named in /etc/apt" >&2; exit 1; }
mkdir -p "$folder"/{lists/partial,cache/archives/partial,source,debs,crates,generator/src,generator/.cargo}
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" >"$folder/source.list"
own=(-o "Dir::Etc::sourcelist=$folder/source.list" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder/cache")
apt-get -qq "${own[@]}" update
(cd "$folder/source" && apt-get -qq "${own[@]}" source --download-only tree-sitter=0.20.7-1 && tar xf tree-sitter_0.20.7.orig.tar.xz)
crates=(rustc-hash smallbitvec indexmap hashbrown autocfg serde serde-derive serde-json itoa ryu syn quote proc-macro2 unicode-ident regex
  aho-corasick memchr regex-syntax semver lazy-static anyhow log cfg-if)
(cd "$folder/debs" && apt-get -qq download $(printf 'librust-%s-dev ' "${crates[@]}"))
for package in "$folder"/debs/*.deb; do dpkg -x "$package" "$folder/crates"; done

tree=$folder/source/tree-sitter-0.20.7
cp -r "$tree/cli/src/generate" "$folder/generator/src/"
mkdir -p "$folder/generator/include" && cp "$tree/lib/include/tree_sitter/parser.h" "$folder/generator/include/"
cp "$here/main.rs" "$folder/generator/src/" && cp "$here/Cargo.toml" "$folder/generator/"
# The library itself is not built: two of its constants stand in main.rs.
sed -i -E 's/([^:a-z_])tree_sitter::/\1crate::tree_sitter::/' "$folder"/generator/src/generate/{mod,render}.rs
cat >"$folder/generator/.cargo/config.toml" <<CONFIG
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "$folder/crates/usr/share/cargo/registry"
CONFIG
(cd "$folder/generator" && RUST_BINDING_VERSION=0.20.7 cargo build --quiet --release --offline)
cp "$folder/generator/target/release/tree-sitter-generate" "$folder/tree-sitter"
echo "made $folder/tree-sitter"
