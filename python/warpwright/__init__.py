# SPDX-License-Identifier: Apache-2.0
"""GPU kernels that Warpwright ships, for PyTorch. Importing this imports no torch."""
