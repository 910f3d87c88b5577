"""LSTM: -0.03295622059715006 expected, -0.7701488891404589 came

The text: «This tensor has shape `[num_directions, 8*hidden_size]`.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and opencv-python-headless 5.0.0.93
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
   ir_version: 3,
   opset_import: ["" : 1],
   producer_name: "onnx-conformance"
>
LSTM_1_each_type_before_7 (double[2,4,1] X, double[1,12,1] W, double[1,12,3] R, double[1,24] B, double[1,4,3] initial_h, double[1,4,3] initial_c) => (double[2,1,4,3] Y) {
   [LSTM] Y = LSTM <hidden_size: int = 3> (X, W, R, B, "", initial_h, initial_c)
}
""")
inputs = {
    'X': np.array([0.9916648104524685, -0.6998746875935423, -0.1489990258141988, 0.8792730616507244, -0.9096666718335252, 0.21598726618821715, 0.6496128616862011, -0.9981366159327033], dtype=np.dtype('float64')).reshape((2, 4, 1)),
    'W': np.array([0.814705063258458, -0.9534853032751421, 0.33331393995491093, 0.5521673849078803, -0.9981366159327033, 0.6496128616862011, 0.21598726618821715, -0.9096666718335252, 0.8792730616507244, -0.1489990258141988, -0.6998746875935423, 0.9916648104524685], dtype=np.dtype('float64')).reshape((1, 12, 1)),
    'R': np.array([-1.2362742244740665, 1.353275165995104, 1.388405383583082, 1.353275165995104, 1.5969742252469805, -0.9554157896203735, 1.388405383583082, -0.9554157896203735, -1.851629364655465, 1.7585461233014488, -0.6942739353983738, -1.6897582597111527, -0.6942739353983738, -1.9435968914877266, 0.2100593282079695, -1.6897582597111527, 0.2100593282079695, 1.9995858002853384, -1.992173006239188, -0.07868433531204047, 1.7137568525132267, -0.07868433531204047, 1.971200597581266, 0.5697759434698887, 1.7137568525132267, 0.5697759434698887, -1.8193333436670505, 1.8988077213734023, 0.8387274820370927, -1.456462070424469, 0.8387274820370927, -1.6752545142940551, -1.2560890811091754, -1.456462070424469, -1.2560890811091754, 1.3404583516867496], dtype=np.dtype('float64')).reshape((1, 12, 3)),
    'B': np.array([0.7437486078393514, -0.19165582652012342, -0.6943610117457993, 0.3705850133539561, 0.5988653344676177, -0.5249060156951567, -0.4636028341777749, 0.6443713611423718, 0.29755542984796024, -0.7210481189096676, -0.1117492693606491, 0.7498446751070019, -0.08147744656805717, -0.7288488343078975, 0.2692937655166262, 0.6594547962380433, -0.4392280049807232, -0.5462705758736969, 0.5799959171746655, 0.3968120145900179, -0.6822500038751439, -0.2210037011251932, 0.7392002240929748, 0.030519943012398642], dtype=np.dtype('float64')).reshape((1, 24)),
    'initial_h': np.array([-1.4420962378193352, -0.2234985387212982, 1.4996893502140038, -0.9272056683555499, 1.2887427222847436, 0.5951108596959205, 0.7411700267079122, 1.1977306689352354, -1.0498120313903134, 1.4874972156787027, -0.38331165304024684, -1.3887220234915987], dtype=np.dtype('float64')).reshape((1, 4, 3)),
    'initial_c': np.array([-0.9613974918795568, -0.1489990258141988, 0.9997929001426692, -0.6181371122370333, 0.8591618148564958, 0.39674057313061367, 0.49411335113860816, 0.7984871126234903, -0.6998746875935423, 0.9916648104524685, -0.2555411020268312, -0.9258146823277325], dtype=np.dtype('float64')).reshape((1, 4, 3)),
}
expected = [
    np.array([-0.03295622059715006, -0.07274540144251403, 0.017099362512537894, -0.048166310994233734, 0.10169396473095407, 0.0224520451299065, 0.4153782604831193, 0.0517652731283694, -0.012426372705816877, 0.0581543151326844, 0.12613283390247834, -0.002681778785257711, -0.5402446370158399, 0.22480747464860723, 0.0028481422694443584, -0.6473490319156155, 0.14168909739132815, 0.08672117334155846, 0.034391737826567605, 0.21619065756013459, -0.12194681948076679, -0.13812274566011612, 0.559548019180938, -0.07688799132912083], dtype=np.dtype('float64')).reshape((2, 1, 4, 3)),
]
print("expected:", expected)

try:
    import cv2
    import numpy
    
    net = cv2.dnn.readNetFromONNX(numpy.frombuffer(model.SerializeToString(), numpy.uint8))
    for name, value in inputs.items():
        net.setInput(value, name)
    outputs = list(net.forward([value.name for value in model.graph.output]))
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([7.501049419829154e-16, 8.350130688671533e-16, 6.912279911958357e-16, 6.477397993409834e-16, 7.644601804541568e-16, 4.950234886849484e-16, 1.737496816637945e-15, 6.783190258103211e-16, 5.345413593170115e-16, 1.1104601685233919e-15, 7.135598987102452e-16, 5.913753890687295e-16, 1.6711069443220835e-15, 1.2566871346510768e-15, 1.3405470436274672e-16, 2.8744111503786725e-15, 6.842818993142714e-16, 5.821024820344174e-16, 2.3512383375686942e-15, 1.2063502038080007e-15, 1.0082310740955605e-15, 1.3432630481956212e-15, 1.8358587643600642e-15, 5.482933769951038e-16], dtype=np.dtype('float64')).reshape((2, 1, 4, 3))]


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
