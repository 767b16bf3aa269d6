"""Generates the messages of Proto/ in a temporary folder for the official protobuf library, and makes
the client of Clients importable, which needs them."""

import importlib
import pathlib
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent


def load():
    """The generated modules, by the name of their .proto file."""
    names = sorted(path.stem for path in (REPOSITORY / "Proto").glob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{name}.proto" for name in names]
        subprocess.run(
            ["protoc", f"--proto_path={REPOSITORY / 'Proto'}", f"--python_out={folder}", *files],
            check=True,
        )
        sys.path.insert(0, folder)
        try:
            return {name: importlib.import_module(f"{name}_pb2") for name in names}
        finally:
            sys.path.remove(folder)


messages = load()
sys.path.insert(1, str(REPOSITORY / "Clients" / "python"))
