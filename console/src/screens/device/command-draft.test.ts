// Command drafts: their faults and the requests that they mean.
import { expect, test } from 'vitest';
import { commandExamples, downlinkOf, emptyDraft, faultOf } from './commands.tsx';

const draft = (change: object) => ({ ...emptyDraft, ...change });

test.each([
  [{ json: '{"a":1}' }, undefined],
  [{ json: '{a}' }, 'json'],
  [{ json: '' }, 'json'],
  [{ form: 'hex', hex: '01 FF' }, undefined],
  [{ form: 'hex', hex: '01f' }, 'hex'],
  [{ form: 'hex', hex: '' }, 'hex'],
  [{ form: 'hex', hex: 'zz' }, 'hex'],
  [{ port: '223' }, undefined],
  [{ port: '0' }, 'port'],
  [{ port: '224' }, 'port'],
  [{ port: 'x' }, 'port'],
])('fault of %o', (change, field) => {
  expect(faultOf(draft(change))?.field).toBe(field);
});

test.each([
  [{ json: '{"a":1}' }, 'MQTT', { mqttDownlink: { payload: { a: 1 } } }],
  [{ json: '1', topic: ' set ' }, 'MQTT', { mqttDownlink: { topic: 'set', payload: 1 } }],
  [
    { form: 'hex', hex: '01 FF', port: '2', isConfirmed: true, isReplacing: true },
    'LORA',
    {
      raw: true,
      loraDownlink: { port: 2, payloadHex: '01ff', confirmed: true, clearQueue: true },
    },
  ],
] as const)('%o over %s', (change, connectivity, body) => {
  expect(downlinkOf(draft(change), connectivity)).toEqual(body);
});

test('the examples of an encoder are drafts; those of a decoder and other entries are not', () => {
  const example = { name: 'Open', part: 'downlinkScript', event: {}, emits: [] };
  const event = { payload: { open: true }, port: 1, confirmed: true };
  const found = commandExamples([
    { ...example, event },
    { ...example, name: 'Without a payload', event: { port: 1 } },
    { ...example, part: 'uplinkScript', event },
    'free text',
  ]);
  const json = '{\n  "open": true\n}';
  expect(found).toEqual([{ name: 'Open', draft: draft({ json, isConfirmed: true }) }]);
  expect(commandExamples(undefined)).toEqual([]);
});
