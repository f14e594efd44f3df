// Manifest of the delivery log: its segments and how many bytes of each are on the disk for certain.
import { join } from 'node:path';
import { readChecked, replaceChecked } from '../log/durable-file.ts';
import { deliveryLogFormat, refuseOtherDeliveries } from './format.ts';

export interface Manifest {
  /** By number, ascending; the last one may be longer. */
  readonly segments: readonly (readonly [number: number, bytes: number])[];
}

const manifestPath = (directory: string): string => join(directory, 'manifest.json');

/** Durable when it resolves. */
export async function writeManifest(directory: string, { segments }: Manifest): Promise<void> {
  const text = JSON.stringify({ format: deliveryLogFormat, segments });
  await replaceChecked(manifestPath(directory), text);
}

/** Throws OtherFormatError for one of another format. */
export async function readManifest(
  directory: string,
): Promise<Manifest | 'missing' | { readonly damaged: string }> {
  const path = manifestPath(directory);
  const found = await readChecked(path);
  if (found === undefined) return 'missing';
  if (found === 'damaged') return { damaged: path };
  const manifest = JSON.parse(found.text) as Manifest & { readonly format: number };
  refuseOtherDeliveries(path, manifest.format);
  return manifest;
}
