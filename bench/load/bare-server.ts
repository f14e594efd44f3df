// The baseline of the HTTP benches: a bare node:http server that reads a body and answers 201.
// Arguments: the port; `parse` to have it parse the body as JSON, or `durable` to have it also append the body to a
// file and sync that before it answers; and the file.
import { closeSync, fdatasync, openSync, write } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import type { HttpTarget } from './http.ts';
import {
  freePort,
  inTemporaryFolder,
  type RunningServer,
  type ServerCommand,
  startServer,
  untilListening,
} from './server-process.ts';
import { isProgram } from '../../tools/is-program.ts';

/** What it does with a body; each does what the one before does too. */
type Mode = 'read' | 'parse' | 'durable';

/** Runs `work` beside one. */
export function withBareServer<T>(
  mode: Mode,
  work: (server: RunningServer, target: HttpTarget) => Promise<T>,
): Promise<T> {
  return inTemporaryFolder('bare', async (folder) => {
    const target = { host: '127.0.0.1', port: await freePort() };
    const server = startServer(bareServerCommand(folder, target.port, mode));
    try {
      await untilListening(server, target.port);
      return await work(server, target);
    } finally {
      await server.stop();
    }
  });
}

/** The command that starts it; its log goes to the folder. */
export function bareServerCommand(
  folder: string,
  port: number,
  mode: Mode = 'read',
): ServerCommand {
  return {
    command: process.execPath,
    args: [import.meta.filename, String(port), mode, join(folder, 'bodies')],
    logPath: join(folder, 'bare-server.log'),
  };
}

/** Bodies in one file: those that come during a sync share the next one. */
class SyncedFile {
  readonly #file: number;
  #waiting: { readonly body: Buffer; readonly done: () => void }[] = [];
  #isSyncing = false;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
    process.once('exit', () => closeSync(this.#file));
  }

  /** Calls `done` when the body is on the disk. */
  append(body: Buffer, done: () => void): void {
    this.#waiting.push({ body, done });
    if (!this.#isSyncing) this.#sync();
  }

  #sync(): void {
    const group = this.#waiting;
    this.#isSyncing = group.length > 0;
    if (!this.#isSyncing) return;
    this.#waiting = [];
    const bytes = Buffer.concat(group.map(({ body }) => body));
    write(this.#file, bytes, (failure) => {
      if (failure !== null) throw failure;
      fdatasync(this.#file, (error) => {
        if (error !== null) throw error;
        for (const { done } of group) done();
        this.#sync();
      });
    });
  }
}

function serve(port: number, mode: string, path: string): void {
  const file = mode === 'durable' ? new SyncedFile(path) : undefined;
  const answer = JSON.stringify({
    id: '00000000-0000-4000-8000-000000000000',
    timestamp: '2026-01-05T00:00:00.000Z',
    message: 'uplink received',
  });
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(answer),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const end = (): void => {
      response.writeHead(request.method === 'GET' ? 200 : 201, headers).end(answer);
    };
    if (mode === 'read') request.resume();
    else request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (body.length > 0) JSON.parse(body.toString());
      if (file === undefined || body.length === 0) end();
      else file.append(body, end);
    });
  });
  server.listen(port, '127.0.0.1');
}

if (isProgram(import.meta.filename)) {
  const [, , port, mode = 'read', path = ''] = process.argv;
  serve(Number(port), mode, path);
}
