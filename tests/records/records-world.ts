// Two organizations on a real database behind the real edge: what tests of records need to call, and whom as.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeyAuthenticator } from '../../src/access/api-key-authenticator.ts';
import { type Authenticator, identify, noTokens } from '../../src/access/authenticator.ts';
import { authorize } from '../../src/access/authorize.ts';
import { bootstrap } from '../../src/access/bootstrap.ts';
import { idempotency } from '../../src/flows/idempotency.ts';
import type { Route } from '../../src/http/route.ts';
import { apiKeyRoutes } from '../../src/http/routes/api-keys.ts';
import { assetRoutes } from '../../src/http/routes/assets.ts';
import { dataFlowRoutes } from '../../src/http/routes/data-flows.ts';
import { deviceConnectorRoutes } from '../../src/http/routes/device-connectors.ts';
import { deviceTypeRoutes } from '../../src/http/routes/device-types.ts';
import { deviceRoutes } from '../../src/http/routes/devices.ts';
import { organizationRoutes } from '../../src/http/routes/organizations.ts';
import { outputConnectorRoutes } from '../../src/http/routes/output-connectors.ts';
import { tagRoutes } from '../../src/http/routes/tags.ts';
import { workspaceRoutes } from '../../src/http/routes/workspaces.ts';
import { createServer } from '../../src/http/server.ts';
import { createApiKey } from '../../src/inventory/api-keys.ts';
import { createWorkspace } from '../../src/inventory/workspaces.ts';
import { newId } from '../../src/model/ids.ts';
import { type Permissions, scopes, verbs } from '../../src/model/permission.ts';
import type { RecordChange } from '../../src/model/record.ts';
import { openRecords } from '../../src/store/records/database.ts';
import {
  removeKeptAnswer,
  findKeptAnswer,
  insertKeptAnswer,
  saveKeptAnswer,
} from '../../src/store/records/idempotency-keys.ts';
import { insertOrganization } from '../../src/store/records/organizations.ts';

// oxlint-disable-next-line typescript/no-explicit-any
export type Body = any;
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ status: number; body: Body }>;

const adminKey = '0123456789abcdef.0b5e6a4e-9b1c-4a53-8f55-5d7b1f3e2c11';
export const everyPermission: Permissions = Object.fromEntries(scopes.map((scope) => [scope, verbs]));

/** The clock stands still unless a test moves it. */
export async function startRecordsWorld(
  available: readonly ('WEBHOOK' | 'CUSTOM_DATABASE')[] = ['WEBHOOK', 'CUSTOM_DATABASE'],
) {
  const directory = mkdtempSync(join(tmpdir(), 'records-world-'));
  const clock = { now: Date.UTC(2026, 0, 1) };
  const now = () => clock.now;
  const followers: ((change: RecordChange) => void)[] = [];
  const records = await openRecords({ directory, announce: (told) => followers.forEach((follow) => follow(told)) });
  const keys = apiKeyAuthenticator({ db: records.db, now });
  followers.push(keys.recordChanged);
  const made = (await bootstrap(records, {
    adminEmail: 'a@example.org',
    adminPassword: 'secret',
    adminApiKey: adminKey,
    now: now(),
  }))!;
  const other = newId('organization');
  const named = { description: null, created: now(), updated: null, version: 0 };
  await insertOrganization(records.db, {
    id: other,
    name: 'Other',
    logo: null,
    ownerId: made.userId,
    properties: null,
    ...named,
  });
  const secondWorkspace = (
    await createWorkspace(records, { organizationId: made.organizationId, name: 'Second' }, now())
  ).id;
  const foreignWorkspace = (await createWorkspace(records, { organizationId: other, name: 'Foreign' }, now())).id;

  // Stands where sessions will: the owner, signed in.
  const session: Authenticator = {
    header: 'x-session',
    authenticate: () => ({
      kind: 'USER',
      id: made.userId,
      name: 'Owner',
      organizationId: made.organizationId,
      workspaces: 'all',
      permissions: everyPermission,
    }),
  };
  const { db } = records;
  const once = idempotency(
    {
      find: (id, after) => findKeptAnswer(db, id, after),
      reserve: (record) => insertKeptAnswer(db, record),
      complete: (id, answer) => saveKeptAnswer(db, id, answer),
      release: (id) => removeKeptAnswer(db, id),
    },
    now,
  );
  const parts = {
    records,
    now,
    once,
    aliased: (headers: Record<string, unknown>) => headers['akenza-client'] !== undefined,
    revealConnectorSecrets: false,
    availableOutputs: new Set(available),
  };
  const routes: Route[] = [
    organizationRoutes,
    workspaceRoutes,
    tagRoutes,
    deviceTypeRoutes,
    deviceConnectorRoutes,
    deviceRoutes,
    assetRoutes,
    apiKeyRoutes,
  ].flatMap((of) => of(parts));
  routes.push(...outputConnectorRoutes(parts), ...dataFlowRoutes(parts));
  const failures: unknown[] = [];
  const app = await createServer({
    routes,
    guard: { identify: (headers) => identify([keys, noTokens, session], headers), authorize },
    events: { answered: () => {}, failed: (error) => void failures.push(error) },
    now,
    publicUrl: 'http://localhost',
  });

  const as =
    (headers: Record<string, string>): Call =>
    async (method, path, body, more = {}) => {
      const answer = await app.inject({
        method: method as 'GET',
        url: path,
        headers: { ...headers, ...more, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
      return { status: answer.statusCode, body: answer.body === '' ? undefined : JSON.parse(answer.body) };
    };
  const keyFor = async (
    organizationId: string,
    workspaceIds: readonly string[] | undefined,
    permissions: Permissions,
  ) => {
    const workspaces = workspaceIds?.map((id) => ({ id }));
    const key = await createApiKey(records, { name: 'key', organizationId, workspaces, permissions }, now());
    return Object.assign(as({ 'x-api-key': key.secret }), { secret: key.secret, id: key.id });
  };
  return {
    records,
    clock,
    followers,
    failures,
    routes,
    ...made,
    otherOrganizationId: other,
    secondWorkspace,
    foreignWorkspace,
    admin: as({ 'x-api-key': adminKey }),
    owner: as({ 'x-session': 'owner' }),
    stranger: as({}),
    foreign: await keyFor(other, undefined, everyPermission),
    restricted: await keyFor(made.organizationId, [secondWorkspace], everyPermission),
    keyFor,
    async close() {
      await app.close();
      await records.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type RecordsWorld = Awaited<ReturnType<typeof startRecordsWorld>>;

/** A connector, a flow with the database and a device of it; what the caller may not see is its own affair. */
export async function makeDevice(call: Call, workspaceId: string, deviceId: string, draft: object = {}) {
  const connector = (
    await call('POST', '/v3/device-connectors', { name: `c ${deviceId}`, workspaceId, connectivity: 'HTTP' })
  ).body;
  const flow = (
    await call('POST', '/v3/data-flows', {
      name: `f ${deviceId}`,
      workspaceId,
      deviceConnector: { id: connector.id },
      outputConnectors: [{ id: '0900000000000000', topic: '*' }],
    })
  ).body;
  const answer = await call('POST', '/v3/devices', {
    name: `Device ${deviceId}`,
    deviceId,
    workspaceId,
    dataFlowId: flow.id,
    ...draft,
  });
  return { connector, flow, device: answer.body, status: answer.status };
}
