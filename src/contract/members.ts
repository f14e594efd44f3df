// Schemas and endpoints of members of organizations and workspaces, and of invitations (contract 2, 35).
import Type from 'typebox';
import { type Permissions, type Verb, verbs } from '../model/principal.ts';
import { callerWorkspacesMax, organizationRoles, workspaceRoles } from '../model/user.ts';
import { endpoint } from './endpoint.ts';
import {
  id,
  idParams,
  list,
  listParameters,
  name,
  named,
  namedObject,
  oneOf,
  optional,
  orNull,
  pageSchema,
  text,
  time,
} from './schema-parts.ts';

const anyRole = oneOf(organizationRoles);
const email = Type.String({ minLength: 3, maxLength: 254, pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$' });
const password = Type.String({ minLength: 1, maxLength: 1_000 });

const fields = {
  id,
  userId: id,
  name: text,
  email: text,
  role: anyRole,
  created: time,
  pending: Type.Boolean({ description: 'Whether the invitation is pending.' }),
};

const memberSchema = namedObject('Member', fields);
const invitedMemberSchema = namedObject('InvitedMember', {
  ...fields,
  invitationUrl: orNull(
    Type.String({
      description: 'Invitation URL, returned only in this response. Null once accepted.',
    }),
  ),
});
export const memberParams = Type.Object({ id: Type.String(), userId: Type.String() });
const memberListQuery = Type.Object(listParameters(['name', 'email', 'role', 'created']));

const organizationMemberDraft = namedObject('OrganizationMemberDraft', {
  email,
  role: anyRole,
});
const organizationMemberUpdate = namedObject('OrganizationMemberUpdate', { role: anyRole });
const workspaceMemberDraft = namedObject('WorkspaceMemberDraft', {
  email,
  role: oneOf(workspaceRoles),
});
const workspaceMemberUpdate = namedObject('WorkspaceMemberUpdate', {
  role: oneOf(workspaceRoles),
});

export const loginBody = namedObject('LoginBody', {
  email: text,
  password,
  organizationId: optional(
    Type.String({ description: 'Organization to start in, for users with several.' }),
  ),
});

const membership = Type.Object({ organizationId: id, name: text, role: anyRole });
const account = {
  id,
  name: text,
  email: text,
  organizationId: Type.String({ description: 'Organization of the session.' }),
  role: anyRole,
  organizations: list(membership),
  passwordChangeRequired: Type.Optional(
    Type.Boolean({
      description: 'Whether the user still has the password that the first start printed.',
    }),
  ),
};

const permissions = Type.Unsafe<Permissions>(
  named(
    'EffectivePermissions',
    Type.Record(Type.String(), Type.Array(oneOf(verbs)), {
      description: 'Verbs by scope. Scopes without verbs are omitted.',
    }),
  ),
);
const byWorkspace = Type.Unsafe<Readonly<Record<string, Permissions>>>(
  Type.Record(Type.String(), permissions, {
    description: "The caller's permissions by workspace ID. Inaccessible workspaces are omitted.",
  }),
);

export const callerSchema = namedObject('Caller', {
  kind: oneOf(['USER', 'API_KEY', 'OAUTH_CLIENT']),
  ...account,
  email: orNull(text),
  role: orNull(anyRole),
  organizations: list(
    Type.Object({
      organizationId: id,
      name: text,
      role: orNull(anyRole),
      permissions,
      secondFactorMissing: Type.Boolean({
        description:
          'Whether the organization requires MFA that the user has not set up. Until then, requests in it return 403.',
      }),
    }),
  ),
  permissions: byWorkspace,
  permissionsComplete: Type.Boolean({
    description: `False when there are more than ${callerWorkspacesMax.toLocaleString('en')} workspaces. \`permissions\` then contains the first ones by name.`,
  }),
});

export const accountSchema = namedObject('Account', account);
export const signedInSchema = namedObject('SignedIn', {
  ...account,
  csrfToken: Type.String({
    description:
      'CSRF token. Send it in the `x-csrf-token` header of every request other than GET.',
  }),
});
export const passwordChange = namedObject('PasswordChange', {
  currentPassword: password,
  newPassword: Type.String(),
});

export const passwordResetRequest = Type.Object({ email });
export const invitationParams = Type.Object({ token: Type.String({ maxLength: 200 }) });
const invitationSchema = namedObject('Invitation', {
  email: text,
  organizationName: text,
  newUser: orNull(
    Type.Boolean({
      description:
        'Whether the invited person must choose a name and password. Null for links that were not sent by email, so as not to reveal whether an account exists.',
    }),
  ),
});
const invitationAcceptance = namedObject('InvitationAcceptance', {
  name: optional(name),
  password,
});
const acceptedSchema = namedObject('AcceptedInvitation', { id, name: text, email: text });

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

// Endpoints of invitations (contract 35).

const signInTag = 'Sign-in';
const access = { open: 'Authenticated by the token in the path.' } as const;

export const invitations = {
  read: endpoint({
    method: 'GET',
    path: '/v3/auth/invitations/:token',
    summary: 'Get an invitation',
    description: 'Returns the organization and role that an invitation grants.',
    tag: signInTag,
    access,
    secretPath: true,
    params: invitationParams,
    response: invitationSchema,
  }),
  accept: endpoint({
    method: 'POST',
    path: '/v3/auth/invitations/:token',
    summary: 'Accept an invitation',
    description:
      'Adds the invited person as a member; new users choose a name and password, existing users confirm theirs.',
    tag: signInTag,
    access,
    secretPath: true,
    params: invitationParams,
    body: invitationAcceptance,
    response: acceptedSchema,
  }),
} as const;
