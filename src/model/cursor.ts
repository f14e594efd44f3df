// Cursors: the position of a sample in the order of storage, as a string that sorts in the same order.

const positionDigits = 14;
const indexDigits = 6;

/** Position of the sample's entry, then its number in it from 1. */
export function cursorAt(position: number, index: number): string {
  return prefixOf(position) + indexDigitsOf(index);
}

/**
 * The cursors of one entry: what they share is made once, and the usual numbers are not made at
 * all.
 */
export function cursorsAt(position: number): (index: number) => string {
  const prefix = prefixOf(position);
  return (index) => prefix + indexDigitsOf(index);
}

function indexDigitsOf(index: number): string {
  return indexTexts[index] ?? String(index).padStart(indexDigits, '0');
}

let thousands = Number.NaN;
let thousandsDigits = '';

/** Consecutive positions usually share all but the last three digits. */
function prefixOf(position: number): string {
  const above = Math.floor(position / 1_000);
  if (above !== thousands) {
    thousands = above;
    thousandsDigits = String(above).padStart(positionDigits - 3, '0');
  }
  return thousandsDigits + (lastDigits[position % 1_000] ?? '');
}

const lastDigits = Array.from({ length: 1_000 }, (_, rest) => String(rest).padStart(3, '0'));

const indexTexts = Array.from({ length: 1_001 }, (_, index) =>
  String(index).padStart(indexDigits, '0'),
);

/** The parts of a cursor; undefined for an invalid cursor. */
export function readCursor(cursor: string): { position: number; index: number } | undefined {
  if (!/^\d+$/.test(cursor) || cursor.length !== positionDigits + indexDigits) return undefined;
  return {
    position: Number(cursor.slice(0, positionDigits)),
    index: Number(cursor.slice(positionDigits)),
  };
}
