// Stopped folder: the data folder of a platform that does not run, claimed while a command moves its data.
import { existsSync } from 'node:fs';
import { refuseUnsupported } from '../supported-settings.ts';
import type { Config } from '../config/config.ts';
import { DataFolder, DataFolderError } from '../../storage/data-folder/data-folder.ts';

/** Adds how long the work took. Throws ConfigError and DataFolderError with what to do. */
export async function onStoppedFolder<T extends object>(
  config: Config,
  work: () => Promise<T>,
): Promise<T & { readonly seconds: number }> {
  const { dataDirectory } = config;
  refuseUnsupported(config);
  // A claim would create it.
  if (!existsSync(dataDirectory))
    throw new DataFolderError(`The data folder ${dataDirectory} does not exist`);
  const startedAt = performance.now();
  const folder = new DataFolder(dataDirectory);
  try {
    const done = await work();
    return { ...done, seconds: (performance.now() - startedAt) / 1_000 };
  } finally {
    folder.release();
  }
}
