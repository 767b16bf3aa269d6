// The code of docs/typescript.md, as a program of a user with this package. TOP is the folder of
// the repository; BUILT_PROGRAMS, or PATH, has larderd and larder.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import * as larder from "../src/index.js";
import { Daemon, scratchFolder } from "./server.js";

const PAGE = join(process.env["TOP"] ?? "", "docs", "typescript.md");
const PACKAGE = new URL("../..", import.meta.url).pathname;
const OPTIONS = { skip: existsSync(PAGE) ? false : "TOP is not the repository" };
// Each block of code, and the output that follows it.
const BLOCK = /^```ts\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms;
const FILE = /^<!-- file (\S+) -->\n((?: {4}.*\n)+)/gm;
const COMMAND = /^ {4}larder (schema show .*) >(\S+)$/m;
const EXAMPLE_LINES_MAX = 25;
const SEPARATOR = "-- the next block --\n";

test("the code of the page prints what the page shows", OPTIONS, async () => {
    const page = readFileSync(PAGE, "utf8");
    const folder = scratchFolder();
    for (const [, name, content] of page.matchAll(FILE)) {
        writeFileSync(join(folder, name!), content!);
    }
    const [, words, types] = COMMAND.exec(page)!;
    writeFileSync(join(folder, types!), execFileSync(
        join(process.env["BUILT_PROGRAMS"] ?? "", "larder"), words!.split(" "),
        { cwd: folder, encoding: "utf8" }));
    const blocks = [...page.matchAll(BLOCK)];
    assert(blocks.length > 5);
    assert(blocks[0]![1]!.split("\n").length - 1 <= EXAMPLE_LINES_MAX);
    const code = blocks.map((block) => block[1]);
    writeFileSync(join(folder, "page.ts"), code.join(`console.log(${JSON.stringify(
        SEPARATOR.trim())});\n`));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    mkdirSync(join(folder, "node_modules"), { recursive: true });
    symlinkSync(PACKAGE, join(folder, "node_modules", "larder"));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: {
        strict: true, target: "ES2022", lib: ["ES2022", "DOM"], module: "Node16", types: [] } }));
    execFileSync("tsc", [], { cwd: folder, encoding: "utf8" });
    const daemon = await Daemon.start(join(folder, "library.json"));
    try {
        symlinkSync(daemon.path, join(folder, "library.sock"));
        const printed = execFileSync("node", ["page.js"], { cwd: folder, encoding: "utf8" });
        printed.split(SEPARATOR).forEach((found, index) => {
            assert.equal(found, blocks[index]![2], code[index]!);
        });
    } finally {
        await daemon.remove();
    }
});

test("the page names every call and every class of errors", OPTIONS, () => {
    const page = readFileSync(PAGE, "utf8");
    const calls = Object.getOwnPropertyNames(larder.Client.prototype)
        .filter((name) => name !== "constructor");
    assert(calls.length > 20);
    for (const name of calls) assert.match(page, new RegExp(`\`${name}[(\`]`));
    for (const name of Object.keys(larder).filter((each) => each.endsWith("Error"))) {
        assert.match(page, new RegExp(`\`${name}\``));
    }
});
