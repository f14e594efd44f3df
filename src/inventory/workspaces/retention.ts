// Retention: from which time on samples are kept, and the effect of another retention (contract 37).
import { dayMs, type EpochMs } from '../../model/instant.ts';
import type { Records } from '../../storage/records/records.ts';
import { readRetentionRules, type RetentionRules } from '../../storage/records/rows/workspaces.ts';
import type { RetentionTimes, WorkspaceUsage } from '../../storage/samples/sample-store.ts';

/** The times before which samples are not kept now. A deleted data flow has no rule. */
export function retentionTimes(
  { workspaces, dataFlows }: RetentionRules,
  now: EpochMs,
): RetentionTimes {
  const times = (days: ReadonlyMap<string, number>) =>
    new Map([...days].map(([id, count]) => [id, now - count * dayMs] as const));
  return { workspaces: times(workspaces), dataFlows: times(dataFlows) };
}

// Retention effect: what a workspace stores, and about how much of it another retention would drop (contract 37).

export interface EffectSources {
  /** By workspace. */
  readonly usage: () => Promise<ReadonlyMap<string, WorkspaceUsage>>;
  readonly previewExpiry: (workspaceId: string, rules: RetentionTimes) => Promise<WorkspaceUsage>;
  readonly now: () => EpochMs;
}

/** `retentionDays` in place of the rule of the workspace; undefined is without limit. */
export async function readRetentionEffect(
  { db }: Records,
  workspaceId: string,
  retentionDays: number | undefined,
  { usage, previewExpiry, now }: EffectSources,
): Promise<{ readonly stored: WorkspaceUsage; readonly expired: WorkspaceUsage }> {
  const { dataFlows } = await readRetentionRules(db);
  const workspaces = new Map(retentionDays === undefined ? [] : [[workspaceId, retentionDays]]);
  const expired = await previewExpiry(
    workspaceId,
    retentionTimes({ workspaces, dataFlows }, now()),
  );
  const stored = (await usage()).get(workspaceId) ?? { samples: 0, bytes: 0 };
  return { stored, expired };
}
