// World: a whole platform for a test with real sockets, a data folder, an API key, and short calls.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlatform } from '../../src/app/platform.ts';
import type { Platform } from '../../src/app/platform-parts.ts';
import type { ClusterConfig } from '../../src/app/config/cluster-settings.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { type Answered, checkedFetch } from './checked-fetch.ts';
import { recordsSettings } from '../../src/storage/records/testing-engine.ts';
import type { Log } from '../../src/telemetry/log.ts';
import { isPaired, startPair } from './paired-platform.ts';
import { samplesSettings } from './samples-settings.ts';

const apiKey = '0123456789abcdef.00000000-0000-4000-8000-000000000001';

export type { Answered } from './checked-fetch.ts';

export interface TestDevice {
  readonly id: string;
  readonly deviceId: string;
  readonly secret: string;
  readonly dataFlowId: string;
  readonly connectorId: string;
  readonly deviceTypeId: string | null;
}

export interface World {
  readonly base: string;
  readonly apiKey: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly directory: string;
  readonly platform: Platform;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answered>;
  /** A call that must succeed; its body. */
  must(method: string, path: string, body?: unknown): Promise<Answered['body']>;
  /** A device with its own flow; scripted when a script is given, else pass-through. */
  device(options?: DeviceOptions): Promise<TestDevice>;
  capture(device: TestDevice, body: unknown, query?: Record<string, string>): Promise<Answered>;
  close(): Promise<void>;
}

export interface DeviceOptions {
  readonly script?: string;
  readonly schemas?: Record<string, unknown>;
  readonly outputs?: readonly { readonly id: string; readonly topic: string }[];
  readonly tags?: readonly { readonly id: string }[];
  readonly workspaceId?: string;
  readonly name?: string;
}

interface NodeOptions {
  readonly now?: () => number;
  readonly log?: Log;
  /** Several platforms of a cluster, whose calls go through the address. */
  readonly cluster?: ClusterConfig;
}

/** One platform, or with `CLUSTER=2` two. */
function startNodes(
  environment: Readonly<Record<string, string>>,
  { now, log, cluster }: NodeOptions,
): Promise<Platform> {
  if (isPaired && cluster === undefined) return startPair({ environment, now, log });
  const config = readConfig(environment);
  return startPlatform(cluster === undefined ? config : { ...config, cluster }, now, log);
}

/** With `EDGES=N` in the environment, threads take the connections of every platform on the real clock. */
function edgesSettings({ now }: NodeOptions): Readonly<Record<string, string>> {
  const { EDGES: edges } = process.env;
  return edges === undefined || now !== undefined ? {} : { EDGES: edges };
}

/** Starts a platform; `directory` continues on an existing data folder and leaves it in place. */
export async function startWorld(
  options: NodeOptions & {
    directory?: string;
    environment?: Record<string, string>;
    base?: string;
  } = {},
): Promise<World> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'heliograph-world-'));
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: directory,
    ADMIN_API_KEY: apiKey,
    ADMIN_PASSWORD: 'correct horse battery staple',
    MQTT_PORT: '0',
    MQTT_TLS_PORT: '0',
    COAP_PORT: '0',
    LOG_LEVEL: 'silent',
    ...(await recordsSettings(directory)),
    ...samplesSettings(directory),
    ...edgesSettings(options),
    ...options.environment,
  };
  const platform = await startNodes(environment, options);
  const base = options.base ?? `http://127.0.0.1:${platform.port}`;
  let count = 0;

  const call: World['call'] = (method, path, body, headers = {}) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    return checkedFetch(base, method, path, { 'x-api-key': apiKey, ...type, ...headers }, body);
  };
  const must: World['must'] = async (method, path, body) => {
    const answer = await call(method, path, body);
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  const { organizationId, workspaceId } = platform.tenant!;

  return {
    base,
    apiKey,
    organizationId,
    workspaceId,
    directory,
    platform,
    call,
    must,
    async device(wanted = {}) {
      const name = wanted.name ?? `device ${++count}`;
      const inWorkspace = wanted.workspaceId ?? workspaceId;
      const connector = await must('POST', '/v3/device-connectors', {
        name,
        workspaceId: inWorkspace,
        connectivity: 'HTTP',
      });
      const type =
        wanted.script === undefined && wanted.schemas === undefined
          ? null
          : await must('POST', '/v3/device-types', {
              name,
              organizationId,
              type: 'manual',
              meta: {},
              schemas: wanted.schemas ?? {},
              uplinkScript: wanted.script === undefined ? null : { code: wanted.script },
            });
      const flow = await must('POST', '/v3/data-flows', {
        name,
        workspaceId: inWorkspace,
        deviceConnector: { id: connector.id },
        deviceType: type === null ? null : { id: type.id },
        outputConnectors: wanted.outputs ?? [{ id: databaseConnectorId, topic: '*' }],
        passThrough: wanted.script === undefined,
      });
      const deviceId = `physical-${count}-${name.replaceAll(' ', '-')}`;
      const device = await must('POST', '/v3/devices', {
        name,
        deviceId,
        workspaceId: inWorkspace,
        dataFlowId: flow.id,
        connectivity: 'HTTP',
        tags: wanted.tags ?? [],
      });
      return {
        id: device.id,
        deviceId,
        secret: connector.uplinkSecret,
        dataFlowId: flow.id,
        connectorId: connector.id,
        deviceTypeId: type?.id ?? null,
      };
    },
    capture(device, body, query = {}) {
      const parameters = new URLSearchParams({
        secret: device.secret,
        deviceId: device.deviceId,
        ...query,
      });
      return call('POST', `/v3/capture?${parameters.toString()}`, body);
    },
    async close() {
      await platform.close('test');
      if (options.directory !== undefined) return;
      for (const each of [directory, `${directory}-second`])
        rmSync(each, { recursive: true, force: true });
    },
  };
}
