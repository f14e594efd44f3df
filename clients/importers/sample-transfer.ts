// Sample transfer: sends samples in bulk, and remembers in a file how many were acknowledged.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type Client, HeliographError } from '../typescript/client.ts';
import type { PlannedLine } from './import-plan.ts';
import type { MovedSample } from './moved.ts';

/** Samples of one request. */
const samplesMax = 5_000;
const charsMax = 4 * 1024 * 1024;

export interface TransferParts {
  readonly client: Client;
  readonly organizationId: string;
  /** Physical ids that exist. */
  readonly deviceIds: ReadonlySet<string>;
  readonly files: readonly string[];
  /** What changes the samples of the same files, such as a template. */
  readonly settings: string;
  readonly signal: AbortSignal;
  readonly report: (line: PlannedLine) => Promise<void>;
}

export interface TransferCount {
  readonly stored: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** Acknowledged in an earlier run, and not sent again. */
  readonly resumed: number;
}

/** Where an interrupted run of files remembers its place. */
export function placePathOf(files: readonly string[]): string {
  return `${files[0] ?? ''}.import-place.json`;
}

/** The samples of a server are others at each run, so that no place in them is remembered. */
export function isServer(file: string): boolean {
  return /^https?:\/\//.test(file);
}

/** Resolves when all samples are stored or reported. A later run resumes after a rejection. */
export async function sendSamples(
  batches: AsyncIterable<readonly MovedSample[]>,
  on: TransferParts,
): Promise<TransferCount> {
  const place = openPlace(on);
  const count = { stored: 0, duplicates: 0, rejected: 0, resumed: place.samples };
  let seen = 0;
  let waiting: MovedSample[] = [];
  let chars = 0;

  async function flush(): Promise<void> {
    if (waiting.length === 0) return;
    const sent = await sendBatch(waiting, on);
    count.stored += sent.accepted;
    count.duplicates += sent.duplicates;
    count.rejected += sent.rejected.length;
    for (const { index, message } of sent.rejected)
      await on.report(rejectedLine(waiting[index], message));
    place.remember(seen);
    waiting = [];
    chars = 0;
  }

  for await (const batch of batches)
    for (const sample of batch) {
      seen++;
      // Counted too, because the device may exist at the next run.
      if (seen <= place.samples || !on.deviceIds.has(sample.deviceId)) continue;
      waiting.push(sample);
      chars += JSON.stringify(sample.data).length;
      if (waiting.length >= samplesMax || chars >= charsMax) await flush();
    }
  await flush();
  place.forget();
  return count;
}

function rejectedLine(sample: MovedSample | undefined, reason: string): PlannedLine {
  const { deviceId = '', place = null } = sample ?? {};
  return { outcome: 'error', kind: 'sample', name: deviceId, place, reason };
}

interface BulkAnswer {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly { readonly index: number; readonly message: string }[];
}

async function sendBatch(
  samples: readonly MovedSample[],
  { client, organizationId, signal }: TransferParts,
): Promise<BulkAnswer> {
  const lines = samples.map(({ deviceId, topic, timestamp, data, meta }) =>
    JSON.stringify({
      deviceId,
      topic,
      data,
      timestamp: typeof timestamp === 'number' ? new Date(timestamp).toISOString() : timestamp,
      ...(meta !== undefined && { meta }),
    }),
  );
  const contentType = 'application/x-ndjson';
  const call = { query: { organizationId }, body: lines.join('\n'), contentType, signal };
  try {
    const answer = await client.send('post', '/v3/samples/bulk', call);
    return (await answer.json()) as BulkAnswer;
  } catch (error) {
    // Refused as a whole because each sample was: the list says why.
    const isList =
      error instanceof HeliographError && error.errorCode === '40044_BACKFILL_REJECTED';
    if (!isList) throw error;
    return error.body as BulkAnswer;
  }
}

/** The place of an earlier run with the same files and settings; 0 samples without one. */
function openPlace({ files, settings }: TransferParts) {
  if (files.some(isServer))
    return { samples: 0, remember: () => undefined, forget: () => undefined };
  const path = placePathOf(files);
  const fingerprint = fingerprintOf(files, settings);
  return {
    samples: savedPlace(path, fingerprint),
    remember(samples: number): void {
      writeFileSync(`${path}.new`, JSON.stringify({ fingerprint, samples }));
      renameSync(`${path}.new`, path);
    },
    forget: () => rmSync(path, { force: true }),
  };
}

function savedPlace(path: string, fingerprint: string): number {
  try {
    const saved = JSON.parse(readFileSync(path, 'utf8')) as {
      readonly fingerprint: string;
      readonly samples: number;
    };
    return saved.fingerprint === fingerprint ? saved.samples : 0;
  } catch {
    return 0;
  }
}

function fingerprintOf(files: readonly string[], settings: string): string {
  const hash = createHash('sha256').update(settings);
  for (const file of files) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`\0${file}\0${size}\0${mtimeMs}`);
  }
  return hash.digest('hex');
}
