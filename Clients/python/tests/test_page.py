"""The code of docs/python.md, with a larderd and larder, which LARDER_BIN_DIR or PATH has."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "python.md"
# Each block of code, and the output that follows it.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)
FILE = re.compile(r"^<!-- file (\S+) -->\n((?:    .*\n)+)", re.M)
COMMAND = re.compile(r"`(larder schema show [^`>]*)>(\S+)`")
EXAMPLE_LINES_MAX = 25


@unittest.skipUnless(PAGE.exists(), "not in the repository")
class PageTests(unittest.TestCase):
    def setUp(self):
        self.text = PAGE.read_text()
        self.folder = tempfile.TemporaryDirectory()
        self.before = os.getcwd(), list(sys.path)
        os.chdir(self.folder.name)
        sys.path.insert(0, self.folder.name)

    def tearDown(self):
        os.chdir(self.before[0])
        sys.path[:] = self.before[1]
        self.folder.cleanup()

    def test_the_code_prints_what_the_page_shows(self):
        for name, content in FILE.findall(self.text):
            pathlib.Path(name).write_text(content)
        programs = os.environ.get("LARDER_BIN_DIR", "")
        [(command, output)] = COMMAND.findall(self.text)
        with open(output, "wb") as module:
            words = command.split()
            # larder warns about variables that it does not have.
            environment = {n: v for n, v in os.environ.items() if not n.startswith("LARDER_")}
            subprocess.run([os.path.join(programs, words[0]), *words[1:]], stdout=module,
                           env=environment, check=True)
        daemon = Daemon("library.json")
        try:
            os.symlink(daemon.socket, "library.sock")
            blocks = BLOCK.findall(self.text)
            self.assertGreater(len(blocks), 5)
            self.assertLessEqual(blocks[0][0].count("\n"), EXAMPLE_LINES_MAX)
            names = {"__name__": "page"}
            for code, expected in blocks:
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(code, str(PAGE), "exec"), names)
                self.assertEqual(printed.getvalue(), expected)
        finally:
            daemon.remove()

    def test_the_page_names_every_call_and_error(self):
        import larder
        import larder.aio
        for kind in (larder.Client, larder.aio.Client):
            for name in vars(kind):
                if not name.startswith("_"):
                    self.assertRegex(self.text, rf"`{name}[(`]")
        for name in larder.__all__:
            if name.endswith("Error"):
                self.assertIn(f"`{name}`", self.text)


if __name__ == "__main__":
    unittest.main()
