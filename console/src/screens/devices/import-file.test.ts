// Import files: columns of vendors find their fields, and lines of a report find their rows again.
import { describe, expect, test } from 'vitest';
import { changedCell, fileToSend, guessMapping, readImportFile } from './import.tsx';

const vendor = 'Dev EUI;Label;Floor;Colour\r\n0102;"Room\n1";2;red\r\n0304;Room 2;;blue\r\n';

describe('the file of a vendor', () => {
  const file = readImportFile('vendor.csv', vendor);
  const mapping = guessMapping(file.columns, ['Floor']);

  test('has its lines and columns', () => {
    expect(file.columns).toEqual(['Dev EUI', 'Label', 'Floor', 'Colour']);
    expect(file.rows.map(({ line }) => line)).toEqual([2, 4]);
    expect(mapping).toEqual({ deviceId: 0, name: 1, 'customFields.Floor': 2 });
  });

  test('is sent under the names of the platform, with defaults', () => {
    const { csv, rowOfLine } = fileToSend(file.rows, mapping, { dataFlow: 'Rooms', name: 'no' });
    expect(csv).toBe(
      'deviceId,name,customFields.Floor,dataFlow\r\n0102,"Room\n1",2,Rooms\r\n0304,Room 2,,Rooms\r\n',
    );
    expect([...rowOfLine].map(([line, row]) => [line, row.line])).toEqual([
      [2, 2],
      [4, 4],
    ]);
  });
});

test('a repaired cell is the only change of its row', () => {
  const row = { line: 3, cells: ['a'] };
  expect(changedCell(row, 2, 'c')).toEqual({ line: 3, cells: ['a', '', 'c'] });
  expect(row.cells).toEqual(['a']);
});

test('a line that cannot be read is reported with its number', () => {
  const { rows, faults } = readImportFile('broken.csv', 'deviceId\na\n"b\n');
  expect(rows).toHaveLength(1);
  expect(faults).toEqual([{ line: 3, field: null, message: 'does not close the quote of cell 1' }]);
});
