// MQTT packet framer: cuts the bytes of a connection into packets, with a buffer only while a packet is incomplete.

/** Why bytes are not MQTT; the connection must end. */
export class MalformedPacket extends Error {}

const lengthBytesMax = 4;
const partialBytesMin = 64;

/** A PUBLISH above the limit, of which only the beginning was kept. */
export class LargePublish {
  readonly start: Buffer;
  /** Of the entire packet. */
  readonly bytes: number;

  constructor(start: Buffer, bytes: number) {
    this.start = start;
    this.bytes = bytes;
  }
}

/** First half byte of a PUBLISH. */
const publishType = 3;
/** Header, topic and number of a PUBLISH. */
const publishStartMax = 1 + lengthBytesMax + 2 + 65_535 + 2;

/** A packet that has arrived in part. */
interface PartialPacket {
  /** Grows with what arrives: what a header promises costs nothing until it is there. */
  bytes: Buffer;
  /** Bytes that have arrived. */
  used: number;
  /** Bytes that are kept of those that arrive. */
  kept: number;
  /** Bytes of the entire packet; undefined until its header is complete. */
  total: number | undefined;
}

/** One for each connection: without unread bytes it refers to nothing else. */
export class PacketFramer {
  #bytesMax: number;
  #skipsPublishes = false;
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

  /** Bytes that have arrived of the packet that has arrived in part. */
  get arrivedBytes(): number {
    return this.#partial?.used ?? 0;
  }

  /** Whether bytes wait for `next`. */
  get hasUnread(): boolean {
    return this.#unread !== undefined;
  }

  /** First byte of the packet that `next` returns next; undefined before it has arrived. */
  get header(): number | undefined {
    return this.#partial?.bytes[0] ?? this.#unread?.[0];
  }

  /** Whether a packet has arrived in part that will be taken once it is complete. */
  get isHolding(): boolean {
    return this.#partial !== undefined && this.#partial.kept === Number.POSITIVE_INFINITY;
  }

  /** The largest packet from now on. */
  limit(bytesMax: number): void {
    this.#bytesMax = bytesMax;
  }

  /** From now on, a PUBLISH above the limit is returned as LargePublish, without its payload. */
  skipLargePublishes(): void {
    this.#skipsPublishes = true;
  }

  /** Adds bytes of the stream. */
  push(chunk: Buffer): void {
    this.#unread = this.#unread === undefined ? chunk : Buffer.concat([this.#unread, chunk]);
  }

  /**
   * Returns the next complete packet with its header; undefined until more bytes arrive. Throws
   * MalformedPacket for a packet above the limit that is not skipped, as soon as its header says so,
   * and for a length of more than four bytes (MQTT 3.1.1, 2.2.3).
   */
  next(): Buffer | LargePublish | undefined {
    const unread = this.#unread;
    if (unread === undefined) return undefined;
    if (this.#partial !== undefined) return this.#complete(this.#partial, unread);
    const total = this.#totalOf(unread, unread.length);
    const kept = this.#keptOf(unread, total);
    if (total === undefined || total > unread.length) {
      const capacity = Math.max(Math.min(unread.length, kept), partialBytesMin);
      this.#partial = { bytes: Buffer.allocUnsafeSlow(capacity), used: 0, total, kept };
      this.#take(this.#partial, unread, unread.length);
      return undefined;
    }
    this.#leave(unread, total);
    const packet = unread.subarray(0, Math.min(total, kept));
    return isLarge(kept) ? new LargePublish(packet, total) : packet;
  }

  /** The bytes that follow the last packet; they do not wait for `next` any longer. */
  takeUnread(): Buffer | undefined {
    const unread = this.#unread;
    this.clear();
    return unread;
  }

  /** Discards all bytes. */
  clear(): void {
    this.#unread = undefined;
    this.#partial = undefined;
  }

  #complete(partial: PartialPacket, unread: Buffer): Buffer | LargePublish | undefined {
    let left = unread;
    while (partial.total === undefined) {
      if (left.length === 0) {
        this.#unread = undefined;
        return undefined;
      }
      left = this.#take(partial, left, 1);
      partial.total = this.#totalOf(partial.bytes, partial.used);
      partial.kept = this.#keptOf(partial.bytes, partial.total);
    }
    left = this.#take(partial, left, partial.total - partial.used);
    if (partial.used < partial.total) return undefined;
    this.#partial = undefined;
    const { bytes, used, kept } = partial;
    if (isLarge(kept)) return new LargePublish(bytes.subarray(0, Math.min(used, kept)), used);
    return bytes.subarray(0, used);
  }

  /** Copies up to this number of bytes. Returns the bytes that are left. */
  #take(partial: PartialPacket, from: Buffer, count: number): Buffer {
    const taken = Math.min(count, from.length);
    const arrived = partial.used + taken;
    const needed = Math.min(arrived, partial.kept);
    if (needed > partial.bytes.length) {
      const most = Math.min(partial.total ?? needed, partial.kept);
      const grown = Buffer.allocUnsafeSlow(
        Math.max(needed, Math.min(2 * partial.bytes.length, most)),
      );
      partial.bytes.copy(grown, 0, 0, partial.used);
      partial.bytes = grown;
    }
    if (partial.used < needed) from.copy(partial.bytes, partial.used, 0, needed - partial.used);
    partial.used = arrived;
    return this.#leave(from, taken);
  }

  /** Bytes to keep of a packet; infinite for one within the limit. */
  #keptOf(bytes: Buffer, total: number | undefined): number {
    if (total === undefined || total <= this.#bytesMax) return Number.POSITIVE_INFINITY;
    // The header counts for nothing in the limit.
    const header = 1 + bytes.subarray(1, 1 + lengthBytesMax).findIndex((byte) => byte < 0x80) + 1;
    return total - header > this.#bytesMax ? publishStartMax : Number.POSITIVE_INFINITY;
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
      const isSkipped = this.#skipsPublishes && bytes[0]! >> 4 === publishType;
      if (length > this.#bytesMax && !isSkipped) throw new MalformedPacket('tooLarge');
      return 1 + i + length;
    }
    throw new MalformedPacket('malformed');
  }
}

function isLarge(kept: number): boolean {
  return kept !== Number.POSITIVE_INFINITY;
}
