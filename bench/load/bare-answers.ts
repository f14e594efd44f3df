// The baseline of single answers: a bare node:http server that reads a body and answers bytes known before.
// Arguments: the port, and a JSON file with the answers by name.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import type { ServerCommand } from './server-process.ts';
import { isProgram } from '../../tools/is-program.ts';

export interface BareAnswer {
  readonly status: number;
  readonly body: string;
}

/** By name, which requests carry in the header `x-case`. */
export type BareAnswers = Readonly<Record<string, BareAnswer>>;

export const caseHeader = 'x-case';

/** The command that starts it; its log goes to the folder. */
export function bareAnswersCommand(folder: string, port: number, answers: string): ServerCommand {
  return {
    command: process.execPath,
    args: [import.meta.filename, String(port), answers],
    logPath: join(folder, 'bare-answers.log'),
  };
}

function serve(port: number, answers: BareAnswers): void {
  const known = new Map(
    Object.entries(answers).map(([key, { status, body }]) => {
      const length = Buffer.byteLength(body);
      const headers = ['content-type', 'application/json; charset=utf-8', 'content-length', length];
      return [key, { status, body, headers: headers.map(String) }];
    }),
  );
  // The same connection is used again after long pauses.
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    request.resume();
    request.on('end', () => {
      const { status, headers, body } = known.get(String(request.headers[caseHeader]))!;
      response.writeHead(status, headers).end(body);
    });
  });
  server.listen(port, '127.0.0.1');
}

if (isProgram(import.meta.filename)) {
  const [, , port, path] = process.argv;
  serve(Number(port), JSON.parse(readFileSync(path!, 'utf8')) as BareAnswers);
}
