// Permissions: scopes, verbs and the rights that they grant (interface 2.7).

export const scopes = [
  'organization',
  'organization.member',
  'workspace',
  'workspace.member',
  'asset',
  'deviceType',
  'dataFlow',
  'integration',
  'rule',
  'customLogic',
  'deviceCredential',
  'dashboard',
  'dashboard.group',
  'billing',
  'blob',
  'dataFusionLayer',
] as const;
export type Scope = (typeof scopes)[number];

export const verbs = ['create', 'read', 'update', 'delete', 'manage'] as const;
export type Verb = (typeof verbs)[number];

export type Permissions = { readonly [S in Scope]?: readonly Verb[] };

const changing = ['create', 'read', 'update', 'delete'] as const;
const managing = [...changing, 'manage'] as const;

/**
 * The verbs that apply to each scope; any other pair is refused in a new credential (interface
 * 2.7).
 */
export const verbsOfScope: { readonly [S in Scope]: readonly Verb[] } = {
  // No credential can make an organization: it would lie outside of its own.
  organization: ['read', 'update', 'delete', 'manage'],
  'organization.member': managing,
  workspace: managing,
  'workspace.member': managing,
  asset: changing,
  deviceType: changing,
  dataFlow: changing,
  integration: managing,
  rule: changing,
  customLogic: changing,
  deviceCredential: changing,
  dashboard: changing,
  'dashboard.group': changing,
  billing: ['read', 'manage'],
  blob: changing,
  dataFusionLayer: changing,
};

/** All there is to grant. */
export const everyPermission: Permissions = { ...verbsOfScope };
