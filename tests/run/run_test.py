#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`warpwright run` on programs that nvcc makes from programs/*.cu.

    run_test.py basics|compressed|fault|race|replace|static|target PROGRAM

Exit code 77: no nvcc, or no shared CUDA runtime to link with.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ARCH = "-gencode=arch=compute_90a,code=compute_90a"


def nvcc():
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    for root in filter(None, roots):
        root = pathlib.Path(root)
        if (root / "bin" / "nvcc").is_file() and list(root.glob("lib*/libcudart.so.13")):
            return str(root / "bin" / "nvcc")
    print(f"skipped: no nvcc with libcudart.so.13 in {', '.join(filter(None, roots))}")
    sys.exit(77)


def compiled(folder, name, *options):
    made = pathlib.Path(folder) / name
    subprocess.run([nvcc(), "-std=c++17", "-lineinfo", *options, HERE / "programs" / f"{name}.cu",
                    "-o", made], check=True)
    return made


def run(warpwright, *words):
    return subprocess.run([warpwright, "run", *words], capture_output=True, text=True)


def expect(done, code, *texts):
    print(done.stdout, done.stderr)
    if done.returncode != code:
        sys.exit(f"exit code {done.returncode} instead of {code}")
    both = done.stdout + done.stderr
    for text in texts:
        if text not in both:
            sys.exit(f"lacks '{text}'")


def document(warpwright, *words):
    done = run(warpwright, "--json", *words)
    return done.returncode, json.loads(done.stdout)


def basics(warpwright, folder):
    program = compiled(folder, "basics", "-cudart=shared", "--no-compress", ARCH)
    expect(run(warpwright, program), 0, "all right", "cudaGraphCreate: not supported",
           "pass: exit code 0, ", "0 races, 0 faults")
    code, report = document(warpwright, "--multiprocessors", "7", program)
    assert code == 0 and report["verdict"] == "pass", report
    assert report["target"] == "sm_90a" and report["multiprocessors"] == 7, report
    assert len(report["launches"]) == 7 and report["launches"][6]["cluster"] == [4, 1, 1], report
    assert report["modules"][0]["unsupported"] == [], report
    kept = pathlib.Path(folder) / "kept"
    kept.mkdir()
    expect(run(warpwright, "--keep", kept, "--check", "none", program), 0, "all right")
    assert ".target sm_90a" in (kept / "basics.1.ptx").read_text()


def compressed(warpwright, folder):
    """As nvcc leaves it without further options: zstd, or a message with the way out."""
    program = compiled(folder, "basics", "-cudart=shared", ARCH)
    done = run(warpwright, program)
    if done.returncode == 0:
        expect(done, 0, "all right")
    else:
        expect(done, 1, "there is no libzstd.so.1 here: compile with nvcc --no-compress")


def fault(warpwright, folder):
    program = compiled(folder, "fault", "-cudart=shared", "--no-compress", ARCH)
    line = 1 + (HERE / "programs" / "fault.cu").read_text()[:].split("// the fault")[0].count("\n")
    expect(run(warpwright, program), 1, "cudaErrorLaunchFailure, cudaErrorLaunchFailure",
           f"fault.cu:{line}", "0 bytes past the end of allocation", "thread (40,0,0)", "1 faults")
    code, report = document(warpwright, program)
    assert code == 1 and report["verdict"] == "fail" and report["exit_code"] == 0, report
    assert "overrun" in report["faults"][0]["kernel"], report


def race(warpwright, folder):
    program = compiled(folder, "race", "-cudart=shared", "--no-compress", ARCH)
    line = 1 + (HERE / "programs" / "race.cu").read_text().split("// the race")[0].count("\n")
    expect(run(warpwright, program), 1, "128\n", f"race.cu:{line}", "fail: exit code 0, 1 launches")
    expect(run(warpwright, "--check", "none", program), 0, "128\n", "0 races")
    code, report = document(warpwright, program)
    assert code == 1 and report["races"][0]["level"] == "error", report


def replace(warpwright, folder):
    """Another PTX in the place of the program's: its own, and without its store of the sum."""
    program = compiled(folder, "race", "-cudart=shared", "--no-compress", ARCH)
    expect(run(warpwright, "--keep", folder, "--check", "none", program), 0, "128\n")
    kept = pathlib.Path(folder) / "race.1.ptx"
    text = kept.read_text()
    changed = pathlib.Path(folder) / "changed.ptx"
    changed.write_text(re.sub(r"st\.global\.\w+[^;]*;", "", text))
    assert changed.read_text() != text
    expect(run(warpwright, "--ptx", kept, "--check", "none", program), 0, "128\n")
    expect(run(warpwright, "--ptx", kept, program), 1, "race.cu:", "fail: exit code 0, 1 launches")
    code, report = document(warpwright, "--ptx", changed, "--check", "none", program)
    assert code == 1 and report["exit_code"] == 1, report
    assert report["replaced"][0]["file"] == report["modules"][0]["name"] == str(changed), report
    changed.write_text(text.replace("_Z3sumPKiPi", "other"))
    expect(run(warpwright, "--ptx", changed, program), 2, "no module that", "has a kernel of that name")
    changed.write_text(text.replace("ret;", "ret"))
    expect(run(warpwright, "--ptx", changed, program), 2, "changed.ptx:")
    changed.write_text(text.split(".visible")[0])
    expect(run(warpwright, "--ptx", changed, program), 2, "it has no kernel")
    expect(run(warpwright, "--ptx", folder + "/nothing", program), 2, "nothing")


def static(warpwright, folder):
    """A program with NVIDIA's runtime inside cannot be helped; and words that are wrong."""
    program = compiled(folder, "race", "--no-compress", ARCH)
    expect(run(warpwright, program), 2, "compile it with nvcc 13 and -cudart shared")
    expect(run(warpwright, folder + "/nothing"), 2, "cannot run")
    expect(run(warpwright), 2, "which program?")
    expect(run(warpwright, "--tarrget", "sm_90a", program), 2, "unknown option '--tarrget'")
    expect(run(warpwright, "--target", "sm_9o", program), 2, "sm_9o")


def target(warpwright, folder):
    program = compiled(folder, "race", "-cudart=shared", "--no-compress",
                       "-gencode=arch=compute_120a,code=compute_120a",
                       "-gencode=arch=compute_80,code=compute_80")
    code, report = document(warpwright, "--check", "none", program)
    assert code == 0 and report["target"] == "sm_120a", report
    code, report = document(warpwright, "--check", "none", "--target", "sm_90a", program)
    assert code == 0 and report["target"] == "sm_90a", report
    expect(run(warpwright, "--target", "sm_75", program), 1,
           "PTX for sm_120a, sm_80, none for sm_75", "code=compute_75")


def main():
    subjects = {each.__name__: each for each in (basics, compressed, fault, race, replace, static, target)}
    if len(sys.argv) != 3 or sys.argv[1] not in subjects:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        subjects[sys.argv[1]](sys.argv[2], folder)


if __name__ == "__main__":
    main()
