// The baseline of the HTTP benches: a bare node:http server that reads a body, does nothing and answers 201.
// Arguments: the port, and `parse` to have it parse the body as JSON.
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

/** Runs `work` beside one that reads bodies, or that parses them too. */
export function withBareServer<T>(
  mode: 'read' | 'parse',
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
  mode: 'read' | 'parse' = 'read',
): ServerCommand {
  return {
    command: process.execPath,
    args: [import.meta.filename, String(port), mode],
    logPath: join(folder, 'bare-server.log'),
  };
}

function serve(port: number, parsed: boolean): void {
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
    if (parsed) request.on('data', (chunk: Buffer) => chunks.push(chunk));
    else request.resume();
    request.on('end', () => {
      if (chunks.length > 0) JSON.parse(Buffer.concat(chunks).toString());
      response.writeHead(request.method === 'GET' ? 200 : 201, headers).end(answer);
    });
  });
  server.listen(port, '127.0.0.1');
}

if (isProgram(import.meta.filename)) serve(Number(process.argv[2]), process.argv[3] === 'parse');
