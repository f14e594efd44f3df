// Readiness: the named reasons why the platform must get no requests at present; each is a function that every probe calls.

/** Returns the reason while it holds, in words for an operator; undefined while all is well. */
export type ReadinessReason = () => string | undefined;

export interface Readiness {
  /**
   * Adds a reason under a constant name, which is its label in `heliograph_not_ready`. Throws when
   * the name is taken.
   */
  readonly add: (name: string, reason: ReadinessReason) => void;
  /** Names of all reasons, and whether each holds now. */
  readonly states: () => readonly { readonly name: string; readonly holds: boolean }[];
  /**
   * All reasons that hold now, joined by semicolons (interface 9); undefined when there is none.
   */
  readonly notReadyBecause: () => string | undefined;
}

export function createReadiness(): Readiness {
  const reasons = new Map<string, ReadinessReason>();
  return {
    add(name, reason) {
      if (reasons.has(name)) throw new Error(`readiness has a reason ${name} already`);
      reasons.set(name, reason);
    },
    states: () => [...reasons].map(([name, reason]) => ({ name, holds: reason() !== undefined })),
    notReadyBecause() {
      const held = [...reasons.values()].flatMap((reason) => reason() ?? []);
      return held.length === 0 ? undefined : held.join('; ');
    },
  };
}
