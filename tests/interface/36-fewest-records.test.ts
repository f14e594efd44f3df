// One record of every kind, made with the fewest members: its answers fit the OpenAPI document and strict clients (contract 36, 42).
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { typesWithProperties } from '../../src/outputs/connectors/connector-table.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { type Acting, signIn } from '../access/access-world.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const environment = {
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'a@example.org',
  SMS_GATEWAY_URL: 'http://127.0.0.1:1',
  GCP_SERVICE_ACCOUNT_KEY: '{}',
  EGRESS_ALLOW: '127.0.0.0/8',
};

let world: World;
let admin: Acting;
let device: TestDevice;
let required: (path: string) => readonly string[];

beforeAll(async () => {
  world = await startWorld({ environment });
  admin = await signIn(world.base, 'admin@localhost');
  device = await world.device();
  const { paths, components } = await world.must('GET', '/v3/openapi.json');
  required = (path) => {
    const { schema } = paths[path].post.requestBody.content['application/json'];
    const { $ref: reference } = schema;
    const found =
      reference === undefined ? schema : components.schemas[reference.split('/').at(-1)];
    return found.required ?? [];
  };
});
afterAll(() => world.close());

interface Kind {
  /** Of the creation, as the document has it. */
  readonly path: string;
  readonly body: () => object;
  /** What clients read, and which must not be null. */
  readonly needed: readonly string[];
  /** Only signed-in users make it. */
  readonly asUser?: true;
  /** Where the list is, if not at the path with the workspace. */
  readonly list?: () => string;
  /** Whether the record cannot be read at its id below the path. */
  readonly unread?: true;
  /** The change with the fewest members; without it the kind has none. */
  readonly change?: () => object;
}

const inWorkspace = () => ({ name: 'a', workspaceId: world.workspaceId });
const inOrganization = () => ({ name: 'a', organizationId: world.organizationId });
const ofOrganization = (path: string) => () => `${path}?organizationId=${world.organizationId}`;
const record = ['id', 'name', 'created', 'version'];
const nothing = () => ({});

const pem = () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
    type: 'spki',
    format: 'pem',
  });

const kinds: Readonly<Record<string, Kind>> = {
  organization: {
    path: '/v3/organizations',
    body: () => ({ name: 'Second' }),
    needed: [...record, 'owner', 'alphaFeatures'],
    asUser: true,
    list: () => '/v3/organizations',
    change: nothing,
  },
  workspace: {
    path: '/v3/workspaces',
    body: () => ({ name: 'Second', organizationId: world.organizationId }),
    needed: [...record, 'organizationId', 'settings', 'properties'],
    list: ofOrganization('/v3/workspaces'),
    change: nothing,
  },
  device: {
    path: '/v3/devices',
    body: () => ({ ...inWorkspace(), deviceId: 'fewest', dataFlowId: device.dataFlowId }),
    needed: [
      ...record,
      'deviceId',
      'type',
      'workspaceId',
      'organizationId',
      'connectivity',
      'onlineTimeout',
      'onlineState',
      'properties',
      'dataFlowId',
      'dataFlow',
      'customFields',
      'tags',
    ],
    list: () => `/v3/assets?workspaceId=${world.workspaceId}`,
    change: nothing,
  },
  'custom field': {
    path: '/v3/custom-fields/meta',
    body: () => ({ ...inWorkspace(), type: 'STRING' }),
    needed: [...record, 'workspaceId', 'type', 'required'],
    change: nothing,
  },
  tag: {
    path: '/v3/tags',
    body: inWorkspace,
    needed: [...record, 'workspaceId', 'taggedDevices'],
    change: nothing,
  },
  'device type': {
    path: '/v3/device-types',
    body: inOrganization,
    needed: [...record, 'type', 'organizationId', 'meta', 'schemas'],
    list: ofOrganization('/v3/device-types'),
    change: nothing,
  },
  'device connector': {
    path: '/v3/device-connectors',
    body: () => ({ ...inWorkspace(), connectivity: 'MQTT' }),
    needed: [
      ...record,
      'readOnly',
      'global',
      'connectivity',
      'integrationDeleted',
      'authType',
      'uplinkSecret',
      'decodingType',
      'pushConfigurationAutomatically',
    ],
    change: nothing,
  },
  integration: {
    path: '/v3/integrations',
    body: () => ({ name: 'a', type: 'TTN' }),
    needed: ['id', 'name', 'type', 'global', 'deleted', 'readOnly', 'deviceConnector'],
    list: ofOrganization('/v3/integrations'),
    change: nothing,
  },
  'data flow': {
    path: '/v3/data-flows',
    body: () => ({ ...inWorkspace(), deviceConnector: { id: device.connectorId } }),
    needed: [
      ...record,
      'deviceConnector',
      'workspaceId',
      'organizationId',
      'outputConnectors',
      'passThrough',
    ],
    change: nothing,
  },
  rule: {
    path: '/v3/rules',
    body: () => ({
      ...inWorkspace(),
      inputs: [{ id: device.id, type: 'DEVICE' }],
      logic: {
        type: 'COMPARISON',
        dataSources: [sourceOf('temperature')],
        logicBlocks: [{ conditions: [condition] }],
      },
    }),
    needed: [
      ...record,
      'ruleId',
      'workspaceId',
      'active',
      'deleted',
      'inputs',
      'timer',
      'logic',
      'actions',
    ],
    change: nothing,
  },
  'custom logic block': {
    path: '/v3/rules/custom',
    body: () => ({ ...inOrganization(), script: 'function consume() {}' }),
    needed: [...record, 'customLogicId', 'organizationId', 'dataSources', 'properties', 'script'],
    list: ofOrganization('/v3/rules/custom'),
    change: nothing,
  },
  dashboard: {
    path: '/v3/dashboards',
    body: inWorkspace,
    needed: [...record, 'workspaceId', 'organizationId', 'configuration'],
    change: nothing,
  },
  'dashboard group': {
    path: '/v3/dashboard-groups',
    body: inWorkspace,
    needed: [...record, 'workspaceId', 'organizationId'],
    change: nothing,
  },
  view: {
    path: '/v3/views',
    body: () => ({ ...inWorkspace(), kind: 'devices' }),
    needed: [...record, 'kind', 'workspaceId', 'shared', 'own', 'content'],
    change: nothing,
  },
  'API key': {
    path: '/v3/api-keys',
    body: inOrganization,
    needed: ['id', 'name', 'organizationId', 'allWorkspaces', 'workspaces', 'permissions'],
    asUser: true,
    list: ofOrganization('/v3/api-keys'),
  },
  'OAuth client': {
    path: '/v3/oauth-clients',
    body: inOrganization,
    needed: ['id', 'name', 'organizationId', 'allWorkspaces', 'workspaces', 'permissions'],
    asUser: true,
    list: ofOrganization('/v3/oauth-clients'),
  },
  'member of an organization': {
    path: '/v3/organizations/{id}/members',
    body: () => ({ email: 'one@example.org', role: 'MEMBER' }),
    needed: ['id', 'userId', 'email', 'role', 'created'],
    asUser: true,
    unread: true,
    list: () => `/v3/organizations/${world.organizationId}/members`,
  },
  'member of a workspace': {
    path: '/v3/workspaces/{id}/members',
    body: () => ({ email: 'two@example.org', role: 'VIEWER' }),
    needed: ['id', 'userId', 'email', 'role', 'created'],
    asUser: true,
    unread: true,
    list: () => `/v3/workspaces/${world.workspaceId}/members`,
  },
  'device credential': {
    path: '/v3/device-authorization/devices/{id}/credentials',
    body: () => ({ algorithm: 'EC256_PEM', publicKey: pem() }),
    needed: [
      'id',
      'deviceId',
      'akenzaDeviceId',
      'algorithm',
      'publicKey',
      'fingerprint',
      'created',
    ],
    unread: true,
    list: () => `/v3/device-authorization/devices/${device.id}/credentials`,
  },
  'device configuration': {
    path: '/v3/devices/{id}/configuration',
    body: () => ({ configuration: {} }),
    needed: ['deviceId', 'workspaceId', 'configuration', 'created', 'version'],
    unread: true,
    list: () => `/v3/devices/${device.id}/configuration`,
  },
};

/** A data source of the device. */
const sourceOf = (key: string) => ({
  id: key,
  inputIds: [device.id],
  dataTopic: 'default',
  dataKey: key,
  valueType: 'NUMERICAL',
  variableName: key,
});
const condition = {
  operandFirst: { type: 'DATA_SOURCE', dataSourceId: 'temperature' },
  operator: 'GT',
  operandSecond: { type: 'CONSTANT', value: 20 },
};

const missing = (object: Record<string, unknown>, names: readonly string[]) =>
  names.filter((name) => object[name] === null || object[name] === undefined);
const vendor = { 'akenza-client': 'java/3' };

/** The path with the ids of what exists. */
function placeOf(path: string): string {
  const ofWorkspace = path.startsWith('/v3/workspaces/') ? world.workspaceId : device.id;
  return path.replace(
    '{id}',
    path.startsWith('/v3/organizations/') ? world.organizationId : ofWorkspace,
  );
}

describe.each(Object.entries(kinds))('review behaviour 23: a %s', (_, kind) => {
  test('with the fewest members is answered as the document says, made, read, changed and listed', async () => {
    const { call } = kind.asUser ? admin : world;
    const { path, needed, change, unread } = kind;
    const body = kind.body();
    // A member more would hide what is missing without it.
    expect(Object.keys(body).sort()).toEqual([...required(path)].sort());
    // `call` compares each answer with the document.
    const made = await call('POST', placeOf(path), body, vendor);
    expect([made.status, made.body.message]).toEqual([201, undefined]);
    expect(missing(made.body, needed)).toEqual([]);
    const at = `${placeOf(path)}/${made.body.id}`;
    if (unread === undefined) {
      const { status, body: read } = await call('GET', at, undefined, vendor);
      expect([status, missing(read, needed)]).toEqual([200, []]);
    }
    if (change !== undefined) {
      const { status, body: changed } = await call('PUT', at, change(), vendor);
      expect([status, missing(changed, needed)]).toEqual([200, []]);
    }
    const where = kind.list?.() ?? `${path}?workspaceId=${world.workspaceId}`;
    const { body: listed } = await call('GET', where, undefined, vendor);
    const rows: Record<string, unknown>[] = Array.isArray(listed) ? listed : listed.content;
    const row = rows.find(({ id, version }) =>
      made.body.id === undefined ? version === made.body.version : id === made.body.id,
    );
    expect(row).toBeDefined();
  });
});

describe('review behaviour 23: an output', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/output-connectors.md'), 'utf8');
  const examples = new Map(
    [...docs.matchAll(/^\| `([A-Z_]+)` \| `\w+`.* \| `(\{.*\})` \|$/gm)].map(
      ([, type = '', example = '']) => [type, JSON.parse(example) as JsonObject],
    ),
  );
  /** One of several that the type can do with. */
  const alsoNeeded: Readonly<Record<string, readonly string[]>> = { DOWNLINK: ['downlinkPayload'] };
  const neededOfOutput = [
    'id',
    'name',
    'created',
    'version',
    'type',
    'scope',
    'workspaceId',
    'deleted',
    'global',
    'sendConsecutiveAlerts',
    'invokeRuleEngine',
    'useCustomPayload',
  ];

  test.each([...typesWithProperties])(
    'of $type with the fewest properties is answered as the document says',
    async ({ type, properties: { key, needed } }) => {
      const example = examples.get(type) ?? {};
      const wanted = new Set([...needed(example), ...(alsoNeeded[type] ?? [])]);
      const properties = Object.entries(example).filter(([name]) => wanted.has(name));
      const body = { ...inWorkspace(), type, [key]: Object.fromEntries(properties) };
      const made = await world.call('POST', '/v3/output-connectors', body);
      expect([made.status, made.body.message]).toEqual([201, undefined]);
      const at = `/v3/output-connectors/${made.body.id}`;
      for (const [method, sent] of [['GET'], ['PUT', {}]] as const) {
        const { status, body: read } = await world.call(method, at, sent);
        expect([status, missing(read, [...neededOfOutput, key])]).toEqual([200, []]);
      }
    },
  );
});

describe('review behaviour 23: a rule', () => {
  test.each([
    ['CUSTOM_LOGIC', (customLogicId: string) => ({ customLogic: { customLogicId } })],
    ['GEO_FENCE', () => ({ geoFenceLogicBlock: { geoJson: fence } })],
  ])('of %s with the fewest members is answered as the document says', async (type, logicOf) => {
    const block = await world.must('POST', '/v3/rules/custom', {
      ...inOrganization(),
      script: 'function consume() {}',
    });
    const dataSources = ['latitude', 'longitude'].map(sourceOf);
    const logic = { type, dataSources, ...logicOf(block.id) };
    const inputs = [{ id: device.id, type: 'DEVICE' }];
    const made = await world.call('POST', '/v3/rules', { ...inWorkspace(), inputs, logic }, vendor);
    expect([made.status, made.body.message]).toEqual([201, undefined]);
    const { status, body } = await world.call('GET', `/v3/rules/${made.body.id}`);
    expect(status).toBe(200);
    expect(missing(body.inputs[0], ['id', 'type', 'device', 'trigger', 'tag'])).toEqual([]);
    const ofSource = ['id', 'inputIds', 'dataTopic', 'dataKey', 'valueType', 'lastSample'];
    for (const source of body.logic.dataSources)
      expect(missing(source, [...ofSource, 'triggerOnUplink'])).toEqual([]);
  });

  const ring = [
    [8, 47],
    [9, 47],
    [9, 48],
    [8, 47],
  ];
  const fence = {
    type: 'FeatureCollection',
    features: [
      { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [ring] } },
    ],
  };
});

test('review behaviour 23: the single device configuration is answered as the document says', async () => {
  const { id } = await world.device();
  await world.must('POST', `/v3/devices/${id}/configuration`, { configuration: { a: 1 } });
  for (const at of ['latest', '1'])
    expect((await world.call('GET', `/v3/devices/${id}/configuration/${at}`)).status).toBe(200);
});

test('review behaviour 23: a changed role is answered as the document says', async () => {
  const of = `/v3/workspaces/${world.workspaceId}/members`;
  const { userId } = await admin.must('POST', of, { email: 'c@example.org', role: 'VIEWER' });
  const { status, body } = await admin.call('PUT', `${of}/${userId}`, { role: 'EDITOR' });
  expect([status, body.role]).toEqual([200, 'EDITOR']);
});
