// Device names: limits on topics and data keys; those beyond are removed and noted (contract 36).
import { hash, randomInt, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { defaultTopic, hasKey, keyPathsInSteps, keyPathsUpTo } from '../../model/sample.ts';
import { keysOfKnown, rememberLarge } from '../../model/json-keys.ts';
import { cutName } from '../../model/ids.ts';
import { type Quotas, quotaTable } from '../../model/quota.ts';
import { type BoundedMap, createBoundedMap } from '../../structures/caches.ts';
import { type RemovedKey, validationLimits } from './data-cleaning.ts';
import { noteCleaning, removedKeysMeta, type Validated, warning } from './sample-validation.ts';
import { allSteps, type InTurn, inTurns } from '../../structures/turns.ts';
import { createStringHash, SlotIndex } from '../../structures/hash-tables.ts';

// Name counts: numbers of topics and data keys by device, with the last signatures, in about 70 bytes each.

/** Number of different samples that most devices send. */
const recentMax = 4;
const slotsMin = 1_024;
const random32 = () => randomInt(2 ** 32);

/**
 * A device chosen at random makes room, so that a larger fleet that sends in turn is still
 * known.
 */
export class NameCounts {
  readonly #devicesMax: number;
  readonly #index = new SlotIndex();
  readonly #hashOf = createStringHash(random32(), random32());
  // Two hashes under different secrets identify the device: a million devices share both with a
  // chance of 1 in 37 million.
  readonly #checkOf = createStringHash(random32(), random32());
  #slots = newSlots(slotsMin);

  constructor(devicesMax: number) {
    this.#devicesMax = devicesMax;
  }

  get size(): number {
    return this.#index.size;
  }

  /** The slot of the device, until the next `add`. Undefined for an unknown device. */
  find(deviceId: string): number | undefined {
    const check = this.#checkOf(deviceId);
    return this.#index.find(this.#hashOf(deviceId), (slot) => this.#slots.checks[slot] === check);
  }

  /** The slot of a device that is added with counts of 0. At the limit, another device makes room. */
  add(deviceId: string): number {
    const slot = this.#freeSlot();
    const hash = this.#hashOf(deviceId);
    this.#slots.hashes[slot] = hash;
    this.#slots.checks[slot] = this.#checkOf(deviceId);
    this.#slots.topics[slot] = 0;
    this.#slots.keys[slot] = 0;
    this.#index.add(hash, slot);
    return slot;
  }

  topics(slot: number): number {
    return this.#slots.topics[slot]!;
  }

  keys(slot: number): number {
    return this.#slots.keys[slot]!;
  }

  setCounts(slot: number, topics: number, keys: number): void {
    this.#slots.topics[slot] = topics;
    this.#slots.keys[slot] = keys;
  }

  /** Whether the signature is one of the last four. */
  hasRecent(slot: number, signature: number): boolean {
    const { recent } = this.#slots;
    for (let i = slot * recentMax; i < (slot + 1) * recentMax; i++)
      if (recent[i] === signature) return true;
    return false;
  }

  /** A signature is an integer from 1 to 2^53 - 1. */
  addRecent(slot: number, signature: number): void {
    const first = slot * recentMax;
    this.#slots.recent.copyWithin(first, first + 1, first + recentMax);
    this.#slots.recent[first + recentMax - 1] = signature;
  }

  #freeSlot(): number {
    const { size } = this.#index;
    if (size < this.#devicesMax) {
      if (size === this.#slots.checks.length) this.#slots = extended(this.#slots);
      return size;
    }
    const slot = randomInt(this.#devicesMax);
    this.#index.delete(this.#slots.hashes[slot]!, slot);
    this.#slots.recent.fill(0, slot * recentMax, (slot + 1) * recentMax);
    return slot;
  }
}

interface Slots {
  readonly hashes: Uint32Array;
  readonly checks: Uint32Array;
  readonly topics: Uint32Array;
  readonly keys: Uint32Array;
  /** The last signatures of each device, the newest last. */
  readonly recent: Float64Array;
}

function newSlots(count: number): Slots {
  return {
    hashes: new Uint32Array(count),
    checks: new Uint32Array(count),
    topics: new Uint32Array(count),
    keys: new Uint32Array(count),
    recent: new Float64Array(count * recentMax),
  };
}

function extended(slots: Slots): Slots {
  const longer = newSlots(slots.checks.length * 2);
  for (const name of ['hashes', 'checks', 'topics', 'keys', 'recent'] as const)
    longer[name].set(slots[name]);
  return longer;
}

/**
 * Returns the stored key paths of a device by topic. A path is the keys from the root, joined by
 * `/`.
 */
type StoredNames = (deviceId: string) => Promise<ReadonlyMap<string, Set<string>>>;

/**
 * Devices in memory, and names of devices near their limits. Others are read again from the store.
 */
const devicesMax = 1_000_000;
const exactNamesMax = 1_000_000;
/**
 * Up to the first part of a limit every name counts as a new one. Below the second part, counting
 * restarts after an exact count.
 */
const countedPart = 1 / 2;
const restartPart = 1 / 4;

/** Keys that are read or copied in one turn, in about a millisecond. */
const keysPerTurn = 2_000;

/** Signatures that are kept, and the longest names of those: at most 8 MB. */
const signaturesMax = 4_096;
const signedCharsMax = 1_000;

type Limits = Pick<Quotas, 'topics' | 'dataKeys'>;

/** The stored names of a device by topic, and their number. */
interface ExactNames {
  readonly byTopic: Map<string, Set<string>>;
  count: number;
}

interface NamesState {
  readonly limits: Limits;
  readonly storedNames: StoredNames;
  /** Upper bounds of the numbers of names. They are exact only for devices in `near`. */
  readonly counts: NameCounts;
  readonly loading: Map<string, Promise<void>>;
  /** Devices near their limits: the names of all devices do not fit into memory. */
  readonly near: Map<string, ExactNames>;
  nearNames: number;
  /** Keeps a sender from finding two samples with the same signature. */
  readonly salt: string;
  /** By topic and paths: most samples have the names of one before. */
  readonly signatures: BoundedMap<string, number>;
  /** The sample whose names were read last: many devices are asked for the same one. */
  last: ReadNames | undefined;
}

type ReadNames = Omit<CheckedSample, 'deviceId'>;

/** A sample while its names are checked. */
interface CheckedSample {
  readonly deviceId: string;
  readonly validated: Validated;
  readonly paths: readonly string[];
  readonly signature: number;
}

export class DeviceNames {
  readonly #state: NamesState;

  constructor(limits: Limits, storedNames: StoredNames) {
    this.#state = {
      limits,
      storedNames,
      counts: new NameCounts(devicesMax),
      loading: new Map(),
      near: new Map(),
      nearNames: 0,
      salt: randomUUID(),
      signatures: createBoundedMap<string, number>(signaturesMax),
      last: undefined,
    };
  }

  /**
   * Checks validated samples of a device, in order. Returns the same objects for samples without a
   * new name beyond a limit, and a promise only when the store must be read. A new key beyond
   * `dataKeys` goes to `meta.svcDataKeyValidation`, a sample of a new topic beyond `topics` to the
   * topic `default`, as invalid names do (interface 2.3). Samples with very many keys take a turn
   * for every few thousands of them.
   */
  readonly admit = (
    deviceId: string,
    samples: readonly Validated[],
    inTurn: InTurn = inLaterTurn,
  ): readonly Validated[] | Promise<readonly Validated[]> => {
    const admitted: Validated[] = [];
    for (const validated of samples) {
      const one = admitOne(this.#state, deviceId, validated);
      if (one === undefined) {
        const rest = samples.slice(admitted.length);
        return admitSlowly(this.#state, deviceId, rest, inTurn).then((others) => [
          ...admitted,
          ...others,
        ]);
      }
      admitted.push(one);
    }
    return admitted;
  };
}

async function loadNames(state: NamesState, deviceId: string): Promise<void> {
  const { counts, near, loading } = state;
  try {
    const byTopic = new Map(await state.storedNames(deviceId));
    const count = [...byTopic.values()].reduce((sum, { size }) => sum + size, 0);
    const slot = counts.find(deviceId) ?? counts.add(deviceId);
    counts.setCounts(slot, byTopic.size, count);
    evictExact(state, deviceId);
    near.set(deviceId, { byTopic, count });
    state.nearNames += count;
    for (const id of near.keys()) {
      if (state.nearNames <= exactNamesMax || id === deviceId) break;
      evictExact(state, id);
    }
  } finally {
    loading.delete(deviceId);
  }
}

function evictExact(state: NamesState, deviceId: string): void {
  const exact = state.near.get(deviceId);
  if (exact === undefined) return;
  state.near.delete(deviceId);
  state.nearNames -= exact.count;
}

/** 48 bits of a digest, and never 0. A digest is 1 us; that of names of usual length is kept. */
function signatureOf({ salt, signatures }: NamesState, names: string): number {
  const isKept = names.length <= signedCharsMax;
  const known = isKept ? signatures.get(names) : undefined;
  if (known !== undefined) return known;
  const signature = Number.parseInt(hash('sha1', salt + names, 'hex').slice(0, 12), 16) + 1;
  if (isKept) signatures.set(names, signature);
  return signature;
}

/** Undefined when there are too many for one turn. */
function namesOf(state: NamesState, validated: Validated): ReadNames | undefined {
  if (state.last?.validated === validated) return state.last;
  const paths = keyPathsUpTo(validated.sample.data, keysPerTurn);
  return paths && readNames(state, validated, paths);
}

/** Enumerating the keys of a large object takes milliseconds before the first one, so it is done once. */
async function namesInTurns(
  state: NamesState,
  validated: Validated,
  inTurn: InTurn,
): Promise<ReadNames> {
  if (state.last?.validated === validated) return state.last;
  const reading = keyPathsInSteps(validated.sample.data, keysPerTurn);
  const first = reading.next();
  const paths = first.done === true ? first.value : await inTurns(reading, inTurn);
  return readNames(state, validated, paths);
}

function readNames(state: NamesState, validated: Validated, paths: readonly string[]): ReadNames {
  const signature = signatureOf(state, `${validated.sample.topic}\n${paths.join('\n')}`);
  state.last = { validated, paths, signature };
  return state.last;
}

/** Undefined when the exact names are needed, or the sample has very many. */
function admitOne(
  state: NamesState,
  deviceId: string,
  validated: Validated,
): Validated | undefined {
  if (state.counts.find(deviceId) === undefined) return undefined;
  const read = namesOf(state, validated);
  const admission = read && admissionOf(state, deviceId, read);
  return admission && finished(admission, state.limits);
}

/** What is admitted of a sample: all of it when nothing is refused. */
interface Admission {
  readonly validated: Validated;
  readonly topic: string;
  /** The paths of the topic, without those that are refused; undefined when none is. */
  readonly admitted: ReadonlySet<string> | undefined;
}

/** Undefined when the exact names are needed. */
function admissionOf(
  state: NamesState,
  deviceId: string,
  { validated, paths, signature }: ReadNames,
): Admission | undefined {
  const { limits, counts } = state;
  const slot = counts.find(deviceId);
  if (slot === undefined) return undefined;
  const { topic } = validated.sample;
  const complete = { validated, topic, admitted: undefined };
  if (counts.hasRecent(slot, signature)) return complete;
  const exact = state.near.get(deviceId);
  if (exact !== undefined)
    return admitExactly(state, slot, exact, { deviceId, validated, paths, signature });
  // The topic `default` is always permitted.
  const topics = counts.topics(slot) + Number(topic !== defaultTopic);
  const keys = counts.keys(slot) + paths.length;
  if (keys > limits.dataKeys * countedPart || topics > limits.topics * countedPart)
    return undefined;
  counts.setCounts(slot, topics, keys);
  counts.addRecent(slot, signature);
  return complete;
}

function isComplete({ validated, topic, admitted }: Admission): boolean {
  return topic === validated.sample.topic && admitted === undefined;
}

function finished(admission: Admission, limits: Limits): Validated {
  if (isComplete(admission)) return admission.validated;
  return allSteps(cutDown(admission, limits));
}

function admitExactly(
  state: NamesState,
  slot: number,
  exact: ExactNames,
  { deviceId, validated, paths, signature }: CheckedSample,
): Admission {
  const { limits, counts } = state;
  const storedTopic = permittedTopic(validated.sample.topic, exact.byTopic, limits);
  const names = exact.byTopic.get(storedTopic) ?? new Set<string>();
  exact.byTopic.set(storedTopic, names);
  // A set of the refused ones could be a hundred times as large.
  let isRefused = false;
  for (const path of paths) {
    if (names.has(path)) continue;
    if (exact.count >= limits.dataKeys) isRefused = true;
    else {
      names.add(path);
      exact.count += 1;
      state.nearNames += 1;
    }
  }
  const topics = exact.byTopic.size;
  counts.setCounts(slot, topics, exact.count);
  const admission = {
    validated,
    topic: storedTopic,
    admitted: isRefused ? names : undefined,
  };
  if (isComplete(admission)) counts.addRecent(slot, signature);
  if (exact.count <= limits.dataKeys * restartPart && topics <= limits.topics * restartPart)
    evictExact(state, deviceId);
  return admission;
}

/** Returns `default` instead of a new topic beyond the limit. */
function permittedTopic(
  topic: string,
  known: ReadonlyMap<string, unknown>,
  { topics }: Limits,
): string {
  if (known.has(topic) || known.size < topics) return topic;
  return defaultTopic;
}

async function admitSlowly(
  state: NamesState,
  deviceId: string,
  samples: readonly Validated[],
  inTurn: InTurn,
): Promise<Validated[]> {
  const { loading, limits } = state;
  const admitted: Validated[] = [];
  for (const validated of samples) {
    const read = await namesInTurns(state, validated, inTurn);
    let admission = admissionOf(state, deviceId, read);
    while (admission === undefined) {
      const loaded = loading.get(deviceId) ?? loadNames(state, deviceId);
      loading.set(deviceId, loaded);
      await loaded;
      admission = admissionOf(state, deviceId, read);
    }
    if (read.paths.length <= keysPerTurn) admitted.push(finished(admission, limits));
    else if (isComplete(admission)) admitted.push(validated);
    else admitted.push(await inTurns(cutDown(admission, limits), inTurn));
  }
  return admitted;
}

function inLaterTurn<T>(work: () => T): Promise<Awaited<T>> {
  return nextTurn().then(work) as Promise<Awaited<T>>;
}

/**
 * Returns the sample in the permitted topic without the refused keys, which are added to `meta` and
 * the notes.
 */
function* cutDown(
  { validated, topic, admitted }: Admission,
  limits: Limits,
): Generator<undefined, Validated> {
  const { sample, notes: before, metrics } = validated;
  const notes = [...before];
  const meta = { ...sample.meta };
  if (topic !== sample.topic) {
    const message = `topic ${cutName(sample.topic)} exceeds the device's quota of ${limits.topics} topics (limit topics)`;
    meta.svcTopicValidation = { message };
    notes.push(
      warning(`${message}; stored with topic ${topic}`, {
        topic: cutName(sample.topic),
      }),
    );
  }
  const message = `beyond the ${limits.dataKeys} ${quotaTable.dataKeys.what} that a device may have (limit dataKeys)`;
  const { data, removed, removedMore } = yield* withoutKeys(
    sample.data,
    admitted,
    message,
    keysPerTurn,
  );
  if (removed.length > 0)
    meta.svcDataKeyValidation = removedKeysMeta(meta.svcDataKeyValidation, removed);
  noteCleaning({ removed, removedMore, what: 'new' }, notes);
  return { sample: { ...sample, topic, data, meta }, notes, metrics };
}

// Takes keys out of a sample's data, keeping what was taken out for `meta`.

interface ReducedData {
  readonly data: JsonObject;
  /** At most `validationLimits.removedKeysMax`, with dotted paths. */
  readonly removed: readonly RemovedKey[];
  /** Keys removed beyond these. */
  readonly removedMore: number;
}

/**
 * A copy of the data with the values at these paths only; objects that lose all their keys go with
 * the others. All of it without a set. Steps of so many values.
 */
function* withoutKeys(
  data: JsonObject,
  admitted: ReadonlySet<string> | undefined,
  message: string,
  step: number,
): Generator<undefined, ReducedData> {
  const removed: RemovedKey[] = [];
  let removedMore = 0;
  let values = 0;
  function* reduced(
    object: JsonObject,
    prefix: string,
  ): Generator<undefined, JsonObject | undefined> {
    const kept: Record<string, Json> = {};
    const known = keysOfKnown(object);
    const keptKeys: string[] = [];
    let isEmpty = true;
    for (const key of known ?? Object.keys(object)) {
      const value = object[key] ?? null;
      const path = prefix + key;
      if (isJsonObject(value) && hasKey(value)) {
        const inner = yield* reduced(value, `${path}/`);
        if (inner === undefined) continue;
        kept[key] = inner;
        keptKeys.push(key);
        isEmpty = false;
        continue;
      }
      if (++values % step === 0) yield;
      if (admitted?.has(path) !== false) {
        kept[key] = value;
        keptKeys.push(key);
        isEmpty = false;
      } else if (removed.length >= validationLimits.removedKeysMax) removedMore += 1;
      else removed.push({ path: cutName(path.replaceAll('/', '.')), message, value });
    }
    if (known !== undefined) rememberLarge(kept, keptKeys);
    return isEmpty ? undefined : kept;
  }
  if (admitted === undefined) return { data, removed, removedMore };
  const kept = yield* reduced(data, '');
  return { data: kept ?? {}, removed, removedMore };
}
