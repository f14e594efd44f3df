// Payload box: every form that a person pastes becomes the event that the platform would make of it.
import { describe, expect, test } from 'vitest';
import { type PayloadSettings, readPayload, type ScriptPart } from './payload.ts';

const timestamp = '2026-01-01T00:00:00.000Z';

function read(
  text: string,
  part: ScriptPart = 'uplinkScript',
  encoding: PayloadSettings['encoding'] = null,
) {
  return readPayload(text, { part, port: 2, timestamp, encoding });
}

describe('a payload for a decoder', () => {
  const bytes = {
    data: { port: 2, payloadHex: '106c07942e' },
    encoding: 'BYTES',
    timestamp,
    state: {},
  };
  test.each([
    ['hex', '106c07942e', 'hex'],
    ['hex in capitals with spaces', ' 10 6C 07 94 2E\n', 'hex'],
    ['hex with colons', '10:6c:07:94:2e', 'hex'],
    ['hex with its prefix', '0x106C07942E', 'hex'],
    ['base64', 'EGwHlC4=', 'base64'],
  ])('%s is bytes', (_title, text, form) => {
    expect(read(text)).toEqual({ form, bytes: 5, event: bytes });
  });

  test.each<[string, string, unknown]>([
    ['an object', '{"t": 1}', { t: 1 }],
    ['an array', '[1, 2]', { values: [1, 2] }],
    ['an object with more than an event has', '{"data": 1, "t": 2}', { data: 1, t: 2 }],
    ['a truth value', 'true', { value: true }],
  ])('%s is the data', (_title, text, data) => {
    const event = { data, encoding: 'JSON', timestamp, state: {} };
    expect(read(text)).toEqual({ form: 'json', event });
  });

  test('a whole event stays as it is and keeps its time', () => {
    const event = { data: { t: 1 }, state: { n: 1 }, timestamp: '2020-01-01T00:00:00.000Z' };
    expect(read(JSON.stringify(event))).toEqual({ form: 'event', event });
  });

  test.each(['', '{"t": '])('%j is not a payload', (text) => {
    expect(read(text)).toEqual({ problem: expect.any(String) });
  });

  test.each<[string, string, PayloadSettings['encoding'], object]>([
    ['text', '21.5 C', null, { text: '21.5 C', payloadHex: '32312e352043' }],
    ['declared text', '{"t":', 'TEXT', { text: '{"t":', payloadHex: '7b2274223a' }],
    ['text in hex', '3231', 'TEXT', { text: '21', payloadHex: '3231', value: 21 }],
    [
      'JSON as declared text',
      'true',
      'TEXT',
      { text: 'true', payloadHex: '74727565', value: true },
    ],
    ['JSON as declared bytes', '{}', 'BYTES', { payloadHex: '7b7d' }],
  ])('contract 38: %s', (_title, typed, encoding, data) => {
    expect(read(typed, 'uplinkScript', encoding)).toMatchObject({
      event: { data: { ...data, port: 2 }, encoding: encoding ?? 'TEXT' },
    });
  });

  test('contract 38: CBOR in hex is read by the platform', () => {
    expect(read('a1617401', 'uplinkScript', 'CBOR')).toMatchObject({ cborHex: 'a1617401' });
  });
});

test('a payload for an encoder', () => {
  const event = { payload: { on: true }, port: 2, confirmed: false, timestamp };
  expect(read('{"on":true}', 'downlinkScript')).toEqual({ form: 'json', event });
  const whole = { payload: 1, port: 9 };
  expect(read(JSON.stringify(whole), 'downlinkScript')).toEqual({
    form: 'event',
    event: { timestamp, ...whole },
  });
});
