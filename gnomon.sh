#!/usr/bin/env bash
# Sets up, builds and runs gnomon. What is done already is not done again.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage:
  ./gnomon.sh demo [FILE]   measure, plan and train: on a generated graph, or on the graph in FILE
  ./gnomon.sh test          build everything and run all tests
  ./gnomon.sh COMMAND …     any other command of gnomon; see ./gnomon.sh --help
  ./gnomon.sh setup         only install what is missing, and build
  ./gnomon.sh python-test   build the Python package's library and run all tests of the package, the slow ones too
  ./gnomon.sh python-wheel  make the package's wheel in build/wheels and test it

Environment:
  LIBTORCH_ROOT, CMAKE_PREFIX_PATH   where a LibTorch stands that is to be used (else the active Python's)
  GNOMON_CUDA=off                    build without CUDA even where a CUDA toolkit is installed
  GNOMON_CUDA_ARCHITECTURES          what to compile CUDA kernels for (else this machine's GPU, or 75, 80, 90 and newer)
TEXT
}

cd_of() { (cd "$1" && pwd); }
root=$(cd_of "$(dirname "${BASH_SOURCE[0]}")")
readonly root
readonly build=$root/build/release venv=$root/build/venv stamp=$root/build/setup.stamp

# The LibTorch that is installed when there is none, and the CUDA toolkit that it was built with.
readonly torch_version=2.11.0 torch_oldest=2.6 toolkit_version=13.0.2
readonly packages=(g++ cmake ninja-build pkg-config python3-venv libsimgrid-dev libboost-dev nlohmann-json3-dev libcli11-dev libcpp-httplib-dev
  libfmt-dev libhwy-dev libmetis-dev libzip-dev liburing-dev libnuma-dev zlib1g-dev libeigen3-dev libxgboost-dev libgtest-dev
  libgmock-dev libbenchmark-dev libjs-chart.js)

say() { printf 'gnomon set-up: %s\n' "$*" >&2; }

# fail CODE MESSAGE…
fail() {
  local code=$1
  shift
  say "$@"
  exit "$code"
}

# ---- LibTorch -----------------------------------------------------------------------------------------------------

# usable_torch DIRECTORY: whether it holds a LibTorch that this project builds with.
usable_torch() {
  local header=$1/include/torch/headeronly/version.h
  [[ -e $1/lib/libtorch_cpu.so && -e $1/include/torch/csrc/api/include/torch/torch.h && -e $header ]] || return 1
  local version
  version=$(awk '/define TORCH_VERSION_M(AJOR|INOR) /{print $3}' "$header" | paste -sd.)
  [[ $(printf '%s\n' "$torch_oldest" "$version" | sort -V | head -n 1) == "$torch_oldest" ]] || return 1
  # Libraries with the old ABI of std::string cannot be linked.
  ! grep -qs '_GLIBCXX_USE_CXX11_ABI=0' "$1/share/cmake/Torch/TorchConfig.cmake"
}

# Where a LibTorch may stand that the user has, one directory a line.
torch_candidates() {
  local directory
  if [[ -n ${LIBTORCH_ROOT:-} ]]; then
    printf '%s\n' "$LIBTORCH_ROOT" "$LIBTORCH_ROOT/torch"
    return
  fi
  local prefixes=${CMAKE_PREFIX_PATH:-}
  while read -r directory; do
    directory=${directory%/}
    directory=${directory%/share/cmake*} # what torch.utils.cmake_prefix_path says
    [[ -z $directory ]] || printf '%s\n' "$directory" "$directory/torch"
  done <<<"${prefixes//[:;]/$'\n'}"
  local python
  if python=$(command -v python3 || command -v python); then
    "$python" -c 'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")' \
      2>/dev/null || true
  fi
}

# The LibTorch that the user has already; nothing when there is none.
users_torch() {
  local directory
  while read -r directory; do
    if [[ -n $directory ]] && usable_torch "$directory"; then
      cd_of "$directory"
      return
    fi
  done < <(torch_candidates)
}

# The directory of a package in the private environment; nothing when it is not there.
venv_directory() {
  local directory
  for directory in "$venv"/lib/python3*/site-packages/"$1"; do
    [[ -d $directory ]] && printf '%s\n' "$directory" && return
  done
  return 0
}

# Whether the wheel was installed whole, with the parts that this machine needs.
private_torch_complete() { [[ -e $venv/$(torch_stamp) && -n $(venv_directory torch) ]]; }
torch_stamp() { printf '.torch-%s-%s' "$torch_version" "$(has_gpu && echo gpu || echo cpu)"; }

install_torch() {
  say "installing torch $torch_version into ${venv#"$root"/} (a download of 0.5 GB, with a GPU 2.5 GB)"
  make_venv
  if has_gpu; then
    pip_install "torch==$torch_version"
  else
    # All that its CPU library needs of the GPU's parts is two small libraries.
    pip_install "cuda-toolkit[cudart,cupti]==$toolkit_version"
    pip_install --no-deps "torch==$torch_version"
  fi
  touch "$venv/$(torch_stamp)"
}

make_venv() {
  [[ -x $venv/bin/pip ]] || python3 -m venv "$venv" >&2 || fail 2 "python3 -m venv failed; install python3-venv"
}

pip_install() {
  "$venv/bin/pip" install --disable-pip-version-check "$@" >&2 ||
    fail 2 "pip could not install: ${*: -1}. Is there a network? A LibTorch that you have is used when LIBTORCH_ROOT names it"
}

# ---- CUDA ---------------------------------------------------------------------------------------------------------

has_gpu() { [[ -e /dev/nvidia0 ]] || { command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; }; }
cuda_wanted() { [[ ! ${GNOMON_CUDA:-on} =~ ^(off|OFF|0|no)$ ]]; }

# What to compile CUDA kernels for; nothing where there is no GPU and all architectures are wanted.
cuda_architectures() {
  if [[ -n ${GNOMON_CUDA_ARCHITECTURES:-} ]]; then
    printf '%s\n' "$GNOMON_CUDA_ARCHITECTURES"
  elif has_gpu; then
    echo native
  fi
}

# The CUDA compiler of this machine, or else that of the private environment; nothing when there is none.
find_nvcc() {
  local nvcc
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_HOME:-/nowhere}/bin/nvcc" /usr/local/cuda/bin/nvcc \
    "$(venv_directory nvidia/cu13)/bin/nvcc"; do
    if [[ -n $nvcc && -x $nvcc ]] && "$nvcc" --version >/dev/null 2>&1; then
      printf '%s\n' "$nvcc"
      return
    fi
  done
}

# A GPU without a toolkit: the compiler comes from PyPI, in the version that the LibTorch at $1 was built with.
install_nvcc() {
  local built_with=$toolkit_version
  if [[ $1 != "$(venv_directory torch)" ]]; then
    built_with=$(sed -n "s/^cuda.*= '\([0-9.]*\)'.*/\1.*/p" "$1/version.py" 2>/dev/null || true)
    if [[ $built_with != 13.* ]]; then
      say "no CUDA compiler: the LibTorch in use was built with CUDA '${built_with%.\*}'; install that toolkit to build with CUDA"
      return
    fi
  fi
  # nvcc alone would take the newest of the parts that it calls, which do not fit it.
  say "installing the CUDA compiler $built_with into ${venv#"$root"/}"
  make_venv
  pip_install "cuda-toolkit[nvcc,nvvm,crt,cccl,cudart]==$built_with"
  # These wheels keep libraries in lib; nvcc looks for them in lib64.
  ln -sfn lib "$(venv_directory nvidia/cu13)/lib64"
}

# ---- Packages -----------------------------------------------------------------------------------------------------

missing_packages() {
  local package
  if ! command -v dpkg-query >/dev/null; then # not Debian: without the tools nothing works, CMake finds the libraries
    command -v cmake >/dev/null && command -v ninja >/dev/null || printf '%s\n' "${packages[@]}"
    return 0
  fi
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) == installed ]] || printf '%s\n' "$package"
  done
}

# as_root COMMAND…: runs it as root, by sudo where there is one that may ask or need not.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
    sudo "$@"
  else
    return 77
  fi
}

install_packages() {
  say "installing $*"
  local code=0
  { as_root apt-get update -q && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@"; } \
    >&2 || code=$?
  ((code == 0)) || report_missing "$code" "$@"
}

# report_missing CODE PACKAGES…: ends with the list of all that is missing.
report_missing() {
  local reason='apt-get failed (is there a network?)'
  (($1 != 77)) || reason='this needs root, and there is no sudo that would not ask'
  shift
  say "cannot install what is missing: $reason. Missing:"
  printf '  %s\n' "$@" >&2
  [[ -n $(users_torch) ]] || private_torch_complete || printf '  torch==%s (from PyPI)\n' "$torch_version" >&2
  exit 2
}

# ---- Notebooks and the Python package -------------------------------------------------------------------------------

# make_environment DIRECTORY REQUIREMENTS: a Python environment with what the file lists.
make_environment() {
  local directory=$1 wanted=$2
  ! cmp -s "$wanted" "$directory/installed.txt" || return 0
  say "installing ${wanted#"$root"/} into ${directory#"$root"/}"
  python3 -m venv "$directory" >&2 && "$directory/bin/pip" install --disable-pip-version-check --no-compile -q -r "$wanted" >&2 &&
    cp "$wanted" "$directory/installed.txt"
}

# What the notebooks' test runs them with. Without a network that test skips; all others need nothing of it.
set_up_notebooks() {
  make_environment "$root/build/notebooks" "$root/notebooks/requirements.txt" || say "the notebooks cannot be run here"
}

# set_up_browser: what drives Chromium through the page of gnomon serve. Without Chromium that test skips.
set_up_browser() {
  command -v chromedriver >/dev/null || return 0
  make_environment "$root/build/browser" "$root/tests/browser/requirements.txt" || say "the live page cannot be tested here"
}

readonly python_environment=$root/build/python stand_ins=$root/build/python/stand-ins
# set_up_python: what the Python package's tests run with. It uses the torch of the build, if that is one for this Python.
set_up_python() {
  rm -f "$python_environment/usable"
  make_environment "$python_environment" "$root/python/tests/requirements.txt" &&
    use_torch "$(sed -n 's/^LIBTORCH_ROOT:[A-Z]*=//p' "$build/CMakeCache.txt")" && touch "$python_environment/usable"
}

# use_torch TORCH: lets the environment import it. Libraries of the GPU that are missing are not called where there is no
# GPU: empty ones stand in for them, and functions are looked up when they are called.
use_torch() {
  local site library
  site=$(echo "$python_environment"/lib/python3*/site-packages)
  printf '%s\n' 'import os, sys; sys.setdlopenflags(os.RTLD_LAZY)' "$(dirname "$1")" >"$site/torch_of_the_build.pth"
  mkdir -p "$stand_ins"
  while read -r library; do
    g++ -shared -o "$stand_ins/$library" "-Wl,-soname,$library" -x c++ /dev/null
  done < <(LD_LIBRARY_PATH=$stand_ins ldd "$1/lib/libtorch_python.so" 2>/dev/null | awk '/not found/ {print $1}')
  LD_LIBRARY_PATH=$stand_ins "$python_environment/bin/python" -c 'import torch' 2>/dev/null
}

# set_up_python_with_torch: the same, with a torch of its own from PyPI where that of the build cannot be imported.
set_up_python_with_torch() {
  set_up_python || { [[ -x $python_environment/bin/pip ]] && "$python_environment/bin/pip" install \
    --disable-pip-version-check -q "torch==$torch_version" >&2 && set_up_python; } ||
    fail 1 "cannot install what the Python package's tests need"
}

# run_python_tests ARGUMENTS…: of pytest
run_python_tests() {
  cd "$root"
  LD_LIBRARY_PATH=$stand_ins PYTHONPATH=$root/python exec "$python_environment/bin/python" -m pytest -q "$@"
}

readonly wheel_environment=$root/build/python-wheel oldest_glibc=2.28
# XGBoost for the wheel's commands, built for that glibc; the tuner's models were tried with this version.
readonly xgboost_version=3.2.0
readonly xgboost_directory=$wheel_environment/xgboost-$xgboost_version
unpack_xgboost() {
  [[ ! -d $xgboost_directory ]] || return 0
  local downloads
  downloads=$(mktemp -d)
  "$wheel_environment/bin/pip" download --disable-pip-version-check -q --no-deps --only-binary :all: -d "$downloads" \
    "xgboost-cpu==$xgboost_version" >&2 &&
    "$wheel_environment/bin/python" -m zipfile -e "$downloads"/xgboost_cpu-*manylinux_2_28_x86_64.whl "$xgboost_directory"
  local code=$?
  rm -r "$downloads"
  return "$code"
}

# make_wheel: in build/wheels, for systems with that glibc and newer ones.
make_wheel() {
  make_environment "$wheel_environment" "$root/python/tests/requirements_wheel.txt" && unpack_xgboost ||
    fail 1 "cannot install what making the wheel needs"
  rm -rf "$root/build/wheels" "$root/build/untagged"
  "$wheel_environment/bin/pip" wheel -q --no-deps -w "$root/build/untagged" -C build-dir="$root/build/portable" \
    -C cmake.define.GNOMON_UNITY=ON -C cmake.define.GNOMON_PORTABLE=$oldest_glibc -C cmake.define.GNOMON_XGBOOST="$xgboost_directory" "$root" >&2 ||
    fail 1 "cannot make the wheel"
  PATH=$wheel_environment/bin:$PATH "$wheel_environment/bin/auditwheel" repair --exclude '*' --only-plat \
    --plat "manylinux_${oldest_glibc/./_}_x86_64" -w "$root/build/wheels" "$root"/build/untagged/*.whl >&2 ||
    fail 1 "the wheel needs a newer glibc than $oldest_glibc"
}

# ---- Set-up and build ---------------------------------------------------------------------------------------------

# All that decides what set-up does, as one hash.
inputs_hash() {
  {
    cat "${BASH_SOURCE[0]}"
    printf '%s\n' "$root" "$(users_torch)" "$(has_gpu && echo gpu)" "$(find_nvcc)" "$(cuda_wanted && echo cuda)" "$(cuda_architectures)"
  } | sha256sum
}

set_up() {
  if [[ -e $build/build.ninja && -e $stamp && $(<"$stamp") == "$(inputs_hash)" ]]; then
    return
  fi
  local missing torch nvcc=''
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
  torch=$(users_torch)
  if [[ -n ${LIBTORCH_ROOT:-} && -z $torch ]]; then
    fail 2 "LIBTORCH_ROOT=$LIBTORCH_ROOT holds no LibTorch $torch_oldest or newer with the C++11 ABI of std::string"
  fi
  if [[ -z $torch ]]; then
    private_torch_complete || install_torch
    torch=$(venv_directory torch)
  fi
  say "LibTorch: $torch"
  if cuda_wanted; then
    nvcc=$(find_nvcc)
    if [[ -z $nvcc ]] && has_gpu; then
      install_nvcc "$torch"
      nvcc=$(find_nvcc)
    fi
  fi
  configure "$torch" "$nvcc"
  inputs_hash >"$stamp"
}

# configure TORCH NVCC
configure() {
  local options=(-U 'LIBTORCH_*' "-DLIBTORCH_ROOT=$1" "-DGNOMON_CUDA=$(cuda_wanted && echo ON || echo OFF)"
    -DGNOMON_UNITY=ON "-DGNOMON_CUDA_ARCHITECTURES=$(cuda_architectures)")
  [[ -z $2 ]] || export CUDACXX=$2
  mkdir -p "$build"
  if ! (cd "$root" && cmake --preset release "${options[@]}") >"$build/configure.log" 2>&1; then
    cat "$build/configure.log" >&2
    fail 1 "CMake could not configure the build (above, and in ${build#"$root"/}/configure.log)"
  fi
  say "$(sed -n 's/^-- gnomon: /a build /p' "$build/configure.log")"
}

# As many compilers at once as there are cores, and 2 GB of memory for each.
parallel_jobs() {
  local by_memory
  by_memory=$(awk '/^MemTotal/{print int($2 / 2000000)}' /proc/meminfo)
  local cores
  cores=$(nproc)
  printf '%d\n' $((by_memory < 1 ? 1 : by_memory < cores ? by_memory : cores))
}

# build_targets TARGETS…: says nothing when there is nothing to do.
build_targets() {
  cmake --build "$build" -j "$(parallel_jobs)" --target "$@" 2>&1 |
    sed -u -e '/^ninja: no work to do/d' -e '/Re-checking globbed directories/d' >&2 || fail 1 "the build failed"
}

# run_tests OPTIONS…: runs ctest with these options, then tells how many tests there were and which took longest.
run_tests() {
  local code=0 report=$build/tests.xml
  rm -f "$report"
  ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)" --output-junit "$report" \
    --test-output-truncation head "$@" || code=$?
  [[ ! -e $report ]] || report_tests "$report"
  return "$code"
}

# report_tests FILE: the tests in the processes that ctest ran, and the slowest twenty processes.
report_tests() {
  awk '/\[  PASSED  \] [0-9]+ test/ {passed += $4} END {printf "\n%d tests passed. The slowest, in seconds:\n", passed}' "$1"
  sed -n 's/.*<testcase name="\([^"]*\)".* time="\([0-9.]*\)".*/\2 \1/p' "$1" | sort -rn |
    awk 'NR <= 20 {printf "%8.1f  %s\n", $1, $2}'
}

main() {
  case ${1:-} in
    '')
      usage >&2
      exit 2
      ;;
    setup)
      set_up
      build_targets gnomon gnomon-compute
      ;;
    test)
      set_up
      set_up_notebooks
      set_up_browser
      set_up_python || say "the Python package cannot be tested here"
      build_targets all
      run_tests "${@:2}"
      ;;
    python-test)
      set_up
      build_targets gnomon_c_api
      set_up_python_with_torch
      GNOMON_LIBRARY=$build/python/libgnomon.so run_python_tests "${@:2}"
      ;;
    python-wheel)
      make_wheel
      GNOMON_WHEEL=$(echo "$root"/build/wheels/*.whl) exec "$wheel_environment/bin/python" -m pytest -q --noconftest \
        "$root/python/tests/test_wheel.py" "${@:2}"
      ;;
    *)
      set_up
      build_targets gnomon gnomon-compute
      exec "$build/bin/gnomon" "$@"
      ;;
  esac
}

main "$@"
