// Client claims: a client id belongs to its newest connection, and its kept session is found once.
import { describe, expect, test } from 'vitest';
import { SessionStore, type KeptSession } from '../mqtt-session.ts';
import { type Claim, ClientClaims } from './client-claims.ts';

const kept: KeptSession = { subscriptions: [], halfReceived: [7], keptAt: 0, until: 1_000 };
const claimOf = (claim: string, at: number, nodeId = `node of ${claim}`): Claim => ({
  key: 'client',
  claim,
  at,
  node: { id: nodeId, url: `http://${nodeId}` },
});

function newClaims(left?: KeptSession) {
  const evicted: string[] = [];
  const store = new SessionStore(() => 0);
  const claims = new ClientClaims({
    store,
    evict: async ({ claim }) => {
      evicted.push(claim);
      return left;
    },
  });
  return { evicted, store, claims };
}

describe('a second connection', () => {
  test('ends the first one, and gets what it left', async () => {
    const { claims, evicted } = newClaims(kept);
    await expect(claims.claim(claimOf('first', 1), false)).resolves.toBeUndefined();
    await expect(claims.claim(claimOf('second', 2), false)).resolves.toBe(kept);
    expect(evicted).toEqual(['first']);
  });

  test('that begins without a session gets nothing, and nothing is kept', async () => {
    const { claims, store } = newClaims(kept);
    await claims.claim(claimOf('first', 1), false);
    await expect(claims.claim(claimOf('second', 2), true)).resolves.toBeUndefined();
    expect(store.size).toBe(0);
  });

  test('changes nothing when its claim arrives twice', async () => {
    const { claims, evicted } = newClaims();
    await claims.claim(claimOf('first', 1), false);
    await claims.claim(claimOf('first', 1), false);
    expect(evicted).toEqual([]);
  });
});

describe('a release', () => {
  test('keeps the session for the next connection, once', async () => {
    const { claims } = newClaims();
    await claims.claim(claimOf('first', 1), false);
    claims.release('client', 'first', kept);
    expect(claims.size).toBe(0);
    await expect(claims.claim(claimOf('second', 2), false)).resolves.toBe(kept);
    claims.release('client', 'second', undefined);
    await expect(claims.claim(claimOf('third', 3), false)).resolves.toBeUndefined();
  });

  test('of a connection that was replaced changes nothing', async () => {
    const { claims, store } = newClaims();
    await claims.claim(claimOf('first', 1), false);
    await claims.claim(claimOf('second', 2), false);
    claims.release('client', 'first', kept);
    expect(claims.size).toBe(1);
    expect(store.size).toBe(0);
  });
});

describe('after a move, nodes claim their connections again', () => {
  test('of two connections the newer one stays', () => {
    const { claims, evicted } = newClaims();
    expect(claims.reclaim([claimOf('older', 1)])).toEqual([]);
    expect(claims.reclaim([claimOf('newer', 2)])).toEqual([]);
    expect(evicted).toEqual(['older']);
    expect(claims.reclaim([claimOf('older', 1)])).toEqual([claimOf('older', 1)]);
  });

  test('connections of a node that is gone are dropped', () => {
    const { claims } = newClaims();
    claims.reclaim([claimOf('first', 1, 'gone')]);
    claims.dropNode('gone');
    expect(claims.size).toBe(0);
  });
});
