# SPDX-License-Identifier: Apache-2.0
"""If, Loop and Scan.

Each operator has one file, as in onnx/defs/controlflow. A file `_name.py` contains code that several operators share.
"""
