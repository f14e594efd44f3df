// Internal error for a value that a structure promises to hold.

/** Throws. Stands behind `??` where a read by index or key always finds a value: `list[i] ?? missing('row')`. */
export function missing(value: string): never {
  throw new Error(`Internal error: the ${value} is missing`);
}
