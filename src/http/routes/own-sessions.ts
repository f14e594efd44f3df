// Routes of the own sessions (contract 35).
import { endOwnSession, isRecentSession, listOwnSessions } from '../../access/own-sessions.ts';
import type { Attempts } from '../../access/sign-in-throttle.ts';
import { endSessions } from '../../access/sign-in.ts';
import { ownSessions } from '../../contract/own-sessions.ts';
import { auditAction } from '../../inventory/audit/audit.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import { unpagedOf } from '../../model/page.ts';
import type { FieldChange } from '../../model/audit-entry.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { type Route, route, type RouteInput } from '../edge/route.ts';
import { ownerOf } from './second-factor.ts';

interface OwnSessionParts {
  readonly records: Inventory;
  readonly now: () => number;
  readonly attempts: Attempts;
  /** Whether passwords count. */
  readonly localSignIn: boolean;
}

type Confirmed = Pick<RouteInput<unknown, unknown, unknown>, 'ip'> & {
  readonly body?: { readonly password?: string | null | undefined } | undefined;
};

/**
 * A session alone ends no others, because it may be in foreign hands. Throws 403 without the
 * password of the user, 401 for a wrong one.
 */
export async function confirmEnding(
  parts: OwnSessionParts,
  { ip, body }: Confirmed,
  principal: Principal,
): Promise<void> {
  if (await isRecentSession(parts.records, principal, parts.now())) return;
  const password = body?.password ?? undefined;
  if (password === undefined) throw problem('authenticateAgain');
  await ownerOf(parts, ip, principal, password);
}

export function ownSessionRoutes(parts: OwnSessionParts): Route[] {
  const { records, now } = parts;
  return [
    route(ownSessions.list, async (_input, principal) =>
      unpagedOf(await listOwnSessions(records, principal, now())),
    ),
    route(ownSessions.end, async (input, principal) => {
      if (input.params.id !== principal.sessionId) await confirmEnding(parts, input, principal);
      const { id, userAgent, ip } = await endOwnSession(records, principal, input.params.id);
      const ended = { field: 'session', before: { id, userAgent, ip } };
      await auditEnd({ records }, input, { principal, changes: [ended] });
    }),
    route(ownSessions.endOthers, async (input, principal) => {
      await confirmEnding(parts, input, principal);
      const sessions = await endSessions(records, principal.id, principal.sessionId);
      const changes = [{ field: 'sessions', before: sessions + 1, after: 1 }];
      await auditEnd({ records }, input, { principal, changes });
      return { sessions };
    }),
  ];
}

async function auditEnd(
  { records }: Pick<OwnSessionParts, 'records'>,
  { ip, requestId }: RouteInput<unknown, unknown, unknown>,
  {
    principal,
    changes,
  }: {
    readonly principal: Principal;
    readonly changes: readonly FieldChange[];
  },
): Promise<void> {
  const { id, name, organizationId } = principal;
  const actor = { type: 'USER', id, name, requestId, ip } as const;
  await auditAction(records, actor, { organizationId, action: 'LOGOUT', user: principal, changes });
}
