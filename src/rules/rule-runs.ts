// Runs of rules: saved in the background, a few rules per second, and loaded when a client reads them.
import { formatInstant } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { transaction, type TransactionStep } from '../storage/records/transaction.ts';
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

export interface RuleRuns {
  /** The last runs of a rule, newest first. */
  readonly runsOf: (ruleId: string) => Promise<readonly Json[]>;
  /** The same for a rule that runs here; undefined for another one. */
  readonly ownRunsOf: (ruleId: string) => Promise<readonly Json[] | undefined>;
  /** Time and outcome of the newest run of each rule that has one. */
  readonly lastRunsOf: (db: RecordsDb, ruleIds: readonly string[]) => Promise<LastRuns>;
  /** Saves all runs. */
  readonly saveAll: () => Promise<void>;
  /** The same, for the last time. */
  readonly close: () => Promise<void>;
}

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

/** Starts saving. */
export function createRuleRuns(parts: RuleRunsParts): RuleRuns {
  const { db, log, setRepeatingTimer, failed, askRuns, isOwn = () => true } = parts;
  /** What is saved has the runs of before the start too. */
  async function load(from: RecordsDb, ruleId: string): Promise<void> {
    if (log.isLoaded(ruleId)) return;
    const runs = await findRuns(from, ruleId);
    if (!log.isLoaded(ruleId)) log.load(ruleId, runs);
  }

  /** Returns how many rules had unsaved runs, at most `max`. */
  async function save(max: number): Promise<number> {
    const ids = log.takeChanged(max);
    if (ids.length === 0) return 0;
    const work = async (step: TransactionStep) => {
      for (const id of ids) {
        await load(step.db, id);
        await saveRuns(step.db, id, log.runsOf(id) ?? []);
      }
    };
    await transaction(db, work, 'lazy');
    return ids.length;
  }

  async function saveAll(): Promise<void> {
    while ((await save(rulesPerSaveAtStop)) > 0);
  }

  async function ownRunsOf(ruleId: string): Promise<readonly Json[] | undefined> {
    if (!isOwn(ruleId)) return undefined;
    await load(db, ruleId);
    return log.runsOf(ruleId) ?? [];
  }

  const stop = setRepeatingTimer(() => void save(rulesPerSave).catch(failed), saveEveryMs);
  return {
    ownRunsOf,
    async runsOf(ruleId) {
      return (await ownRunsOf(ruleId)) ?? (await askRuns?.(ruleId)) ?? findRuns(db, ruleId);
    },
    async lastRunsOf(readDb, ruleIds) {
      const found = new Map(
        ruleIds.flatMap((id) => {
          const last = isOwn(id) ? log.lastOf(id) : undefined;
          const timestamp = last && formatInstant(last.at);
          return last && timestamp ? [[id, { timestamp, outcome: last.outcome }] as const] : [];
        }),
      );
      const others = ruleIds.filter((id) => !found.has(id));
      for (const { ruleId, timestamp, outcome } of await findLastRuns(readDb, others))
        found.set(ruleId, { timestamp, outcome: outcome as RunOutcome });
      return found;
    },
    saveAll,
    async close() {
      stop();
      await saveAll();
    },
  };
}
