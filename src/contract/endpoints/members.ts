// Endpoints of members of organizations and workspaces (contract 2).
import type { Verb } from '../../model/permission.ts';
import { endpoint } from '../endpoint.ts';
import {
  invitedMemberSchema,
  memberListQuery,
  memberParams,
  memberSchema,
  organizationMemberDraft,
  organizationMemberUpdate,
  workspaceMemberDraft,
  workspaceMemberUpdate,
} from '../member.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';

const tag = 'Members';
const response = pageSchema(memberSchema);
const inOrganization = (verb: Verb) =>
  ({ scope: 'organization.member', verb, resource: 'path' }) as const;
const inWorkspace = (verb: Verb) =>
  ({ scope: 'workspace.member', verb, resource: 'path' }) as const;

export const organizationMembers = {
  list: endpoint({
    method: 'GET',
    path: '/v3/organizations/:id/members',
    summary: 'List organization members',
    description: 'Returns a page of the members of an organization.',
    tag,
    access: inOrganization('read'),
    params: idParams,
    query: memberListQuery,
    response,
  }),
  invite: endpoint({
    method: 'POST',
    path: '/v3/organizations/:id/members',
    summary: 'Invite an organization member',
    description: 'Invites a person by email with a role in the organization.',
    tag,
    access: inOrganization('create'),
    params: idParams,
    body: organizationMemberDraft,
    status: 201,
    response: invitedMemberSchema,
  }),
  changeRole: endpoint({
    method: 'PUT',
    path: '/v3/organizations/:id/members/:userId',
    summary: 'Change an organization role',
    description: 'Changes the role of an organization member.',
    tag,
    access: inOrganization('update'),
    params: memberParams,
    body: organizationMemberUpdate,
    response: invitedMemberSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/organizations/:id/members/:userId',
    summary: 'Remove an organization member',
    description: 'Removes a member from the organization and all of its workspaces.',
    tag,
    access: inOrganization('delete'),
    params: memberParams,
  }),
} as const;

export const workspaceMembers = {
  list: endpoint({
    method: 'GET',
    path: '/v3/workspaces/:id/members',
    summary: 'List workspace members',
    description: 'Returns a page of the members who have a role in this workspace only.',
    tag,
    access: inWorkspace('read'),
    params: idParams,
    query: memberListQuery,
    response,
  }),
  invite: endpoint({
    method: 'POST',
    path: '/v3/workspaces/:id/members',
    summary: 'Add a workspace member',
    description:
      'Gives a person a role in a workspace; invites them if they are not in the organization.',
    tag,
    access: inWorkspace('create'),
    params: idParams,
    body: workspaceMemberDraft,
    status: 201,
    response: invitedMemberSchema,
  }),
  changeRole: endpoint({
    method: 'PUT',
    path: '/v3/workspaces/:id/members/:userId',
    summary: 'Change a workspace role',
    description: 'Changes the role of a workspace member.',
    tag,
    access: inWorkspace('update'),
    params: memberParams,
    body: workspaceMemberUpdate,
    response: invitedMemberSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/workspaces/:id/members/:userId',
    summary: 'Remove a workspace member',
    description: "Removes a person's role in a workspace.",
    tag,
    access: inWorkspace('delete'),
    params: memberParams,
  }),
} as const;
