// Downlink transports: one per connectivity, and the outcome of a try.
import type { Connectivity } from '../model/connector.ts';
import type { Downlink } from '../model/downlink.ts';
import type { EgressGuard } from '../outputs/egress/guard.ts';
import type { TellNetworkServer } from '../inventory/devices/registration.ts';
import type { Device } from '../model/device.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Integration } from '../model/integration.ts';
import { problem } from '../model/problem.ts';
import type { ServerDevice } from '../transports/network-servers/network-server.ts';
import { serverOfIntegration } from '../transports/network-servers/network-server-table.ts';
import { callServer } from '../transports/network-servers/server-client.ts';
import { normalEui } from '../transports/network-servers/webhook-fields.ts';

export type DownlinkOutcome =
  | { readonly outcome: 'sent' | 'acknowledged'; readonly serverReference?: string }
  /** The device is not connected; the downlink waits until the device connects. */
  | { readonly outcome: 'offline'; readonly reason: string }
  | { readonly outcome: 'retry'; readonly reason: string; readonly afterMs?: number }
  | { readonly outcome: 'failed'; readonly reason: string };

/** Sends one downlink. A failure is an outcome; the promise rejects only for an internal error. */
export type SendDownlink = (downlink: Downlink, signal: AbortSignal) => Promise<DownlinkOutcome>;

/** By connectivity; one that is missing takes none for now. */
export type DownlinkTransports = ReadonlyMap<Connectivity, SendDownlink>;

// LoRaWAN transport: downlinks and registration through the API of the network server (contract 17, 35).

interface LoraParts {
  readonly findDevice: (deviceId: string) => Promise<Device | undefined>;
  readonly findIntegration: (id: string) => Promise<Integration | undefined>;
  readonly egress: EgressGuard;
  readonly now: () => EpochMs;
}

/**
 * A device without an integration, or one whose integration names no server, keeps its downlinks
 * waiting.
 */
export function createLoraTransport(parts: LoraParts): SendDownlink {
  return async (downlink, signal) => {
    const device = await parts.findDevice(downlink.deviceId);
    const integration = device && (await integrationOf(device, parts));
    if (device === undefined || integration === undefined) {
      return { outcome: 'offline', reason: 'the device has no integration' };
    }
    const api = serverOfIntegration[integration.type].downlinks;
    if (api === undefined)
      return {
        outcome: 'offline',
        reason: 'its network server does not accept downlinks from the platform',
      };
    const { properties } = integration;
    const missing = lacking(api.needs, properties);
    if (missing !== '')
      return {
        outcome: 'offline',
        reason: `integration ${integration.name} is missing ${missing}`,
      };
    const { id, port, confirmed, payloadHex, replaces } = downlink;
    const wanted = {
      id,
      port: port ?? 1,
      confirmed: confirmed ?? false,
      payloadHex: payloadHex ?? '',
      replaces,
    };
    const calls = api.calls(wanted, serverDeviceOf(device), properties, parts.now());
    const result = await callServer(calls, parts.egress, signal);
    if (!result.ok) {
      const { retry, retryAfterMs } = result;
      const reason = `network server: ${result.reason}`;
      if (!retry) return { outcome: 'failed', reason };
      return {
        outcome: 'retry',
        reason,
        ...(retryAfterMs !== undefined && { afterMs: retryAfterMs }),
      };
    }
    const refusal = api.refusalOf?.(result.answer);
    if (refusal !== undefined) return { outcome: 'failed', reason: `network server: ${refusal}` };
    const serverReference = api.referenceOf?.(result.answer);
    return { outcome: 'sent', ...(serverReference !== undefined && { serverReference }) };
  };
}

/**
 * Tells the device's network server, where it can be told. Throws Problem when it refuses.
 */
export function createLoraRegistration(parts: LoraParts, signal: AbortSignal): TellNetworkServer {
  return async (device, work) => {
    const integration = await integrationOf(device, parts);
    if (integration === undefined) return { skipped: 'the device has no integration' };
    const { type, name, properties } = integration;
    const api = serverOfIntegration[type].registration;
    if (api === undefined || (work !== 'register' && work !== 'deregister'))
      return { skipped: `network servers of type ${type} cannot be told from here` };
    // Without an account at the server, its own console is where devices are registered.
    const missing = lacking(api.needs, properties);
    if (missing !== '') return { skipped: `integration ${name} is missing ${missing}` };
    const calls = api[work](serverDeviceOf(device), properties);
    const result = await callServer(calls, parts.egress, signal);
    if (result.ok) return undefined;
    if (result.retry) return { unreachable: result.reason };
    throw problem('networkServerRefused', { reason: result.reason });
  };
}

async function integrationOf(
  { integrationId }: Device,
  parts: LoraParts,
): Promise<Integration | undefined> {
  if (integrationId === null) return undefined;
  return parts.findIntegration(integrationId);
}

function lacking(needs: readonly string[], properties: Integration['properties']): string {
  return needs.filter((name) => properties[name] === undefined).join(' and ');
}

function serverDeviceOf({ deviceId, name, loraProperties }: Device): ServerDevice {
  const own = loraProperties?.['deviceEui'];
  const deviceEui = normalEui(typeof own === 'string' && own !== '' ? own : deviceId);
  return { deviceEui, name, loraProperties: loraProperties ?? {} };
}
