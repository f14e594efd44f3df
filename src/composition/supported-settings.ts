// Supported settings: refuses those that this version does not support together, or at all.
import { ConfigError } from '../config-values.ts';
import type { Config } from '../config.ts';
import { clusterSecretWeakness } from '../nodes/cluster-secret.ts';

/** Throws ConfigError for settings that this version does not support together, or at all. */
export function refuseUnsupported(config: Config): void {
  const { recordsUrl, secretsKey, samplesUrl, busUrl, clusterSecret, nodeUrl } = config;
  const settings = { SAMPLES_URL: samplesUrl, BUS_URL: busUrl };
  for (const [name, value] of Object.entries(settings)) {
    if (value !== undefined)
      throw new ConfigError(
        `${name} is set, but this version keeps samples in the data folder: unset it`,
      );
  }
  if (recordsUrl !== undefined && !/^postgres(?:ql)?:\/\/.*\/./.test(recordsUrl))
    throw new ConfigError(
      'RECORDS_URL=… cannot be used: it must be the address of a database, such as postgres://user:password@host/heliograph',
    );
  if (clusterSecret !== undefined && (recordsUrl === undefined || nodeUrl === undefined))
    throw new ConfigError(
      'CLUSTER_SECRET is set, but nodes share their records in PostgreSQL and reach each other: set RECORDS_URL, and NODE_URL to the address of this node',
    );
  const weakness = clusterSecret && clusterSecretWeakness(clusterSecret);
  if (weakness) throw new ConfigError(`CLUSTER_SECRET cannot be used: ${weakness}`);
  // A key file in the folder would be missing where the database is restored next to another one.
  if (recordsUrl !== undefined && secretsKey === undefined)
    throw new ConfigError(
      'RECORDS_URL is set and SECRETS_KEY is not: the secrets in the database need a key that is kept apart from the data folder; set SECRETS_KEY to a long random string and keep it with the backups',
    );
}
