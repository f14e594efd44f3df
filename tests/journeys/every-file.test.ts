// Every file of a data folder missing, emptied, changed, truncated or older: rejected or served with a report.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../src/app/config/config.ts';
import { verifyDataFolder } from '../../src/app/commands/verify.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { type Receiver, startReceiver } from '../deliveries/receivers.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const root = mkdtempSync(join(tmpdir(), 'heliograph-every-file-'));
const [older, filled] = [join(root, 'older'), join(root, 'filled')];
const captures = 30;
let deviceId: string;
const known = new Set<string>();
const environment = { EGRESS_ALLOW: '127.0.0.0/8' };
let target: Receiver;
let hookId: string;

async function samplesOf(world: World) {
  const { body, headers } = await world.call('POST', `/v3/devices/${deviceId}/query`, {
    limit: 10_000,
    topic: '*',
  });
  const texts = (body as { timestamp: string; data: unknown }[]).map(
    ({ timestamp, data }) => timestamp + JSON.stringify(data),
  );
  return { texts, isIncomplete: headers.get('x-incomplete') === 'true' };
}

/** Ended deliveries that are listed, and read for it. */
async function deliveriesOf(world: World): Promise<number> {
  const path = `/v3/output-connectors/${hookId}/deliveries?state=DELIVERED&size=1000`;
  const { content } = (await world.call('GET', path)).body as { content: unknown[] };
  return content.length;
}

async function captureAll(world: World, device: TestDevice, generation: string): Promise<void> {
  const before = target.received.length;
  for (let i = 0; i < captures; i++) await world.capture(device, { i, text: `${generation} ${i}` });
  await target.atLeast(before + captures);
  await vi.waitFor(async () => expect(await deliveriesOf(world)).toBe(before + captures), 30_000);
}

/**
 * Two generations of sealed samples, and in the newer one samples that only the journal has, as a
 * crash leaves them.
 */
beforeAll(async () => {
  const live = join(root, 'live');
  target = await startReceiver();
  let world = await startWorld({ directory: live, environment });
  const hook = await world.must('POST', '/v3/output-connectors', {
    name: 'hook',
    workspaceId: world.workspaceId,
    type: 'WEBHOOK',
    webhookProperties: { uri: target.url },
  });
  hookId = hook.id;
  const outputs = [databaseConnectorId, hookId].map((id) => ({ id, topic: '*' }));
  const device = await world.device({ outputs });
  deviceId = device.id;
  await captureAll(world, device, 'first');
  await world.close();
  cpSync(live, older, { recursive: true });
  world = await startWorld({ directory: live, environment });
  await captureAll(world, device, 'second');
  await world.close();
  world = await startWorld({ directory: live, environment });
  await captureAll(world, device, 'third');
  for (const text of (await samplesOf(world)).texts) known.add(text);
  // Positions and marks come to the disk within seconds; a copy of this moment is a power cut.
  await world.platform.runMaintenance();
  await world.close();
  cpSync(live, filled, { recursive: true });
  expect(known.size).toBe(3 * captures);
}, 240_000);

afterAll(async () => {
  await target.close();
  rmSync(root, { recursive: true });
});

const files = [
  'samples/segments/manifest.json',
  'samples/segments/first',
  'samples/segments/last',
  'samples/segments/devices.numbers',
  'samples/journal/last',
  'samples/journal/followers.json',
  'uplinks/last',
  'deliveries/last',
  'deliveries/manifest.json',
  'records.sqlite',
  'secrets.key',
] as const;

function pathOf(folder: string, file: string): string {
  const [place, which] = [
    file.slice(0, file.lastIndexOf('/')),
    file.slice(file.lastIndexOf('/') + 1),
  ];
  if (which !== 'first' && which !== 'last') return join(folder, file);
  const names = readdirSync(join(folder, place))
    .filter((name) => /\.(segment|journal|uplinks|deliveries)$/.test(name))
    .sort();
  return join(folder, place, names.at(which === 'first' ? 0 : -1)!);
}

const harms: Readonly<Record<string, (path: string, file: string) => boolean | void>> = {
  missing: (path) => rmSync(path),
  emptied: (path) => truncateSync(path, 0),
  'cut in half': (path) => truncateSync(path, statSync(path).size >> 1),
  // In the middle; of records in their head, because SQLite has no checksums of what rows hold.
  'one bit flipped': (path, file) => {
    const bytes = readFileSync(path);
    bytes[file === 'records.sqlite' ? 5 : bytes.length >> 1]! ^= 4;
    writeFileSync(path, bytes);
  },
  'an older copy': (path, file) => {
    const copy = join(older, file.slice(0, file.lastIndexOf('/') + 1), basename(path));
    if (!existsSync(copy) || readFileSync(copy).equals(readFileSync(path))) return false;
    copyFileSync(copy, path);
    return true;
  },
};

/** Without what SQLite makes while it reads, and what only notes how far writing came. */
const tree = (folder: string): string[] =>
  readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => !/-(shm|wal)$|reserve$|durable\.json$|\.new$/.test(name));

describe.each(files)('figures: %s', (file) => {
  test.each(Object.keys(harms))('%s', async (harm) => {
    const folder = join(root, `${file}-${harm}`.replaceAll(/[/ ]/g, '-'));
    cpSync(filled, folder, { recursive: true });
    // An older copy of the same bytes is harmless.
    if (harms[harm]!(pathOf(folder, file), file) === false) return;
    const before = tree(folder);
    const verified = await verifyDataFolder(readConfig({ DATA_DIR: folder }));
    const lines: Record<string, unknown>[] = [];
    const log = createLog('error', { write: (line: string) => void lines.push(JSON.parse(line)) });
    let refusal: Error | undefined;
    const world = await startWorld({ directory: folder, log, environment }).catch(
      (error: Error) => void (refusal = error),
    );
    if (world === undefined || world === null) {
      expect([refusal!.name, refusal!.message]).toEqual([
        'DataFolderError',
        expect.stringMatching(/^[^\n]{40,}$/),
      ]);
      expect(verified.sound, 'verify found nothing of a refused folder').toBe(false);
    } else {
      const { texts, isIncomplete } = await samplesOf(world);
      const delivered = await deliveriesOf(world);
      const raw = await world.call('GET', `/v3/devices/${deviceId}/uplinks?size=1000`);
      await world.close();
      expect(
        texts.filter((text) => !known.has(text)),
        'invented samples',
      ).toEqual([]);
      expect(new Set(texts).size, 'a sample twice').toBe(texts.length);
      const isTold = lines.some(({ msg }) => msg === 'data corruption detected');
      const isShort =
        texts.length < known.size || raw.body.totalElements < known.size || delivered < known.size;
      if (isShort)
        expect(
          isTold || isIncomplete,
          `${texts.length} samples, ${raw.body.totalElements} uplinks, ${delivered} deliveries, nothing told`,
        ).toBe(true);
      if (isTold) expect(verified.sound, 'told at the start, not by verify').toBe(false);
      if (!verified.sound) expect(isTold, 'found by verify, not told').toBe(true);
    }
    const after = tree(folder);
    const gone = before.filter(
      (name) => !after.includes(name) && !after.includes(`${name}.orphan`),
    );
    expect(gone, 'deleted').toEqual([]);
    rmSync(folder, { recursive: true });
  });
});
