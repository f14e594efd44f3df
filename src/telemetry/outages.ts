// Outages: servers that the platform needs. One line says that one does not answer, one that it is back.
import type { EpochMs } from '../model/instant.ts';
import { setRepeatingTimer, type SetTimer } from '../structures/timers.ts';
import type { Log } from './log.ts';
import type { MetricMakers } from './metric-makers.ts';

const outageLimits = {
  askEveryMs: 1_000,
  /** Causes of causes that are looked at. */
  depthMax: 5,
} as const;

/** A server that does not answer at present. */
interface LostServer {
  /** For messages and metrics, such as `PostgreSQL`. */
  readonly name: string;
  /** Where it is, without passwords. */
  readonly place: string;
  /** Resolves when it answers; rejects while it does not. */
  readonly ask: () => Promise<unknown>;
  /** After this time it is not asked any longer, because it may never come back. */
  readonly askedMsMax?: number;
}

/** The server whose silence an error tells of; undefined for other errors. */
type LostServerOf = (error: Error) => LostServer | undefined;

interface Outage {
  readonly since: EpochMs;
  readonly startedAt: number;
  isAsked: boolean;
  /** Ends the asking. */
  end: () => void;
}

export class Outages {
  readonly #log: Log;
  readonly #repeat: SetTimer;
  readonly #finders: LostServerOf[] = [];
  readonly #lost = new Map<string, Outage>();

  constructor(log: Log, { labeledGauge }: MetricMakers, repeat: SetTimer = setRepeatingTimer) {
    this.#log = log;
    this.#repeat = repeat;
    labeledGauge(
      'server_down',
      '1 for each server that the platform needs and that does not answer.',
      'server',
      () => [...this.#lost.keys()].map((name) => [name, 1] as const),
    );
  }

  watch(finder: LostServerOf): void {
    this.#finders.push(finder);
  }

  /** When the server was missed first; undefined while it answers. */
  since(name: string): EpochMs | undefined {
    return this.#lost.get(name)?.since;
  }

  /** Whether the error follows from the outage of a server, which has its own line. */
  explains(what: string, error: unknown): boolean {
    for (const cause of causesOf(error))
      for (const finder of this.#finders) {
        const server = finder(cause);
        if (server === undefined) continue;
        if (this.#lost.has(server.name))
          this.#log.debug({ what, server: server.name }, 'waiting for a server');
        else this.#begin(server, what, reasonOf(error));
        return true;
      }
    return false;
  }

  close(): void {
    for (const { end } of this.#lost.values()) end();
    this.#lost.clear();
  }

  #begin(server: LostServer, what: string, reason: string): void {
    const { name, place } = server;
    const outage: Outage = {
      since: Date.now(),
      startedAt: performance.now(),
      isAsked: false,
      end: () => undefined,
    };
    this.#lost.set(name, outage);
    this.#log.warn({ server: name, place, reason, what }, 'server down');
    outage.end = this.#repeat(() => void this.#ask(server, outage), outageLimits.askEveryMs);
  }

  async #ask(
    { name, place, ask, askedMsMax = Infinity }: LostServer,
    outage: Outage,
  ): Promise<void> {
    if (outage.isAsked) return;
    outage.isAsked = true;
    const isBack = await ask().then(
      () => true,
      () => false,
    );
    outage.isAsked = false;
    const lastedMs = performance.now() - outage.startedAt;
    if (!isBack && lastedMs < askedMsMax) return;
    outage.end();
    if (this.#lost.get(name) !== outage) return;
    this.#lost.delete(name);
    const seconds = Math.round(lastedMs / 100) / 10;
    this.#log.info({ server: name, place, seconds }, isBack ? 'server back' : 'server given up');
  }
}

/** The error with what caused it. */
export function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error && causes.length < outageLimits.depthMax; at = at.cause)
    causes.push(
      at,
      ...(at instanceof AggregateError ? at.errors.filter((one) => one instanceof Error) : []),
    );
  return causes;
}

/** In the words of the innermost cause. */
function reasonOf(error: unknown): string {
  const words = causesOf(error).flatMap(({ message }) => (message === '' ? [] : [message]));
  return words.at(-1) ?? String(error);
}
