// Free ports: processes that run at the same time are given different ones.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import process from 'node:process';
import { expect, test } from 'vitest';
import { freePort } from '../../bench/load/server-process.ts';

/** As many that two processes that choose at random have some in common. */
const portsOfProcess = 400;

const program = `
  const { freePort } = await import(process.argv[1]);
  const ports = [];
  while (ports.length < ${portsOfProcess}) ports.push(await freePort());
  process.send(ports);
  process.once('disconnect', () => process.exit());
`;

function startProcess() {
  const module = new URL('../../bench/load/server-process.ts', import.meta.url).href;
  const args = ['--no-warnings', '--input-type=module', '--eval', program, module];
  return spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

test('processes at the same time are given different ports', async () => {
  const children = [startProcess(), startProcess()];
  const given = await Promise.all(
    children.map(async (child) => {
      const [ports] = (await once(child, 'message')) as [number[]];
      return ports;
    }),
  );
  for (const child of children) child.disconnect();
  await Promise.all(children.map((child) => once(child, 'exit')));
  const all = given.flat();
  expect(all).toHaveLength(2 * portsOfProcess);
  expect(new Set(all).size).toBe(all.length);
});

test('a port is given once, also when it is asked for many times at once', async () => {
  const ports = await Promise.all(Array.from({ length: 120 }, () => freePort()));
  expect(new Set(ports).size).toBe(ports.length);
});

test('a port that somebody listens on is not given', async () => {
  const before = await freePort();
  const server = createServer();
  // If somebody else listens there, it is taken as well.
  await once(server.listen(before + 1, '127.0.0.1'), 'listening').catch(() => undefined);
  try {
    expect(await freePort()).not.toBe(before + 1);
  } finally {
    server.close();
  }
});
