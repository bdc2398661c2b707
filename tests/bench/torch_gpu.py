# SPDX-License-Identifier: Apache-2.0
"""torch on a CUDA GPU, for the benchmarks beside this. Imported it ends the program with exit code 77 where there is none."""
import statistics
import subprocess
import sys

try:
    import torch
except ImportError:
    print("torch is not installed")
    sys.exit(77)
if not torch.cuda.is_available():
    print("torch sees no CUDA GPU")
    sys.exit(77)


def milliseconds(function, times):
    """Of one of so many calls in a row."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / times


def sustained(function, seconds):
    """Calls for so long: milliseconds of one in the second half, and the medians there of the clock in MHz and the power in W."""
    calls = max(2, int(seconds * 1000 / milliseconds(function, 5)))
    gpu = f"GPU-{torch.cuda.get_device_properties(torch.cuda.current_device()).uuid}"
    asked = subprocess.Popen(["nvidia-smi", "-i", gpu, "--query-gpu=clocks.sm,power.draw.instant", "--format=csv,noheader,nounits", "-lms", "100"],
                             stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(calls // 2):
            function()
        time = milliseconds(function, calls // 2)
    finally:
        asked.terminate()
    rows = [line.split(",") for line in asked.communicate()[0].splitlines() if line.count(",") == 1 and "[" not in line]
    late = rows[len(rows) // 2:-1] or [("nan", "nan")]
    return time, *(statistics.median(map(float, column)) for column in zip(*late))
