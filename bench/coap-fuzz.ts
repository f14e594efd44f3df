// Malformed CoAP datagrams by the thousand against a running platform: nothing may be stored, nothing crash, and memory stay flat.
// node bench/coap-fuzz.ts [--datagrams 10000] [--rounds 5] [--seed 1]
import { parseArgs } from 'node:util';
import {
  type CoapMessage,
  optionNumbers,
  uintOption,
} from '../src/transports/coap/coap-message.ts';
import { askCoap, freeUdpPort } from '../tests/world/coap-device.ts';
import { stormOf } from '../tests/world/datagram-storm.ts';
import { randomDatagrams } from '../tests/world/random-datagrams.ts';
import { createDevices, createFlow, withPlatform } from './load/platform.ts';
import { figure, markdownTable, publish } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    datagrams: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
  },
});
const [datagrams, rounds, seed] = [
  Number(flags.datagrams),
  Number(flags.rounds),
  Number(flags.seed),
];
const deviceId = 'under-fire';

function option(number: number, value: string) {
  return { number, value: Buffer.from(value) };
}

/** A request that would be stored; the storm damages it. */
function validMessage(id: number, query: { readonly secret: string }): CoapMessage {
  return {
    type: 0,
    code: 2,
    id,
    token: Buffer.from([1]),
    options: [
      option(optionNumbers.uriPath, 'v3'),
      option(optionNumbers.uriPath, 'capture'),
      uintOption('contentFormat', 50),
      option(optionNumbers.uriQuery, `secret=${query.secret}`),
      option(optionNumbers.uriQuery, `deviceId=${deviceId}`),
    ],
    payload: Buffer.from('{"a":1}'),
  };
}

function codesText(codes: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(codes).toSorted();
  return sorted.map(([code, count]) => `${code}: ${count}`).join(', ');
}

const port = await freeUdpPort();
await withPlatform({ COAP_PORT: String(port) }, async (platform) => {
  const flow = await createFlow(
    platform,
    'function consume(event) { emit("sample", { data: event.data }); }',
  );
  const [serviceId] = await createDevices(platform, flow, [deviceId]);
  const query = { secret: flow.uplinkSecret, deviceId };
  const valid = (id: number) => validMessage(id, query);
  const rows: string[][] = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    const codes = await stormOf(port, randomDatagrams(seed + round, valid), datagrams);
    const seconds = (performance.now() - startedAt) / 1_000;
    const stored = await platform.call<unknown[]>('POST', `/v3/devices/${serviceId}/query`, {
      topic: '*',
    });
    const refused = await askCoap(port, { query: { ...query, secret: 'wrong' }, body: '{}' });
    const faults = (codes['5.00'] ?? 0) + (codes['2.01'] ?? 0) + stored.length;
    if (faults > 0 || refused.code !== '4.01') process.exitCode = 1;
    const memory = platform.server.memoryBytes() / 1_048_576;
    const measured = [figure(datagrams / seconds), String(stored.length), `${figure(memory)} MiB`];
    rows.push([String(round + 1), ...measured, codesText(codes)]);
  }
  const accepted = await askCoap(port, { query, body: '{"a":1}' });
  if (accepted.code !== '2.01') process.exitCode = 1;
  const head = ['round', 'datagrams per second', 'stored', 'memory after it', 'answers'];
  publish('Malformed CoAP datagrams', [
    `${datagrams} malformed datagrams per round, seed ${seed}; a device's own request afterwards: ${accepted.code}.`,
    markdownTable(head, rows),
  ]);
});
