"""The expressions of spec/rules.md: what specgen makes of an item, and which items it refuses."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "specgen"))
from entry import SpecError  # noqa: E402
from expression import Translation, Vocabulary  # noqa: E402


class Expressions(unittest.TestCase):
    def vocabulary(self, item, section="Rules"):
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder) / "rules.md"
            rules.write_text(f"# Words\n\n## {section}\n\n- {item}\n")
            (rules.parent / "dtypes.yaml").symlink_to(ROOT / "spec" / "dtypes.yaml")
            return Vocabulary(rules)

    def written(self, item, section="Rules"):
        vocabulary = self.vocabulary(item, section)
        return "\n".join(Translation(vocabulary.expressions[0], vocabulary).definition())

    def refused(self, item, reason, section="Rules"):
        with self.assertRaises(SpecError) as raised:
            self.written(item, section)
        self.assertIn(reason, str(raised.exception))

    def test_a_rule_returns_or_throws_its_sentence(self):
        self.assertEqual(
            self.written('`most(Tensor tensor, literal n)`: `tensor.rank <= n or n < 0`; else "{tensor} has {tensor.rank}, not {n:entry}"'),
            "void most(TensorArgument tensor, Int n) {\n"
            "  if (tensor->rank() <= n || n < 0) return;\n"
            '  throw Broken{text(tensor.name, " has ", tensor->rank(), ", not ", n, (n == 1 ? " entry" : " entries"))};\n'
            "}")

    def test_a_sentence_may_speak_of_the_element_that_breaks_the_rule(self):
        self.assertEqual(
            self.written('`few(Tensor[] tensors)`: `all(t.rank < 3 for t in tensors)`; else "{tensors} has sizes {t.sizes}"'),
            "void few(Argument<const Tensors*> tensors) {\n"
            "  for (const auto& t : *tensors.value)\n"
            '    if (!(!t || t->rank() < 3)) throw Broken{text(tensors.name, " has sizes ", t->sizes)};\n'
            "}")

    def test_parts_have_names_and_unused_parameters_none(self):
        self.assertEqual(self.written("`half(Scalar a, int n)`: `m if m > 0 else 0` where `m = n // 2`", "Conditions"),
                         "bool half(Argument<Scalar>, Argument<Int> n) {\n  const auto m = n.value / 2;\n  return m > 0 ? m : 0;\n}")

    def test_overloads_are_told_apart_by_types(self):
        vocabulary = self.vocabulary('`ok(int? n)`: `given(n)`; else "{n}"\n- `ok(Tensor? a)`: `given(a)`; else "{a}"')
        for type_ in ("int?", "bool?"):
            self.assertEqual(vocabulary.find("Rules", "ok", [type_]).parameters[0].name, "n")
        for type_ in ("Tensor", "Tensor?"):
            self.assertEqual(vocabulary.find("Rules", "ok", [type_]).parameters[0].name, "a")
        for types in (["int"], ["Tensor[]"], []):
            self.assertIsNone(vocabulary.find("Rules", "ok", types))

    def test_what_is_outside_of_the_language_is_refused(self):
        self.refused('`w(int n)`: `n <`; else "{n}"', "is not an expression")
        self.refused('`w(long n)`: `n < 1`; else "{n}"', "long is not the type of a parameter")
        self.refused("`w(int n)`: `n < 1`", "a word of a rule must have a sentence")
        self.refused('`w(int n)`: `n < 1`; else "{n}"', "other words must not have one", "Conditions")
        self.refused('`w(int n)`: `(lambda: n)() < 1`; else "{n}"', "is neither a function nor a word with a value")
        self.refused('`w(int n)`: `n < m`; else "{n}"', "neither a parameter nor a dtype")
        self.refused('`w(int n)`: `half(n)`; else "{n}"', "half is neither a function nor a word with a value")
        self.refused('`w(Tensor a)`: `a.data > 1`; else "{a}"', "may only use the attributes")


if __name__ == "__main__":
    unittest.main()
