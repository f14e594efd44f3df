// Bytes: writing and reading varints, zigzag, doubles, strings and hexadecimal digits; copied and growing arrays; checks of UTF-8; memory that is freed at once.
import { isUtf8 } from 'node:buffer';

/** Shorter strings are written faster by a loop than by a call of the runtime. */
const loopedCharsMax = 48;
const copiedBytesMax = 256;
const firstBytes = 1_024;
/** Memory of a writer that is used again and again: more is given back at once, */
const reusedBytesMax = 8 * 1024 * 1024;
/** and more than this when it was not needed so many times. */
const keptBytes = 1024 * 1024;
const unneededMax = 256;

/** A class, because it is used for every value. */
export class ByteWriter {
  #buffer: Buffer;
  #view: DataView;
  /** May be set back, to remove what was written last. */
  length = 0;
  #unneeded = 0;

  constructor(capacity: number = firstBytes) {
    this.#buffer = Buffer.alloc(capacity);
    this.#view = new DataView(this.#buffer.buffer, this.#buffer.byteOffset, capacity);
  }

  /** Bytes of memory that it takes. */
  get capacity(): number {
    return this.#buffer.length;
  }

  /**
   * Empties it for the next use. Large memory is kept while it is needed: allocating it each time
   * makes V8 collect garbage of all ages, because it counts bytes outside the heap.
   */
  reset(): void {
    const { capacity } = this;
    this.#unneeded = this.length > capacity / 4 ? 0 : this.#unneeded + 1;
    this.length = 0;
    if (capacity <= keptBytes) return;
    if (capacity <= reusedBytesMax && this.#unneeded <= unneededMax) return;
    this.#unneeded = 0;
    this.#use(Buffer.alloc(firstBytes));
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.length++] = value;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  word(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.length, value, true);
    this.length += 4;
  }

  /** Whole numbers from 0 to 2^53. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest > 0x7fff_ffff) {
      this.#buffer[this.length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest > 127) {
      this.#buffer[this.length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.#buffer[this.length++] = rest;
  }

  /** Whole numbers from -2^52 to 2^52. */
  zigzag(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  /**
   * A string as UTF-8. `before` is added to the number of its bytes in front of it, so that smaller
   * numbers can have another meaning.
   */
  string(text: string, before = 0): void {
    if (text.length <= loopedCharsMax && this.#ascii(text, before)) return;
    const bytes = Buffer.byteLength(text);
    this.varint(bytes + before);
    this.#reserve(bytes);
    this.#buffer.write(text, this.length);
    this.length += bytes;
  }

  /** As `string`, for one that is cut into pieces. */
  pieces(pieces: readonly string[], before = 0): void {
    const [text = ''] = pieces;
    if (pieces.length <= 1) return this.string(text, before);
    const bytes = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
    this.varint(bytes + before);
    this.#reserve(bytes);
    for (const piece of pieces) this.length += this.#buffer.write(piece, this.length);
  }

  /** False, and nothing is written, when the string has other characters. */
  #ascii(text: string, before: number): boolean {
    const start = this.length;
    const chars = text.length;
    this.varint(chars + before);
    this.#reserve(chars);
    const buffer = this.#buffer;
    const at = this.length;
    let all = 0;
    for (let i = 0; i < chars; i++) {
      const code = text.charCodeAt(i);
      all |= code;
      buffer[at + i] = code;
    }
    this.length = all > 127 ? start : at + chars;
    return all <= 127;
  }

  words(words: Uint32Array, count: number): void {
    this.align();
    this.bytes(new Uint8Array(words.buffer, words.byteOffset, count * 4));
  }

  /** Fills with zeros up to the next multiple of four. */
  align(): void {
    this.#reserve(3);
    while (this.length % 4 !== 0) this.#buffer[this.length++] = 0;
  }

  /**
   * Pairs of lower-case hexadecimal digits, which begin at these places, as bytes. False,
   * and nothing is written, when there are other characters.
   */
  digits(text: string, places: readonly number[]): boolean {
    this.#reserve(places.length);
    const buffer = this.#buffer;
    const at = this.length;
    let all = 0;
    for (let i = 0; i < places.length; i++) {
      const high = digitAt(text, places[i]!);
      const low = digitAt(text, places[i]! + 1);
      all |= high | low;
      buffer[at + i] = (high << 4) | low;
    }
    if (all > 15) return false;
    this.length = at + places.length;
    return true;
  }

  /** Copies the first `length` bytes of the source. */
  firstBytes(source: Uint8Array, length: number): void {
    if (length > copiedBytesMax) {
      this.bytes(source.subarray(0, length));
      return;
    }
    this.#reserve(length);
    const buffer = this.#buffer;
    const at = this.length;
    for (let i = 0; i < length; i++) buffer[at + i] = source[i]!;
    this.length = at + length;
  }

  /** The memory that was written to, until it grows. */
  get buffer(): Buffer {
    return this.#buffer;
  }

  /** A view of what was written so far. */
  written(from = 0): Buffer {
    return this.#buffer.subarray(from, this.length);
  }

  #reserve(bytes: number): void {
    if (this.length + bytes > this.#buffer.length) this.#grow(bytes);
  }

  #grow(bytes: number): void {
    const larger = Buffer.alloc(Math.max(this.#buffer.length * 2, this.length + bytes));
    larger.set(this.#buffer.subarray(0, this.length));
    this.#use(larger);
  }

  #use(buffer: Buffer): void {
    this.#buffer = buffer;
    this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
  }
}

/**
 * Reads what a ByteWriter wrote; the bytes must begin on a four-byte boundary of their memory for
 * `words`.
 */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #view: DataView | undefined;
  #buffer: Buffer | undefined;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.at++]!;
  }

  double(): number {
    const { buffer, byteOffset, length } = this.#bytes;
    this.#view ??= new DataView(buffer, byteOffset, length);
    const value = this.#view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }

  varint(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.#bytes[this.at++]!;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  bytes(length: number): Uint8Array {
    const bytes = this.#bytes.subarray(this.at, this.at + length);
    this.at += length;
    return bytes;
  }

  /** A string of `length` bytes. */
  string(length: number): string {
    return this.#decoded('utf8', length);
  }

  /** The hexadecimal digits of `length` bytes. */
  digits(length: number): string {
    return this.#decoded('hex', length);
  }

  #decoded(encoding: 'utf8' | 'hex', length: number): string {
    // A view for each string would cost more than the string.
    this.#buffer ??= bufferOf(this.#bytes);
    const start = this.at;
    this.at += length;
    return this.#buffer.toString(encoding, start, this.at);
  }

  /** All whole words up to the end. */
  restWords(): Uint32Array {
    return this.words((this.#bytes.length - ((this.at + 3) & ~3)) >> 2);
  }

  words(count: number): Uint32Array {
    this.at = (this.at + 3) & ~3;
    const words = new Uint32Array(this.#bytes.buffer, this.#bytes.byteOffset + this.at, count);
    this.at += count * 4;
    return words;
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

// A typed array with room for more values.

type NumberArray = Float64Array | Uint8Array | Uint16Array | Uint32Array;

/** A copy of the length; the new places have the value of `fill`. */
export function grown<T extends NumberArray>(array: T, length: number, fill = 0): T {
  const larger = new (array.constructor as new (length: number) => T)(length);
  larger.set(array);
  if (fill !== 0) larger.fill(fill, array.length);
  return larger;
}

// Hexadecimal digits by the code of their character.

/** Of other characters; digits are below 16. */
const noDigit = 255;
const zero = 0x30;
const a = 0x61;

/** The value of the digit at that place: of 0 to 9 and of a to f. */
export function digitAt(text: string, place: number): number {
  const code = text.charCodeAt(place);
  // Comparisons with NaN, which is behind the end, are false.
  if (code >= zero && code < zero + 10) return code - zero;
  return code >= a && code < a + 6 ? code - a + 10 : noDigit;
}

// Own bytes: a copy that keeps no larger buffer in memory, for bytes that are stored for long.

/** Bytes from a connection are a part of everything that arrived with them. */
export function ownBytes(bytes: Uint8Array): Buffer {
  // Not from the pool of buffers, which would be kept as well.
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

// UTF-8: whether bytes that arrive in chunks are it, and where they are not.

/** A class, because a character may continue in the next chunk. */
export class Utf8Check {
  /** The bytes of a character whose end has not come. */
  #begun: Uint8Array = new Uint8Array(0);
  #passed = 0;

  /** The offset of the first byte that is not UTF-8, counted over all chunks; undefined for none. */
  add(chunk: Uint8Array): number | undefined {
    const bytes = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk]);
    const wholeTo = wholeLength(bytes);
    const whole = bytes.subarray(0, wholeTo);
    if (!isUtf8(whole)) return this.#passed + faultIn(whole);
    // Whoever gets the chunk next may give its memory back.
    this.#begun = Uint8Array.from(bytes.subarray(wholeTo));
    this.#passed += wholeTo;
    return undefined;
  }

  /** The same at the end of the last chunk. */
  end(): number | undefined {
    return this.#begun.length === 0 ? undefined : this.#passed;
  }
}

/** The offset of the first byte that is not UTF-8; undefined for none. */
export function utf8Fault(bytes: Uint8Array): number | undefined {
  if (isUtf8(bytes)) return undefined;
  const check = new Utf8Check();
  return check.add(bytes) ?? check.end();
}

/** Without the bytes of a last character that is not complete. */
function wholeLength(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back] ?? 0;
    const isContinuation = byte >= 0x80 && byte < 0xc0;
    if (!isContinuation) return characterLength(byte) > back ? length - back : length;
  }
  return length;
}

function characterLength(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}

/** The offset of the longest prefix that is UTF-8, found by halving. */
function faultIn(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const end = good + wholeLength(bytes.subarray(good, middle));
    if (end === good) {
      // Within one character, which is short.
      if (isUtf8(bytes.subarray(good, middle))) good = middle;
      else if (bad - good <= 4) return good;
      else bad = Math.min(bad, good + 4);
    } else if (isUtf8(bytes.subarray(good, end))) good = end;
    else bad = middle;
  }
  return good;
}

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
