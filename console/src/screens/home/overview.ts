// Overview of a workspace: all figures of the home page in one request.
import { useQuery } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { overviewOf } from '../../session/first-run.ts';

export type Overview = components['schemas']['WorkspaceOverview'];

const refreshMs = 15_000;

export function useOverview(workspaceId: string) {
  return useQuery({ ...overviewOf(workspaceId), refetchInterval: refreshMs });
}

/** Open alarms of every severity. */
export function openAlarms({ alarms }: Overview): number {
  return Object.values(alarms.open).reduce((sum, count) => sum + count, 0);
}
