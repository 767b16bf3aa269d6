// Waiting for something with a time limit and a signal.

/** The longest time of `setTimeout`. */
const TIMER_MAX = 2 ** 31 - 1;

/** The time for something has passed. */
export class TimedOut extends Error {}

/** The caller's signal has ended the wait. */
export class Aborted extends Error {
    constructor(readonly reason: unknown) {
        super("aborted");
    }
}

/** How long to wait at most; without milliseconds there is no limit. */
export interface WaitLimit {
    readonly milliseconds?: number | undefined;
    readonly signal?: AbortSignal | undefined;
}

/** Waits until `begin` has called one of its functions. It returns what ends the wait otherwise. */
export function wait<Result>(
    limit: WaitLimit,
    begin: (resolve: (result: Result) => void, reject: (error: unknown) => void) => () => void,
): Promise<Result> {
    const { milliseconds, signal } = limit;
    return new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
            reject(new Aborted(signal.reason));
            return;
        }
        let timer: ReturnType<typeof setTimeout> | undefined;
        let isOver = false;
        let stop = (): void => {};
        const end = (): void => {
            isOver = true;
            if (timer !== undefined) clearTimeout(timer);
            signal?.removeEventListener("abort", aborted);
            stop();
        };
        const failed = (error: unknown): void => {
            end();
            reject(error);
        };
        const aborted = (): void => failed(new Aborted(signal?.reason));
        signal?.addEventListener("abort", aborted);
        if (milliseconds !== undefined && milliseconds < TIMER_MAX) {
            timer = setTimeout(() => failed(new TimedOut()), Math.max(0, milliseconds));
        }
        const begun = begin((result) => {
            end();
            resolve(result);
        }, failed);
        if (isOver) begun();
        else stop = begun;
    });
}

/** A pause, which a signal ends with Aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return wait<void>({ signal }, (resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        return () => clearTimeout(timer);
    });
}

/** Permits for a number of things at the same time, in the order in which they are wanted. */
export class Permits {
    private readonly waiting = new Set<() => void>();

    constructor(private free: number) {}

    /** Starts work as soon as there is a permit for it, which `release` returns. */
    async acquire<Result>(limit: WaitLimit, start: () => Result): Promise<Result> {
        if (this.free > 0 && this.waiting.size === 0) {
            this.free -= 1;
            return start();
        }
        return wait<Result>(limit, (resolve, reject) => {
            const given = (): void => {
                // The work may release the permit before it returns.
                this.waiting.delete(given);
                try {
                    resolve(start());
                } catch (error) {
                    reject(error);
                }
            };
            this.waiting.add(given);
            return () => this.waiting.delete(given);
        });
    }

    release(): void {
        const [next] = this.waiting;
        if (next === undefined) this.free += 1;
        else next();
    }
}
