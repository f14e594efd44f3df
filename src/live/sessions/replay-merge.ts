// Replay merge: joins replays with different starts into one, in order of storage and without repetition.
import { compareStored, type LiveSample } from './stream-position.ts';

interface Head {
  readonly batches: AsyncIterator<readonly LiveSample[]>;
  batch: readonly LiveSample[];
  at: number;
}

/** Batches in the order of storing. A sample of several replays occurs once. */
export async function* mergedReplays(
  replays: readonly AsyncIterable<readonly LiveSample[]>[],
): AsyncGenerator<readonly LiveSample[]> {
  let heads: Head[] = replays.map((replay) => ({
    batches: replay[Symbol.asyncIterator](),
    batch: [],
    at: 0,
  }));
  const opened = heads;
  try {
    while (heads.length > 0) {
      heads = (await Promise.all(heads.map(refilled))).filter((head) => head !== undefined);
      const batch: LiveSample[] = [];
      for (let sample = takeFirst(heads); sample !== undefined; sample = takeFirst(heads))
        batch.push(sample);
      yield batch;
    }
  } finally {
    for (const head of opened) await head.batches.return?.();
  }
}

async function refilled(head: Head): Promise<Head | undefined> {
  while (head.at >= head.batch.length) {
    const next = await head.batches.next();
    if (next.done === true) return undefined;
    head.batch = next.value;
    head.at = 0;
  }
  return head;
}

/** Undefined when a head has no sample left: its next one may be the first. */
function takeFirst(heads: readonly Head[]): LiveSample | undefined {
  let first: LiveSample | undefined;
  for (const { batch, at } of heads) {
    const sample = batch[at];
    if (sample === undefined) return undefined;
    if (first === undefined || compareStored(sample, first) < 0) first = sample;
  }
  if (first === undefined) return undefined;
  for (const head of heads) {
    const sample = head.batch[head.at];
    if (sample !== undefined && compareStored(sample, first) === 0) head.at++;
  }
  return first;
}
