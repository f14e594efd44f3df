// Aligned buffer: a growing byte buffer whose parts begin at multiples of a power of two.

const firstBytes = 1 << 16;

/** Bytes that are appended to; one is used again for every page. */
export class AlignedBuffer {
  length = 0;
  #bytes = new Uint8Array(firstBytes);
  #view = new DataView(this.#bytes.buffer);

  /** Valid until the next call that appends. */
  get view(): DataView {
    return this.#view;
  }

  /** The bytes so far; valid until the next call that appends. */
  bytes(from = 0): Uint8Array {
    return this.#bytes.subarray(from, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Appends zeros until the length is a multiple of `alignment`. */
  align(alignment: number): void {
    const missing = -this.length & (alignment - 1);
    const at = this.reserve(missing);
    this.#bytes.fill(0, at, at + missing);
  }

  /** Makes room for `count` bytes whose content the caller sets; returns the offset of the first. */
  reserve(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.#bytes.length) this.#grow();
    return at;
  }

  append(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  #grow(): void {
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.length));
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}
