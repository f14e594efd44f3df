// Node rounds: questions to all other nodes, shared by equal requests, without waiting for a silent node.
import type { NodeAddress } from '../../model/node-messages.ts';
import type { SetTimer } from '../../structures/timers.ts';

/** For so long, rounds do not ask a node that did not answer in time. */
export const skipMs = 10_000;

interface NodeRoundsParts {
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

/** Rounds of one request. */
interface Rounds {
  requested: number;
  done: number;
  current: Promise<void> | undefined;
}

/**
 * At most one question of a kind to each node is open; calls that come meanwhile share the next
 * one.
 */
export class NodeRounds {
  readonly #parts: NodeRoundsParts;
  readonly #skippedUntil = new Map<string, number>();
  readonly #open = new Map<string, Rounds>();
  readonly #isSkipped = ({ id }: NodeAddress): boolean =>
    (this.#skippedUntil.get(id) ?? 0) > this.#parts.clock();

  constructor(parts: NodeRoundsParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when every other node that answers has answered a question that was asked after this
   * call. Never rejects.
   */
  readonly ask = async (request: string): Promise<void> => {
    const rounds = this.#open.get(request) ?? { requested: 0, done: 0, current: undefined };
    this.#open.set(request, rounds);
    const own = ++rounds.requested;
    while (rounds.done < own) await (rounds.current ??= this.#askAll(rounds, request));
  };

  /** Nodes that are not asked at present. */
  readonly skipped = (): number => this.#parts.others().filter(this.#isSkipped).length;

  async #askOne(node: NodeAddress, request: string): Promise<void> {
    if (this.#isSkipped(node)) return;
    const answer = this.#parts.ask(node, request);
    try {
      await inTime(answer, this.#parts);
      this.#skippedUntil.delete(node.id);
    } catch (error) {
      this.#skippedUntil.set(node.id, this.#parts.clock() + skipMs);
      this.#parts.failed(error);
      // A node that was only slow is asked again from its late answer on.
      answer.then(
        () => this.#skippedUntil.delete(node.id),
        () => undefined,
      );
    }
  }

  async #askAll(rounds: Rounds, request: string): Promise<void> {
    const upTo = rounds.requested;
    const others = this.#parts.others();
    forgetOthers(this.#skippedUntil, others);
    await Promise.all(others.map((node) => this.#askOne(node, request)));
    rounds.done = upTo;
    rounds.current = undefined;
    if (rounds.requested === upTo) this.#open.delete(request);
  }
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
