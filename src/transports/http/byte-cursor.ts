// Byte cursor: a position in the bytes of a body that the readers of values move forward, and their contract.

/** Bytes that a body is compared with: four at a time, then the rest. */
export class FixedBytes {
  readonly length: number;
  /** The first bytes, as words; the others are behind them. */
  readonly words: Int32Array;
  readonly rest: Uint8Array;

  constructor(bytes: Uint8Array) {
    const { length } = bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    this.length = length;
    this.words = Int32Array.from({ length: length >> 2 }, (_, i) => view.getInt32(i * 4, true));
    this.rest = bytes.slice(length & ~3);
  }
}

/** A class, so that every cursor has the same hidden class: it is read once per byte of a body. */
export class ByteCursor {
  readonly bytes: Buffer;
  /** The same bytes, for reads of words. */
  readonly view: DataView;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Moves behind `expected` when it follows at the cursor; returns whether it does. */
  skip({ length, words, rest }: FixedBytes): boolean {
    const { bytes, view } = this;
    let at = this.at;
    if (at + length > bytes.length) return false;
    for (let i = 0; i < words.length; i++, at += 4)
      if (view.getInt32(at, true) !== words[i]) return false;
    for (let i = 0; i < rest.length; i++, at++) if (bytes[at] !== rest[i]) return false;
    this.at = at;
    return true;
  }
}

// Slot reader: the contract of the classes that read one value of a sample into a column.

/** The readers of numbers, booleans, strings and times implement it. */
export interface SlotReader {
  /**
   * Reads the value at the cursor into `row` of the column and moves the cursor behind the value.
   * Returns false for a value of another form; the cursor may have moved then.
   */
  read(cursor: ByteCursor, row: number): boolean;
}
