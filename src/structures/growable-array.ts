// A typed array with room for more values.

type NumberArray = Float64Array | Uint8Array | Uint16Array | Uint32Array;

/** A copy of the length; the new places have the value of `fill`. */
export function grown<T extends NumberArray>(array: T, length: number, fill = 0): T {
  const larger = new (array.constructor as new (length: number) => T)(length);
  larger.set(array);
  if (fill !== 0) larger.fill(fill, array.length);
  return larger;
}
