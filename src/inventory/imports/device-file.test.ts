// Device files as Excel leaves them: empty rows and columns, its encodings, and the line that names the separator.
import { expect, test } from 'vitest';
import { readDeviceFile } from './device-file.ts';

const read = async (text: string | Buffer) => readDeviceFile(Buffer.from(text), 'csv');
const devices = [
  { line: 2, values: { deviceId: 'a', name: 'Ä' } },
  { line: 3, values: { deviceId: 'b', name: 'B' } },
];

test.each([
  ['empty columns', 'deviceId;name;;\r\na;Ä;;\r\nb;B;;;;\r\n'],
  ['empty rows', 'deviceId;name\r\na;Ä\r\nb;B\r\n;\r\n;;;\r\n \r\n'],
  ['Unicode text', Buffer.from('\ufeffdeviceId\tname\r\na\tÄ\r\nb\tB\r\n', 'utf16le')],
  ['a mark', '\ufeffdeviceId,name\r\na,Ä\r\nb,B\r\n'],
])('behaviour 17: a file with %s is read', async (_what, file) => {
  expect(await read(file)).toEqual({ devices, problems: [] });
});

test('behaviour 17: the line sep= names the separator, and counts as a line', async () => {
  const { devices: found, problems } = await read('sep=;\r\ndeviceId;name\r\na,1;Ä\r\n');
  expect({ found, problems }).toEqual({
    found: [{ line: 3, values: { deviceId: 'a,1', name: 'Ä' } }],
    problems: [],
  });
});

test('a value without a column name, and another encoding, are problems', async () => {
  expect((await read('deviceId;name;\r\na;Ä;x\r\n')).problems).toEqual([
    { line: 2, field: null, message: expect.stringContaining('a value in cell 3') },
  ]);
  expect((await read(Buffer.from('deviceId;name\r\na;Ä\r\n', 'latin1'))).problems).toEqual([
    { line: 1, field: null, message: expect.stringContaining('not valid UTF-8') },
  ]);
});
