// Owned devices: what the end of a right before, during and after the work means for its outcome.
import { expect, test } from 'vitest';
import { withDeviceLease } from './owned-devices.ts';

/** A right that the work ends, or not, and whether the work has begun. */
function world({ isOwned = true, ends = false }) {
  let isValid = true;
  let hasBegun = false;
  const held = { isValid: () => isValid, during: <T>(work: Promise<T>) => work };
  const done = withDeviceLease(
    () => (isOwned ? held : undefined),
    'device',
    async () => {
      hasBegun = true;
      if (ends) isValid = false;
      return 'done';
    },
  );
  return { done, hasBegun: () => hasBegun };
}

test('work of an owned device is done', async () => {
  await expect(world({}).done).resolves.toBe('done');
});

test('work of another one does not begin, so that its owner may do it', async () => {
  const { done, hasBegun } = world({ isOwned: false });
  await expect(done).rejects.toMatchObject({ problem: 'deviceMoved' });
  expect(hasBegun()).toBe(false);
});

test('work whose right ended is not acknowledged, and not of the kind that another node does again', async () => {
  const { done, hasBegun } = world({ ends: true });
  await expect(done).rejects.toMatchObject({ problem: 'deviceMovedMeanwhile', status: 503 });
  expect(hasBegun()).toBe(true);
});
