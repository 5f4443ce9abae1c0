#!/usr/bin/env bash
# Packs what a machine with a GPU needs to test and measure gnomon, without a network and without Debian's packages there: the
# programs linked with LibTorch's CUDA libraries, and the libraries that they need beside those of LibTorch and CUDA. Builds in
# build/gpu, checks that the programs start (here without a GPU, so its tests skip), and leaves build/gpu/kit and
# build/gpu/kit.tar.xz, to be unpacked and run there by bench/gpu/run.sh.
#
#     bench/gpu/pack.sh
#
# PyTorch Geometric's loader needs the sampler of pyg-lib there; bench/compare_python.py makes it (build/peers/pyg_lib.so).
# LIBTORCH_ROOT names a LibTorch with CUDA libraries (else that of build/release). Environment: GNOMON_CUDA_ARCHITECTURES (90).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly build=build/gpu kit=build/gpu/kit programs=(bin/gnomon bin/gnomon-compute tests/test_kernels_cuda tests/test_runtime bench/bench_gpu)

fail() {
  printf 'bench/gpu/pack.sh: %s\n' "$*" >&2
  exit 1
}

# What the other machine has: glibc, the compiler's runtime, LibTorch, CUDA. All other libraries travel.
readonly is_there='^(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|gomp)|libtorch.*|libc10.*|libcaffe2.*|libshm|libcu.*|libnv.*|libnccl)\.so'

torch=${LIBTORCH_ROOT:-$(sed -n 's/^LIBTORCH_ROOT:[A-Z]*=//p' build/release/CMakeCache.txt 2>/dev/null || true)}
[[ -n $torch ]] || torch=$(echo build/venv/lib/python3*/site-packages/torch)
torch=$(cd "$torch" 2>/dev/null && pwd) || fail "no LibTorch; set LIBTORCH_ROOT, or run ./gnomon.sh setup first"
[[ -e $torch/lib/libtorch_cuda.so ]] || fail "$torch has no CUDA libraries (lib/libtorch_cuda.so)"

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGNOMON_LINK_CUDA=ON -DLIBTORCH_ROOT="$torch" \
  -DGNOMON_CUDA_ARCHITECTURES="${GNOMON_CUDA_ARCHITECTURES:-90-real}" -DCMAKE_CUDA_FLAGS=-lineinfo >"$build.configure.log" ||
  { cat "$build.configure.log" >&2; fail 'cannot configure'; }
grep -q 'training on CUDA devices' "$build.configure.log" || { grep CUDA "$build.configure.log" >&2; fail 'no CUDA route'; }
cmake --build "$build" --target "${programs[@]##*/}"

rm -rf "$kit"
mkdir -p "$kit/bin" "$kit/lib"
for program in "${programs[@]}"; do
  strip -o "$kit/bin/${program##*/}" "$build/$program"
done
# The closure of what the programs load, with LibTorch's where the linker finds them.
ldd "$kit"/bin/* | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | while read -r library; do
  [[ ${library##*/} =~ $is_there ]] || cp -L "$library" "$kit/lib/"
done
sed -n "s/^git_version = '\(.*\)'/\1/p" "$torch/version.py" >"$kit/torch_git_version"
git rev-parse HEAD >"$kit/commit"
cp -r bench/gpu/run.sh bench/gpu/*.py bench/peers/pyg_sampler.py plan/presets "$kit/"
[[ ! -e build/peers/pyg_lib.so ]] || strip -o "$kit/pyg_lib.so" build/peers/pyg_lib.so

# Every program must start: with empty stand-ins for those of CUDA's libraries that this machine lacks.
stubs=$(mktemp -d)
trap 'rm -r "$stubs"' EXIT
export LD_LIBRARY_PATH=$kit/lib:$torch/lib:$stubs
# Loading one library may show that the next is missing.
for _ in 1 2 3 4 5; do
  missing=$(ldd "$kit"/bin/* "$torch/lib/libtorch_cuda.so" | awk '/=> not found/ { print $1 }' | sort -u)
  for library in $missing; do
    cc -shared -o "$stubs/$library" -Wl,-soname,"$library" -x c /dev/null
  done
done
"$kit/bin/gnomon" info >/dev/null
"$kit/bin/test_kernels_cuda" >"$build.smoke.log" 2>&1 || { tail "$build.smoke.log" >&2; fail 'test_kernels_cuda fails'; }
[[ -e /dev/nvidia0 ]] || grep -q 'SKIPPED' "$build.smoke.log" || fail 'test_kernels_cuda skips nothing, without a GPU'
data=$(mktemp -d)
trap 'rm -r "$stubs" "$data"' EXIT
"$kit/bin/gnomon" generate sbm "$data/graph" --vertices 2000 --classes 3 >/dev/null
"$kit/bin/gnomon" train "$data/graph" --fanouts 5,5 --epochs 1 >/dev/null
if [[ ! -e /dev/nvidia0 ]]; then
  status=0
  "$kit/bin/gnomon" train "$data/graph" --fanouts 5,5 --epochs 1 --device gpu 2>"$data/refused" >/dev/null || status=$?
  [[ $status == 2 ]] || { cat "$data/refused" >&2; fail "--device gpu ends with $status instead of 2"; }
fi

tar -C "$build" -cJf "$build/kit.tar.xz" kit
printf 'packed %s: %s, unpacked %s\n' "$build/kit.tar.xz" "$(du -h "$build/kit.tar.xz" | cut -f1)" "$(du -sh "$kit" | cut -f1)"
