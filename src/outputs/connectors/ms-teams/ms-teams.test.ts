// Microsoft Teams against a receiver: the message arrives as a card and as plain text.
import { afterEach, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../../../tests/deliveries/receivers.ts';
import { closeTargets, message, targetOf, trySend } from '../testing-targets.ts';
import { msTeams } from './ms-teams.ts';

let receiver: Receiver | undefined;
afterEach(async () => {
  await closeTargets();
  await receiver?.close();
});

test('contract 9: Teams receives the rendered message as a card and as text', async () => {
  receiver = await startReceiver();
  const properties = {
    message: 'It is {{data.t}} in "{{device.name}}"',
    notificationUrl: receiver.url,
  };
  const sent = 'It is 21.5 in "Kitchen"';
  const outcome = await trySend(
    targetOf(msTeams, properties),
    message('d-1', { data: { t: 21.5 } }),
  );
  expect(outcome).toMatchObject({ ok: true, sent });
  const [body] = receiver.received.map((request) => request.body);
  expect(body.text).toBe(sent);
  expect(body.attachments[0].content.body[0].text).toBe(sent);
});

test('behaviour D: what a device sends is plain text in the Markdown of a card', async () => {
  receiver = await startReceiver();
  const properties = { message: '**Alarm** {{data.t}}', notificationUrl: receiver.url };
  const t = '[bank](https://evil) **bold** <at>all</at> `x` ![i](u) 21.5-3';
  await trySend(targetOf(msTeams, properties), message('d-1', { data: { t } }));
  const [body] = receiver.received.map((request) => request.body);
  expect(body.text).toBe(
    '**Alarm** \\[bank\\]\\(https://evil\\) \\*\\*bold\\*\\* &lt;at&gt;all&lt;/at&gt; \\`x\\` \\!\\[i\\]\\(u\\) 21.5-3',
  );
});
