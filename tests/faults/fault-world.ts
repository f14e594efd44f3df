// Fault world: devices with a decoder, an output connector and a rule, whose requests reach one sink.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { apiKey } from '../load/platform-process.ts';
import { placeInTurns } from '../world/placed-workspaces.ts';
import type { FaultRig } from './fault-rig.ts';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { missing } from '../../src/structures/missing.ts';

export interface FaultDevice {
  readonly id: string;
  readonly deviceId: string;
  readonly secret: string;
  /** Of a device that sends over MQTT. */
  readonly connectorId?: string;
}

/** A request that reached the sink. */
export interface Arrival {
  readonly deliveryId: string;
  readonly deviceId: string;
  readonly n: number;
}

export type Outlet = 'delivery' | 'action';

export interface Sink {
  readonly url: string;
  /** In the order they came. */
  arrivals(outlet: Outlet): readonly Arrival[];
  close(): Promise<void>;
}

export interface FaultWorld {
  readonly devices: readonly FaultDevice[];
  readonly sink: Sink;
}

/** In one workspace: six of them are at three nodes. */
const devicesPerSite = 2;

/** Its state counts the uplinks that were decoded. */
const script = `function consume(event) {
  const count = (event.state?.count ?? 0) + 1;
  emit('state', { count });
  emit('sample', { data: { n: event.data.n, count } });
}`;

export async function createFaultWorld(
  rig: Pick<FaultRig, 'nodes' | 'records'>,
  deviceCount: number,
  name = 'device',
): Promise<FaultWorld> {
  const [{ url } = missing('node')] = rig.nodes;
  const { content } = await call<{ content: { id: string; organizationId: string }[] }>(
    ...([url, 'GET', '/v3/workspaces'] as const),
  );
  const [first] = content;
  if (first === undefined) throw new Error('The cluster has no workspace');
  const sink = await startSink();
  const { organizationId } = first;
  const type = await call<{ id: string }>(url, 'POST', '/v3/device-types', {
    name: 'faults',
    organizationId,
    type: 'manual',
    meta: {},
    schemas: {},
    uplinkScript: { code: script },
  });
  const siteCount = Math.ceil(deviceCount / devicesPerSite);
  // The devices of a workspace are of one node.
  const sharing = { recordsUrl: rig.records.url, count: rig.nodes.length };
  const workspaceIds = await placeInTurns(sharing, siteCount, async (number) => {
    const body = { name: `${name} ${number}`, organizationId };
    return (await call<{ id: string }>(url, 'POST', '/v3/workspaces', body)).id;
  });
  const devices: FaultDevice[] = [];
  for (const [place, workspaceId] of workspaceIds.entries()) {
    const numbers = Array.from({ length: deviceCount }, (_, number) => number);
    const own = numbers.filter((number) => number % siteCount === place);
    // One of three sends over MQTT.
    const wanted = own.map((n) => ({
      deviceId: `${name}-${n}`,
      isOverMqtt: (n + Math.floor(n / siteCount)) % 3 === 2,
    }));
    devices.push(...(await createSite({ url, workspaceId, typeId: type.id, wanted, sink })));
  }
  return { devices, sink };
}

/** The devices of a workspace, with what they send to. */
async function createSite({
  url,
  workspaceId,
  typeId,
  wanted,
  sink,
}: {
  readonly url: string;
  readonly workspaceId: string;
  readonly typeId: string;
  readonly wanted: readonly { readonly deviceId: string; readonly isOverMqtt: boolean }[];
  readonly sink: Sink;
}): Promise<readonly FaultDevice[]> {
  const create = async (path: string, body: object): Promise<Record<string, string>> =>
    call(url, 'POST', path, { name: 'faults', workspaceId, ...body });
  const output = await create('/v3/output-connectors', webhookTo(`${sink.url}/delivery`));
  const outputConnectors = [databaseConnectorId, output['id']].map((id) => ({ id, topic: '*' }));
  const siteOver = async (connectivity: 'HTTP' | 'MQTT') => {
    const connector = await create('/v3/device-connectors', { connectivity });
    const flow = await create('/v3/data-flows', {
      deviceConnector: { id: connector['id'] },
      deviceType: { id: typeId },
      passThrough: false,
      outputConnectors,
    });
    const secret = connector['uplinkSecret'] ?? '';
    const login = connectivity === 'MQTT' ? { connectorId: connector['id'] ?? '' } : {};
    return { connectivity, dataFlowId: flow['id'], sender: { secret, ...login } };
  };
  const [overHttp, overMqtt] = [await siteOver('HTTP'), await siteOver('MQTT')];
  const devices: FaultDevice[] = [];
  for (const { deviceId, isOverMqtt } of wanted) {
    const { sender, ...site } = isOverMqtt ? overMqtt : overHttp;
    const { id = '' } = await create('/v3/devices', { name: deviceId, deviceId, ...site });
    devices.push({ id, deviceId, ...sender });
  }
  const action = await create('/v3/output-connectors', {
    ...webhookTo(`${sink.url}/action`),
    scope: 'RULE_ACTION',
    sendConsecutiveAlerts: true,
  });
  await create('/v3/rules', ruleFor(devices, action['id'] ?? ''));
  return devices;
}

function webhookTo(uri: string) {
  const webhookProperties = { uri, method: 'POST', contentType: 'JSON', authType: 'NONE' };
  return { type: 'WEBHOOK', webhookProperties };
}

/** Fires for every sample. */
function ruleFor(devices: readonly FaultDevice[], actionId: string) {
  const ids = devices.map(({ id }) => id);
  const source = { id: 's1', inputIds: ids, dataTopic: 'default', dataKey: 'n' };
  const operandFirst = { type: 'DATA_SOURCE', dataSourceId: source.id };
  const operandSecond = { type: 'CONSTANT', value: -1 };
  const conditions = [{ operandFirst, operator: 'GT', operandSecond, order: 0 }];
  return {
    inputs: ids.map((id) => ({ id, type: 'DEVICE' })),
    logic: {
      type: 'COMPARISON',
      dataSources: [
        { ...source, valueType: 'NUMERICAL', lastSample: false, triggerOnUplink: false },
      ],
      logicBlocks: [{ conditions, actionIds: [actionId] }],
    },
    actions: [{ id: actionId }],
  };
}

async function startSink(): Promise<Sink> {
  const arrivals: Record<Outlet, Arrival[]> = { delivery: [], action: [] };
  const server = createServer((request, response) => {
    const outlet = request.url === '/action' ? 'action' : 'delivery';
    json(request).then(
      (body) => {
        const { deviceId, data } = body as { deviceId: string; data: { n: number } };
        const deliveryId = String(request.headers['x-delivery-id']);
        arrivals[outlet].push({ deliveryId, deviceId, n: data.n });
        response.end('taken');
      },
      // The node was killed while it sent.
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals: (outlet) => arrivals[outlet],
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const answerMsMax = 30_000;

/** The body of the answer. Throws unless the call succeeds. */
export async function call<T>(
  url: string,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const answer = await fetch(url + path, {
    method,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(answerMsMax),
  });
  const read = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url}${path}: ${answer.status} ${read}`);
  // JSON lines are several documents.
  return (path.includes('format=ndjson') ? read : JSON.parse(read)) as T;
}
