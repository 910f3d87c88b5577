# SPDX-License-Identifier: Apache-2.0
"""An adapter that costs next to nothing: it refuses everything. `bench.py` measures what is left."""

import json
import sys

requests, answers = sys.stdin.buffer, sys.stdout.buffer
answers.write(b'{"kind":"hello","protocol":1,"name":"quick","runtime":"quick","version":"1","payload":0}\n')
answers.flush()
while line := requests.readline():
    header = json.loads(line)
    requests.read(header["payload"])
    reply = {"kind": "refused", "id": header["id"], "error": "Quick", "message": "too quick to say", "payload": 0}
    answers.write(json.dumps(reply).encode() + b"\n")
    answers.flush()
