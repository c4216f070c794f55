"""The pytest plugin: every Conformance of a test module is a test for each of its operators."""
import pytest


def pytest_pycollect_makeitem(collector, name, obj):
    from assay._conforms import Conformance  # only where there are tests: starting pytest costs nothing
    if isinstance(obj, Conformance):
        return [ConformanceItem.from_parent(collector, name=f"{name}[{operator}]", conformance=obj, operator=operator) for operator in obj.operators]
    return None


class Disagrees(Exception):
    pass


class ConformanceItem(pytest.Item):
    def __init__(self, *, conformance, operator, **named):
        super().__init__(**named)
        self.conformance, self.operator = conformance, operator

    def runtest(self):
        report = self.conformance.judge(self.operator)
        if not report.passed:
            raise Disagrees(report.failure())

    def repr_failure(self, excinfo):
        return str(excinfo.value) if isinstance(excinfo.value, Disagrees) else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, self.name
