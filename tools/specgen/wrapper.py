"""The C++ of one entry: the declaration of its function, and the wrapper that checks, reads, computes and writes."""
import re

from dtype_facts import ALIASES, ENUMERATORS, SETS, of_kind
from entry import SpecError, Word, as_list, parse_word

TYPES = {"real": "Real", "int": "Int", "complex": "Complex", "bits": "Element"}
# schema type: (accessor of Call, type of the function's parameter, the expression for argument `{a}`)
PLAIN = {
    "int": ("integer", "Int", "{a}.value"),
    "float": ("real", "Real", "static_cast<Real>({a}.value)"),
    "bool": ("boolean", "bool", "{a}.value"),
    "str": ("string", "std::string_view", "{a}.value"),
    "ScalarType": ("integer", "Int", "{a}.value"),
    "int[]": ("ints", "const Ints&", "*{a}.value"),
    "bool[]": ("bools", "const Bools&", "*{a}.value"),
    "float[]": ("doubles", "const Doubles&", "*{a}.value"),
    "int[]?": ("ints", "const Ints*", "{a}.value"),
    "float[]?": ("doubles", "const Doubles*", "{a}.value"),
    "int?": ("optional_integer", "std::optional<Int>", "{a}.value"),
    "bool?": ("optional_integer", "std::optional<Int>", "{a}.value"),
    "ScalarType?": ("optional_integer", "std::optional<Int>", "{a}.value"),
    "MemoryFormat?": ("optional_integer", "std::optional<Int>", "{a}.value"),
    "float?": ("optional_real", "std::optional<double>", "{a}.value"),
    "str?": ("optional_string", "std::optional<std::string_view>", "{a}.value"),
}
ACCESSORS = {"Tensor": "tensor", "Tensor?": "tensor", "Tensor[]": "tensors", "Tensor?[]": "tensors", "Scalar": "scalar", "Scalar?": "optional_scalar",
             **{kind: row[0] for kind, row in PLAIN.items()}}
# family number: how an argument reaches the function, by its `read` or else its type
NUMBERS = {"Scalar": ("Scalar", "{a}.value"), "Tensor": ("const Dims&", "{a}->sizes"), "item": ("Scalar", "item(*{a}.value)"),
           **{kind: row[1:] for kind, row in PLAIN.items()}}
RESULTS = {"Scalar": "Scalar", "int": "Int", "bool": "bool"}
# family: how a tensor with elements `A` reaches the function
FAMILIES = {
    "elementwise": {"Tensor": "{A}", "Tensor?": "std::optional<{A}>"},
    "reduce": {"Tensor": "std::span<const {A}>"},
    "along": {"Tensor": "std::span<const {A}>"},
    "move": {"Tensor": "const Array<{A}>&"},
    "create": {},
    "number": {},
    "whole": {"Tensor": "const Array<{A}>&", "Tensor?": "const std::optional<Array<{A}>>&", "Tensor[]": "const Arrays<{A}>&"},
}
FLAGS = ("either zero", "flush", "overflow", "mean", "half partials")  # of a row of accuracy, in the order of Accuracy's members
# family: the arguments its loop consumes
CONSUMED = {"reduce": {"dim", "keepdim", "dtype"}, "along": {"dim", "dtype"}}


def cpp_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def scalar(text):
    """A number of the spec as a C++ Scalar."""
    return text if "." in text else f"Int{{{text}}}"


class Wrapper:
    def __init__(self, entry, words):
        self.entry, self.words = entry, words
        if entry.family not in FAMILIES:
            raise SpecError(f"{entry.name}: family {entry.family} is not one of {', '.join(FAMILIES)}")
        self.kinds = FAMILIES[entry.family]
        unused = set(entry.data.get("unused", [])) | CONSUMED.get(entry.family, set())
        self.passed = [a for a in entry.inputs + entry.constants if a.name not in unused | {entry.data.get("fill")}]
        if entry.family == "create":
            self.passed = [a for a in self.passed if not a.type.startswith("Tensor")]

    # -- words ---------------------------------------------------------------------------------------------------

    def term(self, text):
        """A word's argument in C++: an argument of the schema, a literal, common, or a sum of dtype sets."""
        if text.endswith("?"):
            return text[:-1]  # the word accepts None
        argument = self.entry.argument(text)
        if argument:
            return f"some({text})" if argument.optional and not argument.type.endswith("[]?") and not argument.out else text
        if re.fullmatch(r"-?\d+", text):
            return f"Int{{{text}}}"
        if text in ("common", "dims", "true", "false"):  # dims: the dimensions that are reduced
            return text
        if text.startswith('"'):
            return text
        if text in ENUMERATORS and text not in SETS or text.startswith("dtype "):
            return f"DType::{ENUMERATORS[text.removeprefix('dtype ')]}"
        names = [n.strip() for n in text.split("+")]
        if all(n in SETS for n in names):
            return " | ".join(f"sets::{n}" for n in names)
        if text.startswith("{") or "(" in text:
            raise SpecError(f"{self.entry.name}: words do not nest: {text}")
        raise SpecError(f"{self.entry.name}: '{text}' is neither an argument, a literal nor a dtype set")

    def call(self, namespace, word, first=()):
        if word.name not in self.words:
            raise SpecError(f"{self.entry.name}: the word {word.name} is not defined in spec/rules.md")
        terms = [*first, *(self.term(a) for a in word.arguments)]
        if word.name == "one_of":
            terms = [terms[0], "{" + ", ".join(terms[1:]) + "}"]
        return f"{namespace}::{word.name}({', '.join(terms)})"

    def present(self, word):
        """The condition under which a rule on optional arguments is checked."""
        optional = [a for a in word.arguments if (found := self.entry.argument(a)) and (found.optional or found.out)]
        return "".join(f"if ({a}) " for a in optional)

    def unless(self, rule):
        return f"if (!{self.call('conditions', rule.unless)}) " if rule.unless else ""

    def check(self, rule):
        return f"{self.present(rule.word)}{self.unless(rule)}{self.call('rules', rule.word)}"

    # -- words that the entry states, or else the defaults of its family -----------------------------------------

    def operands(self, types):
        return [a.name for a in self.passed if a.type in types]

    @property
    def common(self):
        names = ", ".join(a + "?" for a in self.operands(("Tensor", "Tensor?", "Scalar", "Scalar?")))
        return self.entry.data.get("common", f"promote({names})" if self.entry.family == "elementwise" else f"same({self.entry.inputs[0].name})")

    @property
    def shapes(self):
        """One for each out; None where neither the entry nor its family states it."""
        operands = self.operands(("Tensor", "Tensor?"))
        default = {"elementwise": f"broadcast({', '.join(a + '?' for a in operands)})", "along": f"same({operands[0] if operands else ''})",
                   "reduce": "without(self, dims, keepdim)" if self.entry.argument("keepdim") else "scalar"}.get(self.entry.family)
        return self.entry.per_out("shape", default)

    @property
    def layouts(self):
        """One for each out; None: contiguous."""
        operands = ", ".join(a + "?" for a in self.operands(("Tensor", "Tensor?")))
        return self.entry.per_out("layout", f"like({operands})" if self.entry.family == "elementwise" else None)

    @property
    def reduced_dims(self):
        return self.entry.data.get("dims", f"dims({self.entry.inputs[0].name}{', dim?' if self.entry.argument('dim') else ''})")

    @property
    def terms(self):
        """One for all outs, or one for each."""
        return as_list(self.entry.data.get("terms", "number(1)"))

    # -- the function --------------------------------------------------------------------------------------------

    def how(self, argument):
        """(how an argument is read, the dimension of the result along which it is placed): `real`, `along axis`, `real along axis`."""
        how, _, dim = f" {self.entry.data.get('read', {}).get(argument.name, '')}".partition(" along ")
        return how.strip(), dim

    def tensor_type(self, argument, T):
        reads, _ = self.how(argument)
        return TYPES.get(reads, T)

    def parameter(self, argument, T):
        if self.entry.data.get("read", {}).get(argument.name) == "indexing":
            return "const Indexing&"
        if argument.type in ("Scalar", "Scalar?"):
            if self.entry.data.get("read", {}).get(argument.name) == "scalar":
                T = "Scalar"
            return T if argument.type == "Scalar" else f"std::optional<{T}>"
        if argument.type in PLAIN:
            return PLAIN[argument.type][1]
        if argument.type not in self.kinds:
            raise SpecError(f"{self.entry.name}: family {self.entry.family} takes no {argument.type} such as {argument.name}")
        return self.kinds[argument.type].format(A=self.tensor_type(argument, T))

    def number_argument(self, argument):
        """(type, what is passed) of an argument of a function of numbers."""
        how, _ = self.how(argument)
        if (how or argument.type) not in NUMBERS:
            raise SpecError(f"{self.entry.name}: family number takes no {argument.type} such as {argument.name}")
        return NUMBERS[how or argument.type]

    def declarations(self):
        if self.entry.family == "number":
            yield f"{RESULTS[self.entry.outs[0].type]} {self.entry.function}({', '.join(self.number_argument(a)[0] for a in self.passed)});"
            return
        for compute in self.entry.computes:
            T, results = TYPES[compute.reads], [TYPES[w] for w in compute.writes]
            family = self.entry.family
            moved = self.passed[:1] if family == "move" else []  # the loop moves it; the function maps indices
            parameters = [self.parameter(a, T) for a in self.passed if a not in moved] + ["const Rounding&"] * len(self.entry.roundings)
            if family == "elementwise":
                result = results[0]
            elif family == "reduce":
                result = results[0] if len(results) == 1 else f"std::pair<{', '.join(results)}>"
            elif family == "along":
                result, parameters = "void", [parameters[0], *(f"std::span<{r}>" for r in results), *parameters[1:]]
            elif family == "move":
                result, parameters = "Dims", ["const Dims&", "const Dims&", *parameters]
            elif family == "create":
                result, parameters = results[0], ["Int", *parameters]
            else:
                lists = [a.type == "Tensor[]" for a in self.entry.outs]
                outs = [f"Arrays<{r}>&" if many else f"Array<{r}>&" for r, many in zip(results, lists)]
                result, parameters = "void", [*outs, *parameters]
            yield f"{result} {self.entry.function}({', '.join(parameters)});"
            if self.measured(compute):
                magnitude = self.entry.magnitude(compute.reads)
                arithmetic = ["const Arithmetic&"] if magnitude.arguments else []
                yield f"{result} {magnitude.name}({', '.join([*parameters, *arithmetic])});"

    def measured(self, compute):
        """Whether magnitudes of its own are asked of a computation: integer results are exact."""
        return self.entry.magnitude(compute.reads) and {"real", "complex"} & set(compute.writes)

    # -- the wrapper ---------------------------------------------------------------------------------------------

    def read(self, argument, T):
        how, dim = self.how(argument)
        name = argument.name
        if argument.type in ("Tensor", "Tensor?"):
            function = "read_optional" if argument.optional else "read"
            if how == "storage":
                return f"call.read_storage<{T}>({name}, common)"
            if how == "operand":
                return f"call.{function}<{T}>({name}, types::operand({name}, common))"
            own = f"({name} ? {name}->dtype : common)" if argument.optional else f"{name}->dtype"
            if how == "exact" and T == "Complex":
                own = "DType::complex128"  # holds every number's parts
            values = f"call.{function}<{TYPES.get(how, T)}>({name}, {own if how else 'common'})"
            return f"placed_along({values}, {dim}.value, {self.entry.inputs[0].name}->rank())" if dim else values
        if how == "indexing":
            return f"indexing(*{name}.value, {self.entry.inputs[0].name}->sizes)"
        if how == "exact":
            return f"call.read_exact<{T}>({name})"
        if argument.type in ("Tensor[]", "Tensor?[]"):
            return f"call.read_all<{TYPES.get(how, T)}>({name}, common)"
        if how == "scalar":
            return f"{name}.value"
        function = "read_optional" if argument.optional else "read"
        value = f"call.{function}<{T}>({name}, common)"
        return f"rounded(common, {value})" if how == "common" else value

    def is_read(self, argument):
        return argument.type.startswith(("Tensor", "Scalar")) and argument.type not in PLAIN

    def passes(self, argument):
        return f"{argument.name}_" if self.is_read(argument) else PLAIN[argument.type][2].format(a=argument.name)

    def loop(self, function, compute, last=()):
        """The statement that fills the results y0, y1... by the family's loop; `last`: the function's last arguments."""
        T, results = TYPES[compute.reads], [TYPES[w] for w in compute.writes]
        ys = [f"y{k}" for k in range(len(results))]
        family = self.entry.family
        operands = [a for a in self.passed if a.type.startswith("Tensor")]
        name = f"operators::{function}"
        more = [*(f"round{k}" for k in range(len(self.entry.roundings))), *last]
        if family == "elementwise":
            parameters = ", ".join(f"{self.parameter(a, T)} {a.name}__" for a in operands)
            arguments = ", ".join([*(f"{a.name}__" if a in operands else self.passes(a) for a in self.passed), *more])
            return f"families::elementwise(y0, [&]({parameters}) {{ return {name}({arguments}); }}, {', '.join(a.name + '_' for a in operands)});"
        if family in ("reduce", "along"):
            self_, *extras = self.passed
            row = f"std::span<const {T}> row"
            rest = [*(self.passes(a) for a in extras), *more]
            if family == "reduce":
                return f"families::reduce({', '.join(ys)}, [&]({row}) {{ return {name}({', '.join(['row', *rest])}); }}, {self_.name}_, dims);"
            spans = [f"std::span<{r}> {y}_" for r, y in zip(results, ys)]
            return f"families::along([&]({', '.join([row, *spans])}) {{ {name}({', '.join(['row', *(y + '_' for y in ys), *rest])}); }}, {self_.name}_, dim.value, {', '.join(ys)});"
        if family == "move":
            self_, *extras = self.passed
            fill = self.entry.data.get("fill")
            filled = "" if fill is None else f", {fill}_" if isinstance(fill, str) else f", {results[0]}{{{fill}}}"
            arguments = ["i", f"{self_.name}->sizes", *(self.passes(a) for a in extras), *more]
            return f"families::move(y0, [&](const Dims& i) {{ return {name}({', '.join(arguments)}); }}, {self_.name}_{filled});"
        if family == "create":
            return f"families::create(y0, [&](Int i) {{ return {name}({', '.join(['i', *(self.passes(a) for a in self.passed), *more])}); }});"
        return f"{name}({', '.join([*ys, *(self.passes(a) for a in self.passed), *more])});"

    def compute_block(self, compute):
        T = TYPES[compute.reads]
        if not self.measured(compute) and {"real", "complex"} & set(compute.writes):
            yield "call.read_absolute_values();"
        fill = self.entry.argument(self.entry.data.get("fill"))
        for a in self.passed + ([fill] if fill else []):
            if self.is_read(a):
                yield f"const auto {a.name}_ = {self.read(a, T)};"
        yield "if (call.rules_only()) return;"
        lists = [a.type == "Tensor[]" for a in self.entry.outs]
        for k, (write, many) in enumerate(zip(compute.writes, lists)):
            yield f"Arrays<{TYPES[write]}> y{k}(sizes{k}.begin(), sizes{k}.end());" if many else f"Array<{TYPES[write]}> y{k}(sizes{k});"
        yield f"if (call.elements() == 0) {{}}  // whatever the sizes of arguments, there is nothing to compute"
        if self.measured(compute):
            magnitude = self.entry.magnitude(compute.reads)
            yield f"else if (call.magnitude()) {self.loop(magnitude.name, compute, [self.arithmetic(a) for a in magnitude.arguments])}"
        yield f"else {self.loop(self.entry.function, compute)}"
        for k, many in enumerate(lists):
            yield f"call.write_list({k}, y{k});" if many else f"call.write({k}, std::move(y{k}));"

    def arithmetic(self, argument):
        what, _, out = argument.partition(" of ")
        if what != "arithmetic":
            raise SpecError(f"{self.entry.name}: a magnitude function takes the arithmetic, but not {argument}")
        partial = "common" if self.entry.half_partials else "compute_dtype(common)"
        result = f"{out} && {out}->dtype != common ? {out}->dtype : {partial}" if out else "common"
        return f"arithmetic({result}, {partial})"

    def definition(self):
        entry = self.entry
        yield f"// {entry.name}"
        yield f"void call_{entry.symbol}(Call& call) {{"
        for i, a in enumerate(entry.arguments):
            if not a.out:
                yield f"  [[maybe_unused]] const auto {a.name} = call.{ACCESSORS[a.type]}({i});"
            elif a.type == "Tensor":
                yield f"  [[maybe_unused]] const auto {a.name} = call.tensor({i});"
        for a in entry.constants:
            yield f'  [[maybe_unused]] const Argument<Scalar> {a.name}{{"{a.name}", {scalar(a.default)}}};'
        if entry.family != "number":
            yield from self.dtypes()
        for rule in entry.rules:
            yield f'  call.rule("{entry.id}.{rule.number}", Outcome::{rule.outcome});'
            yield f"  {self.check(rule)};"
        yield from self.number() if entry.family == "number" else self.results()
        yield "}"

    def number(self):
        arguments = [self.number_argument(a)[1].format(a=a.name) for a in self.passed]
        yield f"  if (!call.rules_only()) call.give({len(self.entry.inputs)}, operators::{self.entry.function}({', '.join(arguments)}));"

    def results(self):
        entry = self.entry
        yield from self.promises()
        yield f'  call.rule("{entry.id}.dtype");'
        yield from self.dispatch()

    def dtypes(self):
        entry = self.entry
        yield f'  call.rule("{entry.id}.dtype");'
        yield f"  [[maybe_unused]] const DType common = {self.dtype(self.common)};"
        for k, text in enumerate(entry.roundings):
            yield f"  const Rounding round{k}{{{self.dtype(text)}}};"

    def dtype(self, text):
        if text == "common":
            return "common"
        if text in ENUMERATORS:
            return f"DType::{ENUMERATORS[text]}"
        return self.call("types", parse_word(text))

    def result_dtype(self, text):
        return self.dtype(text)

    def layout(self, text, sizes):
        return self.call("layouts", parse_word(text), [sizes]) if text else f"Dims::counting({sizes}.size())"

    def promises(self):
        entry = self.entry
        shapes, layouts, dtypes, how = self.shapes, self.layouts, entry.per_out("dtype", "common"), entry.per_out("out", "same")
        stored = [f"Call::Stored::{text.partition(' to ')[0]}" for text in how]
        if None in shapes:
            raise SpecError(f"{entry.name}: key shape is missing")
        yield f'  call.rule("{entry.id}.shape");'
        if entry.family == "reduce":
            yield f"  const Dims dims = {self.call('shapes', parse_word(self.reduced_dims))};"
        for k, shape in enumerate(shapes):
            yield f"  const auto sizes{k} = {self.call('shapes', parse_word(shape))};"
        yield f'  call.rule("{entry.id}.out");'
        for k, out in enumerate(entry.outs):
            position = entry.arguments.index(out)
            if out.type == "Tensor[]":
                yield f"  call.promise_list({position}, {self.dtype(dtypes[k])}, {stored[k]}, sizes{k});"
                continue
            yield f"  call.promise({position}, {self.result_dtype(dtypes[k])}, {stored[k]}, sizes{k}, {self.layout(layouts[k], f'sizes{k}')});"
            if " to " in how[k]:
                yield f"  if ({out.name}) {self.call('rules', Word('dtype_of', [out.name, how[k].partition(' to ')[2]]))};"
        yield "  if (!call.rules_only()) {"
        if "work" in entry.data:
            yield f"    Budget::Scope::work({self.call('terms', parse_word(entry.data['work']))});"
        if "terms" in entry.data:
            yield f"    call.terms({{{', '.join(self.call('terms', parse_word(t)) for t in self.terms)}}});"
        if "work" not in entry.data and entry.family == "whole":  # the other families' loops charge what they visit
            yield "    Budget::Scope::work(call.products());"
        yield "  }"

    def dispatch(self):
        computes = self.entry.computes
        if len(computes) == 1:
            yield from (f"  {line}" for line in self.compute_block(computes[0]))
            return
        reads = [c.reads for c in computes]
        if reads not in (["real", "int"], ["real", "complex"], ["real", "int", "complex"]):
            raise SpecError(f"{self.entry.name}: several computes must be real and int, real and complex, or all three, in this order")
        last = reads.index("int") if "int" in reads else reads.index("real")  # what reads an opaque dtype, and refuses it
        tests = {"real": "is_floating(common)", "complex": "is_complex(common)"}
        for compute in [c for i, c in enumerate(computes) if i != last]:
            yield f"  if ({tests[compute.reads]}) {{"
            yield from (f"    {line}" for line in self.compute_block(compute))
            yield "  } else"
        yield "  {"
        yield from (f"    {line}" for line in self.compute_block(computes[last]))
        yield "  }"


def accuracy_row(output, dtype, text):
    """`exact | N ulp | dot | N dot | unspecified | choice`, then flags."""
    measure, *flags = [part.strip() for part in str(text).split(",")]
    match = re.fullmatch(r"(?:([\d.]+) )?(exact|ulp|dot|unspecified|choice)", measure)
    if not match or not set(flags) <= set(FLAGS):
        raise SpecError(f"'{text}' is not an accuracy")
    if dtype not in {*ALIASES, *of_kind("complex"), "all"}:
        raise SpecError(f"'{dtype}' is not a dtype of an accuracy row")
    where = "std::nullopt" if dtype == "all" else f"DType::{ENUMERATORS[ALIASES.get(dtype, dtype)]}"
    return f"{{{output}, {where}, {{Accuracy::Measure::{match[2]}, {match[1] or 1}, {', '.join(str(flag in flags).lower() for flag in FLAGS)}}}}}"
