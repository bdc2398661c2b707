#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants one fault at a time in a copy of a port and looks at what `check` says about it.

usage: planted_faults_test.py WARPWRIGHT SOURCE_FOLDER PORT
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMMON, PLAIN = "softmax/softmax_common.cuh", "softmax/softmax_plain.cu"
CP_ASYNC, EXP2, PORT = "softmax/softmax_cp_async.cu", "common/exp2_fma.cuh", "softmax/port.toml"

SMOOTH, ATTENTION, TILE = "sage3/sage3_smooth.cuh", "sage3/sage3_attention.cuh", "sage3/sage3_tile.cuh"
SEQUENCE = "sage3/sage3_sequence.cuh"
MASK, PARAMS, EPILOGUE = "sage3/sage3_mask.cuh", "sage3/sage3_params.cuh", "sage3/sage3_epilogue.cuh"

# name, file, text, its replacement, and what must come out: rung (a prefix), kind of failure, and
# where it applies output, its least relative L2 error, tap, or the text of the source line that wrote
# the wrong element. "options": of check.
SOFTMAX = [
    ("bf16 output a bit up", COMMON, "params.p_bf16[at] = ptx::cvt_rn_bf16_f32(p);",
     "params.p_bf16[at] = ptx::cvt_rn_bf16_f32(p) + 1;",
     {"rung": "stage/plain/softmax/", "kind": "wrong", "output": "p_bf16", "tap": "",
      "line": "params.p_bf16[at]"}),
    ("f32 output halved", COMMON, "params.p_f32[at] = p;", "params.p_f32[at] = p * 0.5f;",
     {"rung": "stage/plain/softmax/", "kind": "wrong", "output": "p_f32", "tap": "",
      "line": "params.p_f32[at]"}),
    ("a coefficient of 2^x", EXP2, "0x1.c6aee8p-5f", "0x1.d6aee8p-5f",
     {"rung": "stage/plain/softmax/odd", "kind": "wrong", "output": "p_f32", "tap": "row_sum"}),
    ("log2(e)", COMMON, "1.44269504f", "1.44369504f",
     {"rung": "stage/plain/softmax/odd", "kind": "wrong", "tap": "row_max"}),
    ("one shuffle step of the maximum", COMMON, "for (int mask = 16; mask > 0; mask >>= 1)\n        value = ptx::max",
     "for (int mask = 16; mask > 1; mask >>= 1)\n        value = ptx::max",
     {"rung": "stage/plain/softmax/", "kind": "wrong", "tap": "row_max"}),
    ("the mask off by one", COMMON, "return last < 0 ? 0u : static_cast<unsigned>(last) + 1u;",
     "return last < 0 ? 0u : static_cast<unsigned>(last);",
     {"rung": "stage/plain/softmax/causal", "kind": "wrong"}),
    ("the masked part not written", PLAIN, "j = visible + threadIdx.x; j < lk",
     "j = visible + threadIdx.x + 1; j < lk",
     {"rung": "stage/plain/softmax/causal", "kind": "unwritten"}),
    ("a write behind the end", PLAIN, "j = visible + threadIdx.x; j < lk",
     "j = visible + threadIdx.x; j < lk + 1",
     {"rung": "stage/plain/softmax/", "kind": "out_of_bounds"}),
    ("an input overwritten", PLAIN, "const float inverse = reciprocal(sum);",
     "const float inverse = reciprocal(sum); if (row == 3) const_cast<Bf16*>(scores)[0] = 7;",
     {"rung": "stage/plain/softmax/odd", "kind": "input_modified", "line": "const_cast"}),
    ("a read of what nobody wrote", PLAIN, "float max = minus_infinity();",
     "float max = p_f32[first];", {"rung": "stage/plain/softmax/", "kind": "stopped"}),
    ("the tail not staged", CP_ASYNC, "if (t < step.count - tail)", "if (t + 1 < step.count - tail)",
     {"rung": "stage/cp_async/softmax/"}),
    ("taps that change the output", COMMON, "        params.row_sum[row] = sum;",
     "        params.row_sum[row] = sum;\n        params.p_f32[0] = 0.0f;",
     {"rung": "taps/plain/softmax/", "kind": "taps_change_output"}),
    ("a tap that is wrong", COMMON, "params.row_max[row] = max;", "params.row_max[row] = max + 1.0f;",
     {"rung": "taps/plain/softmax/", "kind": "wrong", "tap": "row_max", "line": "params.row_max"}),
    ("code that does not compile", PLAIN, "const float inverse", "const flaot inverse",
     {"rung": "compile/plain/softmax", "kind": "compile"}),
    ("an argument too few", PORT, '"scale", "causal"]\ntaps', '"scale"]\ntaps',
     {"rung": "arguments/plain/softmax", "kind": "arguments", "exit": 2}),
]


# What makes Sage Attention 3 right, taken away: each must be found. The first two are the original's bugs.
SAGE3 = [
    ("the mask by permuted columns", MASK, "static_cast<unsigned>(key_of(at, first_key, j, c))",
     "static_cast<unsigned>(first_key + j * 8 + at.t * 2 + c % 2)",
     {"options": ["--case", "*causal*"], "rung": "stage/fp4/attention/", "kind": "wrong", "tap": "s"}),
    ("the second key tile dropped", ATTENTION, "multiply_p_v<kDepth>(probabilities, stage, lane, r.o);",
     "if (tile != 1) multiply_p_v<kDepth>(probabilities, stage, lane, r.o);",
     {"options": ["--case", "x3"], "rung": "stage/fp4/attention/", "kind": "wrong", "tap": "o_tile"}),
    ("K modified in place", SMOOTH, "out[i] = narrow<T>(",
     "out[i] = const_cast<T*>(x.row(tile.sequence.batch, head, tile.token(i / depth)))[channel] = narrow<T>(",
     {"options": ["--case", "small"], "rung": "stage/fp4/smooth_", "kind": "input_modified"}),
    ("K modified in place, in the chain", SMOOTH, "out[i] = narrow<T>(",
     "out[i] = const_cast<T*>(x.row(tile.sequence.batch, head, tile.token(i / depth)))[channel] = narrow<T>(",
     {"options": ["--case", "small", "--rung", "chain/*"], "rung": "chain/fp4/small",
      "kind": "input_modified"}),
    ("the output off by 0.1 %", EPILOGUE, "d[i] = pack<T>(x[0], x[1]);",
     "d[i] = pack<T>(1.001f * x[0], 1.001f * x[1]);",
     {"options": ["--case", "x3"], "rung": "taps/fp4/attention/x3", "kind": "wrong", "output": "o"}),
    ("a rescale that is rounded away", ATTENTION, "r.o[j][x] = ptx::mul_rn_f32(r.o[j][x], rescale[x / 2]);",
     "r.o[j][x] = ptx::mul_rn_f32(r.o[j][x], rescale[x / 2] > 0.75f ? 1.0f : rescale[x / 2]);",
     {"options": ["--case", "long"], "rung": "stage/fp4/attention/long", "kind": "wrong",
      "tap": "o_tile"}),
    ("P quantised directly", TILE, "constexpr float kLog2Largest = 8.80735492f;",
     "constexpr float kLog2Largest = -2.58496250f;",
     {"options": ["--case", "sinks", "--rung", "stage/*"], "rung": "stage/fp4/attention/sinks",
      "kind": "wrong", "output": "o", "tap": "p_scales"}),
    ("K with biased channels not smoothed", SEQUENCE, "sequence.length == 0 ? 0.0f : ptx::div_rn_f32(",
     "sequence.length == 0 ? 0.0f : 0.0f * ptx::div_rn_f32(",
     {"options": ["--case", "biased", "--rung", "chain/*"], "rung": "chain/fp4/biased", "kind": "wrong",
      "output": "o", "relative_l2": 0.3}),
    ("a window one key too wide", PARAMS, "const int begin = diagonal - p.left,", "const int begin = diagonal - p.left - 1,",
     {"options": ["--case", "window*", "--rung", "stage/*"], "rung": "stage/fp4/attention/window", "kind": "wrong", "tap": "s"}),
    ("tiles outside of the window visited", PARAMS, "out.count = out.last - out.first + 1;",
     "out.first = 0; out.count = out.last + 1;",
     {"options": ["--case", "window_causal_128", "--rung", "taps/*"], "rung": "taps/fp4/attention/window", "kind": "wrong"}),
    ("packed keys beyond their sequence", PARAMS, "return {begin < 0 ? 0 : begin, end < lk ? end : lk};",
     "return {begin < 0 ? 0 : begin, end < p.keys.longest ? end : p.keys.longest};",
     {"options": ["--case", "packed_window*", "--rung", "stage/*"], "rung": "stage/fp4/attention/packed", "kind": "wrong", "tap": "s"}),
    ("a mask that is not divided by the scale", MASK, "p.mask_scale, to);", "1.0f, to);",
     {"options": ["--case", "mask_added", "--rung", "stage/*"], "rung": "stage/fp4/attention/mask_added", "kind": "wrong", "tap": "s"}),
    ("a mean of V that does not come back", EPILOGUE, "p.v_mean ? p.v_mean +", "false ? p.v_mean +",
     {"options": ["--case", "smooth_v"], "rung": "stage/fp4/attention/smooth_v", "kind": "wrong", "output": "o"}),
    ("work left out", ATTENTION, "item.number < items; item.next()", "item.number < items - 1; item.next()",
     {"options": ["--case", "gqa_9_3", "--rung", "stage/*"], "rung": "stage/fp4/attention/gqa_9_3"}),
]


def line_of(path, number):
    return pathlib.Path(path).read_text("utf-8").split("\n")[number - 1]


def check(program, port, options):
    command = [program, "check", str(port), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if not done.stdout:
        sys.exit(f"no report: {done.stderr}")
    return done.returncode, json.loads(done.stdout)


def problems(want, code, report):
    """What differs from what was wanted."""
    found = []
    if report["verdict"] != "fail":
        return ["the fault was not found"]
    if code != want.get("exit", 1):
        found.append(f"exit code {code}")
    rung = report["rungs"][-1]
    failure = rung["failure"]
    if not rung["name"].startswith(want["rung"]):
        found.append(f"failed at {rung['name']}: {failure['message']}")
    errors = [each["relative_l2"] for each in rung["metrics"] if each["output"] == failure["output"]]
    if "relative_l2" in want and max(errors, default=0) < want["relative_l2"]:
        found.append(f"the relative L2 error is only {errors}")
    for key in ("kind", "output", "tap"):
        if key in want and failure[key] != want[key]:
            found.append(f"{key} is {failure[key]!r}: {failure['message']}")
    if "line" in want:
        writer = failure.get("written_by")
        if not writer or not writer["source_file"]:
            found.append("nobody is said to have written it")
        elif want["line"] not in line_of(writer["source_file"], writer["source_line"]):
            found.append(f"written by {writer['source_file']}:{writer['source_line']}")
    return found


def main():
    program, source, port = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    faults = {"softmax": SOFTMAX, "sage3": SAGE3}[port]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tests").mkdir()
        shutil.copytree(source / "tests" / "data", folder / "tests" / "data")
        for title, file, text, replacement, want in faults:
            shutil.rmtree(folder / "kernels", ignore_errors=True)
            shutil.copytree(source / "kernels", folder / "kernels")
            target = folder / "kernels" / file
            before = target.read_text("utf-8")
            if text not in before:
                sys.exit(f"{title}: {file} no longer has {text!r}")
            target.write_text(before.replace(text, replacement, 1), "utf-8")
            found = problems(want, *check(program, folder / "kernels" / port, want.get("options", [])))
            print(f"{'FAIL' if found else 'pass'}  {title}" + "".join(f"\n      {f}" for f in found))
            failed += bool(found)
    print(f"{len(faults) - failed} of {len(faults)} planted faults were found where they are")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
