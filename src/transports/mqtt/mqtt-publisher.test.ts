// MQTT publisher: with and without a broker. WebSockets are counted until they close.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createMqttPublisher } from './mqtt-publisher.ts';
import { takeUntilClose } from './mqtt-login-limiter.ts';

const payload = Buffer.from('{}');

function published(isOpen: boolean) {
  const seen: unknown[] = [];
  const deliveries = {
    send: async (id: string, message: { levels: readonly string[]; retain: boolean }) => {
      seen.push(['sent', id, message.levels, message.retain]);
      return 'acknowledged' as const;
    },
  };
  const broker = isOpen ? ({ deliveries } as never) : undefined;
  const publish = createMqttPublisher(() => broker, {
    keep: (id, direction, { levels }) => void seen.push(['kept', id, direction, levels]),
  });
  return { publish, seen };
}

test.each([
  [true, false, 'acknowledged', [['sent', 'd', ['a', 'b'], false]]],
  [true, true, 'acknowledged', [['sent', 'd', ['a', 'b'], true]]],
  [false, false, 'offline', []],
  [false, true, 'offline', [['kept', 'd', 'down', ['a', 'b']]]],
] as const)('broker open %s, retain %s: %s', async (isOpen, retain, outcome, expected) => {
  const { publish, seen } = published(isOpen);
  expect(await publish('d', 'a/b', payload, { qos: 1, retain })).toBe(outcome);
  expect(seen).toEqual(expected);
});

test.each(['a/+', '#', Array.from({ length: 28 }, () => 'a').join('/')])(
  'topic %s is rejected',
  async (topic) => {
    const { publish } = published(true);
    const sent = publish('d', topic, payload, { qos: 0, retain: false });
    await expect(sent).rejects.toMatchObject({ problem: 'invalidRequest' });
  },
);

test('a WebSocket is counted until its connection closes, and never twice', async () => {
  let left = 1;
  const count = {
    take: () => left > 0 && left-- > 0,
    give: () => void (left += 1),
  };
  const conn = new PassThrough();
  expect(takeUntilClose(count, 'o', conn)).toBe(true);
  expect(takeUntilClose(count, 'o', new PassThrough())).toBe(false);
  conn.destroy();
  await new Promise((resolve) => conn.once('close', resolve));
  expect(left).toBe(1);
  expect(takeUntilClose(count, 'o', conn)).toBe(true);
  expect(left).toBe(1);
});
