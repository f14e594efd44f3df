// Byte cursor: a position in the bytes of a body that the slot readers move forward.

/** A class, so that every cursor has the same hidden class: it is read once per byte of a body. */
export class ByteCursor {
  readonly bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Moves behind `expected` when it follows at the cursor; returns whether it does. */
  skip(expected: Uint8Array): boolean {
    const bytes = this.bytes;
    const { length } = expected;
    let at = this.at;
    for (let i = 0; i < length; i++) if (bytes[at++] !== expected[i]) return false;
    this.at = at;
    return true;
  }
}
