# SPDX-License-Identifier: Apache-2.0
"""Packs: the cases of a slice as they were made once, so that the next run reads them instead.

A pack is one file, `packs/KEY.pack` in the cache (see backends/cache.py): a digest of the rest, a header in JSON that
describes every case, and bytes: the frames of the wire format as adapters get them, and the expected values. Its key is
a digest of all sources of the cases, so nothing has to be invalidated. A damaged pack is removed, and
the cases are made again. Packs may be deleted at any time, and `ONNX_CONFORMANCE_CACHE=` turns them off; where the
cache cannot be written, no pack is made.

Whoever can write the cache could also write the digest of a pack. So the digests of all files here have a key, the
user's secret (`cache.secret`). In addition, the cases of the generated suite are compared with the manifest, which is a
part of the installed package. A pack with other cases is removed like a damaged one.

Bounds, the errors that elements may have, take longer to compute than cases, and most answers need none. So those that
a run needed are in a separate file, `KEY.bounds`, and others are computed from the declared case. The manifest
has no bounds, because their last digits depend on the processor.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import ml_dtypes
import numpy as np

from onnx_conformance.backends import cache, protocol
from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Unreadable
from onnx_conformance.case import encoding, properties
from onnx_conformance.case.allowance import Allowance, Bounds
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.case.lane_sums import LaneSums
from onnx_conformance.declare import AnyOf, Order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_conformance.base.values import Array, Drawn, Value

cache.report = printing.note
_T = TypeVar("_T")
FOLDER = "packs"
MAGIC = b"onnx-conformance pack 4\n"
MOST_COMPARED = 1 << 16
"""Bytes of an answer that are compared with the expected ones before its header is parsed."""
MOST_BYTES = 4 << 30
"""Bytes of all packs; beyond that, the least recently used are removed. The whole generated suite takes a quarter."""


def key(*parts: str) -> str:
    """Return the key of a pack that depends on these, on numpy, and on the code of suites and of the wire format.

    It also depends on the user's secret: no other one can read the pack.
    """
    digest = _base().copy()
    digest.update(_secret() or b"")
    _update(digest, (*parts, np.__version__, ml_dtypes.__version__, platform.machine(), sys.version))
    return digest.hexdigest()[:32]


@functools.cache
def _secret() -> bytes | None:
    """Return the user's secret; None if it cannot be kept, and then no pack can be kept either."""
    return cache.secret()


@functools.cache
def _base() -> hashlib._Hash:
    """Return a digest of the code that every pack depends on: hashed once, because a run reads a thousand packs."""
    here = Path(__file__).parent
    code = (*sorted(here.glob("*.py")), *sorted((here.parent / "case").glob("*.py")), Path(protocol.__file__))
    digest = hashlib.sha256(MAGIC)
    _update(digest, (path.read_text("utf-8") for path in code))
    return digest


def _update(digest: hashlib._Hash, texts: Iterable[str]) -> None:
    """Add texts to a digest, each with its length: different lists of texts must have different bytes."""
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)


class DamagedPackError(HarnessError):
    """A pack has the digest of its content, but the content is not that of a pack; it was removed."""


class OtherCasesError(Exception):
    """A pack has other cases than the manifest."""


def _damaged(name: str, error: Exception) -> NoReturn:
    """Remove a pack that an intruder has changed, and end the command.

    Raises:
        DamagedPackError: always.
    """
    place = store()
    path = name if place is None else place.folder / f"{name}.pack"
    if place is not None:
        place.remove(f"{name}.pack")
    raise DamagedPackError(
        "pack-damaged",
        f"cache: the content of {path} was changed ({type(error).__name__}); it was removed, so run the command again. "
        "With --isolate, a runtime cannot change the cache",
    ) from error


class Pack(Iterator[Case]):
    """The cases of a pack, one after the other.

    Attributes:
        unreadable: cases that could not be read when the pack was written.
    """

    def __init__(
        self,
        name: str,
        body: memoryview,
        allowance_of: Callable[[str], Allowance] | None,
        digests: Mapping[str, str] | None,
    ) -> None:
        """Read the header; see `read`.

        Raises:
            OtherCasesError: the cases are not those of the manifest.
        """
        self._name = name
        line = bytes(body[:32]).partition(b"\n")[0]
        start = len(line) + 1 + int(line)
        header = json.loads(bytes(body[len(line) + 1 : start]))
        self._data, self._place = body[start:], 0
        self._common = [_fields(item) for item in header["common"]]
        self._cases = iter(header["cases"])
        self._bounds = KeptBounds(name)
        self._allowance_of = allowance_of
        self.unreadable = [Unreadable(**item) for item in header["unreadable"]]
        if digests is not None:
            self._compare(header["cases"], digests)

    def _compare(self, cases: Sequence[Mapping[str, Any]], digests: Mapping[str, str]) -> None:
        """Compare the cases with the manifest, without decoding them.

        Raises:
            OtherCasesError: the cases are not those of the manifest.
        """
        place, found = 0, dict[str, str]()
        terms = [
            encoding.terms(fields["operator"], str(fields["outcome"]), fields["force"], allowance)
            for allowance, fields in self._common
        ]
        for item in cases:
            if "known_bounds" in item:  # The digest does not depend on them, and generated cases have none.
                raise OtherCasesError
            common, allowance = item["common"], self._common[item["common"]][0]
            middle = place + item["frame"]
            end = middle + item["bytes"]
            frame, data = self._data[place:middle], self._data[middle:end]
            bounded = "bounds" in item
            described = {**item, "expected": _described(item)} if "expected" in item else item
            found[item["id"]] = encoding.digest(described, terms[common], allowance, frame, data, bounded=bounded)
            place = end
        if found != digests or len(found) != len(cases):  # A case may occur twice, with other values the first time.
            raise OtherCasesError

    def __next__(self) -> Case:
        """Return the next case.

        Raises:
            DamagedPackError: the pack was changed.
        """
        item = next(self._cases)
        try:
            return self._case(item)
        except Exception as error:  # noqa: BLE001 - whoever changed it may have written anything
            _damaged(self._name, error)

    def keep_bounds(self) -> None:
        """Write the bounds that were computed since the pack was read."""
        self._bounds.write()

    def _case(self, item: Mapping[str, Any]) -> PackedCase:
        data, start = self._data, self._place
        middle = start + item["frame"]
        self._place = end = middle + item["bytes"]
        case = object.__new__(PackedCase)  # A frozen dataclass takes long to construct, and much here is made later.
        frame = bytes(data[start:middle])
        model = frame.index(b"\n") + 1
        allowance, fields = self._common[item["common"]]
        case.__dict__.update(
            fields,
            id=item["id"],
            model=frame[model : model + item["model"]],
            outputs=tuple(item["outputs"]),
            form=item["form"],
            frame=frame,
            needs=frozenset(item["needs"]),
            packed=Packed(self._name, item, data[middle:end], allowance, self._bounds_of(item)),
        )
        return case

    def _bounds_of(self, item: Mapping[str, Any]) -> Bounds | None:
        if "bounds" not in item:
            return None
        assert self._allowance_of is not None  # noqa: S101 - cases with bounds have it
        return self._bounds.of(item["id"], self._allowance_of)


@dataclass(frozen=True)
class Packed:
    """The data of a case in a pack.

    Attributes:
        pack: the key of the pack.
        item: its entry in the header.
        data: the bytes of the expected values, and of others that would do.
        allowance: its allowance in the header, without bounds and other values.
        bounds: of its outputs.
    """

    pack: str
    item: Mapping[str, Any]
    data: memoryview
    allowance: Allowance
    bounds: Bounds | None


class PackedCase(Case):
    """A case from a pack: rarely used members are decoded on demand.

    Raises:
        DamagedPackError: at the first use of a member, if the pack was changed.
    """

    packed: Packed
    frame: bytes  # known from the beginning
    needs: frozenset[str]  # known from the beginning

    @functools.cached_property
    def _values(self) -> tuple[tuple[Value | Drawn, ...] | None, Allowance]:
        """The expected values, and the allowance."""
        try:
            return self._decoded()
        except Exception as error:  # noqa: BLE001 - whoever changed it may have written anything
            _damaged(self.packed.pack, error)

    def _decoded(self) -> tuple[tuple[Value | Drawn, ...] | None, Allowance]:
        item, payload, allowance = self.packed.item, protocol.Payload(self.packed.data), self.packed.allowance
        expected = None
        if "expected" in item:
            expected = tuple(
                properties.parse(value["drawn"]) if "drawn" in value else payload.decode(value)
                for value in _described(item)
            )
        others: dict[str, Any] = {}
        if "any_of" in item:
            others["any_of"] = tuple(None if each is None else _any_of(each, payload) for each in item["any_of"])
        if "any_order" in item:
            others["any_order"] = Order(**item["any_order"])
        if self.packed.bounds is not None:
            others["bounds"] = self.packed.bounds
        if "known_bounds" in item:
            others["bounds"] = tuple(payload.decode(each) for each in item["known_bounds"])
        return expected, dataclasses.replace(allowance, **others) if others else allowance

    @functools.cached_property
    def _fed(self) -> tuple[dict[str, bytes], dict[str, Value], dict[str, Value]]:
        """The files, the earlier inputs, and the inputs."""
        try:
            return self._unframed()
        except Exception as error:  # noqa: BLE001 - whoever changed it may have written anything
            _damaged(self.packed.pack, error)

    def _unframed(self) -> tuple[dict[str, bytes], dict[str, Value], dict[str, Value]]:
        line, _, rest = self.frame.partition(b"\n")
        header, payload = json.loads(line), protocol.Payload(rest)
        payload.offset = header["model"]
        files = {}
        for item in header.get("files", ()):
            files[item["name"]] = bytes(payload.data[payload.offset : payload.offset + item["size"]])
            payload.offset += item["size"]
        earlier, inputs = (
            {item["name"]: payload.decode(item["value"]) for item in header.get(name, ())}
            for name in ("earlier", "inputs")
        )
        return files, earlier, inputs

    @functools.cached_property
    def expected(self) -> tuple[Value | Drawn, ...] | None:
        """The values of the outputs."""
        return self._values[0]

    @functools.cached_property
    def allowance(self) -> Allowance:
        """How far an answer may be from them."""
        return self._values[1]

    @functools.cached_property
    def inputs(self) -> Mapping[str, Value]:
        """The inputs."""
        return self._fed[2]

    @functools.cached_property
    def earlier(self) -> Mapping[str, Value] | None:
        """The inputs that the model runs with before."""
        return self._fed[1] if "earlier" in self.needs else None

    @functools.cached_property
    def files(self) -> Mapping[str, bytes]:
        """The additional files of the model."""
        return self._fed[0]

    @property
    def has_outputs(self) -> bool:
        """Whether it has expected outputs."""
        packed = self.__dict__.get("packed")
        return "expected" in packed.item if packed is not None else super().has_outputs

    def is_answer(self, outputs: object, payload: bytes) -> bool:
        """Return whether an answer has exactly the expected bytes."""
        packed = self.__dict__.get("packed")  # A case that was made from this one, with another outcome, has none.
        if packed is None or self.outcome is not Outcome.VALUES or "bytes_expected" not in packed.item:
            return False
        size = packed.item["bytes_expected"]
        if size != len(payload) or packed.data[:size] != payload:
            return False
        return repr(outputs) == repr(
            _described(packed.item)
        )  # As texts, in which the number 1 is not the boolean True.

    @functools.cached_property
    def answer(self) -> tuple[bytes, bytes] | None:
        """The value of "outputs" and the payload of an answer that equals the expected one byte for byte."""
        packed = self.__dict__.get("packed")  # As above.
        if packed is None or self.outcome is not Outcome.VALUES or "bytes_expected" not in packed.item:
            return None
        size = packed.item["bytes_expected"]
        described = packed.item["expected"].encode()  # It contains the strings.
        return None if len(described) + size > MOST_COMPARED else (described, bytes(packed.data[:size]))


def _described(item: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a list, unless somebody has changed the pack
    """Return the descriptions of the expected values; those of an answer that may be compared are kept as JSON."""
    described = item["expected"]
    return json.loads(described) if isinstance(described, str) else described


def _any_of(described: Mapping[str, Any], payload: protocol.Payload) -> AnyOf:
    values: list[Any] = [payload.decode(item) for item in described["values"]]
    return AnyOf(*values, elementwise=described["elementwise"])


class Packer:
    """Makes a pack of cases while somebody else takes them."""

    def __init__(self, name: str, digests: Mapping[str, str] | None = None) -> None:
        """Take the key of the pack.

        Args:
            name: the key.
            digests: those of its cases in the manifest; see `read`. Other cases are not kept.
        """
        self._name = name
        self._digests, self._matches = digests, True
        self._buffers: list[bytes] = []
        self._cases: list[dict[str, Any]] = []
        self._common: dict[str, int] = {}
        self._bounds = KeptBounds(name)

    def add(self, case: Case) -> None:
        """Add a case."""
        allowance = case.allowance
        item, buffers = case.described()
        item["common"] = self._common.setdefault(_common(case), len(self._common))
        if self._digests is not None:
            self._matches &= self._digests.get(case.id) == case.digest()
        if "bytes_expected" in item:  # A right answer has the same text, so it need not be parsed.
            item["expected"] = protocol.json_text(item["expected"])
        if isinstance(allowance.bounds, Bounds):
            self._bounds.add(case.id, allowance.bounds)
            item["bounds"] = True
        elif allowance.bounds is not None:  # Those of a folder are known.
            item["known_bounds"] = [protocol.encode(each, buffers) for each in allowance.bounds]
        item["bytes"] = sum(map(len, buffers))
        self._buffers += [case.frame, *buffers]
        self._cases.append(item)

    def write(self, unreadable: Iterable[Unreadable] = ()) -> None:
        """Write the pack, if that is possible; of two that write the same one, either stays.

        Nothing is written if the cases are not those of the manifest: the next reader would not use them.
        """
        if self._digests is not None and (not self._matches or len(self._cases) != len(self._digests)):
            return
        header = {
            "cases": self._cases,
            "common": [json.loads(text) for text in self._common],
            "unreadable": [{"case": item.case, "message": item.message} for item in unreadable],
        }
        text = json.dumps(header, separators=(",", ":")).encode()
        _write(f"{self._name}.pack", b"".join([b"%d\n" % len(text), text, *self._buffers]))
        self._buffers, self._cases = [], []

    def keep_bounds(self) -> None:
        """Write the bounds that were computed meanwhile."""
        self._bounds.write()


_OF_ALLOWANCE = ("reason", "ulp", "rtol", "atol", "signed_zero", "interval")
"""The fields of an allowance that many cases have in common."""


def _common(case: Case) -> str:
    """Return the members that are the same in many cases, as JSON."""
    allowance = case.allowance
    return json.dumps(
        {
            "operator": case.operator,
            "outcome": str(case.outcome),
            "allowance": {
                **{name: getattr(allowance, name) for name in _OF_ALLOWANCE},
                "sums": None if allowance.sums is None else allowance.sums.members,
            },
            "clauses": case.clauses,
            "tags": sorted(case.tags),
            "detail": case.detail,
            "force": case.force,
            "reworded": case.reworded,
            "readings": case.readings,
            "notes": case.notes,
        }
    )


def _fields(common: Mapping[str, Any]) -> tuple[Allowance, dict[str, Any]]:
    """Return the allowance, without bounds and other values, and the other fields of cases that `_common` wrote."""
    limits = common["allowance"]
    interval, sums = limits.pop("interval"), limits.pop("sums")
    limits["interval"] = None if interval is None else tuple(interval)
    limits["sums"] = None if sums is None else LaneSums.of_members(sums)
    return Allowance(**limits), {
        **{name: common[name] for name in ("operator", "detail", "force", "reworded")},
        "outcome": Outcome(common["outcome"]),
        "clauses": tuple(common["clauses"]),
        "tags": frozenset(common["tags"]),
        "readings": tuple(common["readings"]),
        "notes": tuple(common["notes"]),
    }


@dataclass(frozen=True, eq=False)
class _Kept:
    """Bounds in a file, or limits that were enough for all answers so far.

    Attributes:
        cases: the ids of the cases that have them: the forms of a declared case.
        final: whether they are the bounds.
        values: for each output.
    """

    cases: tuple[str, ...]
    final: bool
    values: tuple[Array, ...]


def _kept(body: memoryview) -> list[_Kept]:
    """Return the bounds in a file."""
    line = bytes(body[:32]).partition(b"\n")[0]
    start = len(line) + 1 + int(line)
    payload = protocol.Payload(body[start:])
    return [
        _Kept(tuple(item["cases"]), item["final"], tuple(np.asarray(payload.decode(each)) for each in item["values"]))
        for item in json.loads(bytes(body[len(line) + 1 : start]))
    ]


class KeptBounds:
    """The bounds of a pack's cases that were computed in this run or an earlier one."""

    def __init__(self, name: str) -> None:
        """Take the key of the pack."""
        self._name = name
        self._all: dict[str, Bounds] = {}

    def add(self, case: str, bounds: Bounds) -> None:
        """Add the bounds of a case, which may be computed later."""
        self._all[case] = bounds

    def of(self, case: str, allowance_of: Callable[[str], Allowance]) -> Bounds:
        """Return the bounds of a case: those of an earlier run, or else computed if somebody asks for them."""
        return self._all.setdefault(case, Bounds(functools.partial(self._limits, case, allowance_of)))

    def _limits(self, case: str, allowance_of: Callable[[str], Allowance]) -> Iterator[tuple[Array, ...]]:
        """Yield the limits of an earlier run; then, unless they are the bounds, those of the declared case."""
        kept = self._earlier.get(case)
        if kept is not None:
            yield kept.values
        if kept is None or not kept.final:
            bounds = allowance_of(case).bounds
            assert isinstance(bounds, Bounds)  # noqa: S101 - the digest of a case depends on whether it has bounds
            yield from bounds.limits()

    @functools.cached_property
    def _earlier(self) -> dict[str, _Kept]:
        """The bounds of earlier runs."""
        return {case: item for item in _parsed(f"{self._name}.bounds", _kept) or () for case in item.cases}

    def write(self) -> None:
        """Write the bounds that are known, if there are new ones."""
        shared: dict[int, list[str]] = {}  # The forms of a declared case share their bounds.
        for case, bounds in self._all.items():
            if bounds.reached is not None:
                shared.setdefault(id(bounds), []).append(case)
        computed = [self._merged(cases) for cases in shared.values()]
        if all(item in self._earlier.values() for item in computed):
            return
        old = (item for item in self._earlier.values() if not any(case in self._all for case in item.cases))
        buffers: list[bytes] = []
        described = [
            {
                "cases": item.cases,
                "final": item.final,
                "values": [protocol.encode(each, buffers) for each in item.values],
            }
            for item in (*computed, *dict.fromkeys(old))
        ]
        text = json.dumps(described, separators=(",", ":")).encode()
        _write(f"{self._name}.bounds", b"".join([b"%d\n" % len(text), text, *buffers]))

    def _merged(self, cases: Sequence[str]) -> _Kept:
        """Return the limits of cases that share them; the entry of the earlier runs if there is nothing new."""
        bounds, kept = self._all[cases[0]], self._earlier.get(cases[0])
        assert bounds.reached is not None  # noqa: S101 - see `write`
        if kept is None or (bounds.are_final and not kept.final):
            return _Kept(tuple(cases), bounds.are_final, bounds.reached)
        if kept.final or bounds.reached is kept.values:
            return kept
        return _Kept(tuple(cases), final=False, values=tuple(map(np.maximum, kept.values, bounds.reached)))


def read(
    name: str, allowance_of: Callable[[str], Allowance] | None = None, digests: Mapping[str, str] | None = None
) -> Pack | None:
    """Return a pack by its key, or None if it does not exist, was damaged, or has another format or other cases.

    Args:
        name: the key.
        allowance_of: returns the allowance of a case by its id, for bounds that no run has needed yet; None: the cases
            have no bounds to compute.
        digests: the digests of its cases in the manifest, by id; None: the manifest does not have them.
    """
    return _parsed(f"{name}.pack", lambda body: Pack(name, body, allowance_of, digests))


def read_json(name: str) -> object:
    """Return the data of `write_json`, or None if it does not exist or was damaged."""
    return _parsed(f"{name}.json", lambda body: json.loads(bytes(body)))


def write_json(name: str, value: object) -> None:
    """Write plain data, if that is possible."""
    _write(f"{name}.json", json.dumps(value, separators=(",", ":")).encode())


def write(name: str, cases: Sequence[Case]) -> None:
    """Write a pack of cases, if that is possible."""
    packer = Packer(name)
    for case in cases:
        packer.add(case)
    packer.write()


def store() -> cache.Store | None:
    """Return the folder of packs, or None: the cache is off."""
    above, secret = cache.folder(), _secret()
    if above is None or secret is None:
        return None
    return cache.Store(above / FOLDER, MAGIC, MOST_BYTES, unchecked_bytes=MOST_BYTES // 16, secret=secret)


def is_on() -> bool:
    """Return whether there is a place for packs."""
    return store() is not None


def _parsed(name: str, parse: Callable[[memoryview], _T]) -> _T | None:
    """Return the parsed content of a file; None if it does not exist or was damaged, in which case it is removed."""
    place = store()
    body = None if place is None else place.read(name)
    if place is None or body is None:
        return None
    try:
        return parse(body)
    except OtherCasesError:
        place.remove(name)
        cache.distrust(place.folder / name, "has other cases than the manifest, and was removed")
        return None
    except Exception as error:  # noqa: BLE001 - whoever wrote the file may have written anything
        place.remove(name)
        cache.distrust(place.folder / name, f"has another format ({type(error).__name__}), and was removed")
        return None


def _write(name: str, body: bytes) -> None:
    place = store()
    if place is not None:
        place.write(name, body)
