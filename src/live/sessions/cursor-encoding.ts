// Place cursor: the cursor of samples of several journals, as clients get it and send it back.
// Layout: c1~TIME[~JOURNAL.POSITION.INDEX.TIME]..., numbers to the base 36, times of journals relative to the first.
import { cursorAt, readCursor } from '../../model/cursor.ts';
import type { JournalPlace, JournalPlaces } from './stream-position.ts';

const version = 'c1';
/** More journals than a cluster has nodes; a longer cursor is refused. */
const journalsMax = 200;
const head = /^[0-9a-z]{1,9}$/;
const part = /^([0-9a-f]{1,32})\.([0-9a-z]{1,9})\.([0-9a-z]{1,4})\.(-?[0-9a-z]{1,9})$/;

export function placeText({ before, journals }: JournalPlaces): string {
  const parts = [...journals].map(([journal, place]) => journalText(journal, place, before));
  return [version, before.toString(36), ...parts].join('~');
}

function journalText(journal: string, { cursor, before }: JournalPlace, first: number): string {
  const { position, index } = readCursor(cursor) ?? { position: 0, index: 0 };
  const numbers = [position, index, before - first].map((value) => value.toString(36));
  return [journal, ...numbers].join('.');
}

/** Undefined for a string that is not such a cursor. */
export function readPlaceText(sent: string): JournalPlaces | undefined {
  const [sentVersion, time = '', ...parts] = sent.split('~', journalsMax + 3);
  if (sentVersion !== version || !head.test(time) || parts.length > journalsMax) return undefined;
  const before = Number.parseInt(time, 36);
  const journals = new Map<string, JournalPlace>();
  for (const each of parts) {
    const [, journal, ...numbers] = part.exec(each) ?? [];
    const [position = 0, index = 0, behind = 0] = numbers.map((digits) =>
      Number.parseInt(digits, 36),
    );
    if (journal === undefined || position >= 1e14 || index >= 1e6) return undefined;
    // Before its first entry, only the time says what a client has.
    const cursor = position === 0 && index === 0 ? '' : cursorAt(position, index);
    journals.set(journal, { cursor, before: before + behind });
  }
  return { before, journals };
}
