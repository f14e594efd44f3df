// MQTT packet framer: cuts the bytes of a connection into packets, with a buffer only while a packet is incomplete.

/** Why bytes are not MQTT; the connection must end. */
export class MalformedPacket extends Error {}

const lengthBytesMax = 4;
const partialBytesMin = 64;

/** A packet that has arrived in part. */
interface PartialPacket {
  /** Grows with what arrives: what a header promises costs nothing until it is there. */
  bytes: Buffer;
  used: number;
  /** Bytes of the entire packet; undefined until its header is complete. */
  total: number | undefined;
}

/** One for each connection: without unread bytes it refers to nothing else. */
export class PacketFramer {
  #bytesMax: number;
  #unread: Buffer | undefined;
  #partial: PartialPacket | undefined;

  /** `bytesMax` limits a packet without its header. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Memory of the packet that has arrived in part, bytes. */
  get heldBytes(): number {
    return this.#partial?.bytes.length ?? 0;
  }

  /** Whether bytes wait for `next`. */
  get hasUnread(): boolean {
    return this.#unread !== undefined;
  }

  /** First byte of the packet that `next` returns next; undefined before it has arrived. */
  get header(): number | undefined {
    return this.#partial?.bytes[0] ?? this.#unread?.[0];
  }

  /** The largest packet from now on. */
  limit(bytesMax: number): void {
    this.#bytesMax = bytesMax;
  }

  /** Adds bytes of the stream. */
  push(chunk: Buffer): void {
    this.#unread = this.#unread === undefined ? chunk : Buffer.concat([this.#unread, chunk]);
  }

  /**
   * Returns the next complete packet with its header; undefined until more bytes arrive. Throws
   * MalformedPacket for a packet above the limit, as soon as its header says so, and for a length of
   * more than four bytes (MQTT 3.1.1, 2.2.3).
   */
  next(): Buffer | undefined {
    const unread = this.#unread;
    if (unread === undefined) return undefined;
    if (this.#partial !== undefined) return this.#complete(this.#partial, unread);
    const total = this.#totalOf(unread, unread.length);
    if (total === undefined || total > unread.length) {
      const capacity = Math.max(unread.length, partialBytesMin);
      this.#partial = { bytes: Buffer.allocUnsafeSlow(capacity), used: 0, total };
      this.#take(this.#partial, unread, unread.length);
      return undefined;
    }
    this.#leave(unread, total);
    return unread.subarray(0, total);
  }

  /** Discards all bytes. */
  clear(): void {
    this.#unread = undefined;
    this.#partial = undefined;
  }

  #complete(partial: PartialPacket, unread: Buffer): Buffer | undefined {
    let left = unread;
    while (partial.total === undefined) {
      if (left.length === 0) {
        this.#unread = undefined;
        return undefined;
      }
      left = this.#take(partial, left, 1);
      partial.total = this.#totalOf(partial.bytes, partial.used);
    }
    left = this.#take(partial, left, partial.total - partial.used);
    if (partial.used < partial.total) return undefined;
    this.#partial = undefined;
    return partial.bytes.subarray(0, partial.used);
  }

  /** Copies up to this number of bytes. Returns the bytes that are left. */
  #take(partial: PartialPacket, from: Buffer, count: number): Buffer {
    const taken = Math.min(count, from.length);
    const needed = partial.used + taken;
    if (needed > partial.bytes.length) {
      const doubled = Math.min(2 * partial.bytes.length, partial.total ?? needed);
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, doubled));
      partial.bytes.copy(grown, 0, 0, partial.used);
      partial.bytes = grown;
    }
    from.copy(partial.bytes, partial.used, 0, taken);
    partial.used = needed;
    return this.#leave(from, taken);
  }

  #leave(unread: Buffer, taken: number): Buffer {
    const left = unread.subarray(taken);
    this.#unread = left.length === 0 ? undefined : left;
    return left;
  }

  /** Bytes of the packet that begins here; undefined when its header is incomplete. */
  #totalOf(bytes: Buffer, used: number): number | undefined {
    let length = 0;
    for (let i = 1; i <= lengthBytesMax; i++) {
      if (i >= used) return undefined;
      const byte = bytes[i]!;
      length += (byte & 0x7f) * 128 ** (i - 1);
      if (byte >= 0x80) continue;
      if (length > this.#bytesMax) throw new MalformedPacket('tooLarge');
      return 1 + i + length;
    }
    throw new MalformedPacket('malformed');
  }
}
