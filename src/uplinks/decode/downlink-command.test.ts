// From command to downlinks (interface 2.10, contract 15 and 17).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ScriptMachine } from '../../scripting/script-machine.ts';
import { type CommandToEncode, type EncodedCommand, encodeDownlink } from './downlink-command.ts';

let machine: ScriptMachine;
beforeAll(() => {
  machine = new ScriptMachine({ workers: 1 });
});
afterAll(() => machine.close());

const device = {
  id: 'id',
  deviceId: 'ABC',
  name: 'Valve',
  description: null,
  customFields: {},
  tags: [],
};

function encoded(script: string, more: Partial<CommandToEncode> = {}): Promise<EncodedCommand> {
  const command = {
    tenant: 'o',
    device,
    script,
    payload: { level: 3 },
    port: 1,
    confirmed: false,
    state: {},
    ...more,
  };
  return encodeDownlink(machine)(command);
}

const within = (body: string): string => `function consume(event) { ${body} }`;

test('contract 15: the event has payload, port, confirmed, device and state, and data for encoders that read that', async () => {
  const { downlinks } = await encoded(within('emit("downlink", { payload: event });'), {
    payload: { payloadHex: '0a' },
  });
  const payload = { payloadHex: '0a' };
  expect(downlinks[0]!.payload).toEqual({
    payload,
    data: payload,
    payloadHex: '0a',
    port: 1,
    confirmed: false,
    state: {},
    device,
  });
});

const emitted: [string, object][] = [
  ['{ payloadHex: "0A0b" }', { port: 1, confirmed: false, payloadHex: '0A0b' }],
  ['{ port: 7, confirmed: true, payloadHex: "" }', { port: 7, confirmed: true, payloadHex: '' }],
  [
    '{ topic: "cmd", payload: { a: event.payload.level } }',
    { port: 1, confirmed: false, topic: 'cmd', payload: { a: 3 } },
  ],
];
for (const [text, downlink] of emitted) {
  test(`a downlink is what was emitted, completed by the command: ${text}`, async () => {
    expect(await encoded(within(`emit("downlink", ${text});`))).toEqual({
      downlinks: [downlink],
      notes: [],
    });
  });
}

const malformed: [string, RegExp][] = [
  ['5', /must be an object/],
  ['{}', /payloadHex or payload is required/],
  ['{ payloadHex: "0" }', /hexadecimal/],
  ['{ payloadHex: "zz" }', /hexadecimal/],
  ['{ payloadHex: 5 }', /hexadecimal/],
  ['{ payloadHex: "00", port: 256 }', /port/],
  ['{ payloadHex: "00", port: 1.5 }', /port/],
  ['{ payloadHex: "00", confirmed: "yes" }', /confirmed/],
  ['{ payload: {}, topic: 5 }', /topic/],
];
for (const [text, message] of malformed) {
  test(`a malformed downlink is noted and not sent: ${text}`, async () => {
    const { downlinks, notes } = await encoded(within(`emit("downlink", ${text});`));
    expect(downlinks).toEqual([]);
    expect(notes).toEqual([
      { level: 'ERROR', source: 'DOWNLINK', message: expect.stringMatching(message) },
    ]);
  });
}

test('several downlinks of one command, and what has no effect here', async () => {
  const { downlinks, notes } = await encoded(
    within(
      'emit("downlink", { payloadHex: "01" }); emit("log", 1); emit("sample", {}); emit("downlink", { payloadHex: "02" }); x;',
    ),
  );
  expect(downlinks.map(({ payloadHex }) => payloadHex)).toEqual(['01', '02']);
  expect(notes).toEqual([
    { level: 'WARN', source: 'DOWNLINK', message: expect.stringContaining("emit('sample'") },
    {
      level: 'ERROR',
      source: 'DOWNLINK',
      message: 'ReferenceError: x is not defined',
      details: expect.any(Object),
    },
  ]);
});

test('a number that is not finite is null with a warning', async () => {
  const { downlinks, notes } = await encoded(within('emit("downlink", { payload: { a: NaN } });'));
  expect(downlinks[0]!.payload).toEqual({ a: null });
  expect(notes).toEqual([expect.objectContaining({ level: 'WARN', source: 'DOWNLINK' })]);
});

test('a payload codec encodes a command', async () => {
  const codec = `function decodeUplink() {}
    function encodeDownlink(input) { return { bytes: [input.data.level], fPort: 9, warnings: ["late"] }; }`;
  expect(await encoded(codec)).toEqual({
    downlinks: [{ port: 9, confirmed: false, payloadHex: '03' }],
    notes: [{ level: 'WARN', source: 'DOWNLINK', message: 'late' }],
  });
});
