# SPDX-License-Identifier: Apache-2.0
"""Which faults a function can have."""

from __future__ import annotations

import pytest

from tools.mutants.faults import Source


def faults(body: str, parameters: str = "v, x, y") -> set[tuple[str, str]]:
    """Return the words of each fault of a function with this body, and the changed statement."""
    text = f"def f({parameters}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return {(fault.words, fault.after) for fault in Source.of("f.py", "f.py", text).faults({("f", 1)})}


@pytest.mark.parametrize(
    ("body", "words", "after"),
    [
        ("return x - y", "Sub -> Add", "return x + y"),
        ("x *= y", "Mult -> Add", "x += y"),
        ("return 3", "3 -> 4", "return 4"),
        ("return 3", "3 -> 2", "return 2"),
        ("return True", "True -> False", "return False"),
        ("return x < y", "Lt -> LtE", "return x <= y"),
        ("return x == y", "Eq -> NotEq", "return x != y"),
        ("return x and y", "And -> Or", "return x or y"),
        ("return not x", "Not removed", "return x"),
        ("return -x", "USub removed", "return x"),
        ("return f(x, y)", "arguments 1 and 2 swapped", "return f(y, x)"),
        ("return f(x, axis=y)", "argument axis removed", "return f(x)"),
        ("return np.floor(x)", "floor -> ceil", "return np.ceil(x)"),
        ("return x.any()", "any -> all", "return x.all()"),
        ("return max(x, y)", "max -> min", "return min(x, y)"),
        ("if x:\n    return 1\nreturn y", "value of: return y", "return y"),
        ("if x:\n    return 1\nreturn y", "condition negated", "if not x:"),
        ("x.sort()", "statement removed", "pass"),
        ("x += y", "statement removed", "pass"),
        ("x = y", "statement removed", "pass"),
        ("x[0] = y", "statement removed", "pass"),
        ("return [z for z in x if z]", "condition negated", "return [z for z in x if not z]"),
        ("v.require(C, x)", "condition negated", "v.require(C, not x)"),
        ("v.require(C, x)", "condition True", "v.require(C, True or x)"),
        ("v.silent(C, x)", "condition False", "v.silent(C, False and x)"),
        ("v.permit(C)", "condition False", "v.permit(C, False)"),
        ("v.require(C, holds=x)", "condition negated", "v.require(C, holds=not x)"),
        ("v.require(C, holds=False)", "condition True", "v.require(C, holds=True or False)"),
        ("v.require(C, x)", "another clause", "v.require(__other_clause__(v, C), x)"),
        ("return [f(z, 1) for z in x]", "1 -> 2", "return [f(z, 2) for z in x]"),
    ],
)
def test_a_fault_changes_one_token(body: str, words: str, after: str) -> None:
    assert (words, after) in faults(body)


@pytest.mark.parametrize(
    "body",
    [
        '"""A text."""',
        "assert x == 1",
        'raise ValueError(f"{x + 1} is too much") from None',
        "y: Final[1] = x",
        "return max(x, y)",
        "return zip(x, y, strict=True)",
        "with np.errstate(all='ignore', invalid=1): pass",
    ],
)
def test_changes_without_meaning_are_no_faults(body: str) -> None:
    harmless = {"max -> min", "statement removed", "arguments 1 and 2 swapped"} - (
        {"arguments 1 and 2 swapped"} if "max" in body else set()
    )
    assert {words for words, _ in faults(body)} <= harmless


def test_a_name_that_was_not_bound_before_stays_bound() -> None:
    assert "statement removed" not in {words for words, _ in faults("z = x\nreturn z")}


def test_equal_faults_in_one_line_have_different_ids() -> None:
    source = Source.of("f.py", "f.py", "def f(x):\n    return x + 1 + x + 1\n")
    keys = [fault.key for fault in source.faults({("f", 1)})]
    assert len(keys) == len(set(keys)) == 7


def test_the_key_of_a_fault_outlives_lines_above_it() -> None:
    text = "def f(x):\n    return x + 1\n"
    one, two = (Source.of("f.py", "f.py", head + text) for head in ("", "# A comment.\n"))
    assert [fault.key for fault in one.faults({("f", 1)})] == [fault.key for fault in two.faults({("f", 2)})]


def test_other_functions_are_left_alone() -> None:
    source = Source.of("f.py", "f.py", "def f(x):\n    return x + 1\n\ndef g(x):\n    return x + 1\n")
    assert {fault.function for fault in source.faults({("g", 4)})} == {"g"}


def test_a_function_inside_a_function_belongs_to_it() -> None:
    source = Source.of("f.py", "f.py", "def f(x):\n    def g(): return x + 1\n    return lambda y: y - 1\n")
    names = {fault.function for fault in source.faults({("f", 1)})}
    assert names == {"f.<locals>.g", "f.<locals>.<lambda>"}
