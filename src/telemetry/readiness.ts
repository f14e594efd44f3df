// Readiness: the named reasons why the platform must get no requests at present; each is a function that every probe calls.

/** Returns the reason while it holds, in words for an operator; undefined while all is well. */
type ReadinessReason = () => string | undefined;

export class Readiness {
  readonly #reasons = new Map<string, ReadinessReason>();

  /** All reasons that hold now, joined by semicolons (interface 9); undefined when there is none. */
  readonly notReadyBecause = (): string | undefined => {
    const held = [...this.#reasons.values()].flatMap((reason) => reason() ?? []);
    return held.length === 0 ? undefined : held.join('; ');
  };

  /**
   * Adds a reason under a constant name, which is its label in `heliograph_not_ready`. Throws when
   * the name is taken.
   */
  add(name: string, reason: ReadinessReason): void {
    if (this.#reasons.has(name)) throw new Error(`readiness has a reason ${name} already`);
    this.#reasons.set(name, reason);
  }

  /** Names of all reasons, and whether each holds now. */
  states(): readonly { readonly name: string; readonly holds: boolean }[] {
    return [...this.#reasons].map(([name, reason]) => ({ name, holds: reason() !== undefined }));
  }
}
