// SMS against a gateway: one request per recipient, and none twice.
import { afterEach, expect, test } from 'vitest';
import { startReceiver } from '../../../../tests/deliveries/receivers.ts';
import { closeTargets, message, targetOf, trySend } from '../testing-targets.ts';
import { sms } from './sms.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  await closeTargets();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});
const sample = message('delivery-1', { data: { t: 21.5 } });

test('SMS: one request for each recipient; one that was reached gets no second message', async () => {
  const target = await startReceiver();
  cleanups.push(() => target.close());
  target.answering = (_, response) =>
    void response.writeHead(target.received.length === 2 ? 503 : 200).end();
  const properties = {
    messageText: '{{data.t}}!',
    recipientPhones: [1, 2].map((n) => ({ prefix: '+41', phone: `79 00${n}` })),
  };
  const smsGatewayUrl = `http://u:p@127.0.0.1:${target.port}/sms`;
  const opened = targetOf(sms, properties, undefined, { smsGatewayUrl });
  expect(await trySend(opened, sample)).toMatchObject({
    ok: false,
    retry: true,
  });
  expect(await trySend(opened, sample)).toMatchObject({
    ok: true,
    sent: '21.5!',
  });
  expect(target.received.map(({ body }) => body.to)).toEqual(['+4179001', '+4179002', '+4179002']);
  expect(target.received[0]).toMatchObject({
    url: '/sms',
    headers: { authorization: `Basic ${btoa('u:p')}` },
  });
});
