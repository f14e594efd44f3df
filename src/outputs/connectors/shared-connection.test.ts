// Kept connections: shared, idle, lost and late ones, with connections that are opened and closed by hand.
import { describe, expect, test } from 'vitest';
import { SharedConnection } from './shared-connection.ts';

interface Opening {
  readonly lost: (reason: Error) => void;
  readonly signal: AbortSignal;
  readonly open: () => void;
  readonly fail: (reason: Error) => void;
  state: 'opening' | 'open' | 'closed' | 'destroyed';
}

function byHand(idleAfterMs = 60_000) {
  const openings: Opening[] = [];
  const connection = new SharedConnection<Opening>(
    {
      open(lost, signal) {
        const opened = Promise.withResolvers<Opening>();
        const opening: Opening = {
          lost,
          signal,
          state: 'opening',
          open() {
            opening.state = 'open';
            opened.resolve(opening);
          },
          fail: opened.reject,
        };
        openings.push(opening);
        return opened.promise;
      },
      close(opening) {
        opening.state = 'closed';
        return Promise.resolve();
      },
      destroy(opening) {
        opening.state = 'destroyed';
      },
    },
    idleAfterMs,
  );
  return { connection, openings };
}

const forever = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a kept connection', () => {
  test('is opened once for all who wait for it, and again only after its end', async () => {
    const { connection, openings } = byHand();
    const uses = [1, 2, 3].map((value) => connection.use(forever, async () => value));
    await turn();
    expect(openings).toHaveLength(1);
    openings[0]!.open();
    expect(await Promise.all(uses)).toEqual([1, 2, 3]);
    openings[0]!.lost(new Error('gone'));
    const again = connection.use(forever, async (opening) => opening);
    await turn();
    openings[1]!.open();
    expect(await again).toBe(openings[1]);
  });

  test('that cannot be opened fails all who wait, and the next one tries anew', async () => {
    const { connection, openings } = byHand();
    const uses = [1, 2].map(() =>
      connection.use(forever, async () => 1).catch((error: Error) => error.message),
    );
    await turn();
    openings[0]!.fail(new Error('refused'));
    expect(await Promise.all(uses)).toEqual(['refused', 'refused']);
    void connection.use(forever, async () => 1).catch(() => undefined);
    await turn();
    expect(openings).toHaveLength(2);
  });

  test('that is lost fails the deliveries on it', async () => {
    const { connection, openings } = byHand();
    const use = connection.use(forever, () => new Promise(() => undefined));
    await turn();
    openings[0]!.open();
    await turn();
    openings[0]!.lost(new Error('cut'));
    await expect(use).rejects.toThrow('cut');
    expect(openings[0]).toMatchObject({ state: 'destroyed', signal: { aborted: true } });
  });

  test('that lets one delivery wait too long is destroyed, the others on it fail', async () => {
    const { connection, openings } = byHand();
    const late = new AbortController();
    const uses = [late.signal, forever].map((signal) =>
      connection.use(signal, () => new Promise(() => undefined)),
    );
    await turn();
    openings[0]!.open();
    await turn();
    late.abort(new Error('late'));
    await expect(uses[0]).rejects.toThrow('late');
    await expect(uses[1]).rejects.toThrow('another delivery');
    expect(openings[0]?.state).toBe('destroyed');
  });

  test('that is opened after nobody waits for it any more is let go', async () => {
    const { connection, openings } = byHand();
    const late = new AbortController();
    const use = connection.use(late.signal, async () => 1);
    await turn();
    late.abort(new Error('late'));
    await expect(use).rejects.toThrow('late');
    openings[0]!.open();
    await turn();
    expect(openings[0]?.state).toBe('destroyed');
  });

  test('without deliveries is closed after its idle time, and opened again', async () => {
    const { connection, openings } = byHand(1);
    const closed = Promise.withResolvers<void>();
    const use = connection.use(forever, async (opening) => {
      const poll = setInterval(() => {
        if (opening.state !== 'closed') return;
        clearInterval(poll);
        closed.resolve();
      }, 1);
    });
    await turn();
    openings[0]!.open();
    await use;
    await closed.promise;
    void connection.use(forever, async () => 1).catch(() => undefined);
    await turn();
    expect(openings).toHaveLength(2);
  });

  test('is closed cleanly with its target, also while it is being opened, and not used afterwards', async () => {
    const { connection, openings } = byHand();
    const use = connection.use(forever, async () => 1);
    await turn();
    openings[0]!.open();
    await use;
    await connection.close();
    expect(openings[0]?.state).toBe('closed');
    await expect(connection.use(forever, async () => 1)).rejects.toThrow('closed');
    const other = byHand();
    const waiting = other.connection.use(forever, async () => 1);
    await turn();
    await other.connection.close();
    await expect(waiting).rejects.toThrow('closed');
  });
});
