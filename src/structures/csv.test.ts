// The one CSV reader, against a writer and against torn rows.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvCells, csvLine, csvRows, originalText, separatorOf, withoutFormula } from './csv.ts';

const cell = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '"', ',', ';', '\t', '\r', '\n', 'é', '\ufeff', '='),
});
const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), {
  minLength: 1,
  maxLength: 6,
});

function written(cells: readonly string[], separator: string, quotesAll: boolean): string {
  return cells
    .map((text) =>
      quotesAll || /[",;\t\r\n\ufeff]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text,
    )
    .join(separator);
}

test('whatever is written is read again, with any separator and line end, and each row knows its line', () => {
  const separators = fc.constantFrom(',', ';', '\t');
  const ends = fc.constantFrom('\n', '\r\n', '\r');
  fc.assert(
    fc.property(
      rows,
      separators,
      ends,
      fc.boolean(),
      fc.boolean(),
      (table, separator, end, quotesAll, endsOpen) => {
        const lines = table.map((cells) => written(cells, separator, quotesAll));
        const text = lines.join(end) + (endsOpen ? '' : end);
        const read = [...csvRows(text, separator)];
        expect(read.map(({ cells }) => cells)).toEqual(table);
        let line = 1;
        for (const [i, row] of read.entries()) {
          expect(row.line).toBe(line);
          line += `${lines[i]}${end}`.split(/\r\n|\r|\n/).length - 1;
        }
        for (const [i, one] of lines.entries()) expect(csvCells(one, separator)).toEqual(table[i]);
      },
    ),
  );
});

test('any text is read to its end, and every line is in exactly one row or empty', () => {
  fc.assert(
    fc.property(cell, (text) => {
      const read = [...csvRows(text, ',')];
      const lines = read.map(({ line }) => line);
      expect(lines).toEqual([...new Set(lines)].sort((a, b) => a - b));
      // Without quotes there is nothing to be torn.
      if (!text.includes('"')) expect(read.filter(({ fault }) => fault !== undefined)).toEqual([]);
    }),
  );
});

test('review bug B5: text behind a closing quote is told by its line, and tears no row', () => {
  expect([...csvRows('deviceId,name,dataFlow\nd1,"Pump" ,Flow\nd2,Pump,Flow', ',')]).toEqual([
    { line: 1, cells: ['deviceId', 'name', 'dataFlow'] },
    { line: 2, cells: ['d1'], fault: 'has text behind the closing quote of cell 2' },
    { line: 3, cells: ['d2', 'Pump', 'Flow'] },
  ]);
  expect(() => csvCells('d1,"Pump" ,Flow', ',')).toThrow(
    'has text behind the closing quote of cell 2',
  );
});

test.each([
  ['a,"b', 'does not close the quote of cell 2'],
  ['"a\nb', 'does not close the quote of cell 1'],
  ['"a""', 'does not close the quote of cell 1'],
])('%j %s', (text, fault) =>
  expect([...csvRows(text, ',')].map((row) => row.fault)).toEqual([fault]),
);

test.each([
  ['a,b;c,d', ','],
  ['a;b,c;d', ';'],
  ['"a;b;c",d', ','],
  ['a\tb', '\t'],
  ['a', ','],
])('the separator of %j is %j', (text, separator) => expect(separatorOf(text)).toBe(separator));

test('the writer and the reader agree, with and without a guard against formulas', () => {
  fc.assert(
    fc.property(rows, (table) => {
      const text = table.map((cells) => csvLine(cells.map(withoutFormula))).join('');
      // A byte order mark at the start belongs to the file, not to the first cell.
      const read = [...csvRows(`\ufeff${text}`, ',')];
      const cellsRead = read.map(({ cells }) => cells.map(originalText));
      expect(cellsRead).toEqual(table.map((cells) => cells.map(originalText)));
      for (const { cells } of read)
        for (const text of cells) expect(text).not.toMatch(/^[=+\-@\t\r]/);
    }),
  );
});

test('cells are quoted where a reader with another separator would split them', () => {
  expect(csvLine(['a;b', 'c'])).toBe('a;b,c\r\n');
  expect(csvLine(['a;b', 'c'], /[",;\r\n]/)).toBe('"a;b",c\r\n');
});
