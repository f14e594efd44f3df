// On-call orders of a workspace, and who is on call in the coming days.
import { queryOptions } from '@tanstack/react-query';
import type { components } from '../../generated/interface-types.ts';
import { ask, platform } from './platform.ts';

export type OnCall = components['schemas']['OnCall'];

/** As many as a workspace has at most. */
const ordersMax = 100;

export const onCallOrders = (workspaceId: string) =>
  queryOptions({
    queryKey: ['on-call', workspaceId],
    queryFn: ({ signal }) => {
      const query = { workspaceId, size: ordersMax, sort: 'name,asc' };
      return ask(platform.GET('/v3/on-call', { signal, params: { query } }));
    },
  });

/** Who is on call from one moment to another; nobody when everybody has left. */
export interface Shift {
  readonly from: string;
  /** Undefined for one without end. */
  readonly to: string | undefined;
  readonly email: string | null;
}

const weekMs = 7 * 86_400_000;
/** A week with daily turns and a few stand-ins. */
const shiftsMax = 16;

/** The shifts of the coming week, the present one first. */
export const shiftsOf = (workspaceId: string, { id, version }: OnCall) =>
  queryOptions({
    queryKey: ['on-call', workspaceId, id, version],
    refetchInterval: 60_000,
    queryFn: async ({ signal }): Promise<readonly Shift[]> => {
      const start = Date.now();
      const shifts: Shift[] = [];
      for (let from = new Date(start).toISOString(); shifts.length < shiftsMax; ) {
        const params = { path: { id }, query: { at: from } };
        const { email, until } = await ask(
          platform.GET('/v3/on-call/{id}/now', { signal, params }),
        );
        shifts.push({ from, to: until ?? undefined, email });
        if (until === null || Date.parse(until) >= start + weekMs) break;
        from = until;
      }
      return shifts;
    },
  });
