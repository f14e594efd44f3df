// Two organizations on a real database behind the real edge: what tests of records need to call, and whom as.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiKeyAuthenticator,
  type Authenticator,
  identify,
} from '../../src/access/authenticators.ts';
import { authorize } from '../../src/access/authorize.ts';
import { bootstrap } from '../../src/access/bootstrap.ts';
import type { Route } from '../../src/http/edge/route.ts';
import { createServer } from '../../src/http/edge/server.ts';
import { machineCredentialRoutes } from '../../src/http/routes/tokens.ts';
import { assetRoutes } from '../../src/http/routes/assets.ts';
import { blobRoutes } from '../../src/http/routes/blobs.ts';
import { tagRoutes } from '../../src/http/routes/tags.ts';
import { dashboardRoutes } from '../../src/http/routes/dashboards.ts';
import { dataFlowRoutes } from '../../src/http/routes/data-flows.ts';
import {
  deviceConfigurationRoutes,
  deviceCredentialRoutes,
  deviceFileRoutes,
  deviceRoutes,
} from '../../src/http/routes/devices.ts';
import { deviceTypeRoutes } from '../../src/http/routes/device-types.ts';
import { StreetMaps } from '../../src/http/routes/maps.ts';
import { RecordRoutes } from '../../src/http/routes/record-routes.ts';
import { operationRoutes } from '../../src/http/routes/operations.ts';
import { workspaceRoutes } from '../../src/http/routes/workspaces.ts';
import { outputConnectorRoutes } from '../../src/http/routes/output-connectors.ts';
import { ruleRoutes } from '../../src/http/routes/rules.ts';
import type { TellNetworkServer } from '../../src/inventory/devices/registration.ts';
import { ApiKeys } from '../../src/inventory/members/machine-credentials.ts';
import { runOperationChunk } from '../../src/inventory/operations/operations.ts';
import { Workspaces } from '../../src/inventory/workspaces/workspaces.ts';
import { newId } from '../../src/model/ids.ts';
import { everyPermission, type Permissions } from '../../src/model/principal.ts';
import type { RecordChange } from '../../src/model/record.ts';
import { ChunkRunner } from '../../src/operations/operation-runner.ts';
import { MapFiles } from '../../src/storage/maps/map-files.ts';
import { openRecords, type OpenRecords } from '../../src/storage/records/records.ts';
import { operationRows } from '../../src/storage/records/rows/operations.ts';
import { organizationRows } from '../../src/storage/records/rows/workspaces.ts';
import { testEngine } from '../../src/storage/records/testing-engine.ts';
import { telemetryOf } from '../../src/telemetry/testing-telemetry.ts';
import { createIdempotencyRecords, Once } from '../../src/uplinks/idempotency/idempotency.ts';
import { ownerIn } from '../world/restricted-keys.ts';

// oxlint-disable-next-line typescript/no-explicit-any
export type Body = any;
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answered>;
interface Answered {
  readonly status: number;
  readonly body: Body;
  readonly headers: Record<string, unknown>;
}

const adminKey = '0123456789abcdef.0b5e6a4e-9b1c-4a53-8f55-5d7b1f3e2c11';

const everything = ['WEBHOOK', 'CUSTOM_DATABASE'] as const;
type Available = readonly (typeof everything)[number][];

/** The operator has set up no mail server. */
const noMail = (type: string) => (type === 'INSTALLATION_MAIL' ? 'SMTP_URL' : undefined);

/** The clock stops unless a test moves it. */
export async function startRecordsWorld(available: Available = everything) {
  const directory = mkdtempSync(join(tmpdir(), 'records-world-'));
  const clock = { now: Date.UTC(2026, 0, 1) };
  const now = () => clock.now;
  const announce = (told: RecordChange) => keys.recordChanged(told);
  const records = await openRecords({ directory, engine: testEngine(directory), announce, now });
  const keys = new ApiKeyAuthenticator({ db: records.db, now });
  const tenants = await makeTenants(records, now());
  const failures: unknown[] = [];
  const network: { tell: TellNetworkServer | undefined } = { tell: undefined };
  const operations = new ChunkRunner({
    runChunk: (id, isTimeUp) => runOperationChunk(records, id, isTimeUp, network.tell),
    unfinished: () => operationRows.unfinished(records.db, 'others'),
    organizationOf: async (id) => (await operationRows.find(records.db, id))?.organizationId ?? '',
    failed: (error) => void failures.push(error),
    clock: () => performance.now(),
    pause: () => new Promise((resolve) => void setImmediate(resolve)),
  });
  const routes = routesOf(records, now, available, operations.start, () => network.tell);
  const app = await createServer({
    routes,
    guard: { identify: (headers) => identify([keys, session(tenants)], headers), authorize },
    events: { answered: () => {}, failed: (error) => void failures.push(error) },
    now,
    publicUrl: 'http://localhost',
  });
  const as = (headers: Record<string, string>) => callerOf(app, headers);
  const keyFor = async (
    organizationId: string,
    workspaceIds: string[] | undefined,
    permissions: Permissions,
  ) => {
    const workspaces = workspaceIds?.map((id) => ({ id }));
    const key = await new ApiKeys(records).create(ownerIn(organizationId), {
      name: 'key',
      organizationId,
      workspaces: workspaces ?? null,
      permissions,
    });
    return Object.assign(as({ 'x-api-key': key.secret }), { secret: key.secret, id: key.id });
  };
  return {
    records,
    clock,
    failures,
    routes,
    operations,
    network,
    ...tenants,
    admin: as({ 'x-api-key': adminKey }),
    owner: as({ 'x-session': 'owner' }),
    stranger: as({}),
    foreign: await keyFor(tenants.otherOrganizationId, undefined, everyPermission),
    restricted: await keyFor(tenants.organizationId, [tenants.secondWorkspace], everyPermission),
    keyFor,
    async close() {
      await operations.close();
      await app.close();
      await records.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function makeTenants(records: OpenRecords, now: number) {
  const settings = {
    adminEmail: 'a@example.org',
    adminPassword: 'secret',
    adminApiKey: adminKey,
    now,
  };
  const made = (await bootstrap(records, settings))!;
  const { organizationId, userId } = made;
  const otherOrganizationId = newId('organization');
  const audit = { created: now, updated: null, version: 0 };
  const tenant = {
    id: otherOrganizationId,
    name: 'Other',
    description: null,
    logo: null,
    ownerId: userId,
  };
  await organizationRows.insert(records.db, { ...tenant, properties: null, ...audit });
  const second = await new Workspaces(records).create({ organizationId, name: 'Second' });
  const foreign = await new Workspaces(records).create({
    organizationId: otherOrganizationId,
    name: 'Foreign',
  });
  return { ...made, otherOrganizationId, secondWorkspace: second.id, foreignWorkspace: foreign.id };
}

/** Represents a session: the owner, signed in. */
function session({
  userId,
  organizationId,
}: {
  userId: string;
  organizationId: string;
}): Authenticator {
  const permissions = everyPermission;
  const owner = {
    kind: 'USER',
    id: userId,
    name: 'Owner',
    organizationId,
    workspaces: 'all',
    permissions,
  } as const;
  return { header: 'x-session', authenticate: () => owner };
}

function routesOf(
  { db, ...records }: OpenRecords,
  now: () => number,
  available: Available,
  startOperation: (id: string) => void,
  networkServers: () => TellNetworkServer | undefined,
): Route[] {
  const kept = createIdempotencyRecords({
    records: { db, ...records },
    log: { position: 0 },
    telemetry: telemetryOf({}),
  });
  const common = new RecordRoutes({ db, ...records }, new Once(kept, now), now, {
    vendorAliases: 'header',
    revealConnectorSecrets: false,
  });
  const nothing = async () => {};
  const none = async () => new Map<string, never>();
  const streetMaps = new StreetMaps(undefined, [], new MapFiles(join(tmpdir(), 'no-maps'), now));
  const availableOutputs = { types: available, missingSetting: noMail, check: () => {} };
  const plain = [
    tagRoutes,
    blobRoutes,
    deviceCredentialRoutes,
    deviceConfigurationRoutes,
    assetRoutes,
  ];
  return [
    ...plain.flatMap((of) => of(common)),
    ...workspaceRoutes(common, streetMaps, availableOutputs, nothing),
    ...deviceTypeRoutes(common, { settled: nothing }),
    ...ruleRoutes(common, availableOutputs, { lastRunsOf: none, settledFor: nothing }),
    ...deviceRoutes(common, nothing, networkServers),
    ...dashboardRoutes(common, () => 'http://localhost'),
    ...operationRoutes(common, startOperation),
    ...deviceFileRoutes(common, startOperation),
    ...machineCredentialRoutes(common, () => ''),
    ...outputConnectorRoutes(common, availableOutputs, { waitingOf: none, counted: nothing }),
    ...dataFlowRoutes(common, { settled: nothing }),
  ];
}

function callerOf(
  app: Awaited<ReturnType<typeof createServer>>,
  headers: Record<string, string>,
): Call {
  return async (method, path, body, more = {}) => {
    const answer = await app.inject({
      method: method as 'GET',
      url: path,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body === undefined
        ? {}
        : { payload: body instanceof Buffer ? body : JSON.stringify(body) }),
    });
    const isJson = String(answer.headers['content-type']).includes('application/json');
    const read =
      answer.body === '' ? undefined : isJson ? JSON.parse(answer.body) : answer.rawPayload;
    const answered = { status: answer.statusCode, body: read };
    // Most tests do not compare headers, which differ with every request.
    return Object.defineProperty(answered, 'headers', {
      value: answer.headers,
      enumerable: false,
    }) as Answered;
  };
}

export type RecordsWorld = Awaited<ReturnType<typeof startRecordsWorld>>;

/**
 * A connector, a flow with the database and a device of it; the caller may have fewer permissions.
 */
export async function makeDevice(
  call: Call,
  workspaceId: string,
  deviceId: string,
  draft: object = {},
) {
  const connector = (
    await call('POST', '/v3/device-connectors', {
      name: `c ${deviceId}`,
      workspaceId,
      connectivity: 'HTTP',
    })
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
