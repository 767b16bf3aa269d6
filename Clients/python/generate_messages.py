#!/usr/bin/python3
"""Generates the protobuf messages of the package: generate_messages.py FOLDER, where FOLDER is the
one of the package `larder`. It runs protoc, which Debian has in `protobuf-compiler`.

The files of Proto/ get the paths `larder/v1/NAME.proto`: protobuf has one registry of paths for a
process, in which `value.proto` of another package could be, and protoc derives the names of the
Python modules from them.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

PROTO = pathlib.Path(__file__).resolve().parent.parent.parent / "Proto"
# Debian 12 has 3.21, as have the modules that it generates: they need the runtime 4.21 or later.
IMPORT = re.compile(r'^import "(\w+\.proto)";$', re.MULTILINE)


class GenerationError(Exception):
    """The messages cannot be generated; the text says what to install."""


def generate(package: pathlib.Path) -> None:
    """Writes the modules of all messages, with their types, into `v1` of the package's folder."""
    with tempfile.TemporaryDirectory() as folder:
        sources = pathlib.Path(folder, "larder", "v1")
        sources.mkdir(parents=True)
        for path in PROTO.glob("*.proto"):
            text = IMPORT.sub(r'import "larder/v1/\1";', path.read_text())
            (sources / path.name).write_text(text)
        output = pathlib.Path(folder, "output")
        output.mkdir()
        command = ["protoc", f"--proto_path={folder}", f"--python_out={output}",
                   f"--pyi_out={output}", *map(str, sorted(sources.iterdir()))]
        try:
            finished = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        except FileNotFoundError:
            raise GenerationError(
                "protoc is missing, which generates the messages of Larder's protocol; install it"
                " with `apt install protobuf-compiler`, or install a wheel of larder") from None
        if finished.returncode != 0:
            raise GenerationError(f"protoc failed: {finished.stderr.strip()}")
        target = package / "v1"
        target.mkdir(exist_ok=True)
        for path in (output / "larder" / "v1").iterdir():
            (target / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: generate_messages.py FOLDER", file=sys.stderr)
        sys.exit(64)
    try:
        generate(pathlib.Path(sys.argv[1]))
    except (GenerationError, OSError) as error:
        sys.exit(f"generate_messages.py: {error}")
