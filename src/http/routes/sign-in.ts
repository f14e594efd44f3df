// Routes of sign-out and the own account (contract 35).
import {
  readAccount,
  readCaller,
  readPreferences,
  replacePreferences,
} from '../../access/caller.ts';
import { endSessionUrlOf, idTokenOf, type ProviderClient } from '../../access/provider.ts';
import {
  changePassword,
  endSession,
  endSessions,
  switchOrganization,
} from '../../access/sign-in.ts';
import { signIn } from '../../contract/sign-in.ts';
import { auditAction } from '../../inventory/audit/audit.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { Answer, type Route, route, type RouteInput } from '../edge/route.ts';
import { clearedCookies } from '../edge/session-cookies.ts';
import { type LoginParts, loginRoutes } from './login.ts';
import { confirmEnding } from './own-sessions.ts';

interface SignInParts extends LoginParts {
  /** Undefined without a provider. */
  readonly providerClient: ProviderClient | undefined;
  /** The present user of a session, in every organization of the user. */
  readonly userOf: (sessionId: string) => Promise<Principal | undefined>;
}

export function signInRoutes(parts: SignInParts): Route[] {
  return [
    ...loginRoutes(parts),
    ...endingRoutes(parts),
    ...ownRoutes(parts),
    ...accountRoutes(parts),
  ];
}

function endingRoutes(parts: SignInParts): Route[] {
  const { records, secure, providerClient } = parts;
  const cleared = { 'set-cookie': clearedCookies(secure) };
  return [
    route(signIn.logout, async (input, principal) => {
      const idToken = await idTokenOf(records, principal.sessionId!);
      await endSession(records, principal.sessionId!);
      await auditLogout({ records }, input, principal);
      const endSessionUrl = await endSessionUrlOf(records, providerClient, idToken);
      if (endSessionUrl === undefined) return new Answer(204, undefined, cleared);
      return new Answer(200, { endSessionUrl }, cleared);
    }),
    route(signIn.logoutEverywhere, async (input, principal) => {
      await confirmEnding(parts, input, principal);
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

function accountRoutes({ records, now, attempts, localSignIn }: SignInParts): Route[] {
  return [
    route(signIn.switchOrganization, async ({ body: { organizationId } }, principal) => {
      await switchOrganization(records, principal, organizationId);
      return readAccount(records.db, { id: principal.id, organizationId });
    }),
    route(signIn.changePassword, async ({ body, ip, requestId }, principal) => {
      if (!localSignIn) throw problem('localSignInOff');
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
