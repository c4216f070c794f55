"""`record [calls]` records operators, `record boundaries` what they refuse, `record in_place` in-place forms, `record faults` what tells entries from faulty ones, `record traps` what is often wrong, `record large` a few large calls, `record programs` programs, `record exporters` those of another exporter, `record delegated` programs for XNNPACK, `record delegate_defects` those that it gets wrong."""

import environment

environment.enforce()

import importlib
import logging
import sys

import torch

logging.disable(logging.WARNING)
torch.set_num_threads(1)

MODULES = {"calls": "record_calls", "boundaries": "boundaries", "faults": "faults", "in_place": "in_place_forms", "traps": "traps", "programs": "programs.recorder", "exporters": "programs.exporters", "delegated": "delegated", "delegate_defects": "delegate_defects", "large": "large"}

if __name__ == "__main__":
    command = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in MODULES else "calls"
    importlib.import_module(MODULES[command]).main()
