#!/usr/bin/env bash
# Packs what a machine with a GPU needs to test and measure gnomon, without a network and without Debian's packages there: the
# programs linked with LibTorch's CUDA libraries, and the libraries that they need beside those of LibTorch and CUDA. Links them
# from the objects of the release build, checks that they start (here without a GPU, so their tests skip), and leaves in
# build/gpu/kit, and in build/gpu/kit.tar.xz, what is unpacked and run there by bench/gpu/run.sh; and build/gpu/kernels.csv, what
# ptxas tells of each kernel.
#
#     bench/gpu/pack.sh [--no-archive]
#
# PyTorch Geometric's loader needs a sampler there, which bench/gpu/sampler.py makes (build/gpu/sampler; GNOMON_SAMPLER_SOURCES
# names a folder with clones of its sources); without one the kit says so, and its rows will. The kit has kernels for the
# architectures of the release build (./gnomon.sh setup; GNOMON_CUDA_ARCHITECTURES). bench/gpu/kit_record.py records its sizes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly build=build/release gpu=build/gpu kit=build/gpu/kit max_packed_bytes=40000000

fail() {
  printf 'bench/gpu/pack.sh: %s\n' "$*" >&2
  exit 1
}

# What the other machine has: glibc, the compiler's runtime, LibTorch, CUDA. All other libraries travel.
readonly is_there='^(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|gomp)|libtorch.*|libc10.*|libcaffe2.*|libshm|libcu.*|libnv.*|libnccl)\.so'

[[ -e $build/CMakeCache.txt ]] || fail 'no release build; run ./gnomon.sh setup first'
library=$(sed -n 's/^LIBTORCH_CUDA_LIBRARY:[A-Z]*=//p' "$build/CMakeCache.txt")
[[ -e $library ]] || fail 'the release build uses a LibTorch without CUDA'
readonly torch=${library%/lib/*}
targets=(gnomon_kit gnomon_c_api test_launches)
if grep -q '^GNOMON_CUPTI:.*[^D]$' "$build/CMakeCache.txt"; then
  targets+=(gnomon_cuda_calls gnomon_cuda_kernels)
else
  echo 'bench/gpu/pack.sh: without CUPTI, so launches on the GPU cannot be counted, nor its kernels timed' >&2
fi
cmake --build "$build" --target "${targets[@]}" >"$build/kit.log" || { tail -n 40 "$build/kit.log" >&2; fail 'cannot build the kit'; }
readonly programs=("$build/bin/gnomon" "$build"/kit/bin/*)

# One CUDA runtime a process: that of LibTorch.
for program in "$build"/kit/bin/*; do
  ! nm -C "$program" | grep -q ' [tT] cudaLaunchKernel$' || fail "$program has a CUDA runtime of its own"
done
mkdir -p "$gpu"
python3 bench/gpu/kernels.py "$build"/CMakeFiles/gnomon_kernels_cuda.dir/kernels/cuda/*.ptxas >"$gpu/kernels.csv"

rm -rf "$kit"
mkdir -p "$kit/bin" "$kit/lib"
for program in "${programs[@]}"; do
  strip -o "$kit/bin/${program##*/}" "$program"
done
strip -o "$kit/lib/libgnomon.so" "$build/python/libgnomon.so"
for library in "${targets[@]:3}"; do
  strip -o "$kit/lib/lib$library.so" "$build/bench/lib$library.so"
done
# The closure of what they load, with LibTorch's where the linker finds them.
ldd "$kit"/bin/* "$kit/lib/libgnomon.so" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | while read -r library; do
  [[ ${library##*/} =~ $is_there ]] || cp -L "$library" "$kit/lib/"
done
sed -n "s/^git_version = '\(.*\)'/\1/p" "$torch/version.py" >"$kit/torch_git_version"
git rev-parse HEAD >"$kit/commit"
"$(find "$build" -name test_launches -type f)" --gtest_filter='*LaunchesTest.*' --gtest_output="json:$kit/launches.json" >"$gpu/launches.log" ||
  { tail "$gpu/launches.log" >&2; fail 'test_launches fails'; }
cp -r "$gpu/kernels.csv" bench/gpu/run.sh bench/gpu/*.py bench/gpu/README.md bench/peers/pyg_sampler.py plan/presets "$kit/"
git ls-files python/gnomon | tar -cf - -T - | tar -C "$kit" -xf -
if [[ ${1:-} != --no-archive && ! $(echo "$gpu"/sampler/*.so) =~ sampler/(pyg_lib|torch_sparse) ]]; then
  LD_LIBRARY_PATH=build/python/stand-ins python3 bench/gpu/sampler.py ${GNOMON_SAMPLER_SOURCES:+--sources "$GNOMON_SAMPLER_SOURCES"} \
    --output "$gpu/sampler" >"$gpu/sampler.log" 2>&1 || tail -n 1 "$gpu/sampler.log" >&2
fi
for library in pyg_lib torch_sparse; do
  [[ ! -e $gpu/sampler/$library.so ]] || strip -o "$kit/$library.so" "$gpu/sampler/$library.so"
done
compgen -G "$kit/*.so" >/dev/null ||
  echo "bench/gpu/pack.sh: the kit has no sampler for PyTorch Geometric: its rows in the phase peers will have no value" >&2

# Every program must start: with empty stand-ins for those of CUDA's libraries that this machine lacks.
stubs=$(mktemp -d)
trap 'rm -r "$stubs"' EXIT
nvidia=$(find "$(dirname "$torch")/nvidia" -maxdepth 3 -type d -name lib 2>/dev/null | paste -sd: || true)
export LD_LIBRARY_PATH=$kit/lib:$torch/lib${nvidia:+:$nvidia}:$stubs
# Loading one library may show that the next is missing.
for _ in 1 2 3 4 5; do
  missing=$(ldd "$kit"/bin/* "$torch/lib/libtorch_cuda.so" | awk '/=> not found/ { print $1 }' | sort -u)
  for library in $missing; do
    cc -shared -o "$stubs/$library" -Wl,-soname,"$library" -x c /dev/null
  done
done
"$kit/bin/gnomon" info >/dev/null
"$kit/bin/test_kernels_cuda" >"$gpu/smoke.log" 2>&1 || { tail "$gpu/smoke.log" >&2; fail 'test_kernels_cuda fails'; }
[[ -e /dev/nvidia0 ]] || grep -q 'SKIPPED' "$gpu/smoke.log" || fail 'test_kernels_cuda skips nothing, without a GPU'
data=$(mktemp -d)
trap 'rm -r "$stubs" "$data"' EXIT
"$kit/bin/gnomon" generate sbm "$data/graph" --vertices 2000 --classes 3 >/dev/null
"$kit/bin/gnomon" train "$data/graph" --fanouts 5,5 --epochs 1 --run "$data/run" >/dev/null
# All that the kit has is where its programs look for it.
GNOMON_REHEARSE=1 SCALE=8 GNOMON_GPU_DIR=$data/gpu GNOMON_GPU_STORE=$data/rmat "$kit/run.sh" kernels "$data/out" >"$gpu/rehearsal.log" 2>&1 ||
  { tail "$gpu/rehearsal.log" >&2; fail 'the rehearsal of the phase kernels fails'; }
failed=$(grep -v '"status": 0' "$data/gpu/phases.jsonl" || true)
[[ ! $failed ]] || { cat "$gpu/rehearsal.log" >&2; fail "steps of the rehearsal fail: $failed"; }
python3 "$kit/measure.py" check --output "$data/out/gpu.json" >/dev/null || fail 'the rehearsal leaves no whole record'
if [[ ! -e /dev/nvidia0 ]]; then
  status=0
  "$kit/bin/gnomon" train "$data/graph" --fanouts 5,5 --epochs 1 --run "$data/run" --overwrite --device gpu 2>"$data/refused" >/dev/null || status=$?
  [[ $status == 2 ]] || { cat "$data/refused" >&2; fail "--device gpu ends with $status instead of 2"; }
fi

if [[ ${1:-} == --no-archive ]]; then
  printf 'the kit %s starts: unpacked %s\n' "$kit" "$(du -sh "$kit" | cut -f1)"
else
  tar -C "$gpu" -cf - kit | xz -T0 >"$gpu/kit.tar.xz"
  packed=$(stat -c %s "$gpu/kit.tar.xz")
  ((packed <= max_packed_bytes)) || fail "the packed kit has $packed bytes, more than $max_packed_bytes"
  printf 'packed %s: %s, unpacked %s\n' "$gpu/kit.tar.xz" "$(du -h "$gpu/kit.tar.xz" | cut -f1)" "$(du -sh "$kit" | cut -f1)"
fi
