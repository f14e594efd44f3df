// Authorization matrix: every route, scope, verb, kind of credential and place, from the list of routes.
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { composeAccess, guardOf } from '../../src/app/access.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { Answer, type Route } from '../../src/http/edge/route.ts';
import { createServer } from '../../src/http/edge/server.ts';
import { type AlarmTrigger, openedAlarm } from '../../src/model/alarm.ts';
import { newId } from '../../src/model/ids.ts';
import {
  type Permissions,
  type Scope,
  scopes,
  type Verb,
  verbsOfScope,
} from '../../src/model/principal.ts';
import { openRecords, type OpenRecords } from '../../src/storage/records/records.ts';
import { alarmRows } from '../../src/storage/records/rows/alarms.ts';
import { apiKeyRows, oauthClientRows } from '../../src/storage/records/rows/credentials.ts';
import { onTheirWayRows } from '../../src/storage/records/rows/deliveries.ts';
import { outputConnectorRows } from '../../src/storage/records/rows/data-flows.ts';
import { secretHash } from '../../src/storage/records/secret-encryption.ts';
import { testEngine } from '../../src/storage/records/testing-engine.ts';
import {
  type AccessWorld,
  addMember,
  type Fixtures,
  mailSettings,
  makeFixtures,
  signIn,
  startAccessWorld,
} from './access-world.ts';
import type { Cell, PlaceName } from './route-cell.ts';
import { routeCells } from './route-cells.ts';

type Headers = Record<string, string>;

/** Expected permissions of each caller, independent of the tables of the program. */
interface Somebody {
  readonly name: string;
  readonly headers: Headers;
  readonly kind: 'machine' | 'user';
  readonly restricted: boolean;
  readonly may: (
    scope: Scope,
    verb: Verb,
    place: PlaceName | 'anywhere',
    level: Cell['level'],
  ) => boolean;
}

const admitted = 299;
const tokenLifetimeMs = 900_000;
let at: AccessWorld;
let records: OpenRecords;
let app: FastifyInstance;
let places: Record<PlaceName, Fixtures>;
let unknown: { readonly name: string; readonly headers: Headers }[];
let pairs: {
  readonly scope: Scope;
  readonly verb: Verb;
  readonly all: Somebody[];
  readonly restricted: Somebody[];
}[];
let users: Somebody[];
let clock = 0;

beforeAll(async () => {
  at = await startAccessWorld(mailSettings);
  const { world, owner, otherOwner } = at;
  records = await openRecords({
    directory: world.directory,
    engine: testEngine(world.directory),
    announce: () => undefined,
  });
  places = {
    own: await connected(await makeFixtures(owner, world.workspaceId, 'own')),
    otherWorkspace: await connected(await makeFixtures(owner, at.secondWorkspaceId, 'second')),
    otherOrganization: await connected(
      await makeFixtures(otherOwner, at.otherWorkspaceId, 'other'),
    ),
  };
  const config = readConfig({ PORT: '0', DATA_DIR: world.directory });
  const now = () => Date.now() + clock;
  const access = composeAccess(
    () => world.platform.publicUrl,
    records,
    (_, work) => work(),
    now,
  );
  app = await createServer({
    routes: world.platform.routes.map(admittingOnly),
    guard: guardOf(access, config, now),
    events: { answered: () => undefined, failed: (error) => console.error(error) },
    now,
    publicUrl: config.publicUrl,
  });
  const tokenOf = async (client: { clientId: string; secret: string }): Promise<string> => {
    const form = {
      grant_type: 'client_credentials',
      client_id: client.clientId,
      client_secret: client.secret,
    };
    const issued = await access.tokens.issue(new URLSearchParams(form).toString(), undefined);
    if ('error' in issued) throw new Error(issued.description);
    return issued.access_token;
  };
  pairs = await everyPair(tokenOf);
  users = await everyRole();
  unknown = await everythingRefused(tokenOf);
}, 240_000);
afterAll(async () => {
  await app.close();
  await records.close();
  await at.close();
});

/**
 * The effect of a permitted route is not tested here; lists check permissions themselves, so they
 * run.
 */
function admittingOnly(route: Route): Route {
  const { access } = route;
  if ('scope' in access && access.resource === 'handler') return route;
  const { admit: _, ...rest } = route;
  return { ...rest, handle: () => new Answer(admitted, {}) };
}

async function connected(fixtures: Fixtures): Promise<Fixtures> {
  const id = newId('outputConnector');
  const rest = {
    sendConsecutiveAlerts: false,
    invokeRuleEngine: false,
    useCustomPayload: false,
    customPayload: null,
  };
  await outputConnectorRows.insert(records, {
    ...rest,
    id,
    organizationId: fixtures.organization,
    workspaceId: fixtures.workspace,
    name: 'x',
    scope: 'DATA_FLOW',
    type: 'WEBHOOK',
    properties: {},
    created: 0,
    updated: null,
    version: 0,
  });
  const delivery = newId('delivery');
  const draft = {
    idempotencyKey: delivery,
    connectorId: id,
    organizationId: fixtures.organization,
    workspaceId: fixtures.workspace,
    deviceId: fixtures.device,
    correlationId: 'c',
    cause: 'DATA_FLOW' as const,
    context: {},
  };
  await onTheirWayRows.insert(records.db, [{ id: delivery, draft }], Date.now());
  // It is never sent.
  await records.db.updateTable('deliveries').set({ state: 'DEAD', reason: 'none' }).execute();
  const alarm = newId('alarm');
  await alarmRows.save(records.db, [openedAlarm(alarm, triggerOf(fixtures, id))]);
  return { ...fixtures, outputConnector: id, delivery, alarm };
}

function triggerOf({ organization, workspace, rule }: Fixtures, connectorId: string): AlarmTrigger {
  return {
    kind: 'TRIGGER',
    times: 1,
    organizationId: organization,
    workspaceId: workspace,
    at: 0,
    hops: 0,
    sampleTime: null,
    key: 'k',
    name: 'x',
    severity: 'MAJOR',
    source: { ruleId: rule, connectorId, deviceId: '' },
    isEndless: false,
    device: null,
    ruleName: 'x',
    data: {},
    correlationId: 'c',
    orderedBy: '',
    clearAfterMs: null,
    escalateAfterMs: null,
    remindEveryMs: null,
  };
}

async function granted(permissions: Permissions, workspaceIds: string[]) {
  const secret = randomUUID();
  const grant = {
    name: 'x',
    description: null,
    organizationId: places.own.organization,
    allWorkspaces: workspaceIds.length === 0,
    workspaceIds,
    permissions,
    created: 0,
    secretHash: secretHash(secret),
  };
  const key = { ...grant, id: newId('apiKey'), secretPrefix: '', lastUsed: null, expiration: null };
  const client = { ...grant, id: newId('oauthClient'), clientId: randomUUID() };
  await apiKeyRows.insert(records.db, key);
  await oauthClientRows.insert(records.db, client);
  return { key, client, secret, clientId: client.clientId };
}

type TokenOf = (client: { clientId: string; secret: string }) => Promise<string>;

async function everyPair(tokenOf: TokenOf) {
  const made: typeof pairs = [];
  const machines = async (scope: Scope, verb: Verb, restricted: boolean): Promise<Somebody[]> => {
    const credential = await granted({ [scope]: [verb] }, restricted ? [places.own.workspace] : []);
    const may = (wanted: Scope, wantedVerb: Verb) =>
      (wanted === scope && wantedVerb === verb) ||
      (wanted === 'organization' && wantedVerb === 'read');
    const about = { kind: 'machine', restricted, may } as const;
    const token = await tokenOf(credential);
    return [
      { ...about, name: `key ${scope} ${verb}`, headers: { 'x-api-key': credential.secret } },
      { ...about, name: `token ${scope} ${verb}`, headers: { authorization: `Bearer ${token}` } },
    ];
  };
  for (const scope of scopes) {
    for (const verb of verbsOfScope[scope]) {
      const all = await machines(scope, verb, false);
      made.push({ scope, verb, all, restricted: await machines(scope, verb, true) });
    }
  }
  return made;
}

// Contract 2, by hand: c r u d m are the verbs.
const content =
  'asset deviceType dataFlow integration rule customLogic deviceCredential dashboard dashboard.group blob dataFusionLayer';
const granting = (texts: string, letters: string) =>
  texts.split(' ').flatMap((scope) => [...letters].map((letter) => `${scope} ${letter}`));
const everything = granting(scopes.join(' '), 'crudm');
const editorRights = [
  ...granting(content, 'crudm'),
  ...granting('workspace', 'crud'),
  ...granting('organization', 'ru'),
];
const rights: Readonly<Record<string, readonly string[]>> = {
  OWNER: everything,
  ADMIN: everything.filter((right) => right !== 'organization d'),
  EDITOR: [...editorRights, ...granting('organization.member workspace.member', 'r')],
  VIEWER: granting(`${content} organization organization.member workspace workspace.member`, 'r'),
  MEMBER: ['organization r'],
};
const workspaceRights: Readonly<Record<string, readonly string[]>> = {
  ADMIN: [
    ...granting(content, 'crudm'),
    ...granting('workspace', 'rudm'),
    ...granting('workspace.member', 'crudm'),
  ],
  EDITOR: [
    ...granting(content, 'crudm'),
    ...granting('workspace', 'ru'),
    ...granting('workspace.member', 'r'),
  ],
  VIEWER: granting(`${content} workspace workspace.member`, 'r'),
};

type WorkspaceRoles = { readonly [P in 'own' | 'otherWorkspace']?: string };

async function everyRole(): Promise<Somebody[]> {
  const { base, owner, world } = at;
  const made: Somebody[] = [];
  const has = (list: readonly string[] | undefined, scope: Scope, verb: Verb) =>
    list?.includes(`${scope} ${verb[0]}`) ?? false;
  const person = async (role: string, roles: WorkspaceRoles = {}): Promise<void> => {
    const email = `${role}-${Object.values(roles).join('-')}@example.org`;
    if (Object.keys(roles).length === 0) {
      await addMember(base, owner, `/v3/organizations/${world.organizationId}`, email, role);
    }
    for (const [place, inWorkspace] of Object.entries(roles)) {
      const id = place === 'own' ? world.workspaceId : at.secondWorkspaceId;
      await addMember(base, owner, `/v3/workspaces/${id}`, email, inWorkspace);
    }
    const { headers } = await signIn(base, email);
    const anywhere = (scope: Scope, verb: Verb) =>
      Object.values(roles).some((inWorkspace) => has(workspaceRights[inWorkspace], scope, verb));
    made.push({
      name: `user ${role} ${JSON.stringify(roles)}`,
      headers,
      kind: 'user',
      restricted: role === 'MEMBER' && roles.otherWorkspace === undefined,
      may(scope, verb, place, level) {
        if (has(rights[role], scope, verb)) return true;
        if (place === 'anywhere' || place === 'otherOrganization') return anywhere(scope, verb);
        if (level.startsWith('workspace')) {
          const inWorkspace = roles[place];
          return inWorkspace !== undefined && has(workspaceRights[inWorkspace], scope, verb);
        }
        return anywhere(scope, verb) && (level !== 'organization' || verb === 'read');
      },
    });
  };
  for (const role of Object.keys(rights)) await person(role);
  for (const role of Object.keys(workspaceRights)) await person('MEMBER', { own: role });
  // Stronger elsewhere than here, and the other way round: neither may lend to the other.
  await person('MEMBER', { own: 'VIEWER', otherWorkspace: 'ADMIN' });
  await person('MEMBER', { own: 'EDITOR', otherWorkspace: 'VIEWER' });
  return made;
}

async function everythingRefused(tokenOf: TokenOf) {
  const every = Object.fromEntries(scopes.map((scope) => [scope, verbsOfScope[scope]]));
  const live = await granted(every, []);
  const deleted = await granted(every, []);
  const bearer = async (of: { clientId: string; secret: string }) => `Bearer ${await tokenOf(of)}`;
  const orphan = await bearer(deleted);
  await apiKeyRows.remove(records.db, deleted.key.id);
  await oauthClientRows.remove(records.db, deleted.client.id);
  clock = -2 * tokenLifetimeMs;
  const expired = await bearer(live);
  clock = 0;
  return [
    { name: 'none', headers: {} },
    { name: 'bad key', headers: { 'x-api-key': randomUUID() } },
    { name: 'deleted key', headers: { 'x-api-key': deleted.secret } },
    { name: 'expired token', headers: { authorization: expired } },
    { name: 'token of a deleted client', headers: { authorization: orphan } },
    {
      name: 'two headers',
      headers: { 'x-api-key': live.secret, authorization: await bearer(live) },
    },
    { name: 'bad session', headers: { cookie: 'session=nobody' } },
  ];
}

const keyOf = (route: Route) => `${route.method} ${route.path}`;

/**
 * Not compared with the OpenAPI document: these handlers admit and do nothing, so that their bodies
 * are not the platform's.
 */
async function statusOf(
  route: Route,
  cell: Cell,
  place: PlaceName,
  headers: Headers,
): Promise<number> {
  const body = cell.body?.(places[place]);
  const answer = await app.inject({
    method: route.method,
    url: cell.path(places[place]),
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  return answer.statusCode;
}

/** 200 represents every answer except 401, 403 and 404 of authorization. */
function expected(cell: Cell, who: Somebody, place: PlaceName): number {
  if (cell.who === 'anybody' || cell.who === 'anyCredential') return 200;
  if (cell.who === 'anyUser') return who.kind === 'user' ? 200 : 403;
  const [scope, verb] = cell.needs!;
  if (cell.who === 'permittedUser' && who.kind !== 'user') return 403;
  const isList = cell.level.endsWith('List') || cell.level === 'none';
  const foreign = place === 'otherOrganization' && cell.level !== 'none';
  const may =
    (cell.orLimited === true && who.restricted) || who.may(scope, verb, place, cell.level);
  const mayToo = (cell.also ?? []).every((pair) => who.may(...pair, place, cell.level));
  if (isList && !may) return 403;
  if (isList && foreign) return 404;
  if (isList) return mayToo && !outOfReach(cell, who, place) ? 200 : 403;
  // The body names the place of creation. It is read only for callers who can create such records
  // somewhere.
  const byBody = cell.path(places.own) === cell.path(places.otherOrganization);
  if (foreign) return byBody && !who.may(scope, verb, 'anywhere', 'workspace') ? 403 : 404;
  return may && mayToo && !outOfReach(cell, who, place) ? 200 : 403;
}

function outOfReach(cell: Cell, who: Somebody, place: PlaceName): boolean {
  if (!who.restricted) return false;
  if (cell.level.startsWith('workspace')) return place === 'otherWorkspace';
  return cell.level === 'organization' && cell.needs![1] !== 'read';
}

/**
 * What the edge decided: an admitted request may still fail for reasons that are not this matrix's.
 */
function decided(status: number): number {
  return status === 401 || status === 403 || status === 404 ? status : 200;
}

function placesOf({ level }: Cell): readonly PlaceName[] {
  if (level === 'none') return ['own'];
  return level.startsWith('workspace')
    ? ['own', 'otherWorkspace', 'otherOrganization']
    : ['own', 'otherOrganization'];
}

test('every route has a row, and every row a route', () => {
  expect(at.world.platform.routes.map(keyOf).sort()).toEqual(Object.keys(routeCells).sort());
});

test('the matrix: every cell', { timeout: 900_000 }, async () => {
  let cells = 0;
  const wrong: string[] = [];
  const check = async (
    { route, cell, place }: { route: Route; cell: Cell; place: PlaceName },
    who: { name: string; headers: Headers },
    want: number,
  ) => {
    cells += 1;
    const status = await statusOf(route, cell, place, who.headers);
    if (decided(status) !== want)
      wrong.push(`${keyOf(route)} | ${who.name} | ${place}: ${status}, expected ${want}`);
  };
  for (const route of at.world.platform.routes) {
    const cell = routeCells[keyOf(route)]!;
    for (const place of placesOf(cell)) {
      for (const nobody of unknown) {
        // Two credentials are refused also where none is needed.
        const isRefused = cell.who !== 'anybody' || nobody.name === 'two headers';
        await check({ route, cell, place }, nobody, isRefused ? 401 : 200);
      }
      for (const user of users)
        await check({ route, cell, place }, user, expected(cell, user, place));
      for (const pair of pairs) {
        const right = cell.needs?.[0] === pair.scope && cell.needs[1] === pair.verb;
        const asked = right ? [...pair.all, ...pair.restricted] : pair.all;
        for (const machine of asked)
          await check({ route, cell, place }, machine, expected(cell, machine, place));
      }
    }
  }
  console.log(
    `authorisation matrix: ${cells} cells over ${at.world.platform.routes.length} routes`,
  );
  expect(wrong.slice(0, 40)).toEqual([]);
  expect(cells).toBeGreaterThan(20_000);
});
