// Change sharing: other nodes have read what a request changed before its answer is sent.
import type { NodeAddress } from '../model/node-address.ts';
import type { SetTimer } from '../structures/timers.ts';

/** The call between nodes. */
export const readChangesCall = 'readChanges';

export const changeSharingLimits = {
  /** The longest that an answer waits for another node. */
  askMsMax: 1_000,
  /** For so long, answers do not wait for a node that did not answer; it finds changes by itself. */
  skipMs: 10_000,
} as const;

export interface ChangeSharingParts {
  /** Asks the node to read the changes of others. Resolves when it has. */
  readonly ask: (to: NodeAddress) => Promise<unknown>;
  readonly others: () => readonly NodeAddress[];
  readonly failed: (error: unknown) => void;
  /** Milliseconds, for lengths of time only. */
  readonly clock: () => number;
  readonly setTimer: SetTimer;
}

export interface ChangeSharing {
  /**
   * Resolves when every other node that answers has read what was committed before the call. Never
   * rejects.
   */
  share(): Promise<void>;
  /** Nodes for which answers do not wait at present. */
  readonly skipped: () => number;
}

/** At most one question to each node is open; calls that come meanwhile share the next one. */
export function createChangeSharing(parts: ChangeSharingParts): ChangeSharing {
  const skippedUntil = new Map<string, number>();
  let requested = 0;
  let shared = 0;
  let round: Promise<void> | undefined;

  const isSkipped = ({ id }: NodeAddress): boolean => (skippedUntil.get(id) ?? 0) > parts.clock();

  async function askOne(node: NodeAddress): Promise<void> {
    if (isSkipped(node)) return;
    try {
      await inTime(parts.ask(node), parts.setTimer);
      skippedUntil.delete(node.id);
    } catch (error) {
      skippedUntil.set(node.id, parts.clock() + changeSharingLimits.skipMs);
      parts.failed(error);
    }
  }

  async function askAll(): Promise<void> {
    const upTo = requested;
    const others = parts.others();
    forgetOthers(skippedUntil, others);
    await Promise.all(others.map(askOne));
    shared = upTo;
    round = undefined;
  }

  return {
    async share() {
      const own = ++requested;
      while (shared < own) await (round ??= askAll());
    },
    skipped: () => parts.others().filter(isSkipped).length,
  };
}

function forgetOthers(skipped: Map<string, number>, known: readonly NodeAddress[]): void {
  const ids = new Set(known.map(({ id }) => id));
  for (const id of skipped.keys()) if (!ids.has(id)) skipped.delete(id);
}

function inTime(answer: Promise<unknown>, setTimer: SetTimer): Promise<unknown> {
  const { promise, reject } = Promise.withResolvers<never>();
  const limit = changeSharingLimits.askMsMax;
  const late = () => reject(new Error(`The node did not answer within ${limit} ms`));
  const stop = setTimer(late, limit);
  return Promise.race([answer, promise]).finally(stop);
}
