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
  pending: Type.Boolean({ description: 'Whether the invitation was not accepted yet' }),
};

export const memberSchema = namedObject('Member', fields);
export const invitedMemberSchema = namedObject('InvitedMember', {
  ...fields,
  invitationUrl: orNull(
    Type.String({
      description: 'Hand it to the invited person; shown this once. Null for one who has accepted',
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
    Type.String({ description: 'Of several, the organization to begin in' }),
  ),
});

const membership = Type.Object({ organizationId: id, name: text, role: anyRole });
const account = {
  id,
  name: text,
  email: text,
  organizationId: Type.String({ description: 'The organization of this session' }),
  role: anyRole,
  organizations: list(membership),
  passwordChangeRequired: Type.Optional(
    Type.Boolean({
      description: 'True while the user has the password that the first start printed',
    }),
  ),
};

const permissions = Type.Unsafe<Permissions>(
  named(
    'EffectivePermissions',
    Type.Record(Type.String(), Type.Array(oneOf(verbs)), {
      description: 'Verbs by scope, in a workspace or of the organization; none: omitted',
    }),
  ),
);
const byWorkspace = Type.Unsafe<Readonly<Record<string, Permissions>>>(
  Type.Record(Type.String(), permissions, {
    description:
      'By id of a workspace what the caller may do there. Workspaces that it cannot reach are omitted.',
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
          'Whether the organization demands a second factor that this session lacks: until the user has one, everything there is refused with 403',
      }),
    }),
  ),
  permissions: byWorkspace,
  permissionsComplete: Type.Boolean({
    description: `False when there are more than ${callerWorkspacesMax.toLocaleString('en')} workspaces: \`permissions\` then has the first ones by name`,
  }),
});

export const preferencesBytesMax = 64 * 1024;
export const preferencesSchema = named(
  'Preferences',
  Type.Unsafe<JsonObject>({
    type: 'object',
    description: 'What the console keeps for the user, up to 64 kB of JSON',
  }),
);

export const accountSchema = namedObject('Account', account);
export const signedInSchema = namedObject('SignedIn', {
  ...account,
  csrfToken: Type.String({
    description: 'Repeat it in header x-csrf-token of every call that changes something',
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
        'Whether a name and a password are to be chosen, else the own password is given; null when the link did not come by mail, because its holder may not learn whether the address has an account',
    }),
  ),
});
export const invitationAcceptance = namedObject('InvitationAcceptance', {
  name: optional(name),
  password,
});
export const acceptedSchema = namedObject('AcceptedInvitation', { id, name: text, email: text });
