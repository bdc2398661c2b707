# SPDX-License-Identifier: Apache-2.0
"""torch on a CUDA GPU, for the benchmarks beside this. Imported it ends the program with exit code 77 where there is none."""
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
