// Output to SQL databases: one row a delivery, delivered once it is committed.
import { sqlAddress } from '../target-address.ts';
import type { SqlProperties } from '../../model/target-properties.ts';
import { parseTemplate } from '../../templates/template.ts';
import type { OutboundConnector } from '../target.ts';
import { checkTarget } from '../guarded-socket.ts';
import { type ConnectionKind, keptConnection } from '../shared-connection.ts';
import { attempt } from '../send-failure.ts';
import {
  deliveryIdPath,
  insertStatement,
  mariadbDialect,
  postgresqlDialect,
  rowOf,
  type SqlDialect,
  type SqlValue,
} from './sql-row.ts';
import { openMariadb, openPostgresql, type OpenSession, type SqlSession } from './sql-session.ts';

const systems: Readonly<
  Record<'postgresql' | 'mariadb' | 'mysql', { dialect: SqlDialect; open: OpenSession }>
> = {
  postgresql: { dialect: postgresqlDialect, open: openPostgresql },
  mariadb: { dialect: mariadbDialect, open: openMariadb },
  mysql: { dialect: mariadbDialect, open: openMariadb },
};

/**
 * Classes of SQL states that another try would meet again: the data, its integrity, the credentials, the database, the schema,
 * the statement. Everything else, such as lost connections, locks and lacking resources, passes.
 */
const permanentClasses = new Set(['0A', '21', '22', '23', '28', '3D', '3F', '42', '44']);

/** Of MariaDB: column without a default value, value out of range, truncated or not of the column's type; no class tells them. */
const permanentNumbers = new Set([1264, 1265, 1364, 1366, 1406]);
/** Of MariaDB: too many connections of a user, which has the class of a refused statement. */
const passingNumbers = new Set([1203, 1226]);

export const sqlConnector: OutboundConnector = {
  type: 'SQL',
  check(properties, egress) {
    const { jdbcUrl, columns } = properties as unknown as SqlProperties;
    checkTarget(egress, sqlAddress(jdbcUrl), 'sqlProperties.jdbcUrl');
    columns.forEach(({ path }, i) => {
      // A path is what stands between the braces of a template.
      if (path !== deliveryIdPath)
        parseTemplate(`{{${path}}}`, 'text', `body sqlProperties.columns.${i}.path`);
    });
  },
  open(properties, egress) {
    const settings = properties as unknown as SqlProperties;
    const address = sqlAddress(settings.jdbcUrl);
    if (address === undefined) throw new Error('a stored JDBC URL cannot be read');
    const { dialect, open } = systems[address.dialect];
    const statement = insertStatement(dialect, settings);
    const connection = keptConnection(
      sessionKind((lost, signal) => open(settings, address, egress, lost, signal)),
    );
    return {
      send(message, signal) {
        return attempt(
          signal,
          async () => {
            const values = rowOf(dialect, settings.columns, message);
            const written = await connection.use(signal, (run) => run.next(statement, values));
            return written === 0 ? 'the row was already there' : 'committed 1 row';
          },
          isPermanent,
        );
      },
      close: () => connection.close(),
    };
  },
};

function isPermanent(error: unknown): boolean {
  const { code, errno, sqlState } = error as {
    code?: unknown;
    errno?: unknown;
    sqlState?: unknown;
  };
  if (typeof errno === 'number' && passingNumbers.has(errno)) return false;
  if (typeof errno === 'number' && permanentNumbers.has(errno)) return true;
  const state = typeof sqlState === 'string' ? sqlState : code;
  return typeof state === 'string' && state.length === 5 && permanentClasses.has(state.slice(0, 2));
}

/** A session whose statements wait for each other. */
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
    abandon: ({ session }) => session.abandon(),
  };
}
