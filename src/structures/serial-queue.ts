// Serial queue: tasks run in the order in which they were added, one at a time. A failed task does not stop the next.

export interface SerialQueue {
  /** Settles as the task does. */
  run<T>(task: () => Promise<T>): Promise<T>;
  /** Resolves when the tasks added so far have ended. */
  idle(): Promise<void>;
}

export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(task) {
      const result = last.then(task);
      last = result.catch(() => undefined);
      return result;
    },
    async idle() {
      await last;
    },
  };
}
