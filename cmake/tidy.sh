#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy. Compiles nothing: the sources are parsed with the commands of a build
# directory of its own, build/tidy, which is configured with the LibTorch of the release build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'TEXT'
Usage:
  cmake/tidy.sh                 check the sources that differ from main, and those that include a header that differs
  cmake/tidy.sh --since COMMIT  the same, compared with another commit
  cmake/tidy.sh --all           check all sources of the product
  cmake/tidy.sh FILE|FOLDER …   check these

Options:
  -j N                          processes (default: one per core)
TEXT
}

readonly build=build/tidy
readonly folders=(base graph plan schedule kernels nn runtime profiles sim tuner reproduce serve apps)

# Precompiled headers and unity sources would be parsed as a whole for each source; CUDA sources are not C++.
configure() {
  local torch
  torch=$(sed -n 's/^LIBTORCH_ROOT:[A-Z]*=//p' build/release/CMakeCache.txt 2>/dev/null || true)
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DGNOMON_CUDA=OFF \
    -DGNOMON_UNITY=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON ${torch:+"-DLIBTORCH_ROOT=$torch"} >"$build.log" ||
    { cat "$build.log" >&2; exit 1; }
}

product_sources() { git ls-files -- "${@/%//*.cpp}"; }

# The names of headers as #include lines have them, one a line -> the sources that include one, directly or not.
sources_with() {
  local headers=$1 seen='' found
  while [[ -n $headers ]]; do
    seen+=$'\n'$headers
    found=$(grep -rlF -f <(sed 's/.*/#include "&"/' <<<"$headers") --include='*.h' --include='*.cpp' "${folders[@]}" || true)
    grep '\.cpp$' <<<"$found" || true
    headers=$(grep '\.h$' <<<"$found" | grep -vxF -f <(printf '%s\n' "$seen") || true)
  done | sort -u
}

changed_sources() { # COMMIT
  local changed headers
  changed=$(git diff --name-only --diff-filter=d "$(git merge-base "$1" HEAD)" -- "${folders[@]}")
  grep '\.cpp$' <<<"$changed" || true
  headers=$(grep '\.h$' <<<"$changed" || true)
  [[ -z $headers ]] || sources_with "$headers"
}

jobs=$(nproc) since=main
files=()
while (($#)); do
  case $1 in
    -h | --help) usage && exit ;;
    -j) jobs=$2 && shift ;;
    --all) mapfile -t files < <(product_sources "${folders[@]}") ;;
    --since) since=$2 && shift ;;
    -*) usage >&2 && exit 2 ;;
    *.cpp) files+=("$1") ;;
    *) mapfile -t -O "${#files[@]}" files < <(product_sources "${1%/}") ;;
  esac
  shift
done
command -v clang-tidy >/dev/null || { echo 'cmake/tidy.sh: clang-tidy is missing; install it' >&2; exit 2; }
mkdir -p build && configure
((${#files[@]})) || mapfile -t files < <(changed_sources "$since" | sort -u)
# Sources that this configuration does not compile, those for CUDA for instance, have no command.
mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -xF -f <(sed -n "s|.*\"file\": \"$PWD/\(.*\)\".*|\1|p" "$build/compile_commands.json"))
((${#files[@]})) || { echo 'no sources to check' && exit; }
echo "${#files[@]} sources"
printf '%s\n' "${files[@]}" | xargs -P "$jobs" -I{} clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p "$build" {} 2> >(grep -v ' warnings generated\.$' >&2)
