// Export file: the file of an export while it grows, a log of its parts for a restart, and the samples of its next part.
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { EpochMs } from '../../model/instant.ts';
import type { SampleExportPlan } from '../../model/operation.ts';

/** Where an export continues: behind some samples of a device, or behind the device. */
export interface ExportCursor {
  readonly deviceId: string;
  /** Null: the device is complete. */
  readonly behind: {
    readonly time: EpochMs;
    /** Samples of this time that were read. */
    readonly count: number;
    /** Whether some of the samples of the device could not be read. */
    readonly isDamaged: boolean;
  } | null;
}

/** What the finished parts contain. */
export interface ExportProgress {
  readonly cursor: ExportCursor | null;
  readonly devices: number;
  readonly samples: number;
  /** Devices of which samples could not be read. */
  readonly unreadable: number;
}

export interface ExportFile {
  readonly bytes: () => number;
  readonly progress: () => ExportProgress;
  /** Makes a part durable, then what the parts contain so far. */
  readonly append: (
    part: { readonly bytes: Uint8Array; readonly footer: Uint8Array },
    progress: ExportProgress,
  ) => Promise<void>;
  /** What the end of the file must say of each part. */
  readonly footers: () => Promise<readonly Uint8Array[]>;
  /** Adds the end and names the file; resolves to its bytes. */
  readonly complete: (tail: Uint8Array, name: string) => Promise<number>;
}

interface PartLine extends ExportProgress {
  /** Where the part ends. */
  readonly end: number;
  /** Base64. */
  readonly footer: string;
}

const growing = 'growing';
const partLog = 'parts.ndjson';
const atStart: ExportProgress = { cursor: null, devices: 0, samples: 0, unreadable: 0 };
/** Files contain what devices measured. */
const ownerOnly = { folder: 0o700, file: 0o600 } as const;

/** Opens the file in the folder, behind its last finished part; what follows that is removed. */
export async function openExportFile(folder: string, head: Uint8Array): Promise<ExportFile> {
  const path = join(folder, growing);
  const log = join(folder, partLog);
  await mkdir(folder, { recursive: true, mode: ownerOnly.folder });
  const known = await knownParts(log, path);
  let end = known?.end ?? head.length;
  let logged = known?.logged ?? 0;
  let progress: ExportProgress = known?.progress ?? atStart;
  if (known === undefined) {
    await writeAt(path, head, 0);
    await writeAt(log, new Uint8Array(), 0);
  }
  await truncate(path, end);
  await truncate(log, logged);
  return {
    bytes: () => end,
    progress: () => progress,
    async append({ bytes, footer }, reached) {
      await writeAt(path, bytes, end);
      const line: PartLine = {
        ...reached,
        end: end + bytes.length,
        footer: Buffer.from(footer).toString('base64'),
      };
      const text = Buffer.from(`${JSON.stringify(line)}\n`);
      await writeAt(log, text, logged);
      logged += text.length;
      end = line.end;
      progress = reached;
    },
    async footers() {
      const footers: Uint8Array[] = [];
      for await (const line of createInterface({ input: createReadStream(log) }))
        footers.push(Buffer.from((JSON.parse(line) as PartLine).footer, 'base64'));
      return footers;
    },
    async complete(tail, name) {
      await writeAt(path, tail, end);
      await rename(path, join(folder, name));
      await rm(log);
      return end + tail.length;
    },
  };
}

function partOf(line: string): PartLine | undefined {
  try {
    return JSON.parse(line) as PartLine;
  } catch {
    return undefined;
  }
}

/** The end of the last part whose line and bytes are complete; undefined when the file begins again. */
async function knownParts(log: string, path: string) {
  const lines = await readFile(log, 'utf8').catch(undefinedIfMissing);
  const size = await sizeOf(path);
  if (lines === undefined || size === undefined) return undefined;
  let last: PartLine | undefined;
  let logged = 0;
  for (const line of lines.split('\n').slice(0, -1)) {
    const part = partOf(line);
    // Behind the last sync, a power cut leaves any part of what was written.
    if (part === undefined || part.end > size) break;
    last = part;
    logged += Buffer.byteLength(line) + 1;
  }
  if (last === undefined) return undefined;
  const { end, footer: _, ...progress } = last;
  return { end, logged, progress };
}

async function sizeOf(path: string): Promise<number | undefined> {
  const file = await open(path, 'r').catch(undefinedIfMissing);
  if (file === undefined) return undefined;
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Writes all bytes and makes them durable. */
async function writeAt(path: string, bytes: Uint8Array, offset: number): Promise<void> {
  const file = await open(path, offset === 0 ? 'w' : 'r+', ownerOnly.file);
  try {
    for (let from = 0; from < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, from, bytes.length - from, offset + from);
      from += bytesWritten;
    }
    await file.datasync();
  } finally {
    await file.close();
  }
}

// Next part: samples of an export from a cursor on, until they fill a part of its file.

export interface PartLimits {
  /** Size of the content of a part before it is encoded. Decides how much memory an export needs. */
  readonly sizeMax: number;
  /** Devices of a part, so that the progress moves also where devices have no samples. */
  readonly devicesMax: number;
}

const partLimits: PartLimits = { sizeMax: 4 * 1024 * 1024, devicesMax: 2_000 };

export interface ExportedDevice {
  readonly id: string;
  readonly name: string;
}

export interface DevicePage {
  readonly devices: readonly ExportedDevice[];
  /** The last id that was looked for; a device of it may be gone. */
  readonly through: string;
  readonly isLast: boolean;
}

/** The next devices in order of id, from the one on that the cursor is in or behind. */
type NextDevices = (cursor: ExportCursor | null) => Promise<DevicePage>;

export interface ReadRange {
  readonly deviceId: string;
  readonly topic?: string;
  readonly from?: EpochMs;
  readonly to: EpochMs;
  /** Called when samples are skipped. */
  readonly unreadable: () => void;
}

/** What the samples of a part become before they are encoded. */
export interface PartContent<Content> {
  /** Samples oldest first, to be added. */
  readonly batchesOf: (range: ReadRange, device: ExportedDevice) => AsyncIterable<PartBatch>;
  /** About the bytes of what was added. */
  readonly size: number;
  readonly isEmpty: boolean;
  readonly content: () => Content;
}

/** At least one sample. */
export interface PartBatch {
  readonly length: number;
  readonly lastTime: EpochMs;
  /** How many of its first and last samples have the time. */
  readonly startsWith: (time: EpochMs) => number;
  readonly endsWith: (time: EpochMs) => number;
  /** Adds the samples from an index on, as far as they are exported, before the next batch is asked for. */
  readonly addFrom: (index: number) => void;
}

export interface ReachedPart {
  readonly progress: ExportProgress;
  /** Whether no samples are left. */
  readonly isLast: boolean;
}

/** A part that is read. */
interface Part {
  readonly content: PartContent<unknown>;
  progress: ExportProgress;
}

/** Adds samples behind `progress` to the content. The samples of the progress do not include them. */
export async function readPart(
  plan: SampleExportPlan,
  progress: ExportProgress,
  nextDevices: NextDevices,
  content: PartContent<unknown>,
  limits: PartLimits = partLimits,
): Promise<ReachedPart> {
  const part: Part = { content, progress };
  const isFull = () =>
    content.size >= limits.sizeMax || part.progress.devices - progress.devices >= limits.devicesMax;
  let isLast = false;
  while (!isLast && !isFull()) {
    const page = await nextDevices(part.progress.cursor);
    for (const device of page.devices) {
      await addDevice(part, device, plan, isFull);
      if (isFull()) break;
    }
    if (page.devices.length === 0)
      part.progress = { ...part.progress, cursor: { deviceId: page.through, behind: null } };
    isLast = page.isLast && !isFull();
  }
  return { progress: part.progress, isLast };
}

/** Adds the samples of a device, until it has no more or the part is full. */
async function addDevice(
  part: Part,
  device: ExportedDevice,
  plan: SampleExportPlan,
  isFull: () => boolean,
): Promise<void> {
  const deviceId = device.id;
  const begun = part.progress.cursor?.deviceId === deviceId ? part.progress.cursor.behind : null;
  let behind = begun ?? { time: plan.from ?? Number.NEGATIVE_INFINITY, count: 0, isDamaged: false };
  let read = 0;
  const unreadable = () => {
    if (!behind.isDamaged)
      part.progress = { ...part.progress, unreadable: part.progress.unreadable + 1 };
    behind = { ...behind, isDamaged: true };
  };
  const range = { ...rangeOf(deviceId, plan, begun?.time), unreadable };
  for await (const batch of part.content.batchesOf(range, device)) {
    // Samples of the time where the last part ended are read again.
    const known = begun === null ? 0 : knownOf(batch, begun, read);
    read += batch.length;
    batch.addFrom(known);
    behind = { ...behind, ...endOf(batch, known, behind) };
    part.progress = { ...part.progress, cursor: { deviceId, behind } };
    if (isFull()) return;
  }
  const { devices } = part.progress;
  part.progress = { ...part.progress, devices: devices + 1, cursor: { deviceId, behind: null } };
}

function rangeOf(
  deviceId: string,
  { from, to, topics }: SampleExportPlan,
  begunAt: EpochMs | undefined,
) {
  const [topic, ...others] = topics ?? [];
  const start = begunAt ?? from;
  return {
    deviceId,
    to,
    ...(topic !== undefined && others.length === 0 && { topic }),
    ...(start !== null && { from: start }),
  };
}

/** How many samples at the start of the batch were in an earlier part; `read` came before it. */
function knownOf(
  batch: PartBatch,
  { time, count }: NonNullable<ExportCursor['behind']>,
  read: number,
): number {
  return Math.min(batch.startsWith(time), Math.max(0, count - read));
}

/** The time of the last sample, and how many samples of that time were read. */
function endOf(
  batch: PartBatch,
  known: number,
  before: { readonly time: EpochMs; readonly count: number },
) {
  const time = batch.lastTime;
  const count = Math.min(batch.endsWith(time), batch.length - known);
  return { time, count: time === before.time ? before.count + count : count };
}
