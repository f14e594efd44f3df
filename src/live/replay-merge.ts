// Joins replays that begin at different places into one, in the order of storing and without repetition.
import type { StoredSample } from '../model/sample.ts';

interface Head {
  readonly batches: AsyncIterator<readonly StoredSample[]>;
  batch: readonly StoredSample[];
  at: number;
}

/** Batches in ascending order of cursor; a sample that several replays bring comes once. */
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
      while (heads.length > 0 && heads.every((head) => head.at < head.batch.length))
        batch.push(takeFirst(heads));
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

function takeFirst(heads: readonly Head[]): StoredSample {
  let first = heads[0]!.batch[heads[0]!.at]!;
  for (const head of heads)
    if (head.batch[head.at]!.cursor < first.cursor) first = head.batch[head.at]!;
  for (const head of heads) if (head.batch[head.at]!.cursor === first.cursor) head.at++;
  return first;
}
