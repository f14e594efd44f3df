// Next lines: samples of an export from a cursor on, until they fill a part of its file.
import type { EpochMs } from '../../model/instant.ts';
import type { Sample } from '../../model/sample.ts';
import type { SampleExportPlan } from '../../model/sample-export.ts';
import type { ExportCursor, ExportProgress } from './export-file.ts';
import { sampleLine } from './sample-lines.ts';

export interface PartLimits {
  /** Characters of a part before it is encoded. Decides how much memory an export needs. */
  readonly charactersMax: number;
  /** Devices of a part, so that the progress moves also where devices have no samples. */
  readonly devicesMax: number;
}

const partLimits: PartLimits = { charactersMax: 4 * 1024 * 1024, devicesMax: 2_000 };

interface ExportedDevice {
  readonly id: string;
  readonly name: string;
}

export interface DevicePage {
  readonly devices: readonly ExportedDevice[];
  /** The last id that was looked for; a device of it may be gone. */
  readonly through: string;
  readonly isLast: boolean;
}

export interface LineSources {
  /** The next devices in order of id, from the one on that the cursor is in or behind. */
  readonly nextDevices: (cursor: ExportCursor | null) => Promise<DevicePage>;
  /** Samples oldest first, in batches. Calls `unreadable` when it skips some. */
  readonly samplesOf: (range: {
    readonly deviceId: string;
    readonly topic?: string;
    readonly from?: EpochMs;
    readonly to: EpochMs;
    readonly unreadable: () => void;
  }) => AsyncIterable<readonly Sample[]>;
}

export interface NextLines {
  readonly lines: string;
  readonly progress: ExportProgress;
  /** Whether no samples are left. */
  readonly isLast: boolean;
}

/** A part that is read. */
interface Part {
  readonly lines: string[];
  characters: number;
  progress: ExportProgress;
}

/** Reads on behind `progress`. */
export async function nextLines(
  plan: SampleExportPlan,
  progress: ExportProgress,
  sources: LineSources,
  limits: PartLimits = partLimits,
): Promise<NextLines> {
  const part: Part = { lines: [], characters: 0, progress };
  const isFull = () =>
    part.characters >= limits.charactersMax ||
    part.progress.devices - progress.devices >= limits.devicesMax;
  let isLast = false;
  while (!isLast && !isFull()) {
    const page = await sources.nextDevices(part.progress.cursor);
    for (const device of page.devices) {
      await addDevice(part, device, plan, { ...sources, isFull });
      if (isFull()) break;
    }
    if (page.devices.length === 0)
      part.progress = { ...part.progress, cursor: { deviceId: page.through, behind: null } };
    isLast = page.isLast && !isFull();
  }
  return { lines: part.lines.join(''), progress: part.progress, isLast };
}

/** Adds the samples of a device, until it has no more or the part is full. */
async function addDevice(
  part: Part,
  { id: deviceId, name }: ExportedDevice,
  plan: SampleExportPlan,
  { samplesOf, isFull }: LineSources & { readonly isFull: () => boolean },
): Promise<void> {
  const begun = part.progress.cursor?.deviceId === deviceId ? part.progress.cursor.behind : null;
  let behind = begun ?? { time: plan.from ?? Number.NEGATIVE_INFINITY, count: 0, isDamaged: false };
  let read = 0;
  const unreadable = () => {
    if (!behind.isDamaged)
      part.progress = { ...part.progress, unreadable: part.progress.unreadable + 1 };
    behind = { ...behind, isDamaged: true };
  };
  const range = { ...rangeOf(deviceId, plan, begun?.time), unreadable };
  for await (const batch of samplesOf(range)) {
    // Samples of the time where the last part ended are read again.
    const known = begun === null ? 0 : knownOf(batch, begun, read);
    read += batch.length;
    const samples = addLines(part, batch.slice(known), name, plan);
    behind = { ...behind, ...endOf(batch, known, behind) };
    part.progress = {
      ...part.progress,
      samples: part.progress.samples + samples,
      cursor: { deviceId, behind },
    };
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
  batch: readonly Sample[],
  { time, count }: NonNullable<ExportCursor['behind']>,
  read: number,
): number {
  const other = batch.findIndex(({ timestamp }) => timestamp !== time);
  const ofTime = other === -1 ? batch.length : other;
  return Math.min(ofTime, Math.max(0, count - read));
}

/** The time of the last sample, and how many samples of that time were read. */
function endOf(
  batch: readonly Sample[],
  known: number,
  before: { readonly time: EpochMs; readonly count: number },
) {
  const time = batch.at(-1)?.timestamp ?? before.time;
  const other = batch.findLastIndex(({ timestamp }) => timestamp !== time);
  const count = batch.length - Math.max(other + 1, known);
  return { time, count: time === before.time ? before.count + count : count };
}

/** Returns how many samples became lines. */
function addLines(
  part: Part,
  batch: readonly Sample[],
  name: string,
  plan: SampleExportPlan,
): number {
  let samples = 0;
  for (const sample of batch) {
    const line = sampleLine(sample, name, plan);
    if (line === undefined) continue;
    part.lines.push(line);
    part.characters += line.length;
    samples++;
  }
  return samples;
}
