// Backfill: samples of one device in requests of a size that the platform accepts, with one total.
import type { CallSettings } from './interface-calls.ts';
import { HeliographError } from './refusal.ts';
import { bodyOf, type Send } from './requests.ts';

const path = '/v3/devices/{deviceId}/backfill/bulk';
const samplesMax = 5_000;
/** Characters of JSON in a request, but for its last sample. */
const charactersMax = 4 * 1024 * 1024;

export interface BackfillSample {
  readonly data: Readonly<Record<string, unknown>>;
  /** ISO 8601, or epoch milliseconds; the time of receipt by default. */
  readonly timestamp?: string | number;
  /** `default` by default. */
  readonly topic?: string;
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface BackfillTotal {
  /** Not stored before. */
  readonly accepted: number;
  /** Stored before, and left as they are. */
  readonly duplicates: number;
  readonly rejected: readonly {
    /** Of the sample, counted from 0 over all requests. */
    readonly index: number;
    readonly errorCode: string;
    readonly message: string;
  }[];
}

/** Throws HeliographError for what is not about single samples. */
export async function backfillSamples(
  send: Send,
  deviceId: string,
  samples: Iterable<BackfillSample>,
  { signal }: Pick<CallSettings, 'signal'> = {},
): Promise<BackfillTotal> {
  const about = { path: { deviceId }, ...(signal !== undefined && { signal }) };
  let [accepted, duplicates, sent] = [0, 0, 0];
  const rejected: BackfillTotal['rejected'][number][] = [];
  for (const { body, count, hasTimes } of bodiesOf(samples)) {
    // Samples that have a time are stored once anyway, and faster without a key.
    const key = hasTimes ? { idempotencyKey: '' } : {};
    const part = await partOf(send('post', path, { ...about, ...key, body }));
    accepted += part.accepted;
    duplicates += part.duplicates;
    for (const one of part.rejected) rejected.push({ ...one, index: sent + one.index });
    sent += count;
  }
  return { accepted, duplicates, rejected };
}

/** A request whose samples are all rejected is no success, and its body has the same list. */
async function partOf(answer: ReturnType<Send>): Promise<BackfillTotal> {
  try {
    return (await bodyOf(await answer)) as BackfillTotal;
  } catch (error) {
    const isList =
      error instanceof HeliographError && error.errorCode === '40044_BACKFILL_REJECTED';
    if (!isList) throw error;
    return error.body as BackfillTotal;
  }
}

function* bodiesOf(samples: Iterable<BackfillSample>) {
  let texts: string[] = [];
  let characters = 0;
  let hasTimes = true;
  const taken = () => {
    const part = { body: `[${texts.join(',')}]`, count: texts.length, hasTimes };
    [texts, characters, hasTimes] = [[], 0, true];
    return part;
  };
  for (const sample of samples) {
    const text = JSON.stringify(sample);
    characters += text.length;
    hasTimes &&= sample.timestamp !== undefined;
    texts.push(text);
    if (texts.length >= samplesMax || characters >= charactersMax) yield taken();
  }
  if (texts.length > 0) yield taken();
}
