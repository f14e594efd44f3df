// Restricted API keys: fewer rights than those of the world, and another organization.
import { ApiKeys } from '../../src/inventory/members/machine-credentials.ts';
import { newId } from '../../src/model/ids.ts';
import { everyPermission, type Permissions, type Principal } from '../../src/model/principal.ts';
import { defaultWorkspaceSettings } from '../../src/model/workspace.ts';
import { openRecords, type Records } from '../../src/storage/records/records.ts';
import { testEngine } from '../../src/storage/records/testing-engine.ts';
import { organizationRows, workspaceRows } from '../../src/storage/records/rows/workspaces.ts';
import { userRows } from '../../src/storage/records/rows/users.ts';
import type { World } from './world.ts';

export interface KeyWanted {
  readonly permissions: Permissions;
  /** All workspaces when absent. */
  readonly workspaceIds?: readonly string[];
  readonly organizationId?: string;
}

export interface OtherOrganization {
  readonly organizationId: string;
  readonly workspaceId: string;
}

/**
 * Writes to the records of the running platform: call it before anything else happens in the world.
 */
export async function besidesPlatform<T>(
  world: Pick<World, 'directory'>,
  work: (records: Records) => Promise<T>,
): Promise<T> {
  const records = await openRecords({
    directory: world.directory,
    engine: testEngine(world.directory),
    announce: () => undefined,
  });
  try {
    return await work(records);
  } finally {
    await records.close();
  }
}

/** Makes a key and returns its secret. */
export async function makeKey(
  records: Records,
  world: Pick<World, 'organizationId'>,
  wanted: KeyWanted,
): Promise<string> {
  const { workspaceIds } = wanted;
  const draft = {
    name: 'Restricted',
    organizationId: wanted.organizationId ?? world.organizationId,
    allWorkspaces: workspaceIds === undefined,
    workspaces: (workspaceIds ?? []).map((id) => ({ id })),
    permissions: wanted.permissions,
  };
  return (await new ApiKeys(records).create(ownerIn(draft.organizationId), draft)).secret;
}

/** Another organization of the installation, with one workspace. */
export async function makeOrganization({ db }: Records): Promise<OtherOrganization> {
  const audit = { created: Date.now(), updated: null, version: 0 };
  const ownerId = newId('user');
  const organizationId = newId('organization');
  const workspaceId = newId('workspace');
  const named = { description: null, properties: {}, ...audit };
  await userRows.insert(db, {
    id: ownerId,
    name: 'Other',
    email: `${ownerId}@other.test`,
    passwordHash: 'none',
    proven: false,
    ...audit,
  });
  await organizationRows.insert(db, {
    id: organizationId,
    name: 'Other',
    logo: null,
    ownerId,
    ...named,
  });
  const workspace = {
    id: workspaceId,
    organizationId,
    name: 'Elsewhere',
    settings: defaultWorkspaceSettings,
  };
  await workspaceRows.insert(db, { ...workspace, ...named });
  return { organizationId, workspaceId };
}

/** A principal that holds every permission in the organization. */
export function ownerIn(organizationId: string): Principal {
  return {
    kind: 'USER',
    id: 'owner',
    name: 'Owner',
    organizationId,
    workspaces: 'all',
    permissions: everyPermission,
  };
}
