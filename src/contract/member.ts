// API schemas of members, the own account, sign-in and invitations (contract 2, 35).
import Type from 'typebox';
import type { JsonObject } from '../model/json.ts';
import { type Permissions, verbs } from '../model/permission.ts';
import { callerWorkspacesMax, organizationRoles, workspaceRoles } from '../model/user.ts';
import { listParameters } from './list-parameters.ts';
import { id, list, name, oneOf, optional, orNull, text, time } from './record-fields.ts';
import { named, namedObject } from './named.ts';

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

export const memberSchema = namedObject('Member', fields);
export const invitedMemberSchema = namedObject('InvitedMember', {
  ...fields,
  invitationUrl: orNull(
    Type.String({
      description: 'Invitation URL, returned only in this response. Null once accepted.',
    }),
  ),
});
export const memberParams = Type.Object({ id: Type.String(), userId: Type.String() });
export const memberListQuery = Type.Object(listParameters(['name', 'email', 'role', 'created']));

export const organizationMemberDraft = namedObject('OrganizationMemberDraft', {
  email,
  role: anyRole,
});
export const organizationMemberUpdate = namedObject('OrganizationMemberUpdate', { role: anyRole });
export const workspaceMemberDraft = namedObject('WorkspaceMemberDraft', {
  email,
  role: oneOf(workspaceRoles),
});
export const workspaceMemberUpdate = namedObject('WorkspaceMemberUpdate', {
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

export const preferencesBytesMax = 64 * 1024;
export const preferencesSchema = named(
  'Preferences',
  Type.Unsafe<JsonObject>({
    type: 'object',
    description: 'Console preferences, up to 64 kB of JSON.',
  }),
);

export const accountSchema = namedObject('Account', account);
export const signedInSchema = namedObject('SignedIn', {
  ...account,
  csrfToken: Type.String({
    description:
      'CSRF token. Send it in the `x-csrf-token` header of every request other than GET.',
  }),
});
export const endedSessionsSchema = namedObject('EndedSessions', { sessions: Type.Integer() });
export const passwordChange = namedObject('PasswordChange', {
  currentPassword: password,
  newPassword: Type.String(),
});
export const organizationSwitch = namedObject('OrganizationSwitch', { organizationId: id });

export const passwordResetRequest = Type.Object({ email });
export const passwordResetBody = Type.Object({ password: Type.String() });
export const invitationParams = Type.Object({ token: Type.String({ maxLength: 200 }) });
export const invitationSchema = namedObject('Invitation', {
  email: text,
  organizationName: text,
  newUser: orNull(
    Type.Boolean({
      description:
        'Whether the invited person must choose a name and password. Null for links that were not sent by email, so as not to reveal whether an account exists.',
    }),
  ),
});
export const invitationAcceptance = namedObject('InvitationAcceptance', {
  name: optional(name),
  password,
});
export const acceptedSchema = namedObject('AcceptedInvitation', { id, name: text, email: text });
