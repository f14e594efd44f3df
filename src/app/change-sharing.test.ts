// Sharing of changes: answers wait for it, whether their requests succeed or are refused.
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import type { Actor } from '../model/principal.ts';
import { actingRequests } from './shared-work.ts';

const actor = { id: 'a' } as unknown as Actor;

test.each([
  ['that changes nothing', false, undefined, ['answered']],
  ['that changes something', true, undefined, ['shared', 'answered']],
  ['that is refused after a change', true, new Error('refused'), ['shared', 'refused']],
])('a request %s', async (_name, changes, refusal, expected) => {
  const steps: string[] = [];
  const requests = actingRequests(new AsyncLocalStorage());
  requests.useSharing(async () => {
    await Promise.resolve();
    steps.push('shared');
  });
  const answer = requests.actAs(actor, async () => {
    await Promise.resolve();
    if (changes) requests.published();
    if (refusal !== undefined) throw refusal;
  });
  await answer.then(
    () => steps.push('answered'),
    (error: Error) => steps.push(error.message),
  );
  expect(steps).toEqual(expected);
});
