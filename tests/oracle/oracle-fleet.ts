// Oracle fleet: sparse devices in a store with small limits, late, repeated, deleted, expired, merged and reopened.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dayMs } from '../../src/model/instant.ts';
import type { Json } from '../../src/model/json.ts';
import type { Sample } from '../../src/model/sample.ts';
import { FleetModel } from '../../src/storage/samples/conformance/fleet-model.ts';
import { keeping } from '../../src/storage/samples/conformance/retention-times.ts';
import { entryOf, type Given } from '../../src/storage/samples/conformance/sample-entries.ts';
import { SeriesRegistry } from '../../src/storage/samples/embedded/rows/series.ts';
import { createInterners, openSegments } from '../../src/storage/samples/embedded/store-loader.ts';
import { type StoreLimits, storeLimits } from '../../src/storage/samples/embedded/store-limits.ts';
import { openTestSamples, type TestSamples } from '../../src/storage/samples/testing-samples.ts';
import { ShapeInterner } from '../../src/storage/log/data-shape.ts';
import { below, pick, randomData, randomMoment, randomTopic } from './random-queries.ts';

/** Devices of a fleet have few shapes. */
const mixedValues: readonly Json[] = [1.5, 'x', true];

/** What the samples met on their way. */
export interface FleetHistory {
  /** Of runs. */
  readonly levels: Set<number>;
  /** Of devices that sent much. */
  chunks: number;
  restarts: number;
  dropped: number;
  repeated: number;
  late: number;
  /** Samples that were stored, and are hidden by their retention. */
  expired: number;
}

export type FleetMove = 'crash' | 'seal' | 'restart';

type Random = () => number;

function smallLimits(random: Random): Partial<StoreLimits & { journalSegmentBytes: number }> {
  return {
    chunkRowsMin: pick(random, [40, 720]),
    rowsToCloseAtDay: 20,
    rowsMax: 60,
    segmentBytes: 4_000,
    segmentsToMerge: 3,
    lookEveryBytes: 2_000,
    memtableRowsMax: pick(random, [60, 200]),
    memtablesMax: pick(random, [4, 256]),
    tablesPerWorkspace: pick(random, [5, 128]),
    runsToMerge: pick(random, [2, 3]),
    journalTailBytes: pick(random, [20_000, 1e9]),
    journalSegmentBytes: 20_000,
    sectionCacheBytes: pick(random, [0, 1e6]),
  };
}

interface Sender {
  readonly id: string;
  readonly origin: { readonly workspaceId: string; readonly dataFlowId: string };
  /** Of the key whose type differs by device. */
  readonly mixed: Json;
  readonly sent: Given[];
}

function sendersOf(random: Random, count: number): Sender[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `fleet-${String(i).padStart(5, '0')}`,
    origin: pick(random, [
      { workspaceId: 'w1', dataFlowId: 'f1' },
      { workspaceId: 'w1', dataFlowId: 'short' },
      { workspaceId: 'old', dataFlowId: 'f2' },
    ]),
    mixed: mixedValues[i % mixedValues.length]!,
    sent: [],
  }));
}

/** Stores samples in steps; between them devices are deleted, rows sealed and stores reopened. */
export class OracleFleet {
  readonly history: FleetHistory = {
    levels: new Set(),
    chunks: 0,
    restarts: 0,
    dropped: 0,
    repeated: 0,
    late: 0,
    expired: 0,
  };
  readonly #root = mkdtempSync(join(tmpdir(), 'heliograph-oracle-fleet-'));
  readonly #random: Random;
  readonly #senders: readonly Sender[];
  readonly #model = new FleetModel();
  #copies = 0;
  #now = 0;
  #store: TestSamples | undefined;

  constructor(random: Random, devices: number) {
    this.#random = random;
    this.#senders = sendersOf(random, devices);
  }

  get store(): TestSamples {
    if (this.#store === undefined) throw new Error('the fleet has no store before it is filled');
    return this.#store;
  }

  get deviceIds(): readonly string[] {
    return this.#senders.map(({ id }) => id);
  }

  /** Stores about that many samples in steps, and returns what every read must find, in the order of storing. */
  async fill(count: number, steps: number): Promise<readonly Sample[]> {
    const random = this.#random;
    const times = Array.from({ length: count }, () => randomMoment(random)).sort((a, b) => a - b);
    this.#store = await this.#open();
    for (let step = 0; step < steps; step++) {
      const from = Math.floor((step * count) / steps);
      await this.#send(times.slice(from, Math.floor(((step + 1) * count) / steps)));
      const kind = below(random, 10);
      if (kind < 3) await this.store.sealAll();
      else if (kind === 3) await this.store.idle();
      else if (kind < 6) await this.move(random() < 0.5 ? 'restart' : 'crash');
      else if (kind < 8) await this.#drop();
      else await this.#retain();
      if (step % 5 === 4) await this.#noteFiles();
    }
    await this.#retain();
    return this.#stored();
  }

  /** Puts rows into other places: seals and merges, or reopens the store; no read must notice it. */
  async move(kind: FleetMove): Promise<void> {
    if (kind === 'seal') {
      await this.store.sealAll();
      await this.store.idle();
      return this.#noteFiles();
    }
    const old = this.store;
    if (kind === 'crash')
      cpSync(this.#folder(), join(this.#root, String(this.#copies + 1)), { recursive: true });
    await old.close();
    if (kind === 'crash') this.#copies++;
    this.#store = await this.#open();
    this.history.restarts++;
    await this.#retain();
    if (this.store.damage.length > 0) throw new Error(JSON.stringify(this.store.damage));
  }

  async close(): Promise<void> {
    await this.#store?.close();
    rmSync(this.#root, { recursive: true });
  }

  #folder(): string {
    return join(this.#root, String(this.#copies));
  }

  #open(): Promise<TestSamples> {
    const limits = smallLimits(this.#random);
    return openTestSamples({ directory: this.#folder(), now: () => 1, limits });
  }

  /** The rules advance with the fleet; the platform gives them to each store that it opens. */
  async #retain(): Promise<void> {
    const now = this.#now;
    const rules = keeping({ old: now - 40 * dayMs }, { short: now - 100 * dayMs });
    this.#model.retain(rules);
    await this.store.retain(rules);
  }

  async #send(times: readonly number[]): Promise<void> {
    const entries: Promise<unknown>[] = [];
    for (const [i, at] of times.entries()) {
      // A few send much, so that they become chunks.
      const sender = i % 10 === 0 ? this.#senders[i % 3]! : pick(this.#random, this.#senders);
      this.#now = at;
      const entry = this.#next(sender, at);
      this.#model.add(sender.id, entry);
      entries.push(this.store.append(entryOf(sender.id, entry)));
    }
    await Promise.all(entries);
  }

  #next({ origin, mixed, sent }: Sender, at: number): Given[] {
    const random = this.#random;
    const isLate = random() < 0.15;
    const late = isLate ? below(random, pick(random, [dayMs, 30 * dayMs])) : 0;
    const topic = randomTopic(random);
    const data = { ...randomData(random), mixed };
    const given: Given = { at: at - late, data, topic, ...origin };
    if (isLate) this.history.late++;
    sent.push(given);
    if (random() > 0.06) return [given];
    this.history.repeated++;
    return [given, pick(random, sent)];
  }

  async #drop(): Promise<void> {
    const { id, sent } = pick(this.#random, this.#senders);
    this.#model.drop(id);
    sent.length = 0;
    this.history.dropped++;
    await this.store.dropDevice(id);
  }

  #stored(): readonly Sample[] {
    const rows = this.#senders.flatMap(({ id }) =>
      this.#model.rowsOf(id).map((row) => ({ ...row, id })),
    );
    const kept = rows.filter(({ isSure }) => isSure).sort((a, b) => a.order - b.order);
    this.history.expired = rows.length - kept.length;
    return kept.map(({ id, topic, at, data }) => ({ deviceId: id, topic, timestamp: at, data }));
  }

  async #noteFiles(): Promise<void> {
    const registry = new SeriesRegistry(storeLimits);
    const { runs, segments } = await openSegments(registry, {
      directory: join(this.#folder(), 'segments'),
      interners: createInterners(registry, new ShapeInterner()),
      logStart: undefined,
      repair: false,
    });
    for (const { index } of runs) this.history.levels.add(index.head.level);
    for (const { members, file } of segments) {
      this.history.chunks += members.length;
      file.close();
    }
  }
}
