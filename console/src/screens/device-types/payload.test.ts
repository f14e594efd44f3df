// Payload box: every form that a person pastes becomes the event that the platform would make of it.
import { describe, expect, test } from 'vitest';
import { readPayload, type ScriptPart } from './payload.ts';

const timestamp = '2026-01-01T00:00:00.000Z';

function read(text: string, part: ScriptPart = 'uplinkScript') {
  return readPayload(text, { part, port: 2, timestamp });
}

describe('a payload for a decoder', () => {
  const bytes = { data: { port: 2, payloadHex: '106c07942e' }, timestamp, state: {} };
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
  ])('%s is the data', (_title, text, data) => {
    expect(read(text)).toEqual({ form: 'json', event: { data, timestamp, state: {} } });
  });

  test('a whole event stays as it is and keeps its time', () => {
    const event = { data: { t: 1 }, state: { n: 1 }, timestamp: '2020-01-01T00:00:00.000Z' };
    expect(read(JSON.stringify(event))).toEqual({ form: 'event', event });
  });

  test.each(['', '{"t": ', 'not a payload', '123 xyz'])('%j is not a payload', (text) => {
    expect(read(text)).toEqual({ problem: expect.any(String) });
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
