// Runs of rules: saved in the background, a few rules per second, and loaded when a client reads them.
import { formatInstant } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import { type RecordsDb, transaction, type TransactionStep } from '../storage/records/records.ts';
import { findLastRuns, findRuns, saveRuns } from '../storage/records/rows/rule-state.ts';
import type { RunOutcome } from '../model/rule.ts';
import type { RunLog } from './evaluation/run-log.ts';
import type { SetTimer } from '../structures/timers.ts';

/**
 * Rules whose runs are saved in one transaction: few, so that no request waits for it; more at the
 * stop.
 */
const rulesPerSave = 4;
const rulesPerSaveAtStop = 20;
const saveEveryMs = 1_000;

type LastRuns = ReadonlyMap<string, { readonly timestamp: string; readonly outcome: RunOutcome }>;

export interface RuleRunsParts {
  readonly db: RecordsDb;
  readonly log: Pick<RunLog, 'isLoaded' | 'lastOf' | 'load' | 'runsOf' | 'takeChanged'>;
  /** Whether the rule runs here; the runs of others are read from the records. */
  readonly isOwn?: (ruleId: string) => boolean;
  /** The runs that the node with the rule has in memory; undefined when none can be asked. */
  readonly askRuns?: (ruleId: string) => Promise<readonly Json[] | undefined>;
  readonly setRepeatingTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

export class RuleRuns {
  readonly #db: RecordsDb;
  readonly #log: RuleRunsParts['log'];
  readonly #askRuns: ((ruleId: string) => Promise<readonly Json[] | undefined>) | undefined;
  readonly #isOwn: (ruleId: string) => boolean;
  readonly #stop: () => void;
  /** The last runs of a rule, newest first. */
  readonly runsOf = async (ruleId: string): Promise<readonly Json[]> => {
    return (
      (await this.ownRunsOf(ruleId)) ??
      (await this.#askRuns?.(ruleId)) ??
      findRuns(this.#db, ruleId)
    );
  };
  /** Time and outcome of the newest run of each rule that has one. */
  readonly lastRunsOf = async (
    readDb: RecordsDb,
    ruleIds: readonly string[],
  ): Promise<LastRuns> => {
    const found = new Map(
      ruleIds.flatMap((id) => {
        const last = this.#isOwn(id) ? this.#log.lastOf(id) : undefined;
        const timestamp = last && formatInstant(last.at);
        return last && timestamp ? [[id, { timestamp, outcome: last.outcome }] as const] : [];
      }),
    );
    const others = ruleIds.filter((id) => !found.has(id));
    for (const { ruleId, timestamp, outcome } of await findLastRuns(readDb, others))
      found.set(ruleId, { timestamp, outcome: outcome as RunOutcome });
    return found;
  };
  /** The same, for the last time. */
  readonly close = async (): Promise<void> => {
    this.#stop();
    await this.saveAll();
  };

  /** Starts saving. */
  constructor(parts: RuleRunsParts) {
    const { db, log, setRepeatingTimer, failed, askRuns, isOwn = () => true } = parts;
    this.#db = db;
    this.#log = log;
    this.#askRuns = askRuns;
    this.#isOwn = isOwn;
    this.#stop = setRepeatingTimer(() => void this.#save(rulesPerSave).catch(failed), saveEveryMs);
  }

  /** What is saved has the runs of before the start too. */
  async #load(from: RecordsDb, ruleId: string): Promise<void> {
    if (this.#log.isLoaded(ruleId)) return;
    const runs = await findRuns(from, ruleId);
    if (!this.#log.isLoaded(ruleId)) this.#log.load(ruleId, runs);
  }

  /** Returns how many rules had unsaved runs, at most `max`. */
  async #save(max: number): Promise<number> {
    const ids = this.#log.takeChanged(max);
    if (ids.length === 0) return 0;
    const work = async (step: TransactionStep) => {
      for (const id of ids) {
        await this.#load(step.db, id);
        await saveRuns(step.db, id, this.#log.runsOf(id) ?? []);
      }
    };
    await transaction(this.#db, work, 'lazy');
    return ids.length;
  }

  /** Saves all runs. */
  async saveAll(): Promise<void> {
    while ((await this.#save(rulesPerSaveAtStop)) > 0);
  }

  /** The same for a rule that runs here; undefined for another one. */
  async ownRunsOf(ruleId: string): Promise<readonly Json[] | undefined> {
    if (!this.#isOwn(ruleId)) return undefined;
    await this.#load(this.#db, ruleId);
    return this.#log.runsOf(ruleId) ?? [];
  }
}
