// How many topics and data keys a device may have: new ones beyond the limit are left out of the sample, noted, never lost in silence (contract 36).
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
import { createBoundedMap } from '../structures/bounded-map.ts';

type Validated = ValidatedSample<Sample>;

/** The names that a device has in the store, by topic; a key's path is the keys from the root, joined by `/`. */
export type StoredNames = (deviceId: string) => Promise<ReadonlyMap<string, Set<string>>>;

export interface DeviceNames {
  /**
   * Checks validated samples of a device, in their order. The very same list when all may be stored as they are; a promise only when the
   * store must be asked. A new key beyond `dataKeys` goes to `meta.svcDataKeyValidation`, a sample of a new topic beyond `topics` to the
   * topic `default`, as what interface 2.3 finds invalid.
   */
  readonly admit: (
    deviceId: string,
    samples: readonly Validated[],
  ) => readonly Validated[] | Promise<readonly Validated[]>;
}

interface Known {
  /** Never less than what the device has; what they are exactly is known with `exact` alone. */
  topics: number;
  keys: number;
  /** Signatures of the samples that came last: they have no new name. */
  readonly recent: string[];
  /** Only for devices near their limits: the sets of all devices would not fit into memory. */
  exact: Map<string, Set<string>> | undefined;
}

/** Kinds of samples that most devices send. */
const recentMax = 4;
/** Devices that are remembered, and names of those near their limits; the rest is read from the store's memory again. */
const devicesMax = 200_000;
const exactNamesMax = 1_000_000;
/** Up to this part of a limit names are only counted, each as a new one; below the second it begins anew after an exact count. */
const countedPart = 1 / 2;
const anewPart = 1 / 4;

export function deviceNames(
  limits: Pick<Quotas, 'topics' | 'dataKeys'>,
  storedNames: StoredNames,
): DeviceNames {
  const devices = createBoundedMap<string, Known>(devicesMax);
  const loading = new Map<string, Promise<Known>>();
  const near = new Map<string, Known>();
  let nearNames = 0;
  // Nobody can look for two samples with one signature beforehand.
  const salt = randomUUID();

  async function load(deviceId: string): Promise<Known> {
    try {
      const exact = new Map(await storedNames(deviceId));
      const keys = [...exact.values()].reduce((sum, { size }) => sum + size, 0);
      const known = devices.get(deviceId) ?? { topics: 0, keys: 0, recent: [], exact };
      devices.set(deviceId, Object.assign(known, { exact, keys, topics: exact.size }));
      if (!near.has(deviceId)) nearNames += keys;
      near.set(deviceId, known);
      for (const [id, oldest] of near) {
        if (nearNames <= exactNamesMax || id === deviceId) break;
        leaveExact(id, oldest);
      }
      return known;
    } finally {
      loading.delete(deviceId);
    }
  }

  function leaveExact(deviceId: string, known: Known): void {
    if (near.delete(deviceId)) nearNames -= known.keys;
    known.exact = undefined;
  }

  function remember(known: Known, signature: string): void {
    known.recent.push(signature);
    if (known.recent.length > recentMax) known.recent.shift();
  }

  /** Undefined when the exact names are needed. */
  function admitOne(deviceId: string, known: Known, validated: Validated): Validated | undefined {
    const { topic, data } = validated.sample;
    const paths = keyPaths(data);
    const signature = hash('sha1', `${salt}${topic}\n${paths.join('\n')}`, 'base64').slice(0, 12);
    if (known.recent.includes(signature)) return validated;
    if (known.exact !== undefined)
      return admitExactly(deviceId, known, known.exact, { validated, paths, signature });
    // The topic `default` is always open.
    const topics = topic === defaultTopic ? 0 : 1;
    const isFar =
      known.keys + paths.length <= limits.dataKeys * countedPart &&
      known.topics + topics <= limits.topics * countedPart;
    if (!isFar) return undefined;
    known.keys += paths.length;
    known.topics += topics;
    remember(known, signature);
    return validated;
  }

  function admitExactly(
    deviceId: string,
    known: Known,
    exact: Map<string, Set<string>>,
    {
      validated,
      paths,
      signature,
    }: { validated: Validated; paths: readonly string[]; signature: string },
  ): Validated {
    const { topic } = validated.sample;
    const isTopicRefused =
      topic !== defaultTopic && !exact.has(topic) && exact.size >= limits.topics;
    const storedTopic = isTopicRefused ? defaultTopic : topic;
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
    nearNames += known.keys - keysBefore;
    known.topics = exact.size;
    const isWhole = !isTopicRefused && refused.size === 0;
    if (isWhole) remember(known, signature);
    if (known.keys <= limits.dataKeys * anewPart && known.topics <= limits.topics * anewPart)
      leaveExact(deviceId, known);
    if (isWhole) return validated;
    return cutDown(validated, storedTopic, refused, limits);
  }

  async function admitSlowly(
    deviceId: string,
    samples: readonly Validated[],
    from: number,
  ): Promise<Validated[]> {
    const admitted: Validated[] = [];
    for (const validated of samples.slice(from)) {
      let known = devices.get(deviceId);
      let one = known && admitOne(deviceId, known, validated);
      while (one === undefined) {
        const loaded = loading.get(deviceId) ?? load(deviceId);
        loading.set(deviceId, loaded);
        known = await loaded;
        one = admitOne(deviceId, known, validated);
      }
      admitted.push(one);
    }
    return admitted;
  }

  return {
    admit(deviceId, samples) {
      const known = devices.get(deviceId);
      const admitted: Validated[] = [];
      for (const validated of samples) {
        const one = known && admitOne(deviceId, known, validated);
        if (one === undefined) {
          return admitSlowly(deviceId, samples, admitted.length).then((rest) => [
            ...admitted,
            ...rest,
          ]);
        }
        admitted.push(one);
      }
      return admitted;
    },
  };
}

/** The sample without the refused keys, in the topic that it may have; `meta` and notes tell. */
function cutDown(
  { sample, notes: before, metrics }: Validated,
  topic: string,
  refused: ReadonlySet<string>,
  limits: Pick<Quotas, 'topics' | 'dataKeys'>,
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
