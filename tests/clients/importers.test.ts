// Importers: `heliograph import` with exports of other platforms, against a running platform.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { influxdb, startInfluxDb } from '../servers/influxdb.ts';
import { describeWith } from '../servers/server-tests.ts';
import { startWorld, type World } from '../world/world.ts';

const program = join(import.meta.dirname, '..', '..', 'clients', 'command-line', 'command.ts');
let world: World;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-importers-'));
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function runImport(...args: string[]): Promise<Outcome> {
  const env = { ...process.env, HELIOGRAPH_URL: world.base, HELIOGRAPH_API_KEY: world.apiKey };
  const all = [program, 'import', ...args, '--workspace', world.workspaceId];
  return new Promise((resolve) => {
    execFile(process.execPath, all, { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

/** Writes the values one after the other, as the programs of these platforms do. */
function file(name: string, ...values: readonly unknown[]): string {
  const path = join(folder, name);
  const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  writeFileSync(path, `${texts.join('\n')}\n`);
  return path;
}

const deviceNamed = (deviceId: string) =>
  world.must('GET', `/v3/devices/by-device-id?deviceId=${encodeURIComponent(deviceId)}`);

async function samplesOf(deviceId: string, topic = '*') {
  const { id } = await deviceNamed(deviceId);
  return world.must('POST', `/v3/devices/${id}/query`, { topic, limit: 100 });
}

const customFieldsOf = (device: { customFields: Record<string, unknown>[] }) =>
  Object.fromEntries(
    device.customFields.map((field) => [
      field['fieldMetaName'],
      field['STRING'] ?? field['NUMBER'] ?? field['JSON'],
    ]),
  );

const appKey = '00112233445566778899aabbccddeeff';
const codec = 'function decodeUplink(input) { return { data: { level: input.bytes[0] } }; }';

const cellar = {
  ids: {
    device_id: 'cellar-7',
    application_ids: { application_id: 'house' },
    dev_eui: '70B3D57ED0010007',
    join_eui: '0000000000000001',
  },
  name: 'Cellar',
  attributes: { floor: '-1' },
  version_ids: { brand_id: 'acme', model_id: 'tank' },
  lorawan_version: 'MAC_V1_0_3',
  frequency_plan_id: 'EU_863_870_TTN',
  supports_join: true,
  root_keys: { app_key: { key: appKey } },
  formatters: { up_formatter: 'FORMATTER_JAVASCRIPT', up_formatter_parameter: codec },
};
const attic = {
  ids: { device_id: 'attic', dev_eui: '70B3D57ED0010008' },
  formatters: { up_formatter: 'FORMATTER_REPOSITORY' },
  version_ids: { brand_id: 'acme', model_id: 'roof' },
  supports_join: true,
};

describe('The Things Stack', () => {
  test('a dry run says all and does nothing', async () => {
    const path = file('dry.json', cellar, attic, { ids: { device_id: 'x', dev_eui: 'nonsense' } });
    const { code, stdout } = await runImport('tts', path, '--dry-run');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^create {2}connector The Things Stack$/m);
    expect(stdout).toMatch(/^create {2}custom field floor$/m);
    expect(stdout).toMatch(/^create {2}device type acme tank \([\da-f]{6}\) {2}\(.*dry.json:1\)$/m);
    expect(stdout).toMatch(/^create {2}device 70B3D57ED0010007 {2}\(.*dry.json:1\)$/m);
    expect(stdout).toMatch(/^skip {4}formatter 70B3D57ED0010008: .*vendor\/acme\/roof.yaml/m);
    expect(stdout).toMatch(/^error {3}device x: ids.dev_eui .* {2}\(.*dry.json:3\)$/m);
    expect(stdout).toMatch(/^dry run: 7 to create, /m);
    expect(stdout).not.toContain(appKey);
    await expect(deviceNamed('70B3D57ED0010007')).rejects.toThrow(/404/);
  });

  test('devices, keys, formatters and messages; a second run changes nothing', async () => {
    const devices = file('devices.json', cellar, attic);
    const message = {
      result: {
        end_device_ids: { device_id: 'cellar-7', dev_eui: '70B3D57ED0010007' },
        received_at: '2026-01-05T10:00:00.123456789Z',
        uplink_message: { f_port: 1, frm_payload: 'Kg==', decoded_payload: { level: 42 } },
      },
    };
    const messages = file('messages.json', message);
    const first = await runImport('tts', devices, messages);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/samples: 1 stored, 0 were stored already/);
    const device = await deviceNamed('70B3D57ED0010007');
    expect(device).toMatchObject({
      name: 'Cellar',
      connectivity: 'LORA',
      loraProperties: { applicationKey: appKey, joinEui: '0000000000000001', loraVersion: '1.0.3' },
    });
    expect(customFieldsOf(device)).toEqual({ floor: '-1' });
    expect(await samplesOf('70B3D57ED0010007')).toMatchObject([{ data: { level: 42 } }]);
    const second = await runImport('tts', devices, messages);
    expect(second.stdout).toMatch(
      /^0 created, 0 updated, 3 the same, .* 0 errors; samples: 0 stored, 1 were/m,
    );
    const { version } = await deviceNamed('70B3D57ED0010007');
    expect(version).toBe(device.version);
    const renamed = await runImport(
      'tts',
      file('renamed.json', { ...cellar, name: 'Tank' }),
      '--json',
    );
    const lines = renamed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { outcome: 'same', kind: 'device type' },
      { outcome: 'update', kind: 'device', name: '70B3D57ED0010007', place: { line: 1 } },
      { summary: { dryRun: false, items: { update: 1, error: 0 } } },
    ]);
    expect((await deviceNamed('70B3D57ED0010007')).name).toBe('Tank');
  });

  test('a webhook of the server runs the formatter that was imported', async () => {
    const { content } = await world.must('GET', '/v3/device-connectors');
    const { integrationId, uplinkSecret } = content.find(
      (one: { name: string }) => one.name === 'The Things Stack',
    );
    const body = {
      end_device_ids: { device_id: 'cellar-7', dev_eui: '70B3D57ED0010007' },
      received_at: '2026-01-06T10:00:00Z',
      uplink_message: { f_port: 1, frm_payload: 'Kw==', f_cnt: 1, rx_metadata: [] },
    };
    const path = `/v3/capture/lora/${integrationId}?secret=${uplinkSecret}`;
    expect((await world.call('POST', path, body)).status).toBeLessThan(300);
    const data = (await samplesOf('70B3D57ED0010007')).map((one: { data: unknown }) => one.data);
    expect(data).toContainEqual({ level: 43 });
  });
});

test('ChirpStack 3: profiles with codecs of its form, whose variables are custom fields', async () => {
  const profile = {
    deviceProfile: {
      id: 'p-1',
      name: 'Levels',
      macVersion: '1.0.2',
      supportsJoin: true,
      payloadCodec: 'CUSTOM_JS',
      payloadEncoderScript: '',
      payloadDecoderScript:
        'function Decode(fPort, bytes, variables) { return { level: bytes[0] + Number(variables.offset) }; }',
    },
  };
  const device = {
    device: {
      devEUI: '70b3d57ed0010009',
      name: 'Roof',
      applicationID: '1',
      description: 'on top',
      deviceProfileID: 'p-1',
      variables: { offset: '1.5' },
      tags: { site: 'a' },
    },
    lastSeenAt: null,
  };
  const keys = {
    deviceKeys: { devEUI: '70b3d57ed0010009', nwkKey: appKey, appKey: '0'.repeat(32) },
  };
  const path = file('chirpstack.json', profile, device, keys);
  expect(await runImport('chirpstack', path)).toMatchObject({ code: 0, stderr: '' });
  const stored = await deviceNamed('70B3D57ED0010009');
  expect(stored).toMatchObject({
    description: 'on top',
    tags: [{ name: 'site: a' }],
    loraProperties: { applicationKey: appKey },
  });
  const connector = stored.dataFlow.deviceConnector;
  const [{ uplinkSecret }] = (await world.must('GET', '/v3/device-connectors')).content.filter(
    (one: { id: string }) => one.id === connector.id,
  );
  const body = {
    deviceInfo: { devEui: '70b3d57ed0010009' },
    time: '2026-01-06T10:00:00Z',
    fCnt: 1,
    fPort: 2,
    data: 'Kg==',
    rxInfo: [],
  };
  const webhook = `/v3/capture/lora/${stored.integrationId}?secret=${uplinkSecret}&event=up`;
  expect((await world.call('POST', webhook, body)).status).toBeLessThan(300);
  expect(await samplesOf('70B3D57ED0010009')).toMatchObject([{ data: { level: 43.5 } }]);
  const again = await runImport('chirpstack', path);
  expect(again.stdout).toMatch(/^0 created, 0 updated, 2 the same, 0 skipped, 0 errors/m);
});

test('ThingsBoard: devices, attributes and time series; what cannot be stored is reported', async () => {
  const pump = {
    entityType: 'DEVICE',
    entity: {
      id: { entityType: 'DEVICE', id: 'd-1' },
      name: 'pump-1',
      type: 'pump',
      label: 'Pump',
      additionalInfo: { description: 'in the cellar' },
    },
    credentials: { credentialsType: 'ACCESS_TOKEN', credentialsId: 'tokenOfPump' },
    attributes: { SERVER_SCOPE: [{ key: 'level', lastUpdateTs: 1_700_000_000_000, longValue: 2 }] },
  };
  const series = {
    temp: [
      { ts: 1_700_000_000_000, value: '21.5' },
      { ts: 1_700_000_060_000, value: '22' },
    ],
    on: [{ ts: 1_700_000_000_000, value: 'true' }],
  };
  const files = [file('pump.json', pump), file('d-1.json', series), file('ghost.json', series)];
  const { code, stdout, stderr } = await runImport('thingsboard', ...files);
  expect(code).toBe(1);
  expect(stderr).toMatch(/1 errors/);
  expect(stdout).toMatch(
    /^error {3}samples ghost: the workspace has no such device.*ghost.json:1/m,
  );
  expect(stdout).toMatch(/samples: 2 stored/);
  expect(stdout).not.toContain('tokenOfPump');
  const device = await deviceNamed('pump-1');
  expect(device).toMatchObject({
    name: 'Pump',
    description: 'in the cellar',
    connectivity: 'HTTP',
  });
  expect(customFieldsOf(device)).toEqual({ level: 2 });
  expect(await samplesOf('pump-1')).toMatchObject([
    { data: { temp: 22 }, timestamp: '2023-11-14T22:14:20.000Z' },
    { data: { temp: 21.5, on: true }, timestamp: '2023-11-14T22:13:20.000Z' },
  ]);
});

test('an import that was interrupted resumes behind what was acknowledged', async () => {
  const lines = Array.from(
    { length: 12_000 },
    (_, i) => `load,host=resumed value=${i} ${1_700_000_000 + i}000000000`,
  );
  const path = file('resumed.lp', ...lines);
  const placePath = `${path}.import-place.json`;
  const env = { ...process.env, HELIOGRAPH_URL: world.base, HELIOGRAPH_API_KEY: world.apiKey };
  const child = execFile(
    process.execPath,
    [program, 'import', 'influxdb', path, '--workspace', world.workspaceId],
    { env },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const timer = setInterval(() => existsSync(placePath) && child.kill('SIGINT'), 1);
  await ended;
  clearInterval(timer);
  const { code, stdout } = await runImport('influxdb', path);
  expect(code).toBe(0);
  const [, stored, duplicates, resumed] =
    /samples: (\d+) stored, (\d+) were stored already, 0 rejected, (\d+) sent/.exec(stdout) ?? [];
  expect(Number(stored) + Number(duplicates) + Number(resumed)).toBe(12_000);
  expect(existsSync(placePath)).toBe(false);
}, 240_000);

describeWith(influxdb, 'InfluxDB', () => {
  test('points of a real server, exported one line a field, are the samples of its rows', async () => {
    const place = mkdtempSync(join(tmpdir(), 'heliograph-influx-'));
    const server = await startInfluxDb(place);
    try {
      const authorization = `Basic ${Buffer.from(`${server.username}:${server.password}`).toString('base64')}`;
      const points = Array.from(
        { length: 50 },
        (_, i) =>
          `climate,host=room\\ 1 t=${20 + i / 10},h=${i}i,open=${i % 2 === 0},note="a \\"${i}\\"" ${1_700_000_000 + i}`,
      );
      const answer = await fetch(`http://127.0.0.1:${server.port}/write?db=target&precision=s`, {
        method: 'POST',
        headers: { authorization },
        body: points.join('\n'),
      });
      expect(answer.status).toBe(204);
      const rows = await server.ask('SELECT * FROM climate');
      const fields = ['h', 'note', 'open', 't'] as const;
      const written = (name: string, value: unknown) =>
        name === 'h' ? `${Number(value)}i` : JSON.stringify(value);
      const lines = fields.flatMap((name) =>
        rows.map(
          (row) =>
            `climate,host=room\\ 1 ${name}=${written(name, row[name])} ${Number(row['time'])}000000`,
        ),
      );
      const path = file('export.lp', '# DDL', '# DML', '# CONTEXT-DATABASE:target', ...lines);
      expect(await runImport('influxdb', path, '--topic', 'climate')).toMatchObject({ code: 0 });
      const samples = await samplesOf('room 1', 'climate');
      expect(samples.map((one: { data: unknown }) => one.data)).toEqual(
        rows.map(({ h, note, open, t }) => ({ h, note, open, t })).toReversed(),
      );
    } finally {
      await server.stop();
      rmSync(place, { recursive: true, force: true });
    }
  }, 240_000);
});

describe('refused command lines', () => {
  test.each<[string, string[], number, RegExp]>([
    ['another platform', ['losant', 'x.json'], 2, /"losant" is not one of tts, chirpstack/],
    ['no files', ['tts'], 2, /name the files/],
    ['a file that does not exist', ['tts', '/nowhere.json'], 1, /nowhere/],
    ['a connector that does not exist', ['tts', '--connector', 'x', 'FILE'], 1, /--connector x/],
  ])('%s', async (_, args, code, reason) => {
    const path = file('one.json', cellar);
    const outcome = await runImport(...args.map((arg) => (arg === 'FILE' ? path : arg)));
    expect(outcome).toMatchObject({ code, stderr: expect.stringMatching(reason) });
  });
});
