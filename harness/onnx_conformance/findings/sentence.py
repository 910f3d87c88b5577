# SPDX-License-Identifier: Apache-2.0
"""The sentence that a failure violates, of those in the operator's file."""

from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import onnx

from onnx_conformance.analysis import traits
from onnx_conformance.analysis.known_call import known_of_case
from onnx_conformance.analysis.sentences import leading, source_of, version_of, wrong_output
from onnx_conformance.analysis.whole_sentence import whole_of
from onnx_conformance.base.verdict import WITH_MESSAGE, WRONG, Verdict, split_operator
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.findings import model_rules, titles
from onnx_conformance.forms import table
from onnx_conformance.minimize.cause import by_rounding
from onnx_conformance.minimize.reducer import MINIMIZED
from onnx_conformance.results.severity import IMPRECISE
from onnx_conformance.specification import nodes, registry, schema
from onnx_conformance.specification.element_types import element_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.analysis.known_call import KnownCall
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.findings.failure_groups import FailureGroup
    from onnx_conformance.forms.table import Form
    from onnx_conformance.specification.schema import OperatorVersion, Parameter

_OF_SIGNATURE = frozenset({Verdict.WRONG_TYPE, Verdict.WRONG_SHAPE, Verdict.WRONG_COUNT})
_PATTERN_OF_RESULT = r"\bdimensions of output\b|\boutput has the shape\b|\boperand for\b|^same dimension as\b"
_SIDE = re.compile(
    r"(?i)\bdefaults?\b|^e\.g\.|^'?constrain|\bof shape\b|\b\d-D tensor\b|\boptional\b|^signature: "
    r"|^floor\(input_dimension|^`num_directions`|^(in|out)puts have dimensions\b|\bis a deprecated attribute\b"
    rf"|{_PATTERN_OF_RESULT}"
)
"""Sentences on types, shapes and defaults: they do not decide a value if the case cites another sentence."""
_PATTERN_OF_RANGE = r"\b(?:accepted|allowed) range\b"
_RULE = re.compile(
    r"(?i)\bmust\b|\bshould\b|\bonly one of\b|\bcannot be 0\b|\bdeprecated\b|supports \*\*|^inputs? (?:can|have)\b"
    r"|^tensors? of rank (?:[a-z] >= 1|q \+ \(r - 1\))"
    r"|empty matrix|\bin the format \[|is not specified, a default|subset of the `axes`|^floor\(input_dimension"
    rf"|\boperand for\b|{_PATTERN_OF_RANGE}"
)
"""Sentences at the beginning of a file that do not define the result."""
_RANGE = re.compile(rf"(?i){_PATTERN_OF_RANGE}")
"""Sentences on the allowed values of an axis."""
_DEMANDS = re.compile(
    r"\battribute must be set to\b|\bnot allowed to\b|\btakes value greater than\b"
    r"|\bshould be the same as the rank of input\b"
)
"""Sentences that demand one value of an attribute, or forbid models."""
_ELSEWHERE = re.compile(
    r"(?i)\bas described in\b|^computes an one-layer\b|^it normalizes over local\b|^[\w ]+: https?://\S+$"
)
"""Definitions that only name a paper or the operator."""
_TYPE = re.compile(r"type (?:of (?P<name>\w+) )?")
"""A condition on the type of the case, or on that of an input or output."""
SHORT = 40
"""Up to this many characters, a sentence on a default contains nothing else."""
SHORTEST_NAME = 4
"""Attributes with shorter names, such as to and p, may be mentioned by accident."""
_NAME = re.compile(r"\w+")
_WORD_OF_VALUE = re.compile(r"[A-Za-z]\w{2,}")
_VALUE = re.compile(
    r"\b(?P<name>\w+)(?:=| contains )(?P<value>\[[^\]]*\]|[^\s,]+)|type of (?P<typed>\w+) is (?P<type>\w+)"
)
"""A condition on the value of an attribute, or on the type of an input: auto_pad=SAME_LOWER."""
_WRITTEN = {"bool": "boolean"}
"""Names of element types and how sentences write them."""
_FORMULA = re.compile(r"(?<![<>!=])=(?!=)")
_CODE = re.compile(rf"[*^]|(?<!and)/|\w\(|{_FORMULA.pattern}")
"""A part of a formula or of a call. A sentence with one that names an argument defines its effect."""
_EXAMPLE = re.compile(r"(?i)^(?:input_x\b|insert \d+ pads\b|example\b|e\.g\.|for (?:instance|example)\b)")
"""Examples, whose arguments have other values than those of a case."""
_OF_INPUTS = re.compile(r"^\w+ takes (?:(?!produces?\b|outputs?\b|where\b).)*$")
"""Sentences that only list the inputs of an operator: GatherElements takes two inputs."""
_NEGATIVE = re.compile(r"(?i)^(?:a )?negative (?:value|axis|axes|number)")
"""Sentences on negative values of an argument."""
_OF_KEPT = re.compile(rf"(?i)\bkeep\b.*\breduced dimension\b|^'?constrain\b|{_PATTERN_OF_RESULT}")
"""Sentences on the shape or the type of a result only, and those that only name an operand."""
_DIMENSIONS = re.compile(
    r"(?i)\b(?:of|have|has) the same shape\b|\bdimensions for image case are\b|\bin the form of `?\(N x C\b"
    r"|^shape must be\b|^will have the same number of\b|^\dD tensor with shape\b|^tensor with same shape\b"
    r"|^output tensor of \[|^tensor of the same shape as\b"
)
"""Sentences on the dimensions of tensors, with which every value is compatible."""
_KEPT = re.compile(r"^.*\breduced dimensions? pruned\b\.?")
"""The sentence on dimensions that are not kept."""
_OF_EMPTY_SET = re.compile(r"\b[Rr]eduction over an empty set of values yields\b.*")
"""Sentences on the result of a reduction of no elements."""
_OF_SHAPE = re.compile(r"(\b|_)shapes?\b")
"""Sentences that mention a shape: alone, they do not decide a value."""
_NAMED = re.compile(r"\b[a-z]+(?=\[)|\w*_\w*")
"""Words of a message that are names: those with an underscore or an index, such as pads[0]."""
_LISTED = re.compile(r"\['\w+'(?:, '\w+')+\]")
"""A list of names in a message, which is about none of them."""
_REQUIRED = r"\b{} (?:input |tensor |shape )?(?:must|should|needs to|has to)\b"
"""A message that demands something of an input with this name."""
_SHAPES = re.compile(
    r"\bexpected shape \[([\d, ]*)\], got shape \[([\d, ]*)\]"
    r"|\binferred shape \[(?P<inferred>[\d, ]*)\], expected \[(?P<wanted>[\d, ]*)\]"
)
"""The expected and the actual shape in the message on a wrong shape."""
_SAME_RANK = re.compile(r"(?i)\bhas the same rank as\b(?!.*\bdimensions?\b)")
"""Sentences on the rank of a result and nothing else."""
_OF_RANK = re.compile(r"\boutput tensor of rank `[^`]*[-+]")
"""Sentences with a formula for the rank of a result."""
_ON_OUTPUT = re.compile(r"(\b|_)outputs?\b")
"""Sentences that mention an output, or a scan_output."""
_SEQUENCE = re.compile(r"\b(?:then|followed by)\b.*\boutputs?\b|\b(?:then|followed by)\b.*_outputs?\b")
"""Sentences on the sequence of outputs."""
_OF_ORDER = re.compile(r"\b(?:innermost|outermost|last) dimension\b|\brow-major order\b|\binnermost/last\b")
"""Sentences on the order of dimensions."""
_SIZE_OF_RESULT = re.compile(r"^output_dimension = ")
"""Formulas for a dimension of the result: they do not define its values."""
_ON_SIZE = re.compile(r"(?i)\b(?:sizes?|lengths?|dimensions?|rank|pad\w*|strides?|dilations?|output)\b")
"""Sentences on sizes, or on arguments that they depend on."""
_OF_STATES = re.compile(r"^A tensor that concats all the intermediate\b|^The last output value of the\b")
"""Descriptions of the outputs of recurrent operators: they do not define the values."""
_MENTIONS_TYPES = re.compile(
    r"(?i)\btypes?\b|\bcast\w*|\bintegers?\b|\bfloat\w*|\bprecision\b"
    r"|\boverflow\w*|\bsign\b|\b(?:un)?signed\b|\bnumber of bits\b"
)
"""Sentences on the types of tensors, or on values that depend on them."""
_ONES = re.compile(r"\bdimensions are all 1\b")
"""Sentences on the dimensions that a global pooling leaves."""
_AS_INPUT = re.compile(
    r"(?i)^(?:the )?(?:returned )?output\b.*\bsame (?:shape|size)\b|^`Y` and `X` have the same shape\b"
)
"""Sentences on a result that has the shape of the input."""
_OF_SIDE = re.compile(r"\bextra padding\b.*\bSAME_UPPER\b")
"""Sentences on the side to which odd padding is added."""
_SCALAR_RESULT = re.compile(r"(?i)\boutputs?\b.*\bscalar\b(?! inputs?\b)")
"""Sentences on a result without dimensions."""
_BROADCASTS = re.compile(r"\bsupports \*\*\w+directional\b")
"""Sentences on the broadcasting of the inputs of an operator."""
_BROADCASTABLE = re.compile(r"\bbroadcastable to tensor\b")
"""Sentences on inputs that an operator broadcasts to the shape of another one."""
_OF_SIZE = re.compile(r"\boutput Y's (?:height|width)\b")
"""Sentences on a size of the result."""
_ON_SHAPE = re.compile(r" is a scalar$| has a dimension of size | differ in rank\b|^rank of ")
"""Conditions on the shape of an input: its sentences on shapes decide."""
_ON_RANK = re.compile(r" is a scalar$|^rank of ")
"""Conditions on the rank of an input, which a refusal is about even if its message does not mention it."""
_RANK = re.compile(r"^rank of \w+ >?= (\d+)$")
"""Conditions with the rank of an input, or with the lowest one."""
_OF_ANY_RANK = re.compile(r"\bD1 x D2\b|\bk1 x k2\b")
"""Sentences on the dimensions of inputs with any number of spatial axes."""
_ANY_RANK = re.compile(r"^Tensor of rank \w >= 1\b")
"""Sentences on inputs of almost any rank."""
OF_IMAGE = 4
"""The rank of images in a batch. Most texts describe these first, and other ranks later."""
_ON_TEXT = re.compile(r"^the text (allows|forbids) it$")
"""Conditions on the outcome of the cases, and not on their inputs."""
_OF_SIZE_0 = re.compile(r" has a dimension of size 0\b")
"""The words of a condition that contain the name of no argument, although an attribute may have the name size."""
_NO_ELEMENTS = re.compile(rf"^\w+(?:{_OF_SIZE_0.pattern}| is empty)$")
"""Conditions that only require an input without elements: the definition decides, because it is for every size."""
_SAID_ON_SHAPE = re.compile(r"(?i)\b(scalar|num_?dimensions|dims?|dimensions?|rank|shape|[0-9]-?d)\b")
"""Messages on the shape of an input."""
_SAID_DIFFERENT = re.compile(r"(?i)\b(?:unify|merge)\b.*\bshapes?\b|\bdifferent (?:shape|rank)s?\b")
"""Messages on shapes that are not equal."""
_SAID_ON_EMPTY = re.compile(
    r"(?i)\bempty\b|\bgreater than (?:0|zero)\b|> 0\b|\bonly \w+ can be zero\b|\bsize\(\) > 0|\bsize (?:0|zero)\b"
)
"""Messages on inputs without elements."""
_SIZES = re.compile(r"^output_(?:spatial_)?shape\[i\] = ")
"""Formulas for the dimensions of a result."""
_SAID_ON_TYPES = re.compile(
    r"(?i)\btypes do(?: not|n't) match\b|\bmixed (?:\w+ )?types\b|\btype::merge\b|\btype mismatch\b"
    r"|\bsame type as\b|\bmatching d?types\b"
    r"|\btype '[^']*' of (?:input|output) parameter\b|=(?:float|double|int)\d*\b.*=(?:float|double|int)\d*\b"
)
"""Messages on types that differ."""
_REFUSED_TYPE = re.compile(
    r"\bType 'tensor\((?P<type>\w+)\)' of input parameter .* is invalid\b"
    r"|\bdatatype should be one of \[.*\], but got T\.(?P<other>\w+)"
    r"|\bdtype=\"(?P<left>\w+)\"\)+, and datatype T\.\w+ on the RHS\b"
)
"""A message that an operator does not take the type of an input. It may be on an operator of a function body."""
_OTHER_NAMES = {"float32": "float", "float64": "double"}
"""Names of element types in other frameworks, and those in ONNX."""
_REFUSED_TYPES = re.compile(r"(?i)\binput (?:data |element )?d?type must be\b")
"""A message that an operator only takes some types of its input."""
_CHANGED_TYPE = re.compile(r"its output (?P<output>\w+) is .*; in the original model it is ")
"""A message on a model of a tool that has changed the type of an output."""
_CHOOSES_TYPE = re.compile(
    r"(?i)\bdata type (?:for|of) the (?:elements of the )?output\b|\bdata type to which\b|\bthe output data type\b"
)
"""Descriptions of attributes with the type of an output."""
_SHAPE = re.compile(r"(?i)\b(shapes?|rank|scalar|broadcast\w*|dimensions are|dimensions of \w+ are|single dimension)\b")
"""Sentences on the shape of an argument."""
_EMPTY = re.compile(
    r"(?i)^value of \w+\.?$|:$|^below are optional$|\bby the following equations\.$|\bspecified above\.$"
    r"|^it only applies for\b|^tensor of rank [a-z] >= 1\.?$"
    r"|^an empty string may be used in the place of an actual argument's name\b|^see documentation of\b"
    r"|^if conditional$|^it is true by default\b|\bhas a 1:1 correspondence with\b"
    r"|^original tensor\b|^used only for\b|^(?:first|second) operand\b|^see the doc of\b"
    r"|^output_\w+ = \[\[?\d|^inputs: \w+ = \d"
)
"""Sentences that decide nothing: descriptions that only repeat a name, introductions to a list or to equations,
references to other sentences, results of examples, and how to write an absent argument."""
MOST_NAMED = 2
"""Maximum number of arguments that a message names if it is about them; others list all arguments of a node."""
_TYPE_OF_OUTPUT = re.compile(r"(?i)\btype of the output\b|\boutput\b[^.]* (?:has|have) (?:the|a) (?:same )?type\b")
"""Sentences on the type of an output."""
_PATTERN_OF_ABSENCE = (
    r"\bdefaults?\b|\bnot (?:set|specified|provided|present)\b|\bun(?:set|specified)\b|\bomitted\b|\bunless specified\b"
)
_ABSENCE = re.compile(rf"(?i){_PATTERN_OF_ABSENCE}|\boptional\b")
"""Sentences on an argument that a node does not have."""
_OF_DEFAULT = re.compile(rf"(?i){_PATTERN_OF_ABSENCE}")
"""Sentences on the value of an argument that a node does not have."""
_EFFECT_OF_ABSENCE = re.compile(rf"(?i){_PATTERN_OF_ABSENCE}|^optional\b")
"""Sentences on the effect of an argument that a node does not have."""
_IF_ABSENT = re.compile(r"(?i)^if (?:it is |left )?(?:not (?:set|specified|provided|present)|unset)\b")
"""Sentences on nothing but an argument that a node does not have."""
_IF_PROVIDED = re.compile(r"(?i)^(?:if|when)\b.* is (?:provided|specified|set|given)\b")
"""Sentences on an argument that a node has. "Otherwise" in the next sentence is on a node without it."""
_EMPTY_NAME = re.compile(r'^\w+ is named ""$')
"""Conditions that a node has "" in the place of an argument."""
_NOT_SET = re.compile(r"^(?P<name>\w+) is (?:not set|omitted)$")
"""Conditions that a node lacks an argument."""
_EFFECT = r"(?i)^if {0} is (?:specified|set|enabled|true)\b|\b(?:if|when)\b.* equals {0}\b"
"""A sentence on the effect of an argument with this name, or of a value that equals it."""
_ALLOWED = "Must be one of "
"""The beginning of a list of the allowed values of an argument. If only a list names the value of a failure, as that of
direction, it is the sentence on the value."""
_OF_CONSTANTS = re.compile(r"^(?P<names>[A-Z_]{3,}(?: or [A-Z_]{3,})*)(?::| mean\b)")
"""Sentences on constants that are values of an attribute: SAME_UPPER or SAME_LOWER mean ..."""
_OF_FUNCTION = re.compile(r"^(?P<names>[A-Z]\w+)\(x\) - ")
"""Definitions of functions that are values of an attribute."""
_OF_FLAG = re.compile(r"^(?:Whether|The parameter defines) (?!.*\bcompute the output shape\b)")
"""Descriptions of the effect of an attribute that is true or false."""
_OF_DEFAULTS = re.compile(r"\bDefault: (?:\w=\w+(?:, )?)+")
"""The functions of a recurrent operator without the attribute."""
_ASKED_FOR = re.compile(r"^(?P<name>\w+) is asked for$")
"""Conditions that a node has an optional output."""
_HAS_NEGATIVE = re.compile(r"^(?P<name>\w+) has a negative value$")
"""Conditions on the sign of the values of an input."""
_OF_INDICES = re.compile(r"(?i)\bind(?:ex|ices)\b")
"""Descriptions of inputs with indices."""
_BOUNDS = re.compile(
    r"(?i)^(?:all )?(?:index values|values in `\w+`) are (?:expected to be within bounds|allowed to be negative)\b"
)
"""Sentences on the allowed values of indices, among them negative ones."""
_QUOTED = re.compile(r"'\w+'")
"""Names in quotes. A sentence with many lists the values of an argument."""
_IF_VALUE = re.compile(r"(?i)^If `?(?P<name>\w+)`? is (?:set to )?`?(?P<value>-?\d+|true|false)\b")
"""Sentences on one value of an attribute: If `fmod` is `0`."""
_SET_TO = re.compile(r"(?i)\bset(?:ting)? this attribute to (?P<value>-?\d+)\b")
"""Sentences on one value of the attribute that they describe: Set this attribute to 0 if ..."""
_TABLE = re.compile(r"^\|.*\|$")
"""Rows of a table, which define the results of all values in them."""


class Argument(NamedTuple):
    """An optional input or an attribute of the node of a case.

    Attributes:
        description: its text in the schema.
        absent: whether the node lacks it; False if the model has no such node.
        words: the words in its value, if it is an attribute with strings, such as Elu in activations.
        has_default: whether a node without it has a value of it.
    """

    description: str
    absent: bool
    words: tuple[str, ...] = ()
    has_default: bool = False


ABSENT = Argument("", absent=True)
"""An argument that the operator version does not have."""


def sentence(case: Case, result: Result, group: FailureGroup) -> str:
    """Return the sentence that a failure violates.

    If only some forms fail, it is the sentence on such models. Otherwise it is one that the case cites and that
    explains the failures. If no cited one does, it is one on the optional argument without which nothing fails.
    Otherwise it is the definition of the result: the first sentence of an operator's file that is no rule. An imprecise
    value and a random one violate the definition, too.

    If a tool returns an invalid model, it is the sentence on models that this model violates; see `model_rules`.

    A clause of an operator's file may be a part of a sentence; the whole sentence is returned.

    Args:
        case: the smallest case.
        result: its result.
        group: the failures.
    """
    if result.verdict is Verdict.INVALID_MODEL and (text := model_rules.broken(result.message, group.promise)):
        return text
    failure = _Failure(case, result, group)
    if case.outcome is Outcome.UNSPECIFIED:
        order: Sequence[Sequence[str]] = (
            failure.cited_in_text,
            failure.on_values,
            failure.on_arguments,
            failure.of_operator,
        )
    elif case.outcome not in {Outcome.VALUES, Outcome.PROPERTY}:
        order = (failure.all_cited, failure.of_operator)
    elif (form := _only_form(case, group)) is not None and form.text:
        return form.text  # A sentence on models, not of the operator.
    elif result.verdict in _OF_SIGNATURE:
        order = (failure.of_signature, failure.of_operator, failure.cited)
    elif result.verdict is Verdict.WRONG_VALUE and (
        case.outcome is Outcome.PROPERTY or by_rounding(result, most=IMPRECISE)
    ):
        order = (failure.values_of_set, failure.formulas_of_set, failure.of_operator, failure.cited)
    else:
        order = (
            failure.on_changed_type,
            failure.on_sizes,
            failure.on_empty_sets,
            failure.on_further_outputs,
            failure.on_functions_of_message,
            failure.on_negative,
            failure.on_arguments_of_message,
            failure.on_all_values,
            failure.on_types,
            _shared(group, failure.applying),
            failure.on_empty_names,
            failure.on_different_shapes,
            failure.on_ranks,
            failure.on_absence,
            failure.on_asked_outputs,
            failure.on_odd_padding,
            failure.on_value_of_set,
            failure.rows,
            failure.explaining,
            failure.on_shapes,
            failure.on_values,
            failure.formulas,
            failure.on_arguments,
            failure.defaults,
            failure.functions,
            failure.on_set,
            failure.definitions,
            failure.cited,
        )
    return whole_of(case.operator, next((text for texts in order for text in texts), ""))


class _Failure:
    """The sentences that a failure may violate, in lists of one kind each.

    Attributes:
        case: the smallest case.
        result: its result.
        group: the failures.
        texts: the sentences in the operator's file that are in force.
        all_cited: those that the case cites, the one that the failing part violates first.
        cited: those of them that are no introductions.
        inputs: the conditions on the inputs.
        on_shape: whether the failures have the shape of an input in common.
        said_on_shape: whether a refusal mentions the shape of an input.
        empty: whether the failures only have in common that an input has no elements, or a refusal mentions that.
    """

    def __init__(self, case: Case, result: Result, group: FailureGroup) -> None:
        self.case, self.result, self.group = case, result, group
        name, since = split_operator(case.operator)
        op = registry.load().find(*name.rpartition("/")[::2])
        self.texts = [clause.text for clause in (op.clauses if op else ()) if clause.in_force(since or 0)]
        self.all_cited = leading(case, result)
        self.cited = tuple(text for text in self.all_cited if self.applies(text)) or self.all_cited
        self.inputs = [condition for condition in group.conditions if not _ON_TEXT.search(condition)]
        self.on_shape = any(map(_ON_SHAPE.search, self.inputs))
        self.said_on_shape = result.verdict in WITH_MESSAGE and _SAID_ON_SHAPE.search(result.message) is not None
        of_empty = [*map(_NO_ELEMENTS.search, self.inputs)]
        refused = result.verdict in WITH_MESSAGE and _SAID_ON_EMPTY.search(result.message) is not None
        self.empty = any(of_empty) if refused else bool(of_empty) and all(of_empty)

    @functools.cached_property
    def arguments(self) -> dict[str, Argument]:
        """The optional inputs and the attributes of the operator version."""
        return _arguments(self.case)

    @functools.cached_property
    def _version(self) -> OperatorVersion | None:
        """The schema of the operator version of the case; None if it is unknown."""
        return version_of(self.case.operator)

    @functools.cached_property
    def _number(self) -> int | None:
        """The number of the output that fails; None if the result names none."""
        return wrong_output(self.result)

    @property
    def _further_outputs(self) -> tuple[Parameter, ...]:
        """The output that fails, if it is not the first one; otherwise nothing."""
        if not self._number or self._version is None:
            return ()
        return self._version.outputs[self._number : self._number + 1]

    def _describing(self, outputs: Iterable[Parameter]) -> list[str]:
        """Return the sentences in the descriptions of outputs, but not of those that may occur many times."""
        return [text for output in outputs if not output.variadic for text in self.texts if text in output.description]

    @property
    def _on_negative(self) -> bool:
        """Whether the failures have in common that something is negative."""
        return any("negative" in condition for condition in self.group.conditions)

    @property
    def cited_in_text(self) -> list[str]:
        """The cited sentences of this version; that only a later one has a sentence may leave a case open."""
        return [text for text in self.all_cited if self._version is None or text in self._version.text]

    @functools.cached_property
    def _absent(self) -> str:
        """The descriptions of the arguments that the node lacks."""
        return " ".join(argument.description for argument in self.arguments.values() if argument.absent)

    @functools.cached_property
    def _set(self) -> list[str]:
        """The attributes that the smallest case sets, as onesided=1."""
        return titles.attributes(self.case, split_operator(self.case.operator)[0])

    def applies(self, text: str) -> bool:
        """Return whether a sentence decides something, and the smallest case has the value that it is about."""
        if self._only_forbids(text) or self._of_seed(text):
            return False
        if (is_value := self._is_value(text)) is not None:
            return is_value
        of_value = _OF_CONSTANTS.match(text) or _OF_FUNCTION.match(text)
        if of_value is None:
            return _EMPTY.search(text) is None
        return not self._used.isdisjoint(_NAME.findall(of_value["names"]))

    def _of_seed(self, text: str) -> bool:
        """Return whether a sentence is on an argument that a node with random results lacks, such as the seed."""
        return self.case.outcome is Outcome.PROPERTY and text in self._absent

    def _only_forbids(self, text: str) -> bool:
        """Return whether a sentence only forbids other models than the case, which is valid."""
        if self.case.outcome is not Outcome.VALUES:
            return False
        answers = self.result.verdict in {*WRONG, Verdict.CRASH}
        of_range = answers and _RANGE.search(text) is not None and not self._on_negative
        return of_range or _DEMANDS.search(text) is not None

    @functools.cached_property
    def _used(self) -> set[str]:
        """The words in the attributes of the node, and the functions that the text has as defaults."""
        defaults = (match[0] for match in map(_OF_DEFAULTS.search, self.texts) if match is not None)
        return {*self.words, *_NAME.findall(" ".join(defaults))}

    def _is_value(self, text: str) -> bool | None:
        """Return whether a sentence is on the value of an attribute that the node sets; None if it is on none."""
        known = self._known
        if (setting := _SET_TO.search(text)) is not None and known is not None:
            named = [name for name, argument in self.arguments.items() if text in argument.description]
            named = named or [item.partition("=")[0] for item in self._set]  # The text is on the only attribute.
            present = [name for name in named if not self.arguments[name].absent]
            return known.meets(f"{present[0]}={setting['value']}") if len(named) == len(present) == 1 else None
        of_case = _IF_VALUE.match(text)
        if of_case is None or known is None or self.arguments.get(of_case["name"], ABSENT).absent:
            return None
        value = {"true": "1", "false": "0"}.get(of_case["value"].lower(), of_case["value"])
        return known.meets(f"{of_case['name']}={value}")

    @property
    def values_of_set(self) -> list[str]:
        """The sentences on a value of an attribute that the smallest case sets: If `fmod` is `1`, ..."""
        return [text for text in self.texts if self._is_value(text) and not _OF_SHAPE.search(text)]

    @property
    def on_value_of_set(self) -> list[str]:
        """As `values_of_set`, for a wrong value; nothing if a cited sentence marks the failures."""
        found = self.values_of_set if self.result.verdict is Verdict.WRONG_VALUE else []
        marking = [text for text in self.applying if text in self.group.marking and not _is_side(text, self.case)]
        return found if {*marking} <= {*found} else []

    @property
    def applying(self) -> list[str]:
        """The cited sentences that decide something, and are not on an argument that the node lacks."""
        applying = filter(self.applies, self.cited)
        return [text for text in applying if not _of_absent(text, self.arguments, with_default=False)]

    @property
    def words(self) -> list[str]:
        """The words in the attributes of the node, such as Elu in activations."""
        return [word for argument in self.arguments.values() for word in argument.words]

    @functools.cached_property
    def matters(self) -> list[str]:
        """The words of the conditions that the smallest case confirms, among them names of arguments."""
        if self.empty and len(self.inputs) > 1:  # The message is on the missing elements, not on an argument.
            return []
        confirmed = [each for each in self._met if _matters(each, self.arguments)]
        return [word for each in confirmed for word in _NAME.findall(_OF_SIZE_0.sub("", each))]

    @functools.cached_property
    def _met(self) -> list[str]:
        """The conditions that are not untrue of the smallest case."""
        known = self._known
        return [each for each in self.group.conditions if known is None or not _is_untrue(known, each)]

    @property
    def _of_call(self) -> list[str]:
        """The conditions on the node and its inputs that are not untrue of the smallest case."""
        return [condition for condition in self._met if not condition.startswith(titles.UNTOLD)]

    @functools.cached_property
    def _known(self) -> KnownCall | None:
        """The facts about the node of the smallest case."""
        return known_of_case(self.case)

    @functools.cached_property
    def of_operator(self) -> list[str]:
        """All sentences in force, the definition of the result first and rules last."""
        texts = [*filter(self.applies, self.texts)] or self.texts
        of_value = (_SIZE_OF_RESULT,) if self.result.verdict is Verdict.WRONG_VALUE else ()
        rules = (_RULE, _EXAMPLE, _OF_INPUTS, *of_value)
        texts = sorted(texts, key=lambda text: (_is_one_of(text, rules), text in self._absent))
        return _definitions(self.case, self.all_cited, texts) if self.result.verdict not in _OF_SIGNATURE else texts

    @property
    def definitions(self) -> list[str]:
        """As `of_operator`; but if the text has no definition, as that of Loop, cited sentences are first."""
        if self.of_operator and not _SIDE.search(self.of_operator[0]):
            return self.of_operator
        # Without a definition, the file begins with a sentence on an argument.
        texts = [*self.cited, *self.of_operator]
        of_value = (_OF_KEPT,) if self.result.verdict is Verdict.WRONG_VALUE else ()
        beside = (_RULE, _EMPTY, *of_value)
        return sorted(texts, key=lambda text: _is_one_of(text, beside) or _is_short_side(text))

    @property
    def of_signature(self) -> list[str]:
        """The sentences that a wrong type, shape or number of outputs may violate, the best ones first."""
        if self.result.verdict is Verdict.WRONG_TYPE:
            return [*_of_output(self.case, self.result, self.texts), *self.cited]
        decisive = [text for text in self.cited if not _is_one_of(text, (_OF_KEPT, _EMPTY))]
        other = self._outputs_first(decisive)
        if self.result.verdict is not Verdict.WRONG_SHAPE:
            return other
        if (found := _SHAPES.search(self.result.message)) is None:
            return [*self._of_dimensions(), *filter(_OF_RANK.search, self.texts), *other]
        wanted, given = (found["wanted"], found["inferred"]) if found["wanted"] is not None else (found[1], found[2])
        expected, actual = ([int(size) for size in sizes.split(",") if size.strip()] for sizes in (wanted, given))
        on_shape = self._of_rank(expected) if len(expected) != len(actual) else list(filter(_ONES.search, self.texts))
        if sorted(expected) == sorted(actual):
            on_shape += filter(_OF_ORDER.search, self.texts)
        if len(expected) == len(actual):
            other = [text for text in other if not _SAME_RANK.search(text)]
        shapes = [[*value.shape] for value in self.case.inputs.values() if isinstance(value, np.ndarray)]
        if expected in shapes and not self._number:
            on_shape += filter(_AS_INPUT.search, self.texts)
        if any(shape != shapes[0] for shape in shapes):
            on_shape += filter(_BROADCASTS.search, self.texts)
        explaining = [text for text in other if not self._is_aside(text)]
        # The smallest case has only those arguments without which nothing fails.
        present = [name for name, argument in self.arguments.items() if not argument.absent]
        assigned = [
            text for text in self.texts if any(re.search(rf"\b{re.escape(item)}\b", text) for item in self._set)
        ]
        on_present = self._on(present, self.arguments, on_shape=False)
        marked = [text for text in self.on_arguments if text in self.group.marking and len(text) >= SHORT]
        if not explaining or explaining[0] not in self.group.marking:
            marked += [text for text in self._describing(self._further_outputs) if not self._of_other_call(text)]
        if not any(_is_one_of(text, (_SHAPE, _ON_SIZE)) for text in [*explaining[:1], *self.on_arguments]):
            marked += [text for text in self.texts if _is_one_of(text, (_SIZES, _SIZE_OF_RESULT))]
        other = [*_shared(self.group, other), *marked, *explaining, *self.on_arguments, *assigned, *on_present, *other]
        return [*self._of_dimensions(pruned=len(expected) != len(actual)), *on_shape, *other]

    def _outputs_first(self, texts: list[str]) -> list[str]:
        """Return sentences on outputs first if an operator has several.

        If no sentence is on outputs, return the one on their sequence first.
        """
        outputs = [item for item in self._version.outputs if item.variadic] if self._version is not None else []
        if not outputs:
            return texts
        on_outputs = [text for text in texts if _ON_OUTPUT.search(text)]
        described = [text for text in self.texts if text in outputs[0].description and _SEQUENCE.search(text)]
        return [*(on_outputs or described), *texts]

    def _of_other_call(self, text: str) -> bool:
        """Return whether a sentence is on nodes with an argument that the node lacks: When 'axis' is provided, ..."""
        absent = {name for name, argument in self.arguments.items() if argument.absent}
        whole = whole_of(self.case.operator, text)  # The file may contain only its end.
        return _IF_PROVIDED.search(whole) is not None and not absent.isdisjoint(_NAME.findall(whole))

    def _is_aside(self, text: str) -> bool:
        """Return whether a cited sentence explains less than one on an argument that matters.

        Such sentences are on an argument that the node lacks, or only on the range or the default of one.
        """
        absent = [argument.description for argument in self.arguments.values() if argument.absent]
        of_absent = any(text in each for each in absent) and {*self.matters}.isdisjoint(_NAME.findall(text))
        of_default = len(text) < SHORT and _ABSENCE.search(text) is not None
        return of_absent or of_default or _RANGE.search(text) is not None

    def _of_dimensions(self, *, pruned: bool = True) -> list[str]:
        """Return the sentences on dimensions with keepdims=0, and on the shapes with a value such as SAME_LOWER.

        Args:
            pruned: whether the first ones can explain the failure.
        """
        texts = (*self.cited, *self.texts)
        pruned = pruned and "keepdims=0" in {*self.group.conditions, *self._set}
        found = map(_KEPT.search, texts) if pruned else ()
        kept = [match[0] for match in found if match is not None]  # Without the sentences after it in a clause.
        # The smallest case needs the values that its node has.
        written = {word for value in self.words for word in _NAME.findall(value)}
        on_values = [
            text
            for text in texts
            if not _RULE.search(text) and _OF_SHAPE.search(text) and written & {*_NAME.findall(text)}
        ]
        return [*kept, *on_values]

    def _of_rank(self, expected: Sequence[int]) -> list[str]:
        """Return the sentences that a result of another rank violates.

        Args:
            expected: the expected shape.
        """
        texts = (*self.cited, *self.texts)
        number, schema_ = self._number, source_of(self.case.operator)
        found = [text for text in texts if not expected and _SCALAR_RESULT.search(text)]
        of_output: list[str] = []
        if number is not None and schema_ is not None and number < len(schema_.outputs):
            output = schema_.outputs[number]
            of_name = (f"{output.name}.shape = ", f"the shape of `{output.name}`")
            found += [text for text in texts if any(words in text for words in of_name)]
            described = schema.fold(output.description)
            of_output = [text for text in self.texts if text in described and _OF_SHAPE.search(text)]
        first = next((value for value in self.case.inputs.values() if isinstance(value, np.ndarray)), None)
        if first is not None and first.ndim == len(expected):
            found += filter(_SAME_RANK.search, self.texts)
        found += filter(_OF_RANK.search, self.texts)
        return [*found, *(text for text in of_output if not _RULE.search(text))]

    @property
    def on_functions_of_message(self) -> list[str]:
        """The definitions of those functions in the attributes of the node that the message of a refusal names."""
        message = self.result.message.lower() if self.result.verdict in WITH_MESSAGE else ""
        return _of_functions([word for word in self.words if word.lower() in message], self.texts)

    @property
    def functions(self) -> list[str]:
        """The definitions of the functions in the attributes of the node, the last one first: Elu of [Sigmoid, Elu]."""
        return _of_functions(reversed(self.words), self.texts)

    @property
    def on_arguments_of_message(self) -> list[str]:
        """The sentences on the arguments that the message of a refusal is about."""
        named = _named_by(self.result, self.arguments)
        required = _required_inputs(self.case) if self.result.verdict in WITH_MESSAGE else {}
        of_required = [
            name
            for name in required
            if len(name) > 1 and re.search(_REQUIRED.format(re.escape(name)), self.result.message)
        ]
        found = self._on(named, self.arguments, on_shape=self.said_on_shape)
        said = any(word in self.result.message for name in named for word in self.arguments[name].words)
        if len(named) > 1 or said:  # Of several sentences, those precede that the failures cite.
            found.sort(key=lambda text: text not in self.group.deciding)
        found += self._on(of_required, required, on_shape=self.said_on_shape)
        if "rank" not in self.result.message:  # Tensor of rank r >= 1.
            found = [text for text in found if _EMPTY.search(text) is None]
        if not found or not self.said_on_shape or _SHAPE.search(found[0]):
            return found
        return [*(text for text in self.cited if text in self.group.marking and _SHAPE.search(text)), *found]

    @property
    def on_changed_type(self) -> list[str]:
        """The sentences on the type of the output whose type a tool has changed."""
        changed, version = _CHANGED_TYPE.match(self.result.message), self._version
        if self.result.verdict is not Verdict.INVALID_MODEL or changed is None or version is None:
            return []
        return _constraints(version, (item.type for item in version.outputs if item.name == changed["output"]))

    @property
    def on_sizes(self) -> list[str]:
        """The formulas for the dimensions of the result, if a refused input or the result has no elements."""
        nothing = any(map(_is_empty, self.case.expected or ()))
        refused = (self.empty or nothing) and self.result.verdict in WITH_MESSAGE
        return [text for text in (*self.cited, *self.texts) if refused and _SIZES.search(text)]

    @property
    def on_further_outputs(self) -> list[str]:
        """The formulas for the output with a wrong value, if it is not the first one, and its description."""
        outputs = self._further_outputs
        if self.result.verdict is not Verdict.WRONG_VALUE or not outputs:
            return []
        formulas = [text for text in self.texts if any(text.startswith(f"{output.name} = ") for output in outputs)]
        explaining = next(iter(self.explaining), "")
        on_argument = bool(explaining) and any(explaining in each.description for each in self.arguments.values())
        described = () if on_argument else filter(self._describes_value, self._describing(outputs))
        return [*formulas, *described]

    @property
    def on_asked_outputs(self) -> list[str]:
        """The sentences on an optional output that a runtime cannot return: its description, and those that name it."""
        if self.result.verdict not in {Verdict.REFUSED, Verdict.CRASH, Verdict.TIMEOUT} or self._version is None:
            return []
        found = [*map(_ASKED_FOR.search, self._of_call)]
        asked = {match["name"] for match in found if match is not None}
        if None in found:  # Another condition may decide.
            return []
        outputs = [output for output in self._version.outputs if output.name in asked and not output.variadic]
        described = filter(self._describes_value, self._describing(outputs))
        naming = [text for output in outputs for text in self.texts if output.name in _NAME.findall(text)]
        return [*described, *filter(self.applies, naming)]

    def _describes_value(self, text: str) -> bool:
        """Return whether a sentence in the description of an output is on its values."""
        on_others = (_OF_SHAPE, _DIMENSIONS, _SIDE, _RULE)
        return len(text) >= SHORT and self.applies(text) and not _is_one_of(text, on_others)

    @property
    def on_odd_padding(self) -> list[str]:
        """The sentence on the side of odd padding, if values are wrong with SAME_UPPER or SAME_LOWER.

        The other sentences on them are on the shape of the result.
        """
        same = self.result.verdict is Verdict.WRONG_VALUE and not {"SAME_UPPER", "SAME_LOWER"}.isdisjoint(self.words)
        return [text for text in self.texts if same and _OF_SIDE.search(text)]

    @property
    def on_empty_sets(self) -> list[str]:
        """The sentences on a reduction of no elements, if the first input has none and the result has some."""
        first = next(iter(self.case.inputs.values()), None)
        answers = any(isinstance(value, np.ndarray) and value.size for value in self.case.expected or ())
        found = map(_OF_EMPTY_SET.search, (*self.cited, *self.texts)) if answers and _is_empty(first) else ()
        return [match[0] for match in found if match is not None]  # Without the sentences before it in a clause.

    @property
    def on_all_values(self) -> list[str]:
        """The sentences on exactly the values of several attributes that the failures have in common."""
        return _of_all_values(self._met, [*self.cited, *self.texts])

    @property
    def on_types(self) -> list[str]:
        """The sentences on the types that a runtime refuses."""
        found = (
            _of_type(self.case, self.result, self.group, self._met)
            or _of_mixed_types(self.case, self.result)
            or _of_refused_type(self.case, self.result)
        )
        if found or self.result.verdict is not Verdict.REFUSED or not _SAID_ON_TYPES.search(self.result.message):
            return found
        choosing = [
            name
            for name, argument in self.arguments.items()
            if not argument.absent and _CHOOSES_TYPE.search(argument.description)
        ]
        return self._on(choosing, self.arguments, on_shape=False)

    @property
    def explaining(self) -> list[str]:
        """The cited sentences that explain the failures."""
        group = self.group
        cited = [text for text in group.deciding if text in self.cited and self.applies(text)]
        explain = [
            text
            for text in cited
            if not _is_side(text, self.case) and not _of_absent(text, self.arguments, with_default=True)
        ]
        explain += [
            text
            for text in cited
            if text in group.marking
            and not _OF_KEPT.search(text)
            and not _of_absent(text, self.arguments, with_default=False)
        ]
        if self.empty and self.result.verdict is not Verdict.WRONG_VALUE:
            explain = [text for text in explain if text in group.marking and not _SHAPE.search(text)]
        if self.result.verdict is Verdict.WRONG_VALUE:
            # An empty set, which may follow, has been looked for before.
            on_others = (_DIMENSIONS, _SAME_RANK, _KEPT, _SIZE_OF_RESULT, _TYPE_OF_OUTPUT, _OF_STATES)
            explain = [text for text in explain if not _is_one_of(text, on_others)]
            explain = [text for text in explain if not self._is_list(text) and not self._of_another_output(text)]
            if explain and self.inputs and all(map(_TYPE.match, self.inputs)):
                on_types = [text for text in explain if _MENTIONS_TYPES.search(text) or text in group.marking]
                return on_types or [*self.on_values, *self.definitions]  # The definition is for every type.
        if explain and _ELSEWHERE.search(explain[0]):  # A formula is more precise than the name of a paper.
            explain.sort(key=lambda text: _FORMULA.search(text) is None)
        if not explain or _ELSEWHERE.search(explain[0]):
            return []
        named = {word for word in self.matters if word in self.arguments}
        on_absence = bool(self._of_call) and all(map(_NOT_SET.search, self._of_call))
        if on_absence and explain[0] in group.marking:
            # The sentence that only the failures cite, and no other one on the absent argument.
            return [] if _DIMENSIONS.search(explain[0]) else explain
        if _FORMULA.search(explain[0]) or not named.isdisjoint(_NAME.findall(explain[0])):
            return explain
        # The definition of a function is more precise than the description of the attribute that names it.
        described = [argument.words for argument in self.arguments.values() if explain[0] in argument.description]
        chosen = _of_functions((word for words in described for word in reversed(words)), self.texts)
        return [*self.on_values, *self.formulas, *self.on_arguments, *chosen, *explain]

    def _is_list(self, text: str) -> bool:
        """Return whether a sentence lists values of an argument, and the failures have no such value in common."""
        common = {word for condition in self._met for word in _NAME.findall(condition)}
        listed = [word.strip("'") for word in _QUOTED.findall(text)]
        if text.startswith(_ALLOWED):
            return {*common, *self.words}.isdisjoint(word for word in _NAME.findall(text) if word.isalpha())
        return len(listed) > MOST_NAMED and common.isdisjoint(listed)

    def _of_another_output(self, text: str) -> bool:
        """Return whether a sentence describes another output than the one with a wrong value."""
        if self._number is None or self._version is None or self._version.outputs[-1].variadic:
            return False
        described = [text in output.description for output in self._version.outputs]
        return any(described) and not described[self._number]

    @property
    def on_ranks(self) -> list[str]:
        """The sentences on the shape of an input whose rank the refusals have in common."""
        words = [word for each in self.inputs if _ON_RANK.search(each) for word in _NAME.findall(each)]
        if self.result.verdict is not Verdict.REFUSED or not words:
            return []
        arguments = {**_required_inputs(self.case), **self.arguments}
        found = [text for text in self._on(words, arguments, on_shape=True) if _SHAPE.search(text)]
        ranks = [int(match[1]) for match in map(_RANK.search, self.inputs) if match is not None]
        of_any_rank = [text for text in self.texts if max(ranks, default=0) > OF_IMAGE and _OF_ANY_RANK.search(text)]
        return [*of_any_rank, *(text for text in found if self.said_on_shape or not _ANY_RANK.search(text))]

    @property
    def on_empty_names(self) -> list[str]:
        """The sentence on absent arguments that are written as "", if the failures have one in common."""
        named = any(_EMPTY_NAME.search(condition) for condition in self._met)
        return [form.text] if named and (form := table.find("omitted")) is not None else []

    @property
    def on_different_shapes(self) -> list[str]:
        """The sentences on shapes that may differ, if a runtime refuses that they do."""
        differ = self.result.verdict is Verdict.REFUSED and _SAID_DIFFERENT.search(self.result.message) is not None
        return [text for text in self.texts if differ and "different shapes" in text]

    @property
    def on_absence(self) -> list[str]:
        """The cited sentences on the effect of an absent argument, if the failures have its absence in common."""
        found = [match["name"] for match in map(_NOT_SET.search, self.group.conditions) if match is not None]
        lacked = [name for name in found if name in self.arguments and self.arguments[name].absent]
        on_effect = [
            text
            for name in lacked
            for text in self.cited
            if text in self.group.marking
            and _EFFECT_OF_ABSENCE.search(text)
            and not _RULE.search(text)
            and (text in self.arguments[name].description or name in _NAME.findall(text))
        ]
        otherwise = [
            text
            for before, text in itertools.pairwise(self.texts)
            if text.startswith("Otherwise ") and _IF_PROVIDED.search(before) and {*lacked} & {*_NAME.findall(before)}
        ]
        return [*on_effect, *otherwise]

    @property
    def on_negative(self) -> list[str]:
        """The sentences on negative values, or on the values of indices, if the failures have some in common."""
        marking = [text for text in self.cited if text in self.group.marking and _NEGATIVE.search(text)]
        if marking and any("negative" in condition for condition in self._met):
            return marking
        names = [match["name"] for match in map(_HAS_NEGATIVE.search, self._met) if match is not None]
        required = _required_inputs(self.case) if names else {}
        indices = [
            name for name in names if name in required and _OF_INDICES.search(f"{name} {required[name].description}")
        ]
        return [text for text in self.texts if indices and _BOUNDS.search(text)]

    @property
    def on_shapes(self) -> list[str]:
        """The sentences on the shape that a runtime refuses."""
        on_broadcast = self.result.verdict is Verdict.REFUSED and "broadcast" in self.result.message
        if on_broadcast and (found := [text for text in self.texts if _BROADCASTS.search(text)]):
            return found
        if self.empty or not self.said_on_shape:
            return []
        deciding = [text for text in self.group.deciding if _SHAPE.search(text) and not _EMPTY.search(text)]
        if self.on_shape and deciding:
            return deciding
        arrays = [value for value in self.case.inputs.values() if isinstance(value, np.ndarray)]
        elements = all(value.size for value in arrays)
        alone = len(self.cited) == 1 and elements
        on_cited = [text for text in self.cited if alone and _SHAPE.search(text)]
        on_cited = [text for text in on_cited if not _is_one_of(text, (_RANGE, _EMPTY))]
        differ = elements and len({value.shape for value in arrays}) > 1
        return [*on_cited, *(text for text in self.texts if differ and _BROADCASTABLE.search(text))]

    @property
    def rows(self) -> list[str]:
        """The rows of tables that the case cites."""
        return [text for text in self.cited if _TABLE.search(text)]

    @functools.cached_property
    def on_values(self) -> list[str]:
        """The sentences on the values of arguments that the failures have in common."""
        found = _on_values(self._met, self.matters, [*self.cited, *self.texts], self.arguments)
        return [text for text in found if not _of_absent(text, self.arguments, with_default=False)]

    @functools.cached_property
    def formulas(self) -> list[str]:
        """The formulas that name an argument that matters."""
        of_value = self.result.verdict is Verdict.WRONG_VALUE
        return [
            text
            for word in self.matters
            if word in self.arguments and of_value
            for text in self.texts
            if re.search(rf"\b{re.escape(word)}\b", text)
            and _CODE.search(text)
            and not _is_one_of(text, (_RULE, _OF_SHAPE, _DIMENSIONS, _EXAMPLE))
        ]

    @functools.cached_property
    def on_arguments(self) -> list[str]:
        """The sentences on the arguments that matter, those that most of the failures cite first."""
        deciding = self.group.deciding
        found = self._on(self.matters, self.arguments, on_shape=self.on_shape)
        found = [text for text in found if text not in self._absent or _ABSENCE.search(text)]
        return sorted(found, key=lambda text: deciding.index(text) if text in deciding else len(deciding))

    def _is_short_description(self, text: str) -> bool:
        """Return whether a sentence is short, as one on a default, and describes an argument that the node has."""
        present = [argument.description for argument in self.arguments.values() if not argument.absent]
        return len(text) < SHORT and any(text in description for description in present)

    @property
    def defaults(self) -> list[str]:
        """The only cited sentence, if it is on a default, and most of the failures, or no other ones, cite it."""
        return [
            text
            for text in self.cited
            if len(self.cited) == 1
            and not self.empty
            and self.case.outcome is not Outcome.PROPERTY  # The text defines a random value, whatever the seed.
            and _ABSENCE.search(text) is not None
            and not _OF_SHAPE.search(text)
            and not _OF_SIZE.search(text)
            and not self._is_short_description(text)
            and (
                (text in self.group.deciding and 2 * _citing(text, self.group) >= 1)
                or (
                    not self.group.deciding
                    and len(text) >= SHORT
                    and _OF_DEFAULT.search(text)
                    and not _RULE.search(text)
                )
            )
        ]

    @property
    def on_set(self) -> list[str]:
        """The sentences on the attributes that the smallest case needs to fail, if it meets no condition."""
        met = [condition for condition in self._met if not _ON_TEXT.search(condition)]
        if met:
            return []
        names = [item.partition("=")[0] for item in self._set]
        values = [word for name in names for word in self.arguments.get(name, ABSENT).words]
        others = [text for text in self.texts if not _RULE.search(text) and len(_QUOTED.findall(text)) <= MOST_NAMED]
        effects = [text for text in others if not _OF_SHAPE.search(text) and not self._is_short_description(text)]
        constants = [value for value in values if value.isupper()]  # Only these are no ordinary words of a sentence.
        on_values = [text for value in constants for text in effects if value in _NAME.findall(text)]
        described = [self.arguments[name].description for name in names if name in self.arguments]
        defining = [text for text in effects if _CODE.search(text) or not _SIDE.search(text)]
        cited = [text for each in described for text in self.cited if text in each and text in defining]
        on_effects = [
            text for name in names for text in others if len(text) >= SHORT and re.search(_EFFECT.format(name), text)
        ]
        # The failures may have another value of such an attribute in common than the smallest case has.
        others_of = [match["name"] for each in self.group.conditions for match in _VALUE.finditer(each)]
        on_named = self._on([name for name in others_of if name in names], self.arguments, on_shape=False)
        flags = [text for each in described for text in effects if text in each and _OF_FLAG.search(text)]
        lists = [
            text
            for text in self.texts
            if text.startswith(_ALLOWED)
            and any(value in _NAME.findall(text) and f"{value} (default)" not in text for value in values)
        ]
        of_value = self.result.verdict is Verdict.WRONG_VALUE
        others_of_value = (*flags, *lists) if of_value else ()
        formulas = self.formulas_of_set if of_value else ()
        return [*on_values, *cited, *on_named, *on_effects, *formulas, *others_of_value]

    @property
    def formulas_of_set(self) -> list[str]:
        """The formulas that name an attribute that the smallest case sets."""
        names = [item.partition("=")[0] for item in self._set]
        of_inputs = " ".join(item.description for item in _required_inputs(self.case).values())
        return [
            text
            for name in names
            if len(name) >= SHORTEST_NAME
            for text in self.texts
            if text not in of_inputs
            and re.search(rf"\b{re.escape(name)}\b(?! ?=)", text)
            and _CODE.search(text)
            and not _is_one_of(text, (_RULE, _OF_SHAPE, _EXAMPLE, _OF_DEFAULT))
        ]

    def _on(self, words: Iterable[str], arguments: Mapping[str, Argument], *, on_shape: bool) -> list[str]:
        """Return the sentences in the descriptions of arguments that apply, first those on shapes if these decide.

        Args:
            words: the names of the arguments; other words are ignored.
            arguments: the arguments of the operator version.
            on_shape: whether the shape of an argument decides.
        """
        found = [
            text
            for argument in (arguments[word] for word in words if word in arguments)
            for text in self.texts
            if text in argument.description
            and not self._only_forbids(text)
            and not (self.result.verdict is Verdict.WRONG_VALUE and self._is_list(text))
            and not _does_not_apply(text, present=not argument.absent, negative=self._on_negative, on_shape=on_shape)
        ]
        return sorted(found, key=lambda text: _SHAPE.search(text) is None) if on_shape else found


def _is_empty(value: object) -> bool:
    """Return whether a value is a tensor without elements."""
    return isinstance(value, np.ndarray) and not value.size


def may_decide_value(text: str) -> bool:
    """Return whether a sentence may decide a value: one on types, shapes or defaults does not."""
    return _SIDE.search(text) is None


def _definitions(case: Case, cited: Sequence[str], of_operator: list[str]) -> list[str]:
    """Return the definitions of a value, the best ones first: a formula for it precedes the name of a paper.

    Args:
        case: the smallest case.
        cited: the sentences that it cites.
        of_operator: the sentences in the operator's file that are in force, the definition of the result first.
    """
    if not of_operator or not _ELSEWHERE.search(of_operator[0]):
        return of_operator
    # The text writes y for the output, or its name. The outputs of recurrent operators consist of Ht.
    names = [name.lower() for name in (*case.outputs, "y", "ht")]
    begins = tuple(f"{word}{name} = " for name in names for word in ("", "compute "))
    formulas = [text for text in of_operator if text.lower().startswith(begins)]
    formulas += [text for text in of_operator if text.lower().startswith(tuple(f"{name}[" for name in names))]
    states = [text for text in formulas if text.startswith("Ht = ")]  # The hidden layer of GRU is ht.
    if len(states) == 1:
        return [*states, *of_operator]
    # Only the case knows which of several formulas applies, such as those of training and inference.
    return [*(formulas if len(formulas) == 1 else filter(cited.__contains__, formulas)), *of_operator]


def _of_absent(text: str, arguments: Mapping[str, Argument], *, with_default: bool) -> bool:
    """Return whether a sentence is on an argument that the node lacks, and not on the effect of its absence.

    Args:
        text: the sentence.
        arguments: the arguments of the operator version.
        with_default: whether the description of an attribute with a default counts, too.
    """
    absent = {name: argument for name, argument in arguments.items() if argument.absent}
    named = any(
        text.startswith((f"`{name}`", f"If {name} is ", f"A negative {name} "))
        or (f"`{name}`" in text and not argument.has_default)
        for name, argument in absent.items()
    )
    described = any(
        text in argument.description for argument in absent.values() if with_default or not argument.has_default
    )
    return _EFFECT_OF_ABSENCE.search(text) is None and (named or described)


def _is_untrue(known: KnownCall, condition: str) -> bool:
    """Return whether a node does not meet a condition, which may be on several values: inverse=1 and onesided=1."""
    parts = condition.split(" and ")
    single = parts if all(map(_VALUE.search, parts)) else [condition]
    return any(known.meets(part) is False for part in single)


def _matters(condition: str, arguments: Mapping[str, Argument]) -> bool:
    """Return whether the smallest case confirms a condition on an argument: if it is on its value, it has one."""
    named = [match["name"] for match in _VALUE.finditer(condition)]
    absent = any(name in arguments and arguments[name].absent for name in named)
    return not absent and not condition.startswith("without ")


def _citing(text: str, group: FailureGroup) -> float:
    """Return the part of the failures whose cases cite a sentence."""
    return sum(text in result.clauses for result in group.results) / len(group.results)


def _shared(group: FailureGroup, cited: Sequence[str]) -> list[str]:
    """Return the cited sentences that, according to the conditions of a group, only its failures cite."""
    return [
        text
        for text in cited
        if any(traits.citation(text) == condition for condition in group.conditions) and not _OF_SHAPE.search(text)
    ]


def _does_not_apply(text: str, *, present: bool, negative: bool, on_shape: bool) -> bool:
    """Return whether a sentence on an argument does not apply to how a case uses it, or only repeats its name.

    Args:
        text: the sentence.
        present: whether the node of the case has the argument.
        negative: whether the failures have in common that something is negative.
        on_shape: whether they have the shape of an input in common.
    """
    if on_shape and _SHAPE.search(text):
        return False
    short = _ABSENCE.search(text) is not None and len(text) < SHORT
    of_absent = present and (short or _IF_ABSENT.search(text) is not None)
    of_negative = not negative and _NEGATIVE.search(text) is not None
    return of_absent or of_negative or _RULE.search(text) is not None or _EMPTY.search(text) is not None


def _named_by(result: Result, arguments: Mapping[str, Argument]) -> list[str]:
    """Return the arguments that the message of a refusal is about, or nothing if it lists many arguments."""
    if result.verdict not in WITH_MESSAGE:
        return []
    words = [word.strip("_") for word in _NAMED.findall(_LISTED.sub("", result.message))]  # A member may be scale_.
    said = result.message.lower()
    # A message may write missing_value as words.
    written = [name for name in arguments if "_" in name and name.replace("_", " ") in said]
    named = dict.fromkeys([*(word for word in words if word in arguments), *written])
    return list(named) if len(named) <= MOST_NAMED else []


def _on_values(
    conditions: Sequence[str], matters: Sequence[str], texts: Sequence[str], arguments: Mapping[str, Argument]
) -> list[str]:
    """Return the sentences on the values that decide, such as SAME_LOWER, other than lists of all values.

    Args:
        conditions: those that the failures have in common; they may name values.
        matters: the words of the conditions, among them names of arguments.
        texts: the sentences in the operator's file.
        arguments: the arguments of the node.
    """
    found = [match for condition in conditions for match in _VALUE.finditer(condition)]
    values = (match["value"] for match in found if match["name"] in arguments)
    words = [word for value in values for word in _WORD_OF_VALUE.findall(value)]
    words += [_WRITTEN.get(match["type"], match["type"]) for match in found if match["typed"] in arguments]
    about = [text for word in words for text in texts if re.search(rf"\b{re.escape(word)}\b", text)]
    # The definition of a function that a condition does not name, but that the argument in it chooses.
    chosen = [word for name in matters if name in arguments for word in arguments[name].words]
    about += _of_functions(chosen, texts)
    lists = [text for text in about if text.startswith(_ALLOWED)]
    effects = tuple(f"Use {word} for " for word in words)
    beside = (_RULE, _SIDE, _EMPTY)
    about = [text for text in about if any(map(text.__contains__, effects)) or not _is_one_of(text, beside)]
    return [*about, *lists]


def _of_functions(names: Iterable[str], texts: Sequence[str]) -> list[str]:
    """Return the definitions of functions such as Elu: Elu(x) - x if x >= 0 else alpha * (e^x - 1)."""
    return [text for name in names for text in texts if text.startswith(f"{name}(")]


def _of_all_values(conditions: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return the sentences on exactly the values of several attributes that the failures have in common."""
    found = [match for each in conditions for match in _VALUE.finditer(each)]
    values = [match[0] for match in found if match[0] == f"{match['name']}={match['value']}"]
    return [text for text in texts if len(values) > 1 and all(re.search(rf"\b{re.escape(v)}\b", text) for v in values)]


def _of_output(case: Case, result: Result, texts: list[str]) -> list[str]:
    """Return the sentences on the type of the output that has a wrong one, or nothing.

    Args:
        case: the smallest case.
        result: its result.
        texts: the sentences in the operator's file that are in force.
    """
    number, version = wrong_output(result), version_of(case.operator)
    if number is None or version is None:
        return []
    output = version.outputs[min(number, len(version.outputs) - 1)]  # The last one may be variadic.
    constraint = version.constraints.get(output.type, f"Signature: {output.name}: {output.type}")
    return [*(text for text in texts if _TYPE_OF_OUTPUT.search(text)), *filter(None, (constraint,))]


def _of_type(case: Case, result: Result, group: FailureGroup, met: Sequence[str]) -> list[str]:
    """Return the sentence on the types that a runtime refuses, if only the type of a tensor decides; or nothing.

    Args:
        case: the smallest case.
        result: its result.
        group: the failures.
        met: their conditions that are not untrue of the smallest case.
    """
    found = [_TYPE.match(condition) for condition in met if not _ON_TEXT.search(condition)]
    version = version_of(case.operator)
    if result.verdict is not Verdict.REFUSED or not found or None in found or version is None:
        return []
    named = {match["name"] for match in found if match is not None}
    types = [item.type for item in (*version.inputs, *version.outputs) if item.name in named]
    element = next(filter(None, (result.element_type, *(item.element_type for item in group.results))), "")
    types += [variable for variable, allowed in version.types.items() if f"tensor({element})" in allowed]
    return _constraints(version, types)[:1]


def _of_mixed_types(case: Case, result: Result) -> list[str]:
    """Return the sentence on a type that differs from that of the first input, if the runtime refuses the types."""
    version = version_of(case.operator)
    if result.verdict is not Verdict.REFUSED or not _SAID_ON_TYPES.search(result.message) or version is None:
        return []
    types = dict(_types_of_inputs(case, version))
    first = next(iter(types), "")
    allowed = version.types.get(first, ())
    other = (
        variable
        for variable, type_ in types.items()
        if type_ != types[first] and version.types.get(variable) == allowed
    )
    return _constraints(version, other)[:1]


def _of_refused_type(case: Case, result: Result) -> list[str]:
    """Return the sentence on the type that a runtime names and refuses, or on that of the first input; or nothing."""
    version, named = version_of(case.operator), _REFUSED_TYPE.search(result.message)
    if result.verdict is not Verdict.REFUSED or version is None:
        return []
    if named is None and not _REFUSED_TYPES.search(result.message):
        return []
    types = _types_of_inputs(case, version)
    refused = "" if named is None else named["type"] or (named["other"] or named["left"]).replace("_", "")
    of_type = [variable for variable, type_ in types if type_ == _OTHER_NAMES.get(refused, refused) or not refused]
    return _constraints(version, of_type)[:1]


def _constraints(version: OperatorVersion, variables: Iterable[str]) -> list[str]:
    """Return the sentences on type variables that have one."""
    return [version.constraints[variable] for variable in variables if variable in version.constraints]


def _types_of_inputs(case: Case, version: OperatorVersion) -> Iterator[tuple[str, str]]:
    """Yield the type variable and the element type of each input that is a tensor."""
    variables = {item.name: item.type for item in version.inputs}
    for name, value in case.inputs.items():
        if isinstance(value, np.ndarray) and name in variables:
            yield variables[name], element_type(value.dtype).name


def _arguments(case: Case) -> dict[str, Argument]:
    """Return the optional inputs and the attributes of the operator version of a case."""
    if (known := source_of(case.operator)) is None:
        return {}
    domain, _, operator = split_operator(case.operator)[0].rpartition("/")
    node = nodes.of_operator(onnx.load_from_string(case.model), domain, operator)
    present: dict[str, tuple[str, ...]] = {}
    if node is not None:
        present.update((item.name, ()) for item, value in zip(known.inputs, node.input, strict=False) if value)
        present.update(
            (item.name, tuple(text.decode("utf-8", "replace") for text in filter(None, (item.s, *item.strings))))
            for item in node.attribute
        )
    optional = {item.name: item.description for item in known.inputs if item.option is item.option.Optional}
    described = {**optional, **{name: item.description for name, item in known.attributes.items()}}
    defaults = {name for name, item in known.attributes.items() if item.default_value.type}
    return {
        name: Argument(
            schema.fold(text), node is not None and name not in present, present.get(name, ()), name in defaults
        )
        for name, text in described.items()
    }


def _required_inputs(case: Case) -> dict[str, Argument]:
    """Return the required inputs of the operator version of a case."""
    known = source_of(case.operator)
    inputs = [item for item in known.inputs if item.option is not item.option.Optional] if known else []
    return {item.name: Argument(schema.fold(item.description), absent=False) for item in inputs}


def _only_form(case: Case, group: FailureGroup) -> Form | None:
    """Return the form of the smallest case if it, or the group, does not fail in the plain form."""
    plain = PLAIN in {item.form for item in group.results} and MINIMIZED not in case.id  # Minimized, it needs its form.
    return None if plain or case.form == PLAIN else table.find(case.form)


def _is_one_of(text: str, kinds: Iterable[re.Pattern[str]]) -> bool:
    """Return whether a sentence is of one of some kinds."""
    return any(kind.search(text) for kind in kinds)


def _is_short_side(text: str) -> bool:
    """Return whether a sentence is short, and on a type, a shape or a default."""
    return len(text) < SHORT and _SIDE.search(text) is not None


def _is_side(text: str, case: Case) -> bool:
    """Return whether a sentence is on types, shapes or defaults, or on the broadcasting of equal shapes."""
    shapes = {value.shape for value in case.inputs.values() if isinstance(value, np.ndarray)}
    return _SIDE.search(text) is not None or (len(shapes) < 2 and "broadcast" in text)  # noqa: PLR2004 - two differ
