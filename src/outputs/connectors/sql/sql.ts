// SQL databases: one row per delivery (contract 9).
import type { Socket } from 'node:net';
import Type from 'typebox';
import { connectorType } from '../connector-type.ts';
import type { OutboundMessage, Target } from '../target.ts';
import { isJsonObject, type Json } from '../../../model/json.ts';
import {
  anyText,
  oneOf,
  optional,
  optionalFlag,
  parseTls,
  type PropertyReader,
  text,
  tlsProperties,
  type TlsProperties,
  type UserProperties,
} from '../properties.ts';
import { type Endpoint, targetUri } from '../target-uri.ts';
import { valueAt } from '../../../model/sample.ts';
import { attempt, PermanentRefusal } from '../send-failure.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import { type ConnectionKind, SharedConnection } from '../shared-connection.ts';
import { guardedSocket, tlsMaterial } from '../guarded-socket.ts';

// The address: dialect, host and database out of a JDBC URL.

const ports = { postgresql: 5432, mariadb: 3306, mysql: 3306 } as const;

type SqlDialectName = keyof typeof ports;

const sqlDialectNames = Object.keys(ports) as readonly SqlDialectName[];

interface SqlAddress extends Endpoint {
  readonly dialect: SqlDialectName;
  readonly database: string;
}

/** Reads `jdbc:<dialect>://host[:port]/database`; undefined for anything else. */
export function sqlAddress(jdbcUrl: string): SqlAddress | undefined {
  if (!jdbcUrl.startsWith('jdbc:')) return undefined;
  const uri = targetUri(jdbcUrl.slice('jdbc:'.length), ports);
  if (uri === undefined || uri.path === '' || uri.path.includes('/')) return undefined;
  const { scheme, host, port, path } = uri;
  return { dialect: scheme as SqlDialectName, host, port, database: path };
}

const columnTypes = ['AUTO', 'TEXT', 'TIMESTAMP'] as const;
const tlsModes = ['REQUIRED', 'OFF'] as const;
const columnsMax = 100;
const identifierBytesMax = 63;

/** A column receives the value at a path of the template context. */
type SqlColumn = {
  readonly column: string;
  readonly path: string;
  readonly type: (typeof columnTypes)[number];
};

export type SqlProperties = UserProperties &
  TlsProperties & {
    /** `jdbc:postgresql://host:port/database`, `jdbc:mariadb://...` or `jdbc:mysql://...`. */
    readonly jdbcUrl: string;
    readonly tls: (typeof tlsModes)[number];
    readonly schema: string | null;
    readonly table: string;
    readonly columns: readonly SqlColumn[];
    /** Whether a row whose unique key exists already counts as delivered. */
    readonly ignoreDuplicates: boolean;
  };

const columnSchema = Type.Object({
  column: anyText,
  path: text('Path in the sample, such as `data.temperature`, `timestamp`, or `device.name`.'),
  type: optional(oneOf(columnTypes)),
});

const sqlProperties = {
  jdbcUrl: text(
    'JDBC URL: `jdbc:postgresql://host:port/database`, `jdbc:mariadb://…`, or `jdbc:mysql://…`.',
  ),
  username: anyText,
  password: text('Password of the database user. Secret.'),
  tls: optional(oneOf(tlsModes)),
  schema: optional(anyText),
  table: anyText,
  columns: Type.Array(columnSchema, { minItems: 1, maxItems: columnsMax }),
  ignoreDuplicates: optionalFlag(
    'Whether an existing unique key counts as delivered. Defaults to `true`.',
  ),
  ...tlsProperties,
};

type SqlReader = PropertyReader<keyof SqlProperties>;

function parseSql(sent: SqlReader): SqlProperties {
  const jdbcUrl = sent.needed('jdbcUrl');
  if (sqlAddress(jdbcUrl) === undefined) {
    const forms = sqlDialectNames.map((dialect) => `jdbc:${dialect}://host:port/database`);
    sent.refuse('jdbcUrl', `must be ${forms.join(' or ')}, without query parameters`);
  }
  const columns = parseColumns(sent);
  const schema = sent.text('schema');
  return {
    jdbcUrl,
    username: sent.needed('username'),
    password: sent.needed('password'),
    tls: sent.oneOf('tls', tlsModes, 'REQUIRED'),
    schema: schema === null ? null : identifier(sent, 'schema', schema),
    table: identifier(sent, 'table', sent.needed('table')),
    columns,
    ignoreDuplicates: sent.flag('ignoreDuplicates', true),
    ...parseTls(sent),
  };
}

function parseColumns(sent: SqlReader): readonly SqlColumn[] {
  const columns = sent.list('columns', columnsMax).map((column, i) => parseColumn(sent, column, i));
  const names = new Set<string>();
  for (const [i, { column }] of columns.entries()) {
    if (names.has(column)) sent.refuse(`columns.${i}.column`, 'is duplicated');
    names.add(column);
  }
  return columns;
}

function parseColumn(sent: SqlReader, value: Json, i: number): SqlColumn {
  const { column, path, type = defaultType(path) } = isJsonObject(value) ? value : {};
  if (typeof path !== 'string' || path === '')
    return sent.refuse(`columns.${i}.path`, 'is required');
  const known = columnTypes.find((name) => name === type);
  if (known === undefined)
    return sent.refuse(`columns.${i}.type`, `must be one of ${columnTypes.join(', ')}`);
  return { column: identifier(sent, `columns.${i}.column`, column), path, type: known };
}

function defaultType(path: Json | undefined): SqlColumn['type'] {
  return path === 'timestamp' ? 'TIMESTAMP' : 'AUTO';
}

/** Statements quote identifiers, so every character except NUL is allowed. */
function identifier(
  sent: SqlReader,
  member: 'schema' | 'table' | `columns.${string}`,
  name: Json | undefined,
): string {
  if (typeof name !== 'string' || name === '') return sent.refuse(member, 'is required');
  if (name.includes('\0') || Buffer.byteLength(name) > identifierBytesMax)
    return sent.refuse(member, `must be at most ${identifierBytesMax} bytes`);
  return name;
}

export const sql = connectorType({
  vendorName: null,
  propertiesKey: 'sqlProperties',
  properties: sqlProperties,
  secrets: ['password', 'clientKey'],
  parse: parseSql,
  check({ jdbcUrl, columns }, checks) {
    checks.endpoint('jdbcUrl', sqlAddress(jdbcUrl));
    for (const [i, { path }] of columns.entries()) {
      // A path is what is between the braces of a template.
      if (path !== deliveryIdPath) checks.template(`columns.${i}.path`, `{{${path}}}`);
    }
  },
  open: (properties, { egress }) => createSqlTarget(properties, egress),
});

// A row: the INSERT statement of each dialect and the values of its columns for a message.

/**
 * The one path that is not part of the template context: the id, which is the same for every
 * attempt.
 */
const deliveryIdPath = 'deliveryId';

/** The value of a column. */
type SqlValue = string | number | boolean | null;

/** Syntax of a dialect. */
interface SqlDialect {
  quote(identifier: string): string;
  /** `position` counts from 1. */
  placeholder(position: number): string;
  /** The clause with which an existing row counts as written; `column` is quoted. */
  ignoreDuplicates(column: string): string;
  time(epochMs: number): string;
}

const postgresqlDialect: SqlDialect = {
  quote: (identifier) => `"${identifier.replaceAll('"', '""')}"`,
  placeholder: (position) => `$${position}`,
  ignoreDuplicates: () => ' ON CONFLICT DO NOTHING',
  time: (epochMs) => new Date(epochMs).toISOString(),
};

/**
 * Times have no zone; the session uses UTC. An update of a column to itself hides no other error,
 * as IGNORE would.
 */
const mariadbDialect: SqlDialect = {
  quote: (identifier) => `\`${identifier.replaceAll('`', '``')}\``,
  placeholder: () => '?',
  ignoreDuplicates: (column) => ` ON DUPLICATE KEY UPDATE ${column} = ${column}`,
  time: (epochMs) => new Date(epochMs).toISOString().replace('T', ' ').replace('Z', ''),
};

/** Returns the statement of a connector, which is the same for every message. */
function insertStatement(dialect: SqlDialect, properties: SqlProperties): string {
  const { schema, table, columns, ignoreDuplicates } = properties;
  const target = [schema, table].filter((name) => name !== null).map(dialect.quote);
  const names = columns.map(({ column }) => dialect.quote(column));
  const values = columns.map((_, i) => dialect.placeholder(i + 1));
  const statement = `INSERT INTO ${target.join('.')} (${names.join(', ')}) VALUES (${values.join(', ')})`;
  const [first] = names;
  if (!ignoreDuplicates || first === undefined) return statement;
  return statement + dialect.ignoreDuplicates(first);
}

/**
 * Returns the values of the columns in their order. Missing values are NULL, objects and arrays are
 * JSON strings.
 */
function rowOf(
  dialect: SqlDialect,
  columns: readonly SqlColumn[],
  { deliveryId, context }: OutboundMessage,
): SqlValue[] {
  const values = { ...context, [deliveryIdPath]: deliveryId };
  return columns.map((column) => columnValue(dialect, column, valueAt(values, column.path)));
}

function columnValue(
  dialect: SqlDialect,
  { path, type }: SqlColumn,
  value: Json | undefined,
): SqlValue {
  if (value === undefined || value === null) return null;
  if (type === 'TIMESTAMP') return dialect.time(epochMsOf(value, path));
  if (typeof value === 'object') return JSON.stringify(value);
  if (type === 'TEXT') return String(value);
  return value;
}

/** The years 1 to 9999. */
const epochMsMin = -62_135_596_800_000;
const epochMsMax = 253_402_300_800_000;

function epochMsOf(value: Json, path: string): number {
  const epochMs = typeof value === 'string' ? Date.parse(value) : value;
  // All databases can read years of four digits.
  if (typeof epochMs === 'number' && epochMs > epochMsMin && epochMs < epochMsMax) return epochMs;
  throw new PermanentRefusal(`${path} is not a timestamp: ${JSON.stringify(value).slice(0, 100)}`);
}

// Sessions: one guarded connection to PostgreSQL, MariaDB or MySQL, which runs one statement after the other. A delivery succeeds when its row is committed.

const applicationName = 'heliograph';

interface SqlSession {
  /**
   * Runs a statement and resolves with the number of rows it wrote. Call it again only after that.
   */
  run(statement: string, values: readonly SqlValue[]): Promise<number>;
  close(): Promise<void>;
  destroy(): void;
}

/** Opens a session; see `ConnectionKind.open` for `lost` and `signal`. */
type OpenSession = (
  target: {
    readonly properties: SqlProperties;
    readonly address: SqlAddress;
    readonly egress: EgressGuard;
  },
  lost: (reason: Error) => void,
  signal: AbortSignal,
) => Promise<SqlSession>;

/**
 * The clients expect to connect themselves, so the connected socket reports a connection once more.
 */
function connectedSocket(socket: Socket): Socket {
  socket.connect = () => {
    process.nextTick(() => socket.emit('connect'));
    return socket;
  };
  return socket;
}

function tlsOf(properties: SqlProperties, host: string) {
  return properties.tls === 'REQUIRED' && { ...tlsMaterial(properties, host) };
}

const openPostgresql: OpenSession = async ({ properties, address, egress }, lost, signal) => {
  const { host, port, database } = address;
  const socket = await guardedSocket(egress, address, undefined, signal);
  signal.addEventListener('abort', () => void socket.destroy(), { once: true });
  const { Client } = await import('pg');
  const client = new Client({
    host,
    port,
    database,
    // The client would read absent ones from the environment of the platform.
    user: properties.username ?? '',
    password: properties.password ?? '',
    ssl: tlsOf(properties, host),
    stream: () => connectedSocket(socket),
    application_name: applicationName,
  });
  client.on('error', lost);
  client.on('end', () => lost(new Error('the server closed the connection')));
  await client.connect();
  return {
    run: async (text, values) => (await client.query({ text, values: [...values] })).rowCount ?? 0,
    close: () => client.end(),
    destroy: () => void socket.destroy(),
  };
};

const openMariadb: OpenSession = async ({ properties, address, egress }, lost, signal) => {
  const { host, port, database } = address;
  const socket = await guardedSocket(egress, address, undefined, signal);
  signal.addEventListener('abort', () => void socket.destroy(), { once: true });
  const { createConnection } = await import('mariadb');
  const connection = await createConnection({
    host,
    port,
    database,
    user: properties.username ?? '',
    password: properties.password ?? '',
    ssl: tlsOf(properties, host),
    stream: () => {
      process.nextTick(() => socket.emit('connect'));
      return socket;
    },
    initSql: "SET time_zone = '+00:00'",
    // Rows that existed before are not counted.
    foundRows: false,
    permitLocalInfile: false,
    multipleStatements: false,
    // The message of an error would otherwise repeat the values.
    logParam: false,
  });
  connection.on('error', lost);
  connection.on('end', () => lost(new Error('the server closed the connection')));
  return {
    run: async (statement, values) =>
      (await connection.execute(statement, [...values])).affectedRows,
    close: () => connection.end(),
    // The client's own `destroy` would open a second connection to end the running statement.
    destroy: () => void socket.destroy(),
  };
};

const systems: Readonly<
  Record<SqlDialectName, { readonly dialect: SqlDialect; readonly open: OpenSession }>
> = {
  postgresql: { dialect: postgresqlDialect, open: openPostgresql },
  mariadb: { dialect: mariadbDialect, open: openMariadb },
  mysql: { dialect: mariadbDialect, open: openMariadb },
};

/**
 * Classes of SQL states that a retry would receive again: the data, its integrity, the credentials,
 * the database, the schema, the statement. Everything else is temporary, such as lost connections,
 * locks and missing resources.
 */
const permanentClasses = new Set(['0A', '21', '22', '23', '28', '3D', '3F', '42', '44']);

/**
 * Of MariaDB: column without a default value, value out of range, truncated or of another type.
 * Their class is not specific.
 */
const permanentNumbers = new Set([1264, 1265, 1364, 1366, 1406]);
/** Of MariaDB: too many connections of a user, which has the class of a rejected statement. */
const temporaryNumbers = new Set([1203, 1226]);

function createSqlTarget(properties: SqlProperties, egress: EgressGuard): Target {
  const address = sqlAddress(properties.jdbcUrl);
  if (address === undefined) throw new Error('The stored JDBC URL is not valid');
  const { dialect, open } = systems[address.dialect];
  const statement = insertStatement(dialect, properties);
  const target = { properties, address, egress };
  const connection = new SharedConnection(
    sessionKind((lost, signal) => open(target, lost, signal)),
  );
  return {
    send: (message, signal) =>
      attempt(
        signal,
        async () => {
          const values = rowOf(dialect, properties.columns, message);
          const written = await connection.use(signal, (run) => run.next(statement, values));
          return written === 0 ? 'the row already exists' : 'committed 1 row';
        },
        isPermanent,
      ),
    close: () => connection.close(),
  };
}

function isPermanent(error: unknown): boolean {
  const { code, errno, sqlState } = error as {
    code?: unknown;
    errno?: unknown;
    sqlState?: unknown;
  };
  if (typeof errno === 'number' && temporaryNumbers.has(errno)) return false;
  if (typeof errno === 'number' && permanentNumbers.has(errno)) return true;
  const state = typeof sqlState === 'string' ? sqlState : code;
  return typeof state === 'string' && state.length === 5 && permanentClasses.has(state.slice(0, 2));
}

/** A session that runs its statements one after the other. */
interface OrderedSession {
  readonly session: SqlSession;
  next(statement: string, values: readonly SqlValue[]): Promise<number>;
}

function sessionKind(
  open: (lost: (reason: Error) => void, signal: AbortSignal) => Promise<SqlSession>,
): ConnectionKind<OrderedSession> {
  return {
    async open(lost, signal) {
      const session = await open(lost, signal);
      let last: Promise<unknown> = Promise.resolve();
      return {
        session,
        next(statement, values) {
          const result = last.then(() => session.run(statement, values));
          last = result.catch(() => undefined);
          return result;
        },
      };
    },
    close: ({ session }) => session.close(),
    destroy: ({ session }) => session.destroy(),
  };
}
