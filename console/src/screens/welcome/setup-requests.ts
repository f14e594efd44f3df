// First setup: connector, decoder, data flow and device by ordinary requests, kept to be shown as curl.
import type { CurlRequest } from '../../api/curl.ts';
import { ask, platform, Refusal } from '../../api/platform.ts';
import { type PayloadForm, readPayload } from '../device-types/payload.ts';
import { type Connectivity, knownConnector, storeOf } from '../devices/register-requests.ts';

export interface FirstSetup {
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly name: string;
  readonly connectivity: Connectivity;
  readonly decoding: Decoding;
}

/** How a payload becomes a sample. */
export type Decoding =
  | { readonly kind: 'asItIs' }
  /** A type that declares the keys of the payload, which is stored as it is. */
  | { readonly kind: 'declared'; readonly schema: string }
  | { readonly kind: 'type'; readonly typeId: string }
  | { readonly kind: 'ownCode'; readonly code: string };

export interface Made {
  readonly what: 'connector' | 'type' | 'flow' | 'device';
  readonly id: string;
  /** Undefined for what existed. */
  readonly request?: CurlRequest;
}

const suffixMax = 99;

/**
 * Makes what is missing and returns all of it; the last is the device. `report` gets every part as
 * soon as it exists, so that a second try after a refusal continues there.
 */
export async function makeFirst(
  setup: FirstSetup,
  before: readonly Made[],
  report: (made: readonly Made[]) => void,
): Promise<readonly Made[]> {
  let made = before;
  const once = async (what: Made['what'], make: () => Promise<Omit<Made, 'what'> | undefined>) => {
    const known = made.find((one) => one.what === what);
    if (known !== undefined) return known.id;
    const done = await make();
    if (done === undefined) return undefined;
    made = [...made, { what, ...done }];
    report(made);
    return done.id;
  };
  const connector = await once('connector', () => makeConnector(setup));
  const type = await once('type', () => makeType(setup));
  const flow = await once('flow', () => makeFlow(setup, connector ?? '', type));
  await once('device', () => makeDevice(setup, flow ?? ''));
  return made;
}

async function makeConnector({ workspaceId, connectivity }: FirstSetup) {
  const known = await knownConnector(workspaceId, connectivity);
  if (known !== undefined) return { id: known };
  const body = { workspaceId, connectivity, name: connectivity };
  const { id } = await ask(platform.POST('/v3/device-connectors', { body }));
  return { id, request: posted('/v3/device-connectors', body) };
}

async function makeType({ organizationId, name, decoding }: FirstSetup) {
  if (decoding.kind === 'asItIs') return undefined;
  if (decoding.kind === 'type') return { id: decoding.typeId };
  const common = { organizationId, name: name.trim() };
  const body =
    decoding.kind === 'declared'
      ? {
          ...common,
          meta: { encoding: 'JSON' as const },
          schemas: { default: decoding.schema },
        }
      : {
          ...common,
          meta: { encoding: 'HEX' as const },
          uplinkScript: { code: decoding.code },
        };
  const { id } = await ask(platform.POST('/v3/device-types', { body }));
  return { id, request: posted('/v3/device-types', body) };
}

async function makeFlow(
  { workspaceId, name, decoding }: FirstSetup,
  connectorId: string,
  typeId: string | undefined,
) {
  const store = await storeOf(workspaceId);
  const body = {
    workspaceId,
    name: name.trim(),
    deviceConnector: { id: connectorId },
    deviceType: typeId === undefined ? null : { id: typeId },
    passThrough: decoding.kind === 'asItIs' || decoding.kind === 'declared',
    outputConnectors: store === undefined ? [] : [{ id: store, topic: '*' }],
  };
  const { id } = await ask(platform.POST('/v3/data-flows', { body }));
  return { id, request: posted('/v3/data-flows', body) };
}

/** The physical id comes from the name; one that is taken gets a number. */
async function makeDevice({ workspaceId, organizationId, name }: FirstSetup, dataFlowId: string) {
  const slug = slugOf(name);
  const query = { organizationId, search: slug, fields: 'deviceId', size: 1_000 };
  const { content } = await ask(platform.GET('/v3/assets', { params: { query } }));
  const taken = new Set(content.map(({ deviceId }) => deviceId));
  for (let number = 1; ; number += 1) {
    const deviceId = number === 1 ? slug : `${slug}-${number}`;
    // What the caller cannot see may be taken too.
    if (taken.has(deviceId)) continue;
    const body = { workspaceId, name: name.trim(), deviceId, dataFlowId };
    try {
      // oxlint-disable-next-line no-await-in-loop -- the next id is only tried when this one is taken
      const { id } = await ask(platform.POST('/v3/devices', { body }));
      return { id, request: posted('/v3/devices', body) };
    } catch (error) {
      const isTaken = error instanceof Refusal && error.status === 409;
      if (!isTaken || number >= suffixMax) throw error;
    }
  }
}

/** `Room 1` -> `room-1`; a name without a Latin letter or digit is `device`. */
function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return slug.slice(0, 60) || 'device';
}

function posted(path: string, body: unknown): CurlRequest {
  return { method: 'POST', path, body };
}

// Kept setup: what this tab made for a device and which payload it sends, over a reload.

interface KeptSetup {
  readonly made: readonly Made[];
  /** The body of an uplink. */
  readonly payload: object;
}

export const firstPayload = { temperature: 21.5 };

const placeOf = (deviceId: string) => `first setup ${deviceId}`;

export function keepSetup(deviceId: string, setup: KeptSetup): void {
  sessionStorage.setItem(placeOf(deviceId), JSON.stringify(setup));
}

export function keptSetup(deviceId: string): KeptSetup {
  const stored = sessionStorage.getItem(placeOf(deviceId));
  return stored === null ? { made: [], payload: firstPayload } : (JSON.parse(stored) as KeptSetup);
}

// Payload proposal: what a pasted payload is, the keys it has, and the schema that declares them.

interface PayloadKey {
  /** Members of objects within are joined by a dot, as the platform names them. */
  readonly key: string;
  readonly type: 'number' | 'boolean' | 'string' | 'array' | 'null';
  readonly shown: string;
}

export type Proposal =
  | { readonly form: 'empty' }
  | { readonly form: 'unreadable'; readonly problem: string }
  | {
      readonly form: 'json';
      readonly data: object;
      readonly keys: readonly PayloadKey[];
      /** JSON Schema of the data, as a string. */
      readonly schema: string;
    }
  | { readonly form: 'bytes'; readonly written: PayloadForm; readonly payloadHex: string };

const shownMax = 40;
const keysMax = 200;

/** Reads hex, base64 and JSON; a JSON value that is not an object is not a payload. */
export function proposalOf(text: string): Proposal {
  if (text.trim() === '') return { form: 'empty' };
  const read = readPayload(text, { part: 'uplinkScript', port: 1, timestamp: '', encoding: null });
  if ('problem' in read) return { form: 'unreadable', problem: read.problem };
  if (read.form === 'text') return { form: 'unreadable', problem: text };
  // An object that looks like an event of a decoder is what the device sends all the same.
  const data: unknown = read.form === 'event' ? JSON.parse(text) : read.event['data'];
  if (read.form === 'hex' || read.form === 'base64') {
    const { payloadHex } = data as { readonly payloadHex: string };
    return { form: 'bytes', written: read.form, payloadHex };
  }
  const typed: unknown = JSON.parse(text);
  if (typeof data !== 'object' || data === null || typeof typed !== 'object')
    return { form: 'unreadable', problem: JSON.stringify(typed) };
  return {
    form: 'json',
    data,
    keys: keysOf(data).slice(0, keysMax),
    schema: JSON.stringify(schemaOf(data)),
  };
}

function keysOf(value: object, path = ''): PayloadKey[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const key = path + name;
    const type = typeOf(member);
    if (type === 'object') return keysOf(member as object, `${key}.`);
    return [{ key, type, shown: String(JSON.stringify(member)).slice(0, shownMax) }];
  });
}

function schemaOf(value: unknown): object {
  const type = typeOf(value);
  // What was null once may be anything the next time.
  if (type === 'null') return {};
  if (type !== 'object') return { type };
  const members = Object.entries(value as object);
  return {
    type,
    properties: Object.fromEntries(members.map(([name, member]) => [name, schemaOf(member)])),
  };
}

function typeOf(value: unknown): PayloadKey['type'] | 'object' {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'number' || type === 'boolean' || type === 'object' ? type : 'string';
}
