// Newcomer: from a program that starts to its first sample, over the public interface only.
import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import { outputUntil } from '../world/program-output.ts';

export const adminApiKey = 'first-secret-of-a-newcomer';
const decoder = `function consume(event) { emit('sample', { data: { t: event.data.t / 10 } }); }`;

/** Settings of a platform that runs with others on this machine. */
export function newcomerSettings(dataDirectory: string): Record<string, string> {
  return {
    DATA_DIR: dataDirectory,
    ADMIN_API_KEY: adminApiKey,
    LOG_LEVEL: 'warn',
    HOST: '127.0.0.1',
    PORT: '0',
    MQTT_PORT: '0',
    COAP_PORT: '0',
  };
}

export interface StartedPlatform {
  readonly port: number;
  /** Organization and workspace of the first start. */
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Resolves with exit code and signal. */
  readonly ended: Promise<readonly unknown[]>;
  /** Sends SIGTERM, and resolves as `ended`. */
  stop(): Promise<readonly unknown[]>;
}

/** Starts the program. Resolves when it says that it is ready; rejects with its output when it ends. */
export async function startProgram(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<StartedPlatform> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  const wanted = /ready on [^:]+:(\d+)[^]*Organization +(\S+)[^]*Workspace +(\S+)[^]*API key/;
  const [, port, organizationId = '', workspaceId = ''] = await outputUntil(child, wanted);
  return {
    port: Number(port),
    organizationId,
    workspaceId,
    ended,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Creates a device, sends a payload as the device, and reads the sample. */
export async function firstSample({
  port,
  organizationId,
  workspaceId,
}: Pick<StartedPlatform, 'port' | 'organizationId' | 'workspaceId'>): Promise<void> {
  const ask = async (path: string, body?: unknown, key = true): Promise<Record<string, string>> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key && { 'x-api-key': adminApiKey }),
      },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Record<string, string>;
  };
  const connectivity = 'HTTP';
  const connector = await ask('/v3/device-connectors', { name: 'HTTP', workspaceId, connectivity });
  const { uplinkSecret = '' } = await ask(`/v3/device-connectors/${connector['id']}`);
  const type = await ask('/v3/device-types', {
    name: 'Climate',
    organizationId,
    type: 'manual',
    meta: { encoding: 'JSON' },
    uplinkScript: { code: decoder },
  });
  const flow = await ask('/v3/data-flows', {
    name: 'Climate',
    workspaceId,
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
    deviceConnector: { id: connector['id'] },
    deviceType: { id: type['id'] },
  });
  const device = await ask('/v3/devices', {
    name: 'Room 1',
    deviceId: 'room-1',
    workspaceId,
    connectivity,
    dataFlowId: flow['id'],
  });
  const query = new URLSearchParams({ secret: uplinkSecret, deviceId: 'room-1' });
  await ask(`/v3/capture?${query.toString()}`, { t: 215 }, false);
  const samples = await ask(`/v3/devices/${device['id']}/query`, { topic: 'default', limit: 1 });
  expect(samples).toMatchObject([{ data: { t: 21.5 } }]);
}
