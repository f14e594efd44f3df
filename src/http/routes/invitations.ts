// Routes of invitations: the link is the credential (contract 35).
import type { Attempts } from '../../access/sign-in-throttle.ts';
import { isPassword, newPasswordHash } from '../../access/password.ts';
import {
  acceptedSchema,
  invitationAcceptance,
  invitationParams,
  invitationSchema,
} from '../../contract/member.ts';
import {
  acceptInvitation,
  choosesPassword,
  findOpenInvitation,
  type OpenInvitation,
} from '../../inventory/members/invitations.ts';
import type { Inventory } from '../../inventory/resource-lookup.ts';
import type { Actor } from '../../model/actor.ts';
import { problem } from '../../model/problem.ts';
import { openRoute, type Route } from '../edge/route.ts';

const tag = 'Sign-in';
const access = { open: 'whoever holds the link is the invited person' };

export interface InvitationRouteParts {
  readonly records: Inventory;
  readonly now: () => number;
  readonly attempts: Attempts;
  readonly actAs: <T>(actor: Actor, work: () => T) => T;
}

export function invitationRoutes({ records, now, attempts, actAs }: InvitationRouteParts): Route[] {
  return [
    openRoute({
      method: 'GET',
      path: '/v3/auth/invitations/:token',
      summary: 'What an invitation is for',
      tag,
      access,
      secretPath: true,
      params: invitationParams,
      response: invitationSchema,
      handle: async ({ params }) => {
        const open = await findOpenInvitation(records, params.token, now());
        const { user, organizationName, proves } = open;
        // The inviter has the other link, and is not told whether the address has an account elsewhere.
        return {
          email: user.email,
          organizationName,
          newUser: proves ? choosesPassword(open) : null,
        };
      },
    }),
    openRoute({
      method: 'POST',
      path: '/v3/auth/invitations/:token',
      summary:
        'Accept an invitation: a new user chooses name and password, another one gives the own password',
      tag,
      access,
      secretPath: true,
      params: invitationParams,
      body: invitationAcceptance,
      response: acceptedSchema,
      handle: async ({ params, body, ip, requestId }) => {
        const open = await findOpenInvitation(records, params.token, now());
        const chosen = await chosenBy(open, body, attempts, ip);
        const { id, email, name } = { ...open.user, ...chosen };
        const actor: Actor = { type: 'USER', id, name, requestId, ip };
        await actAs(actor, () => acceptInvitation(records, open, chosen, now()));
        return { id, name, email };
      },
    }),
  ];
}

/** Name and password hash of somebody who chooses them; undefined for one who has a password, after it was checked. */
async function chosenBy(
  open: OpenInvitation,
  sent: { readonly name?: string | null | undefined; readonly password: string },
  attempts: Attempts,
  ip: string,
): Promise<{ readonly name: string; readonly passwordHash: string } | undefined> {
  const { passwordHash, email } = open.user;
  if (passwordHash === null || choosesPassword(open)) {
    return { name: sent.name ?? email, passwordHash: await newPasswordHash(sent.password, email) };
  }
  const work = () => isPassword(sent.password, passwordHash);
  const right = await attempts.run({ ip, account: email }, work, (matched) => !matched);
  if (!right) throw problem('wrongPassword');
  return undefined;
}
