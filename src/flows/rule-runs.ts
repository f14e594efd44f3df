// Runs of rules: saved in the background, a few rules per second, and loaded when a client reads them.
import { formatInstant } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import type { RecordsDb } from '../records/records.ts';
import { transaction, type TransactionStep } from '../records/transaction.ts';
import { findLastRuns, findRuns, saveRuns } from '../records/rows/rule-queue.ts';
import type { RunOutcome } from '../model/run-outcome.ts';
import type { RunLog } from '../rules/run-log.ts';
import type { SetTimer } from '../structures/timers.ts';

/**
 * Rules whose runs are saved in one transaction: few, so that no request waits for it; more at the
 * stop.
 */
const rulesPerSave = 4;
const rulesPerSaveAtStop = 20;
const saveEveryMs = 1_000;

export interface LastRun {
  readonly timestamp: string;
  readonly outcome: RunOutcome;
}

export type LastRuns = ReadonlyMap<string, LastRun>;

export interface RuleRuns {
  /** The last runs of a rule, newest first. */
  readonly runsOf: (ruleId: string) => Promise<readonly Json[]>;
  /** Time and outcome of the newest run of each rule that has one. */
  readonly lastRunsOf: (db: RecordsDb, ruleIds: readonly string[]) => Promise<LastRuns>;
  /** Saves all runs. */
  readonly saveAll: () => Promise<void>;
  /** The same, for the last time. */
  readonly close: () => Promise<void>;
}

export interface RuleRunsParts {
  readonly db: RecordsDb;
  readonly log: Pick<RunLog, 'has' | 'lastOf' | 'load' | 'runsOf' | 'takeChanged'>;
  /** Whether the rule runs here; the runs of others are read from the records. */
  readonly isOwn?: (ruleId: string) => boolean;
  readonly setRepeatingTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

/** Starts saving. */
export function createRuleRuns(parts: RuleRunsParts): RuleRuns {
  const { db, log, setRepeatingTimer, failed, isOwn = () => true } = parts;
  /** Returns how many rules had unsaved runs, at most `max`. */
  async function save(max: number): Promise<number> {
    const ids = log.takeChanged(max);
    if (ids.length === 0) return 0;
    const work = async (step: TransactionStep) => {
      for (const id of ids) await saveRuns(step.db, id, log.runsOf(id) ?? []);
    };
    await transaction(db, work, 'lazy');
    return ids.length;
  }

  async function saveAll(): Promise<void> {
    while ((await save(rulesPerSaveAtStop)) > 0);
  }

  const stop = setRepeatingTimer(() => void save(rulesPerSave).catch(failed), saveEveryMs);
  return {
    async runsOf(ruleId) {
      if (!isOwn(ruleId)) return findRuns(db, ruleId);
      if (!log.has(ruleId)) log.load(ruleId, await findRuns(db, ruleId));
      return log.runsOf(ruleId) ?? [];
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
