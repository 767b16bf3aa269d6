"""Generates the messages of Proto/ in a temporary folder, next to a copy of the Python package, and
makes the package `larder` and the modules of this folder importable."""

import atexit
import importlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
PYTHON = REPOSITORY / "Clients" / "python"


def load():
    """The generated modules, by the name of their .proto file."""
    folder = pathlib.Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    package = folder / "larder"
    shutil.copytree(PYTHON / "larder", package, ignore=shutil.ignore_patterns("*_pb2.py*"))
    subprocess.run([PYTHON / "generate_messages.py", package], check=True)
    sys.path.insert(0, str(folder))
    names = sorted(path.stem for path in (REPOSITORY / "Proto").glob("*.proto"))
    return {name: importlib.import_module(f"larder.v1.{name}_pb2") for name in names}


messages = load()
