// Attacks by reference: names in a body, filter or file of a request reach nothing of other tenants.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccessWorld,
  type Acting,
  addMember,
  comparisonOf,
  type Fixtures,
  makeFixtures,
  signIn,
  mailSettings,
  reportOf,
  startAccessWorld,
} from './access-world.ts';

let at: AccessWorld;
/** A tenant that no attacker below can reach; every name of theirs contains this word. */
const mark = 'victim';
let victim: Fixtures;
let before: string;

interface Attacker {
  readonly acting: Acting;
  /** Records of the attackers, where they have every permission. */
  readonly own: Fixtures;
}
const attackers: Record<string, Attacker> = {};

beforeAll(async () => {
  at = await startAccessWorld(mailSettings);
  const { owner, otherOwner, base, world } = at;
  victim = await makeFixtures(owner, world.workspaceId, mark);
  const second = await makeFixtures(owner, at.secondWorkspaceId, 'own');
  const other = await makeFixtures(otherOwner, at.otherWorkspaceId, 'other');
  const email = 'editor@example.org';
  await addMember(base, owner, `/v3/workspaces/${at.secondWorkspaceId}`, email, 'EDITOR');
  attackers['a key of another workspace'] = {
    acting: await at.key({ workspaces: [{ id: second.workspace }] }),
    own: second,
  };
  attackers['a token of another workspace'] = {
    acting: await at.client({ workspaces: [{ id: second.workspace }] }),
    own: second,
  };
  attackers['a member of another workspace'] = { acting: await signIn(base, email), own: second };
  attackers['the owner of another organization'] = { acting: otherOwner, own: other };
  before = await everythingOf(victim);
});
afterAll(() => at.close());

/** The victim's records as their owner sees them. */
async function everythingOf(of: Fixtures): Promise<string> {
  const paths = [
    `/v3/devices/${of.device}`,
    `/v3/tags/${of.tag}`,
    `/v3/places/${of.place}`,
    `/v3/data-flows/${of.dataFlow}`,
    `/v3/device-connectors/${of.deviceConnector}`,
    `/v3/device-types/${of.deviceType}`,
    `/v3/custom-fields/meta/${of.customField}`,
    `/v3/dashboards/${of.dashboard}`,
    `/v3/dashboard-groups/${of.dashboardGroup}`,
    `/v3/blobs/${of.blob}`,
    `/v3/workspaces/${of.workspace}`,
    `/v3/organizations/${of.organization}`,
    `/v3/operations/${of.operation}`,
    `/v3/exports/${of.sampleExport}`,
    `/v3/rules/${of.rule}`,
    `/v3/calculations/${of.calculation}`,
    `/v3/mutes/${of.mute}`,
    `/v3/on-call/${of.onCall}`,
    `/v3/annotations/${of.annotation}`,
    `/v3/reports/${of.report}`,
    `/v3/rules/custom/${of.customLogic}`,
    `/v3/devices/${of.device}/configuration`,
    `/v3/assets?workspaceId=${of.workspace}`,
    `/v3/workspaces/${of.workspace}/members`,
  ];
  const read = await Promise.all(paths.map((path) => at.owner.must('GET', path)));
  return JSON.stringify(read, (key, value) => (key === 'lastUsed' ? undefined : value));
}

const calculationOf = (own: Fixtures) => ({
  ...{ name: 'x', workspaceId: own.workspace, topic: 'default', period: 'PT1H' },
  deviceIds: [own.device],
  target: { deviceId: own.device, topic: 'group' },
  outputs: [{ key: 'devices', count: 'TOTAL' }],
});

type Request = (
  own: Fixtures,
) => readonly [method: string, path: string, body?: unknown, type?: string];
const csv = 'text/csv';
const filter = (field: string, ...values: unknown[]) => ({ field, predicate: 'IN', values });
const oneOf = (...expressions: object[]) => ({ operator: 'OR', expressions });
const kpi = {
  topic: 'default',
  dataKey: 'a',
  accumulator: 'MAX',
  interval: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
};
const draft = (own: Fixtures) => ({
  name: 'x',
  deviceId: `x-${Math.random()}`,
  workspaceId: own.workspace,
  dataFlowId: own.dataFlow,
});
const named = (own: Fixtures) => ({ name: 'x', workspaceId: own.workspace });

/** Rejected for every caller. */
const refused: Record<string, Request> = {
  'a device in the workspace of others': (own) => [
    'POST',
    '/v3/devices',
    { ...draft(own), workspaceId: victim.workspace },
  ],
  'a device on the flow of others': (own) => [
    'POST',
    '/v3/devices',
    { ...draft(own), dataFlowId: victim.dataFlow },
  ],
  'a device with the tag of others': (own) => [
    'POST',
    '/v3/devices',
    { ...draft(own), tags: [{ id: victim.tag }] },
  ],
  'a device at the place of others': (own) => [
    'POST',
    '/v3/devices',
    { ...draft(own), placeId: victim.place },
  ],
  'a place below that of others': (own) => [
    'POST',
    '/v3/places',
    { workspaceId: own.workspace, name: 'x', parentId: victim.place },
  ],
  'a place with the file of others': (own) => [
    'PUT',
    `/v3/places/${own.place}`,
    { plan: { blobId: victim.blob } },
  ],
  'a device with a value in the field of others': (own) => [
    'POST',
    '/v3/devices',
    { ...draft(own), customFields: [{ fieldMetaId: victim.customField, STRING: 'x' }] },
  ],
  'a device of the integration of others': (own) => [
    'POST',
    '/v3/devices',
    { ...draft(own), integrationId: '06ff' },
  ],
  'moving the own device to the flow of others': (own) => [
    'PUT',
    `/v3/devices/${own.device}`,
    { dataFlowId: victim.dataFlow },
  ],
  'tagging the own device with the tag of others': (own) => [
    'PUT',
    `/v3/devices/${own.device}`,
    { tags: [{ id: own.tag }, { id: victim.tag }] },
  ],
  'the field of others, as read, on the own device': (own) => [
    'PUT',
    `/v3/devices/${own.device}`,
    { customFields: [{ meta: { id: victim.customField, name: 'own record' }, STRING: 'x' }] },
  ],
  'a flow with the connector of others': (own) => [
    'POST',
    '/v3/data-flows',
    { ...named(own), deviceConnector: { id: victim.deviceConnector } },
  ],
  'the configuration of a device, said to be of the workspace of others': (own) => [
    'POST',
    `/v3/devices/${own.device}/configuration`,
    { workspaceId: victim.workspace, configuration: {} },
  ],
  'a configuration of the device of others': (own) => [
    'POST',
    `/v3/devices/${victim.device}/configuration`,
    { workspaceId: own.workspace, configuration: {} },
  ],
  'a credential of the device of others': (own) => [
    'POST',
    `/v3/device-authorization/devices/${victim.device}/credentials`,
    { akenzaDeviceId: own.device, algorithm: 'EC256_PEM', publicKey: 'x' },
  ],
  'a calculation over the tag of others': (own) => [
    'POST',
    '/v3/calculations',
    { ...calculationOf(own), deviceIds: null, tagId: victim.tag },
  ],
  'a calculation over a device of others': (own) => [
    'POST',
    '/v3/calculations',
    { ...calculationOf(own), deviceIds: [victim.device] },
  ],
  'a calculation that writes to a device of others': (own) => [
    'POST',
    '/v3/calculations',
    { ...calculationOf(own), target: { deviceId: victim.device, topic: 'group' } },
  ],
  'moving the own calculation to the tag of others': (own) => [
    'PUT',
    `/v3/calculations/${own.calculation}`,
    { tagId: victim.tag, deviceIds: null },
  ],
  'a preview over the tag of others': (own) => [
    'POST',
    '/v3/calculations/preview',
    { calculation: { ...calculationOf(own), deviceIds: null, tagId: victim.tag } },
  ],
  'an annotation of a device of others': (own) => [
    'POST',
    '/v3/annotations',
    { workspaceId: own.workspace, at: '2026-01-01T00:00:00Z', text: 'x', deviceId: victim.device },
  ],
  'moving the own annotation to a place of others': (own) => [
    'PUT',
    `/v3/annotations/${own.annotation}`,
    { placeId: victim.place },
  ],
  'a report of a dashboard of others': (own) => [
    'POST',
    '/v3/reports',
    { name: 'x', workspaceId: own.workspace, ...reportOf(victim.dashboard) },
  ],
  'the own report with a dashboard of others': (own) => [
    'PUT',
    `/v3/reports/${own.report}`,
    { dashboardId: victim.dashboard },
  ],
  'the report of others': () => ['GET', `/v3/reports/${victim.report}`],
  'sending the report of others': () => ['POST', `/v3/reports/${victim.report}/send`],
  'the annotation of others': () => ['GET', `/v3/annotations/${victim.annotation}`],
  'muting the device of others': (own) => [
    'POST',
    '/v3/mutes',
    {
      ...{ name: 'x', workspaceId: own.workspace, what: { deviceIds: [victim.device] } },
      once: { from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z' },
    },
  ],
  'the on-call order of others': () => ['GET', `/v3/on-call/${victim.onCall}`],
  'who is on call at others': () => ['GET', `/v3/on-call/${victim.onCall}/now`],
  'the mute of others': () => ['GET', `/v3/mutes/${victim.mute}`],
  'the calculation of others': () => ['GET', `/v3/calculations/${victim.calculation}`],
  'a dashboard in the group of others': (own) => [
    'POST',
    '/v3/dashboards',
    { ...named(own), groupId: victim.dashboardGroup },
  ],
  'moving the own dashboard into the group of others': (own) => [
    'PUT',
    `/v3/dashboards/${own.dashboard}`,
    { groupId: victim.dashboardGroup },
  ],
  'a file in the workspace of others': () => [
    'POST',
    `/v3/blobs?workspaceId=${victim.workspace}`,
    'x',
    'text/plain',
  ],
  'the files of others': () => ['GET', `/v3/blobs?workspaceId=${victim.workspace}`],
  'own workspace and that of others in one list': (own) => [
    'GET',
    `/v3/assets?workspaceIds=${own.workspace}&workspaceIds=${victim.workspace}`,
  ],
  'the same in brackets': (own) => [
    'GET',
    `/v3/tags?workspaceId=%5B${own.workspace}%2C%20${victim.workspace}%5D`,
  ],
  'the same in a body': (own) => [
    'POST',
    '/v3/assets/list',
    { workspaceIds: [own.workspace, victim.workspace], organizationId: own.organization },
  ],
  'filter options of the workspace of others': () => [
    'POST',
    '/v3/assets/filter-options-v2',
    { workspaceIds: [victim.workspace] },
  ],
  'a filter on the custom field of others': (own) => [
    'POST',
    '/v3/assets/list',
    {
      workspaceIds: [own.workspace],
      expression: {
        field: 'customFields',
        customFieldName: `${mark} record`,
        predicate: 'IS_NOT_NULL',
        values: [],
      },
    },
  ],
  'moving many devices into the workspace of others': (own) => [
    'POST',
    '/v3/devices/bulk/move',
    {
      workspaceId: own.workspace,
      deviceIds: [own.device],
      targetWorkspaceId: victim.workspace,
      dataFlowId: victim.dataFlow,
    },
  ],
  'moving many devices to the flow of others': (own) => [
    'POST',
    '/v3/devices/bulk/move',
    {
      workspaceId: own.workspace,
      deviceIds: [own.device],
      targetWorkspaceId: own.workspace,
      dataFlowId: victim.dataFlow,
    },
  ],
  'tagging many devices with the tag of others': (own) => [
    'POST',
    '/v3/devices/bulk/tag',
    { workspaceId: own.workspace, deviceIds: [own.device], addTagIds: [victim.tag] },
  ],
  'bulk work in the workspace of others': () => [
    'POST',
    '/v3/devices/bulk/delete',
    { workspaceId: victim.workspace, deviceIds: [victim.device] },
  ],
  'a bulk change with a filter on the field of others': (own) => [
    'POST',
    '/v3/devices/bulk/update',
    {
      workspaceId: own.workspace,
      changes: { name: 'x' },
      expression: {
        field: 'customFields',
        customFieldName: `${mark} record`,
        predicate: 'IS_NULL',
        values: [],
      },
    },
  ],
  'a file of devices on the flow of others': (own) => [
    'POST',
    `/v3/devices/import?workspaceId=${own.workspace}`,
    `deviceId,name,dataFlow\nf-1,x,${victim.dataFlow}\n`,
    csv,
  ],
  'a file of devices with the tag of others': (own) => [
    'POST',
    `/v3/devices/import?workspaceId=${own.workspace}`,
    `deviceId,name,dataFlow,tags\nf-2,x,${own.dataFlow},${victim.tag}\n`,
    csv,
  ],
  'a file of devices into the workspace of others': () => [
    'POST',
    `/v3/devices/import?workspaceId=${victim.workspace}&dryRun=true`,
    'deviceId,name,dataFlow\n',
    csv,
  ],
  'the devices of others as a file': () => [
    'GET',
    `/v3/devices/export?workspaceId=${victim.workspace}`,
  ],
  'the operation of others': () => ['GET', `/v3/operations/${victim.operation}`],
  'the export of others': () => ['GET', `/v3/exports/${victim.sampleExport}`],
  'the file of others': () => ['GET', `/v3/exports/${victim.sampleExport}/content`],
  'an export of the workspace of others': () => [
    'POST',
    '/v3/exports',
    { workspaceId: victim.workspace },
  ],
  'the operations of others': () => ['GET', `/v3/operations?workspaceId=${victim.workspace}`],
  'what the samples of others take': () => ['GET', `/v3/usage?workspaceId=${victim.workspace}`],
  'the workspace of others as a document': () => [
    'GET',
    `/v3/workspaces/${victim.workspace}/configuration`,
  ],
  'KPIs of the devices of others': () => [
    'POST',
    '/v3/devices/query/batch',
    { ...kpi, deviceIds: [victim.device] },
  ],
  'KPIs of the tag of others': () => ['POST', `/v3/tags/${victim.tag}/query/raw/kpi`, kpi],
  'samples for the device of others': () => [
    'POST',
    `/v3/devices/${victim.device}/backfill`,
    { data: { a: 1 } },
  ],
  'a key for the workspace of others': (own) => [
    'POST',
    '/v3/api-keys',
    {
      name: 'x',
      organizationId: own.organization,
      workspaces: [{ id: own.workspace }, { id: victim.workspace }],
      permissions: {},
    },
  ],
  'an OAuth client for the workspace of others': (own) => [
    'POST',
    '/v3/oauth-clients',
    {
      name: 'x',
      organizationId: own.organization,
      workspaces: [{ id: victim.workspace }],
      permissions: {},
    },
  ],
  'a key in the organization of others': () => {
    // Within the victim's organization only its owners make keys; the attackers of it are not.
    return [
      'POST',
      '/v3/api-keys',
      { name: 'x', organizationId: victim.organization, permissions: {} },
    ];
  },
  'a role in the workspace of others': () => [
    'POST',
    `/v3/workspaces/${victim.workspace}/members`,
    { email: 'me@example.org', role: 'ADMIN' },
  ],
  'the audit log of the workspace of others': () => [
    'GET',
    `/v3/audit-logs?organizationId=${victim.organization}&workspaceId=${victim.workspace}`,
  ],
  'a rule that listens to the device of others': (own) => [
    'POST',
    '/v3/rules',
    { ...named(own), ...comparisonOf(victim.device) },
  ],
  'the own rule, listening to the device of others from now on': (own) => [
    'PUT',
    `/v3/rules/${own.rule}`,
    { name: 'x', active: true, ...comparisonOf(victim.device) },
  ],
};

/** Answered, with nothing of others in it. */
const answeredWithout: Record<string, Request> = {
  'a filter on the workspace of others': (own) => [
    'POST',
    '/v3/assets/list',
    { workspaceIds: [own.workspace], expression: filter('workspaceId', victim.workspace) },
  ],
  'a filter on ids of others, or anything': (own) => [
    'POST',
    '/v3/assets/list',
    {
      workspaceIds: [own.workspace],
      expression: oneOf(
        filter('id', victim.device),
        filter('tags.id', victim.tag),
        filter('dataFlow', victim.dataFlow),
      ),
    },
  ],
  'a filter on names of others': (own) => [
    'POST',
    '/v3/assets/list',
    {
      workspaceIds: [own.workspace],
      expression: oneOf(
        filter('tags.name', `${mark} record`),
        filter('dataFlow.name', `${mark} record`),
      ),
    },
  ],
  'a search for the device of others': (own) => [
    'GET',
    `/v3/assets?workspaceId=${own.workspace}&search=${mark}`,
  ],
  'a list of ids of others': (own) => [
    'GET',
    `/v3/assets?workspaceId=${own.workspace}&assetIds=${victim.device}&tags.ids=${victim.tag}`,
  ],
  'bulk work on devices of others by id': (own) => [
    'POST',
    '/v3/devices/bulk/delete',
    { workspaceId: own.workspace, deviceIds: [victim.device] },
  ],
  'bulk changes of devices of others': (own) => [
    'POST',
    '/v3/devices/bulk/update',
    { workspaceId: own.workspace, devices: [{ id: victim.device, name: 'stolen' }] },
  ],
  'bulk deregistration of devices of others': (own) => [
    'POST',
    '/v3/devices/bulk/deregister',
    { workspaceId: own.workspace, deviceIds: [victim.device] },
  ],
  'new devices on the flow of others, many at once': (own) => [
    'POST',
    '/v3/devices/bulk/create',
    {
      workspaceId: own.workspace,
      devices: [{ ...draft(own), dataFlowId: victim.dataFlow, workspaceId: victim.workspace }],
    },
  ],
  'what is reached by a scope': (own) => [
    'GET',
    `/v3/workspace-access?organizationId=${own.organization}&scope=ASSET&verb=READ`,
  ],
  'filter options of the own workspace': (own) => [
    'POST',
    '/v3/assets/filter-options-v2',
    { workspaceIds: [own.workspace] },
  ],
};

const send = ({ acting, own }: Attacker, request: Request) => {
  const [method, path, body, type] = request(own);
  return acting.call(method, path, body, type === undefined ? {} : { 'content-type': type });
};

const names = [
  'a key of another workspace',
  'a token of another workspace',
  'a member of another workspace',
  'the owner of another organization',
];

describe.each(names)('%s', (name) => {
  test.each(Object.entries(refused))(
    '%s is refused without a word of it',
    async (...[, request]) => {
      const { status, body } = await send(attackers[name]!, request);
      expect([400, 403, 404], JSON.stringify(body)).toContain(status);
      // A rejection can contain what was sent, and nothing else.
      expect(
        JSON.stringify(body).replaceAll(`unknown custom field ${mark} record`, ''),
      ).not.toContain(mark);
    },
  );

  test.each(Object.entries(answeredWithout))('%s: nothing of others', async (...[, request]) => {
    const { status, body } = await send(attackers[name]!, request);
    expect([200, 202], JSON.stringify(body)).toContain(status);
    if (status === 202) {
      const ended = await settled(attackers[name]!.acting, body.id);
      expect(ended.actionsFailed).toBe(ended.totalActionsRequired);
      for (const action of ended.actions) {
        expect(action.data.errorCode).toMatch(/^40(400_NOT_FOUND|010_UNKNOWN_REFERENCE)$/);
        expect(JSON.stringify(action)).not.toContain(mark);
      }
      return;
    }
    if (body.totalElements !== undefined) expect(body.totalElements).toBe(0);
    expect(JSON.stringify(body)).not.toContain(mark);
    expect(JSON.stringify(body)).not.toContain(victim.workspace);
  });
});

async function settled(acting: Acting, id: string): Promise<Awaited<ReturnType<Acting['must']>>> {
  for (;;) {
    const operation = await acting.must('GET', `/v3/operations/${id}`);
    if (operation.completed !== null) return operation;
  }
}

test('after all that the victim has what it had', async () => {
  expect(await everythingOf(victim)).toBe(before);
});
