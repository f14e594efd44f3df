// Interface 4.8, contract 15 and 16: one script run, emits in order, every error an ERROR entry of a 200.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal } from '../world/expectations.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const path = '/v3/run-script';
async function run(
  script: string,
  event: unknown = { data: {}, timestamp: '2026-01-01T00:00:00.000Z' },
) {
  const { status, body } = await world.call('POST', path, { script, event });
  expect(status).toBe(200);
  return body as { type: string; event: unknown }[];
}
const consume = (body: string) => `function consume(event) { ${body} }`;

describe('interface 4.8: {type, event} in the order of emits', () => {
  for (const [what, body, expected] of [
    ['nothing emitted: no effect and no error', '', []],
    [
      'sample, log, downlink, state, action and timer mirror the emit type',
      `emit('sample', { data: { a: 1 }, topic: 'not valid!' }); emit('log', { b: 2 }); emit('downlink', { port: 1, payloadHex: 'ff' });
       emit('state', { c: 3 }); emit('action', { d: 4 }); emit('timer', { runAt: new Date(Date.UTC(2030, 0, 1)) });`,
      [
        { type: 'SAMPLE', event: { data: { a: 1 }, topic: 'not valid!' } },
        { type: 'LOG', event: { b: 2 } },
        { type: 'DOWNLINK', event: { port: 1, payloadHex: 'ff' } },
        { type: 'STATE', event: { c: 3 } },
        { type: 'ACTION', event: { d: 4 } },
        { type: 'TIMER', event: { runAt: '2030-01-01T00:00:00.000Z' } },
      ],
    ],
    [
      "emit('log', text) yields the text",
      `emit('log', 'text'); emit('log', 7);`,
      [
        { type: 'LOG', event: 'text' },
        { type: 'LOG', event: 7 },
      ],
    ],
    [
      'not normalised: no topic or key check, undefined members dropped, Date to ISO',
      `emit('sample', { data: { 'bad key!': 1, gone: undefined, n: null }, timestamp: new Date(0), topic: '!' });`,
      [
        {
          type: 'SAMPLE',
          event: {
            data: { 'bad key!': 1, n: null },
            timestamp: '1970-01-01T00:00:00.000Z',
            topic: '!',
          },
        },
      ],
    ],
    [
      'contract 16: numbers that are not finite arrive as texts',
      `emit('sample', { data: { a: NaN, b: Infinity, c: -Infinity, d: [0 / 0], e: { f: 1 / 0 } } });`,
      [
        {
          type: 'SAMPLE',
          event: {
            data: { a: 'NaN', b: 'Infinity', c: '-Infinity', d: ['NaN'], e: { f: 'Infinity' } },
          },
        },
      ],
    ],
    [
      'an unknown type adds its ERROR and the run goes on',
      `emit('foo', { a: 1 }); emit('log', 'after');`,
      [
        { type: 'ERROR', event: expect.objectContaining({ message: 'invalid emit type foo' }) },
        { type: 'LOG', event: 'after' },
      ],
    ],
  ] as const)
    test(what, async () => expect(await run(consume(body))).toEqual(expected));

  test('the event arrives as it was sent', async () => {
    const event = {
      data: { port: 1, payloadHex: '0a' },
      device: { tags: ['a'] },
      timestamp: '2026-01-01T00:00:00Z',
      state: { n: 1 },
      odd: [1, { x: null }],
    };
    expect(await run(consume(`emit('log', event)`), event)).toEqual([{ type: 'LOG', event }]);
  });
  test('an absent event is an empty one', async () => {
    const { body } = await world.call('POST', path, { script: consume(`emit('log', event)`) });
    expect(body).toEqual([{ type: 'LOG', event: {} }]);
  });
});

describe('contract 16: faults are ERROR entries with a message', () => {
  for (const [what, script, message, before] of [
    ['missing consume', 'const a = 1;', /consume/, 0],
    ['consume that is no function', 'const consume = 1;', /consume/, 0],
    ['syntax error', 'function consume(event) { let }', /./, 0],
    [
      'exception; what was emitted before it stays',
      consume(`emit('log', 1); throw new Error('no way');`),
      /no way/,
      1,
    ],
    ['thrown text', consume(`throw 'plain';`), /plain/, 0],
    ['endless loop', consume('for (;;);'), /./, 0],
    ['strict mode', consume('undeclared = 1;'), /undeclared/, 0],
    ['console is off', consume(`console.log('x');`), /console/, 0],
    ['print is off', consume(`print('x');`), /print/, 0],
    ['require is off', consume(`require('fs');`), /require/, 0],
    ['unknown modules are refused', `import fs from 'node:fs';\n${consume('')}`, /fs/, 0],
    ['endless recursion', consume('consume(event);'), /./, 0],
  ] as const)
    test(what, async () => {
      const entries = await run(script);
      expect(entries).toHaveLength(before + 1);
      expect(entries[before]).toMatchObject({
        type: 'ERROR',
        event: { message: expect.stringMatching(message) },
      });
    });

  test('an error has line and column in the source', async () => {
    const [entry] = await run('function consume(event) {\n  const a = {};\n  a.b.c = 1;\n}');
    expect(entry).toMatchObject({ type: 'ERROR', event: { line: 3, column: expect.any(Number) } });
  });

  for (const [emits, errors] of [
    [50, 0],
    [51, 1],
    [60, 1],
  ])
    test(`interface 2.10: at most 50 emits a run: ${emits}`, async () => {
      const entries = await run(consume(`for (let i = 0; i < ${emits}; i++) emit('log', i);`));
      expect(entries.filter(({ type }) => type === 'LOG')).toHaveLength(50);
      expect(entries.filter(({ type }) => type === 'ERROR')).toHaveLength(errors!);
    });

  for (const body of [{}, { event: {} }, { script: null, event: {} }, { script: 7 }])
    test(`missing script is a 400: ${JSON.stringify(body)}`, async () => {
      const refused = await world.call('POST', path, body);
      expectRefusal(refused, 400, '40001_INVALID_REQUEST', {
        path,
        message: expect.stringContaining('script'),
      });
    });
});

describe('contract 15: what scripts find', () => {
  for (const [what, body, expected] of [
    [
      'Bits.hexToBits',
      `emit('log', Bits.hexToBits('0xA5') + Bits.hexToBits('0f'))`,
      '1010010100001111',
    ],
    ['Bits.bitsToHex is upper-case', `emit('log', Bits.bitsToHex('1010101111001101'))`, 'ABCD'],
    [
      'Bits.bitsToUnsigned',
      `emit('log', [Bits.bitsToUnsigned('1111'), String(Bits.bitsToUnsigned(''))])`,
      [15, 'NaN'],
    ],
    [
      'Bits.bitsToSigned',
      `emit('log', [Bits.bitsToSigned('1111'), Bits.bitsToSigned('0111')])`,
      [-1, 7],
    ],
    [
      'Bits.base64',
      `emit('log', [Bits.base64ToBits('qg=='), Bits.bitsToBase64('10101010')])`,
      ['10101010', 'qg=='],
    ],
    ['Hex.hexToBytes', `emit('log', Hex.hexToBytes('00ff7f'))`, [0, 255, 127]],
    [
      'Hex.bytesToHex is lower-case, negative bytes count from 256',
      `emit('log', Hex.bytesToHex([0, 255, -1, 16]))`,
      '00ffff10',
    ],
    [
      'Hex.hexLittleEndianToBigEndian',
      `emit('log', [Hex.hexLittleEndianToBigEndian('ffff'), Hex.hexLittleEndianToBigEndian('ffff', false), Hex.hexLittleEndianToBigEndian('0100', true)])`,
      [-1, 65535, 1],
    ],
  ] as const)
    test(what, async () =>
      expect(await run(consume(body))).toEqual([{ type: 'LOG', event: expected }]),
    );

  test('fresh load per run: variables do not survive', async () => {
    const script = `let n = 0; ${consume(`emit('log', ++n); globalThis.m = (globalThis.m || 0) + 1; emit('log', m);`)}`;
    for (let at = 0; at < 2; at++)
      expect(await run(script)).toEqual([
        { type: 'LOG', event: 1 },
        { type: 'LOG', event: 1 },
      ]);
  });

  for (const [what, script, expected] of [
    [
      'luxon',
      `import { DateTime } from 'luxon';\n${consume(`emit('log', DateTime.fromISO('2026-03-29T00:30:00', { zone: 'Europe/Zurich' }).plus({ hours: 2 }).toISO())`)}`,
      '2026-03-29T03:30:00.000+02:00',
    ],
    [
      'moment',
      `import moment from 'moment';\n${consume(`emit('log', moment.utc('2026-01-31').add(1, 'month').toISOString())`)}`,
      '2026-02-28T00:00:00.000Z',
    ],
    ['with export', `export ${consume(`emit('log', 'here')`)}`, 'here'],
  ] as const)
    test(`modules: ${what}`, async () =>
      expect(await run(script)).toEqual([{ type: 'LOG', event: expected }]));

  test('a script of 258 kB runs', async () => {
    expect(await run(`${consume(`emit('log', 1)`)}\n// ${'x'.repeat(258_000)}`)).toEqual([
      { type: 'LOG', event: 1 },
    ]);
  });
});
