// Configuration push: on request, and once per connection when a device subscribes.
import { expect, test } from 'vitest';
import type { DeviceSubscription, MqttSession } from '../transports/mqtt/mqtt-session.ts';
import { topicFilterOf } from '../transports/mqtt/mqtt-topic.ts';
import { createConfigurationPush, pushOnConnect } from './mqtt-transport.ts';

const configuration = { interval: 60 };
const wanted = { deviceId: 'd', configuration } as never;

test('a push is published with QoS 1 and not retained', async () => {
  const seen: unknown[] = [];
  const push = createConfigurationPush(async (id, topic, payload, options) => {
    seen.push([id, topic, payload.toString(), options]);
    return 'sent';
  });
  await push(wanted);
  const options = { qos: 1, retain: false };
  expect(seen).toEqual([['d', 'configuration', '{"interval":60}', options]]);
});

test('a push to a device that is not connected is rejected', async () => {
  const push = createConfigurationPush(async () => 'offline');
  await expect(push(wanted)).rejects.toMatchObject({ problem: 'configurationNotPushable' });
});

async function connected(
  filter: string,
  { automatic = true, latest = true, already = false, times = 1 } = {},
): Promise<string[]> {
  const sent: string[] = [];
  const session = { configured: new Set(already ? ['d'] : []) } as unknown as MqttSession;
  const subscription = { id: 'd', qos: 1, filter: topicFilterOf(filter) } as DeviceSubscription;
  for (let n = 0; n < times; n += 1) {
    await pushOnConnect(session, subscription, {
      findRoute: () => ({ connector: { pushConfigurationAutomatically: automatic } }) as never,
      findLatest: async () => (latest ? { configuration } : undefined),
      sendTo: async (_session, id, { levels, payload }) => {
        sent.push(`${id} ${levels.join('/')} ${payload.toString()}`);
        return 'sent' as const;
      },
    });
  }
  return sent;
}

const one = ['d configuration {"interval":60}'];
test.each([
  ['/down/key/id/p/#', {}, one],
  ['/down/key/id/p/configuration', { times: 2 }, one],
  ['/down/key/id/p/other', {}, []],
  ['/up/key/id/p/#', {}, []],
  ['/down/key/id/p/#', { automatic: false }, []],
  ['/down/key/id/p/#', { latest: false }, []],
  ['/down/key/id/p/#', { already: true }, []],
])('subscription to %s, %j', async (filter, options, expected) => {
  expect(await connected(filter, options)).toEqual(expected);
});
