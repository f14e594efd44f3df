// Overview of a workspace: all figures of the home page in one request.
import { useQuery } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { overviewOf } from '../../session/first-run.ts';
import { useMay } from '../../session/permissions.ts';
import type { OutputItem } from '../outputs/output-requests.ts';

type Refusal = components['schemas']['Refusal'];
export type Overview = components['schemas']['WorkspaceOverview'];

const refreshMs = 15_000;

export function useOverview(workspaceId: string) {
  return useQuery({ ...overviewOf(workspaceId), refetchInterval: refreshMs });
}

const failingMax = 100;

/** Outputs whose target takes no deliveries: one waits for its next try. Asked for only while deliveries wait. */
export function useFailingOutputs(
  workspaceId: string,
  overview: Overview | undefined,
): readonly OutputItem[] {
  const mayRead = useMay(workspaceId, 'dataFlow', 'read');
  const waiting = overview?.deliveries.waiting ?? 0;
  const { data } = useQuery({
    queryKey: ['outputs', workspaceId, 'failing'],
    enabled: mayRead && waiting > 0,
    refetchInterval: refreshMs,
    queryFn: async ({ signal }) => {
      const query = { workspaceId, size: failingMax, details: 'health' as const };
      const page = await ask(platform.GET('/v3/output-connectors', { signal, params: { query } }));
      return page.content.filter(({ health }) => (health?.deliveries.nextTry ?? null) !== null);
    },
  });
  return waiting > 0 ? (data ?? []) : [];
}

const dayMs = 86_400_000;
const refusedMax = 20;

/** Refusals of the last 24 hours, the last first. */
export function useRefusals(workspaceId: string): readonly Refusal[] {
  const mayRead = useMay(workspaceId, 'asset', 'read');
  const { data } = useQuery({
    queryKey: ['refusals', workspaceId, 'home'],
    enabled: mayRead,
    refetchInterval: refreshMs,
    queryFn: async ({ signal }) => {
      const params = { path: { id: workspaceId }, query: { size: refusedMax } };
      const page = await ask(platform.GET('/v3/workspaces/{id}/refusals', { signal, params }));
      const since = Date.now() - dayMs;
      return page.content.filter(({ last }) => Date.parse(last) > since);
    },
  });
  return data ?? [];
}

/** Open alarms of every severity. */
export function openAlarms({ alarms }: Overview): number {
  return Object.values(alarms.open).reduce((sum, count) => sum + count, 0);
}
