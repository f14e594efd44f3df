// Supported settings: refuses those that are not valid, or not together.
import { serverAddresses } from '../storage/clickhouse/replica.ts';
import { ConfigError } from './config/config-values.ts';
import type { Config } from './config/config.ts';

/** Throws ConfigError for settings that are not valid, or not together. */
export function refuseUnsupported(config: Config): void {
  const { recordsUrl, secretsKey, samplesUrl, edges, cluster } = config;
  if (edges > 0 && cluster !== undefined)
    throw new ConfigError('EDGES and NODE_URL are both set. With several nodes, unset EDGES.');
  if (edges > 1 && process.platform !== 'linux')
    throw new ConfigError(`Invalid EDGES=${edges}: only Linux shares a port between threads`);
  if (samplesUrl !== undefined && serverAddresses(samplesUrl) === undefined)
    throw new ConfigError(
      'Invalid SAMPLES_URL: use a ClickHouse URL such as http://user:password@host:8123/heliograph. Separate replicas with commas and shards with semicolons.',
    );
  if (recordsUrl !== undefined && !/^postgres(?:ql)?:\/\/.*\/./.test(recordsUrl))
    throw new ConfigError(
      'Invalid RECORDS_URL: use a PostgreSQL URL such as postgres://user:password@host/heliograph',
    );
  // A key file in the folder would be missing where the database is restored next to another one.
  if (recordsUrl !== undefined && secretsKey === undefined)
    throw new ConfigError(
      'RECORDS_URL is set but SECRETS_KEY is not. Set SECRETS_KEY to a long random string, which encrypts the secrets in the database, and store it with your backups.',
    );
}
