// Routes of invitations: the link is the credential (contract 35).
import { isPassword, newPasswordHash } from '../../access/password.ts';
import type { Attempts } from '../../access/sign-in-throttle.ts';
import { invitations } from '../../contract/invitations.ts';
import {
  acceptInvitation,
  choosesPassword,
  findOpenInvitation,
  type OpenInvitation,
} from '../../inventory/members/invitations.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import type { Actor } from '../../model/actor.ts';
import { problem } from '../../model/problem.ts';
import { type Route, route } from '../edge/route.ts';

export function invitationRoutes(parts: {
  readonly records: Inventory;
  readonly attempts: Attempts;
  /** Whether passwords count. */
  readonly localSignIn: boolean;
  readonly actAs: <T>(actor: Actor, work: () => T) => T;
}): Route[] {
  const { records, attempts, actAs, localSignIn } = parts;
  return [
    route(invitations.read, async ({ params }) => {
      const open = await findOpenInvitation(records, params.token);
      const { user, organizationName, proves } = open;
      // The inviter has the other link, and does not learn whether the address has an account
      // elsewhere.
      return {
        email: user.email,
        organizationName,
        newUser: proves ? choosesPassword(open) : null,
      };
    }),
    route(invitations.accept, async ({ params, body, ip, requestId }) => {
      if (!localSignIn) throw problem('localSignInOff');
      const open = await findOpenInvitation(records, params.token);
      const chosen = await chosenBy(open, body, attempts, ip);
      const { id, email, name } = { ...open.user, ...chosen };
      const actor: Actor = { type: 'USER', id, name, requestId, ip };
      await actAs(actor, () => acceptInvitation(records, open, chosen));
      return { id, name, email };
    }),
  ];
}

/**
 * Name and password hash of a new user; undefined for a user with a password, after it was checked.
 */
async function chosenBy(
  open: OpenInvitation,
  sent: { readonly name?: string | null | undefined; readonly password: string },
  attempts: Attempts,
  ip: string,
): Promise<{ readonly name: string; readonly passwordHash: string } | undefined> {
  const { passwordHash, email } = open.user;
  if (choosesPassword(open)) {
    const names = [open.organizationName, sent.name ?? ''];
    return {
      name: sent.name ?? email,
      passwordHash: await newPasswordHash(sent.password, email, names),
    };
  }
  if (passwordHash === null) throw problem('providerOnly');
  const work = () => isPassword(sent.password, passwordHash);
  const right = await attempts.run({ ip, account: email }, work, (matched) => !matched);
  if (!right) throw problem('wrongPassword');
  return undefined;
}
