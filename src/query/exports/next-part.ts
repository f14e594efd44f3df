// Next part: samples of an export from a cursor on, until they fill a part of its file.
import type { EpochMs } from '../../model/instant.ts';
import type { SampleExportPlan } from '../../model/operation.ts';
import type { ExportCursor, ExportProgress } from './export-file.ts';

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
