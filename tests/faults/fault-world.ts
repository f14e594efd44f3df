// Fault world: devices with a decoder, an output connector and a rule, whose requests reach one sink.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { apiKey } from '../load/platform-process.ts';
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

/** Its state counts the uplinks that were decoded. */
const script = `function consume(event) {
  const count = (event.state?.count ?? 0) + 1;
  emit('state', { count });
  emit('sample', { data: { n: event.data.n, count } });
}`;

export async function createFaultWorld(
  url: string,
  deviceCount: number,
  name = 'device',
): Promise<FaultWorld> {
  const { content } = await call<{ content: { id: string; organizationId: string }[] }>(
    ...([url, 'GET', '/v3/workspaces'] as const),
  );
  const [workspace] = content;
  if (workspace === undefined) throw new Error('The cluster has no workspace');
  const sink = await startSink();
  const create = async (path: string, body: object): Promise<Record<string, string>> =>
    call(url, 'POST', path, { name: 'faults', workspaceId: workspace.id, ...body });
  const { organizationId } = workspace;
  const type = await call<{ id: string }>(url, 'POST', '/v3/device-types', {
    name: 'faults',
    organizationId,
    type: 'manual',
    meta: {},
    schemas: {},
    uplinkScript: { code: script },
  });
  const output = await create('/v3/output-connectors', webhookTo(`${sink.url}/delivery`));
  const outputConnectors = [databaseConnectorId, output['id']].map((id) => ({ id, topic: '*' }));
  const siteOver = async (connectivity: 'HTTP' | 'MQTT') => {
    const connector = await create('/v3/device-connectors', { connectivity });
    const flow = await create('/v3/data-flows', {
      deviceConnector: { id: connector['id'] },
      deviceType: { id: type.id },
      passThrough: false,
      outputConnectors,
    });
    const secret = connector['uplinkSecret'] ?? '';
    const login = connectivity === 'MQTT' ? { connectorId: connector['id'] ?? '' } : {};
    return { connectivity, dataFlowId: flow['id'], sender: { secret, ...login } };
  };
  const sites = [await siteOver('HTTP'), await siteOver('MQTT')];
  const devices: FaultDevice[] = [];
  for (let number = 0; number < deviceCount; number++) {
    const deviceId = `${name}-${number}`;
    // One of three sends over MQTT.
    const { sender, ...site } = sites[number % 3 === 2 ? 1 : 0] ?? missing('site');
    const { id = '' } = await create('/v3/devices', { name: deviceId, deviceId, ...site });
    devices.push({ id, deviceId, ...sender });
  }
  const action = await create('/v3/output-connectors', {
    ...webhookTo(`${sink.url}/action`),
    scope: 'RULE_ACTION',
    sendConsecutiveAlerts: true,
  });
  await create('/v3/rules', ruleFor(devices, action['id'] ?? ''));
  return { devices, sink };
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
