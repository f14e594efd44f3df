// Many devices: 100,000 written directly to the records of a data folder, and a probe of the process.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { httpRequest, openConnection, type HttpTarget } from '../../bench/load/http.ts';
import { apiKey } from './platform-process.ts';

/** Copies a device with its tags this number of times. The platform must not run on the folder. */
export function addDevices(directory: string, templateId: string, count: number): void {
  const database = new DatabaseSync(join(directory, 'records.sqlite'));
  const copied: Readonly<Record<string, string>> = {
    id: "printf('02%014x', n.i)",
    name: "'device ' || n.i",
    deviceId: "'d' || n.i",
    deviceIdKey: "'d' || n.i",
    nameKey: "'device ' || n.i",
    searchText: "'device ' || n.i || ' d' || n.i",
  };
  const columns = database
    .prepare('pragma table_info(devices)')
    .all()
    .map(({ name }) => String(name));
  const names = columns.map((name) => `"${name}"`).join(', ');
  const values = columns.map((name) => copied[name] ?? `t."${name}"`).join(', ');
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`;
  database.exec('pragma foreign_keys = off; begin');
  database
    .prepare(
      `insert into devices (${names}) ${numbers} select ${values} from devices t, n where t.id = ?`,
    )
    .run(templateId);
  database
    .prepare(
      `insert into "deviceTags" ("deviceId", "tagId") ${numbers} select ${copied['id']}, t."tagId" from "deviceTags" t, n where t."deviceId" = ?`,
    )
    .run(templateId);
  database.exec('commit; pragma analysis_limit = 1000; analyze');
  database.close();
}

/**
 * An operation of the workspace with this number of completed actions. The platform must not run on
 * the folder.
 */
export function addOperation(
  directory: string,
  id: string,
  workspaceId: string,
  actions: number,
): void {
  const database = new DatabaseSync(join(directory, 'records.sqlite'));
  database.exec('pragma foreign_keys = off; begin');
  database
    .prepare(
      `insert into operations (id, "organizationId", "workspaceId", creator, type, plan, started, completed, total, done, failed)
       select ?, "organizationId", id, 'creator', 'BULK_UPDATE', '{"work":"import"}', 1, 2, ?, ?, 0 from workspaces where id = ?`,
    )
    .run(id, actions, actions, workspaceId);
  database
    .prepare(
      `insert into "operationActions" (id, "operationId", place, type, state, input, data, started, completed)
       with recursive n(i) as (select 0 union all select i + 1 from n where i < ?)
       select printf('0f%014x', i), ?, i, 'UPDATE', 'SUCCEEDED', null, json_object('name', 'device ' || i), 1, 2 from n`,
    )
    .run(actions - 1, id);
  database.exec('commit');
  database.close();
}

/** Settings under which the platform's process measures its turns. */
export function measuredSettings(directory: string): Record<string, string> {
  const meter = pathToFileURL(join(import.meta.dirname, 'turn-meter-child.ts')).href;
  return { NODE_OPTIONS: `--import ${meter}`, TURN_METER_PORT_FILE: portFile(directory) };
}

function portFile(directory: string): string {
  return join(directory, 'turn-meter-port');
}

export interface Waited {
  /** The longest wait for `GET /health/live`, of a connection that asks all the time. */
  readonly longestMs: number;
  /** 99 of 100 of these waits were not longer. */
  readonly p99Ms: number;
  /** Processor time of the longest turn of the platform's event loop. */
  readonly turnMs: number;
  readonly tookMs: number;
}

/** How long a probe waits while the work is done. */
export async function waitsDuring(
  target: HttpTarget,
  directory: string,
  work: () => Promise<unknown>,
): Promise<Waited> {
  const probe = await openConnection(target);
  const live = httpRequest('GET', '/health/live', {});
  await longestTurn(directory);
  let isOver = false;
  const waits: number[] = [];
  const probing = (async () => {
    while (!isOver) {
      const askedAt = performance.now();
      await probe.send(live);
      waits.push(performance.now() - askedAt);
      await new Promise((resolve) => void setTimeout(resolve, 2));
    }
  })();
  const startedAt = performance.now();
  try {
    await work();
  } finally {
    isOver = true;
  }
  const tookMs = performance.now() - startedAt;
  await probing;
  const turnMs = await longestTurn(directory);
  probe.close();
  waits.sort((a, b) => a - b);
  const p99Ms = waits[Math.floor(waits.length * 0.99)]!;
  return { longestMs: waits.at(-1)!, p99Ms, turnMs, tookMs };
}

/** Since it was last asked. */
function longestTurn(directory: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(readFileSync(portFile(directory), 'utf8')), '127.0.0.1');
    socket.on('error', reject);
    socket.on('data', (text) => resolve(Number(text.toString())));
  });
}

/** A request of the administrator; throws when the answer has none of the expected statuses. */
export async function ask(
  target: HttpTarget,
  method: string,
  path: string,
  body?: unknown,
  expected: readonly number[] = [200, 201, 202],
): Promise<string> {
  const isFile = body instanceof Uint8Array;
  const isText = typeof body === 'string';
  const sent = isText || isFile ? body : JSON.stringify(body);
  const answer = await fetch(`http://${target.host}:${target.port}${path}`, {
    method,
    headers: {
      'x-api-key': apiKey,
      ...(body === undefined ? {} : { 'content-type': isText ? 'text/csv' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: sent as string }),
  });
  const text = await answer.text();
  if (!expected.includes(answer.status))
    throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
  return text;
}
