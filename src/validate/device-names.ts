// Limits on the names of a device: topics and data keys beyond the limits are removed from the sample and noted (contract 36).
import { hash, randomUUID } from 'node:crypto';
import { keyPaths } from '../model/key-paths.ts';
import { type Quotas, quotaTable } from '../model/quota.ts';
import { defaultTopic, type Sample } from '../model/sample.ts';
import {
  noteCleaning,
  removedKeysMeta,
  type ValidatedSample,
  warning,
} from './sample-validation.ts';
import { shortName } from './validation-limits.ts';
import { withoutKeys } from './without-keys.ts';
import { type BoundedMap, createBoundedMap } from '../structures/bounded-map.ts';

type Validated = ValidatedSample<Sample>;

/**
 * Returns the stored key paths of a device by topic. A path is the keys from the root, joined by
 * `/`.
 */
export type StoredNames = (deviceId: string) => Promise<ReadonlyMap<string, Set<string>>>;

export interface DeviceNames {
  /**
   * Checks validated samples of a device, in order. Returns the same objects for samples without a
   * new name beyond a limit, and a promise only when the store must be read. A new key beyond
   * `dataKeys` goes to `meta.svcDataKeyValidation`, a sample of a new topic beyond `topics` to the
   * topic `default`, as invalid names do (interface 2.3).
   */
  readonly admit: (
    deviceId: string,
    samples: readonly Validated[],
  ) => readonly Validated[] | Promise<readonly Validated[]>;
}

interface Known {
  /** Upper bounds of the counts. They are exact only with `exact`. */
  topics: number;
  keys: number;
  /** Signatures of the last samples, which have no new name. */
  readonly recent: string[];
  /**
   * Only for devices near their limits, because the names of all devices do not fit into memory.
   */
  exact: Map<string, Set<string>> | undefined;
}

/** Number of different samples that most devices send. */
const recentMax = 4;
/**
 * Devices in memory, and names of devices near their limits. Others are read again from the store.
 */
const devicesMax = 200_000;
const exactNamesMax = 1_000_000;
/**
 * Up to the first part of a limit every name counts as a new one. Below the second part, counting
 * restarts after an exact count.
 */
const countedPart = 1 / 2;
const restartPart = 1 / 4;

/** Signatures that are kept, and the longest names of those: at most 8 MB. */
const signaturesMax = 4_096;
const signedCharsMax = 1_000;

type Limits = Pick<Quotas, 'topics' | 'dataKeys'>;

interface NamesState {
  readonly limits: Limits;
  readonly storedNames: StoredNames;
  readonly devices: BoundedMap<string, Known>;
  readonly loading: Map<string, Promise<Known>>;
  /** Devices whose exact names are in memory, and the number of these names. */
  readonly near: Map<string, Known>;
  nearNames: number;
  /** Keeps a sender from finding two samples with the same signature. */
  readonly salt: string;
  /** By topic and paths: most samples have the names of one before. */
  readonly signatures: BoundedMap<string, string>;
}

/** A sample while its names are checked. */
interface CheckedSample {
  readonly deviceId: string;
  readonly validated: Validated;
  readonly paths: readonly string[];
  readonly signature: string;
}

export function createDeviceNames(limits: Limits, storedNames: StoredNames): DeviceNames {
  const state: NamesState = {
    limits,
    storedNames,
    devices: createBoundedMap<string, Known>(devicesMax),
    loading: new Map(),
    near: new Map(),
    nearNames: 0,
    salt: randomUUID(),
    signatures: createBoundedMap<string, string>(signaturesMax),
  };
  return {
    admit(deviceId, samples) {
      const known = state.devices.get(deviceId);
      const admitted: Validated[] = [];
      for (const validated of samples) {
        const one = known && admitOne(state, deviceId, known, validated);
        if (one === undefined) {
          const rest = samples.slice(admitted.length);
          return admitSlowly(state, deviceId, rest).then((others) => [...admitted, ...others]);
        }
        admitted.push(one);
      }
      return admitted;
    },
  };
}

async function loadNames(state: NamesState, deviceId: string): Promise<Known> {
  const { devices, near, loading } = state;
  try {
    const exact = new Map(await state.storedNames(deviceId));
    const keys = [...exact.values()].reduce((sum, { size }) => sum + size, 0);
    const known = devices.get(deviceId) ?? { topics: 0, keys: 0, recent: [], exact };
    devices.set(deviceId, Object.assign(known, { exact, keys, topics: exact.size }));
    if (!near.has(deviceId)) state.nearNames += keys;
    near.set(deviceId, known);
    for (const [id, oldest] of near) {
      if (state.nearNames <= exactNamesMax || id === deviceId) break;
      evictExact(state, id, oldest);
    }
    return known;
  } finally {
    loading.delete(deviceId);
  }
}

function evictExact(state: NamesState, deviceId: string, known: Known): void {
  if (state.near.delete(deviceId)) state.nearNames -= known.keys;
  known.exact = undefined;
}

function addRecent(known: Known, signature: string): void {
  known.recent.push(signature);
  if (known.recent.length > recentMax) known.recent.shift();
}

/** A digest is 1 us; that of names of usual length is kept. */
function signatureOf({ salt, signatures }: NamesState, names: string): string {
  const known = signatures.get(names);
  if (known !== undefined) return known;
  const signature = hash('sha1', salt + names, 'base64').slice(0, 12);
  if (names.length <= signedCharsMax) signatures.set(names, signature);
  return signature;
}

/** Undefined when the exact names are needed. */
function admitOne(
  state: NamesState,
  deviceId: string,
  known: Known,
  validated: Validated,
): Validated | undefined {
  const { limits } = state;
  const { topic, data } = validated.sample;
  const paths = keyPaths(data);
  const signature = signatureOf(state, `${topic}\n${paths.join('\n')}`);
  if (known.recent.includes(signature)) return validated;
  const { exact } = known;
  if (exact !== undefined)
    return admitExactly(state, known, exact, { deviceId, validated, paths, signature });
  // The topic `default` is always permitted.
  const topics = Number(topic !== defaultTopic);
  const isFar =
    known.keys + paths.length <= limits.dataKeys * countedPart &&
    known.topics + topics <= limits.topics * countedPart;
  if (!isFar) return undefined;
  known.keys += paths.length;
  known.topics += topics;
  addRecent(known, signature);
  return validated;
}

function admitExactly(
  state: NamesState,
  known: Known,
  exact: Map<string, Set<string>>,
  { deviceId, validated, paths, signature }: CheckedSample,
): Validated {
  const { limits } = state;
  const storedTopic = permittedTopic(validated.sample.topic, exact, limits);
  const names = exact.get(storedTopic) ?? new Set<string>();
  exact.set(storedTopic, names);
  const refused = new Set<string>();
  const keysBefore = known.keys;
  for (const path of paths) {
    if (names.has(path)) continue;
    if (known.keys >= limits.dataKeys) refused.add(path);
    else {
      names.add(path);
      known.keys += 1;
    }
  }
  state.nearNames += known.keys - keysBefore;
  known.topics = exact.size;
  const isComplete = storedTopic === validated.sample.topic && refused.size === 0;
  if (isComplete) addRecent(known, signature);
  if (known.keys <= limits.dataKeys * restartPart && known.topics <= limits.topics * restartPart)
    evictExact(state, deviceId, known);
  if (isComplete) return validated;
  return cutDown(validated, storedTopic, refused, limits);
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
): Promise<Validated[]> {
  const { devices, loading } = state;
  const admitted: Validated[] = [];
  for (const validated of samples) {
    let known = devices.get(deviceId);
    let one = known && admitOne(state, deviceId, known, validated);
    while (one === undefined) {
      const loaded = loading.get(deviceId) ?? loadNames(state, deviceId);
      loading.set(deviceId, loaded);
      known = await loaded;
      one = admitOne(state, deviceId, known, validated);
    }
    admitted.push(one);
  }
  return admitted;
}

/**
 * Returns the sample in the permitted topic without the refused keys, which are added to `meta` and
 * the notes.
 */
function cutDown(
  { sample, notes: before, metrics }: Validated,
  topic: string,
  refused: ReadonlySet<string>,
  limits: Limits,
): Validated {
  const notes = [...before];
  const meta = { ...sample.meta };
  if (topic !== sample.topic) {
    const message = `topic ${shortName(sample.topic)} is beyond the ${limits.topics} ${quotaTable.topics.what} that a device may have (limit topics)`;
    meta.svcTopicValidation = { message };
    notes.push(
      warning(`${message}: the sample is stored with topic ${topic}`, {
        topic: shortName(sample.topic),
      }),
    );
  }
  const message = `beyond the ${limits.dataKeys} ${quotaTable.dataKeys.what} that a device may have (limit dataKeys)`;
  const { data, removed, removedMore } = withoutKeys(sample.data, refused, message);
  if (removed.length > 0)
    meta.svcDataKeyValidation = removedKeysMeta(meta.svcDataKeyValidation, removed);
  noteCleaning({ removed, removedMore, what: 'new' }, notes);
  return { sample: { ...sample, topic, data, meta }, notes, metrics };
}
