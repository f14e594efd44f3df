// Malformed CoAP datagrams by the thousand against a running platform: nothing may be stored, nothing crash, and memory stay flat.
// node bench/coap-fuzz.ts [--datagrams 10000] [--rounds 5] [--seed 1]
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import type { CoapMessage } from '../src/ingest/coap/coap-message.ts';
import { optionNumbers, uintOption } from '../src/ingest/coap/coap-request.ts';
import { askCoap, freeUdpPort } from '../tests/world/coap-device.ts';
import { stormOf } from '../tests/world/datagram-storm.ts';
import { randomDatagrams } from '../tests/world/random-datagrams.ts';
import { createDevices, createFlow, startPlatform } from './load/platform.ts';
import { inTemporaryFolder } from './load/server-process.ts';
import { conditions, figure, markdownTable } from './measure.ts';

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

await inTemporaryFolder('coap-fuzz', async (folder) => {
  const port = await freeUdpPort();
  const platform = await startPlatform(folder, { COAP_PORT: String(port) });
  try {
    const flow = await createFlow(
      platform,
      'function consume(event) { emit("sample", { data: event.data }); }',
    );
    const [serviceId] = await createDevices(platform, flow, [deviceId]);
    const query = { secret: flow.uplinkSecret, deviceId };
    const text = (number: number, value: string) => ({ number, value: Buffer.from(value) });
    const valid = (id: number): CoapMessage => ({
      type: 0,
      code: 2,
      id,
      token: Buffer.from([1]),
      options: [
        text(optionNumbers.uriPath, 'v3'),
        text(optionNumbers.uriPath, 'capture'),
        uintOption('contentFormat', 50),
        text(optionNumbers.uriQuery, `secret=${query.secret}`),
        text(optionNumbers.uriQuery, `deviceId=${deviceId}`),
      ],
      payload: Buffer.from('{"a":1}'),
    });
    const rows: string[][] = [];
    for (let round = 0; round < rounds; round++) {
      const startedAt = performance.now();
      const codes = await stormOf(port, randomDatagrams(seed + round, valid), datagrams);
      const seconds = (performance.now() - startedAt) / 1_000;
      const stored = await platform.call<unknown[]>('POST', `/v3/devices/${serviceId}/query`, {
        topic: '*',
      });
      const answered = await askCoap(port, { query: { ...query, secret: 'wrong' }, body: '{}' });
      const ours =
        (codes['5.00'] ?? 0) +
        (codes['2.01'] ?? 0) +
        stored.length +
        (answered.code === '4.01' ? 0 : 1);
      if (ours > 0) process.exitCode = 1;
      const told = Object.entries(codes)
        .toSorted()
        .map(([code, count]) => `${code}: ${count}`);
      const memory = platform.server.memoryBytes() / 1_048_576;
      rows.push([
        String(round + 1),
        figure(datagrams / seconds),
        String(stored.length),
        `${figure(memory)} MiB`,
        told.join(', '),
      ]);
    }
    const accepted = await askCoap(port, { query, body: '{"a":1}' });
    if (accepted.code !== '2.01') process.exitCode = 1;
    const head = ['round', 'datagrams a second', 'stored', 'memory after it', 'answers'];
    const lines = [
      conditions(tmpdir()),
      `${datagrams} malformed datagrams a round, seed ${seed}; a device's own request afterwards: ${accepted.code}.`,
      markdownTable(head, rows),
    ];
    console.log(lines.join('\n\n'));
  } finally {
    await platform.stop();
  }
});
