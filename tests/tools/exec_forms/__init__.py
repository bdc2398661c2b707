# SPDX-License-Identifier: Apache-2.0
"""Tables of instruction forms, one module a group of chapters; see make_exec_tests.py."""


def flat(opcode):
    """cvt.rn.f32.s8 -> cvt_rn_f32_s8: the file name of an opcode."""
    return opcode.replace("::", "_").replace(".", "_").lower()
