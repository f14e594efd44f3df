// Lost journal end after a crash: raw uplinks on disk remain, although the journal cannot restore them.
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startWorld } from '../world/world.ts';

const uplinks = 40;
const newest = async (world: Awaited<ReturnType<typeof startWorld>>, id: string) => {
  const { body } = await world.call('GET', `/v3/devices/${id}/uplinks?size=1`);
  return { total: body.totalElements, left: body.content[0]?.payload };
};

test('review reliability 5: the end of the journal cut off, uplinks behind the follower are kept', async () => {
  const root = mkdtempSync(join(tmpdir(), 'heliograph-journal-end-'));
  const [running, crashed] = [join(root, 'running'), join(root, 'crashed')];
  const world = await startWorld({ directory: running });
  const device = await world.device();
  // Enough for a block in the file, which is not synced: the follower's saved position stays
  // behind.
  for (let i = 0; i < uplinks; i++) await world.capture(device, { i, text: 'x'.repeat(8_000) });
  expect((await newest(world, device.id)).total).toBe(uplinks);
  cpSync(running, crashed, { recursive: true });
  await world.close();
  const inBlocks = readdirSync(join(crashed, 'uplinks')).filter((name) =>
    name.endsWith('.uplinks'),
  );
  expect(inBlocks).toHaveLength(1);
  const journal = join(crashed, 'samples', 'journal');
  const file = join(
    journal,
    readdirSync(journal)
      .filter((name) => name.endsWith('.journal'))
      .at(-1)!,
  );
  truncateSync(file, statSync(file).size >> 2);
  const after = await startWorld({ directory: crashed });
  const kept = (await newest(after, device.id)).total;
  // A block is written at 256 KiB of lines, each of which is a little longer than its payload.
  expect(kept).toBeGreaterThanOrEqual(30);
  await after.capture(device, { i: uplinks });
  expect((await newest(after, device.id)).total).toBe(kept + 1);
  await after.close();
  rmSync(root, { recursive: true });
});
