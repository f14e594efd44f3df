// Expected cells of the authorization matrix for all routes, by hand (interface 2.7, contract 2 and 35).
import type { Scope, Verb } from '../../src/model/principal.ts';
import { comparisonOf, type Fixtures } from './access-world.ts';
import { alarmCells } from './alarm-cells.ts';
import { backfillCells } from './backfill-cells.ts';
import { consoleCells } from './console-cells.ts';
import { identityCells } from './identity-cells.ts';
import { deliveryCells } from './delivery-cells.ts';
import { type Bodies, type Paths, record } from './record-cell.ts';
import type { Cell } from './route-cell.ts';
import { assistantCells } from './assistant-cells.ts';
import { refusalCells } from './refusal-cells.ts';
import { sampleExportCells } from './sample-export-cells.ts';
import { loraCells } from './route-cells-lora.ts';

const open = (path: string): Cell => ({ who: 'anybody', level: 'none', path: () => path });
const own = (path: string, who: 'anyCredential' | 'anyUser'): Cell => ({
  who,
  level: 'none',
  path: () => path,
});

/** The five routes of records that live in workspaces. */
function workspaceRecords(
  path: string,
  scope: Scope,
  id: keyof Fixtures,
  draft: Bodies,
): Record<string, Cell> {
  const one: Paths = (of) => `${path}/${of[id]}`;
  return {
    ...(path === '/v3/devices' ? {} : list(path, scope)),
    [`POST ${path}`]: record('workspace', [scope, 'create'], () => path, draft),
    [`GET ${path}/:id`]: record('workspace', [scope, 'read'], one),
    [`PUT ${path}/:id`]: record('workspace', [scope, 'update'], one, () => ({})),
    [`DELETE ${path}/:id`]: record('workspace', [scope, 'delete'], one),
  };
}

const readsAssets = (cell: Cell): Cell => ({ ...cell, also: [['asset', 'read']] });

function list(path: string, scope: Scope): Record<string, Cell> {
  const query: Paths = (of) => `${path}?workspaceId=${of.workspace}`;
  return {
    [`GET ${path}`]: {
      needs: [scope, 'read'],
      who: 'permitted',
      level: 'workspaceList',
      path: query,
    },
  };
}

const ofType =
  (rest: string): Paths =>
  (of) =>
    `/v3/device-types/${of.deviceType}${rest}`;
const named: Bodies = (of) => ({ name: 'x', workspaceId: of.workspace });
const mute: Bodies = (of) => ({
  ...{ name: 'x', workspaceId: of.workspace, what: { all: true } },
  once: { from: '2100-01-01T00:00:00Z', to: '2100-01-01T01:00:00Z' },
});
const onCall: Bodies = (of) => ({
  ...{ name: 'x', workspaceId: of.workspace, timeZone: 'UTC', order: ['anna@example.org'] },
  ...{ turn: 'P1D', startsAt: '2026-01-05T09:00:00Z' },
});
const calculation: Bodies = (of) => ({
  ...{ name: 'x', workspaceId: of.workspace, topic: 'default', period: 'PT1H' },
  deviceIds: [of.device],
  target: { deviceId: of.device, topic: 'group' },
  outputs: [{ key: 'devices', count: 'TOTAL' }],
});
const inOrganization: Bodies = (of) => ({ name: 'x', organizationId: of.organization });
const hour = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z' };
const kpi: Bodies = (of) => ({
  topic: 'default',
  dataKey: 'a',
  accumulator: 'MAX',
  interval: hour,
  bucketInterval: 'PT1H',
  deviceIds: [of.device],
});

const expectedOf: Bodies = () => ({ topic: 'default', dataKey: 'a', interval: hour });
const forecastOf: Bodies = (of) => ({
  ...{ topic: 'default', dataKey: 'a', target: 1 },
  deviceIds: [of.device],
});

const queries: Record<string, Cell> = Object.fromEntries([
  ...[
    '',
    '/raw/kpi',
    '/aggregated/hourly/kpi',
    '/raw/time-series',
    '/aggregated/hourly/time-series',
    '/time-series',
  ].map((tail) => [`POST /v3/devices/:deviceId/query${tail}`, deviceRead(`/query${tail}`, kpi)]),
  [
    'POST /v3/devices/:deviceId/query/time-series/aggregation',
    deviceRead('/query/time-series/aggregation', kpi),
  ],
  ...['/query', '/query/topics', '/query/latest-sample', '/infer-schema', '/export'].map((tail) => [
    `GET /v3/devices/:deviceId${tail}`,
    deviceRead(tail),
  ]),
  ...['raw', 'aggregated/hourly']
    .flatMap((source) =>
      ['kpi', 'accumulated-kpi', 'time-series'].map((tail) => `${source}/${tail}`),
    )
    .flatMap((tail) => [
      [
        `POST /v3/tags/:tagId/query/${tail}`,
        record('workspace', ['asset', 'read'], (of) => `/v3/tags/${of.tag}/query/${tail}`, kpi),
      ],
      [
        `POST /v3/places/:placeId/query/${tail}`,
        record('workspace', ['asset', 'read'], (of) => `/v3/places/${of.place}/query/${tail}`, kpi),
      ],
      [`POST /v3/devices/query/batch/${tail}`, batch(`/v3/devices/query/batch/${tail}`)],
    ]),
  ['POST /v3/devices/query/batch', batch('/v3/devices/query/batch')],
  ['POST /v3/devices/:deviceId/query/expected', deviceRead('/query/expected', expectedOf)],
  ['POST /v3/devices/query/forecast', { ...batch('/v3/devices/query/forecast'), body: forecastOf }],
  [
    'POST /v3/devices/query/latest',
    { ...batch('/v3/devices/query/latest'), body: (of) => ({ deviceIds: [of.device] }) } as Cell,
  ],
]) as Record<string, Cell>;

function deviceRead(tail: string, body?: Bodies): Cell {
  return record('workspace', ['asset', 'read'], (of) => `/v3/devices/${of.device}${tail}`, body);
}

function batch(path: string): Cell {
  return {
    needs: ['asset', 'read'],
    who: 'permitted',
    level: 'workspaceList',
    path: () => path,
    body: kpi,
  };
}

/** API keys, OAuth clients: owners and administrators in person. */
function credentials(path: string, id: 'apiKey' | 'oauthClient'): Record<string, Cell> {
  const manage = ['organization', 'manage'] as const;
  const one: Paths = (of) => `${path}/${of[id]}`;
  const query: Paths = (of) => `${path}?organizationId=${of.organization}`;
  return {
    [`GET ${path}`]: {
      needs: manage,
      who: 'permittedUser',
      level: 'organizationList',
      path: query,
    },
    [`POST ${path}`]: record('organization', manage, () => path, inOrganization, 'permittedUser'),
    [`GET ${path}/:id`]: record('organization', manage, one, undefined, 'permittedUser'),
    [`DELETE ${path}/:id`]: record('organization', manage, one, undefined, 'permittedUser'),
  };
}

function members(
  path: string,
  scope: 'organization.member' | 'workspace.member',
): Record<string, Cell> {
  const level = scope === 'workspace.member' ? 'workspace' : 'organization';
  const all: Paths = (of) =>
    `${path}/${level === 'workspace' ? of.workspace : of.organization}/members`;
  const one: Paths = (of) => `${all(of)}/5200000000000000`;
  return {
    [`GET ${path}/:id/members`]: record(level, [scope, 'read'], all),
    [`POST ${path}/:id/members`]: record(level, [scope, 'create'], all, () => ({
      email: 'x@y.z',
      role: 'VIEWER',
    })),
    [`PUT ${path}/:id/members/:userId`]: record(level, [scope, 'update'], one, () => ({
      role: 'VIEWER',
    })),
    [`DELETE ${path}/:id/members/:userId`]: record(level, [scope, 'delete'], one),
  };
}

const manageList = (path: string): Cell => ({
  needs: ['organization', 'manage'],
  who: 'permitted',
  level: 'workspaceList',
  path: (of) => `${path}?organizationId=${of.organization}&workspaceId=${of.workspace}`,
});

const bulk = (tail: string, verb: Verb, more: Bodies = () => ({})): Record<string, Cell> => ({
  [`POST /v3/devices/bulk/${tail}`]: record(
    'workspace',
    ['asset', verb],
    () => `/v3/devices/bulk/${tail}`,
    (of) => ({ workspaceId: of.workspace, deviceIds: [of.device], ...(more(of) as object) }),
  ),
});

const credentialsOf: Paths = (of) => `/v3/device-authorization/devices/${of.device}/credentials`;
const configurationOf: Paths = (of) => `/v3/devices/${of.device}/configuration`;
const blobsOf: Paths = (of) => `/v3/blobs?workspaceId=${of.workspace}`;
const customLogicOf: Paths = (of) => `/v3/rules/custom/${of.customLogic}`;
const importOf: Paths = (of) => `/v3/devices/import?workspaceId=${of.workspace}`;
const update = ['asset', 'update'] as const;

const inventory: Record<string, Cell> = {
  ...list('/v3/operations', 'asset'),
  'GET /v3/operations/:id': record(
    'workspace',
    ['asset', 'read'],
    (of) => `/v3/operations/${of.operation}`,
  ),
  'POST /v3/operations/:id/cancel': record(
    'workspace',
    ['asset', 'update'],
    (of) => `/v3/operations/${of.operation}/cancel`,
  ),
  'GET /v3/operations/:id/actions': record(
    'workspace',
    ['asset', 'read'],
    (of) => `/v3/operations/${of.operation}/actions`,
  ),
  ...list('/v3/exports', 'asset'),
  ...sampleExportCells,
  ...assistantCells,
  ...bulk('create', 'create', (of) => ({
    devices: [{ name: 'x', deviceId: 'x', dataFlowId: of.dataFlow }],
  })),
  ...bulk('update', 'update', () => ({ changes: {} })),
  ...bulk('delete', 'delete'),
  ...bulk('move', 'update', (of) => ({ targetWorkspaceId: of.workspace, dataFlowId: of.dataFlow })),
  ...bulk('tag', 'update'),
  ...bulk('register', 'update'),
  ...bulk('deregister', 'update'),
  ...bulk('activate', 'update'),
  ...bulk('deactivate', 'update'),
  ...list('/v3/devices/export', 'asset'),
  'POST /v3/devices/import': {
    needs: ['asset', 'create'],
    who: 'permitted',
    level: 'workspaceList',
    path: importOf,
    body: () => [],
  },
  ...workspaceRecords('/v3/custom-fields/meta', 'asset', 'customField', (of) => ({
    name: 'x',
    workspaceId: of.workspace,
    type: 'STRING',
  })),
  'GET /v3/device-authorization/devices/:id/credentials': record(
    'workspace',
    ['deviceCredential', 'read'],
    credentialsOf,
  ),
  'POST /v3/device-authorization/devices/:id/credentials': record(
    'workspace',
    ['deviceCredential', 'create'],
    credentialsOf,
    () => ({ algorithm: 'EC256_PEM', publicKey: 'x' }),
  ),
  'DELETE /v3/device-authorization/devices/:id/credentials/:credentialId': record(
    'workspace',
    ['deviceCredential', 'delete'],
    (of) => `${credentialsOf(of)}/9900000000000000`,
  ),
  'GET /v3/devices/:id/configuration': record('workspace', ['asset', 'read'], configurationOf),
  'POST /v3/devices/:id/configuration': record('workspace', update, configurationOf, () => ({
    configuration: {},
  })),
  'GET /v3/devices/:id/configuration/latest': deviceRead('/configuration/latest'),
  'GET /v3/devices/:id/configuration/:version': deviceRead('/configuration/1'),
  'DELETE /v3/devices/:id/configuration/:version': record(
    'workspace',
    update,
    (of) => `${configurationOf(of)}/1`,
  ),
  'POST /v3/devices/:id/configuration/push': record(
    'workspace',
    update,
    (of) => `${configurationOf(of)}/push`,
  ),
  ...list('/v3/blobs', 'blob'),
  'POST /v3/blobs': {
    needs: ['blob', 'create'],
    who: 'permitted',
    level: 'workspaceList',
    path: blobsOf,
    body: () => [],
  },
  'GET /v3/blobs/:id': record('workspace', ['blob', 'read'], (of) => `/v3/blobs/${of.blob}`),
  'GET /v3/blobs/:id/content': record(
    'workspace',
    ['blob', 'read'],
    (of) => `/v3/blobs/${of.blob}/content`,
  ),
  'DELETE /v3/blobs/:id': record('workspace', ['blob', 'delete'], (of) => `/v3/blobs/${of.blob}`),
  ...workspaceRecords('/v3/rules', 'rule', 'rule', (of) => ({
    name: 'x',
    workspaceId: of.workspace,
  })),
  'POST /v3/rules': readsAssets(
    record(
      'workspace',
      ['rule', 'create'],
      () => '/v3/rules',
      (of) => ({ name: 'x', workspaceId: of.workspace, ...comparisonOf(of.device) }),
    ),
  ),
  ...workspaceRecords('/v3/mutes', 'rule', 'mute', mute),
  ...workspaceRecords('/v3/on-call', 'rule', 'onCall', onCall),
  'GET /v3/on-call/:id/now': record(
    'workspace',
    ['rule', 'read'],
    (of) => `/v3/on-call/${of.onCall}/now`,
  ),
  ...workspaceRecords('/v3/calculations', 'rule', 'calculation', named),
  'POST /v3/calculations': readsAssets(
    record('workspace', ['rule', 'create'], () => '/v3/calculations', calculation),
  ),
  'POST /v3/calculations/preview': readsAssets(
    record(
      'workspace',
      ['rule', 'read'],
      () => '/v3/calculations/preview',
      (of) => ({ calculation: calculation(of) }),
    ),
  ),
  'GET /v3/rules/:id/runs': readsAssets(
    record('workspace', ['rule', 'read'], (of) => `/v3/rules/${of.rule}/runs`),
  ),
  'POST /v3/rules/:id/simulate': readsAssets(
    record(
      'workspace',
      ['rule', 'read'],
      (of) => `/v3/rules/${of.rule}/simulate`,
      () => hour,
    ),
  ),
  'GET /v3/rules/custom': {
    needs: ['customLogic', 'read'],
    who: 'permitted',
    level: 'organizationList',
    path: (of) => `/v3/rules/custom?organizationId=${of.organization}`,
  },
  'POST /v3/rules/custom': record(
    'organization',
    ['customLogic', 'create'],
    () => '/v3/rules/custom',
    (of) => ({ name: 'x', organizationId: of.organization, script: '' }),
  ),
  'GET /v3/rules/custom/:id': record('organization', ['customLogic', 'read'], customLogicOf),
  'PUT /v3/rules/custom/:id': record(
    'organization',
    ['customLogic', 'update'],
    customLogicOf,
    () => ({}),
  ),
  'DELETE /v3/rules/custom/:id': record('organization', ['customLogic', 'delete'], customLogicOf),
  ...workspaceRecords('/v3/dashboards', 'dashboard', 'dashboard', named),
  ...workspaceRecords('/v3/dashboard-groups', 'dashboard.group', 'dashboardGroup', named),
  'POST /v3/device-types/import': record(
    'organization',
    ['deviceType', 'create'],
    () => '/v3/device-types/import',
    (of) => ({
      organizationId: of.organization,
      files: {},
    }),
  ),
  ...list('/v3/assets/filter-options-v2', 'asset'),
  'POST /v3/assets/filter-options-v2': {
    needs: ['asset', 'read'],
    who: 'permitted',
    level: 'workspaceList',
    path: () => '/v3/assets/filter-options-v2',
    body: (of) => ({ workspaceIds: [of.workspace] }),
  },
};

/** By method and path as the route declares them. */
export const routeCells: Readonly<Record<string, Cell>> = {
  'GET /health/live': open('/health/live'),
  'GET /health/ready': open('/health/ready'),
  'GET /metrics': open('/metrics'),
  'POST /v3/capture': open('/v3/capture'),
  'POST /write': open('/write'),
  'POST /api/v2/write': open('/api/v2/write'),
  'GET /ping': open('/ping'),
  'POST /query': open('/query'),
  'GET /query': open('/query'),
  'POST /realms/api-keys/protocol/openid-connect/token': open(
    '/realms/api-keys/protocol/openid-connect/token',
  ),
  'GET /realms/api-keys/.well-known/openid-configuration': open(
    '/realms/api-keys/.well-known/openid-configuration',
  ),
  'GET /realms/api-keys/protocol/openid-connect/certs': open(
    '/realms/api-keys/protocol/openid-connect/certs',
  ),
  'POST /v3/auth/logout': own('/v3/auth/logout', 'anyUser'),
  'POST /v3/auth/logout-everywhere': own('/v3/auth/logout-everywhere', 'anyUser'),
  ...consoleCells,
  ...identityCells,
  'PUT /v3/auth/organization': {
    ...own('/v3/auth/organization', 'anyUser'),
    body: () => ({ organizationId: 'x' }),
  },
  'PUT /v3/auth/password': {
    ...own('/v3/auth/password', 'anyUser'),
    body: () => ({ currentPassword: 'x', newPassword: 'y' }),
  },
  'GET /v3/organizations': own('/v3/organizations', 'anyCredential'),
  'POST /v3/organizations': { ...own('/v3/organizations', 'anyUser'), body: () => ({ name: 'x' }) },
  'GET /v3/workspace-access': own('/v3/workspace-access?scope=ASSET&verb=READ', 'anyCredential'),
  'POST /v3/run-script': {
    needs: ['deviceType', 'read'],
    who: 'permitted',
    level: 'none',
    path: () => '/v3/run-script',
    body: () => ({ script: 'function consume() {}', event: {} }),
  },
  'GET /v3/organizations/:id': record(
    'organization',
    ['organization', 'read'],
    (of) => `/v3/organizations/${of.organization}`,
  ),
  'PUT /v3/organizations/:id': record(
    'organization',
    ['organization', 'update'],
    (of) => `/v3/organizations/${of.organization}`,
    () => ({}),
  ),
  'DELETE /v3/organizations/:id': record(
    'organization',
    ['organization', 'delete'],
    (of) => `/v3/organizations/${of.organization}`,
  ),
  ...workspaceRecords('/v3/workspaces', 'workspace', 'workspace', inOrganization),
  'GET /v3/workspaces/:id/configuration': record(
    'workspace',
    ['workspace', 'read'],
    (of) => `/v3/workspaces/${of.workspace}/configuration`,
  ),
  'GET /v3/workspaces/:id/overview': record(
    'workspace',
    ['workspace', 'read'],
    (of) => `/v3/workspaces/${of.workspace}/overview`,
  ),
  'GET /v3/workspaces/:id/map': record(
    'workspace',
    ['asset', 'read'],
    (of) => `/v3/workspaces/${of.workspace}/map`,
  ),
  'GET /v3/map/tiles/:z/:x/:y': {
    who: 'anyCredential',
    level: 'none',
    path: () => '/v3/map/tiles/0/0/0',
  },
  'PUT /v3/workspaces/:id/configuration': record(
    'workspace',
    ['workspace', 'update'],
    (of) => `/v3/workspaces/${of.workspace}/configuration`,
    () => ({ format: 'x' }),
  ),
  'GET /v3/workspaces': {
    needs: ['workspace', 'read'],
    orLimited: true,
    who: 'permitted',
    level: 'organizationList',
    path: (of) => `/v3/workspaces?organizationId=${of.organization}`,
  },
  'POST /v3/workspaces': record(
    'organization',
    ['workspace', 'create'],
    () => '/v3/workspaces',
    inOrganization,
  ),
  ...workspaceRecords('/v3/tags', 'asset', 'tag', named),
  ...workspaceRecords('/v3/places', 'asset', 'place', (of) => ({
    name: 'x',
    workspaceId: of.workspace,
  })),
  'POST /v3/places/query/values': record(
    'workspace',
    ['asset', 'read'],
    () => '/v3/places/query/values',
    (of) => ({ ...(kpi(of) as object), workspaceId: of.workspace, parentId: null, combine: 'AVG' }),
  ),
  ...list('/v3/places/export', 'asset'),
  'POST /v3/places/import': {
    needs: ['asset', 'create'],
    who: 'permitted',
    level: 'workspaceList',
    path: (of) => `/v3/places/import?workspaceId=${of.workspace}`,
    body: () => [],
  },
  'POST /v3/places/:id/devices': record(
    'workspace',
    ['asset', 'update'],
    (of) => `/v3/places/${of.place}/devices`,
    () => ({}),
  ),
  ...workspaceRecords('/v3/device-connectors', 'dataFlow', 'deviceConnector', (of) => ({
    name: 'x',
    workspaceId: of.workspace,
    connectivity: 'HTTP',
  })),
  ...alarmCells,
  ...refusalCells,
  ...deliveryCells,
  ...workspaceRecords('/v3/output-connectors', 'dataFlow', 'outputConnector', (of) => ({
    name: 'x',
    workspaceId: of.workspace,
    type: 'WEBHOOK',
  })),
  ...workspaceRecords('/v3/data-flows', 'dataFlow', 'dataFlow', (of) => ({
    name: 'x',
    workspaceId: of.workspace,
    deviceConnector: { id: of.deviceConnector },
  })),
  ...workspaceRecords('/v3/devices', 'asset', 'device', (of) => ({
    name: 'x',
    workspaceId: of.workspace,
    deviceId: 'x',
    dataFlowId: of.dataFlow,
  })),
  'GET /v3/devices/by-device-id': {
    needs: ['asset', 'read'],
    who: 'permitted',
    level: 'workspaceList',
    path: (of) => `/v3/devices/by-device-id?deviceId=${of.physicalId}`,
  },
  'GET /v3/devices/:id/processing-logs': deviceRead('/processing-logs'),
  ...loraCells,
  'GET /v3/devices/:id/uplinks': deviceRead('/uplinks'),
  'POST /v3/device-types/:id/recalculate': record(
    'organization',
    ['deviceType', 'read'],
    ofType('/recalculate'),
    () => ({ source: 'SAMPLES', deviceIds: [], dryRun: true }),
  ),
  'POST /v3/device-types/:id/replay': record(
    'organization',
    ['deviceType', 'read'],
    ofType('/replay'),
    () => ({}),
  ),
  ...list('/v3/usage', 'workspace'),
  ...inventory,
  ...list('/v3/assets', 'asset'),
  'POST /v3/assets/list': {
    needs: ['asset', 'read'],
    who: 'permitted',
    level: 'workspaceList',
    path: () => '/v3/assets/list',
    body: (of) => ({ workspaceIds: [of.workspace] }),
  },
  ...backfillCells,
  'GET /v3/device-types': {
    needs: ['deviceType', 'read'],
    who: 'permitted',
    level: 'organizationList',
    path: (of) => `/v3/device-types?organizationId=${of.organization}`,
  },
  'POST /v3/device-types': record(
    'organization',
    ['deviceType', 'create'],
    () => '/v3/device-types',
    inOrganization,
  ),
  'GET /v3/device-types/:id': record('organization', ['deviceType', 'read'], ofType('')),
  'PUT /v3/device-types/:id': record(
    'organization',
    ['deviceType', 'update'],
    (of) => `/v3/device-types/${of.deviceType}`,
    () => ({}),
  ),
  'DELETE /v3/device-types/:id': record(
    'organization',
    ['deviceType', 'delete'],
    (of) => `/v3/device-types/${of.deviceType}`,
  ),
  ...credentials('/v3/api-keys', 'apiKey'),
  ...credentials('/v3/oauth-clients', 'oauthClient'),
  'POST /v3/oauth-clients/:id/rotate-secret': record(
    'organization',
    ['organization', 'manage'],
    (of) => `/v3/oauth-clients/${of.oauthClient}/rotate-secret`,
    undefined,
    'permittedUser',
  ),
  ...members('/v3/organizations', 'organization.member'),
  ...members('/v3/workspaces', 'workspace.member'),
  'GET /v3/audit-logs': manageList('/v3/audit-logs'),
  'GET /v3/audit-logs/export': manageList('/v3/audit-logs/export'),
  ...queries,
};
