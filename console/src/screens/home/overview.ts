// Overview of a workspace: all figures of the home page in one request.
import { useQuery } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { overviewOf } from '../../session/first-run.ts';
import { useMay } from '../../session/permissions.ts';
import { failingOutputsOf, type OutputItem } from '../outputs/output-requests.ts';

export type Overview = components['schemas']['WorkspaceOverview'];

const refreshMs = 15_000;

export function useOverview(workspaceId: string) {
  return useQuery({ ...overviewOf(workspaceId), refetchInterval: refreshMs });
}

/** Outputs whose target takes no deliveries; asked for only while deliveries wait. */
export function useFailingOutputs(
  workspaceId: string,
  overview: Overview | undefined,
): readonly OutputItem[] {
  const mayRead = useMay(workspaceId, 'dataFlow', 'read');
  const waiting = overview?.deliveries.waiting ?? 0;
  const { data } = useQuery({
    ...failingOutputsOf(workspaceId),
    enabled: mayRead && waiting > 0,
  });
  return waiting > 0 ? (data ?? []) : [];
}

/** Open alarms of every severity. */
export function openAlarms({ alarms }: Overview): number {
  return Object.values(alarms.open).reduce((sum, count) => sum + count, 0);
}
