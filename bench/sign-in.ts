// Wrong sign-ins: cost of passwords that a stranger guesses for the captures of devices.
// node bench/sign-in.ts [--seconds 10] [--write]
import { parseArgs } from 'node:util';
import { missing } from '../src/structures/missing.ts';
import { feltCaptures } from './load/felt-captures.ts';
import { httpRequest } from './load/http.ts';
import { createDevices, createFlow, withPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import { figure, markdownTable, publish } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    write: { type: 'boolean', default: false },
  },
});
const seconds = Number(flags.seconds);
/** Of sign-ins at once. Each is measured between two quiet ones. */
const loads = [0, 8, 0, 16, 0];

/** From an address each, because one address may soon fail no more. */
const guesses = Array.from({ length: 5_000 }, (_, n) =>
  httpRequest(
    'POST',
    '/v3/auth/login',
    {
      'content-type': 'application/json',
      'x-forwarded-for': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
    },
    JSON.stringify({ email: `nobody${n}@example.org`, password: 'not the password' }),
  ),
);

await withPlatform({ TRUSTED_PROXIES: '127.0.0.1' }, async (platform, folder) => {
  const flow = await createFlow(platform, 'function consume(event) { emit("sample", event); }');
  await createDevices(platform, flow, ['device']);
  const devices = [{ deviceId: 'device', secret: flow.uplinkSecret }];
  const felt = () => feltCaptures(platform, devices, { seconds, pauseMs: 5 });
  await felt();
  const rows: string[][] = [];
  let quietMs = Number.NaN;
  for (const inFlight of loads) {
    const load = { target: platform.target, requests: guesses, inFlight, warmSeconds: 0, seconds };
    const storm = inFlight === 0 ? undefined : runStorm(load);
    const [{ p50Ms, p99Ms } = missing('captures')] = await felt();
    if (inFlight === 0) quietMs = p99Ms;
    const { refused = {} } = (await storm) ?? {};
    const perSecond = (refused['401'] ?? 0) / seconds;
    rows.push([String(inFlight), ...[p50Ms, p99Ms, p99Ms / quietMs, perSecond].map(figure)]);
  }
  const head = [
    'wrong sign-ins at once',
    'capture p50, ms',
    'p99, ms',
    'p99 by the quiet one before',
    'passwords per second',
  ];
  const words = `One capture at a time, ${seconds} s for each load, generator on the same machine.`;
  publish('Captures during wrong sign-ins', [words, markdownTable(head, rows)], folder);
});
