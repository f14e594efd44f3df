// Device workspaces: read once in batches, again after a change, and the epochs that status is written with.
import { expect, test, vi } from 'vitest';
import type { RecordChange } from '../model/record.ts';
import { type DeviceWorkspace, DeviceWorkspaces } from './device-workspaces.ts';
import { MovedDevices } from './moved-devices.ts';
import { epochsOfDevices } from './owned-devices.ts';

const changed = (id: string, action: 'updated' | 'deleted' = 'updated'): RecordChange => ({
  kind: 'device',
  id,
  action,
});

function opened(records: Map<string, DeviceWorkspace>) {
  const reads: (readonly string[])[] = [];
  const during: { change?: () => void } = {};
  const deviceWorkspaces = new DeviceWorkspaces(async (ids) => {
    reads.push(ids);
    const found = ids.flatMap((id) => {
      const workspace = records.get(id);
      return workspace === undefined ? [] : [[id, workspace] as const];
    });
    during.change?.();
    return new Map(found);
  });
  return { deviceWorkspaces, reads, during };
}

const inWorkspace = (workspaceId: string, epoch = 0): DeviceWorkspace => ({ workspaceId, epoch });

test('devices of one turn are read together, and kept until they change', async () => {
  const records = new Map([
    ['a', inWorkspace('w')],
    ['b', inWorkspace('w')],
  ]);
  const { deviceWorkspaces, reads } = opened(records);
  const [found, one, unknown] = await Promise.all([
    deviceWorkspaces.ofAll(['a', 'b']),
    deviceWorkspaces.of('a'),
    deviceWorkspaces.of('nobody'),
  ]);
  expect(reads).toEqual([['a', 'b', 'nobody']]);
  expect([...found.keys()]).toEqual(['a', 'b']);
  expect([one, unknown]).toEqual([inWorkspace('w'), undefined]);
  expect(deviceWorkspaces.cached('a')).toBe(deviceWorkspaces.cached('b'));
  records.set('a', inWorkspace('v', 7));
  deviceWorkspaces.recordChanged(changed('a'));
  expect(deviceWorkspaces.cached('a')).toBeUndefined();
  expect(await deviceWorkspaces.of('a')).toEqual(inWorkspace('v', 7));
  deviceWorkspaces.changesMissed();
  expect(deviceWorkspaces.cached('b')).toBeUndefined();
});

test('what changes while it is read is used once and not kept', async () => {
  const { deviceWorkspaces, during } = opened(new Map([['a', inWorkspace('w')]]));
  during.change = () => deviceWorkspaces.recordChanged(changed('a'));
  expect(await deviceWorkspaces.of('a')).toEqual(inWorkspace('w'));
  expect(deviceWorkspaces.cached('a')).toBeUndefined();
});

test('a device that came from another workspace has the epoch of that move until its lease has a later one', async () => {
  const { deviceWorkspaces } = opened(
    new Map([
      ['still', inWorkspace('w')],
      ['moved', inWorkspace('w', 70)],
      ['away', inWorkspace('foreign', 70)],
    ]),
  );
  const epochs = new Map([['w', 50]]);
  const epochsOf = epochsOfDevices(deviceWorkspaces, (id) => epochs.get(id) ?? 0);
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
  const handed: (readonly string[] | 'all')[] = [];
  const held = Promise.withResolvers<void>();
  let noted = 0;
  const moved = new MovedDevices(
    (workspaceId) => workspaceId.startsWith('own'),
    () => void (noted += 1),
    async (ids) => {
      handed.push(ids === undefined ? 'all' : [...ids]);
      await held.promise;
    },
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
  // Devices that move on meanwhile wait for the end of that, and are then handed over together.
  for (let n = 0; n < 3; n++) {
    moved.recordChanged(move('a', 'other 1', 'own 1'));
    moved.recordChanged(move('a', 'own 1', 'other 1'));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([handed.length, noted]).toEqual([1, 8]);
  held.resolve();
  await vi.waitFor(() => expect(handed).toEqual([['a', 'b'], ['a']]));
  moved.recordChanged(move('a', 'own 1', 'other 1'));
  moved.changesMissed();
  await vi.waitFor(() => expect(handed.at(-1)).toBe('all'));
  expect(handed).toHaveLength(3);
});
