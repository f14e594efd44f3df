// Downlinks as rule actions: what is ordered of which device, filled in from the sample (contract 9).
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../model/json.ts';
import { problem } from '../../../model/problem.ts';
import { EgressGuard } from '../../egress/guard.ts';
import type { DownlinkOrder } from '../connector-services.ts';
import { propertyReader } from '../properties.ts';
import { plainOptions, testServices } from '../testing-services.ts';
import { downlink, parseDownlink } from './downlink.ts';

const parse = (sent: JsonObject) => parseDownlink(propertyReader(sent, 'downlinkProperties'));
const context = { data: { level: 7, hex: '0aff' }, deviceId: 'ABC', correlationId: 'c1' } as never;
const message = {
  deliveryId: 'd1',
  deviceId: '02aa',
  payload: '{"custom":true}',
  contentType: 'application/json',
  context,
};

async function sent({ hasCustomPayload = false, ...properties }: JsonObject, failing?: Error) {
  const orders: DownlinkOrder[] = [];
  const orderDownlink = async (order: DownlinkOrder) => {
    if (failing !== undefined) throw failing;
    orders.push(order);
  };
  const services = testServices(new EgressGuard({ allow: [] }), { orderDownlink });
  const options = { ...plainOptions, hasCustomPayload: hasCustomPayload === true };
  const target = downlink.open(parse(properties), services, options);
  return { outcome: await target.send(message, new AbortController().signal), orders };
}

const base = { from: '02aa', correlationId: 'c1', idempotencyKey: 'd1' };
const cases: [string, JsonObject, object[]][] = [
  [
    'a LoRa payload, its texts filled in, for the device that triggered',
    { downlinkPayload: { level: '{{data.level}}' }, port: 5, confirmed: true },
    [
      {
        ...base,
        to: '02aa',
        command: { raw: false, loraDownlink: { port: 5, confirmed: true, payload: { level: 7 } } },
      },
    ],
  ],
  [
    // What is not given is left to the defaults of contract 17.
    'raw LoRa bytes for two devices',
    { raw: true, rawDownlinkPayload: '01{{data.hex}}', targetDeviceIds: ['02bb', '02cc'] },
    ['02bb', '02cc'].map((to) => ({
      ...base,
      to,
      command: { raw: true, loraDownlink: { port: null, confirmed: null, payloadHex: '010aff' } },
    })),
  ],
  [
    'an MQTT payload',
    { downlinkType: 'MQTT', topic: 'set', downlinkPayload: { a: 1 } },
    [
      {
        ...base,
        to: '02aa',
        command: { raw: false, mqttDownlink: { topic: 'set', payload: { a: 1 } } },
      },
    ],
  ],
  [
    'a custom payload',
    { downlinkType: 'MQTT', topic: 'set', hasCustomPayload: true },
    [
      {
        ...base,
        to: '02aa',
        command: { raw: false, mqttDownlink: { topic: 'set', payload: { custom: true } } },
      },
    ],
  ],
];
for (const [what, properties, orders] of cases) {
  test(`contract 9, DOWNLINK: ${what}`, async () => {
    expect(await sent(properties)).toEqual({
      outcome: { ok: true, answer: expect.any(String) },
      orders,
    });
  });
}

test('a refusal is a dead letter; a full queue is tried again', async () => {
  const full = problem('downlinkQueueFull', { deviceId: '02aa', waitingMax: 100 });
  const gone = problem('notFound', { what: 'device', id: '02aa' });
  expect((await sent({}, full)).outcome).toMatchObject({ ok: false, retry: true });
  expect((await sent({}, gone)).outcome).toMatchObject({
    ok: false,
    retry: false,
    reason: 'No device with id 02aa',
  });
});

const broken: [JsonObject, RegExp][] = [
  [{ targetDeviceIds: 'a' }, /\.targetDeviceIds/],
  [{ downlinkType: 'SMOKE' }, /\.downlinkType: must be/],
  [{ downlinkType: 'MQTT' }, /\.topic: is required/],
  [{ raw: true }, /\.rawDownlinkPayload: is required/],
  [{ port: 300 }, /\.port/],
  [{ downlinkPayload: [1] }, /\.downlinkPayload: must be an object/],
];
for (const [properties, reason] of broken) {
  test(`contract 9, DOWNLINK: refused: ${JSON.stringify(properties)}`, () => {
    expect(() => parse(properties)).toThrow(reason);
  });
}
