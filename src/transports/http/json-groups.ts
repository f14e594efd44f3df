// JSON groups: the limits and the error of readers that parse a body of many values while it arrives.

export interface JsonGroupLimits {
  /** A group ends with the element that makes it this long, or this many. */
  readonly groupBytes: number;
  readonly groupElementsMax: number;
  /** A longer element breaks the body. */
  readonly elementBytesMax: number;
  /** Levels of nesting. The array around the elements is the first, also in NDJSON. */
  readonly depthMax: number;
}

export const jsonGroupLimits: JsonGroupLimits = {
  groupBytes: 256 * 1024,
  groupElementsMax: 1_000,
  elementBytesMax: 1024 * 1024,
  depthMax: 64,
};

/** Some clients send it before a body. */
export const byteOrderMark: readonly number[] = [0xef, 0xbb, 0xbf];

interface BrokenPlace {
  /** Number of the element, from 0. */
  readonly index: number;
  /** Position in the body, in bytes from 0, as exact as the parser reports it. */
  readonly byte: number;
  /** Number of the line, from 1, where elements are lines. */
  readonly line?: number;
}

/**
 * The bytes are not valid or exceed the limits. The elements before the place were returned
 * already.
 */
export class BrokenJson extends Error {
  override readonly name = 'BrokenJson';
  readonly place: BrokenPlace;

  constructor(reason: string, place: BrokenPlace) {
    super(reason);
    this.place = place;
  }
}

/**
 * The reason of a message of JSON.parse, and the number of bytes before the fault in the element.
 */
export function parseFault(
  message: string,
  text: string,
): { readonly reason: string; readonly offset: number } {
  const reason = message.replace(/ (?:in|after) JSON at position .*$/s, '');
  const parsed = / (?:in|after) JSON at position (\d+)/.exec(message);
  if (parsed === null) return { reason, offset: text.length - text.trimStart().length };
  return { reason, offset: Buffer.byteLength(text.slice(0, Number(parsed[1]))) };
}
