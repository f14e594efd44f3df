// Routes of the own sessions (contract 35).
import { endOwnSession, listOwnSessions } from '../../access/own-sessions.ts';
import { endSessions } from '../../access/sign-in.ts';
import { ownSessions } from '../../contract/endpoints/own-sessions.ts';
import { auditAction } from '../../inventory/audit/audit.ts';
import type { Inventory } from '../../inventory/resource-lookup.ts';
import { unpagedOf } from '../../model/page.ts';
import type { FieldChange } from '../../model/audit-entry.ts';
import type { Principal } from '../../model/principal.ts';
import { type Route, route, type RouteInput } from '../edge/route.ts';

export interface OwnSessionParts {
  readonly records: Inventory;
  readonly now: () => number;
}

export function ownSessionRoutes({ records, now }: OwnSessionParts): Route[] {
  return [
    route(ownSessions.list, async (_input, principal) =>
      unpagedOf(await listOwnSessions(records, principal, now())),
    ),
    route(ownSessions.end, async (input, principal) => {
      const { id, userAgent, ip } = await endOwnSession(records, principal, input.params.id);
      const ended = { field: 'session', before: { id, userAgent, ip } };
      await auditEnd({ records }, input, { principal, changes: [ended] });
    }),
    route(ownSessions.endOthers, async (input, principal) => {
      const sessions = await endSessions(records, principal.id, principal.sessionId);
      const changes = [{ field: 'sessions', before: sessions + 1, after: 1 }];
      await auditEnd({ records }, input, { principal, changes });
      return { sessions };
    }),
  ];
}

interface EndedBy {
  readonly principal: Principal;
  readonly changes: readonly FieldChange[];
}

async function auditEnd(
  { records }: Pick<OwnSessionParts, 'records'>,
  { ip, requestId }: RouteInput<unknown, unknown, unknown>,
  { principal, changes }: EndedBy,
): Promise<void> {
  const { id, name, organizationId } = principal;
  const actor = { type: 'USER', id, name, requestId, ip } as const;
  await auditAction(records, actor, { organizationId, action: 'LOGOUT', user: principal, changes });
}
