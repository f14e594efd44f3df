// Routes of sign-in, sign-out and the own account (contract 35).
import { readAccount } from '../../access/account.ts';
import { readCaller } from '../../access/caller.ts';
import { readPreferences, replacePreferences } from '../../access/preferences.ts';
import { csrfTokenOf } from '../../access/session-authenticator.ts';
import type { Attempts } from '../../access/sign-in-throttle.ts';
import {
  authenticateUser,
  changePassword,
  endSession,
  endSessions,
  startSession,
  switchOrganization,
} from '../../access/sign-in.ts';
import { signIn } from '../../contract/endpoints/sign-in.ts';
import { auditAction } from '../../inventory/audit/audit.ts';
import type { Inventory } from '../../inventory/resource-lookup.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { Answer, type Route, route, type RouteInput } from '../edge/route.ts';
import { clearedCookies, sessionCookies } from '../edge/session-cookies.ts';

export interface SignInParts {
  readonly records: Inventory;
  readonly now: () => number;
  readonly attempts: Attempts;
  /** Whether the platform is reached by https, so that cookies travel by nothing else. */
  readonly secure: boolean;
  /** The present user of a session, in every organization of the user. */
  readonly userOf: (sessionId: string) => Promise<Principal | undefined>;
}

export function signInRoutes(parts: SignInParts): Route[] {
  return [loginRoute(parts), ...endingRoutes(parts), ...ownRoutes(parts), ...accountRoutes(parts)];
}

function loginRoute({ records, now, attempts, secure }: SignInParts): Route {
  return route(signIn.login, async ({ body, ip, requestId }) => {
    const { email, password, organizationId } = body;
    const account = email.trim().toLowerCase();
    const work = () => authenticateUser(records, email, password);
    const user = await attempts.run({ ip, account }, work, (found) => found === undefined);
    if (user === undefined) throw problem('wrongPassword');
    const { sessionToken, session } = await startSession(records, user, now(), organizationId);
    const actor = { type: 'USER', id: user.id, name: user.name, requestId, ip } as const;
    await auditAction(records, actor, {
      organizationId: session.organizationId,
      action: 'LOGIN',
      user,
    });
    const seen = await readAccount(records.db, {
      id: user.id,
      organizationId: session.organizationId,
    });
    const answer = { ...seen, csrfToken: csrfTokenOf(sessionToken) };
    return new Answer(200, answer, { 'set-cookie': sessionCookies(sessionToken, secure) });
  });
}

function endingRoutes({ records, secure }: SignInParts): Route[] {
  const cleared = { 'set-cookie': clearedCookies(secure) };
  return [
    route(signIn.logout, async (input, principal) => {
      await endSession(records, principal.sessionId!);
      await auditLogout({ records }, input, principal);
      return new Answer(204, undefined, cleared);
    }),
    route(signIn.logoutEverywhere, async (input, principal) => {
      const sessions = await endSessions(records, principal.id);
      await auditLogout({ records }, input, principal);
      return new Answer(200, { sessions }, cleared);
    }),
  ];
}

function ownRoutes({ records, userOf }: SignInParts): Route[] {
  return [
    route(signIn.account, async (_input, principal) => {
      const { sessionId } = principal;
      // What a handler gets acts in one organization.
      const user = sessionId === undefined ? undefined : await userOf(sessionId);
      return readCaller(records.db, user ?? principal);
    }),
    route(signIn.preferences, (_input, principal) => readPreferences(records, principal)),
    route(signIn.savePreferences, ({ body }, principal) =>
      replacePreferences(records, principal, body),
    ),
  ];
}

function accountRoutes({ records, now, attempts }: SignInParts): Route[] {
  return [
    route(signIn.switchOrganization, async ({ body: { organizationId } }, principal) => {
      await switchOrganization(records, principal, organizationId);
      return readAccount(records.db, { id: principal.id, organizationId });
    }),
    route(signIn.changePassword, async ({ body, ip, requestId }, principal) => {
      const work = () => changePassword(records, principal, body, now());
      const changed = await attempts.run({ ip, account: principal.id }, work, (right) => !right);
      if (!changed) throw problem('wrongPassword');
      const actor = {
        type: 'USER',
        id: principal.id,
        name: principal.name,
        requestId,
        ip,
      } as const;
      await auditAction(records, actor, {
        organizationId: principal.organizationId,
        action: 'UPDATE',
        user: principal,
        changes: [{ field: 'password', secret: true }],
      });
      return undefined;
    }),
  ];
}

async function auditLogout(
  { records }: Pick<SignInParts, 'records'>,
  { ip, requestId }: RouteInput<unknown, unknown, unknown>,
  principal: Principal,
): Promise<void> {
  const actor = { type: 'USER', id: principal.id, name: principal.name, requestId, ip } as const;
  await auditAction(records, actor, {
    organizationId: principal.organizationId,
    action: 'LOGOUT',
    user: principal,
  });
}
