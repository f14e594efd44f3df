// Turn batches: what is asked for in one turn of the event loop is read together.
import { atTurnEnd } from './turn-end.ts';

interface Asked<T> {
  readonly key: string;
  readonly resolve: (value: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A function that reads one value; undefined for a key without a value. It calls `readAll` with the keys of
 * a turn, at most `batchMax` at a time, one batch after the other.
 */
export function createTurnBatches<T>(
  readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  batchMax: number,
): (key: string) => Promise<T | undefined> {
  let asked: Asked<T>[] = [];

  async function readTurn(): Promise<void> {
    const taken = asked;
    asked = [];
    for (let from = 0; from < taken.length; from += batchMax)
      await readBatch(taken.slice(from, from + batchMax));
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
      if (asked.length === 0) atTurnEnd(() => void readTurn());
      asked.push({ key, resolve, reject });
    });
}
