#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compute-sanitizer over the kernels of the Hopper path on a GPU: memcheck and racecheck, on cases that launch every variant (types,
# padded head dimensions, masks, V without its mean) and go round every ring. From the root of the checkout:
#
#     tests/sage3/sanitize.sh build/dev/warpwright [compute-sanitizer]
#
# Exit code 0: both clean, and each has found the fault that is planted for it; 1: not so; 77: no GPU of sm_90. compute-sanitizer
# comes with the CUDA toolkit, or as pip install nvidia-cuda-sanitizer-api.
#
# What a clean run does not say:
# - racecheck follows accesses of threads to shared memory. It has no support for wgmma (NVIDIA's options give that to memcheck
#   and synccheck alone), so tiles of Q, K and V, which only wgmma reads, are never in a hazard: neither a read before the
#   bulk copy has come nor a copy over what is still read shows. Seen are mbarriers, the rows of ones and the staging of O.
# - It takes the issuing thread for the writer of a bulk copy, and does not always see that an mbarrier's bytes order it before
#   other warps' reads: a report against a plain load of such a tile may be wrong (flash-attention has notes on such). None here is loaded so.
# - Lanes of a warp that pass data to each other through stmatrix and a load, without a bar.warp.sync, are no hazard to it (tried).
# - It does not know proxies: a missing fence.proxy.async, or wgmma.fence, is no hazard to it. Global memory it does not follow.
# - It counts mbarriers by what the compiler says, which for PTX in asm is nothing: hence --num-cuda-barriers.
# - memcheck knows allocations. The ladder's stages have guard zones around their tensors, within one allocation, and judge
#   these themselves; in the call through the C API at the end of each chain every buffer but the workspace's is one.
# All of this is what warpwright's own race checker does on the emulator (docs/memory_model.md), on every case.
set -u
warpwright=$(realpath "${1:?usage: sanitize.sh WARPWRIGHT [COMPUTE-SANITIZER]}")
sanitizer=${2:-compute-sanitizer}
command -v "$sanitizer" >/dev/null || { echo "no $sanitizer: name it as the second argument"; exit 1; }
"$warpwright" check kernels/sage3_hopper --on cuda --case one --rung "compile/*" >/dev/null
[ $? -ne 77 ] || { echo "no GPU of sm_90"; exit 77; }

kFound=86
# A chain is every stage, one by one, and then the C API.
run() {  # TOOL PORT CASES
    options="--padding 512 --report-api-errors no"  # a kernel's parameters are counted until the driver says that there are no more
    [ "$1" = racecheck ] && options="--racecheck-report all --num-cuda-barriers 16"
    "$sanitizer" --tool "$1" --error-exitcode $kFound --print-limit 20 $options \
        "$warpwright" check "$2" --on cuda --keep-going --rung "chain/*" --case "$3"
}

# The tool must see something: a copy of the port with a fault.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
plant() {  # NAME FILE SED-SCRIPT
    mkdir -p "$scratch/$1/tests"
    cp -r kernels "$scratch/$1/" && cp -r tests/data "$scratch/$1/tests/"
    sed -i "$3" "$scratch/$1/kernels/sage3/$2"
    ! cmp -s "kernels/sage3/$2" "$scratch/$1/kernels/sage3/$2" || { echo "nothing to plant in $2"; exit 1; }
}
plant racecheck sage3_sequence.cuh 's/ptx::bar_sync(0);//'
plant memcheck sage3_epilogue.cuh 's/(work.queries.first + query) \* p.o_token/((1ll << 40) + query) * p.o_token/'

failed=0
for tool in memcheck racecheck; do
    run $tool "$scratch/$tool/kernels/sage3_hopper" small >"$scratch/log" 2>&1
    if [ $? -eq $kFound ]; then
        echo "$tool finds the planted fault"
    else
        echo "FAIL $tool does not find the planted fault:"
        tail -5 "$scratch/log"
        failed=1
    fi
    for cases in small bf16_causal "d*6*" ring ring_128 ring_256 "packed*" "mask*" "smooth*"; do
        run $tool kernels/sage3_hopper "$cases" >"$scratch/log" 2>&1
        code=$?
        if [ $code -eq 0 ]; then
            echo "$tool $cases: clean; $(grep -E "SUMMARY" "$scratch/log" | tail -1)"
        else
            echo "FAIL $tool $cases: exit code $code"
            grep -E "^=========|FAIL|^error" "$scratch/log" | head -40
            failed=1
        fi
    done
done
exit $failed
