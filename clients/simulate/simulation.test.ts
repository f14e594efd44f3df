// Simulation: rates are kept, late payloads are not all repeated, percentiles are right within a class.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineText, summaryText } from './statistics-text.ts';
import { createStatistics } from './statistics.ts';
import { createPacer } from './pacer.ts';
import { payloadOf } from './payload.ts';
import { type Sender, simulate } from './simulation.ts';

describe('pacer', () => {
  test('over any steps the rate is kept, when there is room', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1 }),
        (rate, steps) => {
          const pacer = createPacer(rate, 0);
          let now = 0;
          let sent = 0;
          for (const step of steps) {
            now += step;
            sent += pacer.due(now, Number.POSITIVE_INFINITY);
          }
          expect(sent).toBe(Math.floor((now / 1_000) * rate));
        },
      ),
    );
  });
  test('after a pause of any length at most one second of payloads is sent late', () => {
    const pacer = createPacer(100, 0);
    expect(pacer.due(60_000, 1_000)).toBe(100);
    expect(pacer.due(60_100, 1_000)).toBe(10);
  });
  test('no room, none sent; a rate of 0 fills the room', () => {
    expect(createPacer(100, 0).due(500, 7)).toBe(7);
    expect([createPacer(0, 0).due(1, 9), createPacer(0, 0).due(1, -1)]).toEqual([9, 0]);
  });
});

describe('figures', () => {
  test('percentiles are within 5 % of those of a sorted list', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.1, max: 60_000, noNaN: true }), { minLength: 1 }),
        fc.constantFrom(0.5, 0.99, 1),
        (durations, share) => {
          const figures = createStatistics();
          for (const ms of durations) figures.acknowledged(ms);
          const exact = durations.toSorted((one, other) => one - other)[
            Math.ceil(durations.length * share) - 1
          ]!;
          expect(figures.percentileMs(share) / exact).toBeGreaterThan(0.999);
          expect(figures.percentileMs(share) / exact).toBeLessThan(1.051);
        },
      ),
    );
  });
  test('reasons are counted, beyond twenty as others', () => {
    const figures = createStatistics();
    for (let kind = 0; kind < 25; kind++) figures.failed(`reason ${kind}`);
    figures.unanswered(2);
    figures.unanswered(0);
    expect(figures.reasons.size).toBe(21);
    expect(figures.reasons.get('other')).toBe(7);
    expect(figures.counts.errors).toBe(27);
  });
  test('printed: rates since the last line, reasons in the summary', () => {
    const figures = createStatistics();
    for (let i = 0; i < 30; i++) figures.sent();
    for (let i = 0; i < 29; i++) figures.acknowledged(20);
    figures.failed('503');
    const line = lineText(figures, 62, { sent: 10, acknowledged: 9, seconds: 60 });
    expect(line).toBe('01:02   sent 10/s   acknowledged 10/s   p50 20 ms   p99 20 ms   errors 1');
    expect(summaryText({ figures, seconds: 62 })).toContain(
      '30 sent, 29 acknowledged in 62.0 s: 0.5/s',
    );
    expect(summaryText({ figures, seconds: 62 })).toContain('1 errors: 1 x 503');
  });
});

test('devices send in turn; what fails is counted with its reason', async () => {
  const sentBy: string[] = [];
  const stop = new AbortController();
  const sender: Sender = {
    async send({ deviceId }) {
      sentBy.push(deviceId);
      if (sentBy.length === 6) stop.abort();
      if (sentBy.length === 2) throw new Error('4.04');
    },
    close: async () => undefined,
  };
  const devices = [{ deviceId: 'a' }, { deviceId: 'b' }];
  const { figures } = await simulate({
    sender,
    devices,
    ratePerSecond: 0,
    inFlightMax: 3,
    signal: stop.signal,
  });
  expect(sentBy.slice(0, 4)).toEqual(['a', 'b', 'a', 'b']);
  expect(figures.counts).toMatchObject({
    sent: sentBy.length,
    acknowledged: sentBy.length - 1,
    errors: 1,
  });
  expect([...figures.reasons]).toEqual([['4.04', 1]]);
});

test('payloads of a device differ by their counter, and are what the decoder reads', () => {
  const of = (counter: number) =>
    JSON.parse(payloadOf(3, counter, 1_000_000).toString()) as { payloadHex: string };
  expect(of(1).payloadHex).toMatch(/^[0-9a-f]{22}$/);
  expect(of(1)).not.toEqual(of(2));
  expect(of(258).payloadHex.slice(-8)).toBe('00000102');
});
