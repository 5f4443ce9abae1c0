#!/usr/bin/env bash
# Measures gnomon on a machine with a GPU, from the kit of bench/gpu/pack.sh (it lies in the kit). bench/gpu/README.md tells how
# the half hour is spent.
#
#     kit/run.sh PHASE OUT
#
#   tests    facts, missing libraries, a pinned copy; at the same time the tests of kernels and devices, and compute-sanitizer's
#            memcheck and initcheck on their contracts; generates the graph meanwhile
#   kernels  bench_gpu, launches of a mini-batch, times of kernels, Nsight Compute over an epoch
#   epochs   every preset with all of the memory that the data take, then with half
#   tuning   autotune, predictions, the fastest preset with recorded steps, shares of the GPU for
#            preparing, and more cores than a profile was measured on
#   peers    the same model fed by PyTorch Geometric's NeighborLoader, and by gnomon's
#   limits   none: prints the phases' steps with the seconds after which each is ended
#
# Results are collected in GNOMON_GPU_DIR (/tmp/gnomon-gpu), where each phase finds those before it. After every step OUT has
# gpu.json, the log, and all other files as results.tar.gz, so a phase may be cut off. On a fresh machine GNOMON_GPU_EARLIER names
# the gpu.json to go on with. SCALE (21) is that of the R-MAT graph; PLANS names presets for the phase epochs instead of all.
#
# GNOMON_REHEARSE=1 takes an emulated device in the GPU's place, and rehearse.py that of NVIDIA's tools: the same files, marked as
# those of a rehearsal.
set -uo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export GNOMON_HISTORY=off # no prediction learns from the runs that it is held against
readonly kit phase=${1:?which phase} rehearse=${GNOMON_REHEARSE:-}
readonly scale=${SCALE:-$([[ $rehearse ]] && echo 12 || echo 21)} dir=${GNOMON_GPU_DIR:-/tmp/gnomon-gpu}
readonly store=${GNOMON_GPU_STORE:-/tmp/gnomon-rmat$scale} device=$([[ $rehearse ]] && echo emulated:aws-g5.2xlarge || echo gpu)
out=

# tool NAME: how one of NVIDIA's tools, or a program that needs a GPU, is called.
tool() {
  if [[ $rehearse ]]; then
    printf '%s\n' python3 "$kit/rehearse.py" "${1##*/}"
  else
    printf '%s\n' "$1"
  fi
}
mapfile -t bench_gpu < <(tool "$kit/bin/bench_gpu")
mapfile -t nvidia_smi < <(tool nvidia-smi)
mapfile -t ncu < <(tool ncu)
mapfile -t sanitizer < <(tool compute-sanitizer)

log() { printf '%s %s\n' "$(date +%T)" "$*" | tee -a "$dir/log"; }

# Brings what there is to OUT.
collect() {
  # In one step each: whoever cuts the phase off keeps the rows before.
  [[ ! -e $dir/gpu.json ]] || { cp "$dir/gpu.json" "$out/gpu.tmp" && mv "$out/gpu.tmp" "$out/gpu.json"; }
  cp "$dir/log" "$out/"
  tar -C "$dir" --exclude=./work --exclude=./*.pid -czf "$out/results.tmp" . 2>/dev/null && mv "$out/results.tmp" "$out/results.tar.gz"
}

# limited NAME SECONDS COMMAND…: in the background, in a process group of its own, ended after that time. NAME.pid keeps the group.
limited() {
  local name=$1 limit=$2
  shift 2
  timeout -k 5 "$limit" stdbuf -oL "$@" >"$dir/$name.log" 2>&1 &
  printf '%s\n' $! >"$dir/$name.pid"
}

# Ends what is running still, of this phase or of one that was killed.
end_running() {
  local file group
  for file in "$dir"/*.pid; do
    [[ -e $file ]] || continue
    group=$(<"$file")
    # A number may belong to another process by now.
    [[ $(tr '\0' ' ' <"/proc/$group/cmdline" 2>/dev/null) != timeout* ]] || kill -KILL -- "-$group"
    rm -f "$file"
  done
}

# step NAME SECONDS COMMAND…: its output in NAME.log, its status and time in phases.jsonl. A command that takes longer is ended,
# so that the next ones get their turn.
step() {
  local name=$1 limit=$2 begin=$SECONDS status=0
  shift 2
  if [[ $phase == limits ]]; then
    printf '%s %s %s\n' "$listed" "$name" "$limit"
    return
  fi
  log "$name: $*"
  limited "$name" "$limit" "$@"
  wait $! || status=$?
  rm -f "$dir/$name.pid"
  printf '{"phase": "%s", "step": "%s", "status": %d, "seconds": %d, "limit": %d}\n' "$phase" "$name" "$status" \
    $((SECONDS - begin)) "$limit" >>"$dir/phases.jsonl"
  log "$name: status $status after $((SECONDS - begin)) s: $(tail -n 1 "$dir/$name.log" | cut -c1-160)"
  collect
}

readonly generate=("$kit/bin/gnomon" generate rmat "$store" --scale "$scale" --train-share 0.1 --valid-share 0.001)
# Only on a machine that did not run the phase tests.
make_store() {
  [[ $phase == limits || -e $store/meta.json ]] || { rm -rf "$store"; step store 150 "${generate[@]}"; }
}

# rows LIMIT WHAT OPTIONS…: measure.py, which ends by itself before the limit.
rows() {
  local limit=$1 what=$2 name=${rows_name:-$2}
  shift 2
  step "$name" "$limit" python3 "$kit/measure.py" "$what" --output "$dir/gpu.json" --copy "$out/gpu.json" --seconds $((limit - 8)) "$@"
}
readonly job=(--gnomon "$kit/bin/gnomon" --device "$device" --store "$store" --profile-seconds "${PROFILE_SECONDS:-10}")

# bench NAME LIMIT FILTER: a group of benchmarks, and its rows directly after it.
bench() {
  step "bench_$1" "$2" "${bench_gpu[@]}" --benchmark_filter="$3" --benchmark_format=console --benchmark_out="$dir/bench_$1.json" \
    --benchmark_repetitions=3 --benchmark_min_time=0.3
  rows_name=rows_$1 rows 10 kernels --bench "$dir/bench_$1.json"
}

# tell_facts KIT DIR TORCH NVIDIA_SMI…: the machine, and libraries that the kit would miss.
tell_facts() {
  local kit=$1 dir=$2 torch=$3
  shift 3
  { "$@"; "$@" -q -d MEMORY,CLOCK; nproc; free -g; df -h /tmp; } >"$dir/facts.txt" 2>&1
  ldd "$kit"/bin/* ${torch:+"$torch/lib/libtorch_cuda.so"} 2>/dev/null | grep 'not found' | sort -u >"$dir/missing.txt"
  [[ ! $torch ]] || sed -n "s/^git_version = '\(.*\)'/\1/p" "$torch/version.py" | diff - "$kit/torch_git_version" >"$dir/torch_differs.txt" ||
    echo 'LibTorch is not the one that the kit was linked with'
}

# The tests of kernels and devices, and compute-sanitizer on their contracts: plain allocations instead of LibTorch's pool, or
# accesses beyond a tensor stay unseen; statistical tests ask for the same accesses, many times more.
check_together() {
  local sanitize=(env PYTORCH_NO_CUDA_MEMORY_CACHING=1 "${sanitizer[@]}" --error-exitcode 9) third commands=()
  commands+=(test_kernels_cuda "$kit/bin/test_kernels_cuda" --gtest_output="json:$dir/test_kernels_cuda.json"
    :: test_runtime_gpu "$kit/bin/test_runtime" --gtest_filter='*Cuda*:*Gpu*:*GPU*' --gtest_output="json:$dir/test_runtime.json" --gtest_brief=1
    :: initcheck "${sanitize[@]}" --tool initcheck "$kit/bin/test_kernels_cuda" --gtest_filter='*SamplerContract*Equals*:*SamplerContract*Same*:*Gather*'
    :: memcheck_device "${sanitize[@]}" --leak-check no "$kit/bin/test_runtime" --gtest_filter='Cuda/DeviceContract*:GpuTest.Prepares*' --gtest_brief=1)
  for third in 0 1 2; do
    commands+=(:: "memcheck_$third" env GTEST_TOTAL_SHARDS=3 GTEST_SHARD_INDEX=$third "${sanitize[@]}" --leak-check no "$kit/bin/test_kernels_cuda"
      --gtest_filter='*Contract*-*Likely*:*Weighted*:*Independent*:*Hub*')
  done
  step together 240 python3 "$kit/together.py" "$dir" "${commands[@]}"
}

run_tests() {
  local generator=
  if [[ $phase != limits ]]; then
    [[ -e $store/meta.json ]] || { rm -rf "$store"; limited generate 175 "${generate[@]}"; generator=$!; }
  fi
  step facts 40 bash -c "$(declare -f tell_facts); tell_facts \"\$@\"" - "$kit" "$dir" "${torch:-}" "${nvidia_smi[@]}"
  [[ $phase == limits || ! -s $dir/missing.txt ]] || log "missing: $(paste -sd' ' "$dir/missing.txt")"
  bench link 20 '^copy_to_device'
  check_together
  [[ ! $generator ]] || { wait "$generator" && rm "$dir/generate.pid"; } || log "no store: $(tail -n 1 "$dir/generate.log")"
}

run_kernels() {
  bench gather_link 45 '^gather/over_link:1/.*/share:100/'
  bench gather_table 30 '^gather_table/'
  bench gather_device 25 '^copy_within_device|^gather/over_link:0'
  bench sample_20 25 '^sample/.*scale:20'
  make_store
  rows 55 launches "${job[@]}" --counted "$kit/launches.json" --calls "$kit/lib/libgnomon_cuda_calls.so"
  bench gather_share 30 '^gather/over_link:1/.*/share:[0-9][0-9]?/'
  bench sample_store 50 "^sample/.*scale:$([[ $scale == 24 ]] && echo 24 || echo 22)"
  step kernel_times 30 env CUDA_INJECTION64_PATH="$kit/lib/libgnomon_cuda_kernels.so" GNOMON_CUDA_KERNELS="$dir/kernel_times.json" \
    "$kit/bin/gnomon" train "$store" --fanouts 15,10,5 --hidden 256 --epochs 2 --evaluate-every never --device "$device" --plan device \
    --run "$dir/work/times" --overwrite
  rows_name=kernel_rows rows 10 times "${job[@]}" --times "$dir/kernel_times.json"
  step ncu 45 "${ncu[@]}" --target-processes all --clock-control none --set basic --launch-skip 400 --launch-count 100 -f -o "$dir/epoch" "$kit/bin/gnomon" \
    train "$store" --fanouts 15,10,5 --hidden 256 --epochs 1 --evaluate-every never --device "$device" --plan dgl-uva --run "$dir/work/ncu" --overwrite
  step ncu_text 15 "${ncu[@]}" --import "$dir/epoch.ncu-rep" --page raw --csv
}

run_epochs() {
  make_store
  rows_name=presets rows 170 presets "${job[@]}" --memory 1 ${PLANS:+--plans "$PLANS"}
  rows_name=presets_half rows 140 presets "${job[@]}" --memory 0.5 ${PLANS:+--plans "$PLANS"}
}

run_tuning() {
  make_store
  rows 140 autotune "${job[@]}"
  rows 55 predictions "${job[@]}"
  rows 40 graphs "${job[@]}"
  rows 60 shares "${job[@]}"
  rows 110 cores "${job[@]}"
}

run_peers() {
  make_store
  step peers 200 env PYTHONPATH="$kit/python" GNOMON_LIBRARY="$kit/lib/libgnomon.so" python3 "$kit/pyg_peer.py" --gnomon "$kit/bin/gnomon" \
    --device "$device" --store "$store" --workers "${WORKERS:-4,8,12}" --seconds 190 --output "$dir/gpu.json" --copy "$out/gpu.json"
}

torch=
readonly phases=(tests kernels epochs tuning peers)
if [[ $phase == limits ]]; then
  for listed in "${phases[@]}"; do
    "run_$listed"
  done
  exit
fi
[[ " ${phases[*]} " == *" $phase "* ]] || { printf '%s: no phase %s\n' "$0" "$phase" >&2; exit 2; }
out=${2:?where to}
mkdir -p "$out" "$dir"
torch=$(python3 -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])' 2>/dev/null) || [[ $rehearse ]] ||
  { printf '%s: python3 has no torch\n' "$0" >&2; exit 2; }
nvidia=$(find "$(dirname "${torch:-/none/torch}")/nvidia" -maxdepth 3 -type d -name lib 2>/dev/null | paste -sd:)
export LD_LIBRARY_PATH=$kit/lib${torch:+:$torch/lib}${nvidia:+:$nvidia}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
[[ -e $dir/gpu.json || ! ${GNOMON_GPU_EARLIER:-} ]] || cp "$GNOMON_GPU_EARLIER" "$dir/gpu.json"
end_running
trap 'end_running; log "$phase: cut off"; collect; exit 143' TERM INT
log "$phase begins, the store is $store"
"run_$phase"
log "$phase ends after $SECONDS s"
collect
