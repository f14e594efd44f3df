// The segments of the store: those that count at a start, and committing new ones and removing old ones through the manifest, one change at a time.
import { rename, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  isDiskFull,
  readChecked,
  replaceChecked,
  syncDirectory,
} from '../../../log/durable-file.ts';
import { type Chunk, DamagedChunk } from '../chunks/chunk.ts';
import { SegmentFile } from './segment-file.ts';
import {
  type ChunkPlace,
  type Interners,
  type OpenedSegment,
  openSegment,
  writeSegment,
} from './chunk-segment.ts';
import type { Series } from '../rows/series.ts';
import type { PendingRemovals, Removal, Removals } from '../rows/removals.ts';
import type { RunIndex } from '../runs/run-file.ts';
import { missing } from '../../../../structures/missing.ts';
import { earliest, type EpochMs } from '../../../../model/instant.ts';
import { refuseOtherFormat } from '../../../../model/problem.ts';
import type { SampleRange, StoreDamage, UnreadableSamples } from '../../sample-store.ts';
import { namesIn } from '../../../log/journal-block.ts';

// The manifest: which segments count and which are lost, and from where on the journal must be replayed. Replaced as a whole.

/** The format of this file and of what it names. */
const manifestFormat = 2;

export interface DeadRows {
  /**
   * Rows of runs that count no more because their device was deleted: for each origin of the run
   * how many.
   */
  readonly deadRows: Readonly<Record<string, readonly number[]>>;
  /** Checksum of the device numbers that were retired when `deadRows` was counted. */
  readonly retired: number;
}

export interface Manifest extends DeadRows {
  /** Number of the next segment file. */
  readonly nextSegment: number;
  /** Names of the segment files, oldest first. */
  readonly segments: readonly string[];
  /** Every row of earlier entries is in a segment, or was dropped. */
  readonly replayFrom: number;
  readonly droppedDevices: DroppedDevices;
  /** Ranges of devices of which files may still have rows. */
  readonly removals: PendingRemovals;
  /** For each segment the places of chunks that count no more, because others have what is left of them. */
  readonly deadChunks: Readonly<Record<string, readonly number[]>>;
  /** Devices whose rows in runs are in chunks now, by numbers that may not be retired in their file yet. */
  readonly retiring: readonly number[];
  /**
   * Names of segments that count but cannot be read: named until their files are back, so that the
   * loss stays known.
   */
  readonly lost: readonly string[];
  /** When the samples of each segment were, lost ones too. */
  readonly times: Readonly<Record<string, Times>>;
  /**
   * Names of segments that do not count any more and whose files a crash may have left in the
   * folder: a file is named until its removal is synced, because a power cut may bring it back.
   */
  readonly removed: readonly string[];
}

/**
 * Devices whose samples were dropped: rows of theirs in entries before the position, and in
 * segments with a smaller number, count no more.
 */
type DroppedDevices = Readonly<
  Record<string, { readonly position: number; readonly segment: number }>
>;

/** Of the oldest and of the newest sample. */
type Times = readonly [oldest: EpochMs, newest: EpochMs];

function timesOf(members: readonly { readonly chunk: Chunk }[]): Times {
  let oldest = Number.MAX_SAFE_INTEGER;
  let newest = Number.MIN_SAFE_INTEGER;
  for (const { chunk } of members) {
    if (chunk.oldest < oldest) oldest = chunk.oldest;
    if (chunk.newest > newest) newest = chunk.newest;
  }
  return [oldest, newest];
}

/** What the manifest says of the times of these segments. */
function timesIn({ times }: Manifest, names: readonly string[]): Record<string, Times> {
  return Object.fromEntries(
    names.flatMap((name) => (times[name] === undefined ? [] : [[name, times[name]]])),
  );
}

export function segmentNumber(name: string): number {
  return Number.parseInt(name, 10);
}

// Names in the list of what a segment replaces, besides those of segments.

/** A chunk at a place of another segment. */
function chunkName(segment: string, offset: number): string {
  return `${segment}@${offset}`;
}

/** The rows of a device in runs, by its number. */
function numberName(device: number): string {
  return `#${device}`;
}

/** The number of such a name; undefined for other names. */
function numberNamed(name: string): number | undefined {
  return name.startsWith('#') ? Number(name.slice(1)) : undefined;
}

/** For `Manifest.retired`: the dead rows of some run were not counted. */
export const unknownRetired = -1;

export const emptyManifest: Manifest = {
  nextSegment: 1,
  segments: [],
  replayFrom: 0,
  droppedDevices: {},
  removals: {},
  deadChunks: {},
  retiring: [],
  lost: [],
  times: {},
  deadRows: {},
  retired: unknownRetired,
  removed: [],
};

function manifestPath(directory: string): string {
  return join(directory, 'manifest.json');
}

export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  await replaceChecked(
    manifestPath(directory),
    JSON.stringify({ format: manifestFormat, ...manifest }),
  );
}

/**
 * The manifest; `missing` in a folder without one, `damaged` when it is not what was written.
 * Throws OtherFormatError for a manifest of another format.
 */
export async function readManifest(directory: string): Promise<Manifest | 'missing' | 'damaged'> {
  const found = await readChecked(manifestPath(directory));
  if (found === undefined) return 'missing';
  if (found === 'damaged') return found;
  const { format, ...manifest } = JSON.parse(found.text) as Manifest & { readonly format?: number };
  refuseOtherFormat(manifestPath(directory), format, manifestFormat);
  // Earlier versions removed no ranges.
  return { ...emptyManifest, ...manifest };
}

// Segments that count and cannot be read, known by the times of their samples alone: any answer that reaches into those may lack some.

/** A range, and what is called for each stretch of it that cannot be read. */
export interface ReportedRange extends SampleRange {
  readonly unreadable: (samples: UnreadableSamples) => void;
}

/** Of the manifest as a start leaves it: a file that comes back counts from the next start on. */
export class LostSegments {
  readonly #lost: readonly string[];
  readonly #times: Readonly<Record<string, Times>>;

  constructor({ lost, times }: Manifest) {
    this.#lost = lost;
    this.#times = times;
  }

  /** Calls the range's `unreadable` for each lost segment that may have had samples in it. */
  report({
    deviceId,
    topic = '*',
    from = earliest,
    to = Number.POSITIVE_INFINITY,
    unreadable,
  }: ReportedRange): void {
    for (const name of this.#lost) {
      const [oldest, newest] = this.#times[name] ?? missing('times of a lost segment');
      if (newest < from || oldest >= to) continue;
      unreadable({
        deviceId,
        topic,
        from: oldest,
        to: newest,
        place: `${name}, which is missing or damaged as a whole`,
      });
    }
  }
}

// Which segment files of the folder count: those of the manifest, those that are newer than it, and what becomes of the others.

const orphanSuffix = '.orphan';

export interface SegmentFolder {
  readonly directory: string;
  readonly interners: Interners;
  /** The first position in the files of the log; undefined without any. */
  readonly logStart: number | undefined;
  /** Whether the folder may be changed. */
  readonly repair: boolean;
}

/**
 * Opens the segments that count. A file that the manifest does not name is never deleted: one with
 * a newer number counts, because a commit was under way or the manifest is an older copy; any other
 * is moved aside as `*.orphan`. Changes the folder only when `repair` is set. Throws
 * OtherFormatError for files of another format.
 */
export async function countedSegments(folder: SegmentFolder): Promise<{
  readonly manifest: Manifest;
  readonly segments: readonly OpenedSegment[];
  readonly damage: readonly StoreDamage[];
}> {
  const { directory, interners, logStart, repair } = folder;
  const files = await namesIn(directory);
  const names = files.filter((name) => /^\d{10}\.segment$/.test(name)).sort();
  const found = await readManifest(directory);
  // Before the first commit there is no manifest, and everything is in the journal.
  const isNew = found === 'missing' && names.length === 0 && (logStart ?? 0) === 0;
  const isTrusted = isNew || typeof found !== 'string';
  const manifest =
    typeof found === 'string' ? { ...emptyManifest, replayFrom: logStart ?? 0 } : found;
  const named = [...manifest.segments, ...manifest.lost];
  const unnamed = names.filter((name) => !named.includes(name) && !manifest.removed.includes(name));
  const isNewer = (name: string): boolean =>
    !isTrusted || segmentNumber(name) >= manifest.nextSegment;
  const ofManifest = openAll(directory, named, interners);
  const newer = openAll(directory, unnamed.filter(isNewer), interners);
  const opened = [...ofManifest.opened, ...newer.opened];
  const replaced = new Set(opened.flatMap(({ replaces }) => replaces));
  const retiring = [...replaced].flatMap((name) => numberNamed(name) ?? []);
  for (const { file } of opened) if (replaced.has(file.name)) file.close();
  const segments = opened.filter(({ file }) => !replaced.has(file.name));
  const lost = ofManifest.unreadable.filter(({ name }) => !replaced.has(name));
  const aside = [
    ...unnamed
      .filter((name) => !isNewer(name) && !replaced.has(name))
      .map((name) => ({ name, reason: 'the manifest does not name it' })),
    ...newer.unreadable.filter(({ name }) => !replaced.has(name)),
  ];
  const damage: StoreDamage[] = [
    ...manifestDamage(join(directory, 'manifest.json'), isNew ? 'new' : found, logStart),
    ...lost.map(({ name, reason }) => ({
      kind: 'segment' as const,
      path: join(directory, name),
      reason,
    })),
    ...aside.map(({ name, reason }) => ({
      kind: 'segment' as const,
      path: join(directory, name),
      reason: `${reason}; ${repair ? 'moved' : 'the next start moves it'} aside as ${name}${orphanSuffix}`,
    })),
  ];
  const next: Manifest = {
    ...manifest,
    retiring: [...new Set([...manifest.retiring, ...retiring])],
    deadChunks: foundDeadChunks(manifest, segments, replaced),
    nextSegment: Math.max(manifest.nextSegment, ...files.map(numberBehind)),
    segments: segments.map(({ file }) => file.name),
    lost: lost.map(({ name }) => name),
    times: timesOfAll(manifest, segments),
    // Of segments that the manifest does not name it is not known which rows count no more.
    retired: newer.opened.length > 0 ? unknownRetired : manifest.retired,
    removed: [...manifest.removed, ...names.filter((name) => replaced.has(name))],
  };
  // The first manifest comes before the first segment: without it, one that a crash left alone
  // would look like a lost manifest.
  const isChanged =
    found === 'missing' ||
    !isTrusted ||
    String(next.segments) !== String(manifest.segments) ||
    aside.length > 0;
  if (repair) {
    if (isChanged)
      damage.push(
        ...(await putRight(
          directory,
          next,
          aside.map(({ name }) => name),
        )),
      );
    await clearAway(directory, files, next.removed);
  }
  return { manifest: next, segments, damage };
}

/** Those of the manifest, and those that a segment replaces which the manifest does not know yet. */
function foundDeadChunks(
  { deadChunks }: Manifest,
  segments: readonly OpenedSegment[],
  replaced: ReadonlySet<string>,
): Manifest['deadChunks'] {
  const dead = segments.map(({ file: { name }, placed }): [string, number[]] => {
    const known = new Set(deadChunks[name]);
    for (const { chunk } of placed)
      if (replaced.has(chunkName(name, chunk.offset))) known.add(chunk.offset);
    return [name, [...known]];
  });
  return Object.fromEntries(dead.filter(([, offsets]) => offsets.length > 0));
}

/** As they are read, and of lost segments as the manifest has them. */
function timesOfAll(manifest: Manifest, segments: readonly OpenedSegment[]): Record<string, Times> {
  const read = segments.map(({ file, placed, run }): [string, Times] => [
    file.name,
    run === undefined ? timesOf(placed) : [run.head.oldest, run.head.newest],
  ]);
  return {
    ...timesIn(manifest, [...manifest.segments, ...manifest.lost]),
    ...Object.fromEntries(read),
  };
}

function openAll(
  directory: string,
  names: readonly string[],
  interners: Interners,
): {
  readonly opened: OpenedSegment[];
  readonly unreadable: { readonly name: string; readonly reason: string }[];
} {
  const opened: OpenedSegment[] = [];
  const unreadable: { name: string; reason: string }[] = [];
  for (const name of names) {
    try {
      opened.push(openSegment(join(directory, name), interners));
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!missing && !(error instanceof DamagedChunk)) throw error;
      unreadable.push({ name, reason: missing ? 'The file is missing' : (error as Error).message });
    }
  }
  return { opened, unreadable };
}

function manifestDamage(
  path: string,
  found: Manifest | 'missing' | 'damaged' | 'new',
  journalStart: number | undefined,
): StoreDamage[] {
  if (found === 'new') return [];
  const told = (reason: string): StoreDamage[] => [{ kind: 'manifest', path, reason }];
  if (found === 'missing') return told('The file is missing; every segment in the folder counts');
  if (found === 'damaged')
    return told('The checksum does not fit; every segment in the folder counts');
  if (journalStart === undefined || journalStart <= found.replayFrom) return [];
  // The journal is dropped only behind the manifest, so this one is an older copy, or files of the
  // journal are gone.
  return told(
    `It is older than the journal, whose entries from ${found.replayFrom} to ${journalStart} are not there; every newer segment in the folder counts`,
  );
}

/** The smallest number that no segment file of the folder has, whatever became of it. */
function numberBehind(name: string): number {
  return /^\d{10}\.segment/.test(name) ? segmentNumber(name) + 1 : 0;
}

/**
 * Moves files aside and writes the manifest. What the disk refuses now is tried again at the next
 * start.
 */
async function putRight(
  directory: string,
  manifest: Manifest,
  aside: readonly string[],
): Promise<StoreDamage[]> {
  try {
    for (const name of aside)
      await rename(join(directory, name), join(directory, name + orphanSuffix));
    if (aside.length > 0) await syncDirectory(directory);
    await writeManifest(directory, manifest);
    return [];
  } catch (error) {
    return [
      {
        kind: 'manifest',
        path: join(directory, 'manifest.json'),
        reason: `Not written: ${String(error)}`,
      },
    ];
  }
}

/**
 * Removes files whose contents are in other segments or were dropped, and halves of segments that
 * were never committed.
 */
async function clearAway(
  directory: string,
  files: readonly string[],
  removed: readonly string[],
): Promise<void> {
  const halves = files.filter((name) => /^\.\d{10}\.segment\.new$/.test(name));
  for (const name of [...removed, ...halves]) {
    await unlink(join(directory, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

// The segments that count, and their changes.

/** Kept so that a full disk can still be told what to give back. */
const reserveBytes = 256 * 1024;
const reserveName = 'reserve';

export interface Member {
  readonly series: Series;
  readonly chunk: Chunk;
}

export interface Segment {
  readonly file: SegmentFile;
  /** Whether it has the rows of a table, and no chunks. */
  readonly isRun: boolean;
  /** The chunks that count. */
  members: Member[];
  /** What chunks that count no more still take of the file. */
  deadBytes: number;
  /** Where those of them are whose device was not dropped. */
  deadChunks: number[];
}

/** A run under the name that it had while it was written. */
export interface WrittenRun {
  readonly path: string;
  readonly index: RunIndex;
  /** How many device numbers were retired when it was written. */
  readonly retired: number;
}

interface SegmentChange {
  /** Chunks for a new segment; from the commit on they are read from there. */
  readonly add?: readonly Member[];
  /** A run, which becomes a segment; not together with chunks. */
  readonly addRun?: WrittenRun;
  readonly remove: readonly Segment[];
  /** Called when the manifest is made, so that what it says is of that moment. */
  readonly replayFrom: () => number;
  readonly droppedDevices?: Readonly<Record<string, number>>;
  /** Chunks that count no more, while their segments stay. */
  readonly dead?: readonly Member[];
  /** Numbers of devices that count no more in runs; see `numbersSaved`. */
  readonly retire?: readonly number[];
  /** By device: no segment has rows of these any more. */
  readonly settled?: ReadonlyMap<string, readonly Removal[]>;
  /**
   * Called when the change counts, before the removed files go: nobody may come upon their chunks
   * afterwards. With the file of the new segment.
   */
  readonly counts?: (added: SegmentFile | undefined) => void;
}

interface AddedSegment {
  readonly segment: Segment;
  readonly times: Times;
  /** Of each of its chunks. */
  readonly places: readonly ChunkPlace[];
}

export class SegmentSet {
  readonly #directory: string;
  readonly #removals: Removals;
  readonly #deadRows: (added?: WrittenRun) => DeadRows;
  readonly #whenUnread: (callback: () => void) => void;
  #segments: readonly Segment[];
  #manifest: Manifest;
  #nextSegment: number;
  /** Names of files that count no more and may still be there, or be there again after a power cut. */
  #left: string[];
  /** Those of them that cannot come back once the folder is synced. */
  #unlinked = new Set<string>();
  #retiring: readonly number[];
  #queue: Promise<unknown> = Promise.resolve();

  constructor(
    directory: string,
    opened: { readonly manifest: Manifest; readonly segments: readonly Segment[] },
    removals: Removals,
    /** See the manifest; of this moment. */
    deadRows: (added?: WrittenRun) => DeadRows,
    /** Calls back when no read in progress can need the removed files any more. */
    whenUnread: (callback: () => void) => void,
  ) {
    this.#directory = directory;
    this.#removals = removals;
    this.#deadRows = deadRows;
    this.#whenUnread = whenUnread;
    this.#segments = opened.segments;
    this.#manifest = opened.manifest;
    this.#nextSegment = opened.manifest.nextSegment;
    this.#left = [...opened.manifest.removed];
    this.#retiring = opened.manifest.retiring;
  }

  get segments(): readonly Segment[] {
    return this.#segments;
  }

  get manifest(): Manifest {
    return this.#manifest;
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { file }) => sum + file.bytes, 0);
  }

  /** A path that no other file has, for a file that is written before it is committed. */
  newPath(): string {
    return join(this.#directory, `.${nameOf(this.#nextSegment++)}.new`);
  }

  /** Runs one after the other what changes segments. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /**
   * Only inside `exclusive`. Rejects without effect when the disk refuses. The removed segments'
   * files are gone afterwards.
   */
  async commit(change: SegmentChange): Promise<void> {
    const { remove } = change;
    // A number is never used twice: a commit that failed half-way may have left its file behind.
    const name = nameOf(this.#nextSegment++);
    const added = await addSegment(join(this.#directory, name), change);
    const kept = this.#segments.filter((segment) => !remove.includes(segment));
    const next = added === undefined ? kept : [...kept, added.segment];
    const dead = Map.groupBy(change.dead ?? [], ({ chunk }) => chunk.file.name);
    const retired = [...this.#retiring, ...(change.retire ?? [])];
    this.#manifest = await writeWithReserve(this.#directory, () => {
      const replayFrom = change.replayFrom();
      const names = next.map(({ file }) => file.name);
      const { lost } = this.#manifest;
      const times = timesIn(this.#manifest, [...names, ...lost]);
      if (added !== undefined) times[name] = added.times;
      const dropped = { ...this.#manifest.droppedDevices };
      for (const [device, position] of Object.entries(change.droppedDevices ?? {}))
        dropped[device] = { position, segment: segmentNumber(name) };
      return {
        nextSegment: this.#nextSegment,
        segments: names,
        replayFrom,
        // A lost segment may come back, with what was dropped meanwhile.
        droppedDevices: stillNeeded(dropped, [...namesOfChunks(next), ...lost], replayFrom),
        removals: this.#removals.pending(change.settled),
        deadChunks: deadChunksOf(next, dead),
        retiring: retired,
        lost,
        times,
        ...this.#deadRows(change.addRun),
        removed: [...this.#left, ...remove.map(({ file }) => file.name)],
      };
    });
    this.#segments = next;
    this.#retiring = retired;
    for (const segment of next) noteDead(segment, dead.get(segment.file.name) ?? []);
    if (added !== undefined) moveInto(added, change.add ?? []);
    change.counts?.(added?.segment.file);
    // Writing the manifest synced the folder.
    this.#left = this.#left.filter((file) => !this.#unlinked.has(file));
    this.#left.push(...remove.map(({ file }) => file.name));
    this.#unlinked = new Set();
    for (const file of this.#left) {
      await unlink(join(this.#directory, file)).catch(ignoreMissing);
      this.#unlinked.add(file);
    }
    this.#whenUnread(() => {
      for (const { file } of remove) file.close();
    });
  }

  /** The file of the numbers says now that those of all commits are retired. */
  numbersSaved(): void {
    this.#retiring = [];
  }

  close(): void {
    for (const { file } of this.#segments) file.close();
  }
}

/** The new segment of the change; undefined when it adds nothing. */
async function addSegment(
  path: string,
  { add = [], addRun, remove, dead = [], retire = [] }: SegmentChange,
): Promise<AddedSegment | undefined> {
  if (addRun !== undefined) return addRunSegment(path, addRun);
  if (add.length === 0) return undefined;
  const placed = add.map(({ series, chunk }) => ({
    deviceId: series.device.id,
    topic: series.topic,
    chunk,
  }));
  // A crash may come before the manifest: then the segment counts, and says itself what it replaces.
  const replaces = [
    ...remove.map(({ file }) => file.name),
    ...dead.map(({ chunk }) => chunkName(chunk.file.name, chunk.offset)),
    ...retire.map(numberName),
  ];
  const places = await writeSegment(path, placed, replaces);
  const members = add.map(({ series, chunk }) => ({ series, chunk }));
  const file = new SegmentFile(path);
  const segment = { file, isRun: false, members, deadBytes: 0, deadChunks: [] };
  return { segment, times: timesOf(add), places };
}

async function addRunSegment(path: string, run: WrittenRun): Promise<AddedSegment> {
  const { oldest, newest } = run.index.head;
  await rename(run.path, path);
  await syncDirectory(dirname(path));
  const file = new SegmentFile(path);
  const segment = { file, isRun: true, members: [], deadBytes: 0, deadChunks: [] };
  return { segment, times: [oldest, newest], places: [] };
}

function nameOf(number: number): string {
  return `${String(number).padStart(10, '0')}.segment`;
}

function deadChunksOf(
  segments: readonly Segment[],
  dead: ReadonlyMap<string, readonly Member[]>,
): Record<string, readonly number[]> {
  const places = segments.map(({ file: { name }, deadChunks }) => {
    const further = dead.get(name)?.map(({ chunk }) => chunk.offset) ?? [];
    return [name, [...deadChunks, ...further]] as const;
  });
  return Object.fromEntries(places.filter(([, offsets]) => offsets.length > 0));
}

function noteDead(segment: Segment, dead: readonly Member[]): void {
  if (dead.length === 0) return;
  const chunks = new Set(dead.map(({ chunk }) => chunk));
  segment.members = segment.members.filter(({ chunk }) => !chunks.has(chunk));
  for (const { offset, length } of chunks) {
    segment.deadChunks.push(offset);
    segment.deadBytes += length;
  }
}

function namesOfChunks(segments: readonly Segment[]): string[] {
  return segments.flatMap(({ file, isRun }) => (isRun ? [] : [file.name]));
}

/** From now on the chunks are read from the segment, at the places where it has them. */
function moveInto({ segment, places }: AddedSegment, members: readonly Member[]): void {
  for (const [i, { chunk }] of members.entries()) {
    Object.assign(chunk, places[i] ?? missing('place of a chunk'));
    chunk.file = segment.file;
  }
}

/**
 * Writes the manifest; on a full disk in the place of the reserve, which comes back when there is
 * room.
 */
async function writeWithReserve(directory: string, make: () => Manifest): Promise<Manifest> {
  const reserve = join(directory, reserveName);
  let manifest = make();
  try {
    await writeManifest(directory, manifest);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    await unlink(reserve).catch(ignoreMissing);
    manifest = make();
    await writeManifest(directory, manifest);
  }
  await writeFile(reserve, new Uint8Array(reserveBytes), { flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST' && !isDiskFull(error)) throw error;
    },
  );
  return manifest;
}

/** Devices of which the journal or an old segment may still hold something. */
function stillNeeded(
  dropped: DroppedDevices,
  names: readonly string[],
  replayFrom: number,
): DroppedDevices {
  const oldest = Math.min(...names.map(segmentNumber));
  const needed = Object.entries(dropped).filter(
    ([, { position, segment }]) => position > replayFrom || segment > oldest,
  );
  return Object.fromEntries(needed);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
