// Line protocol compared with InfluxDB 1: the same lines are good, and good ones say the same.
import { expect, test } from 'vitest';
import {
  createLineReader,
  isFault,
  seriesOf,
  timeReader,
} from '../../src/transports/line-protocol/line-reader.ts';
import { influxdb, startInfluxDb } from '../servers/influxdb.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';

/** What a line contains: its tags and fields as one object; `refused` for a line that is not valid. */
type Said = Readonly<Record<string, unknown>> | 'refused';

/** Lines with the measurement `m`, without a time unless it is what is tried. */
const lines = [
  'm v=1',
  ' m v=1',
  'm  v=1  ',
  'm,a=b v=1',
  'm,a=b,c=d v=1,w=2',
  'm v=1.',
  'm v=.5',
  'm v=1E+2',
  'm v=1e-2',
  'm v=-1',
  'm v=1i',
  'm v=-1i',
  'm v=12345678901i',
  'm v=9223372036854775808i',
  'm v=1.5i',
  'm v=t',
  'm v=TRUE',
  'm v=True',
  'm v=tRUE',
  'm v=f',
  'm v=False',
  'm v=no',
  'm v=NaN',
  'm v=Inf',
  'm v=-Inf',
  'm v=0x1',
  'm v=1e999',
  'm v=--1',
  'm v="a"',
  'm v=""',
  'm v="a b,c=d"',
  'm v="a \\"b\\""',
  'm v="a\\\\b"',
  'm v="a\\b"',
  'm v="a\nb"',
  'm v="a',
  "m v='a'",
  'm v=1,w="x",y=t',
  'm v=1,v=2',
  'm v=1,',
  'm ,v=1',
  'm v=',
  'm v',
  'm =1',
  'm',
  'm,',
  ',a=b v=1',
  'm,a v=1',
  'm,a= v=1',
  'm,=b v=1',
  'm,a=b,a=c v=1',
  'm,a=b=c v=1',
  'm,a=b\\=c v=1',
  'm,a\\,x=b v=1',
  'm,a\\ x=b\\ c v=1',
  'm,a="b" v=1',
  'm,a=b\\c v=1',
  'm v\\,w=1',
  'm v\\ w=1',
  'm v\\=w=1',
  'm "v"=1',
  'm v=1 x',
  'm v=1 1.5',
  'm v=1 1e3',
  'm v=1 1700000000000000000',
  'm v=1 -1000000000',
  'm v=1 1 2',
  '# m v=1',
];

/** Lines that are good here although that server refuses them, and why. */
const choices = new Map<string, Said>([
  ['m v=1u', { v: 1 }], // Newer versions accept unsigned integers.
  ['m v=+1', { v: 1 }],
]);

/** Of the first point; an empty object without one. */
function saidHere(line: string): Said {
  const read = createLineReader([line]).next();
  if (read === undefined) return {};
  const series = isFault(read) ? read : seriesOf(read.series);
  if (isFault(read) || isFault(series)) return 'refused';
  const { timestamp, keys, values } = read;
  if (timestamp !== '' && timeReader('ns')!(timestamp) === undefined) return 'refused';
  const fields = Object.fromEntries(keys.map((key, i) => [key, values[i]]));
  return { ...Object.fromEntries(series.tags), ...fields };
}

describeWith(influxdb, 'line protocol beside InfluxDB 1', () => {
  const server = startedBefore(startInfluxDb);

  async function saidThere(line: string): Promise<Said> {
    const { port, username, password, ask } = server();
    await ask('DROP MEASUREMENT m');
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    const answer = await fetch(`http://127.0.0.1:${port}/write?db=target`, {
      method: 'POST',
      headers: { authorization },
      body: line,
    });
    if (answer.status === 400) return 'refused';
    expect(answer.status).toBe(204);
    const [row = {}] = await ask('SELECT * FROM m');
    const { time: _, ...said } = row;
    return said;
  }

  test('the same lines are good, and say the same', async () => {
    const different: unknown[] = [];
    for (const line of lines) {
      const [here, there] = [saidHere(line), await saidThere(line)];
      if (JSON.stringify(sorted(here)) !== JSON.stringify(sorted(there)))
        different.push({ line, here, there });
    }
    expect(different).toEqual([]);
  });

  test('lines that only this reader accepts', () => {
    for (const [line, said] of choices) expect(saidHere(line)).toEqual(said);
  });
});

function sorted(said: Said): unknown {
  return said === 'refused' ? said : Object.entries(said).sort();
}
