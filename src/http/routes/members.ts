// Routes of members, the same for organizations and workspaces (contract 2).
import {
  invitedMemberSchema,
  memberListQuery,
  memberParams,
  memberSchema,
  organizationMemberDraft,
  organizationMemberUpdate,
  workspaceMemberDraft,
  workspaceMemberUpdate,
} from '../../contract/member.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
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
import { guardedRoute, type Route } from '../edge/route.ts';
import { answeredOnce, byId, type RecordParts } from './record-parts.ts';

const tag = 'Members';

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
  const invitation = () => invitationParts(parts, (task) => task());
  const place = byId(parts, 'organization');
  const access = (verb: 'create' | 'read' | 'update' | 'delete') =>
    ({ scope: 'organization.member', verb, place }) as const;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/organizations/:id/members',
      summary: 'Members of an organization',
      tag,
      access: access('read'),
      params: idParams,
      query: memberListQuery,
      response: pageSchema(memberSchema),
      handle: ({ params, query }) =>
        listMembers(records, { organizationId: params.id }, pageRequestOf(query)),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/organizations/:id/members',
      summary: 'Invite somebody into an organization',
      tag,
      access: access('create'),
      params: idParams,
      body: organizationMemberDraft,
      status: 201,
      response: invitedMemberSchema,
      handle: (input, principal) =>
        answeredOnce(parts, input, principal, (step, afterwards) =>
          addOrganizationMember(
            step,
            principal,
            input.params.id,
            input.body,
            invitationParts(parts, afterwards),
          ),
        ),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/organizations/:id/members/:userId',
      summary: 'Give a member of an organization another role',
      tag,
      access: access('update'),
      params: memberParams,
      body: organizationMemberUpdate,
      response: invitedMemberSchema,
      handle: ({ params: { id, userId }, body }, principal) =>
        changeOrganizationRole(
          records,
          principal,
          { organizationId: id, userId },
          body.role,
          invitation(),
        ),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/organizations/:id/members/:userId',
      summary: 'Remove somebody from an organization and its workspaces',
      tag,
      access: access('delete'),
      params: memberParams,
      handle: async ({ params }, principal) => {
        await deleteOrganizationMember(records, principal, params.id, params.userId);
        return undefined;
      },
    }),
  ];
}

function workspaceMemberRoutes(parts: MemberParts): Route[] {
  const { records } = parts;
  const invitation = () => invitationParts(parts, (task) => task());
  const place = byId(parts, 'workspace');
  const access = (verb: 'create' | 'read' | 'update' | 'delete') =>
    ({ scope: 'workspace.member', verb, place }) as const;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/workspaces/:id/members',
      summary: 'Those with a role in a single workspace',
      tag,
      access: access('read'),
      params: idParams,
      query: memberListQuery,
      response: pageSchema(memberSchema),
      handle: ({ params, query }) =>
        listMembers(records, { workspaceId: params.id }, pageRequestOf(query)),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/workspaces/:id/members',
      summary: 'Give somebody a role in a workspace, by invitation when new to the organization',
      tag,
      access: access('create'),
      params: idParams,
      body: workspaceMemberDraft,
      status: 201,
      response: invitedMemberSchema,
      handle: (input, principal) =>
        answeredOnce(parts, input, principal, (step, afterwards) =>
          addWorkspaceMember(
            step,
            principal,
            input.params.id,
            input.body,
            invitationParts(parts, afterwards),
          ),
        ),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/workspaces/:id/members/:userId',
      summary: 'Give a member of a workspace another role',
      tag,
      access: access('update'),
      params: memberParams,
      body: workspaceMemberUpdate,
      response: invitedMemberSchema,
      handle: ({ params: { id, userId }, body }, principal) =>
        changeWorkspaceRole(
          records,
          principal,
          { workspaceId: id, userId },
          body.role,
          invitation(),
        ),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/workspaces/:id/members/:userId',
      summary: 'Take away the role in a workspace',
      tag,
      access: access('delete'),
      params: memberParams,
      handle: async ({ params }, principal) => {
        await deleteWorkspaceMember(records, principal, params.id, params.userId);
        return undefined;
      },
    }),
  ];
}
