// Questions: words with a meaning in English and German, and times by the clock of a zone.
import { expect, test } from 'vitest';
import { openTimeZone } from '../../model/time-zone.ts';
import { readQuestion } from './question.ts';

// A Thursday; in Zurich 13:30.
const now = Date.UTC(2026, 2, 26, 12, 30);
const zurich = openTimeZone('Europe/Zurich')!;
const read = (text: string) => readQuestion(text, now, zurich);
const restOf = (text: string) => {
  const { words, known } = read(text);
  return words.filter((_, place) => !known.has(place));
};

test.each([
  ['average temperature in room 1 last week', 'AVG', 'en'],
  ['What is the highest power of the pump today?', 'MAX', 'en'],
  ['number of openings yesterday', 'COUNT', 'en'],
  ['durchschnittliche Temperatur im Keller gestern', 'AVG', 'de'],
  ['Wie viele Öffnungen heute', 'COUNT', 'de'],
  ['Verbrauch der Halle letzten Monat', 'INCREASE', 'de'],
  ['temperature', undefined, 'en'],
] as const)('%s: accumulator %s, language %s', (text, accumulator, language) => {
  expect(read(text)).toMatchObject({ accumulator, language });
});

test.each([
  ['silent in basement', 'SILENT'],
  ['low battery floor 2', 'LOW_BATTERY'],
  ['stumme geräte im keller', 'SILENT'],
  ['schwache batterie', 'LOW_BATTERY'],
  ['offene alarme', 'ALARMS'],
] as const)('%s is about %s', (text, about) => {
  expect(read(text).about).toBe(about);
});

test('what has no meaning is left for names', () => {
  expect(restOf('average temperature in the room 1 last week')).toEqual([
    'temperature',
    'room',
    '1',
  ]);
  expect(restOf('wie hoch war die feuchte in Büro 3 gestern?')).toEqual(['feuchte', 'büro', '3']);
  expect(restOf('???')).toEqual([]);
});

const local = (month: number, day: number, offset = 1) =>
  Date.UTC(2026, month, day) - offset * 3_600_000;
test.each([
  ['today', local(2, 26), now],
  ['yesterday', local(2, 25), local(2, 26)],
  ['diese Woche', local(2, 23), now],
  ['last week', local(2, 16), local(2, 23)],
  ['letzten Monat', local(1, 1), local(2, 1)],
  ['this month', local(2, 1), now],
  ['this year', local(0, 1), now],
  ['last year', Date.UTC(2024, 11, 31, 23), local(0, 1)],
  ['tuesday', local(2, 24), local(2, 25)],
  ['am Freitag', local(2, 20), local(2, 21)],
  ['donnerstag', local(2, 26), now],
  ['last 3 hours', now - 3 * 3_600_000, now],
  ['letzten 30 Minuten', now - 30 * 60_000, now],
  ['past hour', now - 3_600_000, now],
])('%s', (text, from, to) => {
  expect(read(text).interval).toMatchObject({ from, to });
});

test('a day of the change to summer time has 23 hours', () => {
  const monday = Date.UTC(2026, 2, 30, 10);
  const { interval } = readQuestion('yesterday', monday, zurich);
  expect((interval!.to - interval!.from) / 3_600_000).toBe(23);
});

test('words without end are cut', () => {
  expect(read('a '.repeat(100)).words).toHaveLength(16);
});
