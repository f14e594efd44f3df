// Setup of a simulation: workspace, connector, device type, data flow and devices; created once, then found.
import type { JsonObject } from '../../src/model/json.ts';
import { decoder } from './payload.ts';
import type { SimulatedDevice } from './simulation.ts';

const workspaceName = 'Simulated devices';
const databaseConnectorId = '0900000000000000';
/** Requests in flight while devices are created. */
const lanes = 16;

export interface Setup {
  readonly workspaceId: string;
  readonly connectorId: string;
  readonly uplinkSecret: string;
  readonly devices: readonly SimulatedDevice[];
  /** How many devices this run made. */
  readonly made: number;
}

export interface SetupOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly connectivity: 'HTTP' | 'MQTT' | 'COAP';
  readonly devices: number;
  readonly signal: AbortSignal;
}

type Call = (
  method: string,
  path: string,
  body?: JsonObject,
) => Promise<{ status: number; body: JsonObject }>;

/** Rejects with what the platform answered when it refuses. */
export async function setUp(options: SetupOptions): Promise<Setup> {
  const call = caller(options);
  const [organization] = await listOf(call, '/v3/organizations?size=1');
  if (organization === undefined) throw new Error('the API key belongs to no organization');
  const organizationId = idOf(organization);
  const workspaceId = await idByName(
    call,
    `/v3/workspaces?organizationId=${organizationId}`,
    '/v3/workspaces',
    {
      name: workspaceName,
      organizationId,
    },
  );
  const name = `Simulated over ${options.connectivity}`;
  const connector = await recordByName(
    call,
    `/v3/device-connectors?workspaceId=${workspaceId}`,
    '/v3/device-connectors',
    {
      name,
      workspaceId,
      connectivity: options.connectivity,
    },
  );
  const typeId = await idByName(
    call,
    `/v3/device-types?organizationId=${organizationId}`,
    '/v3/device-types',
    {
      name: 'Simulated climate sensor',
      organizationId,
      type: 'manual',
      meta: { encoding: 'HEX' },
      schemas: {},
      uplinkScript: { code: decoder },
    },
  );
  const dataFlowId = await idByName(
    call,
    `/v3/data-flows?workspaceId=${workspaceId}`,
    '/v3/data-flows',
    {
      name,
      workspaceId,
      deviceConnector: { id: idOf(connector) },
      deviceType: { id: typeId },
      outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
    },
  );
  const { connectivity } = options;
  const draft = { workspaceId, dataFlowId, connectivity, onlineTimeout: 3_600 };
  const devices = deviceNames(options.devices, connectivity.toLowerCase());
  const made = await makeDevices(call, devices, draft);
  const uplinkSecret = connector['uplinkSecret'];
  if (typeof uplinkSecret !== 'string')
    throw new Error('the API key cannot read uplink secrets: it needs dataFlow update');
  return { workspaceId, connectorId: idOf(connector), uplinkSecret, devices, made };
}

/**
 * `simulated-http-00001` and on: the devices that a simulation with a given secret expects to be
 * there.
 */
export function deviceNames(count: number, protocol: string): SimulatedDevice[] {
  return Array.from({ length: count }, (_, number) => ({
    deviceId: `simulated-${protocol}-${String(number + 1).padStart(5, '0')}`,
  }));
}

/** Makes those that are not there yet; says how many that were. */
async function makeDevices(
  call: Call,
  devices: readonly SimulatedDevice[],
  draft: JsonObject,
): Promise<number> {
  const left = [...devices];
  let made = 0;
  const lane = async (): Promise<void> => {
    for (let device = left.pop(); device !== undefined; device = left.pop()) {
      const { status, body } = await call('POST', '/v3/devices', {
        ...draft,
        ...device,
        name: device.deviceId,
      });
      if (status === 201) made += 1;
      else if (status !== 409) throw refused('/v3/devices', status, body);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return made;
}

async function idByName(
  call: Call,
  list: string,
  create: string,
  draft: JsonObject & { name: string },
): Promise<string> {
  return idOf(await recordByName(call, list, create, draft));
}

/** The record of that name; created when it does not exist. */
async function recordByName(
  call: Call,
  list: string,
  create: string,
  draft: JsonObject & { name: string },
): Promise<JsonObject> {
  const found = (
    await listOf(call, `${list}&size=1000&search=${encodeURIComponent(draft.name)}`)
  ).find(({ name }) => name === draft.name);
  if (found !== undefined) return found;
  const { status, body } = await call('POST', create, draft);
  if (status !== 201) throw refused(create, status, body);
  return body;
}

async function listOf(call: Call, path: string): Promise<JsonObject[]> {
  const { status, body } = await call('GET', path);
  if (status !== 200) throw refused(path, status, body);
  return body['content'] as JsonObject[];
}

function idOf(record: JsonObject): string {
  return String(record['id']);
}

function refused(path: string, status: number, body: JsonObject): Error {
  return new Error(`${path.split('?', 1)[0]} answered ${status}: ${String(body['message'])}`);
}

function caller({ url, apiKey, signal }: SetupOptions): Call {
  const base = url.replace(/\/+$/, '');
  return async (method, path, body) => {
    const answer = await fetch(base + path, {
      method,
      signal,
      headers: {
        'x-api-key': apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      body: text.startsWith('{') ? (JSON.parse(text) as JsonObject) : { message: text },
    };
  };
}
