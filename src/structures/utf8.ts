// UTF-8: whether bytes that arrive in chunks are it, and where they are not.
import { isUtf8 } from 'node:buffer';

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
