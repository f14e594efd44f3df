// Contract 18: malformed CoAP traffic stores nothing and harms no client; long form: `npm run bench -- coap-fuzz`.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type CoapMessage,
  optionNumbers,
  uintOption,
} from '../../src/transports/coap/coap-message.ts';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { stormOf } from '../world/datagram-storm.ts';
import { randomDatagrams } from '../world/random-datagrams.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let port: number;
let device: TestDevice;
beforeAll(async () => {
  port = await freeUdpPort();
  world = await startWorld({ environment: { COAP_PORT: String(port) } });
  device = await world.device({ name: 'under fire' });
});
afterAll(() => world.close());

function captureOf(id: number): CoapMessage {
  const text = (number: number, value: string) => ({ number, value: Buffer.from(value) });
  return {
    type: 0,
    code: 2,
    id,
    token: Buffer.from([1]),
    options: [
      text(optionNumbers.uriPath, 'v3'),
      text(optionNumbers.uriPath, 'capture'),
      uintOption('contentFormat', 50),
      text(optionNumbers.uriQuery, `secret=${device.secret}`),
      text(optionNumbers.uriQuery, `deviceId=${device.deviceId}`),
    ],
    payload: Buffer.from('{"a":1}'),
  };
}

test('2,000 malformed datagrams: none accepted, none answered 5.00, nothing stored, and a device still gets through', async () => {
  const codes = await stormOf(port, randomDatagrams(20_260_101, captureOf), 2_000);
  const refusals = ['0.00', '4.00', '4.01', '4.02', '4.04', '4.05', '4.08', '4.15', '5.05'];
  expect(Object.keys(codes).filter((code) => !refusals.includes(code))).toEqual([]);
  expect(codes['4.02']).toBeGreaterThan(100);
  const query = { secret: device.secret, deviceId: device.deviceId };
  expect(await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' })).toEqual([]);
  expect((await askCoap(port, { query, body: '{"a":2}' })).code).toBe('2.01');
  expect((await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' })).length).toBe(
    1,
  );
}, 240_000);
