// Internal error for a value that a structure promises to hold.

/**
 * Throws. Follows `??` in a read by index or key that always finds a value: `list[i] ??
 * missing('row')`.
 */
export function missing(value: string): never {
  throw new Error(`Internal error: the ${value} is missing`);
}
