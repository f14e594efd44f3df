// Links: all bytes of all links arrive in order through real message ports, and a reader that is behind stops its writer.
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { httpListener, type Link, type LinkMessage, Links } from './edge-links.ts';

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** Both sides of an edge, and the messages that went from `here` to `there`. */
function bothSides() {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const sent: LinkMessage[] = [];
  const opened: Link[] = [];
  const here = new Links(
    (message, transfer) => {
      sent.push({ ...message, bytes: message.bytes.slice() });
      port1.postMessage(message, transfer);
    },
    (link) => link.destroy(),
  );
  const there = new Links(
    (message, transfer) => port2.postMessage(message, transfer),
    (link) => opened.push(link),
  );
  port1.on('message', (message: LinkMessage) => here.receive(message));
  port2.on('message', (message: LinkMessage) => there.receive(message));
  /** Opens as many links. */
  const open = async (count: number) => {
    const before = opened.length;
    const near = Array.from({ length: count }, () => here.open(httpListener, '192.0.2.1'));
    await vi.waitFor(() => expect(opened.length).toBe(before + count));
    return near.map((one, at) => ({ near: one, far: opened[before + at]! }));
  };
  return { here, there, sent, open };
}

/** Until its end; the other half stays open. */
async function text(link: Duplex): Promise<string> {
  const parts: Buffer[] = [];
  link.on('data', (part: Buffer) => parts.push(part));
  await once(link, 'end');
  return String(Buffer.concat(parts));
}

test('contract 42: whatever is written arrives whole and in order, on each of many links', async () => {
  const { open, here, there } = bothSides();
  const writes = fc.array(
    fc.record({ link: fc.nat(3), isNear: fc.boolean(), bytes: fc.uint8Array({ maxLength: 300 }) }),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(writes, async (all) => {
      const links = await open(4);
      const received = links.map(({ near, far }) => [text(far), text(near)] as const);
      const expected = links.map(() => ['', '']);
      for (const { link, isNear, bytes } of all) {
        const written = Buffer.from(bytes).toString('base64');
        expected[link]![isNear ? 0 : 1] += written;
        (isNear ? links[link]!.near : links[link]!.far).write(written);
      }
      for (const { near, far } of links) {
        near.end();
        far.end();
      }
      expect(await Promise.all(received.map((both) => Promise.all(both)))).toEqual(expected);
      await vi.waitFor(() => expect(here.size + there.size).toBe(0));
    }),
    { numRuns: 40 },
  );
});

test('what goes to many links in one turn is sent once', async () => {
  const { open, sent } = bothSides();
  const links = await open(100);
  const arrived = links.map(({ far }) => once(far, 'data'));
  const frame = Buffer.alloc(1_000, 'a');
  sent.length = 0;
  for (const { near } of links) near.write(frame);
  for (const [bytes] of await Promise.all(arrived)) expect(String(bytes)).toBe(frame.toString());
  expect(sent.map(({ bytes }) => bytes.length)).toEqual([1_000]);
});

test('a reader that takes nothing stops its writer, and nobody else', async () => {
  const { open } = bothSides();
  const [slow, quick] = await open(2);
  const bytes = Buffer.alloc(16 * 1024, 'b');
  let written = 0;
  // Both sides hold their part.
  while (slow!.near.write(bytes) || written < 8) {
    written += 1;
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).toBeLessThan(64);
  }
  slow!.near.end();
  quick!.near.end('quick');
  expect(await text(quick!.far)).toBe('quick');
  expect(slow!.near.writableFinished).toBe(false);
  expect((await text(slow!.far)).length).toBe((written + 1) * bytes.length);
});

test('a link that is cut on one side is cut on the other; when a side is gone, all are', async () => {
  const { open, here, there } = bothSides();
  const links = await open(3);
  const closed = once(links[0]!.far, 'close');
  links[0]!.near.destroy();
  await closed;
  expect(links[1]!.far.destroyed).toBe(false);
  const others = links.slice(1).map(({ far }) => once(far, 'close'));
  there.cutAll();
  await Promise.all(others);
  await vi.waitFor(() => expect(here.size).toBe(0));
});
