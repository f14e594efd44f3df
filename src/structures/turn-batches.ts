// Turn batches: what is asked for in one turn of the event loop is read together.
import { atTurnEnd } from './turn-end.ts';

interface Asked<T> {
  readonly key: string;
  readonly resolve: (value: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A function that reads one value; undefined for a key without a value. It calls `readAll` with the keys of
 * a turn, at most `batchMax` at a time, and one batch after the other: what is asked for during a read waits,
 * so that whoever asks for many unknown keys takes one connection of the records at most.
 */
export function createTurnBatches<T>(
  readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  batchMax: number,
): (key: string) => Promise<T | undefined> {
  let asked: Asked<T>[] = [];
  let isReading = false;

  async function readAsked(): Promise<void> {
    while (asked.length > 0) {
      const taken = asked;
      asked = [];
      for (let from = 0; from < taken.length; from += batchMax)
        await readBatch(taken.slice(from, from + batchMax));
    }
    isReading = false;
  }

  async function readBatch(batch: readonly Asked<T>[]): Promise<void> {
    try {
      const found = await readAll([...new Set(batch.map(({ key }) => key))]);
      for (const { key, resolve } of batch) resolve(found.get(key));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      asked.push({ key, resolve, reject });
      if (isReading) return;
      isReading = true;
      atTurnEnd(() => void readAsked());
    });
}
