// The intake keeps each device's order, overlaps storing, and refuses whole when it is full.
import { expect, test } from 'vitest';
import { Problem } from '../model/problem.ts';
import { Intake } from './intake.ts';

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test('decoding of one device waits for the one before, storing of both overlaps', async () => {
  const intake = new Intake({ uplinksMax: 10, bytesMax: 1_000 });
  const events: string[] = [];
  const fsync = gate();
  const uplink = (name: string) =>
    intake.run(
      'a',
      'd1',
      1,
      async () => events.push(`decode ${name}`),
      async () => {
        events.push(`store ${name}`);
        await fsync.opened;
        return name;
      },
    );
  const both = [uplink('a'), uplink('b')];
  while (!events.includes('store b')) await Promise.resolve();
  expect(events).toEqual(['decode a', 'store a', 'decode b', 'store b']);
  fsync.open();
  expect(await Promise.all(both)).toEqual(['a', 'b']);
  expect(intake.size).toBe(0);
});

test('a failed decode fails its own uplink only', async () => {
  const intake = new Intake({ uplinksMax: 10, bytesMax: 1_000 });
  const failing = intake.run(
    'a',
    'd1',
    1,
    () => Promise.reject(new Error('no')),
    async () => 'never',
  );
  const next = intake.run(
    'a',
    'd1',
    1,
    async () => 1,
    async () => 'stored',
  );
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('stored');
});

test('a full intake refuses before anything is done, by count and by bytes, and takes again afterwards', async () => {
  const hold = gate();
  const intake = new Intake({ uplinksMax: 2, bytesMax: 100 });
  const take = (bytes: number) =>
    intake.run(
      'a',
      'd',
      bytes,
      () => hold.opened,
      async () => 'done',
    );
  const first = take(60);
  await expect(take(41)).rejects.toMatchObject({ problem: 'intakeFull' });
  const second = take(40);
  await expect(take(0)).rejects.toMatchObject({ problem: 'intakeFull', status: 503 });
  hold.open();
  expect(await Promise.all([first, second])).toEqual(['done', 'done']);
  await intake.drained();
  expect(await take(100)).toBe('done');
});

test.each([
  ['uplinks', { uplinksMax: 100, bytesMax: 1_000_000 }, 1],
  ['bytes', { uplinksMax: 1_000, bytesMax: 100 }, 1],
])(
  'review security 2: an organization whose %s wait leaves room in the intake',
  async (_, limits, bytes) => {
    const hold = gate();
    const intake = new Intake(limits);
    const take = (organizationId: string, deviceId: string) =>
      intake.run(
        organizationId,
        deviceId,
        bytes,
        () => hold.opened,
        async () => 'done',
      );
    const isRefused = (error: unknown) => (error instanceof Problem ? error.problem : error);
    const greedy = Array.from({ length: 100 }, (__, i) => take('a', `a${i}`).catch(isRefused));
    const neighbour = Array.from({ length: 15 }, (__, i) => take('b', `b${i}`).catch(isRefused));
    hold.open();
    expect((await Promise.all(greedy)).filter((one) => one === 'done')).toHaveLength(75);
    expect((await Promise.all(neighbour)).filter((one) => one === 'done')).toHaveLength(15);
    expect(await take('a', 'a0')).toBe('done');
  },
);

test('what is decoded immediately is stored immediately, but not before what the device sent earlier', async () => {
  const intake = new Intake({ uplinksMax: 10, bytesMax: 1_000 });
  const events: string[] = [];
  const store = async (name: string) => void events.push(name);
  const unscripted = (device: string, name: string) =>
    intake.run('a', device, 1, () => name, store);
  const script = gate();
  const scripted = async () => {
    await script.opened;
    return 'scripted';
  };
  const all = [intake.run('a', 'd1', 1, scripted, store), unscripted('d1', 'later')];
  all.push(unscripted('d2', 'other device'));
  expect(events).toEqual(['other device']);
  script.open();
  await Promise.all(all);
  expect(events).toEqual(['other device', 'scripted', 'later']);
  const failing = () => {
    throw new Error('no');
  };
  await expect(intake.run('a', 'd3', 1, failing, store)).rejects.toThrow('no');
  expect(intake.size).toBe(0);
});
