// Replay merge: joins replays with different starts into one, in order of storage and without repetition.
import type { StoredSample } from '../model/sample.ts';

interface Head {
  readonly batches: AsyncIterator<readonly StoredSample[]>;
  batch: readonly StoredSample[];
  at: number;
}

/** Batches in ascending order of cursor. A sample of several replays occurs once. */
export async function* mergedReplays(
  replays: readonly AsyncIterable<readonly StoredSample[]>[],
): AsyncGenerator<readonly StoredSample[]> {
  let heads: Head[] = replays.map((replay) => ({
    batches: replay[Symbol.asyncIterator](),
    batch: [],
    at: 0,
  }));
  const opened = heads;
  try {
    while (heads.length > 0) {
      heads = (await Promise.all(heads.map(refilled))).filter((head) => head !== undefined);
      const batch: StoredSample[] = [];
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
function takeFirst(heads: readonly Head[]): StoredSample | undefined {
  let first: StoredSample | undefined;
  for (const { batch, at } of heads) {
    const sample = batch[at];
    if (sample === undefined) return undefined;
    if (first === undefined || sample.cursor < first.cursor) first = sample;
  }
  for (const head of heads) if (head.batch[head.at]?.cursor === first?.cursor) head.at++;
  return first;
}
