// Checks of passwords are slowed down for who guesses, and for nobody else.
import { describe, expect, test } from 'vitest';
import { Attempts, networkOf, siteOf } from './rate-limits.ts';

const wrong = async () => false;
const right = async () => true;
const failed = (outcome: boolean) => !outcome;

describe('review security 19: networks', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (ip, network) => {
    expect(networkOf(ip)).toBe(network);
  });

  test('addresses of one /64 share their attempts', async () => {
    const tries = new Attempts(() => 0);
    for (let n = 1; n <= 10; n += 1)
      await tries.run({ ip: `2001:db8::${n}`, account: 'a' }, wrong, failed);
    await expect(tries.run({ ip: '2001:db8::ffff', account: 'a' }, right, failed)).rejects.toThrow(
      'Too many failed',
    );
    expect(await tries.run({ ip: '2001:db8:0:1::1', account: 'a' }, right, failed)).toBe(true);
  });

  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:0::/56'],
    ['2001:db8:1:ff::1', '2001:db8:1:0::/56'],
    ['2001:db8:1:12ff::1', '2001:db8:1:1200::/56'],
    ['::1', '0:0:0:0::/56'],
  ])('security 3: the site of %s is %s', (ip, site) => {
    expect(siteOf(ip)).toBe(site);
  });

  test.each(['2001:db8:1:%::1', '192.0.2.1'])(
    'security 3: guesses from %s end for the whole range that one customer has',
    async (form) => {
      const tries = new Attempts(() => 0);
      const ip = (n: number) => form.replace('%', n.toString(16));
      for (let n = 0; n < 100; n += 1)
        await tries.run({ ip: ip(n), account: `account ${n}` }, wrong, failed);
      await expect(tries.run({ ip: ip(200), account: 'x' }, right, failed)).rejects.toThrow(
        'Too many failed',
      );
      expect(await tries.run({ ip: '2001:db8:1:100::1', account: 'x' }, right, failed)).toBe(true);
    },
  );

  test('guesses from a hundred hosts do not lock out the one who signed in before', async () => {
    const tries = new Attempts(() => 0);
    const home = { ip: '192.0.2.1', account: 'a' };
    await tries.run(home, right, failed);
    for (let n = 0; n < 100; n += 1)
      await tries.run({ ip: `198.51.100.${n}`, account: 'a' }, wrong, failed);
    await expect(tries.run({ ip: '203.0.113.1', account: 'a' }, right, failed)).rejects.toThrow(
      'Too many failed',
    );
    expect(await tries.run(home, right, failed)).toBe(true);
  });

  test('hosts that keep every check busy cost another host one turn, not its sign-in', async () => {
    const tries = new Attempts(() => 0);
    const open: (() => void)[] = [];
    const slow = () => new Promise<boolean>((resolve) => open.push(() => resolve(false)));
    const hostile: Promise<unknown>[] = [];
    for (let host = 0; host < 4; host += 1) {
      for (let n = 0; n < 30; n += 1) {
        hostile.push(
          tries
            .run({ ip: `198.51.100.${host}` }, slow, failed)
            .catch((error: Error) => error.message),
        );
      }
    }
    let checkedAfter: number | undefined;
    let finished = 0;
    const victim = tries.run(
      { ip: '192.0.2.1', account: 'v' },
      async () => ((checkedAfter = finished), true),
      failed,
    );
    for (let round = 0; checkedAfter === undefined && round < 200; round += 1) {
      open.shift()?.();
      finished += 1;
      await new Promise(setImmediate);
    }
    expect(await victim).toBe(true);
    // Each of the four hosts before it had one turn.
    expect(checkedAfter).toBeLessThanOrEqual(5);
    for (let round = 0; round < 400; round += 1) {
      open.shift()?.();
      await new Promise(setImmediate);
    }
    expect((await Promise.all(hostile)).some((one) => String(one).startsWith('Too many'))).toBe(
      true,
    );
  });
});
