// Turn end: what waits for everything that one turn of the event loop reads, such as a group of requests that share a message.

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
