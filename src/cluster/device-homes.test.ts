// Device homes: read once in batches, again after a change, and the epochs that status is written with.
import { expect, test } from 'vitest';
import type { RecordChange } from '../model/record.ts';
import { type DeviceHome, DeviceHomes } from './device-homes.ts';
import { MovedDevices } from './moved-devices.ts';
import { epochsOfDevices } from './owned-devices.ts';

const changed = (id: string, action: 'updated' | 'deleted' = 'updated'): RecordChange => ({
  kind: 'device',
  id,
  action,
});

function opened(records: Map<string, DeviceHome>) {
  const reads: (readonly string[])[] = [];
  const during: { change?: () => void } = {};
  const homes = new DeviceHomes(async (ids) => {
    reads.push(ids);
    const found = ids.flatMap((id) => {
      const home = records.get(id);
      return home === undefined ? [] : [[id, home] as const];
    });
    during.change?.();
    return new Map(found);
  });
  return { homes, reads, during };
}

const inWorkspace = (workspaceId: string, epoch = 0): DeviceHome => ({ workspaceId, epoch });

test('devices of one turn are read together, and kept until they change', async () => {
  const records = new Map([
    ['a', inWorkspace('w')],
    ['b', inWorkspace('w')],
  ]);
  const { homes, reads } = opened(records);
  const [found, one, unknown] = await Promise.all([
    homes.ofAll(['a', 'b']),
    homes.of('a'),
    homes.of('nobody'),
  ]);
  expect(reads).toEqual([['a', 'b', 'nobody']]);
  expect([...found.keys()]).toEqual(['a', 'b']);
  expect([one, unknown]).toEqual([inWorkspace('w'), undefined]);
  expect(homes.cached('a')).toBe(homes.cached('b'));
  records.set('a', inWorkspace('v', 7));
  homes.recordChanged(changed('a'));
  expect(homes.cached('a')).toBeUndefined();
  expect(await homes.of('a')).toEqual(inWorkspace('v', 7));
  homes.changesMissed();
  expect(homes.cached('b')).toBeUndefined();
});

test('what changes while it is read is used once and not kept', async () => {
  const { homes, during } = opened(new Map([['a', inWorkspace('w')]]));
  during.change = () => homes.recordChanged(changed('a'));
  expect(await homes.of('a')).toEqual(inWorkspace('w'));
  expect(homes.cached('a')).toBeUndefined();
});

test('a device that came from another workspace has the epoch of that move until its lease has a later one', async () => {
  const { homes } = opened(
    new Map([
      ['still', inWorkspace('w')],
      ['moved', inWorkspace('w', 70)],
      ['away', inWorkspace('foreign', 70)],
    ]),
  );
  const epochs = new Map([['w', 50]]);
  const epochsOf = epochsOfDevices(homes, (id) => epochs.get(id) ?? 0);
  const of = async (id: string, workspaceId?: string) =>
    (await epochsOf(new Map([[id, workspaceId]])))(id);
  expect(await of('still')).toBe(50);
  expect(await of('moved', 'w')).toBe(70);
  // What its former owner still writes names the former workspace.
  expect(await of('away', 'w')).toBe(50);
  expect(await of('away', 'foreign')).toBe(0);
  expect(await of('deleted')).toBe(0);
  epochs.set('w', 90);
  expect(await of('moved', 'w')).toBe(90);
});

test('devices that go to a workspace of another node are handed over, those of one turn together', async () => {
  const handed: string[][] = [];
  const moved = new MovedDevices(
    (workspaceId) => workspaceId.startsWith('own'),
    async (isMoved) => void handed.push(['a', 'b', 'c', 'd'].filter(isMoved)),
  );
  const by = { type: 'USER', id: 'u', name: 'U' } as const;
  const move = (id: string, leftWorkspaceId: string | null, workspaceId: string): RecordChange => ({
    ...changed(id),
    about: { organizationId: 'o', workspaceId, leftWorkspaceId, name: null, by },
  });
  moved.recordChanged(move('a', 'own 1', 'other 1'));
  moved.recordChanged(move('b', 'other 1', 'other 2'));
  // From one workspace of this node to another, and not at all.
  moved.recordChanged(move('c', 'own 1', 'own 2'));
  moved.recordChanged(move('d', null, 'own 1'));
  moved.recordChanged(changed('d'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(handed).toEqual([['a', 'b']]);
  moved.recordChanged(move('a', 'own 1', 'other 1'));
  moved.changesMissed();
  await new Promise((resolve) => setImmediate(resolve));
  expect(handed.at(-1)).toEqual(['a', 'b', 'c', 'd']);
});
