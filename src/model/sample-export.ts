// Sample export: samples of many devices written to one file, which a client downloads when it is complete.
import type { EpochMs } from './instant.ts';

export const sampleExportFormats = ['parquet', 'ndjson', 'csv'] as const;
export type SampleExportFormat = (typeof sampleExportFormats)[number];

export const sampleExportStates = ['RUNNING', 'COMPLETE', 'FAILED'] as const;
export type SampleExportState = (typeof sampleExportStates)[number];

/** What an export contains. */
export interface SampleExportPlan {
  readonly format: SampleExportFormat;
  /** Inclusive. */
  readonly from: EpochMs | null;
  /** Exclusive; at the latest the time of the request, so that an export comes to an end. */
  readonly to: EpochMs;
  /** All when null. */
  readonly topics: readonly string[] | null;
  /** Members of `data`; all when null. */
  readonly keys: readonly string[] | null;
  /** In ascending order. Null: all of the workspace, or those that have one of the tags. */
  readonly deviceIds: readonly string[] | null;
  readonly tagIds: readonly string[] | null;
}

/** An export has the id of its operation, which contains its progress in devices. */
export interface SampleExport {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  /** The node whose disk has the file; empty for the only platform on its records. */
  readonly node: string;
  readonly state: SampleExportState;
  readonly plan: SampleExportPlan;
  readonly samples: number;
  /** Bytes of the file. */
  readonly bytes: number;
  /** Stretches of samples that could not be read and are not in the file. */
  readonly unreadable: number;
  readonly errorCode: string | null;
  readonly error: string | null;
  /** The file and the record are removed then; null while the export runs. */
  readonly expires: EpochMs | null;
}

export const sampleExportLimits = {
  /** Devices that a request names, or that its expression finds. */
  devicesMax: 50_000,
  tagsMax: 100,
  topicsMax: 100,
  keysMax: 100,
  /** Of one organization, complete or not. */
  perOrganizationMax: 20,
  /** An export fails instead of leaving less room than this to what devices send. */
  freeBytesMin: 256 * 1024 * 1024,
} as const;

const fileEndings: Readonly<Record<SampleExportFormat, string>> = {
  parquet: 'parquet',
  ndjson: 'ndjson.gz',
  csv: 'csv.gz',
};

/** The name of the file, without its folder. */
export function exportFileName(format: SampleExportFormat): string {
  return `samples.${fileEndings[format]}`;
}
