// Routes of members of organizations and workspaces (contract 2).
import { organizationMembers, workspaceMembers } from '../../contract/members.ts';
import type { InvitationMail } from '../../inventory/members/invitations.ts';
import { type Inviter, listMembers } from '../../inventory/members/member-invitations.ts';
import {
  addOrganizationMember,
  addWorkspaceMember,
  changeOrganizationRole,
  changeWorkspaceRole,
  deleteOrganizationMember,
  deleteWorkspaceMember,
} from '../../inventory/members/members.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import type { Principal } from '../../model/principal.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { answeredOnce } from './create-once.ts';
import { byId, type RecordParts } from './record-parts.ts';

type MemberParts = RecordParts &
  Pick<Inviter, 'sendMail' | 'localSignIn'> & { readonly publicUrl: () => string };

export function memberRoutes(parts: MemberParts): Route[] {
  return [...organizationMemberRoutes(parts), ...workspaceMemberRoutes(parts)];
}

/** Mails once the invitation is committed. */
function inviterOf(
  { publicUrl, sendMail, localSignIn }: MemberParts,
  principal: Principal,
  { afterCommit }: Inventory,
): Inviter {
  const send = sendMail && ((mail: InvitationMail) => afterCommit(() => sendMail(mail)));
  return { principal, publicUrl: publicUrl(), localSignIn, sendMail: send };
}

function organizationMemberRoutes(parts: MemberParts): Route[] {
  const { records } = parts;
  const byOrganizationId = byId(parts, 'organization');
  const { list, invite, changeRole, remove } = organizationMembers;
  return [
    resourceRoute(list, byOrganizationId, ({ params, query }) =>
      listMembers(records, { organizationId: params.id }, pageRequestOf(query)),
    ),
    resourceRoute(invite, byOrganizationId, (input, principal) =>
      answeredOnce(parts, { input, principal }, (step) => {
        const inviter = inviterOf(parts, principal, step);
        return addOrganizationMember(step, input.params.id, input.body, inviter);
      }),
    ),
    resourceRoute(changeRole, byOrganizationId, ({ params, body: { role } }, principal) => {
      const member = { organizationId: params.id, userId: params.userId };
      return changeOrganizationRole(records, member, role, inviterOf(parts, principal, records));
    }),
    resourceRoute(remove, byOrganizationId, ({ params: { id, userId } }, principal) =>
      deleteOrganizationMember(records, principal, { organizationId: id, userId }),
    ),
  ];
}

function workspaceMemberRoutes(parts: MemberParts): Route[] {
  const { records } = parts;
  const byWorkspaceId = byId(parts, 'workspace');
  const { list, invite, changeRole, remove } = workspaceMembers;
  return [
    resourceRoute(list, byWorkspaceId, ({ params, query }) =>
      listMembers(records, { workspaceId: params.id }, pageRequestOf(query)),
    ),
    resourceRoute(invite, byWorkspaceId, (input, principal) =>
      answeredOnce(parts, { input, principal }, (step) => {
        const inviter = inviterOf(parts, principal, step);
        return addWorkspaceMember(step, input.params.id, input.body, inviter);
      }),
    ),
    resourceRoute(changeRole, byWorkspaceId, ({ params, body: { role } }, principal) => {
      const member = { workspaceId: params.id, userId: params.userId };
      return changeWorkspaceRole(records, member, role, inviterOf(parts, principal, records));
    }),
    resourceRoute(remove, byWorkspaceId, ({ params: { id, userId } }, principal) =>
      deleteWorkspaceMember(records, principal, { workspaceId: id, userId }),
    ),
  ];
}
