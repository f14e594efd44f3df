// CoAP exchanges: one organization's many requests leave the memory of others.
import { expect, test } from 'vitest';
import { Exchanges } from './coap-server.ts';

const limits = { acceptedMax: 100, acceptedBytesMax: 100 * 400, refusedMax: 50 };

test('review security 2: who remembers most exchanges gives way first, by organization and by address', () => {
  const exchanges = new Exchanges(limits);
  const answer = Buffer.from('done');
  const end = (key: string, owner: string, kind: 'accepted' | 'refused') => {
    expect(exchanges.begin(key, 1, 0)).toBe('new');
    exchanges[kind](key, answer, owner);
  };
  for (const kind of ['accepted', 'refused'] as const) {
    for (let i = 0; i < 10; i++) end(`${kind} quiet ${i}`, 'quiet', kind);
    for (let i = 0; i < 1_000; i++) end(`${kind} loud ${i}`, 'loud', kind);
    for (let i = 0; i < 10; i++)
      expect(exchanges.begin(`${kind} quiet ${i}`, 1, 1_000)).toEqual(answer);
    expect(exchanges.begin(`${kind} loud 999`, 1, 1_000)).toEqual(answer);
    expect(exchanges.begin(`${kind} loud 0`, 1, 1_000)).toBe('new');
    exchanges.forget(`${kind} loud 0`);
  }
  expect(exchanges.size).toBe(limits.acceptedMax + limits.refusedMax);
});

test('large answers count by their bytes', () => {
  const exchanges = new Exchanges(limits);
  for (let i = 0; i < 100; i++) {
    exchanges.begin(String(i), 1, 0);
    exchanges.accepted(String(i), Buffer.alloc(1_000), 'one');
  }
  expect(exchanges.size).toBeLessThanOrEqual(30);
});
