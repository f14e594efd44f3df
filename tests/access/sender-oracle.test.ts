// What an uplink secret learns of devices that are not its own, over every way in (contract 18, 39.3).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { type MqttWorld, startMqttWorld } from '../world/mqtt-world.ts';
import { makeNeighbour } from '../world/neighbour.ts';

let world: MqttWorld;
let coapPort: number;
let http: Connector;
let points: Connector;
let mqtt: Connector;
/** Physical ids, each of one place. */
let ids: {
  readonly nowhere: string;
  readonly otherOrganization: string;
  readonly otherConnector: string;
  readonly otherWorkspace: string;
};

interface Connector {
  readonly id: string;
  readonly secret: string;
}

beforeAll(async () => {
  coapPort = await freeUdpPort();
  world = await startMqttWorld({ environment: { COAP_PORT: String(coapPort) } });
  const neighbour = await makeNeighbour(world);
  http = await connector({ connectivity: 'HTTP' });
  points = await connector({ connectivity: 'HTTP', lineProtocol: { topic: '{measurement}' } });
  mqtt = await connector({ connectivity: 'MQTT' });
  const { organizationId } = world;
  const second = await world.must('POST', '/v3/workspaces', { name: 'Second', organizationId });
  ids = {
    nowhere: 'nobody',
    otherOrganization: neighbour.deviceId,
    otherConnector: (await world.device()).deviceId,
    otherWorkspace: (await world.device({ workspaceId: second.id })).deviceId,
  };
});
afterAll(() => world.close());

async function connector(fields: object): Promise<Connector> {
  const names = { name: 'own', workspaceId: world.workspaceId };
  const made = await world.must('POST', '/v3/device-connectors', { ...names, ...fields });
  await world.must('POST', '/v3/data-flows', {
    ...names,
    passThrough: true,
    deviceConnector: { id: made.id },
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
  });
  return { id: made.id, secret: made.uplinkSecret };
}

/** Without what differs from request to request. */
const plain = (text: string) =>
  text.replaceAll(/"(?:timestamp|requestId|errorId|traceId|id)":"[^"]*"/g, '');

async function send(path: string, body: string, headers: Record<string, string>) {
  const answer = await fetch(world.base + path, { method: 'POST', headers, body });
  return `${answer.status} ${plain(await answer.text())}`;
}

const capture = (secret: string, id: string, type: string, body: string) =>
  send(`/v3/capture?secret=${secret}&deviceId=${id}`, body, { 'content-type': type });

const write = (lines: string) =>
  send('/api/v2/write', lines, { authorization: `Token ${points.secret}` });

const told = (work: Promise<unknown>) =>
  work.then(
    (answer) => JSON.stringify(answer),
    (error: Error & { code?: unknown }) => `${String(error.code)} ${error.message}`,
  );

async function publish(protocolVersion: 4 | 5, id: string): Promise<string> {
  const { id: username, secret } = mqtt;
  const client = await world.clientWith({ protocolVersion, username, password: secret });
  const up = client.publishAsync(`/up/${secret}/id/${id}`, '{"v":1}', { qos: 1 });
  const published = await told(up.then((answer) => answer?.cmd));
  const subscribed = await told(client.subscribeAsync(`/down/${secret}/id/${id}/#`));
  return `${published}, ${subscribed}, ${client.connected}`;
}

/** Answers that say the same of every device that the secret does not have. */
const sameForAll: Record<string, (id: string) => Promise<string>> = {
  'line protocol': (id) => write(`m,device=${id} v=1`),
  'line protocol, with other lines': (id) => write(`m,device=neither v=1\nm,device=${id} v=1`),
  'MQTT 3.1.1': (id) => publish(4, id),
  'MQTT 5': (id) => publish(5, id),
  'a will': (id) => {
    const { id: username, secret: password } = mqtt;
    const topic = `/up/${password}/id/${id}`;
    const will = { topic, payload: Buffer.from('{"v":1}'), qos: 1, retain: false } as const;
    return told(world.clientWith({ username, password, will }).then(({ connected }) => connected));
  },
  'a token': (id) =>
    told(
      world.clientWith({
        protocolVersion: 5,
        clientId: id,
        username: 'any',
        password: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln',
      }),
    ),
  'a wrong secret': (id) => capture('wrong', id, 'application/json', '{"v":1}'),
  'SenML names that begin with the device': async (id) => {
    const own = await world.device();
    const pack = JSON.stringify([{ n: `${id}:v`, v: 1 }]);
    return capture(own.secret, own.deviceId, 'application/senml+json', pack);
  },
};

test.each(Object.entries(sameForAll))(
  'review security 9: %s tells nothing of devices elsewhere',
  async (_, ask) => {
    const unknown = (await ask(ids.nowhere)).replaceAll(ids.nowhere, 'ID');
    for (const [place, id] of Object.entries(ids))
      expect((await ask(id)).replaceAll(id, 'ID'), place).toBe(unknown);
  },
);

const withStatus: Record<string, (id: string) => Promise<string>> = {
  capture: (id) => capture(http.secret, id, 'application/json', '{"v":1}'),
  SenML: (id) => capture(http.secret, id, 'application/senml+json', '[{"n":"v","v":1}]'),
  CoAP: async (id) => {
    const { secret } = http;
    const answer = await askCoap(coapPort, { query: { secret, deviceId: id }, body: '{"v":1}' });
    return `${answer.code.replace('.', '')} ${plain(answer.text)}`;
  },
};

// Contract 18: a secret of the connector of another data flow is 403, also where this is of another workspace.
test.each(Object.entries(withStatus))(
  'review security 9: %s tells nothing of devices of other organizations, and 403 within its own',
  async (_, ask) => {
    const unknown = (await ask(ids.nowhere)).replaceAll(ids.nowhere, 'ID');
    const { otherOrganization, otherConnector, otherWorkspace } = ids;
    expect((await ask(otherOrganization)).replaceAll(otherOrganization, 'ID')).toBe(unknown);
    const forbidden = (await ask(otherConnector)).replaceAll(otherConnector, 'ID');
    expect(forbidden.slice(0, 3)).toBe('403');
    expect((await ask(otherWorkspace)).replaceAll(otherWorkspace, 'ID')).toBe(forbidden);
  },
);
