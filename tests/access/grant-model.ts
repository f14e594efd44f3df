// Grant model: permissions of callers, written by hand, as the reference of the property test.
export const placeNames = ['organization', 'w1', 'w2'] as const;
export type PlaceName = (typeof placeNames)[number];

/** `asset read` at a place. */
export type Right = `${string} ${string} ${PlaceName}`;
export type Holding = ReadonlySet<Right>;

const verbLetters = { c: 'create', r: 'read', u: 'update', d: 'delete', m: 'manage' } as const;
const content =
  'asset:crud deviceType:crud dataFlow:crud integration:crudm rule:crud customLogic:crud deviceCredential:crud dashboard:crud dashboard.group:crud blob:crud dataFusionLayer:crud';
export const everything = `organization:rudm organization.member:crudm workspace:crudm workspace.member:crudm billing:rm ${content}`;
const reading = content.replaceAll(/:\w+/g, ':r');

export const organizationRoles = {
  OWNER: everything,
  ADMIN: everything.replace('organization:rudm', 'organization:rum'),
  EDITOR: `${content} organization:ru organization.member:r workspace:crud workspace.member:r`,
  VIEWER: `${reading} organization:r organization.member:r workspace:r workspace.member:r`,
  MEMBER: 'organization:r',
} as const;
export const workspaceRoles = {
  ADMIN: `${content} workspace:rudm workspace.member:crudm`,
  EDITOR: `${content} workspace:ru workspace.member:r`,
  VIEWER: `${reading} workspace:r workspace.member:r`,
} as const;

export type OrganizationRole = keyof typeof organizationRoles;
export type WorkspaceRole = keyof typeof workspaceRoles;

/** `asset:cr rule:r` at the places. */
export function rightsOf(text: string, places: readonly PlaceName[]): Right[] {
  return text.split(' ').flatMap((one) => {
    const [scope, letters = ''] = one.split(':');
    return [...letters].flatMap((letter) => {
      const verb = verbLetters[letter as keyof typeof verbLetters];
      return places.map((place): Right => `${scope} ${verb} ${place}`);
    });
  });
}

/** Every member of the organization reads it, so this is never more than a caller has. */
export const common: readonly Right[] = rightsOf('organization:r', ['organization']);

/**
 * A role or a credential in single workspaces reads what the organization has, such as device
 * types.
 */
export function rightsInWorkspaces(text: string, places: readonly PlaceName[]): Right[] {
  const readings = text.replaceAll(/(\S+):(\w+)/g, (_, scope, letters) =>
    letters.includes('r') ? `${scope}:r` : `${scope}:`,
  );
  return places.length === 0
    ? []
    : [...rightsOf(text, places), ...rightsOf(readings, ['organization'])];
}

/** Every role but that of a plain member carries into every workspace. */
export function rightsOfRole(role: OrganizationRole): Right[] {
  return rightsOf(organizationRoles[role], role === 'MEMBER' ? ['organization'] : placeNames);
}

export function holdingOf(
  role: OrganizationRole,
  inWorkspaces: ReadonlyMap<PlaceName, WorkspaceRole> = new Map(),
): ReadonlySet<Right> {
  const ofRoles = [...inWorkspaces].flatMap(([place, held]) =>
    rightsInWorkspaces(`${workspaceRoles[held]} organization:r`, [place]),
  );
  return new Set([...rightsOfRole(role), ...ofRoles]);
}

export function isWithin(rights: Iterable<Right>, holding: Holding): boolean {
  for (const right of rights) if (!holding.has(right)) return false;
  return true;
}
