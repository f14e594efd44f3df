// First setup: connector, decoder, data flow and device by ordinary requests, kept to be shown as curl.
import { ask, platform } from '../../api/platform.ts';
import type { CurlRequest } from '../../api/curl.ts';
import { Refusal } from '../../api/refusal.ts';
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
          schemas: { default: decoding.schema } as unknown as Record<string, never>,
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
