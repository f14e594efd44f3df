// Expected cells of the authorization matrix: the endpoints of consoles (contract 37).
import { reportOf } from './access-world.ts';
import { type Paths, record } from './record-cell.ts';
import type { Cell } from './route-cell.ts';

const preferences = '/v3/auth/me/preferences';
const own: Cell = { who: 'anyCredential', level: 'none', path: () => preferences };
const reads = ['workspace', 'read'] as const;
const view: Paths = (of) => `/v3/views/${of.view}`;

const report: Paths = (of) => `/v3/reports/${of.report}`;
const readsAssets = (cell: Cell): Cell => ({ ...cell, also: [['asset', 'read']] });
const annotation: Paths = (of) => `/v3/annotations/${of.annotation}`;
const shareOf: Paths = (of) => `/v3/dashboards/${of.dashboard}/share`;
const hour = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z' };
const manySeries = '/v3/devices/query/batch/time-series';

export const consoleCells: Readonly<Record<string, Cell>> = {
  'GET /v3/about': { who: 'anybody', level: 'none', path: () => '/v3/about' },
  'GET /v3/auth/me': { who: 'anyCredential', level: 'none', path: () => '/v3/auth/me' },
  'POST /v3/expressions/check': {
    who: 'anyCredential',
    level: 'none',
    path: () => '/v3/expressions/check',
    body: () => ({ expression: 'a + 1' }),
  },
  'GET /v3/search': { who: 'anyCredential', level: 'none', path: () => '/v3/search?q=x' },
  [`GET ${preferences}`]: own,
  [`PUT ${preferences}`]: { ...own, body: () => ({}) },
  [`POST ${manySeries}`]: {
    needs: ['asset', 'read'],
    who: 'permitted',
    level: 'workspaceList',
    path: () => manySeries,
    body: (of) => ({
      interval: hour,
      series: [{ deviceId: of.device, topic: 'default', dataKey: 'a', accumulators: ['MAX'] }],
    }),
  },
  'GET /v3/devices/:id/dashboard': {
    ...record('workspace', ['dashboard', 'read'], (of) => `/v3/devices/${of.device}/dashboard`),
    also: [['asset', 'read']],
  },
  'GET /v3/places/:id/dashboard': {
    ...record('workspace', ['dashboard', 'read'], (of) => `/v3/places/${of.place}/dashboard`),
    also: [['asset', 'read']],
  },
  'GET /v3/device-types/:id/dashboard': {
    needs: ['dashboard', 'read'],
    who: 'permitted',
    level: 'workspaceList',
    path: (of) => `/v3/device-types/${of.deviceType}/dashboard?workspaceId=${of.workspace}`,
    also: [['asset', 'read']],
  },
  'GET /v3/dashboards/:id/render': {
    ...record('workspace', ['dashboard', 'read'], (of) => `/v3/dashboards/${of.dashboard}/render`),
    also: [['asset', 'read']],
  },
  'GET /v3/dashboards/:id/versions': record(
    'workspace',
    ['dashboard', 'read'],
    (of) => `/v3/dashboards/${of.dashboard}/versions`,
  ),
  'GET /v3/dashboards/:id/versions/:version': record(
    'workspace',
    ['dashboard', 'read'],
    (of) => `/v3/dashboards/${of.dashboard}/versions/0`,
  ),
  'POST /v3/dashboards/:id/versions/:version/restore': record(
    'workspace',
    ['dashboard', 'update'],
    (of) => `/v3/dashboards/${of.dashboard}/versions/0/restore`,
  ),
  'GET /v3/dashboards/:id/share': record('workspace', ['dashboard', 'read'], shareOf),
  'POST /v3/dashboards/:id/share': {
    ...record('workspace', ['dashboard', 'update'], shareOf),
    also: [['asset', 'read']],
  },
  'GET /v3/dashboards/:id/shares': record(
    'workspace',
    ['dashboard', 'read'],
    (of) => `/v3/dashboards/${of.dashboard}/shares`,
  ),
  'DELETE /v3/dashboards/:id/share': record('workspace', ['dashboard', 'update'], shareOf),
  'GET /v3/workspaces/:id/retention-effect': record(
    'workspace',
    ['workspace', 'read'],
    (of) => `/v3/workspaces/${of.workspace}/retention-effect?retentionDays=30`,
  ),
  'POST /v3/workspaces/demo': {
    ...record(
      'organization',
      ['workspace', 'create'],
      () => '/v3/workspaces/demo',
      (of) => ({ organizationId: of.organization }),
    ),
    also: [
      ['asset', 'create'],
      ['asset', 'read'],
      ['dataFlow', 'create'],
      ['dataFlow', 'read'],
      ['dataFlow', 'update'],
      ['deviceType', 'create'],
      ['deviceType', 'read'],
      ['rule', 'create'],
      ['rule', 'read'],
    ],
  },
  'GET /v3/activity': {
    needs: reads,
    who: 'permitted',
    level: 'workspaceList',
    path: (of) => `/v3/activity?workspaceId=${of.workspace}`,
  },
  'GET /v3/views': {
    needs: reads,
    who: 'permitted',
    level: 'workspaceList',
    path: (of) => `/v3/views?workspaceId=${of.workspace}`,
  },
  'POST /v3/views': record(
    'workspace',
    reads,
    () => '/v3/views',
    (of) => ({ name: 'x', kind: 'x', workspaceId: of.workspace }),
  ),
  'GET /v3/views/:id': record('workspace', reads, view),
  'PUT /v3/views/:id': record('workspace', reads, view, () => ({})),
  'DELETE /v3/views/:id': record('workspace', reads, view),
  'GET /v3/reports': {
    needs: ['dashboard', 'read'],
    who: 'permitted',
    level: 'workspaceList',
    path: (of) => `/v3/reports?workspaceId=${of.workspace}`,
  },
  'POST /v3/reports': readsAssets(
    record(
      'workspace',
      ['dashboard', 'create'],
      () => '/v3/reports',
      (of) => ({ name: 'x', workspaceId: of.workspace, ...reportOf(of.dashboard) }),
    ),
  ),
  'GET /v3/reports/:id': record('workspace', ['dashboard', 'read'], report),
  'PUT /v3/reports/:id': record('workspace', ['dashboard', 'update'], report, () => ({})),
  'DELETE /v3/reports/:id': record('workspace', ['dashboard', 'delete'], report),
  'POST /v3/reports/:id/send': readsAssets(
    record('workspace', ['dashboard', 'update'], (of) => `/v3/reports/${of.report}/send`),
  ),
  'GET /v3/reports/unsubscribe/:token': {
    who: 'anybody',
    level: 'none',
    path: () => '/v3/reports/unsubscribe/t',
  },
  'POST /v3/reports/unsubscribe/:token': {
    who: 'anybody',
    level: 'none',
    path: () => '/v3/reports/unsubscribe/t',
  },
  'GET /v3/annotations': {
    needs: ['dashboard', 'read'],
    who: 'permitted',
    level: 'workspaceList',
    path: (of) => `/v3/annotations?workspaceId=${of.workspace}`,
  },
  'POST /v3/annotations': record(
    'workspace',
    ['dashboard', 'create'],
    () => '/v3/annotations',
    (of) => ({ workspaceId: of.workspace, at: hour.from, text: 'x' }),
  ),
  'GET /v3/annotations/:id': record('workspace', ['dashboard', 'read'], annotation),
  'PUT /v3/annotations/:id': record('workspace', ['dashboard', 'update'], annotation, () => ({})),
  'GET /v3/ask': {
    needs: ['asset', 'read'],
    who: 'permitted',
    level: 'workspaceList',
    path: (of) => `/v3/ask?q=x&workspaceId=${of.workspace}`,
  },
  'POST /v3/dashboards/import': record(
    'workspace',
    ['dashboard', 'create'],
    () => '/v3/dashboards/import',
    (of) => ({ workspaceId: of.workspace, format: 'GRAFANA', source: { panels: [] } }),
  ),
  'DELETE /v3/annotations/:id': record('workspace', ['dashboard', 'delete'], annotation),
};
