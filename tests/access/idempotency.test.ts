// Contract 35: every POST that makes something takes an Idempotency-Key, and does its work once for it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AccessWorld,
  comparisonOf,
  type Fixtures,
  makeFixtures,
  mailSettings,
  reportOf,
  startAccessWorld,
} from './access-world.ts';

let at: AccessWorld;
let of: Fixtures;
beforeAll(async () => {
  at = await startAccessWorld(mailSettings);
  of = await makeFixtures(at.owner, at.world.workspaceId, 'once');
});
afterAll(() => at.close());

const publicKey = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9
q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==
-----END PUBLIC KEY-----`;
const inWorkspace = () => ({ name: 'made', workspaceId: of.workspace });
const inOrganization = () => ({ name: 'made', organizationId: of.organization });
const granted = () => ({ ...inOrganization(), permissions: { asset: ['read'] } });
const bulk = () => ({ workspaceId: of.workspace, deviceIds: [of.device] });
const member = (email: string) => () => ({ email, role: 'EDITOR' });
const device = () => ({ name: 'made', deviceId: 'made', dataFlowId: of.dataFlow });

/** Path and body of each route; another body is the same with another name. */
const creates: Record<string, readonly [path: () => string, body: () => object | string]> = {
  '/v3/organizations': [() => '/v3/organizations', () => ({ name: 'made' })],
  '/v3/organizations/:id/members': [
    () => `/v3/organizations/${of.organization}/members`,
    member('one@example.org'),
  ],
  '/v3/workspaces': [() => '/v3/workspaces', inOrganization],
  '/v3/workspaces/:id/members': [
    () => `/v3/workspaces/${of.workspace}/members`,
    member('two@example.org'),
  ],
  '/v3/api-keys': [() => '/v3/api-keys', granted],
  '/v3/oauth-clients': [() => '/v3/oauth-clients', granted],
  '/v3/tags': [() => '/v3/tags', inWorkspace],
  '/v3/places': [() => '/v3/places', inWorkspace],
  '/v3/custom-fields/meta': [
    () => '/v3/custom-fields/meta',
    () => ({ ...inWorkspace(), type: 'NUMBER' }),
  ],
  '/v3/device-types': [
    () => '/v3/device-types',
    () => ({ ...inOrganization(), type: 'manual', meta: {} }),
  ],
  '/v3/device-connectors': [
    () => '/v3/device-connectors',
    () => ({ ...inWorkspace(), connectivity: 'HTTP' }),
  ],
  '/v3/integrations': [() => '/v3/integrations', () => ({ ...inWorkspace(), type: 'GENERIC' })],
  '/v3/output-connectors': [
    () => '/v3/output-connectors',
    () => ({
      ...inWorkspace(),
      scope: 'DATA_FLOW',
      type: 'WEBHOOK',
      webhookProperties: { uri: 'https://hook.example.org/' },
    }),
  ],
  '/v3/data-flows': [
    () => '/v3/data-flows',
    () => ({ ...inWorkspace(), deviceConnector: { id: of.deviceConnector }, outputConnectors: [] }),
  ],
  '/v3/devices': [() => '/v3/devices', () => ({ ...inWorkspace(), ...device() })],
  '/v3/device-authorization/devices/:id/credentials': [
    () => `/v3/device-authorization/devices/${of.device}/credentials`,
    () => ({ akenzaDeviceId: of.device, algorithm: 'EC256_PEM', publicKey }),
  ],
  '/v3/devices/:id/configuration': [
    () => `/v3/devices/${of.device}/configuration`,
    () => ({ workspaceId: of.workspace, configuration: { a: 1 } }),
  ],
  '/v3/blobs': [() => `/v3/blobs?workspaceId=${of.workspace}`, () => 'some text'],
  '/v3/dashboards': [() => '/v3/dashboards', inWorkspace],
  '/v3/exports': [
    () => '/v3/exports',
    () => ({ workspaceId: of.workspace, format: 'ndjson', deviceIds: [of.device] }),
  ],
  '/v3/rules': [() => '/v3/rules', () => ({ ...inWorkspace(), ...comparisonOf(of.device) })],
  '/v3/rules/custom': [
    () => '/v3/rules/custom',
    () => ({ ...inOrganization(), script: 'function consume(event) {}' }),
  ],
  '/v3/dashboard-groups': [() => '/v3/dashboard-groups', inWorkspace],
  '/v3/devices/import': [
    () => `/v3/devices/import?workspaceId=${of.workspace}`,
    () => `deviceId,name,dataFlow\nimported,Imported,${of.dataFlow}\n`,
  ],
  '/v3/devices/bulk/create': [
    () => '/v3/devices/bulk/create',
    () => ({ workspaceId: of.workspace, devices: [{ ...device(), deviceId: 'bulk' }] }),
  ],
  '/v3/devices/bulk/update': [
    () => '/v3/devices/bulk/update',
    () => ({ ...bulk(), changes: { name: 'b' } }),
  ],
  '/v3/devices/bulk/move': [
    () => '/v3/devices/bulk/move',
    () => ({ ...bulk(), targetWorkspaceId: of.workspace, dataFlowId: of.dataFlow }),
  ],
  '/v3/reports': [() => '/v3/reports', () => ({ ...inWorkspace(), ...reportOf(of.dashboard) })],
  '/v3/mutes': [
    () => '/v3/mutes',
    () => ({
      ...inWorkspace(),
      what: { all: true },
      once: { from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z' },
    }),
  ],
  '/v3/on-call': [
    () => '/v3/on-call',
    () => ({
      ...inWorkspace(),
      timeZone: 'Europe/Zurich',
      order: ['anna@example.org'],
      turn: 'P1D',
      startsAt: '2026-01-05T09:00:00+01:00',
    }),
  ],
  '/v3/calculations': [
    () => '/v3/calculations',
    () => ({
      ...inWorkspace(),
      deviceIds: [of.device],
      topic: 'default',
      period: 'PT1H',
      target: { deviceId: of.device, topic: 'group' },
      outputs: [{ key: 'devices', count: 'TOTAL' }],
    }),
  ],
  '/v3/dashboards/import': [
    () => '/v3/dashboards/import',
    () => ({ workspaceId: of.workspace, format: 'GRAFANA', source: { panels: [] } }),
  ],
  '/v3/annotations': [
    () => '/v3/annotations',
    () => ({ workspaceId: of.workspace, at: '2026-01-01T00:00:00Z', text: 'x' }),
  ],
  '/v3/views': [() => '/v3/views', () => ({ ...inWorkspace(), kind: 'devices', content: {} })],
  '/v3/dashboards/:id/share': [() => `/v3/dashboards/${of.dashboard}/share`, () => ({})],
  '/v3/devices/bulk/tag': [
    () => '/v3/devices/bulk/tag',
    () => ({ ...bulk(), addTagIds: [of.tag] }),
  ],
  '/v3/devices/bulk/register': [() => '/v3/devices/bulk/register', bulk],
  '/v3/devices/bulk/deregister': [() => '/v3/devices/bulk/deregister', bulk],
  '/v3/devices/bulk/activate': [() => '/v3/devices/bulk/activate', bulk],
  '/v3/devices/bulk/deactivate': [() => '/v3/devices/bulk/deactivate', bulk],
  '/v3/devices/bulk/delete': [
    () => '/v3/devices/bulk/delete',
    () => ({ ...bulk(), deviceIds: ['gone'] }),
  ],
  '/v3/device-types/:id/recalculate': [
    () => `/v3/device-types/${of.deviceType}/recalculate`,
    () => ({ source: 'SAMPLES', deviceIds: [of.device] }),
  ],
  '/v3/samples/delete': [
    () => '/v3/samples/delete',
    () => ({ workspaceId: of.workspace, deviceIds: [of.device], all: true }),
  ],
};

/** Of those that have no name, and refuse what they do not know. */
const changes: Readonly<Record<string, object>> = {
  '/v3/exports': { format: 'parquet' },
  '/v3/device-types/:id/recalculate': { source: 'UPLINKS' },
  '/v3/samples/delete': { reason: 'other' },
  '/v3/annotations': { text: 'other' },
  '/v3/dashboards/:id/share': { expires: null },
};

/** Tried where they belong, or not made to be repeated. */
const elsewhere = new Set([
  // Creates nothing that an answer shows.
  '/v3/auth/password-reset',
  // Tried with an open alarm, in 37-alarm-desk.test.ts.
  '/v3/alarms/:id/comments',
  '/v3/alarms/:id/mute',
  // Tried with a mail server, in 39.1-reports.test.ts.
  '/v3/reports/:id/send',
  // Tried with a refused uplink, in 39.3-registered-refusals.test.ts.
  '/v3/device-connectors/:id/refusals/:refusalId/register',
  '/v3/workspaces/:id/refusals/:refusalId/register',
  '/v3/capture',
  // Canceling again changes nothing.
  '/v3/operations/:id/cancel',
  // Repetitions of a frame are known by its counter.
  '/v3/capture/lora/:integrationId',
  '/v3/devices/:deviceId/backfill',
  '/v3/devices/:deviceId/backfill/bulk',
  '/v3/samples/bulk',
  // They make nothing: sending again is what is asked for.
  '/v3/output-connectors/:id/deliveries/resend',
  '/v3/deliveries/:id/resend',
  // An organization has one demo workspace: asked for again, it is the same.
  '/v3/workspaces/demo',
  // Accepted once by itself: an authenticator signs each challenge once.
  '/v3/auth/passkeys',
  // Accepted once by itself: the link is used up.
  '/v3/auth/invitations/:token',
]);

test.each(Object.entries(creates))(
  'POST %s makes one thing for one key, and answers the same again',
  async (...each) => {
    const [route, [path, body]] = each;
    const isText = typeof body() === 'string';
    const headers = {
      'idempotency-key': `key of ${route}`,
      ...(isText ? { 'content-type': route.includes('import') ? 'text/csv' : 'text/plain' } : {}),
    };
    const first = await at.owner.call('POST', path(), body(), headers);
    expect([201, 202], JSON.stringify(first.body)).toContain(first.status);
    const again = await at.owner.call('POST', path(), body(), headers);
    expect(again.status).toBe(first.status);
    // An operation may have come further in between.
    if (first.status === 202) expect(again.body.id).toBe(first.body.id);
    else expect(again.body).toEqual(first.body);
    const change = changes[route] ?? { name: 'other' };
    const other = isText ? `${body() as string} ` : { ...(body() as object), ...change };
    const reused = await at.owner.call('POST', path(), other, headers);
    expect([reused.status, reused.body.errorCode]).toEqual([422, '42200_IDEMPOTENCY_KEY_REUSED']);
  },
);

test('a secret that is shown only once is repeated only to the same key, and works', async () => {
  const headers = { 'idempotency-key': 'secret' };
  const { body } = await at.owner.call('POST', '/v3/api-keys', granted(), headers);
  const again = await at.owner.call('POST', '/v3/api-keys', granted(), headers);
  expect(again.body.secret).toBe(body.secret);
  const other = await at.owner.call('POST', '/v3/api-keys', granted(), {
    'idempotency-key': 'another',
  });
  expect(other.body.id).not.toBe(body.id);
  const foreign = { ...granted(), organizationId: at.otherOrganizationId };
  const theirs = await at.otherOwner.call('POST', '/v3/api-keys', foreign, {
    'idempotency-key': 'theirs',
  });
  expect(theirs.status).toBe(201);
});

test('every route that makes something is tried', () => {
  const making = at.world.platform.routes.filter(
    ({ method, status }) => method === 'POST' && status !== undefined,
  );
  const known = new Set([...Object.keys(creates), ...elsewhere]);
  const untried = making.filter(
    ({ path, status }) => [201, 202].includes(status ?? 0) && !known.has(path),
  );
  expect(
    untried.map(({ path }) => path),
    'add a row for each: handlers use createdOnce or answeredOnce of RecordRoutes',
  ).toEqual([]);
});
