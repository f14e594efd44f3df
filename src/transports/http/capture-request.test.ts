// Every way a capture request may name its secret, device, topic and time (contract 18).
import { describe, expect, test } from 'vitest';
import { captureRequestOf } from './capture-request.ts';

const full = { secret: 's1', deviceId: 'd1' };

describe('contract 18: where secret and device id may stand', () => {
  for (const [name, query, headers] of [
    ['query secret and deviceId', full, {}],
    ['query uplinkSecret', { uplinkSecret: 's1', deviceId: 'd1' }, {}],
    [
      'headers x-uplink-secret and x-device-id',
      {},
      { 'x-uplink-secret': 's1', 'x-device-id': 'd1' },
    ],
    ['old headers secret and deviceId', {}, { secret: 's1', deviceid: 'd1' }],
    ['secret in a header, device in the query', { deviceId: 'd1' }, { 'x-uplink-secret': 's1' }],
    ['the query wins over headers', full, { 'x-uplink-secret': 's2', 'x-device-id': 'd2' }],
  ] as const) {
    test(name, () =>
      expect(captureRequestOf(query, headers)).toEqual({
        ...full,
        topic: null,
        timestamp: null,
        port: undefined,
      }),
    );
  }

  test('no secret: 401', () =>
    expect(() => captureRequestOf({ deviceId: 'd1' }, {})).toThrow(/Missing uplink secret/));
  test('no device id: 400', () =>
    expect(() => captureRequestOf({ secret: 's1' }, {})).toThrow(/Missing device ID/));
});

describe('contract 18: the timestamp parameter', () => {
  for (const [text, iso] of [
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.123456789+02:00', '2026-01-02T01:04:05.123Z'],
    ['2026-01-02T03:04:05 02:00', '2026-01-02T01:04:05.000Z'],
    ['1767323045000', '2026-01-02T03:04:05.000Z'],
  ] as const) {
    test(`${text} is read`, () => {
      expect(
        new Date(captureRequestOf({ ...full, timestamp: text }, {}).timestamp ?? 0).toISOString(),
      ).toBe(iso);
    });
  }
  for (const [text, said] of [
    ['12', 'seconds? send milliseconds'],
    ['1767225600', 'seconds? send milliseconds'],
    ['1767225600000000', 'microseconds or nanoseconds? send milliseconds'],
  ] as const) {
    test(`behaviour 13: ${text}: 400 with what to send`, () => {
      expect(() => captureRequestOf({ ...full, timestamp: text }, {})).toThrow(said);
    });
  }
  for (const text of ['yesterday', '2026-02-31T00:00:00Z', '2026-01-02T25:00:00Z']) {
    test(`${text}: 400 naming it`, () => {
      expect(() => captureRequestOf({ ...full, timestamp: text }, {})).toThrow(
        `The timestamp ${text} is not`,
      );
    });
  }
});
