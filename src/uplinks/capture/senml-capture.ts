// SenML capture: a pack becomes uplinks of the devices that its names begin with, each with its samples.
import type { UplinkRoute, UplinkRouteCache } from '../../inventory/devices/uplink-route-cache.ts';
import type { Note } from '../../model/entry-trace.ts';
import { type EpochMs, isWithin } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import { type KeptSamples, keptTogether } from '../../model/kept-samples.ts';
import { keptPayload } from '../../model/payload.ts';
import { Problem, problem } from '../../model/problem.ts';
import { defaultTopic, type Sample } from '../../model/sample.ts';
import { createBoundedMap } from '../../structures/caches.ts';
import {
  keyBehind,
  prefixesOf,
  type ResolvedPack,
  resolvePack,
  samplesOfValues,
  type SenmlValue,
  valuesPerStep,
} from '../../transports/senml/senml-pack.ts';
import { missing } from '../../structures/missing.ts';
import { largeWorkLimits } from '../../transports/large-work.ts';
import { type InTurn, inTurns } from '../../structures/turns.ts';
import type { WorkTurns } from '../../transports/work-turns.ts';
import {
  type Capture,
  type CaptureReceipt,
  type Captures,
  isScripted,
  uplinkOf,
} from './capture.ts';

/** Different names of a pack. */
const namesMax = 1_000;
/** Names whose devices are found in one turn: each has up to 16 prefixes. */
const namesPerTurn = 64;
/** How long a prefix is known to name no device, and how many are kept. */
const absentMs = 10_000;
const absentMax = 20_000;

interface Named {
  readonly route: UplinkRoute;
  readonly prefix: string;
}

/** Takes packs. */
export class SenmlCaptures {
  readonly #captures: Captures;
  readonly #byConnector: UplinkRouteCache['byConnector'];
  readonly #turns: WorkTurns;
  readonly #absent = createBoundedMap<string, EpochMs>(absentMax);

  constructor(captures: Captures, byConnector: UplinkRouteCache['byConnector'], turns: WorkTurns) {
    this.#captures = captures;
    this.#byConnector = byConnector;
    this.#turns = turns;
  }

  /**
   * A device with a decoder gets the pack as its body; else the values are samples: those of names
   * that begin with another device of the connector are its samples. Throws Problem 400 for a pack
   * that is not valid, and then nothing is stored.
   */
  readonly capture = (input: Capture): Promise<CaptureReceipt> => {
    if (isScripted(input.route)) return this.#captures.capture(input);
    if (input.idempotencyKey === undefined) return this.#take(input, this.#captures.now());
    return this.#captures.once(input, (once, firstSeenAt) => this.#take(once, firstSeenAt));
  };

  /** The device of the longest prefix of the name; without one, that of the request. */
  async #named(name: string, request: UplinkRoute): Promise<Named> {
    for (const prefix of prefixesOf(name)) {
      if (prefix === request.device.deviceId) return { route: request, prefix };
      const route = await this.#deviceOf(prefix, request);
      if (route !== undefined) return { route, prefix };
    }
    return { route: request, prefix: '' };
  }

  async #deviceOf(prefix: string, { connector }: UplinkRoute): Promise<UplinkRoute | undefined> {
    const key = `${connector.id} ${prefix}`;
    const since = this.#absent.get(key);
    if (since !== undefined && isWithin(absentMs, since, this.#captures.now())) return undefined;
    try {
      return await this.#byConnector(connector, prefix);
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      this.#absent.set(key, this.#captures.now());
      return undefined;
    }
  }

  async #take(input: Capture, receivedAt: EpochMs): Promise<CaptureReceipt> {
    const inTurn = turnsOf(input, this.#turns);
    const at = input.timestamp ?? receivedAt;
    const pack = await inTurns(resolvePack(input.payload.body, at), inTurn);
    const { values } = pack;
    const found = await deviceNames(values, (name) => this.#named(name, input.route), inTurn);
    const devices = await inTurns(byDevice(values, found), inTurn);
    const { topic, duplicateKey } = input;
    const kept: (KeptSamples | undefined)[] = [];
    let receipt: CaptureReceipt = { id: this.#captures.newId(), receivedAt };
    for (const [i, { route, values: own }] of devices.entries()) {
      // Of several devices, the last one is stored when all are: then the request is not repeated.
      const isLast = i === devices.length - 1;
      const key = isLast && duplicateKey !== undefined && { duplicateKey };
      const part =
        devices.length === 1 ? wholeOf(input) : partOf(own.map(({ of }) => recordOf(of)));
      const payload = { topic, timestamp: input.timestamp, ...part, ...key };
      const read = await inTurns(samplesOfValues(own), inTurn);
      const samples: Sample[] = read.map(({ meta, ...sample }) => ({
        deviceId: route.device.id,
        topic: topic ?? defaultTopic,
        ...sample,
        ...(meta !== undefined && { meta }),
      }));
      const notes = i === 0 ? refusalNotes(pack) : [];
      const uplink = {
        ...uplinkOf(payload, route, this.#captures.newId(), receivedAt),
        samples,
        notes,
      };
      kept.push(await this.#captures.handleUplink(uplink));
      receipt = { id: uplink.correlationId, receivedAt };
    }
    return { ...receipt, ...keptTogether(kept) };
  }
}

/** In the processing log of the pack's first device. */
function refusalNotes({ refusals, refusedCount }: ResolvedPack): Note[] {
  if (refusedCount === 0) return [];
  const more = refusedCount - refusals.length;
  const counted = more > 0 ? `; and ${more} more records` : '';
  const message = `Not stored: ${refusals.join('; ')}${counted}`;
  return [{ level: 'WARN', source: 'UPLINK', message }];
}

interface DeviceValues {
  readonly route: UplinkRoute;
  readonly values: { readonly key: string; readonly of: SenmlValue }[];
}

/** A small pack is taken as any other uplink, a large one in slices. */
function turnsOf({ route, payload }: Capture, turns: WorkTurns): InTurn {
  const { organizationId } = route.device;
  if (payload.bytes <= largeWorkLimits.bytesMin) return (work) => turns.run(organizationId, work);
  return (work) => turns.slice(organizationId, work);
}

async function deviceNames(
  values: readonly SenmlValue[],
  named: (name: string) => Promise<Named>,
  inTurn: InTurn,
): Promise<ReadonlyMap<string, Named>> {
  const names = [...new Set(values.map(({ name }) => name))];
  if (names.length > namesMax)
    throw problem('senmlInvalid', { reason: `it contains more than ${namesMax} names` });
  const found = new Map<string, Named>();
  for (let from = 0; from < names.length; from += namesPerTurn) {
    const some = names.slice(from, from + namesPerTurn);
    const devices = await inTurn(() => Promise.all(some.map(named)));
    for (const [i, name] of some.entries()) found.set(name, devices[i] ?? missing('device'));
  }
  return found;
}

/** In the order of their first values. */
function* byDevice(
  values: readonly SenmlValue[],
  found: ReadonlyMap<string, Named>,
): Generator<undefined, DeviceValues[]> {
  const devices = new Map<string, DeviceValues>();
  for (const [i, of] of values.entries()) {
    if (i % valuesPerStep === valuesPerStep - 1) yield;
    const device = found.get(of.name);
    if (device === undefined) continue;
    const { route, prefix } = device;
    const own = devices.get(route.device.id) ?? { route, values: [] };
    devices.set(route.device.id, own);
    own.values.push({ key: keyBehind(of.name, prefix), of });
  }
  return [...devices.values()];
}

function wholeOf({ payload, bodyBytes }: Capture) {
  return keptPayload(payload, bodyBytes);
}

function partOf(body: readonly Json[]) {
  return { body, bodyBytes: JSON.stringify(body).length };
}

/** A resolved record, as the raw uplink of a device that shares a pack with others. */
function recordOf({ name, unit, timestamp, value, sum }: SenmlValue): Json {
  const label = typeof value === 'string' ? 'vs' : typeof value === 'boolean' ? 'vb' : 'v';
  return {
    n: name,
    ...(unit !== undefined && { u: unit }),
    t: timestamp / 1_000,
    ...(value !== undefined && { [label]: value }),
    ...(sum !== undefined && { s: sum }),
  };
}
