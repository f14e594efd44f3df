// Annotation: a note at a moment or for a time, of a workspace, a device or a place (contract 39.1).
import type { Author } from './principal.ts';
import type { EpochMs } from './instant.ts';
import type { AuditFields } from './record.ts';

export const annotationLimits = {
  textCharactersMax: 2_000,
  perWorkspaceMax: 20_000,
  /** Devices whose annotations one list has. */
  concernedMax: 200,
} as const;

export interface Annotation extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly at: EpochMs;
  /** After `at`; null for a moment. */
  readonly until: EpochMs | null;
  readonly text: string;
  /** A device of the workspace. The annotation moves and ends with it. */
  readonly deviceId: string | null;
  /** A place of the workspace. The annotation ends with it. */
  readonly placeId: string | null;
  /** Who created it. */
  readonly by: Author;
}
