class Fault(Exception):
    """A refusal and its reason.

    `outcome` is a word of spec/faults.yaml, or usage; `rule` is the id of the broken rule; `place` is the place in a program, or
    empty; `message` is one sentence.
    """

    def __init__(self, outcome: str, rule: str, place: str, message: str):
        super().__init__(outcome, rule, place, message)
        self.outcome, self.rule, self.place, self.message = outcome, rule, place, message

    def __str__(self) -> str:
        return f"{self.outcome}, {self.rule}: {self.place}{': ' if self.place else ''}{self.message}"


def answer(json: dict) -> dict:
    """Returns an answer, or raises Fault if it is a refusal."""
    if json.get("outcome", "ok") != "ok":
        raise Fault(json["outcome"], json["rule"], json.get("place", ""), json["message"])
    return json
