// Own bytes: a copy that keeps no larger buffer in memory, for bytes that are stored for long.

/** Bytes from a connection are a part of everything that arrived with them. */
export function ownBytes(bytes: Uint8Array): Buffer {
  // Not from the pool of buffers, which would be kept as well.
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
