// CoAP uplinks: repetitions across a restart are recognized while an exchange lasts.
import { expect, test } from 'vitest';
import type { CoapCapture } from '../../transports/coap/coap-capture.ts';
import { exchangeLifetimeMs } from '../../transports/coap/coap-server.ts';
import { DuplicateFilter } from '../../transports/duplicate-filter.ts';
import type { Payload } from '../../model/payload.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { Capture } from '../capture/capture.ts';
import { createCoapUplinks } from './duplicate-recovery.ts';

const payload: Payload = { body: { a: 1 }, encoding: 'JSON', bytes: 7 };
const sender = { device: { id: 'd' } } as UplinkRoute;
const sent: CoapCapture<UplinkRoute> = {
  sender,
  request: { secret: 's', deviceId: 'p', topic: 't', timestamp: 3, port: undefined },
  payload,
  bodyBytes: 7,
  isSenml: false,
  duplicateKey: 'key',
};

function started() {
  const clock = { now: 1_000 };
  const captured: Capture[] = [];
  const duplicates = new DuplicateFilter(() => clock.now);
  const handle = createCoapUplinks({
    duplicates,
    capture: async (input) => {
      captured.push(input);
      return { id: 'captured', receivedAt: clock.now };
    },
    captureSenml: () => Promise.reject(new Error('not a pack')),
    newId: () => 'new',
    now: () => clock.now,
  });
  return { clock, captured, duplicates, handle };
}

test('a request is captured for the sender that admission found', async () => {
  const { handle, captured } = started();
  expect(await handle(sent)).toEqual({ id: 'captured', receivedAt: 1_000 });
  const expected = { topic: 't', timestamp: 3, payload, bodyBytes: 7, duplicateKey: 'key' };
  expect(captured).toEqual([{ route: sender, ...expected, idempotencyKey: undefined }]);
});

test('a repetition of a request from before the start gets a receipt and is not captured', async () => {
  const { handle, captured, duplicates } = started();
  duplicates.remember('key', 1_000);
  expect(await handle(sent)).toEqual({ id: 'new', receivedAt: 1_000 });
  expect(captured).toEqual([]);
});

test('when the endpoint has run for an exchange, it recognizes repetitions itself', async () => {
  const { handle, captured, duplicates, clock } = started();
  clock.now += exchangeLifetimeMs + 1;
  duplicates.remember('key', clock.now);
  await handle(sent);
  expect(captured).toHaveLength(1);
});
