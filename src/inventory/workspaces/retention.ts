// From which time on samples are kept: the rule of their data flow, else that of their workspace.
import { dayMs, type EpochMs } from '../../model/instant.ts';
import type { RetentionRules } from '../../records/rows/retention-rules.ts';

/** Undefined is for ever. A data flow that was deleted has no rule any more. */
export type KeepFrom = (workspaceId: string, dataFlowId: string | null) => EpochMs | undefined;

/** Undefined when no rule exists and so nothing is ever too old. */
export function keepFromBy(
  { workspaces, dataFlows }: RetentionRules,
  now: EpochMs,
): KeepFrom | undefined {
  if (workspaces.size === 0 && dataFlows.size === 0) return undefined;
  return (workspaceId, dataFlowId) => {
    const days =
      (dataFlowId === null ? undefined : dataFlows.get(dataFlowId)) ?? workspaces.get(workspaceId);
    return days === undefined ? undefined : now - days * dayMs;
  };
}
