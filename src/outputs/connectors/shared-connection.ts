// Shared connection: one connection to a target for all of its deliveries. The first opens it; it closes when idle.
// A connection that is lost, or on which a delivery had no answer in time, fails its deliveries;
// the next one opens another.
import { minuteMs } from '../../model/instant.ts';

/** The longest time a connection stays open without a delivery. */
const idleMsMax = minuteMs;
/** The longest time a connection may take to end cleanly. */
const closeMsMax = 2_000;

export interface ConnectionKind<C> {
  /**
   * Opens a connection. The opener calls `lost` at any time when the connection is no longer
   * usable. `signal` aborts when the connection is no longer needed; whatever was opened until then
   * must be released.
   */
  open(lost: (reason: Error) => void, signal: AbortSignal): Promise<C>;
  /** Ends a connection cleanly. */
  close(connection: C): Promise<unknown>;
  /** Ends it immediately, because the other side does not answer. */
  destroy(connection: C): void;
}

/** One connection from its opening to its end. */
interface Slot<C> {
  readonly opened: Promise<C>;
  /** Rejects when the connection ends. */
  readonly ended: Promise<never>;
  isOpen: boolean;
  users: number;
  idleTimer: NodeJS.Timeout | undefined;
  end(reason: Error): void;
}

/** Opens a connection; `onEnd` is called when it ends. */
function openSlot<C>(kind: ConnectionKind<C>, onEnd: (slot: Slot<C>) => void): Slot<C> {
  const ended = Promise.withResolvers<never>();
  const stop = new AbortController();
  // The uses of the slot race with this promise. Without a use its rejection has no handler.
  ended.promise.catch(() => undefined);
  const slot: Slot<C> = {
    opened: Promise.resolve().then(() => kind.open((reason) => slot.end(reason), stop.signal)),
    ended: ended.promise,
    isOpen: false,
    users: 0,
    idleTimer: undefined,
    end(reason) {
      onEnd(slot);
      clearTimeout(slot.idleTimer);
      if (stop.signal.aborted) return;
      stop.abort(reason);
      ended.reject(reason);
      slot.opened.then(kind.destroy, () => undefined);
    },
  };
  slot.opened.then(
    () => {
      slot.isOpen = true;
    },
    (error: Error) => slot.end(error),
  );
  return slot;
}

/** Ends a slot cleanly, or immediately when it is not open yet or takes too long. */
async function closeSlot<C>(slot: Slot<C>, kind: ConnectionKind<C>): Promise<void> {
  clearTimeout(slot.idleTimer);
  if (!slot.isOpen) return slot.end(new Error('the target is closed'));
  const connection = await slot.opened;
  const ending = kind.close(connection).then(
    () => true,
    () => false,
  );
  if (!(await inTime(ending))) kind.destroy(connection);
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

/** Creates a connection that is not open yet. Only tests set a shorter `idleAfterMs`. */
export class SharedConnection<C> {
  readonly #kind: ConnectionKind<C>;
  readonly #idleAfterMs: number;
  #current: Slot<C> | undefined;
  #isClosed = false;
  readonly #remove = (slot: Slot<C>): void => {
    if (this.#current === slot) this.#current = undefined;
  };

  constructor(kind: ConnectionKind<C>, idleAfterMs = idleMsMax) {
    this.#kind = kind;
    this.#idleAfterMs = idleAfterMs;
  }

  /** Ends the connection; every later use rejects. */
  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    if (this.#current !== undefined) await this.#close(this.#current);
  };

  /**
   * Runs `work` on the connection. Rejects when it fails, the connection is lost or `signal`
   * aborts.
   */
  async use<T>(signal: AbortSignal, work: (connection: C) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new Error('the target is closed');
    signal.throwIfAborted();
    this.#current ??= openSlot(this.#kind, this.#remove);
    const slot = this.#current;
    slot.users += 1;
    clearTimeout(slot.idleTimer);
    const abort = Promise.withResolvers<never>();
    const onAbort = (): void => abort.reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    try {
      return await Promise.race([slot.opened.then(work), slot.ended, abort.promise]);
    } catch (error) {
      // A target on which one delivery had no answer in time would delay the next one too.
      if (signal.aborted) slot.end(new Error('another delivery on this connection timed out'));
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#leave(slot);
    }
  }

  #close(slot: Slot<C>): Promise<void> {
    this.#remove(slot);
    return closeSlot(slot, this.#kind);
  }

  #leave(slot: Slot<C>): void {
    slot.users -= 1;
    if (slot.users > 0 || this.#current !== slot) return;
    slot.idleTimer = setTimeout(() => void this.#close(slot), this.#idleAfterMs).unref();
  }
}
