// Turns of the event loop: work at their end, reads that are collected in one, and long work in parts.

let tasks: (() => void)[] = [];
let isArmed = false;

/**
 * Calls the task when the event loop has read the sockets and messages that are ready, and before
 * work that yields to requests, which calls `armTurnEnd` before each of its turns.
 */
export function atTurnEnd(task: () => void): void {
  tasks.push(task);
  armTurnEnd();
}

/** What is planned with `setImmediate` after this call comes behind all tasks of the next turn. */
export function armTurnEnd(): void {
  if (isArmed) return;
  isArmed = true;
  setImmediate(() => {
    isArmed = false;
    const due = tasks;
    tasks = [];
    for (const task of due) task();
  });
}

// Turn batches: what is asked for in one turn of the event loop is read together.

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

// Slices: work in parts of about a millisecond, each of which whoever runs it does at a turn.

/** Does a part of the work of a request, at its turn or at once. */
export type InTurn = <T>(work: () => T) => T | Promise<Awaited<T>>;

export const atOnce: InTurn = (work) => work();

/** Does every step of the work at a turn. */
export async function inTurns<T>(work: Generator<undefined, T>, inTurn: InTurn): Promise<T> {
  for (;;) {
    const step = await inTurn(() => work.next());
    if (step.done === true) return step.value;
  }
}

/** Does all steps of the work at once. */
export function allSteps<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
