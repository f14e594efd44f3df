// Device types of a library into the inventory: made or brought up to date by their path, many in one transaction (contract 7).
import type { DeviceType, Script } from '../model/device-type.ts';
import { newId } from '../model/ids.ts';
import { Problem, problem } from '../model/problem.ts';
import type { Records } from '../store/records/database.ts';
import { findLibraryTypes, insertDeviceType, saveDeviceType } from '../store/records/device-types.ts';
import { change, firstVersion, nextVersion } from './change.ts';
import { type LibraryFiles, type LibraryType, readLibrary } from './library-files.ts';

const scriptBytesMax = 1024 * 1024;

export interface ImportSummary {
  readonly types: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

function scriptOf(current: Script | null, code: string | null): Script | null {
  if (code === null) return null;
  if (Buffer.byteLength(code) > scriptBytesMax) {
    throw problem('invalidRequest', { reason: `a script is larger than ${scriptBytesMax} bytes` });
  }
  if (current?.code === code) return current;
  return { code, version: current === null ? 0 : current.version + 1 };
}

type Content = Omit<DeviceType, 'id' | 'created' | 'updated' | 'version'>;

function contentOf(type: LibraryType, organizationId: string | null, current: DeviceType | undefined): Content {
  return {
    organizationId,
    name: type.name,
    description: type.description,
    type: 'library',
    meta: type.meta,
    schemas: type.schemas,
    sampleData: current?.sampleData ?? null,
    uplinkScript: scriptOf(current?.uplinkScript ?? null, type.uplinkCode),
    downlinkScript: scriptOf(current?.downlinkScript ?? null, type.downlinkCode),
    libraryPath: type.libraryPath,
    pictureUrl: current?.pictureUrl ?? null,
  };
}

function isSame(current: DeviceType, content: Content): boolean {
  const { id: _, created: __, updated: ___, version: ____, ...was } = current;
  const sorted = (value: object) =>
    JSON.stringify(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
  return sorted(was) === sorted(content);
}

/**
 * Makes what is new and updates what changed; a type that is wrong is told and stops no other. `organizationId` null is the
 * installation's library, which every organization sees. The same files again change nothing.
 */
export async function importLibrary(
  records: Records,
  organizationId: string | null,
  files: LibraryFiles,
  now: number,
): Promise<ImportSummary> {
  const { types, problems } = await readLibrary(files);
  const told = [...problems];
  const counts = { created: 0, updated: 0, unchanged: 0 };
  await change(records, async (step) => {
    const known = new Map((await findLibraryTypes(step.db, organizationId)).map((type) => [type.libraryPath, type]));
    for (const type of types) {
      const current = known.get(type.libraryPath);
      try {
        const content = contentOf(type, organizationId, current);
        if (current === undefined) {
          const record = { ...content, id: newId('deviceType'), ...firstVersion(now) };
          await insertDeviceType(step.db, record);
          step.announce({ kind: 'deviceType', id: record.id, action: 'created' });
          counts.created += 1;
        } else if (isSame(current, content)) {
          counts.unchanged += 1;
        } else {
          await saveDeviceType(step.db, { ...current, ...content, ...nextVersion(current, undefined, now) });
          step.announce({ kind: 'deviceType', id: current.id, action: 'updated' });
          counts.updated += 1;
        }
      } catch (error) {
        if (!(error instanceof Problem) || error.status >= 500) throw error;
        told.push({ path: type.libraryPath, message: error.message });
      }
    }
  });
  return { types: types.length, ...counts, problems: told };
}
