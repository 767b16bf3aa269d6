// The parts of Node that the client uses, as Node documents them, so that a build needs no types of
// Node: Debian 12 has them in its package of Node 18 only.

interface AbortSignal {
    readonly aborted: boolean;
    readonly reason: unknown;
    addEventListener(name: "abort", listener: () => void): void;
    removeEventListener(name: "abort", listener: () => void): void;
}

declare class AbortController {
    readonly signal: AbortSignal;
    abort(reason?: unknown): void;
}

declare class TextEncoder {
    encode(text: string): Uint8Array;
}

declare class TextDecoder {
    constructor(label: string, options: { fatal: boolean; ignoreBOM: boolean });
    decode(bytes: Uint8Array): string;
}

interface Buffer extends Uint8Array {
    toString(encoding?: "latin1", start?: number, end?: number): string;
}

declare const Buffer: {
    from(buffer: ArrayBufferLike, offset: number, length: number): Buffer;
    concat(parts: readonly Uint8Array[]): Buffer;
};

declare const performance: { now(): number };
declare const process: NodeJS.Process;
declare function setTimeout(called: () => void, milliseconds: number): NodeJS.Timeout;
declare function clearTimeout(timer: NodeJS.Timeout): void;

declare namespace NodeJS {
    interface Process {
        readonly env: { [name: string]: string | undefined };
    }
    interface Timeout {
        hasRef(): boolean;
    }
}

declare module "node:crypto" {
    export function randomUUID(): string;
}

declare module "node:fs" {
    export function readdirSync(path: string): string[];
}

declare module "node:path" {
    export function join(...parts: string[]): string;
}

declare module "node:net" {
    export class Socket {
        readonly writable: boolean;
        readonly errored: Error | null;
        write(bytes: Uint8Array): boolean;
        destroy(): this;
        on(event: "data", listener: (chunk: Uint8Array) => void): this;
        on(event: "drain" | "close" | "connect", listener: () => void): this;
        on(event: "error", listener: (error: Error) => void): this;
        once(event: "connect", listener: () => void): this;
        once(event: "error", listener: (error: Error) => void): this;
        removeListener(event: "error", listener: (error: Error) => void): this;
    }
    export function createConnection(options: { path: string }): Socket;
}
