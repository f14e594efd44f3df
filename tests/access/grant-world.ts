// Callers of one organization who grant at random, through the real routes; every answer is compared with the reference.
import type { FastifyInstance } from 'fastify';
import { authorize } from '../../src/access/authorize.ts';
import { csrfTokenOf } from '../../src/access/authenticators.ts';
import { UserSessions } from '../../src/access/user-sessions.ts';
import type { Access } from '../../src/app/access.ts';
import { acceptInvitation, findOpenInvitation } from '../../src/inventory/members/invitations.ts';
import { newId } from '../../src/model/ids.ts';
import { type Principal, scopes, verbs } from '../../src/model/principal.ts';
import { defaultWorkspaceSettings } from '../../src/model/workspace.ts';
import type { OpenRecords } from '../../src/storage/records/records.ts';
import {
  userRows,
  organizationMemberRows,
  workspaceMemberRows,
} from '../../src/storage/records/rows/users.ts';
import { organizationRows, workspaceRows } from '../../src/storage/records/rows/workspaces.ts';
import {
  type Holding,
  type OrganizationRole,
  type PlaceName,
  placeNames,
  type Right,
} from './grant-model.ts';

export interface GrantParts {
  readonly records: OpenRecords;
  readonly access: Access;
  readonly app: FastifyInstance;
}

/** The ids of one organization and its places. */
export interface Ground extends GrantParts {
  readonly organizationId: string;
  readonly idOf: Readonly<Record<PlaceName, string>>;
  readonly ownerId: string;
}

export type Headers = Readonly<Record<string, string>>;

export async function newGround(parts: GrantParts): Promise<Ground> {
  const { db } = parts.records;
  const [organizationId, ownerId, w1, w2] = [
    newId('organization'),
    newId('user'),
    newId('workspace'),
    newId('workspace'),
  ];
  const audit = { created: Date.now(), updated: null, version: 0 };
  const named = { description: null, properties: {}, ...audit };
  const email = `${ownerId}@example.org`;
  await userRows.insert(db, {
    id: ownerId,
    name: 'Owner',
    email,
    passwordHash: 'x',
    proven: true,
    ...audit,
  });
  await organizationRows.insert(db, {
    id: organizationId,
    name: 'o',
    logo: null,
    ownerId,
    ...named,
  });
  const member = {
    id: newId('member'),
    organizationId,
    userId: ownerId,
    role: 'OWNER' as const,
    created: 0,
  };
  await organizationMemberRows.insert(db, { ...member, acceptedAt: 0 });
  for (const id of [w1, w2]) {
    await workspaceRows.insert(db, {
      id,
      organizationId,
      name: 'w',
      settings: defaultWorkspaceSettings,
      ...named,
    });
  }
  return { ...parts, organizationId, ownerId, idOf: { organization: organizationId, w1, w2 } };
}

/** A person who has accepted, with a session. */
export async function memberOf(
  ground: Ground,
  email: string,
  role: OrganizationRole,
  adminOf?: PlaceName,
) {
  const { db } = ground.records;
  const userId = newId('user');
  const audit = { created: 0, updated: null, version: 0 };
  await userRows.insert(db, {
    id: userId,
    name: 'x',
    email,
    passwordHash: 'x',
    proven: true,
    ...audit,
  });
  const own = { userId, created: 0, acceptedAt: 0 };
  await organizationMemberRows.insert(db, {
    id: newId('member'),
    organizationId: ground.organizationId,
    role,
    ...own,
  });
  if (adminOf !== undefined) {
    const workspaceId = ground.idOf[adminOf];
    await workspaceMemberRows.insert(db, {
      id: newId('member'),
      workspaceId,
      role: 'ADMIN',
      ...own,
    });
  }
  return { userId, state: 'member' as const, role, headers: await sessionOf(ground, userId) };
}

export async function sessionOf(
  { records, organizationId }: Ground,
  userId: string,
): Promise<Headers> {
  const user = (await userRows.find(records.db, userId))!;
  const { sessionToken } = await new UserSessions(records, Date.now).start(user, {
    signInKind: 'PASSWORD',
    organizationId,
  });
  return { cookie: `session=${sessionToken}`, 'x-csrf-token': csrfTokenOf(sessionToken) };
}

export async function tokenOf(
  { access }: Ground,
  clientId: string,
  clientSecret: string,
): Promise<Headers> {
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  };
  const issued = await access.tokens.issue(new URLSearchParams(form).toString(), undefined);
  if ('error' in issued) throw new Error(issued.description);
  return { authorization: `Bearer ${issued.access_token}` };
}

/**
 * Accepts without hashing a password, which takes longer than all the rest; false when the link is
 * dead.
 */
export async function accepts({ records }: Ground, link: string): Promise<boolean> {
  const token = link.split('/').at(-1)!;
  const open = await findOpenInvitation(records, token).catch(() => undefined);
  if (open === undefined) return false;
  await acceptInvitation(records, open, { name: 'x', passwordHash: 'x' });
  return true;
}

export async function call(
  { app }: Ground,
  headers: Headers,
  method: 'POST' | 'PUT' | 'DELETE',
  url: string,
  body?: object,
) {
  const json = body === undefined ? {} : { payload: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await app.inject({ method, url, headers: { ...headers, ...type }, ...json });
  if (answer.statusCode >= 500) throw new Error(`${method} ${url}: ${answer.body}`);
  const done = answer.statusCode < 300;
  return { done, status: answer.statusCode, body: done && answer.body !== '' ? answer.json() : {} };
}

/**
 * What the program lets the caller do, asked of the very function that every route asks; undefined
 * for one who is out.
 */
export async function effective(ground: Ground, headers: Headers): Promise<Holding | undefined> {
  const { access, organizationId, idOf } = ground;
  const authenticator = access.authenticators.find(({ header }) => headers[header] !== undefined)!;
  let principal: Principal;
  try {
    principal = await authenticator.authenticate(headers[authenticator.header]!, {
      method: 'GET',
      headers,
    });
  } catch {
    return undefined;
  }
  const rights = new Set<Right>();
  for (const name of placeNames) {
    const workspaceId = name === 'organization' ? null : idOf[name];
    const place = { organizationId, workspaceId, what: 'x', id: 'x' };
    for (const scope of scopes) {
      for (const verb of verbs)
        if (isLet(() => authorize(principal, scope, verb, place)))
          rights.add(`${scope} ${verb} ${name}`);
    }
  }
  return rights;
}

function isLet(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
