// Removing: rows that replacements removed leave memory and files, device by device, while nothing else changes segments.
import { sealInChunks } from '../chunks/chunk-writer.ts';
import type { Chunk } from '../chunks/chunk.ts';
import { dropDeviceRows, mergedRows } from './retention.ts';
import { type Removal, removalsWithin, withoutRemoved } from '../rows/removals.ts';
import type { RowGroup } from '../rows/open-rows.ts';
import { type Device, groupOfChunk, type Series } from '../rows/series.ts';
import type { Member } from '../segments/segment-set.ts';
import type { StoreContents } from '../store-loader.ts';
import type { ChunkSealer } from '../chunk-sealer.ts';
import type { TableMerger, TableSealer } from '../memtables/table-sealer.ts';

const sliceMs = 4;
/** Devices of one commit: sealing waits that long. */
const devicesPerCommit = 64;
/** Rows that one commit writes again, about. */
const rowsPerCommit = 100_000;

/** What one commit does for a device. */
interface DeviceChange {
  readonly id: string;
  readonly removals: readonly Removal[];
  readonly exchanges: readonly ChunkExchange[];
  /** Its number, when its rows leave the tables, and the end of those that chunks have now. */
  readonly ofTables: { readonly number: number; readonly nextOrder: number } | undefined;
}

interface ChunkExchange {
  readonly series: Series;
  readonly gone: ReadonlySet<Chunk>;
  readonly added: readonly Chunk[];
}

/**
 * Writes again what is left of chunks and runs that have removed rows. When the disk refuses, what is removed
 * stays hidden, and the next call continues.
 */
export class RemovalWork {
  readonly #contents: StoreContents;
  readonly #sealer: ChunkSealer;
  readonly #tableSealer: TableSealer;
  readonly #merger: TableMerger;
  #waiting: string[] = [];
  #isAsked = false;
  #closed = false;
  #running: Promise<void> | undefined;

  constructor(
    contents: StoreContents,
    sealer: ChunkSealer,
    tableSealer: TableSealer,
    merger: TableMerger,
  ) {
    this.#contents = contents;
    this.#sealer = sealer;
    this.#tableSealer = tableSealer;
    this.#merger = merger;
  }

  /** Looks at all devices with removals; call it when there are further ones. */
  wake(): void {
    this.#isAsked = true;
    if (this.#closed || this.#contents.registry.removals.count === 0) return;
    this.#running ??= this.#work()
      .catch(this.#contents.failed)
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when the work in progress has ended, successful or not. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.idle();
  }

  async #work(): Promise<void> {
    const { registry, segments } = this.#contents;
    while (this.#isAsked) {
      this.#isAsked = false;
      this.#waiting = [...registry.removals.deviceIds];
      while (this.#waiting.length > 0 && !this.#closed)
        await this.#tableSealer.exclusive(() =>
          this.#merger.exclusive(() => segments.exclusive(() => this.#rewriteSome())),
        );
    }
  }

  async #rewriteSome(): Promise<void> {
    if (!(await this.#rewriteDevices())) this.#isAsked = true;
  }

  /** Takes the devices that it rewrote from those that wait. Returns whether rows of none were sealed meanwhile. */
  async #rewriteDevices(): Promise<boolean> {
    const { slices } = this.#contents;
    const changes: DeviceChange[] = [];
    let sliceEnds = slices.clock() + sliceMs;
    let rows = 0;
    while (changes.length < devicesPerCommit && rows < rowsPerCommit) {
      const id = this.#waiting.pop();
      if (id === undefined) break;
      const change = changeOf(id, this.#contents);
      if (change === undefined) continue;
      changes.push(change);
      for (const { added } of change.exchanges) for (const chunk of added) rows += chunk.rows;
      if (slices.clock() < sliceEnds) continue;
      await slices.pause();
      sliceEnds = slices.clock() + sliceMs;
    }
    return changes.length === 0 || (await this.#commit(changes));
  }

  async #commit(changes: readonly DeviceChange[]): Promise<boolean> {
    const { segments, registry, tables, decoded } = this.#contents;
    const exchanges = changes.flatMap((change) => change.exchanges);
    const waiting = new Set(this.#sealer.waiting().map(({ chunk }) => chunk));
    const members = (of: (exchange: ChunkExchange) => Iterable<Chunk>): Member[] =>
      exchanges.flatMap((exchange) =>
        Array.from(of(exchange), (chunk) => ({ series: exchange.series, chunk })),
      );
    const gone = members((exchange) => exchange.gone);
    const retire = changes.flatMap((change) => change.ofTables?.number ?? []);
    // Before the commit, which names the numbers: after a crash they must be of the same devices.
    if (retire.length > 0) await tables.numbers.save();
    let isDone = true;
    // A lost file that comes back has rows that must stay hidden.
    const isSettled = segments.manifest.lost.length === 0;
    await segments.commit({
      add: members(({ added }) => added),
      remove: [],
      dead: gone.filter(({ chunk }) => !waiting.has(chunk)),
      retire,
      replayFrom: () => this.#sealer.replayFrom(),
      ...(isSettled && { settled: new Map(changes.map(({ id, removals }) => [id, removals])) }),
      counts: () => {
        const isGone = new Set(gone.map(({ chunk }) => chunk));
        this.#sealer.forgetWaiting(({ chunk }) => isGone.has(chunk));
        for (const chunk of isGone) decoded.forget(chunk);
        for (const { series, gone: replaced, added } of exchanges)
          series.exchangeChunks(replaced, added);
        for (const change of changes) {
          leaveTables(change, this.#contents);
          if (!removeUnsealed(change, this.#contents)) isDone = false;
          else if (isSettled) registry.removals.settle(change.id, change.removals);
        }
      },
    });
    if (retire.length > 0) {
      await tables.numbers.save();
      segments.numbersSaved();
    }
    return isDone;
  }
}

/** Undefined when some of it cannot be read, so that it stays as it is, and hidden. */
function changeOf(id: string, contents: StoreContents): DeviceChange | undefined {
  const removals = contents.registry.removals.of(id);
  if (removals === undefined) return undefined;
  const exchanges = chunkExchanges(id, removals, contents);
  const tables = exchanges && tableExchanges(id, removals, contents);
  if (exchanges === undefined || tables === undefined) return undefined;
  const { ofTables, moved } = tables;
  return { id, removals, exchanges: [...exchanges, ...moved], ofTables };
}

function chunkExchanges(
  id: string,
  removals: readonly Removal[],
  contents: StoreContents,
): ChunkExchange[] | undefined {
  const { decoded, registry } = contents;
  const exchanges: ChunkExchange[] = [];
  for (const series of registry.devices.get(id)?.topics.values() ?? []) {
    const gone = new Set<Chunk>();
    const added: Chunk[] = [];
    for (const chunk of overlapping(series, removals)) {
      const group = groupOfChunk(chunk, decoded);
      if (chunk.damaged || group.sorted() === undefined) return undefined;
      const left = withoutRemoved(group, series.topic, removals);
      if (left === group) continue;
      const sealed = left === undefined ? [] : sealedAgain([left], contents);
      if (sealed === undefined) return undefined;
      gone.add(chunk);
      added.push(...sealed);
    }
    if (gone.size > 0) exchanges.push({ series, gone, added });
  }
  return exchanges;
}

/** Chunks that may have removed rows. */
function overlapping(series: Series, removals: readonly Removal[]): Set<Chunk> {
  const found = new Set<Chunk>();
  for (const { topics, from, to, order } of removals)
    if (topics?.includes(series.topic) !== false)
      for (const chunk of series.chunksBetween(from, to))
        if (chunk.minOrder < order) found.add(chunk);
  return found;
}

function sealedAgain(groups: readonly RowGroup[], contents: StoreContents): Chunk[] | undefined {
  const { interners, limits } = contents;
  const rows = mergedRows(groups);
  return (
    rows && [...sealInChunks(rows.sorted(), Number.NEGATIVE_INFINITY, interners.schemas, limits)]
  );
}

/**
 * Pages of runs have rows of many devices: a device with removed rows in tables leaves them. Its other rows
 * become chunks, and further ones get another number.
 */
function tableExchanges(
  id: string,
  removals: readonly Removal[],
  contents: StoreContents,
): { ofTables: DeviceChange['ofTables']; moved: ChunkExchange[] } | undefined {
  const { registry, tables } = contents;
  const none = { ofTables: undefined, moved: [] };
  const number = tables.numbers.numberOf(id);
  if (number === undefined) return none;
  const byTopic = new Map<string, RowGroup[]>();
  let isAnyGone = false;
  for (const { topic, group } of tables.groupsOf(id, undefined, [-Infinity, Infinity])) {
    if (group.sealed?.damaged === true || group.sorted() === undefined) return undefined;
    const left = withoutRemoved(group, topic, removals);
    isAnyGone ||= left !== group;
    const groups = byTopic.get(topic) ?? [];
    byTopic.set(topic, groups);
    if (left !== undefined) groups.push(left);
  }
  if (!isAnyGone) return none;
  const moved: ChunkExchange[] = [];
  for (const [topic, groups] of byTopic) {
    const added = groups.length === 0 ? [] : sealedAgain(groups, contents);
    if (added === undefined) return undefined;
    if (added.length === 0) continue;
    moved.push({ series: registry.deviceOf(id).seriesOf(topic), gone: new Set(), added });
  }
  return { ofTables: { number, nextOrder: tables.marks.nextOrder(number) }, moved };
}

/** Rows that came while the commit was written become open rows of the device. */
function leaveTables({ id, ofTables }: DeviceChange, contents: StoreContents): void {
  const { registry, tables } = contents;
  // Dropped meanwhile.
  if (ofTables === undefined || tables.numbers.numberOf(id) !== ofTables.number) return;
  const { number, nextOrder } = ofTables;
  const device = registry.deviceOf(id);
  const known = [{ topics: null, from: -Infinity, to: Infinity, order: nextOrder }];
  for (const table of tables.withRowsOf(number))
    for (const memtable of table.memtables()) {
      const group = memtable.groupOf(number, -Infinity, Infinity);
      const left = group && withoutRemoved(group, table.topic, known);
      if (left === undefined) continue;
      const { firstPosition } = memtable;
      const firstBytes = registry.journalledBytes;
      const rows = mergedRows([left], { firstPosition, firstBytes });
      registry.exchangeRows(device.seriesOf(table.topic), undefined, rows);
    }
  device.nextOrder = Math.max(device.nextOrder, tables.marks.nextOrder(number));
  dropDeviceRows(tables, id);
  for (const series of device.topics.values()) series.lookAgain();
}

/** Takes removed rows out of memory; returns whether none is left, also not in chunks that were sealed since. */
function removeUnsealed(
  { id, removals, exchanges }: DeviceChange,
  { registry, decoded }: StoreContents,
): boolean {
  const device: Device | undefined = registry.devices.get(id);
  if (device === undefined) return true;
  const looked = new Set(exchanges.flatMap(({ added }) => added));
  let isDone = true;
  for (const series of device.topics.values()) {
    const { topic } = series;
    for (const rows of [...series.unsealedRows()]) {
      const left = withoutRemoved(rows, topic, removals);
      if (left === rows) continue;
      registry.exchangeRows(series, rows, left && mergedRows([left], rows));
      registry.settle(series);
    }
    series.lookAgain();
    for (const chunk of overlapping(series, removals)) {
      if (looked.has(chunk)) continue;
      const group = groupOfChunk(chunk, decoded);
      if (
        withoutRemoved(
          group,
          topic,
          removalsWithin(removals, topic, chunk.oldest, chunk.newest),
        ) !== group
      )
        isDone = false;
    }
  }
  return isDone;
}
