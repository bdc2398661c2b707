#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpwright probe end to end: every look, keeping, checking, what no longer holds, what lacks a GPU."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from running import Port, as_json, expect, main, run  # noqa: E402

LANES = """// probe: launch 1 4
// probe: in base u32 7
// probe: out lanes u32 4
extern "C" __global__ void probe(const unsigned* base, unsigned* lanes) { lanes[threadIdx.x] = *base + 3 * threadIdx.x; }
"""
PRINTS = """extern "C" __global__ void probe() { printf("hello %d\\n", 7); }
"""
FUSED = """// probe: target sm_90a
// probe: sass FFMA FADD
.version 8.0
.target sm_90a
.address_size 64
.visible .entry probe(.param .u64 values) {
    .reg .b64 at;
    .reg .f32 a, b;
    ld.param.u64 at, [values];
    cvta.to.global.u64 at, at;
    ld.global.f32 a, [at];
    ld.global.f32 b, [at+4];
    mul.f32 a, a, b;
    add.f32 a, a, b;
    st.global.f32 [at], a;
    ret;
}
"""
NEWER = """// probe: target sm_80
// probe: compiles
extern "C" __global__ void probe(unsigned* out) { asm volatile("elect.sync _|%p0, 0xffffffff;"); *out = 1; }
"""
NEEDS = "// probe: needs cuda\n" + LANES


def write(port, name, text):
    (port / "probes").mkdir(exist_ok=True)
    (port / "probes" / name).write_text(text)
    return f"probes/{name}"


def test_every_look():
    with Port() as port:
        expect(run(port, "probe", "run", write(port, "lanes.cu", LANES)).stdout == "lanes[0] 7 10 13 16\n", "lanes")
        expect(run(port, "probe", "run", write(port, "prints.cu", PRINTS)).stdout == "hello 7\n", "printf")
        expect(run(port, "probe", "run", write(port, "fused.ptx", FUSED)).stdout == "FFMA 1\nFADD 0\n", "sass")
        refused = run(port, "probe", "run", write(port, "newer.cu", NEWER)).stdout
        expect(refused.startswith("sm_80: refused: "), refused)
        made = as_json(port, "probe", "run", "probes/lanes.cu", "--target", "sm_120a")
        expect(made == {"printed": "lanes[0] 7 10 13 16\n", "device": "Warpwright emulator (sm_120a)", "skipped": None}, made)


def test_keep_check_render():
    with Port() as port:
        (port / "README.md").write_text("# A port\n\n## Gotchas\n- by hand\n\n## More\n")
        write(port, "lanes.cu", LANES)
        run(port, "probe", "keep", "lanes", "--says", "lanes are three apart")
        (port / "elsewhere.ptx").write_text(FUSED)
        run(port, "probe", "keep", "fused", "--says", "mul and add become one", "--file", "elsewhere.ptx")
        made = as_json(port, "probe", "check")
        expect(made == {"gotchas": [{"name": "lanes", "says": "lanes are three apart", "status": "holds"},
                                    {"name": "fused", "says": "mul and add become one", "status": "holds"}]}, made)
        readme = (port / "README.md").read_text()
        expect("- by hand\n\n<!-- gotchas:" in readme and "- **fused**: mul and add become one ([probes/fused.ptx]" in readme, readme)
        expect(readme.endswith("<!-- /gotchas -->\n\n## More\n"), readme)
        made = as_json(port, "probe", "render")
        expect(made == {"file": "README.md", "gotchas": 2}, made)
        expect(run(port, "probe", "render").stdout == "README.md: 2 gotchas\n", "render")
        # The probe prints something else now; the other one no longer compiles.
        write(port, "lanes.cu", LANES.replace("3 *", "4 *"))
        write(port, "fused.ptx", FUSED.replace("mul.f32", "mull.f32"))
        done = run(port, "probe", "check", code=1)
        expect("fails    lanes" in done.stdout and "kept      lanes[0] 7 10 13 16" in done.stdout
               and "now       lanes[0] 7 11 15 19" in done.stdout, done.stdout)
        expect("fails    fused" in done.stdout and "2 gotchas: 0 hold, 2 fail, 0 skipped" in done.stdout, done.stdout)
        expect([each["status"] for each in as_json(port, "probe", "check", code=1)["gotchas"]] == ["fails", "fails"], "json")
        expect(as_json(port, "probe", "check", "--only", "l*", code=1)["gotchas"][0]["name"] == "lanes", "--only")
        # Kept anew, it holds; its place in the file is the old one.
        run(port, "probe", "keep", "lanes", "--says", "lanes are four apart")
        run(port, "probe", "check", "--only", "lanes")
        text = (port / "probes/gotchas.txt").read_text()
        expect(text.index("lanes says") < text.index("fused says") and "three apart" not in text, text)


def test_what_needs_a_gpu():
    with Port() as port:
        write(port, "clock.cu", NEEDS)
        run(port, "probe", "run", "probes/clock.cu", code=None)
        line = "clock {} {}\n"
        fields = {"says": "x", "file": "clock.cu", "target": "sm_10", "printed": "y", "date": "2026-11-30"}
        (port / "probes/gotchas.txt").write_text("".join(line.format(*each) for each in fields.items()))
        # No GPU is an sm_10, so this is skipped everywhere.
        expect([each["status"] for each in as_json(port, "probe", "check", code=77)["gotchas"]] == ["skipped"], "skipped")
        write(port, "lanes.cu", LANES)
        run(port, "probe", "keep", "lanes", "--says", "z")
        run(port, "probe", "check")
        done = run(port, "probe", "keep", "clock", "--says", "x", "--target", "sm_10", code=2)
        expect("it did not run, so nothing is proved" in done.stderr, done.stderr)


def test_what_is_wrong_is_said():
    with Port() as port:
        for name, text, said in (("none.cu", "// probe: out a u32 1\n", "no kernel"),
                                 ("two.cu", 'extern "C" __global__ void a() {}\nextern "C" __global__ void b() {}\n', "entry NAME"),
                                 ("bad.cu", "// probe: lunch 1 1\n", "bad.cu:1: error"),
                                 ("few.cu", LANES.replace("// probe: in base u32 7\n", ""), "param"),
                                 ("loops.cu", 'extern "C" __global__ void probe() { for (;;) __nanosleep(1); }\n', "loops.cu"),
                                 ("syntax.cu", "extern \"C\" __global__ void probe() { x }\n", "syntax.cu:1")):
            done = run(port, "probe", "run", write(port, name, text), code=2)
            expect(said in done.stderr, f"{name}: {done.stderr}")
        write(port, "silent.cu", 'extern "C" __global__ void probe() {}\n')
        expect("printed nothing" in run(port, "probe", "keep", "silent", "--says", "x", code=2).stderr, "silent")
        expect("--file" in run(port, "probe", "keep", "nowhere", "--says", "x", code=2).stderr, "no file")
        expect("one sentence" in run(port, "probe", "keep", "silent", "--says", " ", code=2).stderr, "no sentence")
        expect("a probe is a .cu or .ptx" in run(port, "probe", "run", "README.md", code=2).stderr, "another file")
        expect(not (port / "probes/gotchas.txt").exists(), "something was recorded")


if __name__ == "__main__":
    main([test_every_look, test_keep_check_render, test_what_needs_a_gpu, test_what_is_wrong_is_said])
