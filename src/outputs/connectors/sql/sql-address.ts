// SQL address: dialect, host and database out of a JDBC URL.
import { type Endpoint, targetUri } from '../target-uri.ts';

const ports = { postgresql: 5432, mariadb: 3306, mysql: 3306 } as const;

export type SqlDialectName = keyof typeof ports;

export const sqlDialectNames = Object.keys(ports) as readonly SqlDialectName[];

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
