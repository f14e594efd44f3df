// Retention times: from which time on samples are kept, by the rule of their data flow, else of their workspace.
import { dayMs, type EpochMs } from '../../model/instant.ts';
import type { RetentionRules } from '../../storage/records/rows/workspaces.ts';
import type { RetentionTimes } from '../../storage/samples/sample-store.ts';

/** The times before which samples are not kept now. A deleted data flow has no rule. */
export function retentionTimes(
  { workspaces, dataFlows }: RetentionRules,
  now: EpochMs,
): RetentionTimes {
  const times = (days: ReadonlyMap<string, number>) =>
    new Map([...days].map(([id, count]) => [id, now - count * dayMs] as const));
  return { workspaces: times(workspaces), dataFlows: times(dataFlows) };
}
