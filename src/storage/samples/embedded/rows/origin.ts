// The origin of rows: what retention and usage go by.
import type { EpochMs } from '../../../../model/instant.ts';
import type { RetentionTimes } from '../../sample-store.ts';

export interface Origin {
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  /**
   * Rows before are past their retention: never read, though their block may still be there. Set
   * whenever the rules are looked at.
   */
  keepFrom: EpochMs;
}

/**
 * From when on rows of these origins may be read; where they are mixed, the most lenient of their
 * rules counts for all.
 */
export function visibleFrom(origins: readonly Origin[]): EpochMs {
  let from = Number.POSITIVE_INFINITY;
  for (const { keepFrom } of origins) if (keepFrom < from) from = keepFrom;
  return from;
}

/** From when on the rules keep rows of the origin: the rule of its data flow, else of its workspace. */
export function keepFromOf(
  { workspaceId, dataFlowId }: Pick<Origin, 'workspaceId' | 'dataFlowId'>,
  rules: RetentionTimes | undefined,
): EpochMs {
  const ofFlow = dataFlowId === null ? undefined : rules?.dataFlows.get(dataFlowId);
  return ofFlow ?? rules?.workspaces.get(workspaceId) ?? Number.NEGATIVE_INFINITY;
}
