// Health of rules: their last run, and how often they fired in 24 hours (contract 37).
import { dayMs } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import type { RunOutcome } from '../../model/rule.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import { periodOf, sumPeriodCounts } from '../../storage/records/rows/period-counts.ts';

export interface RuleHealthParts {
  /** Time and outcome of the newest run of each rule that has one. */
  readonly lastRunsOf: (
    db: RecordsDb,
    ruleIds: readonly string[],
  ) => Promise<ReadonlyMap<string, LastRun>>;
  /** Resolves when the rules of the organization were evaluated with what is durable. */
  readonly settledFor: (organizationId: string) => Promise<void>;
}

interface LastRun {
  readonly timestamp: string;
  readonly outcome: RunOutcome;
}

export interface RuleHealth {
  readonly lastRun: LastRun | null;
  readonly firedIn24h: number;
}

/** By rule. Runs show no values here, because their reader need not read devices. */
export async function healthOfRules(
  records: Records,
  { organizationId }: Principal,
  ruleIds: readonly string[],
  { lastRunsOf, settledFor }: RuleHealthParts,
): Promise<ReadonlyMap<string, RuleHealth>> {
  await settledFor(organizationId).catch(() => undefined);
  const db = records.elsewhere(organizationId);
  const from = periodOf('fired', records.now() - dayMs + 1);
  const fired = await sumPeriodCounts(db, ruleIds, ['fired'], from);
  const lastRuns = await lastRunsOf(db, ruleIds);
  return new Map(
    ruleIds.map((id) => [
      id,
      { lastRun: lastRuns.get(id) ?? null, firedIn24h: fired(id, 'fired') },
    ]),
  );
}
