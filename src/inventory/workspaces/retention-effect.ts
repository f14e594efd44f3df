// Retention effect: what a workspace stores, and about how much of it another retention would drop (contract 37).
import type { EpochMs } from '../../model/instant.ts';
import type { Records } from '../../storage/records/records.ts';
import { readRetentionRules } from '../../storage/records/rows/workspaces.ts';
import type { RetentionTimes, WorkspaceUsage } from '../../storage/samples/sample-store.ts';
import { retentionTimes } from './retention.ts';

export interface EffectSources {
  /** By workspace. */
  readonly usage: () => Promise<ReadonlyMap<string, WorkspaceUsage>>;
  readonly previewExpiry: (workspaceId: string, rules: RetentionTimes) => Promise<WorkspaceUsage>;
  readonly now: () => EpochMs;
}

/** `retentionDays` in place of the rule of the workspace; undefined is without limit. */
export async function readRetentionEffect(
  { db }: Pick<Records, 'db'>,
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
