"""Generates the messages of the protocol while the package is built; all else is in
pyproject.toml. A source distribution has the generated messages."""

import pathlib
import sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.errors import SetupError

FOLDER = pathlib.Path(__file__).resolve().parent
# A build frontend does not run this file in its folder.
sys.path.insert(0, str(FOLDER))

import generate_messages  # noqa: E402


def generate(package: pathlib.Path) -> None:
    """Generates the messages, unless this is a source distribution, which already has them."""
    if not generate_messages.PROTO.is_dir():
        if (FOLDER / "larder" / "v1" / "larder_pb2.py").exists():
            return
        raise SetupError(f"{generate_messages.PROTO}, which has the protocol's files, is missing")
    try:
        generate_messages.generate(package)
    except generate_messages.GenerationError as error:
        raise SetupError(str(error)) from None


class BuildWithMessages(build_py):
    """An editable package gets the messages in its own folder, which git ignores."""

    def run(self) -> None:
        is_editable = getattr(self, "editable_mode", False)
        if is_editable:
            generate(FOLDER / "larder")
        super().run()
        if not is_editable:
            generate(pathlib.Path(self.build_lib, "larder"))


class DistributionWithMessages(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        generate(pathlib.Path(base_dir, "larder"))


setup(cmdclass={"build_py": BuildWithMessages, "sdist": DistributionWithMessages})
