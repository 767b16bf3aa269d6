// Random numbers and messages from a seed, which is printed.

import { encode } from "../src/encoding.js";
import type { Draft, Field, MessageType } from "../src/wire.js";

/** A seed from the environment, so that a test can be repeated, or another one. */
export function newSeed(): number {
    const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 32));
    console.log(`SEED=${seed}`);
    return seed;
}

/** A generator of random numbers: xorshift of 32 bits. */
export class Random {
    private state: number;

    constructor(seed: number) {
        this.state = seed >>> 0 || 1;
    }

    /** A number from 0 and below a limit. */
    below(limit: number): number {
        this.state ^= this.state << 13;
        this.state ^= this.state >>> 17;
        this.state ^= this.state << 5;
        return (this.state >>> 0) % limit;
    }

    pick<Item>(items: readonly Item[]): Item {
        return items[this.below(items.length)]!;
    }

    bytes(lengthMax: number): Uint8Array {
        return Uint8Array.from({ length: this.below(lengthMax + 1) }, () => this.below(256));
    }

    text(): string {
        const parts = ["", "a", "Ann ", "é", "\u{1F600}", "\0", "\uFEFF", "x".repeat(200)];
        return this.pick(parts) + this.pick(parts);
    }

    bigint(): bigint {
        const wide = (BigInt(this.below(2 ** 32)) << 32n) | BigInt(this.below(2 ** 32));
        return this.pick([0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), BigInt.asIntN(64, wide)]);
    }

    double(): number {
        return this.pick([0, -0, 1.5, -1e300, 5e-324, Infinity, this.below(2 ** 32) / 7]);
    }
}

/** A random message of a type, with random fields. */
export function randomMessage(
    type: MessageType<unknown>, random: Random,
): { [name: string]: unknown } {
    const message: { [name: string]: unknown } = {};
    for (const field of type.fields.values()) {
        if (random.below(3) === 0) continue;
        const value = (): unknown => randomValue(field.type, random);
        if (field.presence === "repeated") {
            const items = Array.from({ length: random.below(4) }, value);
            message[field.name] = field.type === "sfixed64" ? BigInt64Array.from(items as bigint[])
                : field.type === "double" ? Float64Array.from(items as number[])
                : field.type === "fixed32" ? Uint32Array.from(items as number[]) : items;
        } else if (field.presence === "member") {
            message[field.union] = { case: field.name, value: value() };
        } else {
            message[field.name] = value();
        }
    }
    return message;
}

function randomValue(type: Field["type"], random: Random): unknown {
    if (typeof type === "object") {
        return type.kind === "message" ? randomMessage(type, random)
            : random.pick([...type.numbers.keys()]);
    }
    switch (type) {
        case "bool": return random.below(2) === 1;
        case "uint32": case "fixed32": return random.pick([0, 1, 2 ** 32 - 1, random.below(1000)]);
        case "int32": return random.pick([0, -1, 2 ** 31 - 1, -(2 ** 31), random.below(1000)]);
        case "int64": case "sint64": case "sfixed64": return random.bigint();
        case "uint64": return BigInt.asUintN(64, random.bigint());
        case "float": return Math.fround(random.double());
        case "double": return random.double();
        case "string": return random.text();
        case "bytes": return random.bytes(random.pick([0, 3, 300]));
    }
}

/** The bytes of a random message. */
export function randomBytes(type: MessageType<unknown>, random: Random): Uint8Array {
    return encode(type, randomMessage(type, random) as Draft<unknown>);
}

/** The bytes with one of them, a part or the end changed. */
export function damaged(bytes: Uint8Array, random: Random): Uint8Array {
    const made = bytes.slice(0, random.below(4) === 0 ? random.below(bytes.length + 1) : undefined);
    for (let count = random.below(4); count > 0 && made.length > 0; count -= 1) {
        made[random.below(made.length)] = random.below(256);
    }
    return made;
}
