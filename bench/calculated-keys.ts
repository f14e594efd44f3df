// Cost of calculated keys for captures: processor time of a capture with and without them, in alternation, and of the first captures after a change of the formulas.
// node bench/calculated-keys.ts [--rounds 9] [--seconds 2] [--warm 10] [--in-flight 64] [--devices 1000] [--values 1000] [--write]
import { parseArgs } from 'node:util';
import { captureRequests } from './load/capture-requests.ts';
import { type Goal, isReached, tellGoals } from './load/goals.ts';
import { hexDecoder } from './load/hex-decoder.ts';
import { figure, markdownTable, median, publish, verdict } from './load/measure.ts';
import { httpRequest, mustSucceed, openPatientConnection } from './load/http.ts';
import { apiKey, createDevices, createFlow, type Platform, withPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import { deviceName } from './load/workload.ts';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    warm: { type: 'string', default: '10' },
    'in-flight': { type: 'string', default: '64' },
    devices: { type: 'string', default: '1000' },
    values: { type: 'string', default: '1000' },
    write: { type: 'boolean', default: false },
  },
});
const devices = Number(flags.devices);
const rounds = Number(flags.rounds);
const valuesBefore = Number(flags.values);
const hourMs = 3_600_000;
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

/** The devices of a kind have a type of their own, so that nothing changes between rounds. */
interface Fleet {
  readonly kind: string;
  readonly keys: readonly CalculatedKey[];
  readonly typeId: string;
  readonly requests: readonly Buffer[];
}

const measured = new Map(Object.keys(kinds).map((kind): [string, Round[]] => [kind, []]));
/** Of captures after the formulas were changed, when the last values of each device are read anew. */
const changed: Round[] = [];

await withPlatform({}, async (platform) => {
  const fleets: Fleet[] = [];
  for (const [kind, keys] of Object.entries(kinds))
    fleets.push(await fleetOf(platform, kind, keys));
  const storm = (requests: Fleet['requests'], seconds: number) =>
    runStorm({ inFlight, warmSeconds: 0, target: platform.target, requests, seconds });
  const round = async ({ requests }: Fleet, seconds: number): Promise<Round> => {
    const { server } = platform;
    const [cpuUs, mainUs] = [server.processorUs(), server.mainThreadUs()];
    const { perSecond, accepted } = await storm(requests, seconds);
    return {
      perSecond,
      captureUs: (server.processorUs() - cpuUs) / accepted,
      mainUs: (server.mainThreadUs() - mainUs) / accepted,
    };
  };
  for (const { requests } of fleets) await storm(requests, Number(flags.warm) / fleets.length);
  for (let i = 0; i < rounds; i++) {
    // Each kind is the first as often as the others.
    const turn = i % fleets.length;
    for (const fleet of [...fleets.slice(turn), ...fleets.slice(0, turn)])
      measured.get(fleet.kind)?.push(await round(fleet, Number(flags.seconds)));
  }
  const windows = fleets.at(-1);
  for (let i = 1; windows !== undefined && i <= rounds; i++) {
    const keys = windows.keys.map((one) => ({ ...one, expression: `${one.expression} + ${i}` }));
    await compute(platform, windows.typeId, keys);
    changed.push(await round(windows, devices / 2_000));
  }
});
report();

/** Devices with an hour of values before now. */
async function fleetOf(
  platform: Platform,
  kind: string,
  keys: readonly CalculatedKey[],
): Promise<Fleet> {
  const { call } = platform;
  const first = Object.keys(kinds).indexOf(kind) * devices;
  const flow = await createFlow(platform, hexDecoder);
  const names = Array.from({ length: devices }, (_, i) => deviceName(first + i));
  const ids = await createDevices(platform, flow, names);
  const { deviceType } = await call<{ deviceType: { id: string } }>(
    'GET',
    `/v3/data-flows/${flow.dataFlowId}`,
  );
  await compute(platform, deviceType.id, keys);
  const requests = captureRequests(flow.uplinkSecret, devices, false, first);
  const connection = await openPatientConnection(platform.target);
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/x-ndjson' };
  const now = Date.now();
  for (const deviceId of names) {
    const lines = Array.from({ length: valuesBefore }, (_, i) => {
      const timestamp = Math.round(now - hourMs + (i * hourMs) / valuesBefore);
      return JSON.stringify({
        deviceId,
        timestamp,
        data: { temperature: 20 + (i % 50) / 10, humidity: 50 },
      });
    });
    const request = httpRequest('POST', '/v3/samples/bulk', headers, lines.join('\n'));
    mustSucceed(await connection.send(request));
  }
  connection.close();
  await runStorm({ inFlight, warmSeconds: 0, target: platform.target, requests, seconds: 1 });
  await mustBeComputed(platform, ids[0] ?? '', keys);
  return { kind, keys, typeId: deviceType.id, requests };
}

function compute(
  { call }: Platform,
  typeId: string,
  calculatedKeys: readonly CalculatedKey[],
): Promise<unknown> {
  return call('PUT', `/v3/device-types/${typeId}`, { calculatedKeys });
}

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
    `Captures decoded by a script, ${devices} devices of each kind with ${valuesBefore} values of the last hour, ${inFlight} in flight for ${flags.seconds} s, ${rounds} rounds in turns; medians. Ratios are medians of those of rounds that ran next to each other. Generator on the same machine.`,
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
    `After a change of its formulas, the first captures of each device with windows take ${figure(median(changed.map(({ captureUs }) => captureUs)))} us, ${figure(median(changed.map(({ mainUs }) => mainUs)))} us on the main thread.`,
    `Goal: at most ${ratioMax}: ${verdict(goals.every(isReached))}.`,
  ]);
}
