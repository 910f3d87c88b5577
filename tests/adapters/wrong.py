# SPDX-License-Identifier: Apache-2.0
"""An adapter that is right for Split/13 with float32 but for one fault: `wrong.py KIND [CASE]`.

KIND names a function below. A fault of CASES shows at the one case that the model's graph is named after; what
comes before and after it is answered as `good` does. Written from the wire format alone, with nothing but Python.
"""

from __future__ import annotations

import fcntl
import json
import math
import mmap
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

Request = tuple[dict[str, Any], bytes]
Parts = list[tuple[list[int], bytes]]

FLOAT, INT64, STRING, BOOL, INT2 = 1, 7, 8, 9, 26
CASE = "lengths_sum"
HOSTILE = "\x1b[2J\x1b[31mred\x1b]0;title\x07\r\nsecond line\u202e\x00 "


# The wire format: a line of JSON, and then the bytes it announces.


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def message(header: dict[str, Any], payload: bytes = b"") -> bytes:
    return json.dumps({**header, "payload": len(payload)}).encode() + b"\n" + payload


def read() -> Request:
    line = sys.stdin.buffer.readline()
    if not line:
        raise SystemExit
    header = json.loads(line)
    return header, sys.stdin.buffer.read(header["payload"])


def hello(protocol: object = 1) -> bytes:
    return message(
        {
            "kind": "hello",
            "protocol": protocol,
            "runtime": "wrong",
            "version": sys.argv[3] if len(sys.argv) > 3 else "1",
        }
    )


def flood(size: int) -> None:
    """Print without a care for who reads it."""
    text = ("noise " * 200 + "\n").encode()
    for _ in range(size // len(text)):
        os.write(2, text)


# Split


def axis_of(model: bytes) -> int:
    """Return the attribute `axis`: its name (field 1 of AttributeProto), then i (field 3) as a varint."""
    start = model.find(b"\n\x04axis\x18")
    if start < 0:
        return 0
    value = shift = 0
    for byte in model[start + 7 :]:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return value - (1 << 64) if value >> 63 else value


def parts(request: Request) -> Parts | None:
    """Return the shapes and bytes of the outputs, or None for what this adapter does not do."""
    header, payload = request
    model, data = payload[: header["model"]], payload[header["model"] :]
    values = {item["name"]: item["value"] for item in header["inputs"]}
    if b"Split_13_" not in model or b"B\x05split" in model or set(values) - {"input", "split"}:
        return None
    if values["input"]["type"] != FLOAT or values.get("split", {}).get("type", INT64) != INT64:
        return None
    shape, count = values["input"]["shape"], len(header["outputs"])
    axis = axis_of(model) % len(shape)
    size = 4 * math.prod(shape)
    lengths = [shape[axis] // count] * count
    if "split" in values:
        lengths = struct.unpack(f"<{count}q", data[size:])
    if min(lengths, default=0) < 0:
        return None
    row = 4 * math.prod(shape[axis + 1 :])
    block = row * shape[axis]
    outputs, begin = [], 0
    for length in lengths:
        blocks = range(math.prod(shape[:axis]))
        rows = [data[i * block + begin * row : i * block + (begin + length) * row] for i in blocks]
        outputs.append(([*shape[:axis], length, *shape[axis + 1 :]], b"".join(rows)))
        begin += length
    return outputs


def described(values: Parts) -> list[dict[str, Any]]:
    return [{"kind": "tensor", "type": FLOAT, "shape": shape} for shape, _ in values]


def answer(request: Request, values: Parts | None = None, **changed: Any) -> bytes:
    """Return the right answer, with some members of its header `changed`."""
    values = parts(request) if values is None else values
    if values is None:
        reason = {"error": "NotImplementedError", "message": "Split/13 with float32 alone", "reason": "no kernel"}
        return message({"kind": "unsupported", "id": request[0]["id"], **reason})
    header = {"kind": "answer", "id": request[0]["id"], "outputs": described(values), "seconds": 0.001, **changed}
    return message(header, b"".join(data for _, data in values))


def good(request: Request) -> None:
    write(answer(request))


# Faults at one case: each takes the request of CASE.


def prints_a_line(request: Request) -> None:
    write(b"Loading the plug-in for Split\n" + answer(request))


def answers_the_next_first(request: Request) -> None:
    write(answer(read()) + answer(request))


def gives_an_output_less(request: Request) -> None:
    write(answer(request, parts(request)[:-1]))


def gives_an_output_more(request: Request) -> None:
    write(answer(request, [*parts(request), ([1], bytes(4))]))


def gives_nan_bytes(request: Request) -> None:
    nan = struct.pack("<I", 0x7FC00000)
    write(answer(request, [(shape, nan * (len(data) // 4)) for shape, data in parts(request)]))


def says_nan_in_the_header(request: Request) -> None:
    outputs = described(parts(request))
    outputs[0]["shape"] = [float("nan")]
    write(answer(request, outputs=outputs, seconds=float("nan")))


def takes_nan_seconds(request: Request) -> None:
    write(answer(request, seconds=float("nan")))


def takes_endless_seconds(request: Request) -> None:
    write(answer(request, seconds=10**400))


def announces_two_gib(request: Request) -> None:
    write(json.dumps({"kind": "answer", "id": request[0]["id"], "outputs": [], "payload": 2 << 30}).encode() + b"\n")


def writes_an_endless_header(_request: Request) -> None:
    while True:
        write(b'{"kind": "answer", ' * 10_000)


def sends_too_few_bytes(request: Request) -> None:
    outputs = described(parts(request))
    outputs[0]["shape"] = [1_000_000]
    write(answer(request, outputs=outputs))


def sends_too_many_bytes(request: Request) -> None:
    write(answer(request, outputs=described(parts(request))[:-1]))


def nests_without_end(request: Request) -> None:
    text = '{"kind":"sequence","items":[' * 400 + "]}" * 400
    write(f'{{"kind":"answer","id":{request[0]["id"]},"outputs":[{text}],"payload":0}}\n'.encode())


def says_an_endless_shape(request: Request) -> None:
    outputs = described(parts(request))
    outputs[0]["shape"] = [10**4000, 10**4000]
    write(answer(request, outputs=outputs))


def says_an_endless_shape_of_strings(request: Request) -> None:
    described_ = {"kind": "tensor", "type": STRING, "shape": [10**4000, 10**4000], "strings": ["a"]}
    write(message({"kind": "answer", "id": request[0]["id"], "outputs": [described_]}))


def says_a_shape_of_a_million_digits(request: Request) -> None:
    line = json.dumps({"kind": "answer", "id": request[0]["id"], "outputs": described([([8], b"")]), "payload": 0})
    write(line.replace("[8]", f"[{'8' * 1_000_000}]").encode() + b"\n")


def says_a_shape_of_a_thousand_dimensions(request: Request) -> None:
    write(message({"kind": "answer", "id": request[0]["id"], "outputs": described([([2] * 1000, b"")])}))


def fills_its_header(request: Request) -> None:
    lists = b"[]," * 15_000_000
    write(b'{"kind":"answer","id":%d,"outputs":[%s[]],"payload":0}\n' % (request[0]["id"], lists))


def repeats_itself(request: Request) -> None:
    """Give a thousand times the elements that are wanted, which are still few."""
    write(answer(request, [([1000 * shape[0], *shape[1:]], 1000 * data) for shape, data in parts(request)]))


def gives_32_mib(request: Request) -> None:
    write(answer(request, [([8 << 20], bytes(32 << 20)), *parts(request)[1:]]))


def gives_32_mib_of_int2(request: Request) -> None:
    outputs = [{"kind": "tensor", "type": INT2, "shape": [128 << 20]}, *described(parts(request)[1:])]
    write(answer(request, [([], bytes(32 << 20)), *parts(request)[1:]], outputs=outputs))


def gives_32_mib_unlike_its_header(request: Request) -> None:
    write(answer(request, [([9 << 20], bytes(32 << 20)), *parts(request)[1:]]))


def gives_a_bool_of_2(request: Request) -> None:
    write(answer(request, [([3], b"\0\2\1")], outputs=[{"kind": "tensor", "type": BOOL, "shape": [3]}]))


def refuses_with_nested_words(request: Request) -> None:
    nested = "[" * 900 + "]" * 900
    line = json.dumps({"kind": "refused", "id": request[0]["id"], "error": 7, "message": "x", "payload": 0})
    write(line.replace('"x"', nested).encode() + b"\n")


def says_an_unknown_kind(request: Request) -> None:
    write(message({"kind": "\x1b[31msurprise", "id": request[0]["id"]}))


def names_an_endless_request(_request: Request) -> None:
    write(message({"kind": "answer", "id": "7" * 1_000_000, "outputs": []}))


def says_hello_again(request: Request) -> None:
    write(hello() + answer(request))


def answers_unasked(request: Request) -> None:
    write(answer(request) + answer(request))


def hangs(_request: Request) -> None:
    time.sleep(600)


def record(what: str) -> None:
    """Add a line to the file that argument 3 names."""
    with Path(sys.argv[3]).open("a") as file:
        file.write(f"{os.getpid()} {what}\n")


def recorded(what: str) -> int:
    return sum(line.endswith(f" {what}") for line in Path(sys.argv[3]).read_text().splitlines())


def hangs_on_record(_request: Request) -> None:
    record("hangs")
    time.sleep(600)


def spins_on_record(_request: Request) -> None:
    record("hangs")
    while True:
        pass


def waits_for_others(request: Request) -> None:
    """Answer when other processes have answered as many cases as argument 4 says."""
    while recorded("answers") < int(sys.argv[4]):
        time.sleep(0.05)
    good(request)


def wrong_after_others_answered(request: Request) -> None:
    """Wait as well, and be wrong in the process that was sent others behind it."""
    first = recorded("answers") < int(sys.argv[4])
    while recorded("answers") < int(sys.argv[4]):
        time.sleep(0.05)
    (gives_an_output_less if first else good)(request)


def hangs_on_one_device(_request: Request) -> None:
    """Hang; see `main` for the device."""
    record("hangs")
    time.sleep(600)


ON_RECORD = (hangs_on_record, spins_on_record, waits_for_others, wrong_after_others_answered, hangs_on_one_device)
"""Faults at one case, that keep a record of what every process does."""


def take_device() -> None:
    """Take what one process can have; the next one must end."""
    device = os.open(f"{sys.argv[3]}.device", os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(device, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        record("finds no device")
        os._exit(3)


def hangs_printing(_request: Request) -> None:
    while True:
        flood(1 << 16)


def drips(_request: Request) -> None:
    while True:
        write(b" ")
        time.sleep(0.02)


def closes_its_output(_request: Request) -> None:
    os.close(1)
    time.sleep(600)


def dies_slowly_by_segv(_request: Request) -> None:
    """Take as long over the end as a process does that holds GB, on a busy machine."""
    os.close(1)
    time.sleep(3)
    os.kill(os.getpid(), signal.SIGSEGV)


def dies_by_segv(_request: Request) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def dies_by_abrt(_request: Request) -> None:
    os.write(2, b"terminate called after throwing an instance of 'int'\n")
    os.kill(os.getpid(), signal.SIGABRT)


def exits_with_3(_request: Request) -> None:
    os._exit(3)


def dies_leaving_a_child(_request: Request) -> None:
    """Die while something else still holds the output open."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    os._exit(4)


def start_daemons() -> None:
    """Start a process that leaves the session, and one that outlives its parent; argument 3: file for their ids."""
    daemon = f"import os, time; os.setsid(); print(os.getpid(), file=open({sys.argv[3]!r}, 'a'), flush=True); "
    daemon += "time.sleep(600)"
    for source in (daemon, f"import os\nif not os.fork(): exec({daemon!r})"):
        subprocess.Popen([sys.executable, "-S", "-c", source], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    ids = Path(sys.argv[3])
    while not ids.exists() or ids.read_text().count("\n") < 2:
        time.sleep(0.01)


def leaves_daemons(request: Request) -> None:
    start_daemons()
    good(request)


def dies_leaving_daemons(_request: Request) -> None:
    start_daemons()
    os._exit(4)


def hangs_leaving_daemons(_request: Request) -> None:
    start_daemons()
    time.sleep(600)


def dies_with_hostile_words(_request: Request) -> None:
    flood(4 << 20)
    os.write(2, HOSTILE.encode("utf-8") + b"\xff\xfe last words\n")
    os._exit(5)


def refuses_with_hostile_words(request: Request) -> None:
    words = {"error": "\x1b[31mError", "message": HOSTILE + "\ud800" + "x" * 1_000_000}
    write(message({"kind": "refused", "id": request[0]["id"], **words}))


def allocates(request: Request) -> None:
    """Take 1 GiB of address space, which costs nothing until it is touched; refuse where it is not to be had."""
    try:
        mmap.mmap(-1, 1 << 30)
    except OSError as error:
        words = {"error": "MemoryError", "message": f"no room for 1 GiB: {error.strerror}"}
        write(message({"kind": "refused", "id": request[0]["id"], **words}))
    else:
        good(request)


ANSWERED: list[int] = []
"""Requests before this one, and those of CASE."""


def wrong_at_first(request: Request) -> None:
    """Be right from the second time on."""
    (good if ANSWERED.count(1) else gives_an_output_less)(request)


def wrong_after_others(request: Request) -> None:
    """Be right in a process that has seen nothing else."""
    (gives_an_output_less if ANSWERED.count(0) else good)(request)


def dies_after_others(request: Request) -> None:
    (exits_with_3 if ANSWERED.count(0) else good)(request)


def breaks_the_second_time(request: Request) -> None:
    (prints_a_line if ANSWERED.count(1) else gives_an_output_less)(request)


CASES = (
    good, prints_a_line, answers_the_next_first, gives_an_output_less, gives_an_output_more, gives_nan_bytes,
    says_nan_in_the_header, takes_nan_seconds, takes_endless_seconds, announces_two_gib, writes_an_endless_header,
    sends_too_few_bytes, sends_too_many_bytes, nests_without_end, says_an_unknown_kind, names_an_endless_request,
    says_hello_again, answers_unasked, hangs, hangs_printing, drips, closes_its_output, dies_by_segv, dies_by_abrt,
    dies_slowly_by_segv, exits_with_3, dies_leaving_a_child, leaves_daemons, dies_leaving_daemons,
    hangs_leaving_daemons, dies_with_hostile_words, refuses_with_hostile_words,
    says_an_endless_shape, says_an_endless_shape_of_strings, says_a_shape_of_a_million_digits,
    says_a_shape_of_a_thousand_dimensions, fills_its_header, repeats_itself, gives_32_mib, gives_32_mib_of_int2,
    gives_32_mib_unlike_its_header, gives_a_bool_of_2, refuses_with_nested_words,
    allocates, wrong_at_first, wrong_after_others, dies_after_others, breaks_the_second_time,
)  # fmt: skip


# Faults at every case


def dies_on_every_case(_request: Request) -> None:
    os._exit(6)


def floods_stderr(request: Request) -> None:
    flood(1 << 18)
    good(request)


def is_slow(request: Request) -> None:
    time.sleep(0.1)
    good(request)


def is_very_slow(request: Request) -> None:
    time.sleep(0.6)
    good(request)


def reads_four_first(request: Request) -> None:
    requests = [request, read(), read(), read()]
    for item in requests:
        good(item)


EVERY = (dies_on_every_case, floods_stderr, is_slow, is_very_slow, reads_four_first)


# Faults before the first request


def dies_at_its_first_start() -> None:
    """Start only the second time: the first start leaves a file, named in place of a version."""
    try:
        os.close(os.open(sys.argv[3], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        write(hello())
    else:
        os._exit(3)


def counts_its_starts() -> None:
    """Die every time, with other words each time."""
    starts = Path(sys.argv[3])
    starts.write_text("x" + (starts.read_text() if starts.exists() else ""))
    os.write(2, f"no device at start {len(starts.read_text())}\n".encode())
    os._exit(3)


def dies_at_start() -> None:
    os.write(2, b"Traceback (most recent call last):\nImportError: libruntime.so.1: cannot open\n")
    os._exit(3)


def aborts_at_start() -> None:
    os.kill(os.getpid(), signal.SIGABRT)


def prints_before_hello() -> None:
    write(b"Welcome to the runtime\n" + hello())


def speaks_another_protocol() -> None:
    write(hello(protocol=99))


def speaks_endless_protocol() -> None:
    write(hello(protocol="9" * 1_000_000))


def says_true_for_an_integer() -> None:
    write(hello(protocol=True))


def says_a_float_for_an_integer() -> None:
    write(hello(protocol=1.0))


def says_a_list_as_subject() -> None:
    write(message({"kind": "hello", "protocol": 1, "subject": ["runtime"]}))


def says_an_object_as_subject() -> None:
    write(message({"kind": "hello", "protocol": 1, "subject": {}}))


def says_a_field_twice() -> None:
    write(b'{"kind": "hello", "protocol": 1, "payload": 9, "payload": 0}\n')


def never_says_hello() -> None:
    time.sleep(600)


def answers_before_hello() -> None:
    write(message({"kind": "answer", "id": 1, "outputs": []}))


def fails_with_hostile_words() -> None:
    write(message({"kind": "failed", "message": HOSTILE + "x" * 1_000_000}))


def fails_without_words() -> None:
    write(message({"kind": "failed"}))


def has_a_hostile_version() -> None:
    words = {"runtime": HOSTILE, "version": HOSTILE}
    write(message({"kind": "hello", "protocol": 1, **words}))


START = (
    dies_at_its_first_start, counts_its_starts, dies_at_start, aborts_at_start, prints_before_hello,
    speaks_another_protocol, speaks_endless_protocol,
    never_says_hello, says_true_for_an_integer, says_a_float_for_an_integer, says_a_list_as_subject,
    says_an_object_as_subject, says_a_field_twice, answers_before_hello, fails_with_hostile_words, fails_without_words,
    has_a_hostile_version,
)  # fmt: skip


def main() -> None:
    kind = sys.argv[1]
    marked = f"Split_13_{sys.argv[2] if len(sys.argv) > 2 else CASE}".encode()
    marked = b"\x12" + bytes([len(marked)]) + marked  # GraphProto's field 2, so that no longer name fits.
    tables = ({fault.__name__: fault for fault in table} for table in (CASES, EVERY, START, ON_RECORD))
    at_case, at_every, at_start, on_record = tables
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if kind == "hangs_on_one_device":
        take_device()
    if kind in on_record:
        record("starts")
    if kind in at_start:
        at_start[kind]()
    else:
        write(hello())
    while True:
        request = read()
        if kind in at_every:
            at_every[kind](request)
        elif kind in at_case and marked in request[1]:
            at_case[kind](request)
        elif kind in on_record and marked in request[1]:
            on_record[kind](request)
        else:
            good(request)
            if kind in on_record:
                record("answers")
        ANSWERED.append(int(marked in request[1]))


if __name__ == "__main__":
    main()
