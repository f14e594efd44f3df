// The command that removes the second factors of a user who lost them, while no platform runs.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { recordsPlaceOf } from '../records.ts';
import { ConfigError } from '../config/config-values.ts';
import type { Config } from '../config/config.ts';
import {
  DataFolder,
  DataFolderError,
  storedNodeId,
} from '../../storage/data-folder/data-folder.ts';
import { type OperatorReset, MemberFactors } from '../../inventory/members/members.ts';
import type { Actor } from '../../model/principal.ts';
import { openRecords } from '../../storage/records/records.ts';

type ResetConfig = Pick<Config, 'dataDirectory' | 'recordsUrl' | 'secretsKey' | 'cluster'>;

/** Throws ConfigError and DataFolderError with what to do; nothing is changed then. */
export async function resetSecondFactorOf(
  config: ResetConfig,
  words: readonly string[],
): Promise<OperatorReset> {
  const [email, ...others] = words;
  if (email === undefined || others.length > 0)
    throw new ConfigError('Usage: heliograph reset-second-factor EMAIL (stop the platform first)');
  const { dataDirectory: directory, recordsUrl } = config;
  const isThere = recordsUrl !== undefined || existsSync(join(directory, 'records.sqlite'));
  // Claiming and opening would create what is missing.
  if (!existsSync(directory) || !isThere)
    throw new DataFolderError(`No Heliograph records found in ${directory}`);
  const folder = new DataFolder(directory);
  try {
    const reset = await resetIn(config, email);
    if (reset === undefined)
      throw new ConfigError(`No account with the email ${email}. Nothing was changed.`);
    return reset;
  } finally {
    folder.release();
  }
}

async function resetIn(config: ResetConfig, email: string): Promise<OperatorReset | undefined> {
  const { dataDirectory: directory, secretsKey, cluster } = config;
  const node = await storedNodeId(directory);
  const place = recordsPlaceOf(config, cluster === undefined ? undefined : node);
  const { refusal } = await place.check({ directory, secretsKey, hasSamples: false, node });
  if (refusal !== undefined) throw new DataFolderError(refusal);
  const records = await openRecords({
    directory,
    secretsKey,
    engine: place.engine,
    // This process has no caches and no clients to notify.
    announce: () => undefined,
  });
  try {
    return await new MemberFactors(records).resetByOperator(email, operatorOfCommand());
  } finally {
    await records.close();
  }
}

/** The author in the audit log: the operator needs no account in the records. */
function operatorOfCommand(): Actor {
  const name = 'operator (heliograph reset-second-factor)';
  return { type: 'USER', id: 'operator', name, requestId: randomUUID(), ip: 'command line' };
}
