// The process behind `startCurrentClickHouse`: chDB, with the part of ClickHouse's HTTP interface that the platform uses.
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createSerialQueue } from '../../src/structures/work-queues.ts';

/** The part of chDB's interface that is used here. */
interface ChdbSession {
  queryAsync(sql: string, options: { readonly format: string }): Promise<{ text(): string }>;
}
interface Chdb {
  readonly Session: new (folder: string) => ChdbSession;
}

const [folder = '', port = '', password = '', chdbPath = ''] = process.argv.slice(2);
const { Session } = createRequire(import.meta.url)(chdbPath) as Chdb;
const session = new Session(join(folder, 'data'));
/** Statements of all requests share the session, and so its database and settings. */
const inTurn = createSerialQueue();
/** Parameters other than settings. */
const ownParameters = new Set(['database', 'query', 'query_id', 'wait_end_of_query']);
let files = 0;

async function run(sql: string): Promise<string> {
  return (await session.queryAsync(sql, { format: 'TabSeparated' })).text();
}

async function answer(parameters: URLSearchParams, body: Buffer): Promise<string> {
  const query = parameters.get('query');
  await run(`use ${parameters.get('database') ?? 'default'}`);
  for (const [name, value] of parameters)
    if (!ownParameters.has(name)) await run(`set ${name} = ${settingText(value)}`);
  if (query === null) return run(body.toString());
  if (body.length === 0) return run(query);
  files += 1;
  const path = join(folder, `insert-${files}`);
  writeFileSync(path, body);
  try {
    return await run(query.replace(/ format (\w+)$/, ` from infile '${path}' format $1`));
  } finally {
    rmSync(path);
  }
}

function settingText(value: string): string {
  return /^\d+$/.test(value) ? value : `'${value}'`;
}

function isAllowed({ headers }: IncomingMessage): boolean {
  const basic = Buffer.from(headers.authorization?.replace('Basic ', '') ?? '', 'base64');
  return headers['x-clickhouse-key'] === password || basic.toString().endsWith(`:${password}`);
}

const server = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  const end = (status: number, text: string): void => {
    response.writeHead(status).end(text);
  };
  const respond = async (): Promise<void> => {
    const body = await buffer(request);
    if (request.method === 'GET') return end(200, 'Ok.\n');
    if (!isAllowed(request)) return end(403, 'Code: 516. DB::Exception: Authentication failed');
    try {
      end(200, await inTurn.run(() => answer(searchParams, body)));
    } catch (error) {
      end(500, (error as Error).message);
    }
  };
  // A request that was cut off needs no answer.
  respond().catch(() => response.destroy());
});
server.listen(Number(port), '127.0.0.1');
