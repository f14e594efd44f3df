// SQL properties: schemas and parser (contract 9).
import Type from 'typebox';
import { isJsonObject, type Json } from '../../../model/json.ts';
import type { PropertyReader } from '../property-parser.ts';
import { anyText, oneOf, optional, optionalFlag, text } from '../property-schemas.ts';
import { type Endpoint, targetUri } from '../target-uri.ts';
import {
  parseTls,
  tlsProperties,
  type TlsProperties,
  type UserProperties,
} from '../sign-on-properties.ts';

// SQL address: dialect, host and database out of a JDBC URL.

const ports = { postgresql: 5432, mariadb: 3306, mysql: 3306 } as const;

export type SqlDialectName = keyof typeof ports;

const sqlDialectNames = Object.keys(ports) as readonly SqlDialectName[];

export interface SqlAddress extends Endpoint {
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
export type SqlColumn = {
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

export const sqlProperties = {
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

export function parseSql(sent: SqlReader): SqlProperties {
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
