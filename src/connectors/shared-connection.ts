// One connection to a target, shared by the deliveries that need it: opened by the first, closed after a while without any.
// A connection that is lost, or that let a delivery wait too long, fails the deliveries on it and is opened anew by the next.
import { minuteMs } from '../model/instant.ts';

/** How long a connection may stay open without a delivery. */
const idleMsMax = minuteMs;
/** How long a connection may take to end cleanly before it is left to itself. */
const closeMsMax = 2_000;

export interface ConnectionKind<C> {
  /**
   * Opens a connection. `lost` says that it is no longer of use, at any time; `signal` ends when nobody waits for it any more,
   * and whatever was opened until then must be let go.
   */
  open(lost: (reason: Error) => void, signal: AbortSignal): Promise<C>;
  /** Ends a connection cleanly. */
  close(connection: C): Promise<unknown>;
  /** Ends it at once, because the other side does not answer. */
  abandon(connection: C): void;
}

export interface KeptConnection<C> {
  /** Runs `work` on the connection; rejects when it fails, the connection is lost or `signal` ends, whichever is first. */
  use<T>(signal: AbortSignal, work: (connection: C) => Promise<T>): Promise<T>;
  /** Ends the connection; nothing can be sent afterwards. */
  close(): Promise<void>;
}

interface Slot<C> {
  readonly opened: Promise<C>;
  readonly ended: Promise<never>;
  end(reason: Error): void;
  isOpen: boolean;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/** A connection of a kind, not yet open; `idleAfterMs` is shorter in tests alone. */
export function keptConnection<C>(
  kind: ConnectionKind<C>,
  idleAfterMs = idleMsMax,
): KeptConnection<C> {
  let current: Slot<C> | undefined;
  let closed = false;

  const begin = (): Slot<C> => {
    const ended = Promise.withResolvers<never>();
    const stop = new AbortController();
    // Whoever uses the slot hears of its end through a race; without users nobody has to.
    ended.promise.catch(() => undefined);
    const slot: Slot<C> = {
      opened: Promise.resolve().then(() => kind.open((reason) => slot.end(reason), stop.signal)),
      isOpen: false,
      ended: ended.promise,
      end(reason) {
        if (current === slot) current = undefined;
        clearTimeout(slot.idle);
        if (stop.signal.aborted) return;
        stop.abort(reason);
        ended.reject(reason);
        slot.opened.then(kind.abandon, () => undefined);
      },
      users: 0,
      idle: undefined,
    };
    slot.opened.then(
      () => {
        slot.isOpen = true;
      },
      (error: Error) => slot.end(error),
    );
    return slot;
  };

  const finish = async (slot: Slot<C>): Promise<void> => {
    if (current === slot) current = undefined;
    clearTimeout(slot.idle);
    if (!slot.isOpen) return slot.end(new Error('the target is closed'));
    const connection = await slot.opened;
    const ending = kind.close(connection).then(
      () => true,
      () => false,
    );
    if (!(await inTime(ending))) kind.abandon(connection);
  };

  return {
    async use(signal, work) {
      if (closed) throw new Error('the target is closed');
      signal.throwIfAborted();
      current ??= begin();
      const slot = current;
      slot.users++;
      clearTimeout(slot.idle);
      const abort = Promise.withResolvers<never>();
      const onAbort = (): void => abort.reject(signal.reason);
      signal.addEventListener('abort', onAbort);
      try {
        return await Promise.race([slot.opened.then(work), slot.ended, abort.promise]);
      } catch (error) {
        // A target that let one delivery wait too long would let the next one wait as well.
        if (signal.aborted)
          slot.end(new Error('another delivery on this connection had no answer in time'));
        throw error;
      } finally {
        signal.removeEventListener('abort', onAbort);
        slot.users--;
        if (slot.users === 0 && current === slot)
          slot.idle = setTimeout(() => void finish(slot), idleAfterMs).unref();
      }
    },
    async close() {
      closed = true;
      if (current !== undefined) await finish(current);
    },
  };
}

async function inTime(ending: Promise<boolean>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), closeMsMax);
  try {
    return await Promise.race([ending, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
