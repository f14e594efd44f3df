// Chunk usage: samples and bytes of chunks by workspace, updated with every change.
import { missing } from '../../../../structures/missing.ts';
import type { Chunk } from '../chunks/chunk.ts';

export interface ChunkUsage {
  readonly add: (chunk: Chunk) => void;
  readonly remove: (chunk: Chunk) => void;
  readonly byWorkspace: ReadonlyMap<string, { readonly samples: number; readonly bytes: number }>;
}

export function createChunkUsage(): ChunkUsage {
  const byWorkspace = new Map<string, { samples: number; bytes: number }>();

  function count({ origins, originRows, rows, length }: Chunk, sign: 1 | -1): void {
    for (const [i, { workspaceId }] of origins.entries()) {
      const samples = originRows[i] ?? missing('count of an origin');
      const sum = byWorkspace.get(workspaceId) ?? { samples: 0, bytes: 0 };
      byWorkspace.set(workspaceId, sum);
      sum.samples += sign * samples;
      sum.bytes += sign * Math.round((length * samples) / rows);
    }
  }

  return {
    byWorkspace,
    add: (chunk) => count(chunk, 1),
    remove: (chunk) => count(chunk, -1),
  };
}
