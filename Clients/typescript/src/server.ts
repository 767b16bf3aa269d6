// The options of a client, and the server's description of itself in the handshake.

import { readdirSync } from "node:fs";
import { join } from "node:path";

import { connectionFailed, violation } from "./errors.js";
import { HistoryToken } from "./history.js";
import { integerOf, storeOfMessage } from "./identifiers.js";
import type { Integer, Uuid } from "./identifiers.js";
import type * as messages from "./messages.js";
import type { Draft } from "./wire.js";

/** The names that a client gives in the handshake, and its time limits in milliseconds. */
export interface Options {
    /** The client's name in the history and in the server's log. */
    readonly name?: string;
    /** The author that the history records for change sets without an author of their own. */
    readonly author?: string;
    /** The schema that the program was built for; without them every schema is accepted. */
    readonly schemaVersion?: string;
    readonly schemaFingerprint?: string;
    /** The key of the migration session to which the client belongs. */
    readonly migrationSession?: string;
    /** The limit of a call with its repetitions, and of each part of a stream; 30,000 without
     * it. */
    readonly timeout?: number;
    /** The limit of connecting and the handshake; 5,000 without it. */
    readonly connectTimeout?: number;
    /** How long a call waits for another connection after a loss; 10,000 without it. 0 never
     * reconnects. */
    readonly reconnectWait?: number;
}

/** The options of a call. */
export interface CallOptions {
    /** In milliseconds; see `Options.timeout`. */
    readonly timeout?: number;
    /** Ends the call. */
    readonly signal?: AbortSignal;
    /** The id of the call's requests in the server's log and in `larder top`, such as a W3C
     * traceparent: at most 128 printable ASCII characters without spaces. The server refuses any
     * other. */
    readonly trace?: string;
}

/** All options, with their defaults. */
export type Settings = Required<Options> & { readonly path: string };

const FOLDERS = ["/run/larder"];
const ENDING = ".sock";

/** The options with their defaults, and the path. */
export function settingsOf(path: string | undefined, options: Options): Settings {
    const { name = "larder-typescript", author = "", schemaVersion = "", schemaFingerprint = "",
        migrationSession = "", timeout = 30_000, connectTimeout = 5_000,
        reconnectWait = 10_000 } = options;
    return {
        path: path ?? onlySocket(), name, author, schemaVersion, schemaFingerprint,
        migrationSession, timeout, connectTimeout, reconnectWait };
}

/** The only socket in the first folder that has one: that of the user, or of the system. */
function onlySocket(): string {
    const runtime = process.env["XDG_RUNTIME_DIR"];
    const folders = runtime === undefined || runtime === "" ? FOLDERS
        : [join(runtime, "larder"), ...FOLDERS];
    for (const folder of folders) {
        const names = socketsIn(folder);
        if (names.length > 1) {
            throw connectionFailed(`${folder} has several sockets: ${names.join(", ")}`);
        }
        if (names.length === 1) return join(folder, names[0]!);
    }
    throw connectionFailed(`there is no socket in ${folders.join(" and ")}`);
}

function socketsIn(folder: string): string[] {
    try {
        return readdirSync(folder).filter((each) => each.endsWith(ENDING)).sort();
    } catch {
        return [];
    }
}

/** The first request of each connection. */
export function helloOf(settings: Settings): Draft<messages.Hello> {
    return {
        protocolVersion: 1, clientName: settings.name, schemaVersion: settings.schemaVersion,
        schemaFingerprint: settings.schemaFingerprint,
        migrationSession: settings.migrationSession };
}

/** The server of a connection and its store. */
export class ServerDescription {
    /** The program and its version, for people. */
    readonly name: string;
    readonly protocolVersion: number;
    /** The store's UUID, which is part of the identifiers of its objects. */
    readonly store: Uuid;
    readonly schemaVersion: string;
    /** Equal for equal schemas. */
    readonly schemaFingerprint: string;
    readonly isReadOnly: boolean;
    /** Names of optional features. */
    readonly capabilities: readonly string[];
    /** The longest request, in bytes. */
    readonly requestBytesMax: number;
    readonly requestsInFlightMax: number;
    /** The epoch of the store's history tokens. */
    readonly historyEpoch: Integer;

    constructor(welcome: messages.WelcomeReply) {
        if (welcome.protocolVersion !== 1) {
            throw violation(`version ${welcome.protocolVersion} of the protocol`);
        }
        this.name = welcome.serverName;
        this.protocolVersion = welcome.protocolVersion;
        this.store = storeOfMessage(welcome.store);
        this.schemaVersion = welcome.schemaVersion;
        this.schemaFingerprint = welcome.schemaFingerprint;
        this.isReadOnly = welcome.readOnly;
        this.capabilities = welcome.capabilities;
        this.requestBytesMax = welcome.frameBytesMax;
        this.requestsInFlightMax = welcome.requestsInFlightMax;
        this.historyEpoch = integerOf(welcome.historyEpoch);
    }

    /** The position in the history after a transaction, such as that of a save. */
    token(transaction: Integer): HistoryToken {
        return new HistoryToken(this.store, this.historyEpoch, transaction);
    }
}
