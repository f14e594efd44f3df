// Different: things with random ids, created until they have the leases that a test needs.

const attemptsMax = 1_000;

/**
 * Resolves with as many as asked for, each with another key. Random ids share a lease more often than
 * a test can bear: four workspaces do so in one of eleven runs. Those with a key that is there
 * already stay unused.
 */
export async function createDifferent<T>(
  count: number,
  keyOf: (created: T) => unknown,
  create: (number: number) => Promise<T>,
): Promise<readonly T[]> {
  const byKey = new Map<unknown, T>();
  for (let number = 0; byKey.size < count; number++) {
    if (number === attemptsMax) throw new Error(`${byKey.size} different keys instead of ${count}`);
    const created = await create(number);
    const key = keyOf(created);
    if (!byKey.has(key)) byKey.set(key, created);
  }
  return [...byKey.values()];
}

/** Resolves with the first one that is as wanted; those before it stay unused. */
export async function createWhere<T>(
  isWanted: (created: T) => boolean,
  create: (number: number) => Promise<T>,
): Promise<T> {
  for (let number = 0; number < attemptsMax; number++) {
    const created = await create(number);
    if (isWanted(created)) return created;
  }
  throw new Error(`None of ${attemptsMax} is as wanted`);
}
