// Setup of a simulation: workspace, connector, device type, data flow and devices; created once, then found.
import { type Client, createClient, HeliographError } from '../typescript/client.ts';
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

/** Throws HeliographError with what the platform answered. */
export async function setUp(options: SetupOptions): Promise<Setup> {
  const { url, apiKey, connectivity, signal } = options;
  const client = createClient({ url, apiKey });
  const found = await client.get('/v3/organizations', { query: { size: 1 }, signal });
  const [organization] = found.content;
  if (organization === undefined) throw new Error('the API key belongs to no organization');
  const ofOrganization = { organizationId: organization.id };
  const workspace = await byName(client, '/v3/workspaces', ofOrganization, signal, {
    name: workspaceName,
  });
  const ofWorkspace = { workspaceId: workspace.id };
  const name = `Simulated over ${connectivity}`;
  const connector = await byName(client, '/v3/device-connectors', ofWorkspace, signal, {
    name,
    connectivity,
  });
  const type = await byName(client, '/v3/device-types', ofOrganization, signal, {
    name: 'Simulated climate sensor',
    type: 'manual',
    meta: { encoding: 'HEX' },
    schemas: {},
    uplinkScript: { code: decoder },
  });
  const dataFlow = await byName(client, '/v3/data-flows', ofWorkspace, signal, {
    name,
    deviceConnector: { id: connector.id },
    deviceType: { id: type.id },
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
  });
  const devices = deviceNames(options.devices, connectivity.toLowerCase());
  const draft = { ...ofWorkspace, dataFlowId: dataFlow.id, connectivity, onlineTimeout: 3_600 };
  const made = await makeDevices(client, devices, draft, signal);
  const { uplinkSecret } = connector;
  if (typeof uplinkSecret !== 'string')
    throw new Error('the API key cannot read uplink secrets: it needs dataFlow update');
  return { workspaceId: workspace.id, connectorId: connector.id, uplinkSecret, devices, made };
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
  client: Client,
  devices: readonly SimulatedDevice[],
  draft: object,
  signal: AbortSignal,
): Promise<number> {
  const left = [...devices];
  let made = 0;
  const lane = async (): Promise<void> => {
    for (let device = left.pop(); device !== undefined; device = left.pop()) {
      const body = { ...draft, ...device, name: device.deviceId };
      try {
        await client.send('post', '/v3/devices', { body, signal });
        made += 1;
      } catch (error) {
        if (!(error instanceof HeliographError) || error.status !== 409) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return made;
}

interface NamedRecord {
  readonly id: string;
  readonly name: string;
  readonly uplinkSecret?: string;
}

/** The record of that name and owner; created when it does not exist. */
async function byName(
  client: Client,
  path: '/v3/workspaces' | '/v3/device-connectors' | '/v3/device-types' | '/v3/data-flows',
  owner: Readonly<Record<string, string>>,
  signal: AbortSignal,
  draft: { readonly name: string; readonly [field: string]: unknown },
): Promise<NamedRecord> {
  const query = { ...owner, size: 1_000, search: draft.name };
  const list = (await client.get(path, { query, signal })) as { content: readonly NamedRecord[] };
  const found = list.content.find(({ name }) => name === draft.name);
  if (found !== undefined) return found;
  const answer = await client.send('post', path, { body: { ...draft, ...owner }, signal });
  return (await answer.json()) as NamedRecord;
}
