#!/usr/bin/env bash
# Measures gnomon on a machine with a GPU, from the kit of bench/gpu/pack.sh (it lies in the kit). Each phase takes at most eight
# minutes on 16 cores, all together about 27 by estimate; everything that it finds is in OUT as soon as it is found, so a phase may
# be cut off.
#
#     kit/run.sh PHASE OUT
#
#   tests    facts, libraries that are missing, the tests of kernels and devices; generates the graph meanwhile  (~4 minutes)
#   memory   compute-sanitizer's memcheck and initcheck on the contracts of the kernels                          (~6 minutes)
#   kernels  bench_gpu, Nsight Compute over an epoch, and launches counted by Nsight Systems                     (~5 minutes)
#   epochs   every preset with all and with half of the memory, the fastest with recorded steps, autotune, validate
#                                                                                                                 (~8 minutes)
#   peers    the same model fed by PyTorch Geometric's NeighborLoader, and by gnomon's                           (~4 minutes)
#
# GNOMON_REHEARSE=1 takes an emulated device in the GPU's place and leaves out what needs NVIDIA's tools; SCALE (22) is that of
# the R-MAT graph, of 16 million edges at 20.
set -uo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly kit phase=${1:?which phase} out=${2:?where to} scale=${SCALE:-22} rehearse=${GNOMON_REHEARSE:-}
mkdir -p "$out"
device=$([[ $rehearse ]] && echo emulated:aws-g5.2xlarge || echo gpu)

torch=$(python3 -c 'import torch, os; print(os.path.dirname(torch.__file__))') || exit 2
nvidia=$(find "$(dirname "$torch")/nvidia" -maxdepth 3 -type d -name lib 2>/dev/null | paste -sd:)
export LD_LIBRARY_PATH=$kit/lib:$torch/lib${nvidia:+:$nvidia}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
readonly store=${GNOMON_GPU_STORE:-/tmp/gnomon-rmat$scale}

log() { printf '%s %s\n' "$(date +%T)" "$*" | tee -a "$out/log"; }

# timed NAME COMMAND…: its output in OUT/NAME.log, its status and time in OUT/phases.jsonl. A command that hangs is ended, so that
# the next ones get their turn.
step_limit=470
timed() {
  local name=$1 begin=$SECONDS status=0
  shift
  log "$name: $*"
  timeout -k 10 "$step_limit" "$@" >"$out/$name.log" 2>&1 || status=$?
  printf '{"step": "%s", "status": %d, "seconds": %d}\n' "$name" "$status" $((SECONDS - begin)) >>"$out/phases.jsonl"
  log "$name: status $status after $((SECONDS - begin)) s: $(tail -n 1 "$out/$name.log" | cut -c1-160)"
  return 0
}

make_store() {
  [[ -e $store/meta.json ]] || "$kit/bin/gnomon" generate rmat "$store" --scale "$scale" --train-share 0.1 --valid-share 0.001
}

case $phase in
  tests)
    step_limit=230
    make_store >"$out/generate.log" 2>&1 &
    { nvidia-smi; nvidia-smi -q -d MEMORY,CLOCK; nproc; free -g; } >"$out/facts.txt" 2>&1
    python3 -c 'import torch; print(torch.version.git_version)' | diff - "$kit/torch_git_version" >"$out/torch_differs.txt" ||
      log 'LibTorch is not the one that the kit was linked with'
    ldd "$kit"/bin/* "$torch/lib/libtorch_cuda.so" 2>/dev/null | grep 'not found' | sort -u >"$out/missing.txt"
    [[ ! -s $out/missing.txt ]] || log "missing: $(paste -sd' ' "$out/missing.txt")"
    timed test_kernels_cuda "$kit/bin/test_kernels_cuda" --gtest_output="json:$out/test_kernels_cuda.json" --gtest_brief=1
    timed test_runtime_gpu "$kit/bin/test_runtime" --gtest_filter='*Cuda*:*Gpu*:*GPU*' --gtest_output="json:$out/test_runtime.json" --gtest_brief=1
    wait
    ;;
  memory)
    step_limit=155
    # Plain allocations instead of LibTorch's pool, or accesses beyond a tensor stay unseen.
    export PYTORCH_NO_CUDA_MEMORY_CACHING=1
    check=$([[ $rehearse ]] && echo env || echo 'compute-sanitizer --error-exitcode 9 --leak-check no')
    timed memcheck $check "$kit/bin/test_kernels_cuda" --gtest_filter='*Contract*' --gtest_brief=1
    timed initcheck ${check/--leak-check no/--tool initcheck} "$kit/bin/test_kernels_cuda" --gtest_filter='*Sampl*' --gtest_brief=1
    timed memcheck_device $check "$kit/bin/test_runtime" --gtest_filter='Cuda/DeviceContract*:GpuTest.Prepares*' --gtest_brief=1
    ;;
  kernels)
    step_limit=230
    if [[ $rehearse ]]; then
      log 'kernels: bench_gpu and ncu need a GPU'
    else
      timed bench_gpu "$kit/bin/bench_gpu" --benchmark_format=console --benchmark_out="$out/bench_gpu.json" --benchmark_repetitions=3
      make_store >>"$out/generate.log" 2>&1
      timed ncu ncu --target-processes all --set basic --launch-skip 400 --launch-count 200 -f -o "$out/epoch" "$kit/bin/gnomon" train "$store" \
        --fanouts 15,10,5 --hidden 256 --epochs 1 --evaluate-every never --device gpu --plan dgl-uva
      timed ncu_text ncu --import "$out/epoch.ncu-rep" --page raw --csv
    fi
    timed rows python3 "$kit/measure.py" kernels --bench "$out/bench_gpu.json" --output "$out/gpu.json"
    timed launches python3 "$kit/measure.py" launches --gnomon "$kit/bin/gnomon" --device "$device" --store "$store" \
      --counted "$kit/launches.json" --output "$out/gpu.json"
    ;;
  epochs)
    make_store >>"$out/generate.log" 2>&1
    timed epochs python3 "$kit/measure.py" epochs --gnomon "$kit/bin/gnomon" --device "$device" --store "$store" --memory 1,0.5 \
      --seconds "${SECONDS_LIMIT:-460}" --output "$out/gpu.json"
    ;;
  peers)
    make_store >>"$out/generate.log" 2>&1
    timed peers env PYTHONPATH="$kit/python" GNOMON_LIBRARY="$kit/lib/libgnomon.so" python3 "$kit/pyg_peer.py" --gnomon "$kit/bin/gnomon" --device "$device" --store "$store" --output "$out/gpu.json"
    ;;
  *)
    log "no phase $phase"
    exit 2
    ;;
esac
