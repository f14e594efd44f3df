// Supported settings: refuses those that this version does not support together, or at all.
import { serverAddresses } from '../clickhouse/server-addresses.ts';
import { ConfigError } from '../config-values.ts';
import type { Config } from '../config.ts';

/** Throws ConfigError for settings that this version does not support together, or at all. */
export function refuseUnsupported(config: Config): void {
  const { recordsUrl, secretsKey, samplesUrl, busUrl } = config;
  if (busUrl !== undefined)
    throw new ConfigError('BUS_URL is set, but this version runs without a bus: unset it');
  if (samplesUrl !== undefined && serverAddresses(samplesUrl) === undefined)
    throw new ConfigError(
      'SAMPLES_URL=… cannot be used: it must be the address of a ClickHouse server, such as http://user:password@host:8123/heliograph; replicas are separated by commas, shards by semicolons',
    );
  if (recordsUrl !== undefined && !/^postgres(?:ql)?:\/\/.*\/./.test(recordsUrl))
    throw new ConfigError(
      'RECORDS_URL=… cannot be used: it must be the address of a database, such as postgres://user:password@host/heliograph',
    );
  // A key file in the folder would be missing where the database is restored next to another one.
  if (recordsUrl !== undefined && secretsKey === undefined)
    throw new ConfigError(
      'RECORDS_URL is set and SECRETS_KEY is not: the secrets in the database need a key that is kept apart from the data folder; set SECRETS_KEY to a long random string and keep it with the backups',
    );
}
