// Routes of members of organizations and workspaces (contract 2).
import { invitations, organizationMembers, workspaceMembers } from '../../contract/members.ts';
import {
  acceptInvitation,
  choosesPassword,
  findOpenInvitation,
  type InvitationMail,
  type Inviter,
  listMembers,
  type OpenInvitation,
} from '../../inventory/members/invitations.ts';
import { OrganizationMembers, WorkspaceMembers } from '../../inventory/members/members.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import type { Actor, Principal } from '../../model/principal.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, route, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';
import { isPassword, newPasswordHash } from '../../access/password.ts';
import type { Attempts } from '../../access/rate-limits.ts';
import { problem } from '../../model/problem.ts';

type InviterOf = (principal: Principal, step: Inventory) => Inviter;

export function memberRoutes(
  common: RecordRoutes,
  publicUrl: () => string,
  localSignIn: boolean,
  sendMail: Inviter['sendMail'],
): Route[] {
  /** Mails once the invitation is committed. */
  const inviterOf = (principal: Principal, { afterCommit }: Inventory): Inviter => {
    const send = sendMail && ((mail: InvitationMail) => afterCommit(() => sendMail(mail)));
    return { principal, publicUrl: publicUrl(), localSignIn, sendMail: send };
  };
  return [
    ...organizationMemberRoutes(common, inviterOf),
    ...workspaceMemberRoutes(common, inviterOf),
  ];
}

function organizationMemberRoutes(common: RecordRoutes, inviterOf: InviterOf): Route[] {
  const { records } = common;
  const service = new OrganizationMembers(records);
  const byOrganizationId = common.byId('organization');
  const { list, invite, changeRole, remove } = organizationMembers;
  return [
    resourceRoute(list, byOrganizationId, ({ params, query }) =>
      listMembers(records, { organizationId: params.id }, pageRequestOf(query)),
    ),
    resourceRoute(invite, byOrganizationId, (input, principal) =>
      common.answeredOnce(input, principal, (step) => {
        const inviter = inviterOf(principal, step);
        return new OrganizationMembers(step).add(input.params.id, input.body, inviter);
      }),
    ),
    resourceRoute(changeRole, byOrganizationId, ({ params, body: { role } }, principal) => {
      const member = { organizationId: params.id, userId: params.userId };
      return service.changeRole(member, role, inviterOf(principal, records));
    }),
    resourceRoute(remove, byOrganizationId, ({ params: { id, userId } }, principal) =>
      service.remove(principal, { organizationId: id, userId }),
    ),
  ];
}

function workspaceMemberRoutes(common: RecordRoutes, inviterOf: InviterOf): Route[] {
  const { records } = common;
  const service = new WorkspaceMembers(records);
  const byWorkspaceId = common.byId('workspace');
  const { list, invite, changeRole, remove } = workspaceMembers;
  return [
    resourceRoute(list, byWorkspaceId, ({ params, query }) =>
      listMembers(records, { workspaceId: params.id }, pageRequestOf(query)),
    ),
    resourceRoute(invite, byWorkspaceId, (input, principal) =>
      common.answeredOnce(input, principal, (step) => {
        const inviter = inviterOf(principal, step);
        return new WorkspaceMembers(step).add(input.params.id, input.body, inviter);
      }),
    ),
    resourceRoute(changeRole, byWorkspaceId, ({ params, body: { role } }, principal) => {
      const member = { workspaceId: params.id, userId: params.userId };
      return service.changeRole(member, role, inviterOf(principal, records));
    }),
    resourceRoute(remove, byWorkspaceId, ({ params: { id, userId } }, principal) =>
      service.remove(principal, { workspaceId: id, userId }),
    ),
  ];
}

// Routes of invitations: the link is the credential (contract 35).

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
