"""The wheel has compiled code, so its tags name the interpreter and the platform."""
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Compiled(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
