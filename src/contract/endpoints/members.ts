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
    summary: 'Members of an organization',
    tag,
    access: inOrganization('read'),
    params: idParams,
    query: memberListQuery,
    response,
  }),
  invite: endpoint({
    method: 'POST',
    path: '/v3/organizations/:id/members',
    summary: 'Invite somebody into an organization',
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
    summary: 'Give a member of an organization another role',
    tag,
    access: inOrganization('update'),
    params: memberParams,
    body: organizationMemberUpdate,
    response: invitedMemberSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/organizations/:id/members/:userId',
    summary: 'Remove somebody from an organization and its workspaces',
    tag,
    access: inOrganization('delete'),
    params: memberParams,
  }),
} as const;

export const workspaceMembers = {
  list: endpoint({
    method: 'GET',
    path: '/v3/workspaces/:id/members',
    summary: 'Those with a role in a single workspace',
    tag,
    access: inWorkspace('read'),
    params: idParams,
    query: memberListQuery,
    response,
  }),
  invite: endpoint({
    method: 'POST',
    path: '/v3/workspaces/:id/members',
    summary: 'Give somebody a role in a workspace, by invitation when new to the organization',
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
    summary: 'Give a member of a workspace another role',
    tag,
    access: inWorkspace('update'),
    params: memberParams,
    body: workspaceMemberUpdate,
    response: invitedMemberSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/workspaces/:id/members/:userId',
    summary: 'Take away the role in a workspace',
    tag,
    access: inWorkspace('delete'),
    params: memberParams,
  }),
} as const;
