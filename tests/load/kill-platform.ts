// Kill runs: SIGKILL at random moments under load, restart on the same folder, comparison with the acknowledgements.
// node tests/load/kill-platform.ts [--rounds 500] [--seed 1] [--in-flight 48] [--uplinks 400]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type HttpConnection, openConnection } from '../../bench/load/http.ts';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { type Book, captureRequest, type LoadDevice, startLoad } from './capture-load.ts';
import { call, checkDevice } from './kill-checks.ts';
import { killWhileStarting, type PlatformProcess, startProcess } from './platform-process.ts';
import { isProgram } from '../../tools/is-program.ts';

export interface KillRun {
  readonly rounds: number;
  readonly seed: number;
  readonly inFlight: number;
  /** The kill comes after a random number of acknowledgements up to this one. */
  readonly acknowledgedMax: number;
  readonly told?: (round: number, report: KillReport) => void;
}

export interface KillReport {
  acknowledged: number;
  /** Stored without an answer having arrived. */
  unacknowledged: number;
  /** Kills that came before a start was done. */
  killsWhileStarting: number;
  readonly violations: string[];
}

// Every round's samples bear the receiving time, and rounds do not overlap by so much.
const betweenRoundsMs = 2;
const killDelayMsMax = 8;
const recoveryKillShare = 0.25;
const recoveryKillMsMax = 700;

const countingScript = `function consume(event) {
  const count = (event.state.count || 0) + 1;
  emit('state', { count });
  emit('sample', { data: { ...event.data, count } });
}`;

/** A folder with a platform running on it. */
export interface Killable {
  readonly directory: string;
  readonly devices: readonly LoadDevice[];
  platform: PlatformProcess;
  readonly remove: () => void;
}

/**
 * Starts a platform on a new folder and makes devices, half of them with a script that counts in
 * its state.
 */
export async function startKillable(devicesOfEachKind = 3): Promise<Killable> {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-kill-'));
  const platform = await startProcess(directory);
  const connection = await openConnection(platform.target);
  const devices: LoadDevice[] = [];
  for (const scripted of [true, false])
    devices.push(...(await makeDevices(connection, platform, scripted, devicesOfEachKind)));
  connection.close();
  return {
    directory,
    devices,
    platform,
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function makeDevices(
  connection: HttpConnection,
  platform: PlatformProcess,
  scripted: boolean,
  count: number,
): Promise<LoadDevice[]> {
  type Made = { readonly id: string; readonly uplinkSecret: string };
  const name = scripted ? 'scripted' : 'pass-through';
  const workspaceId = platform.idOf('Workspace');
  const organizationId = platform.idOf('Organization');
  const make = (path: string, body: object) =>
    call<Made>(connection, 'POST', path, { name, ...body });
  const connector = await make('/v3/device-connectors', { workspaceId, connectivity: 'HTTP' });
  const uplinkScript = scripted ? { code: countingScript } : null;
  const type = await make('/v3/device-types', {
    organizationId,
    type: 'manual',
    meta: {},
    schemas: {},
    uplinkScript,
  });
  const flow = await make('/v3/data-flows', {
    workspaceId,
    deviceConnector: { id: connector.id },
    deviceType: { id: type.id },
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
    passThrough: !scripted,
  });
  const devices: LoadDevice[] = [];
  for (let i = 0; i < count; i++) {
    const deviceId = `${name}-${i}`;
    const { id } = await make('/v3/devices', {
      deviceId,
      workspaceId,
      dataFlowId: flow.id,
      connectivity: 'HTTP',
    });
    devices.push({ id, deviceId, secret: connector.uplinkSecret, scripted });
  }
  return devices;
}

/** Runs the rounds; an empty list of violations is success. */
export async function killRounds(run: KillRun): Promise<KillReport> {
  const report: KillReport = {
    acknowledged: 0,
    unacknowledged: 0,
    killsWhileStarting: 0,
    violations: [],
  };
  const random = seeded(run.seed);
  const killable = await startKillable();
  const book: Book = new Map();
  try {
    for (let round = 1; round <= run.rounds; round++) {
      await killRound(killable, run, { book, random, report });
      run.told?.(round, report);
    }
    await checkBook(killable, book, new Date(0).toISOString(), report.violations);
  } finally {
    await killable.platform.end('SIGKILL');
    killable.remove();
  }
  for (const { receipt } of book.values()) if (receipt !== undefined) report.acknowledged++;
  return report;
}

async function killRound(
  killable: Killable,
  { inFlight, acknowledgedMax }: KillRun,
  {
    book,
    random,
    report,
  }: { readonly book: Book; readonly random: () => number; readonly report: KillReport },
): Promise<void> {
  const sentBefore = book.size;
  await delay(betweenRoundsMs);
  const from = new Date().toISOString();
  const load = await startLoad(killable.platform.target, killable.devices, book, inFlight);
  await load.acknowledged(1 + Math.floor(random() * acknowledgedMax));
  // Anywhere between two fsyncs.
  await delay(random() * killDelayMsMax);
  await killable.platform.end('SIGKILL');
  await load.ended;
  while (random() < recoveryKillShare) {
    report.killsWhileStarting++;
    await killWhileStarting(killable.directory, random() * recoveryKillMsMax);
  }
  killable.platform = await startProcess(killable.directory);
  const ofRound: Book = new Map([...book].slice(sentBefore));
  report.unacknowledged += await checkBook(killable, ofRound, from, report.violations);
  await checkNextCount(killable, book, report.violations);
}

/**
 * Compares every device with the book; answers how many samples are there without an answer having
 * arrived.
 */
export async function checkBook(
  { platform, devices }: Killable,
  book: Book,
  from: string,
  violations: string[],
): Promise<number> {
  const connection = await openConnection(platform.target);
  let unacknowledged = 0;
  for (const device of devices) {
    const checked = await checkDevice(connection, device, book, from);
    unacknowledged += checked.unacknowledged;
    violations.push(...checked.violations);
  }
  for (const [sequence, { refusedWith }] of book)
    if (refusedWith !== undefined && refusedWith !== 503)
      violations.push(`${sequence} was refused with ${refusedWith}`);
  connection.close();
  return unacknowledged;
}

/** The next uplink of each scripted device counts on from the newest sample that is there. */
async function checkNextCount(
  { platform, devices }: Killable,
  book: Book,
  violations: string[],
): Promise<void> {
  const connection = await openConnection(platform.target);
  for (const device of devices.filter(({ scripted }) => scripted)) {
    const newest = async () => {
      const path = `/v3/devices/${device.id}/query`;
      const samples = await call<{ data: { count: number } }[]>(connection, 'POST', path, {
        limit: 50,
      });
      return samples.length === 0 ? 0 : Math.max(...samples.map(({ data }) => data.count));
    };
    const before = await newest();
    const sequence = book.size + 1;
    const { status, body } = await connection.send(captureRequest(device, sequence, false));
    const receipt = JSON.parse(body.toString()) as { id: string; timestamp: string };
    book.set(sequence, {
      deviceId: device.id,
      noted: false,
      ...(status === 201 ? { receipt } : { refusedWith: status }),
    });
    const after = await newest();
    if (after !== before + 1)
      violations.push(`${device.deviceId}: the state counts from ${before} to ${after}`);
  }
  connection.close();
}

/** Random numbers from 0 to 1 that are the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '500' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      'in-flight': { type: 'string', default: '48' },
      uplinks: { type: 'string', default: '400' },
    },
  });
  console.log(`seed ${values.seed}`);
  const report = await killRounds({
    rounds: Number(values.rounds),
    seed: Number(values.seed),
    inFlight: Number(values['in-flight']),
    acknowledgedMax: Number(values.uplinks),
    told: (round, { violations }) => {
      if (round % 10 === 0 || violations.length > 0)
        console.log(`round ${round}: ${violations.length} violations`);
    },
  });
  console.log(
    JSON.stringify({ ...report, violations: report.violations.slice(0, 100) }, undefined, 2),
  );
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}

if (isProgram(import.meta.filename)) await main();
