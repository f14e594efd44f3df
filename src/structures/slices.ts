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
