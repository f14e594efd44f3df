// Routes of members, the same for organizations and workspaces (contract 2).
import { organizationMembers, workspaceMembers } from '../../contract/endpoints/members.ts';
import {
  addOrganizationMember,
  addWorkspaceMember,
  changeOrganizationRole,
  changeWorkspaceRole,
  deleteOrganizationMember,
  deleteWorkspaceMember,
  type InvitationParts,
  listMembers,
} from '../../inventory/members/members.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { answeredOnce } from './create-once.ts';
import { byId, type RecordParts } from './record-parts.ts';

type MemberParts = RecordParts & Pick<InvitationParts, 'publicUrl' | 'sendMail'>;

export function memberRoutes(parts: MemberParts): Route[] {
  return [...organizationMemberRoutes(parts), ...workspaceMemberRoutes(parts)];
}

/** A mail goes out once its invitation is committed. */
function invitationParts(
  { publicUrl, now, sendMail }: MemberParts,
  afterwards: (task: () => void) => void,
): InvitationParts {
  return {
    publicUrl,
    now: now(),
    sendMail: sendMail && ((mail) => afterwards(() => sendMail(mail))),
  };
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
      answeredOnce(parts, { input, principal }, (step, afterwards) => {
        const invitation = invitationParts(parts, afterwards);
        return addOrganizationMember(step, principal, input.params.id, input.body, invitation);
      }),
    ),
    resourceRoute(changeRole, byOrganizationId, ({ params: { id, userId }, body }, principal) =>
      changeOrganizationRole(
        records,
        principal,
        { organizationId: id, userId },
        body.role,
        invitationParts(parts, runNow),
      ),
    ),
    resourceRoute(remove, byOrganizationId, ({ params }, principal) =>
      deleteOrganizationMember(records, principal, params.id, params.userId),
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
      answeredOnce(parts, { input, principal }, (step, afterwards) => {
        const invitation = invitationParts(parts, afterwards);
        return addWorkspaceMember(step, principal, input.params.id, input.body, invitation);
      }),
    ),
    resourceRoute(changeRole, byWorkspaceId, ({ params: { id, userId }, body }, principal) =>
      changeWorkspaceRole(
        records,
        principal,
        { workspaceId: id, userId },
        body.role,
        invitationParts(parts, runNow),
      ),
    ),
    resourceRoute(remove, byWorkspaceId, ({ params }, principal) =>
      deleteWorkspaceMember(records, principal, params.id, params.userId),
    ),
  ];
}

const runNow = (task: () => void) => task();
