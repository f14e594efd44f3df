// Given back bytes: memory outside the heap that is freed at once, because V8 counts it, and collects garbage of all ages when 64 MiB wait for that.

/** The bytes must not be used after that. Nothing happens to bytes that share their memory. */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== byteLength) return;
  // Nothing is left of a buffer that was transferred.
  if (byteLength > 0) buffer.transfer(0);
}

/** The chunks as one buffer, for the last reader of them: they are given back. */
export function joinedChunks(chunks: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.concat(chunks);
  for (const chunk of chunks) giveBack(chunk);
  return bytes;
}
