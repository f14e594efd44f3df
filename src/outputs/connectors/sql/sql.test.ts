// The SQL output against PostgreSQL and MariaDB: committed rows, types, duplicates, refusals, TLS, lost connections.
import { createConnection } from 'mariadb';
import pg from 'pg';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { sql, type SqlProperties } from './sql.ts';
import { mariadb, startMariadb } from '../../../../tests/servers/mariadb.ts';
import {
  postgresql,
  type SqlServer,
  startPostgresql,
} from '../../../../tests/servers/postgresql.ts';
import { describeWith, startedBefore } from '../../../../tests/servers/server-tests.ts';
import { closeTargets, message, targetOf, trySend } from '../testing-targets.ts';
import { bearsBadServers } from '../../../../tests/connectors/unreachable.ts';

// Names that only quoting makes harmless.
const table = 'samp"le`s; drop table x';
const columns = [
  { column: 'id', path: 'deliveryId', type: 'AUTO' },
  { column: 'at', path: 'timestamp', type: 'TIMESTAMP' },
  { column: 'temp"er`ature', path: 'data.temperature', type: 'AUTO' },
  { column: 'occupied', path: 'data.occupied', type: 'AUTO' },
  { column: 'label', path: 'data.label', type: 'AUTO' },
  { column: 'data', path: 'data', type: 'AUTO' },
  { column: 'missing', path: 'data.missing.deep', type: 'AUTO' },
] as const;

const plain = {
  jdbcUrl: '',
  username: null,
  password: null,
  tls: 'OFF',
  caCertificate: null,
  clientCertificate: null,
  clientKey: null,
  schema: null,
  table,
  columns,
  ignoreDuplicates: true,
} satisfies SqlProperties;

interface System {
  readonly scheme: string;
  readonly database: string;
  readonly server: () => SqlServer;
  readonly ask: (statement: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  readonly schema: string;
  readonly from: string;
}

afterEach(closeTargets);

function writesRows({ scheme, database, server, ask, schema, from }: System): void {
  const properties = (over: Partial<SqlProperties> = {}): SqlProperties => {
    const { port, username, password } = server();
    return {
      ...plain,
      jdbcUrl: `jdbc:${scheme}://127.0.0.1:${port}/${database}`,
      username,
      password,
      ...over,
    };
  };
  beforeAll(async () => {
    await ask(schema);
  });

  test('a row is committed; strange names and values are only names and values', async () => {
    expect(await trySend(targetOf(sql, properties()))).toEqual({
      ok: true,
      answer: 'committed 1 row',
    });
    const [row] = await ask(`select * from ${from} where id = 'delivery-1'`);
    expect({
      ...row,
      data: undefined,
      at: undefined,
      occupied: Boolean(row?.['occupied']),
    }).toEqual({
      id: 'delivery-1',
      at: undefined,
      'temp"er`ature': 21.5,
      occupied: true,
      label: 'a "b"',
      data: undefined,
      missing: null,
    });
    const data = row?.['data'];
    expect(typeof data === 'string' ? JSON.parse(data) : data).toEqual(message().context['data']);
    const at = row?.['at'];
    expect(at instanceof Date ? at.toISOString() : at).toBe('2026-03-01T12:00:00.250Z');
  });

  test('contract 35: a repeated delivery writes its row once where the table has a key', async () => {
    const target = targetOf(sql, properties());
    expect(await trySend(target, message('twice'))).toEqual({
      ok: true,
      answer: 'committed 1 row',
    });
    expect(await trySend(target, message('twice'))).toEqual({
      ok: true,
      answer: 'the row already exists',
    });
    expect(await ask(`select id from ${from} where id = 'twice'`)).toHaveLength(1);
    const strict = targetOf(sql, properties({ ignoreDuplicates: false }));
    expect(await trySend(strict, message('twice'))).toMatchObject({ ok: false, retry: false });
  });

  test('deliveries of several devices share one session and are all committed', async () => {
    const target = targetOf(sql, properties());
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, i) => trySend(target, message(`many-${i}`))),
    );
    expect(outcomes.every((outcome) => outcome.ok)).toBe(true);
    expect(await ask(`select id from ${from} where id like 'many-%'`)).toHaveLength(100);
  });

  test('contract 35: refused credentials, unknown tables and columns, and values of another kind are not tried again', async () => {
    const wrong = { column: 'temp"er`ature', path: 'data.label', type: 'AUTO' } as const;
    const noTime = { column: 'at', path: 'data.label', type: 'TIMESTAMP' } as const;
    const required = { column: 'id', path: 'data.missing', type: 'AUTO' } as const;
    for (const over of [
      { password: 'wrong' },
      { table: 'unknown' },
      { columns: [{ ...wrong, column: 'unknown' }] },
      { columns: [columns[0], wrong] },
      { columns: [columns[0], noTime] },
      { columns: [required] },
      { columns: [columns[1]] },
      { schema: 'unknown' },
      { jdbcUrl: `jdbc:${scheme}://127.0.0.1:${server().port}/unknown` },
    ]) {
      const outcome = await trySend(
        targetOf(sql, properties({ ignoreDuplicates: false, ...over })),
        message('bad'),
      );
      expect(outcome, JSON.stringify(over)).toMatchObject({ ok: false, retry: false });
      expect(JSON.stringify(outcome)).not.toContain('right');
    }
  });

  test('over TLS the certificate must be of the given authority', async () => {
    const { port, caCertificate } = server();
    const jdbcUrl = `jdbc:${scheme}://127.0.0.1:${port}/${database}`;
    const secured = properties({ jdbcUrl, tls: 'REQUIRED', caCertificate });
    expect(await trySend(targetOf(sql, secured), message('secured'))).toMatchObject({
      ok: true,
    });
    const unknown = await trySend(targetOf(sql, { ...secured, caCertificate: null }));
    expect(unknown).toMatchObject({
      ok: false,
      retry: true,
      reason: expect.stringContaining('self-signed'),
    });
  });

  bearsBadServers(
    (port) =>
      targetOf(sql, properties({ jdbcUrl: `jdbc:${scheme}://127.0.0.1:${port}/${database}` })),
    () => server().port,
  );
}

describeWith(postgresql, 'output to PostgreSQL', () => {
  const server = startedBefore(startPostgresql);
  const ask: System['ask'] = async (statement) => {
    const { port, username: user, password } = server();
    const client = new pg.Client({ host: '127.0.0.1', port, user, password, database: 'postgres' });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  };
  const from = '"samp""le`s; drop table x"';
  const schema = `create table ${from} (id text primary key, at timestamptz, "temp""er\`ature" float8, occupied boolean,
    label varchar(20), data jsonb, missing int)`;
  writesRows({ scheme: 'postgresql', database: 'postgres', server, ask, schema, from });
});

describeWith(mariadb, 'output to MariaDB', () => {
  const server = startedBefore(startMariadb);
  const ask: System['ask'] = async (statement) => {
    const { port, username: user, password } = server();
    const session = {
      user,
      password,
      database: 'target',
      initSql: "set time_zone = '+00:00'",
      timezone: 'Z',
    };
    const connection = await createConnection({ host: '127.0.0.1', port, ...session });
    try {
      return await connection.query(statement);
    } finally {
      await connection.end();
    }
  };
  const from = '`samp"le``s; drop table x`';
  const schema = `create table ${from} (id varchar(40) not null primary key, at timestamp(3) null, \`temp"er\`\`ature\` double,
    occupied boolean, label varchar(20), data json, missing int)`;
  writesRows({ scheme: 'mariadb', database: 'target', server, ask, schema, from });
});
