// Cost of calculated keys for captures: processor time of a capture with and without them, in alternation.
// node bench/calculated-keys.ts [--rounds 9] [--seconds 2] [--warm 10] [--in-flight 64] [--devices 1000] [--write]
import { parseArgs } from 'node:util';
import { captureRequests } from './load/capture-requests.ts';
import { type Goal, isReached, tellGoals } from './load/goals.ts';
import { hexDecoder } from './load/hex-decoder.ts';
import { figure, markdownTable, median, publish, verdict } from './load/measure.ts';
import { createDevices, createFlow, type Platform, withPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import { deviceName } from './load/workload.ts';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    warm: { type: 'string', default: '10' },
    'in-flight': { type: 'string', default: '64' },
    devices: { type: 'string', default: '1000' },
    write: { type: 'boolean', default: false },
  },
});
const devices = Number(flags.devices);
const rounds = Number(flags.rounds);
const inFlight = Number(flags['in-flight']);
/** Of the processor time of a capture without calculated keys. */
const ratioMax = 1.05;

interface CalculatedKey {
  readonly key: string;
  readonly expression: string;
}

/** What the device type computes in each round. */
const kinds: Readonly<Record<string, readonly CalculatedKey[]>> = {
  none: [],
  'three formulas of the sample': [
    { key: 'fahrenheit', expression: 'temperature * 9 / 5 + 32' },
    { key: 'dewPoint', expression: 'dewPoint(temperature, humidity)' },
    { key: 'isMuggy', expression: 'dewPoint > 16 && temperature > 24' },
  ],
  'a window and a value before': [
    { key: 'hourly', expression: 'avgOver(temperature, "PT1H")' },
    { key: 'step', expression: 'temperature - prev(temperature)' },
  ],
};

interface Round {
  readonly perSecond: number;
  /** Of the platform, on all threads and on its main thread. */
  readonly captureUs: number;
  readonly mainUs: number;
}

const measured = new Map(Object.keys(kinds).map((kind): [string, Round[]] => [kind, []]));

await withPlatform({}, async (platform) => {
  const { call, target, server } = platform;
  const flow = await createFlow(platform, hexDecoder);
  const names = Array.from({ length: devices }, (_, i) => deviceName(i));
  const ids = await createDevices(platform, flow, names);
  const { deviceType } = await call<{ deviceType: { id: string } }>(
    'GET',
    `/v3/data-flows/${flow.dataFlowId}`,
  );
  const requests = captureRequests(flow.uplinkSecret, devices, false);
  const compute = (calculatedKeys: readonly CalculatedKey[]) =>
    call('PUT', `/v3/device-types/${deviceType.id}`, { calculatedKeys });
  const storm = { inFlight, warmSeconds: 0, target, requests };
  for (const calculatedKeys of Object.values(kinds)) {
    await compute(calculatedKeys);
    await runStorm({ ...storm, seconds: Number(flags.warm) / Object.keys(kinds).length });
    await mustBeComputed(platform, ids[0] ?? '', calculatedKeys);
  }
  for (let i = 0; i < rounds; i++)
    for (const [kind, calculatedKeys] of Object.entries(kinds)) {
      await compute(calculatedKeys);
      const [cpuUs, mainUs] = [server.processorUs(), server.mainThreadUs()];
      const { perSecond, accepted } = await runStorm({ ...storm, seconds: Number(flags.seconds) });
      measured.get(kind)?.push({
        perSecond,
        captureUs: (server.processorUs() - cpuUs) / accepted,
        mainUs: (server.mainThreadUs() - mainUs) / accepted,
      });
    }
});
report();

async function mustBeComputed(
  { call }: Platform,
  deviceId: string,
  keys: readonly CalculatedKey[],
): Promise<void> {
  const path = `/v3/devices/${deviceId}/query/latest-sample`;
  const { data } = await call<{ data: Readonly<Record<string, unknown>> }>('GET', path);
  const absent = keys.filter(({ key }) => data[key] === undefined);
  if (absent.length > 0) throw new Error(`${absent[0]?.key} is not in ${JSON.stringify(data)}`);
}

/** Of the rounds that ran next to each other, so that the machine was the same for both. */
function ratioOf(kind: string, time: 'captureUs' | 'mainUs'): number {
  const without = measured.get('none') ?? [];
  const rows = measured.get(kind) ?? [];
  return median(rows.map((row, i) => row[time] / (without[i]?.[time] ?? Number.NaN)));
}

function report(): void {
  const of = 'captures without calculated keys';
  const goals = Object.keys(kinds)
    .filter((kind) => kind !== 'none')
    .map((kind): Goal => {
      const what = `processor time of a capture with ${kind}`;
      return { what, figure: ratioOf(kind, 'captureUs'), of, goal: ratioMax, best: 'low' };
    });
  tellGoals(goals);
  const middle = (rows: readonly Round[], of: (row: Round) => number) =>
    figure(median(rows.map(of)));
  publish('Calculated keys during capture', [
    `Captures decoded by a script, ${devices} devices, ${inFlight} in flight for ${flags.seconds} s, ${rounds} rounds in turns; medians. Ratios are medians of those of rounds that ran next to each other. Generator on the same machine.`,
    markdownTable(
      ['calculated keys', 'captures/s', 'us CPU a capture', 'main thread', 'ratio', 'main thread'],
      [...measured].map(([kind, rows]) => [
        kind,
        middle(rows, ({ perSecond }) => perSecond),
        middle(rows, ({ captureUs }) => captureUs),
        middle(rows, ({ mainUs }) => mainUs),
        figure(ratioOf(kind, 'captureUs')),
        figure(ratioOf(kind, 'mainUs')),
      ]),
    ),
    `Goal: at most ${ratioMax}: ${verdict(goals.every(isReached))}.`,
  ]);
}
