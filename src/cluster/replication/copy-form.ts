// Form of copies: what a node sends to the holder of the copy of its journal.

/** Files of a data folder that a copy has. */
export const copiedFiles = {
  nodeId: 'node-id',
  shipping: 'samples/shipping.json',
  followers: 'samples/journal/followers.json',
  journal: 'samples/journal',
} as const;

const copiedName =
  /^(?:node-id|samples\/shipping\.json|samples\/journal\/[\w-]+\.(?:json|journal))$/;

/** Whether a holder writes a file of this name; everything else is refused. */
export function isCopiedName(name: unknown): name is string {
  return typeof name === 'string' && copiedName.test(name);
}

/** One change of one file. Bytes are base64. */
export type CopyChange =
  | { readonly file: string; readonly offset: number; readonly bytes: string }
  | { readonly file: string; readonly length: number }
  | { readonly file: string; readonly contents: string }
  | { readonly file: string; readonly removed: true };

export interface CopyRequest {
  /** Names the copy: a new one has everything from the beginning. */
  readonly copy: string;
  readonly begins?: boolean;
  /** Whether the copy has everything after these changes; older copies are removed. */
  readonly isWhole?: boolean;
  readonly changes: readonly CopyChange[];
}

export interface CopyAnswer {
  /** False when the holder does not have the copy that the changes are for. */
  readonly isStored: boolean;
}
