// Device import: CSV files of devices through the interface, beside a prepared insert of the same rows without a platform.
// node bench/device-import.ts [--devices 100000] [--plain] [--profile FOLDER] [--write]
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { fleetDevice } from './load/device-copies.ts';
import { tellGoals } from './load/goals.ts';
import { httpRequest, mustSucceed, openPatientConnection } from './load/http.ts';
import { apiKey, createFlow, type Platform, startPlatform } from './load/platform.ts';
import { inTemporaryFolder } from './load/server-process.ts';
import {
  figure,
  markdownTable,
  publish,
  type Summary,
  summarize,
  verdict,
} from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    /** Without tags and custom fields alone. */
    plain: { type: 'boolean', default: false },
    /** Where processor profiles of the threads of the platform are written when it stops. */
    profile: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const total = Number(flags.devices);
/** Of one file, which an operation limits. */
const devicesPerFile = 50_000;
const goalSeconds = 15;
const rowsPerTransaction = 1_000;
const answerMsMax = 120_000;

interface Kind {
  readonly title: string;
  readonly isLabeled: boolean;
}

interface Imported {
  readonly kind: Kind;
  readonly seconds: number;
  /** Of all threads of the platform, and of its main thread, a device. */
  readonly processorUs: number;
  readonly mainUs: number;
  /** Of `GET /health/live`, asked every 10 ms meanwhile. */
  readonly health: Summary;
  /** The bare insert, a device. */
  readonly bareUs: number;
}

const kinds: readonly Kind[] = [
  { title: 'name, physical id, data flow', isLabeled: false },
  { title: 'and two tags and three custom fields', isLabeled: true },
];

const settings = {
  ...(flags.profile !== undefined && {
    NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${flags.profile}`,
  }),
};

function fileOf({ isLabeled }: Kind, from: number, to: number): string {
  const labels = isLabeled
    ? ',tags,customFields.serial,customFields.floor,customFields.installed'
    : '';
  const lines = [`deviceId,name,dataFlow${labels}`];
  for (let n = from; n < to; n++) {
    const { name, deviceId, serial } = fleetDevice(n);
    const installed = new Date(1.7e12 + n * 60_000).toISOString();
    const own = isLabeled
      ? `,Tag ${n % 20};Tag ${(n * 7 + 1) % 20},${serial},${n % 50},${installed}`
      : '';
    lines.push(`${deviceId},${name},bench${own}`);
  }
  return lines.join('\n');
}

async function addLabels({ call, workspaceId }: Platform): Promise<void> {
  for (let n = 0; n < 20; n++) await call('POST', '/v3/tags', { workspaceId, name: `Tag ${n}` });
  for (const [name, type] of [
    ['serial', 'STRING'],
    ['floor', 'NUMBER'],
    ['installed', 'DATE'],
  ] as const)
    await call('POST', '/v3/custom-fields/meta', { workspaceId, name, type });
}

/** Until the operation of the file has ended. */
async function importFile(platform: Platform, csv: string): Promise<void> {
  const connection = await openPatientConnection(platform.target, answerMsMax);
  const path = `/v3/devices/import?workspaceId=${platform.workspaceId}`;
  const headers = { 'x-api-key': apiKey, 'content-type': 'text/csv' };
  const answer = mustSucceed(await connection.send(httpRequest('POST', path, headers, csv)));
  connection.close();
  const { id } = JSON.parse(answer.toString()) as { readonly id: string };
  type Operation = { readonly completed: string | null; readonly succeeded: boolean | null };
  for (;;) {
    const operation = await platform.call<Operation>('GET', `/v3/operations/${id}?actions=none`);
    if (operation.succeeded === true) return;
    if (operation.succeeded === false) throw new Error('devices of the file were refused');
    await delay(100);
  }
}

/** Asks for the health all the time; `stop` tells how long the answers took. */
async function probeHealth({ target }: Platform) {
  const connection = await openPatientConnection(target, answerMsMax);
  const durations: number[] = [];
  let isRunning = true;
  const asked = (async () => {
    while (isRunning) {
      const from = performance.now();
      mustSucceed(await connection.send(httpRequest('GET', '/health/live', {})));
      durations.push(performance.now() - from);
      await delay(10);
    }
  })();
  return async () => {
    isRunning = false;
    await asked;
    connection.close();
    return summarize(durations);
  };
}

function imported(kind: Kind): Promise<Imported> {
  return inTemporaryFolder('import', async (folder) => {
    const platform = await startPlatform(folder, settings);
    try {
      await createFlow(platform, 'function consume(event) {}');
      if (kind.isLabeled) await addLabels(platform);
      const { server } = platform;
      const stopProbe = await probeHealth(platform);
      const before = [server.processorUs(), server.mainThreadUs()] as const;
      const from = performance.now();
      for (let n = 0; n < total; n += devicesPerFile)
        await importFile(platform, fileOf(kind, n, Math.min(n + devicesPerFile, total)));
      const seconds = (performance.now() - from) / 1_000;
      const processorUs = (server.processorUs() - before[0]) / total;
      const mainUs = (server.mainThreadUs() - before[1]) / total;
      const health = await stopProbe();
      await platform.stop();
      const bareUs = bareInsert(join(folder, 'data', 'records.sqlite'));
      return { kind, seconds, processorUs, mainUs, health, bareUs };
    } finally {
      await platform.stop();
    }
  });
}

/**
 * Takes the devices out of the database and puts their rows back in, one prepared statement each:
 * with every index and trigger, without anything that is decided or told. Microseconds a device.
 */
function bareInsert(path: string): number {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: true });
  database.exec('pragma cache_size = -32768; pragma synchronous = off');
  const rows = database.prepare('select * from devices order by rowid').all();
  database.exec('delete from devices');
  const columns = Object.keys(rows[0] ?? {});
  const insert = database.prepare(
    `insert into devices (${columns.map((name) => `"${name}"`).join(', ')}) values (${columns.map(() => '?').join(', ')})`,
  );
  const from = performance.now();
  for (let at = 0; at < rows.length; at += rowsPerTransaction) {
    database.exec('begin immediate');
    for (const row of rows.slice(at, at + rowsPerTransaction)) insert.run(...Object.values(row));
    database.exec('commit');
  }
  const us = ((performance.now() - from) * 1_000) / rows.length;
  database.close();
  return us;
}

const results: Imported[] = [];
for (const kind of kinds) if (!flags.plain || !kind.isLabeled) results.push(await imported(kind));
const rows = results.map(({ kind, seconds, processorUs, mainUs, health, bareUs }) => [
  kind.title,
  figure(seconds),
  figure((seconds * 1e6) / total),
  figure(processorUs),
  figure(mainUs),
  figure(bareUs),
  figure(mainUs / bareUs),
  `${figure(health.p99Ms)}, ${figure(health.maxMs)}`,
  kind.isLabeled ? '' : verdict((seconds * 100_000) / total < goalSeconds),
]);
const head = [
  'a line of the file has',
  's',
  'us a device',
  'processor us',
  'of the main thread',
  'bare insert, us',
  'ratio',
  'health p99, max, ms',
  '',
];
tellGoals(
  results
    .filter(({ kind }) => !kind.isLabeled)
    .map(({ processorUs, bareUs }) => ({
      what: 'processor time of an imported device',
      figure: processorUs / bareUs,
      of: 'a prepared insert of the same row',
      goal: 2,
      best: 'low',
    })),
);
publish('Device import', [
  `${total.toLocaleString('en-US')} devices in CSV files of ${devicesPerFile.toLocaleString('en-US')}, from the first byte until the operation has ended. The bare insert puts the rows of the devices into the same tables with one prepared statement, ${rowsPerTransaction.toLocaleString('en-US')} a transaction; the ratio is that of the main thread to it.`,
  markdownTable(head, rows),
  `Goal: 100,000 devices in ${goalSeconds} s.`,
]);
