// Reference page: it says its language and whose it is.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
}, 240_000);
afterAll(() => world.close());

test('review console A-LOW: the page of the reference has a language and its own title', async () => {
  const answer = await fetch(`${world.base}/docs/`);
  const page = await answer.text();
  expect(answer.headers.get('content-type')).toContain('text/html');
  expect(page).toContain('<html lang="en">');
  expect(page).toContain('<title>API reference · Heliograph</title>');
});
