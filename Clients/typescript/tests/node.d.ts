// The parts of Node that the tests and the tour use, beside those in src/node.d.ts.

declare const console: { log(text: string): void; error(text: string): void };

declare module "node:test" {
    interface Options {
        skip?: boolean | string;
    }
    export default function test(name: string, body: () => void | Promise<void>): void;
    export default function test(
        name: string, options: Options, body: () => void | Promise<void>): void;
    export function before(body: () => void | Promise<void>): void;
    export function after(body: () => void | Promise<void>): void;
    export function afterEach(body: () => void | Promise<void>): void;
}

declare module "node:assert/strict" {
    interface Assert {
        (value: unknown, message?: string): asserts value;
        equal(found: unknown, expected: unknown, message?: string): void;
        deepEqual(found: unknown, expected: unknown, message?: string): void;
        match(text: string, pattern: RegExp): void;
        rejects(
            promise: Promise<unknown>, check: (error: unknown) => boolean): Promise<void>;
        throws(body: () => unknown, check: (error: unknown) => boolean, message?: string): void;
    }
    const assert: Assert;
    export default assert;
}

declare module "node:child_process" {
    interface ChildProcess {
        readonly exitCode: number | null;
        readonly signalCode: string | null;
        kill(signal: "SIGTERM" | "SIGKILL"): boolean;
        once(event: "exit", listener: () => void): this;
    }
    export function spawn(
        program: string, words: readonly string[],
        options: { stdio: readonly ["ignore", "ignore", "ignore" | number] }): ChildProcess;
    export function execFileSync(
        program: string, words: readonly string[],
        options: { cwd?: string; encoding: "utf8"; env?: { [name: string]: string | undefined } },
    ): string;
}

declare module "node:fs" {
    export function existsSync(path: string): boolean;
    export function mkdirSync(path: string, options: { recursive: true }): void;
    export function mkdtempSync(prefix: string): string;
    export function openSync(path: string, flags: "a"): number;
    export function closeSync(file: number): void;
    export function readFileSync(path: string | URL, encoding: "utf8"): string;
    export function rmSync(path: string, options: { recursive: true; force: true }): void;
    export function symlinkSync(target: string, path: string): void;
    export function writeFileSync(path: string, text: string): void;
}

declare module "node:os" {
    export function tmpdir(): string;
}

declare module "node:net" {
    interface Socket {
        end(): this;
        pause(): this;
    }
    interface Server {
        listen(path: string, listening: () => void): this;
        close(closed?: () => void): this;
    }
    export function createServer(connected: (socket: Socket) => void): Server;
}

declare const AbortSignal: { timeout(milliseconds: number): AbortSignal };

declare class URL {
    constructor(text: string, base?: string);
    readonly pathname: string;
}

interface ImportMeta {
    readonly url: string;
}

declare namespace NodeJS {
    interface Process {
        readonly argv: readonly string[];
        exitCode: number | undefined;
    }
}
