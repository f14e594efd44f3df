// Downlink transports: one per connectivity, and the outcome of a try.
import type { Connectivity, Integration } from '../model/connector.ts';
import type { Downlink } from '../model/downlink.ts';
import type { EgressGuard } from '../outputs/egress/guard.ts';
import type { TellNetworkServer } from '../inventory/devices/registration.ts';
import type { Device } from '../model/device.ts';
import { type EpochMs, hourMs } from '../model/instant.ts';
import { problem, Problem } from '../model/problem.ts';
import type { ServerCall, ServerDevice } from '../transports/network-servers/network-server.ts';
import { serverOfIntegration } from '../transports/network-servers/network-server-table.ts';
import { normalEui } from '../transports/network-servers/webhook-fields.ts';
import { parsedJson } from '../model/json-keys.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { EgressRefused, readHttpUrl } from '../outputs/egress/host-check.ts';
import type { HttpCall } from '../outputs/egress/http-exchange.ts';

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

// HTTP client of network server APIs: uses the egress guard, separates permanent from temporary errors.

const clientLimits = {
  timeoutMs: 10_000,
  answerBytesMax: 64 * 1024,
  reasonLengthMax: 300,
  retryAfterMsMax: hourMs,
} as const;

type ServerAnswer =
  | { readonly ok: true; readonly answer: JsonObject }
  | {
      readonly ok: false;
      readonly retry: boolean;
      readonly reason: string;
      readonly retryAfterMs?: number;
    };

/**
 * Makes the calls in order until one fails; the answer is the last one's. Reasons hold no
 * credentials.
 */
async function callServer(
  calls: readonly ServerCall[],
  egress: EgressGuard,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  let last: ServerAnswer = { ok: true, answer: {} };
  for (const call of calls) {
    last = await callOnce(call, egress, signal);
    if (!last.ok) return last;
  }
  return last;
}

async function callOnce(
  { method, url, headers, body, alsoAccepted = [] }: ServerCall,
  egress: EgressGuard,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  try {
    if (readHttpUrl(url) === undefined) throw new EgressRefused(url, 'unreadable');
    const request: HttpCall = {
      method,
      url,
      headers: {
        accept: 'application/json',
        'user-agent': 'heliograph',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      answerBytesMax: clientLimits.answerBytesMax,
    };
    const timeout = AbortSignal.timeout(clientLimits.timeoutMs);
    const answer = await egress.request(request, AbortSignal.any([signal, timeout]));
    const { status } = answer;
    const text = answer.text.trim();
    const isGood = status >= 200 && status < 300;
    if (isGood || alsoAccepted.includes(status)) return { ok: true, answer: objectFrom(text) };
    const reason = `it returned ${status} ${text.slice(0, clientLimits.reasonLengthMax)}`.trim();
    const isTemporary = status === 408 || status === 429 || status >= 500;
    if (!isTemporary) return { ok: false, retry: false, reason };
    const retryAfterMs = retryAfterOf(answer.retryAfter);
    return { ok: false, retry: true, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  } catch (error) {
    return troubleOf(error);
  }
}

function troubleOf(error: unknown): ServerAnswer {
  const causes: unknown[] = [error];
  for (
    let at = error;
    at instanceof Error && at.cause !== undefined && causes.length < 5;
    at = at.cause
  )
    causes.push(at.cause);
  const refused = causes.find(
    (cause) => cause instanceof EgressRefused || cause instanceof Problem,
  );
  if (refused instanceof Error) return { ok: false, retry: false, reason: refused.message };
  const told = causes.findLast((cause) => cause instanceof Error && cause.message !== '') as
    | Error
    | undefined;
  let reason = `it is unreachable: ${told?.message ?? 'unknown error'}`;
  if (error instanceof Error && error.name === 'TimeoutError')
    reason = `it timed out after ${clientLimits.timeoutMs / 1_000} s`;
  return { ok: false, retry: true, reason };
}

function objectFrom(text: string): JsonObject {
  try {
    const value = parsedJson(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function retryAfterOf(header: string | undefined): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  if (!Number.isFinite(seconds) || seconds < 0) return undefined;
  return Math.min(seconds * 1_000, clientLimits.retryAfterMsMax);
}
