#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every verb has a pinned help, and every pinned help and page belongs to a verb."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
verbs = set(re.findall(r"^WW_VERB\((\w+)\)", (root / "src/cli/verbs.def").read_text(), re.M))
verbs |= {f"{verb}_{sub}" for verb, sub in re.findall(r"^WW_SUBVERB\((\w+), (\w+)\)",
                                                     (root / "src/cli/verbs.def").read_text(), re.M)}
verbs.add("warpwright")
pinned = {path.stem[5:] for path in (root / "tests/cli").glob("help_*.txt")}
pages = {path.stem for path in (root / "docs/cli").glob("*.md")}
problems = [f"tests/cli/help_{verb}.txt is missing" for verb in sorted(verbs - pinned)]
problems += [f"tests/cli/help_{verb}.txt belongs to no verb" for verb in sorted(pinned - verbs)]
problems += [f"docs/cli/{verb}.md belongs to no verb" for verb in sorted(pages - verbs)]
print("\n".join(problems))
sys.exit(1 if problems or len(verbs) < 2 else 0)
