// CSV of tiles: read back, cells are the values; no cell is a formula.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvRows, originalText } from '../../structures/csv.ts';
import { tileCsv } from './document.ts';

const rowsOf = (columns: Parameters<typeof tileCsv>[0], zone = 'UTC') =>
  [...csvRows([...tileCsv(columns, zone)].join(''), ',')].map(({ cells }) => cells);

test('any label and value reads back, and none begins like a formula', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom(
      '=1+1',
      '@SUM(A1)',
      '-x',
      '+cmd|',
      '-5',
      '+1e3',
      '\t=1',
      '',
      "'=1",
      'a"b',
      'a\r\nb',
    ),
  );
  const value = fc.oneof(texts, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean());
  fc.assert(
    fc.property(
      texts,
      texts,
      fc.array(value, { minLength: 1, maxLength: 5 }),
      (label, unit, values) => {
        const timestamps = values.map((_, at) => new Date(at * 1_000).toISOString());
        const [head = [], ...rows] = rowsOf([{ label, unit, timestamps, values }]);
        const name = unit === '' ? label : `${label} (${unit})`;
        expect(head[0]).toBe('time');
        expect([name, `'${name}`]).toContain(head[1]);
        for (const [at, row] of rows.entries()) {
          const cell = row[1] ?? '';
          const sent = values[at];
          expect(originalText(cell)).toBe(
            typeof sent === 'string' ? originalText(sent) : JSON.stringify(sent),
          );
          expect(/^[=@\t\r]/.test(cell)).toBe(false);
          if (/^[+-]/.test(cell)) expect(Number.isNaN(Number(cell))).toBe(false);
        }
      },
    ),
  );
});

test('times have the offset of the zone, and columns with other times have empty cells', () => {
  const at = (time: string, value: unknown) => ({
    label: String(value),
    unit: '',
    timestamps: [time],
    values: [value],
  });
  expect(
    rowsOf([at('2026-10-25T01:30:00Z', 1), at('2026-10-25T00:30:00.250Z', 2)], 'Europe/Zurich'),
  ).toEqual([
    ['time', '1', '2'],
    ['2026-10-25T02:30:00.250+02:00', '', '2'],
    ['2026-10-25T02:30:00+01:00', '1', ''],
  ]);
});
