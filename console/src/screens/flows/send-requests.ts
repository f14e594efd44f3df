// Requests of a payload that the console sends: the payload itself, and its effects.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { ask, platform } from '../../api/platform.ts';
import { type Connector, integrationOf } from './flow-requests.ts';
import type { ServerKind } from './server-names.ts';

const exampleBody = { temperature: 21.5 };
const lastRows = 20;
const noteMs = 2_000;

/** JSON that a device may send. */
export type Payload = Readonly<Record<string, unknown>> | readonly unknown[];

/** The network server that speaks for the devices of a connector; undefined without one. */
export function useServerOf(connector: Connector): ServerKind | undefined {
  const { integrationId, decodingType } = connector;
  const integration = useQuery({
    ...integrationOf(integrationId ?? ''),
    enabled: integrationId !== null,
  });
  if (integrationId !== null) return integration.data?.type;
  return decodingType === 'NONE' ? undefined : decodingType;
}

/** What the device sent last, or an example where it never sent or it was not kept. */
export const lastPayloadOf = (deviceId: string) =>
  queryOptions({
    queryKey: ['last payload', deviceId],
    queryFn: async ({ signal }) => {
      const params = { path: { id: deviceId }, query: { size: 1 } };
      const uplinks = await ask(platform.GET('/v3/devices/{id}/uplinks', { signal, params }));
      return uplinks.content[0]?.payload ?? exampleBody;
    },
  });

interface Sent {
  readonly connector: Connector;
  readonly secret: string;
  readonly device: { readonly id: string; readonly deviceId: string };
  /** Speaks for the device and names it in its message. */
  readonly server: ServerKind | undefined;
  readonly body: Payload;
}

export interface StoredSample {
  readonly topic: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Sends a payload; resolves with its id and the samples that were stored meanwhile. */
export async function sendPayload({ device, ...sent }: Sent) {
  const before = new Set((await lastSamplesOf(device.id)).map((one) => JSON.stringify(one)));
  const { id } = await capture({ device, ...sent });
  const after = await lastSamplesOf(device.id);
  return { id, samples: after.filter((one) => !before.has(JSON.stringify(one))) };
}

/** Sends as a device or network server does: the secret is the only credential. */
function capture({ connector: { integrationId }, secret, device, server, body }: Sent) {
  // The document knows that JSON is sent, not which.
  const json = body as never;
  if (integrationId !== null) {
    const params = { path: { integrationId }, query: { secret } };
    return ask(platform.POST('/v3/capture/lora/{integrationId}', { params, body: json }));
  }
  const named = server === undefined ? { deviceId: device.deviceId } : {};
  const params = { query: { secret, ...named } };
  return ask(platform.POST('/v3/capture', { params, body: json }));
}

function lastSamplesOf(deviceId: string): Promise<readonly StoredSample[]> {
  const params = { path: { deviceId }, query: { topic: '*', limit: lastRows } };
  return ask(platform.GET('/v3/devices/{deviceId}/query', { params }));
}

/** Notes of one payload; some are written after it was acknowledged. */
export const notesOf = (deviceId: string, correlationId: string) =>
  queryOptions({
    queryKey: ['notes of payload', deviceId, correlationId],
    refetchInterval: noteMs,
    queryFn: async ({ signal }) => {
      const params = { path: { id: deviceId }, query: { size: lastRows } };
      const path = '/v3/devices/{id}/processing-logs';
      const { content } = await ask(platform.GET(path, { signal, params }));
      return content.filter((note) => note.correlationId === correlationId);
    },
  });
