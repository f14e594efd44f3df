// Slack against a receiver: the message arrives rendered, and what cannot work is rejected when it is saved.
import { afterEach, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../../../tests/deliveries/receivers.ts';
import { closeTargets, message, targetOf, trySend } from '../testing-targets.ts';
import { slack } from './slack.ts';

let receiver: Receiver | undefined;
afterEach(async () => {
  await closeTargets();
  await receiver?.close();
});

test('contract 9: Slack receives the rendered message', async () => {
  receiver = await startReceiver();
  const properties = { message: 'It is {{data.t}} in "{{device.name}}"', webhookUrl: receiver.url };
  const sent = 'It is 21.5 in "Kitchen"';
  expect(await trySend(targetOf(slack, properties), message('d-1', { data: { t: 21.5 } }))).toEqual(
    {
      ok: true,
      answer: 'HTTP 200\nok',
      sent,
    },
  );
  expect(receiver.received).toMatchObject([
    { method: 'POST', body: { text: sent }, headers: { 'idempotency-key': 'd-1' } },
  ]);
});

test.each([
  [{ message: '{{nothing.known}}', webhookUrl: 'https://127.0.0.1/' }, 'slackProperties.message'],
  [{ message: 'a', webhookUrl: 'ftp://127.0.0.1/' }, 'slackProperties.webhookUrl'],
  [{ message: 'a', webhookUrl: 'https://10.0.0.1/' }, '10.0.0.1'],
])('contract 9: Slack is not saved with %j', (properties, named) => {
  expect(() => targetOf(slack, properties)).toThrow(named);
});

test('behaviour D: what a device sends calls no channel and shows no link in Slack', async () => {
  receiver = await startReceiver();
  const properties = {
    message: '*Alarm* <https://ours/|open>: {{data.t}}',
    webhookUrl: receiver.url,
  };
  const t = '<!channel> <@U1> <https://evil|bank> &amp;';
  await trySend(targetOf(slack, properties), message('d-1', { data: { t } }));
  expect(receiver.received[0]!.body).toEqual({
    text: '*Alarm* <https://ours/|open>: &lt;!channel&gt; &lt;@U1&gt; &lt;https://evil|bank&gt; &amp;amp;',
  });
});
