// Change following with fakes: a question is answered only after a read that began behind it.
import { expect, test } from 'vitest';
import { ChangeFollowing } from './change-following.ts';

test('a question during the last turns of a read is answered by another read', async () => {
  const reads: (() => void)[] = [];
  const following = new ChangeFollowing({
    node: 'own',
    from: 1,
    read: () => new Promise((resolve) => void reads.push(() => resolve([]))),
    newest: async () => 1,
    follower: { recordChanged: () => undefined, changesMissed: () => undefined },
    listsChanged: () => undefined,
    failed: (error) => expect.unreachable(String(error)),
    clock: () => 0,
    setRepeatingTimer: () => () => undefined,
  });
  // The number of promises between the end of a read and its answer is not a part of the promise.
  for (let turns = 0; turns < 12; turns++) {
    const first = following.readNow();
    const begun = reads.length;
    reads.at(-1)?.();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    let isAnswered = false;
    const asked = following.readNow().then(() => (isAnswered = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect([turns, isAnswered, reads.length]).toEqual([turns, false, begun + 1]);
    reads.at(-1)?.();
    await Promise.all([first, asked]);
  }
  await following.close();
});
