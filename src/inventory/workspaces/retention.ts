// Retention cutoff: the time from which samples are kept, by the rule of their data flow or workspace.
import { dayMs, type EpochMs } from '../../model/instant.ts';
import type { RetentionRules } from '../../records/rows/retention-rules.ts';

/** Samples older than this are dropped; undefined means never. A deleted data flow has no rule. */
export type RetentionCutoff = (
  workspaceId: string,
  dataFlowId: string | null,
) => EpochMs | undefined;

/** Undefined when no rule exists, so that nothing is ever dropped. */
export function retentionCutoff(
  { workspaces, dataFlows }: RetentionRules,
  now: EpochMs,
): RetentionCutoff | undefined {
  if (workspaces.size === 0 && dataFlows.size === 0) return undefined;
  return (workspaceId, dataFlowId) => {
    const days = dataFlows.get(dataFlowId ?? '') ?? workspaces.get(workspaceId);
    if (days === undefined) return undefined;
    return now - days * dayMs;
  };
}
