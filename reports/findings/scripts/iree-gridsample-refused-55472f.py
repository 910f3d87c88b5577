"""GridSample: refused (...more information? Set IREE_SAVE_TEMPS=/some/dir in your environment to save all artifacts and reproducers.), double[2,3,2,3] 24 -0.0209141 4.10948 -0.0155907 0.0125384 -0.0252113... expected

Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and iree-base-compiler 3.13.0
"""

import os
import subprocess
import sys

if sys.argv[1:] != ["once"]:  # In a process of its own: what the runtime does may end it, or never end.
    try:
        status = subprocess.run([sys.executable, __file__, "once"], timeout=30).returncode
    except subprocess.TimeoutExpired:
        status = "timeout"
    words = {0: "", 2: None, 101: "wrong", 102: "refused", 103: "accepted", "timeout": "timeout"}
    word = words.get(status, f"crash, status {status}")
    if word is None:
        sys.exit(2)
    print('the fault is there: ' + word if word else 'the fault is gone: what was expected came')
    sys.exit(1 if word else 0)


def ended(kind, error, trace):
    print(f"{kind.__name__}: {error}", flush=True)
    os._exit(101 if issubclass(kind, AssertionError) else 2)


sys.excepthook = ended

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser

model = onnx.parser.parse_model("""
<
   ir_version: 10,
   opset_import: ["" : 22],
   producer_name: "onnx-conformance"
>
GridSample_22_dtypes_bfloat16_linear (double[2,3,4,5] X, float[2,2,3,2] grid) => (double[2,3,2,3] Y) {
   [GridSample] Y = GridSample (X, grid)
}
""")
inputs = {
    'X': np.array([0.04638671875, -0.011962890625, -0.04345703125, 0.023193359375, 0.037353515625, -0.03271484375, -0.0289306640625, 24.0, 0.0185546875, -0.045166015625, -0.006988525390625, 0.046875, -0.005096435546875, -0.045654296875, 0.016845703125, 0.041259765625, -0.0274658203125, -0.0341796875, 0.0361328125, 0.0247802734375, -0.042724609375, -0.0137939453125, 0.046142578125, 0.0019073486328125, -0.046630859375, 0.0101318359375, 0.044189453125, -0.021484375, -0.03857421875, 0.031494140625, 0.0303955078125, -0.039306640625, -0.0203857421875, 0.04443359375, 0.00885009765625, -0.046875, 0.0031890869140625, 0.0458984375, -0.0150146484375, -0.0419921875, 0.02587890625, 0.035400390625, -0.034912109375, -0.0263671875, 0.041748046875, 0.015625, -0.0458984375, -0.003814697265625, 0.046875, -0.00823974609375, -0.044677734375, 0.019775390625, 0.03955078125, -0.030029296875, -0.031982421875, 0.0380859375, 0.0220947265625, -0.0439453125, -0.0107421875, 0.046630859375, -0.00128936767578125, -0.04638671875, 0.01324462890625, 0.04296875, -0.0242919921875, -0.03662109375, 0.03369140625, 0.0279541015625, -0.041015625, -0.0174560546875, 0.04541015625, 0.005706787109375, -0.046875, 0.006378173828125, 0.045166015625, -0.01806640625, -0.04052734375, 0.0284423828125, 0.033203125, -0.037109375, -0.023681640625, 0.043212890625, 0.0125732421875, -0.04638671875, -0.000621795654296875, 0.046630859375, -0.0113525390625, -0.043701171875, 0.0225830078125, 0.037841796875, -0.032470703125, -0.0294189453125, 0.0400390625, 0.0191650390625, -0.044921875, -0.007598876953125, 0.046875, -0.004486083984375, -0.045654296875, 0.0162353515625, 0.04150390625, -0.0269775390625, -0.03466796875, 0.035888671875, 0.0252685546875, -0.04248046875, -0.014404296875, 0.046142578125, 0.002532958984375, -0.046630859375, 0.009521484375, 0.044189453125, -0.0208740234375, -0.038818359375, 0.031005859375, 0.0308837890625, -0.038818359375, -0.0208740234375, 0.044189453125, 0.00946044921875], dtype=np.dtype('float64')).reshape((2, 3, 4, 5)),
    'grid': np.array([0.0, -0.25, -0.375, 0.875, 0.125, -0.625, 0.625, -0.125, -0.625, 0.625, -0.125, -0.875, 0.375, -0.375, 0.875, 0.125, -0.375, 0.875, 0.125, -0.625, 0.625, -0.125, -0.875, 0.375], dtype=np.dtype('float32')).reshape((2, 2, 3, 2)),
}
expected = [
    np.array([24.0, -0.020914077758789062, 4.109477996826172, -0.015590667724609375, 0.012538433074951172, -0.025211334228515625, -0.021484375, 0.004393815994262695, 0.017533063888549805, 0.006733894348144531, -0.018753767013549805, 0.020559310913085938, -0.003814697265625, 0.013475418090820312, -0.021174907684326172, 0.004122734069824219, 0.019197463989257812, -0.00970458984375, -0.017251014709472656, 0.023977279663085938, -0.027162551879882812, 0.018500328063964844, -0.013773441314697266, 0.0240020751953125, 0.003154754638671875, -0.019687652587890625, 0.03274869918823242, -0.010135650634765625, 0.019153594970703125, -0.02133035659790039, 0.011813640594482422, 0.00942230224609375, -0.028272628784179688, -0.0013356208801269531, -0.018726825714111328, 0.012075424194335938], dtype=np.dtype('float64')).reshape((2, 3, 2, 3)),
]
print("expected:", expected)

try:
    from iree import runtime
    from iree.compiler import ir
    from iree.compiler.extras import onnx_importer
    from iree.compiler.tools import compile_str
    
    graph = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model, data_prop=True))
    module = graph.create_module(context=ir.Context()).operation
    onnx_importer.NodeImporter.define_function(graph.main_graph, module).import_all()
    compiled = compile_str(
        module.get_asm(),
        target_backends=["llvm-cpu"],
        input_type="onnx",
        extra_args=["--iree-input-demote-f64-to-f32=false"],
    )
    loaded = runtime.load_vm_flatbuffer(compiled, driver="local-sync")
    returned = loaded[model.graph.name](*inputs.values())
    values = returned if isinstance(returned, tuple) else (returned,)
    types = [onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type) for value in model.graph.output]
    outputs = [value.to_host().view(dtype) for value, dtype in zip(values, types)]  # IREE's integers have no sign
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([2.769066268392332e-14, 3.217359292022061e-17, 4.793130325958606e-15, 3.75035821167168e-17, 3.753054015456035e-17, 3.878436399630424e-17, 2.478819087916313e-17, 6.7593153662419714e-18, 3.570427063166924e-17, 3.697652496867351e-17, 3.3915687345355336e-17, 4.1574795995130495e-17, 4.4013123009877716e-18, 2.70680706510748e-17, 3.2881654036642016e-17, 3.0735464125872856e-17, 3.664752687417468e-17, 4.04568626706796e-17, 4.664400743779315e-17, 4.411875450510142e-17, 4.5888082050098505e-17, 2.87394689973749e-17, 3.2157638163129525e-17, 4.450606998758835e-17, 3.345437479980805e-17, 4.978764474877367e-17, 5.102661416150173e-17, 3.0725561173195633e-17, 3.6676135404131104e-17, 3.0289831255397843e-17, 1.4880286725602032e-17, 4.028081017864009e-17, 4.3493768158361166e-17, 3.970808941547405e-17, 3.358586400480006e-17, 1.714751272464836e-17], dtype=np.dtype('float64')).reshape((2, 3, 2, 3))]


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    if "float" in a.dtype.name:
        with np.errstate(all="ignore"):
            wide, far = np.abs(a.astype(float)), np.abs(a.astype(float) - b.astype(float))
            near = far <= np.maximum(ATOL + (RTOL + ULP * EPS.get(a.dtype.name, 0)) * wide, bound)
        differs &= ~(near & np.isfinite(far))
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
print("as expected")
