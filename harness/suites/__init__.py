"""Where cases come from: generated here, official (the installed onnx package), or a folder in ONNX's layout.

Imports `generation` and what that imports.
"""
