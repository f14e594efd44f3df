// Node rounds: questions to all other nodes, shared by equal requests, without waiting for a silent node.
import type { NodeAddress } from '../../model/node-messages.ts';
import type { SetTimer } from '../../structures/timers.ts';

/** For so long, rounds do not ask a node that did not answer in time. */
export const skipMs = 10_000;

export interface NodeRoundsParts {
  /** Asks the node. What it answers is of no use. */
  readonly ask: (to: NodeAddress, request: string) => Promise<unknown>;
  readonly others: () => readonly NodeAddress[];
  /** The longest that a round waits for a node. */
  readonly askMsMax: number;
  readonly failed: (error: unknown) => void;
  /** Milliseconds, for lengths of time only. */
  readonly clock: () => number;
  readonly setTimer: SetTimer;
}

export interface NodeRounds {
  /**
   * Resolves when every other node that answers has answered a question that was asked after this
   * call. Never rejects.
   */
  ask(request: string): Promise<void>;
  /** Nodes that are not asked at present. */
  readonly skipped: () => number;
}

/** Rounds of one request. */
interface Rounds {
  requested: number;
  done: number;
  current: Promise<void> | undefined;
}

/** At most one question of a kind to each node is open; calls that come meanwhile share the next one. */
export function createNodeRounds(parts: NodeRoundsParts): NodeRounds {
  const skippedUntil = new Map<string, number>();
  const open = new Map<string, Rounds>();

  const isSkipped = ({ id }: NodeAddress): boolean => (skippedUntil.get(id) ?? 0) > parts.clock();

  async function askOne(node: NodeAddress, request: string): Promise<void> {
    if (isSkipped(node)) return;
    const answer = parts.ask(node, request);
    try {
      await inTime(answer, parts);
      skippedUntil.delete(node.id);
    } catch (error) {
      skippedUntil.set(node.id, parts.clock() + skipMs);
      parts.failed(error);
      // A node that was only slow is asked again from its late answer on.
      answer.then(
        () => skippedUntil.delete(node.id),
        () => undefined,
      );
    }
  }

  async function askAll(rounds: Rounds, request: string): Promise<void> {
    const upTo = rounds.requested;
    const others = parts.others();
    forgetOthers(skippedUntil, others);
    await Promise.all(others.map((node) => askOne(node, request)));
    rounds.done = upTo;
    rounds.current = undefined;
    if (rounds.requested === upTo) open.delete(request);
  }

  return {
    async ask(request) {
      const rounds = open.get(request) ?? { requested: 0, done: 0, current: undefined };
      open.set(request, rounds);
      const own = ++rounds.requested;
      while (rounds.done < own) await (rounds.current ??= askAll(rounds, request));
    },
    skipped: () => parts.others().filter(isSkipped).length,
  };
}

function forgetOthers(skipped: Map<string, number>, known: readonly NodeAddress[]): void {
  const ids = new Set(known.map(({ id }) => id));
  for (const id of skipped.keys()) if (!ids.has(id)) skipped.delete(id);
}

function inTime(
  answer: Promise<unknown>,
  { setTimer, askMsMax }: NodeRoundsParts,
): Promise<unknown> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = () => reject(new Error(`A node did not respond within ${askMsMax} ms`));
  const stop = setTimer(late, askMsMax);
  return Promise.race([answer, promise]).finally(stop);
}
