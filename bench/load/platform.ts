// Platform under measurement: a child process with its own folder, set up through its public interface.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import {
  type RunningServer,
  freePort,
  inTemporaryFolder,
  startServer,
  untilReady,
} from './server-process.ts';
import {
  type HttpTarget,
  httpRequest,
  inLanes,
  mustSucceed,
  openConnection,
  openConnections,
  openPatientConnection,
} from './http.ts';
import { repositoryRoot } from './measure.ts';

// As users start it: compiled code is kept between starts, and the bundle runs while it is of the sources.
const startCommand = join(repositoryRoot, 'bin', 'start.js');
export const apiKey = '2800000000000001.6f1b8a56-8d0c-4a3c-9a52-0b5d2f5c7f11';
const readyPath = '/health/ready';
const databaseConnectorId = '0900000000000000';
const setupLanes = 8;

export interface Platform {
  readonly server: RunningServer;
  readonly target: HttpTarget;
  readonly organizationId: string;
  readonly workspaceId: string;
  /** One JSON call with the API key; throws unless it succeeds. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  stop(): Promise<void>;
}

/** A data flow with its device connector. */
export interface BenchFlow {
  readonly workspaceId: string;
  readonly dataFlowId: string;
  readonly connectorId: string;
  readonly uplinkSecret: string;
  readonly connectivity: 'HTTP' | 'MQTT';
}

/**
 * Starts it on a data folder, new or old, and waits until it is ready. Settings are added to those
 * of every bench.
 */
export async function startPlatform(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Platform> {
  const port = await freePort();
  const target = { host: '127.0.0.1', port };
  const base = platformCommand(folder, port);
  const command = { ...base, env: { ...base.env, ...settings } };
  const server = startServer(command);
  await untilReady(server, () => isReady(target));
  const { organizationId, workspaceId } = await tenantOf(server, command.logPath);
  const connection = await openPatientConnection(target);
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  return {
    server,
    target,
    organizationId,
    workspaceId,
    async call<T>(method: string, path: string, body?: unknown) {
      const request = httpRequest(
        method,
        path,
        headers,
        body === undefined ? '' : JSON.stringify(body),
      );
      const text = mustSucceed(await connection.send(request)).toString();
      return (text === '' ? undefined : JSON.parse(text)) as T;
    },
    async stop() {
      connection.close();
      await server.stop();
    },
  };
}

/** Runs `work` with a new platform in a folder of its own; both are gone afterwards. */
export function withPlatform<T>(
  settings: Readonly<Record<string, string>>,
  work: (platform: Platform, folder: string) => Promise<T>,
): Promise<T> {
  return inTemporaryFolder('platform', async (folder) => {
    const platform = await startPlatform(folder, settings);
    try {
      return await work(platform, folder);
    } finally {
      await platform.stop();
    }
  });
}

// The start message contains the ids. It can arrive shortly after the first answer.
async function tenantOf(
  server: RunningServer,
  logPath: string,
): Promise<Pick<Platform, 'organizationId' | 'workspaceId'>> {
  const idOf = (name: string): string | undefined =>
    new RegExp(`^ +${name} +([0-9a-f]{16})$`, 'gm').exec(
      lastBlock(readFileSync(logPath, 'utf8')),
    )?.[1];
  await untilReady(server, async () => idOf('Workspace') !== undefined);
  return { organizationId: idOf('Organization')!, workspaceId: idOf('Workspace')! };
}

// A log of several starts holds several blocks.
function lastBlock(log: string): string {
  return log.slice(Math.max(0, log.lastIndexOf('Heliograph is ready')));
}

/** The command that starts it, for benches that time the start themselves. */
export function platformCommand(folder: string, port: number): Parameters<typeof startServer>[0] {
  return {
    command: process.execPath,
    args: [startCommand],
    logPath: join(folder, 'platform.log'),
    env: {
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: join(folder, 'data'),
      ADMIN_API_KEY: apiKey,
      MQTT_PORT: '0',
      MQTT_TLS_PORT: '0',
      COAP_PORT: '0',
      LOG_LEVEL: 'warn',
      UPLINK_RATE_LIMIT_PER_SECOND: '0',
    },
  };
}

export async function isReady(target: HttpTarget): Promise<boolean> {
  const probe = await openConnection(target);
  try {
    return (await probe.send(httpRequest('GET', readyPath, {}))).status === 200;
  } finally {
    probe.close();
  }
}

/** A device type with the script, a device connector, and a data flow from it to the database. */
export async function createFlow(
  platform: Platform,
  uplinkScript: string,
  options: { readonly passThrough?: boolean; readonly connectivity?: 'HTTP' | 'MQTT' } = {},
): Promise<BenchFlow> {
  type Made = { readonly id: string };
  const { organizationId, workspaceId } = platform;
  const { passThrough = false, connectivity = 'HTTP' } = options;
  const deviceType = await platform.call<Made>('POST', '/v3/device-types', {
    name: 'bench',
    organizationId,
    type: 'manual',
    meta: {},
    uplinkScript: { code: uplinkScript },
  });
  const connector = await platform.call<Made & { uplinkSecret: string }>(
    'POST',
    '/v3/device-connectors',
    {
      name: 'bench',
      workspaceId,
      connectivity,
      authType: 'BASIC',
      decodingType: 'NONE',
    },
  );
  const flow = await platform.call<Made>('POST', '/v3/data-flows', {
    name: 'bench',
    workspaceId,
    deviceConnector: { id: connector.id },
    deviceType: { id: deviceType.id },
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
    isPassThrough: passThrough,
  });
  const { id: connectorId, uplinkSecret } = connector;
  return { workspaceId, dataFlowId: flow.id, connectorId, uplinkSecret, connectivity };
}

/** Creates devices with these physical ids; answers their service ids in the same order. */
export async function createDevices(
  platform: Platform,
  flow: BenchFlow,
  deviceIds: readonly string[],
): Promise<string[]> {
  const ids: string[] = [];
  const connections = await openConnections(platform.target, setupLanes);
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  await inLanes(connections, deviceIds, async (connection, deviceId, index) => {
    const { workspaceId, dataFlowId, connectivity } = flow;
    const body = { name: deviceId, deviceId, workspaceId, dataFlowId, connectivity };
    const answer = await connection.send(
      httpRequest('POST', '/v3/devices', headers, JSON.stringify(body)),
    );
    ids[index] = (JSON.parse(mustSucceed(answer).toString()) as { id: string }).id;
  });
  for (const connection of connections) connection.close();
  return ids;
}

/** Sends samples of the flow to the database and to these output connectors. */
export async function setOutputs(
  { call }: Platform,
  { dataFlowId }: BenchFlow,
  outputIds: readonly string[],
  passThrough = false,
): Promise<void> {
  const path = `/v3/data-flows/${dataFlowId}`;
  const flow = await call<{ name: string; deviceType: { id: string } }>('GET', path);
  await call('PUT', path, {
    name: flow.name,
    deviceType: { id: flow.deviceType.id },
    outputConnectors: [databaseConnectorId, ...outputIds].map((id) => ({ id, topic: '*' })),
    passThrough,
  });
}

const idsPerCount = 1_000;

/** How many samples of workload W the devices have, of yesterday and today by default. */
export async function countSamples(
  platform: Platform,
  ids: readonly string[],
  { fromMs = Date.now() - 86_400_000, toMs = Date.now() + 60_000 } = {},
): Promise<number> {
  const interval = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
  const query = { topic: 'default', dataKey: 'temperature', accumulator: 'COUNT', interval };
  const path = '/v3/devices/query/batch/raw/accumulated-kpi';
  let stored = 0;
  for (let i = 0; i < ids.length; i += idsPerCount) {
    const body = { ...query, deviceIds: ids.slice(i, i + idsPerCount) };
    stored += (await platform.call<{ kpi: number | null }>('POST', path, body)).kpi ?? 0;
  }
  return stored;
}
