from collections.abc import Callable
from typing import Any

from assay._judge import Testee, kernels
from assay._report import Report


class Conformance:
    """A kernel under test: pytest finds a test for each of its operators. A call of the object calls the kernel."""

    def __init__(self, operators: str, testee: Testee, options: dict[str, Any]):
        self.operators, self.testee, self.options = operators.split(","), testee, options

    def judge(self, operators: str) -> Report:
        return kernels(self.testee, operators, progress=False, **self.options)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.testee(*arguments, **named)


def conforms(operators: str, library: str | None = None, **options: Any) -> Any:
    """Makes a test of a kernel. A failure is shown with the smallest call that fails.

        @assay.conforms("aten::relu.out")
        def relu(self):
            return numpy.maximum(self, 0)

        test_mine = assay.conforms("relu,mm", "./libmine.so")

    `options` are those of `assay.kernels`.
    """
    if library is not None:
        return Conformance(operators, library, options)

    def decorate(kernel: Callable) -> Conformance:
        return Conformance(operators, kernel, options)

    return decorate
