"""Where the sources are, and what they recorded."""
import pathlib

SUPPORT = pathlib.Path(__file__).resolve().parent
SOURCE = SUPPORT.parent.parent
GOLDEN, PROGRAMS = SOURCE / "golden" / "operators", SOURCE / "golden" / "programs"
