// File backfill: loads samples window by window; saves its position after each acknowledged window.
import { createHash } from 'node:crypto';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { parseReadings } from '../../src/model/json-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { csvCells, separatorOf } from '../../src/structures/csv.ts';
import { type BackfillSample, type Client, HeliographError } from '../typescript/client.ts';
import { csvSample } from './csv-sample.ts';
import { fileStart, type SourcePlace, type SourceRecord, sourceRecords } from './source-records.ts';

export type FileFormat = 'csv' | 'ndjson';

export interface FileBackfillOptions {
  readonly path: string;
  readonly format: FileFormat;
  readonly client: Client;
  /** Physical or service id of the device of records that name none. */
  readonly device: string | undefined;
  readonly signal: AbortSignal;
  /** Called after each window. */
  readonly told: (progress: FileProgress) => void;
  /** Records sent and acknowledged together. */
  readonly windowRecords?: number;
}

export interface FileProgress {
  readonly bytes: number;
  readonly bytesTotal: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly errors: number;
  /** Where an earlier run had come to. */
  readonly resumedAtLine: number;
}

/** A record that cannot be stored, as the report file lists it. */
interface FileError {
  readonly line: number;
  readonly errorCode: string;
  readonly message: string;
}

interface ReadSample {
  readonly line: number;
  readonly deviceId: string;
  readonly sample: JsonObject;
}

/** Enough for a platform that restarts. */
export const backfillTriesMax = 10;
const windowRecordsDefault = 20_000;
const windowBytes = 16 * 1024 * 1024;
const requestsAtOnce = 4;
const fingerprintBytes = 64 * 1024;

/** Where a run remembers how far it came, and where it lists what could not be stored. */
export const placePathOf = (path: string): string => `${path}.backfill-place.json`;
export const reportPathOf = (path: string): string => `${path}.backfill-errors.ndjson`;

/**
 * Resolves at the end of the file; rejects when interrupted or rejected, and a later run resumes
 * after the last window.
 */
export async function backfillFile(options: FileBackfillOptions): Promise<FileProgress> {
  const { path, format, signal, told } = options;
  const { bytesTotal, fingerprint } = await lookAt(path);
  const from = await rememberedPlace(path, fingerprint);
  if (from.byte === 0) await rm(reportPathOf(path), { force: true });
  const readRecord = format === 'csv' ? await csvReader(path, signal) : ndjsonSample;
  const devices = new Map<string, string | undefined>();
  let progress: FileProgress = {
    bytes: from.byte,
    bytesTotal,
    accepted: 0,
    duplicates: 0,
    errors: 0,
    resumedAtLine: from.line,
  };
  const start = format === 'csv' && from.byte === 0 ? await headerEnd(path, signal) : from;
  for await (const window of windowsOf(
    sourceRecords(path, start, format === 'csv', signal),
    options.windowRecords,
  )) {
    signal.throwIfAborted();
    const sent = await sendWindow(window, readRecord, devices, options);
    if (sent.errors.length > 0) await report(path, sent.errors);
    const last = window.at(-1)!;
    await rememberPlace(path, fingerprint, { byte: last.endByte, line: last.endLine });
    progress = {
      ...progress,
      bytes: last.endByte,
      accepted: progress.accepted + sent.accepted,
      duplicates: progress.duplicates + sent.duplicates,
      errors: progress.errors + sent.errors.length,
    };
    told(progress);
  }
  await rm(placePathOf(path), { force: true });
  return { ...progress, bytes: bytesTotal };
}

async function* windowsOf(
  records: AsyncIterable<SourceRecord>,
  recordsMax = windowRecordsDefault,
): AsyncGenerator<readonly SourceRecord[]> {
  let window: SourceRecord[] = [];
  let bytes = 0;
  for await (const record of records) {
    window.push(record);
    bytes += record.text.length;
    if (window.length < recordsMax && bytes < windowBytes) continue;
    yield window;
    window = [];
    bytes = 0;
  }
  if (window.length > 0) yield window;
}

type ReadRecord = (record: SourceRecord) => Json;

function ndjsonSample({ text }: SourceRecord): Json {
  return parseReadings(text);
}

async function csvReader(path: string, signal: AbortSignal): Promise<ReadRecord> {
  const header = await headerOf(path, signal);
  const separator = separatorOf(header.text);
  const names = csvCells(header.text, separator).map((name) => name.trim());
  if (!names.includes('timestamp'))
    throw new Error(`The header of ${path} has no column timestamp`);
  return ({ text }) => csvSample(names, csvCells(text, separator));
}

async function headerOf(path: string, signal: AbortSignal): Promise<SourceRecord> {
  for await (const record of sourceRecords(path, fileStart, true, signal)) return record;
  throw new Error(`${path} is empty`);
}

async function headerEnd(path: string, signal: AbortSignal): Promise<SourcePlace> {
  const { endByte, endLine } = await headerOf(path, signal);
  return { byte: endByte, line: endLine };
}

interface SentWindow {
  readonly accepted: number;
  readonly duplicates: number;
  readonly errors: readonly FileError[];
}

async function sendWindow(
  window: readonly SourceRecord[],
  readRecord: ReadRecord,
  devices: Map<string, string | undefined>,
  { client, device, signal }: FileBackfillOptions,
): Promise<SentWindow> {
  const errors: FileError[] = [];
  const byDevice = new Map<string, ReadSample[]>();
  for (const record of window) {
    const read = readSample(record, readRecord, device);
    if ('errorCode' in read) {
      errors.push(read);
      continue;
    }
    if (!devices.has(read.deviceId))
      devices.set(read.deviceId, await findDevice(client, read.deviceId, signal));
    const id = devices.get(read.deviceId);
    if (id === undefined)
      errors.push(fileError(record, 'NO_SUCH_DEVICE', `Unknown device ${read.deviceId}`));
    else {
      const samples = byDevice.get(id) ?? [];
      samples.push(read);
      byDevice.set(id, samples);
    }
  }
  let accepted = 0;
  let duplicates = 0;
  // Devices share the lanes; the samples of one go in their order.
  const waiting = [...byDevice];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [id, samples] = next;
      const read = samples.map(({ sample }) => sample as unknown as BackfillSample);
      const total = await client.backfill(id, read, { signal });
      accepted += total.accepted;
      duplicates += total.duplicates;
      for (const { index, errorCode, message } of total.rejected)
        errors.push({ line: samples[index]!.line, errorCode, message });
    }
  };
  await Promise.all(Array.from({ length: requestsAtOnce }, lane));
  return { accepted, duplicates, errors: errors.sort((a, b) => a.line - b.line) };
}

/** The service ID of the device with that physical or service ID; undefined when unknown. */
async function findDevice(
  client: Client,
  deviceId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const find of [
    () => client.get('/v3/devices/by-device-id', { query: { deviceId }, signal }),
    () => client.get('/v3/devices/{id}', { path: { id: deviceId }, signal }),
  ])
    try {
      return (await find()).id;
    } catch (error) {
      if (!(error instanceof HeliographError) || error.status !== 404) throw error;
    }
  return undefined;
}

function readSample(
  record: SourceRecord,
  readRecord: ReadRecord,
  device: string | undefined,
): ReadSample | FileError {
  let read: Json;
  try {
    read = readRecord(record);
  } catch (error) {
    return fileError(record, 'NOT_JSON', (error as Error).message);
  }
  if (!isJsonObject(read)) return fileError(record, 'NOT_A_SAMPLE', 'A line must be a JSON object');
  const { deviceId = device, ...sample } = read;
  if (typeof deviceId !== 'string')
    return fileError(record, 'NO_DEVICE', 'No deviceId, and none given for all lines');
  // Without one it would be the time of sending, and an interrupted run that is repeated would
  // store the sample twice.
  if (sample['timestamp'] === undefined)
    return fileError(record, 'NO_TIMESTAMP', 'A line needs a timestamp');
  return { line: record.line, deviceId, sample };
}

function fileError({ line }: SourceRecord, errorCode: string, message: string): FileError {
  return { line, errorCode, message };
}

async function report(path: string, errors: readonly FileError[]): Promise<void> {
  await writeFile(
    reportPathOf(path),
    errors.map((error) => `${JSON.stringify(error)}\n`).join(''),
    { flag: 'a' },
  );
}

async function lookAt(path: string): Promise<{ bytesTotal: number; fingerprint: string }> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(fingerprintBytes),
      0,
      fingerprintBytes,
      0,
    );
    const { size } = await file.stat();
    const hash = createHash('sha256').update(buffer.subarray(0, bytesRead));
    return { bytesTotal: size, fingerprint: `${size} ${hash.digest('hex')}` };
  } finally {
    await file.close();
  }
}

/** The start of the file without a saved position, or when the file has changed. */
async function rememberedPlace(path: string, fingerprint: string): Promise<SourcePlace> {
  const text = await readFile(placePathOf(path), 'utf8').catch(() => undefined);
  if (text === undefined) return fileStart;
  const place = JSON.parse(text) as SourcePlace & { readonly fingerprint: string };
  return place.fingerprint === fingerprint ? place : fileStart;
}

async function rememberPlace(path: string, fingerprint: string, place: SourcePlace): Promise<void> {
  const newPath = `${placePathOf(path)}.new`;
  await writeFile(newPath, JSON.stringify({ fingerprint, ...place }));
  await rename(newPath, placePathOf(path));
}
