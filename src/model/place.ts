// Place: where devices are, a tree of sites, buildings, floors and rooms in a workspace, and its paths (contract 39.2).
import type { JsonObject } from './json.ts';
import type { AuditFields } from './record.ts';

export const placeLimits = {
  /** In a workspace. */
  placesMax: 20_000,
  /** Levels of the tree. */
  depthMax: 12,
  /** Places that one change of a parent moves. */
  movedMax: 5_000,
  kindLengthMax: 100,
  externalIdLengthMax: 200,
} as const;

/** `Place` is the owner of any record (`record.ts`). */
export interface PlaceRecord extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Null at the top of the tree. */
  readonly parentId: string | null;
  readonly name: string;
  readonly description: string | null;
  /** What users call it, such as `SITE` or `ROOM`. */
  readonly kind: string | null;
  /** Unique within the workspace. */
  readonly externalId: string | null;
  readonly position: Position | null;
  readonly plan: Plan | null;
  readonly properties: JsonObject;
}

/** In degrees, WGS 84. */
interface Position {
  readonly latitude: number;
  readonly longitude: number;
}

/** A picture of the place. */
export interface Plan {
  readonly blobId: string;
  /** In pixels, or in units of the view box. */
  readonly width: number;
  readonly height: number;
}

/** Where a device is on a plan: fractions of its width and height, from 0 to 1. */
export interface PlanPosition {
  readonly x: number;
  readonly y: number;
}

/** A place in a path. */
export interface PathStep {
  readonly id: string;
  readonly name: string;
}

/** `Site/Floor 1`; a slash or backslash within a name has a backslash before it. */
export function formatPath(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\/]/g, '\\$&')).join('/');
}

/** The names of a path, trimmed. Undefined when one of them is empty. */
export function parsePath(text: string): readonly string[] | undefined {
  const names = [''];
  for (let at = 0; at < text.length; at++) {
    const isEscaped = text[at] === '\\' && /[\\/]/.test(text[at + 1] ?? '');
    if (isEscaped) at += 1;
    if (!isEscaped && text[at] === '/') names.push('');
    else names[names.length - 1] += text[at] ?? '';
  }
  const trimmed = names.map((name) => name.trim());
  return trimmed.includes('') ? undefined : trimmed;
}
