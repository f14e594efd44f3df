// Blob: a stored file of an organization or a workspace, such as a picture of a device (contract 31).
import type { AuditFields } from './record.ts';

/** Bytes of one file. */
export const blobBytesMax = 10 * 1024 * 1024;

export interface Blob extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  /** Null for a file of the organization. */
  readonly workspaceId: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** Of the content, hexadecimal. */
  readonly sha256: string;
}
