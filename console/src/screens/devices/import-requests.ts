// Requests of the import: a check that changes nothing, and the import itself.
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import type { Operation } from './bulk-work.ts';

export type ImportReport = components['schemas']['DeviceImportReport'];
export type ImportMode = 'create' | 'upsert';

interface ImportPlace {
  readonly workspaceId: string;
  readonly mode: ImportMode;
}

export async function checkImport(place: ImportPlace, csv: string): Promise<ImportReport> {
  return (await sendFile({ ...place, dryRun: true }, csv)) as ImportReport;
}

/** A file with any problem is refused whole. */
export async function beginImport(place: ImportPlace, csv: string): Promise<Operation> {
  return (await sendFile(place, csv)) as Operation;
}

function sendFile(
  query: ImportPlace & { readonly dryRun?: boolean },
  csv: string,
): Promise<ImportReport | Operation> {
  return ask(
    platform.POST('/v3/devices/import', {
      params: { query },
      headers: { 'content-type': 'text/csv' },
      body: csv as never,
      bodySerializer: String,
    }),
  );
}
