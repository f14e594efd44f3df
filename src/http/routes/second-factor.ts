// Routes of the second factor of users, and of the demand of an organization for it.
import { listPasskeys } from '../../access/passkeys.ts';
import {
  beginAuthenticatorApp,
  confirmApp,
  readSecondFactor,
  removeApp,
  renewRecoveryCodes,
  userWithPassword,
} from '../../access/second-factor.ts';
import type { Attempts } from '../../access/rate-limits.ts';
import { secondFactor, secondFactorDemand } from '../../contract/sign-in.ts';
import { auditAction } from '../../inventory/audit/audit.ts';
import {
  changeSecondFactorDemand,
  readSecondFactorDemand,
  resetSecondFactors,
} from '../../inventory/members/members.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import type { FieldChange } from '../../model/record.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { User } from '../../model/user.ts';
import { resourceRoute, route, type Route, type RouteInput } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

export interface SecondFactorParts {
  readonly records: Inventory;
  readonly now: () => number;
  /** Limits of passwords, and the stricter ones of codes. */
  readonly attempts: Attempts;
  readonly codeAttempts: Attempts;
  /** Whether passwords count. */
  readonly localSignIn: boolean;
}

type Input = RouteInput<unknown, unknown, unknown>;

export function secondFactorRoutes(parts: SecondFactorParts): Route[] {
  const { records, now, codeAttempts } = parts;
  return [
    route(secondFactor.read, async (_input, principal) => {
      const seen = await readSecondFactor(records.db, principal);
      const passkeys = await listPasskeys(records.db, principal);
      return { ...seen, passkeys, available: seen.available && parts.localSignIn };
    }),
    route(secondFactor.beginApp, async ({ body, ip }, principal) => {
      const user = await ownerOf(parts, ip, principal, body.password);
      return beginAuthenticatorApp(records, user, now());
    }),
    route(secondFactor.confirmApp, async (input, principal) => {
      const { ip, body } = input;
      const work = () => confirmApp(records, principal, body.code, now());
      const account = principal.id;
      const recoveryCodes = await codeAttempts.run(
        { ip, account },
        work,
        (codes) => codes === undefined,
      );
      if (recoveryCodes === undefined) throw problem('wrongCode');
      await auditFactor(parts, input, principal, { field: 'authenticatorApp', after: true });
      return { recoveryCodes };
    }),
    route(secondFactor.removeApp, async (input, principal) => {
      const { ip, body } = input;
      const user = await ownerOf(parts, ip, principal, body.password);
      await removeApp(records, user);
      await auditFactor(parts, input, principal, { field: 'authenticatorApp', before: true });
    }),
    route(secondFactor.renewRecoveryCodes, async (input, principal) => {
      const { ip, body } = input;
      const user = await ownerOf(parts, ip, principal, body.password);
      const recoveryCodes = await renewRecoveryCodes(records, user);
      await auditFactor(parts, input, principal, { field: 'recoveryCodes', secret: true });
      return { recoveryCodes };
    }),
  ];
}

/** The user who asks. Throws 401 for a wrong password: an open session is not enough. */
export async function ownerOf(
  { records, attempts, localSignIn }: Omit<SecondFactorParts, 'codeAttempts' | 'now'>,
  ip: string,
  principal: Principal,
  password: string,
): Promise<User> {
  if (!localSignIn) throw problem('localSignInOff');
  const work = () => userWithPassword(records.db, principal.id, password);
  const user = await attempts.run(
    { ip, account: principal.id },
    work,
    (found) => found === undefined,
  );
  if (user === undefined) throw problem('wrongPassword');
  return user;
}

export async function auditFactor(
  { records }: SecondFactorParts,
  { ip, requestId }: Input,
  principal: Principal,
  changed: FieldChange,
): Promise<void> {
  const { id, name, organizationId } = principal;
  const actor = { type: 'USER', id, name, requestId, ip } as const;
  const action = 'UPDATE';
  await auditAction(records, actor, {
    organizationId,
    action,
    user: principal,
    changes: [changed],
  });
}

// Routes of the second factor that an organization demands, and of its reset for a member.

export function secondFactorDemandRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const byOrganizationId = common.byId('organization');
  const { read, change, reset } = secondFactorDemand;
  return [
    resourceRoute(read, byOrganizationId, ({ params }) =>
      readSecondFactorDemand(records, params.id),
    ),
    resourceRoute(change, byOrganizationId, ({ params, body }, principal) =>
      changeSecondFactorDemand(records, principal, params.id, body.secondFactorRequired),
    ),
    resourceRoute(reset, byOrganizationId, ({ params: { id, userId } }, principal) =>
      resetSecondFactors(records, principal, id, userId),
    ),
  ];
}
