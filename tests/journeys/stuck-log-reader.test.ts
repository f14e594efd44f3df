// Hung log collector, and no file descriptors: the platform continues, and reports it afterwards.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { testedProgram } from '../world/tested-program.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-log-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

type Child = ChildProcessByStdio<null, Readable, Readable>;

function start(limits = ''): {
  child: Child;
  port: Promise<number>;
  ended: Promise<number | null>;
} {
  const child: Child = spawn(
    'sh',
    ['-c', `${limits} exec "$0" "$1"`, process.execPath, testedProgram],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOST: '127.0.0.1',
        PORT: '0',
        MQTT_PORT: '0',
        COAP_PORT: '0',
        DATA_DIR: directory,
        LOG_LEVEL: 'debug',
      },
    },
  );
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
  });
  let text = '';
  const port = new Promise<number>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      text += data.toString();
      const found = /ready on [^\s]+:(\d+)/.exec(text);
      if (found !== null) resolve(Number(found[1]));
    });
    void ended.then(() => reject(new Error('ended before it was ready')));
  });
  return { child, port, ended };
}

test('review reliability 15: without a reader of the log, requests are answered; a stop ends', async () => {
  const { child, port, ended } = start();
  const url = `http://127.0.0.1:${await port}/health/live`;
  // Each answer is a line of some 200 bytes; a pipe takes 64 KiB of them.
  for (let i = 0; i < 30; i++) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(url)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  }
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  child.stderr.resume();
});

test('review reliability 16: missing file descriptors are logged once, and their return', async () => {
  const { child, port, ended } = start('ulimit -n 90;');
  let log = '';
  const wanted: [string, () => void][] = [];
  child.stderr.on('data', (data: Buffer) => {
    log += data.toString();
    for (const [text, found] of wanted) if (log.includes(text)) found();
  });
  const told = (text: string) => new Promise<void>((found) => void wanted.push([text, found]));
  const sockets: Socket[] = [];
  const address = await port;
  const isOut = told('out of file descriptors');
  for (let i = 0; i < 120; i++) {
    const socket = connect(address, '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
  }
  await isOut;
  const isFree = told('file descriptors available again');
  for (const socket of sockets) socket.destroy();
  await isFree;
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(log.split('out of file descriptors').length).toBe(2);
}, 240_000);
