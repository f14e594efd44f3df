// Scopes, verbs and what a permission grants (interface 2.7).

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
