// Script runs per second and worker with real decoders, compared with plain V8; no state survives a run.
import { deepStrictEqual, strictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { runInThisContext } from 'node:vm';
import type { Json, JsonObject } from '../src/model/json.ts';
import { ScriptMachine } from '../src/scripting/script-machine.ts';
import { figure, markdownTable, median, publish } from './load/measure.ts';

interface Workload {
  readonly name: string;
  readonly source: string;
  readonly events: readonly JsonObject[];
}

const secondsPerSlice = Number(process.argv.slice(2).find((word) => !word.startsWith('-')) ?? 2);
const slices = 5;
/** Runs in flight: enough for full batches, few enough for a short queue. */
const runsUnderWay = 64;

const file = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

function eventOf(port: number, payloadHex: string, i: number): JsonObject {
  return {
    data: { port, payloadHex },
    device: {
      id: '02',
      deviceId: `EUI${i}`,
      name: 'Device',
      description: null,
      customFields: { zone: 'A' },
      tags: ['t'],
    },
    uplinkMetrics: {
      deviceId: '02',
      uplinkSize: 40,
      timestamp: '2026-03-01T10:00:00.000Z',
      port,
      rssi: -90,
      snr: 7,
      sf: 7,
    },
    topic: 'default',
    timestamp: '2026-03-01T10:00:00.000Z',
    state:
      i % 2 === 0
        ? {}
        : { occupied: true, lastVolume: 1, position: { latitude: 46.9, longitude: 7.4 } },
  };
}

function workload(name: string, source: string, payloads: readonly [number, string][]): Workload {
  return { name, source, events: payloads.map(([port, hex], i) => eventOf(port, hex, i)) };
}

// The same three decoders as a large file: tables and functions that a run does not need still have
// to be restored.
function padded(source: string, bytes: number): string {
  let text = source;
  for (let i = 0; text.length < bytes; i++) {
    text += `\nfunction unused${i}(input) { const table = { a: ${i}, b: [1, 2, ${i}] }; return table.b.map((x) => x * input); }`;
  }
  return text;
}

const monitor = file('./decoders/ambience-monitor.js');
const meter = file('./decoders/flow-meter.js');
const beacon = file('./decoders/asset-beacon.js');
const monitorPayloads: [number, string][] = [
  [85, '0175620367100104685b05000106652a0006661400077d1e02087d390009733127'],
  [85, '03670c01046849077dc603097339270b7d0c000c7d1000'],
];
const workloads: Workload[] = [
  workload(
    'trivial',
    'function consume(event) { emit("sample", { data: { port: event.data.port } }); }',
    [[1, '00']],
  ),
  workload('ambience monitor', monitor, monitorPayloads),
  workload('flow meter', meter, [
    [1, '011234b01480'],
    [1, '0201000012340000080e1064'],
    [1, '0306001000200030004000500060'],
  ]),
  workload('asset beacon', beacon, [
    [3, '245b2a021bf5c6000468d2b014'],
    [8, '245b2aac233f112233b4ac233f445566c0ac233f778899aa'],
  ]),
  workload('ambience monitor, 24 kB', padded(monitor, 24_000), monitorPayloads),
  workload('ambience monitor, 250 kB', padded(monitor, 250_000), monitorPayloads),
  workload(
    'with luxon',
    `import { DateTime } from 'luxon';\n${monitor.replace('const state = event.state || {};', 'const state = { at: DateTime.fromISO(event.timestamp).toISO() };')}`,
    monitorPayloads,
  ),
];

type Entry = { type: string; event: Json };

/**
 * The baseline: the same source in this realm, evaluated again for each run, events and emits as
 * JSON.
 */
function nativeRunner(source: string): (eventText: string) => Entry[] {
  let entries: Entry[] = [];
  const emit = (type: string, value: unknown): void => {
    entries.push({ type: type.toUpperCase(), event: JSON.parse(JSON.stringify(value)) as Json });
  };
  const bare = source.replace(/^export /m, '');
  const { Bits, Hex } = runInThisContext(`${guestBitsAndHex()}; ({ Bits, Hex })`) as {
    Bits: unknown;
    Hex: unknown;
  };
  const wrapper = runInThisContext(
    `(emit, Bits, Hex) => { "use strict"; ${bare}\n;return consume; }`,
  ) as (...args: unknown[]) => (event: unknown) => void;
  return (eventText) => {
    entries = [];
    wrapper(emit, Bits, Hex)(JSON.parse(eventText));
    return entries;
  };
}

function guestBitsAndHex(): string {
  return `(${file('../src/scripting/guest/bits-and-hex.js')
    .replace(/^\/\/.*\n/, '')
    .replace(/;\s*$/, '')})()`;
}

function nativeRate({ source, events }: Workload): number {
  const run = nativeRunner(source);
  const texts = events.map((event) => JSON.stringify(event));
  const until = performance.now() + secondsPerSlice * 500;
  const startedAt = performance.now();
  let runs = 0;
  while (performance.now() < until) for (let i = 0; i < 50; i++) run(texts[runs++ % texts.length]!);
  return runs / ((performance.now() - startedAt) / 1_000);
}

async function machineRate(
  machine: ScriptMachine,
  { source, events }: Workload,
  tenant: string,
): Promise<number> {
  const until = performance.now() + secondsPerSlice * 1_000;
  const startedAt = performance.now();
  let runs = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < until)
      await machine.run({ tenant, source, event: events[runs++ % events.length]! });
  };
  await Promise.all(Array.from({ length: runsUnderWay }, loop));
  return runs / ((performance.now() - startedAt) / 1_000);
}

/**
 * Every decoder gives what plain V8 gives; that the emits are right at all is seen from their
 * number.
 */
async function sameResults(machine: ScriptMachine): Promise<void> {
  for (const { name, source, events } of workloads) {
    if (name === 'with luxon') continue;
    const native = nativeRunner(source);
    for (const event of events) {
      const { emits } = await machine.run({ tenant: 'same', source, event });
      deepStrictEqual(emits, native(JSON.stringify(event)), name);
      strictEqual(
        emits.some(({ type }) => type === 'ERROR'),
        false,
        name,
      );
      strictEqual(emits.length > 0, true, name);
    }
  }
}

/**
 * A script that leaves marks wherever it can finds none of them in the next run, among runs of all
 * the others.
 */
async function nothingSurvives(machine: ScriptMachine): Promise<number> {
  const source = `let top = 0;
    function consume() {
      const seen = [++top, typeof mark, Array.prototype.mark, Bits.mark, emit.mark, JSON.mark, Object.prototype.mark];
      globalThis.mark = Array.prototype.mark = Bits.mark = emit.mark = JSON.mark = Object.prototype.mark = 1;
      emit('log', seen.map(String));
    }`;
  const rounds = 2_000;
  const runs = Array.from({ length: rounds }, async (_, i) => {
    const { source: other, events } = workloads[i % workloads.length]!;
    const [{ emits }] = await Promise.all([
      machine.run({ tenant: `t${i % 2}`, source, event: {} }),
      machine.run({ tenant: `t${i % 3}`, source: other, event: events[0]! }),
    ]);
    const absent = ['1', ...Array<string>(6).fill('undefined')];
    deepStrictEqual(emits, [{ type: 'LOG', event: absent }]);
  });
  await Promise.all(runs);
  return rounds;
}

const machine = new ScriptMachine({ workers: 1 });
await sameResults(machine);
const lines = [
  `Median of ${slices} slices of ${secondsPerSlice} s, one worker, ${runsUnderWay} runs in flight.`,
];
const rows: string[][] = [];
for (const work of workloads) {
  const rates: number[] = [];
  const natives: number[] = [];
  const hasImport = work.source.startsWith('import');
  for (let slice = 0; slice < slices; slice++) {
    rates.push(await machineRate(machine, work, 'bench'));
    if (!hasImport) natives.push(nativeRate(work));
  }
  const fresh = median(rates);
  const native = hasImport ? NaN : median(natives);
  rows.push([
    work.name,
    figure(work.source.length),
    figure(fresh),
    figure(native),
    figure(native / fresh),
  ]);
}
lines.push(
  markdownTable(
    ['decoder', 'bytes', 'fresh runs/s per worker', 'plain V8 runs/s', 'V8 is faster by'],
    rows,
  ),
  `No state survived ${await nothingSurvives(machine)} runs that left marks, among runs of others and other tenants.`,
);
publish('Script runs', lines);
await machine.close();
