// Contract 42: first blocks of one organization leave the bodies in blocks of another one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blockOption, optionNumbers } from '../../src/transports/coap/coap-message.ts';
import { askCoap, captureMessage, freeUdpPort } from '../world/coap-device.ts';
import { stormOf } from '../world/datagram-storm.ts';
import { makeNeighbour, type Neighbour } from '../world/neighbour.ts';
import { startWorld, type World } from '../world/world.ts';

/** Those of a second of the attack that was measured, six times as many as are kept. */
const firstBlocks = 6_000;

let world: World;
let neighbour: Neighbour;
let port: number;
beforeAll(async () => {
  port = await freeUdpPort();
  world = await startWorld({
    environment: { COAP_PORT: String(port), UPLINK_RATE_LIMIT_PER_SECOND: '0' },
  });
  neighbour = await makeNeighbour(world);
});
afterAll(() => world.close());

test('review security 2: during thousands of first blocks of one secret, uplinks in blocks of another organization are stored', async () => {
  const device = await world.device();
  function* datagrams() {
    const first = blockOption('block1', { number: 0, more: true, bytes: 512 });
    for (let n = 0; ; n++) {
      const topic = { number: optionNumbers.uriQuery, value: Buffer.from(`topic=t${n}`) };
      const options = [first, topic];
      yield captureMessage(device, n % 65_536, Buffer.alloc(512, 'x'), { options });
    }
  }
  let isOver = false;
  const storm = stormOf(port, datagrams(), firstBlocks).finally(() => {
    isOver = true;
  });
  const { secret, deviceId } = neighbour;
  const options = { 'Content-Format': 'application/json', Block1: Buffer.from([6]) };
  const body = JSON.stringify({ value: 1, text: 'x'.repeat(5_000) });
  const codes: string[] = [];
  while (!isOver) {
    const answer = await askCoap(port, { query: { secret, deviceId }, body, options });
    codes.push(answer.code);
  }
  expect(await storm).toMatchObject({ '2.31': firstBlocks });
  expect(codes.length).toBeGreaterThan(0);
  expect(codes.filter((code) => code !== '2.01')).toEqual([]);
});
