// A session on an in-memory log, for tests: what is stored and what is published are separate steps, as in the platform.
import { cursorAt } from '../../model/journal-entry.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { QuotaCount, standardQuotas } from '../../model/quota.ts';
import type { StoredSample } from '../../model/sample.ts';
import type { Replay } from './catch-up.ts';
import { FanOut } from './fan-out.ts';
import { LiveMemory } from './live-limits.ts';
import { PlaceWatch } from './place-watch.ts';
import { Flusher, Outbox } from './send-buffer.ts';
import { Session } from './session.ts';
import { startsBefore } from './stream-position.ts';
import { createWorkspaceFanOut, type WorkspaceGrant } from './workspace-fan-out.ts';

export type Received = Record<string, unknown> & { readonly type: string };

export const testPrincipal: Principal = {
  kind: 'API_KEY',
  id: '11a',
  name: 'key',
  organizationId: '28a',
  workspaces: 'all',
  permissions: { asset: ['read'] },
};

export interface TestLog {
  readonly samples: StoredSample[];
  /** Stores a sample; the cursor counts up. */
  store(deviceId: string, topic?: string, data?: JsonObject): StoredSample;
  /** Cursors up to this one are forgotten. */
  oldest: string;
  readonly replay: Replay;
  /** Runs between two batches of a replay. */
  betweenBatches: () => void | Promise<void>;
  failure: Error | undefined;
}

export function testLog(batchSize = 2): TestLog {
  const log: TestLog = {
    samples: [],
    oldest: '',
    failure: undefined,
    betweenBatches: () => undefined,
    store(deviceId, topic = 'default', data = { n: log.samples.length }) {
      const sample = storedSample(log.samples.length + 1, deviceId, topic, data);
      log.samples.push(sample);
      return sample;
    },
    async *replay(start, deviceIds) {
      if (log.failure !== undefined) throw log.failure;
      if ('cursor' in start && start.cursor < log.oldest)
        throw problem('cursorTooOld', { oldest: log.oldest });
      for (let at = 0; at < log.samples.length; ) {
        await log.betweenBatches();
        const batch = log.samples.slice(at, at + batchSize);
        at += batch.length;
        yield batch.filter(
          (sample) => startsBefore(start, sample) && deviceIds.has(sample.deviceId),
        );
      }
    },
  };
  return log;
}

export function storedSample(
  n: number,
  deviceId: string,
  topic = 'default',
  data: JsonObject = { n },
): StoredSample {
  return {
    deviceId,
    topic,
    timestamp: 1_700_000_000_000 + n,
    data,
    organizationId: '28a',
    workspaceId: '29a',
    dataFlowId: '08a',
    correlationId: 'c',
    storedAt: 1_700_000_000_000 + n,
    stored: true,
    cursor: cursorOf(n),
  };
}

export const cursorOf = (n: number) => cursorAt(0, n);

const testNow = () => 1_800_000_000_000;

/** An empty index. */
export const testFanOut = (now = testNow): FanOut => new FanOut(createWorkspaceFanOut(now));

interface TestSession {
  readonly session: Session;
  readonly received: Received[];
  readonly ended: string[];
  readonly failures: unknown[];
  readonly tokens: (string | undefined)[];
  /** The reader takes nothing while true. */
  frozen: boolean;
  send(message: unknown): Promise<Received[]>;
  /** Lets everything that can happen now happen. */
  settle(): Promise<Received[]>;
  thaw(): void;
  cursors(): number[];
}

interface TestWorld {
  readonly assets?: readonly string[];
  readonly tags?: Readonly<Record<string, readonly string[]>>;
  /** Devices at each place; those that are asked for later may have moved. */
  readonly places?: Readonly<Record<string, readonly string[]>>;
  readonly placeWatch?: PlaceWatch;
  readonly log?: TestLog;
  readonly fanOut?: FanOut;
  readonly items?: QuotaCount;
  readonly grants?: Readonly<Record<string, WorkspaceGrant>>;
  readonly now?: () => number;
  readonly memory?: LiveMemory;
  readonly organizationId?: string;
}

export function testPlaceWatch(
  fanOut: FanOut,
  places: Readonly<Record<string, readonly string[]>>,
): PlaceWatch {
  const placesOf = (id: string) =>
    Object.keys(places).filter((place) => places[place]?.includes(id));
  return new PlaceWatch({
    fanOut,
    placesAbove: async (ids) => new Map(ids.map((id) => [id, placesOf(id)])),
    devicesAt: async (placeId) => places[placeId] ?? [],
    pause: () => new Promise(setImmediate),
    failed: (error) => {
      throw error;
    },
  });
}

export function openTestSession(world: TestWorld = {}): TestSession {
  const {
    assets = ['02a', '02b', '02c'],
    tags = {},
    places = {},
    log = testLog(),
    fanOut = testFanOut(),
    grants = {},
    organizationId = testPrincipal.organizationId,
  } = world;
  const received: Received[] = [];
  const ended: string[] = [];
  const failures: unknown[] = [];
  const tokens: (string | undefined)[] = [];
  let errors = 0;
  const test: TestSession = {
    received,
    ended,
    failures,
    tokens,
    frozen: false,
    cursors: () =>
      received.filter(({ type }) => type === 'sample_insert').map(({ cursor }) => Number(cursor)),
    async settle() {
      // Long work takes many turns; a reader that takes nothing never ends it.
      for (let i = 0, quiet = 0; quiet < 20 && i < 300; i++) {
        await new Promise(setImmediate);
        quiet = test.session.waiting > 0 ? 0 : quiet + 1;
      }
      return received.splice(0);
    },
    send(message) {
      session.receive(typeof message === 'string' ? message : JSON.stringify(message));
      return test.settle();
    },
    thaw() {
      test.frozen = false;
      outbox.drained();
    },
    get session(): Session {
      return session;
    },
  };
  const end = (reason: string) => {
    ended.push(reason);
    session.close();
  };
  const memory = (world.memory ?? new LiveMemory()).open(organizationId, () =>
    end('slow reader: no room'),
  );
  const outbox = new Outbox({
    memory,
    write(bytes) {
      received.push(...framesIn(bytes));
      return !test.frozen;
    },
    cut: end,
    flusher: new Flusher(setImmediate),
  });
  const session = new Session({
    organizationId,
    memory,
    items: world.items ?? new QuotaCount(standardQuotas, 'subscriptionItems'),
    fanOut,
    outbox,
    now: world.now ?? testNow,
    newErrorId: () => `error-${++errors}`,
    authorize: async (token) => {
      tokens.push(token);
      if (token === 'expired') throw problem('invalidToken');
      return testPrincipal;
    },
    findAssets: async (_, ids) => new Set(ids.filter((id) => assets.includes(id))),
    assetsOfTag: async (_, tagId) => tags[tagId],
    assetsOfPlace: async (_, placeId) => {
      const assetIds = places[placeId];
      return assetIds && { workspaceId: '29a', assetIds };
    },
    placeWatch: world.placeWatch ?? testPlaceWatch(fanOut, places),
    followable: async (_, workspaceId) => grants[workspaceId],
    access: { changes: () => 0, check: () => undefined },
    replay: log.replay,
    end,
    idle: () => undefined,
    failed: (_, error) => failures.push(error),
  });
  return test;
}

/** Reads unmasked text frames. */
function framesIn(bytes: Buffer): Received[] {
  const messages: Received[] = [];
  for (let at = 0; at < bytes.length; ) {
    const short = bytes[at + 1]!;
    const header = short < 126 ? 2 : short === 126 ? 4 : 10;
    const length =
      header === 2
        ? short
        : header === 4
          ? bytes.readUInt16BE(at + 2)
          : Number(bytes.readBigUInt64BE(at + 2));
    messages.push(
      JSON.parse(bytes.toString('utf8', at + header, at + header + length)) as Received,
    );
    at += header + length;
  }
  return messages;
}
