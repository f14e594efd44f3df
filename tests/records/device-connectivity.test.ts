// Contract 36: a device is in a data flow whose device connector can carry it, however it came there.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Integrations } from '../../src/inventory/data-flows/integrations.ts';
import { connectivities } from '../../src/model/connector.ts';
import { ownerIn } from '../world/restricted-keys.ts';
import { type Body, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
/** By the connectivity of its connector; each is named like it. */
const flows: Record<string, string> = {};
/** Of the second workspace, over HTTP. */
let elsewhere: string;
let count = 0;

beforeAll(async () => {
  world = await startRecordsWorld();
  const { records, workspaceId, secondWorkspace, organizationId } = world;
  for (const connectivity of ['HTTP', 'MQTT', 'COAP']) {
    const { id } = await must('/v3/device-connectors', { name: 'c', workspaceId, connectivity });
    flows[connectivity] = await makeFlow(workspaceId, connectivity, id);
  }
  const draft = { name: 'Network', type: 'TTN', workspaceId } as const;
  const made = await new Integrations(records).create(ownerIn(organizationId), () => {}, draft);
  flows['LORA'] = await makeFlow(workspaceId, 'LORA', made.deviceConnector.id);
  const other = { name: 'c', workspaceId: secondWorkspace, connectivity: 'HTTP' };
  elsewhere = await makeFlow(
    secondWorkspace,
    'HTTP',
    (await must('/v3/device-connectors', other)).id,
  );
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

async function must(path: string, body: object): Promise<Body> {
  const answer = await world.admin('POST', path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}
const makeFlow = async (workspaceId: string, name: string, connectorId: string): Promise<string> =>
  (await must('/v3/data-flows', { name, workspaceId, deviceConnector: { id: connectorId } })).id;

const draft = (dataFlowId: string, connectivity?: string) => {
  const deviceId = `d-${count++}`;
  return { name: deviceId, deviceId, workspaceId: world.workspaceId, dataFlowId, connectivity };
};
const make = async (connectivity: string): Promise<Body> =>
  must('/v3/devices', draft(flows[connectivity]!, connectivity));
const change = (id: string, body: object) => world.admin('PUT', `/v3/devices/${id}`, body);

async function run(kind: string, body: object): Promise<Body> {
  const sent = { workspaceId: world.workspaceId, ...body };
  const accepted = await world.admin('POST', `/v3/devices/bulk/${kind}`, sent);
  expect(accepted.status, JSON.stringify(accepted.body)).toBe(202);
  await world.operations.idle();
  return (await world.admin('GET', `/v3/operations/${accepted.body.id}`)).body.actions;
}

async function upload(lines: readonly string[], query: string): Promise<Body> {
  const text = Buffer.from(['deviceId;name;dataFlow;connectivity', ...lines].join('\n'));
  const path = `/v3/devices/import?workspaceId=${world.workspaceId}&${query}`;
  return (await world.admin('POST', path, text, { 'content-type': 'text/csv' })).body;
}

const code = '40016_CONNECTIVITY_MISMATCH';
const reason = (device: string, connector: string) =>
  `a ${device} device cannot use a data flow whose connector is for ${connector}`;
const refusal = (device: string, connector: string) => [
  400,
  code,
  `body connectivity: ${reason(device, connector)}`,
];
const told = ({ status, body }: Body) => [status, body.errorCode, body.message];

const allowed = ['HTTP HTTP', 'MQTT MQTT', 'COAP COAP', 'LORA LORA', 'LORA HTTP'];
const pairs = connectivities.flatMap((device) =>
  connectivities.map((connector) => [device, connector] as const),
);

test.each(pairs)(
  'review behaviour 27: a %s device in a flow over %s',
  async (device, connector) => {
    const isAllowed = allowed.includes(`${device} ${connector}`);
    const target = flows[connector]!;
    const created = await world.admin('POST', '/v3/devices', draft(target, device));
    const inherits = await must('/v3/devices', draft(target));
    expect(inherits.connectivity).toBe(connector);
    const changed = await change(inherits.id, { connectivity: device });
    const ofDevice = await make(device);
    const put = await change(ofDevice.id, { dataFlowId: target });
    const both = await change((await make('HTTP')).id, {
      dataFlowId: target,
      connectivity: device,
    });
    const answers = [created, changed, put, both];
    if (isAllowed) expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200]);
    else for (const answer of answers) expect(told(answer)).toEqual(refusal(device, connector));
    const { body: kept } = await world.admin('GET', `/v3/devices/${ofDevice.id}`);
    expect([kept.connectivity, kept.dataFlowId]).toEqual([
      device,
      isAllowed ? target : flows[device],
    ]);

    const moved = await make(device);
    const stays = await make('HTTP');
    const done = [
      ...(await run('create', { devices: [draft(target, device)] })),
      ...(await run('update', { devices: [{ id: moved.id, dataFlowId: target }] })),
      ...(await run('update', {
        deviceIds: [stays.id],
        changes: { dataFlowId: target, connectivity: device },
      })),
    ];
    for (const { state, data } of done) {
      if (isAllowed) expect(state).toBe('SUCCEEDED');
      else
        expect([state, data.errorCode, data.error]).toEqual([
          'FAILED',
          code,
          expect.stringContaining(connector),
        ]);
    }

    const { deviceId } = await make(device);
    const lines = [`new-${count++};New;${connector};${device}`, `${deviceId};;${connector};`];
    const report = await upload(lines, 'dryRun=true&mode=upsert');
    const problems = [2, 3].map((line) => ({
      line,
      field: 'connectivity',
      message: reason(device, connector),
    }));
    expect(report.problems).toEqual(isAllowed ? [] : problems);
  },
);

test('review behaviour 27: a move to another workspace asks the same', async () => {
  const devices = await Promise.all(['HTTP', 'MQTT', 'LORA'].map(make));
  const target = { targetWorkspaceId: world.secondWorkspace, dataFlowId: elsewhere };
  const actions = await run('move', { deviceIds: devices.map(({ id }) => id), ...target });
  const outcomes = new Map(actions.map(({ data }: Body) => [data.id, data.errorCode]));
  expect(devices.map(({ id }) => outcomes.get(id))).toEqual([undefined, code, undefined]);
});

test('review behaviour 27: an import with one such line takes nothing and names the line', async () => {
  const lines = ['good-1;Good;HTTP;LORA', 'good-2;Good;MQTT;', 'wrong-1;Wrong;MQTT;COAP'];
  const refused = await upload(lines, '');
  expect(refused).toMatchObject({ errorCode: '40015_IMPORT_INVALID' });
  expect(refused.message).toContain(`line 4: connectivity ${reason('COAP', 'MQTT')}`);
  const accepted = await upload(lines.slice(0, 2), '');
  await world.operations.idle();
  expect((await world.admin('GET', `/v3/operations/${accepted.id}`)).body.succeeded).toBe(true);
});

test('review behaviour 27: a device that does not fit from before is changed in all else, and mended', async () => {
  const { id, deviceId } = await make('HTTP');
  const stored = world.records.db
    .updateTable('devices')
    .set({ connectivity: 'MQTT' })
    .where('id', '=', id);
  await stored.execute();
  const same = { name: 'Renamed', dataFlowId: flows['HTTP'], connectivity: 'MQTT' };
  expect((await change(id, same)).body).toMatchObject(same);
  expect(
    (await upload([`${deviceId};Again;HTTP;MQTT`], 'dryRun=true&mode=upsert')).problems,
  ).toEqual([]);
  expect((await run('update', { deviceIds: [id], changes: { onlineTimeout: 77 } }))[0].state).toBe(
    'SUCCEEDED',
  );
  expect(told(await change(id, { connectivity: 'COAP' }))).toEqual(refusal('COAP', 'HTTP'));
  expect(told(await change(id, { dataFlowId: flows['COAP'] }))).toEqual(refusal('MQTT', 'COAP'));
  expect((await change(id, { connectivity: 'HTTP' })).status).toBe(200);
});
