// Expiry preview: about how many samples of a workspace rules of retention would drop, changing nothing.
import type { EpochMs } from '../../../../model/instant.ts';
import type { RetentionTimes, WorkspaceUsage } from '../../sample-store.ts';
import type { ChunkSealer } from '../chunk-sealer.ts';
import type { Chunk } from '../chunks/chunk.ts';
import type { ShapeTables } from '../memtables/shape-tables.ts';
import type { Slices } from '../queries/bucket-query.ts';
import { rowsByOrigin, unsealedRowBytes } from '../rows/key-statistics.ts';
import { keepFromOf, type Origin } from '../rows/origin.ts';
import type { SeriesRegistry } from '../rows/series-registry.ts';
import { type Series, unsealedRows } from '../rows/series.ts';
import type { SegmentSet } from '../segments/segment-set.ts';

/** Rows over a time, and what one of them takes. */
interface Block {
  readonly oldest: EpochMs;
  readonly newest: EpochMs;
  readonly rowBytes: number;
}

/** Notes rows of an origin that are in a block. */
type Note = (origin: Origin, rows: number, block: Block) => void;

const turnMs = 4;
/** Chunks examined between two readings of the clock. */
const chunksPerLook = 1_024;

/**
 * Rows of a block that is partly older count as if they were spread evenly over its time, because
 * no row is read. Others have their turn after some milliseconds.
 */
export async function previewExpiry(
  {
    registry,
    tables,
    sealer,
    segments,
    slices,
  }: {
    readonly registry: SeriesRegistry;
    readonly tables: ShapeTables;
    readonly sealer: ChunkSealer;
    readonly segments: SegmentSet;
    readonly slices: Slices;
  },
  workspaceId: string,
  rules: RetentionTimes,
): Promise<WorkspaceUsage> {
  let [samples, bytes] = [0, 0];
  const note: Note = (origin, rows, { oldest, newest, rowBytes }) => {
    if (origin.workspaceId !== workspaceId) return;
    // What is hidden now is not dropped by the new rules.
    const from = Math.max(oldest, origin.keepFrom);
    const gone = rows * shareBefore(keepFromOf(origin, rules), from, newest);
    samples += gone;
    bytes += gone * rowBytes;
  };
  noteTables(tables, note);
  // Of a deleted device that is still being dropped, nothing counts.
  const counts = ({ device }: Series) => registry.devices.get(device.id) === device;
  for (const series of registry.unsealed) if (counts(series)) noteUnsealed(series, note);
  let turnEnds = slices.clock() + turnMs;
  let seen = 0;
  const sealed = segments.segments().map(({ members }) => members);
  for (const members of [sealer.waiting(), ...sealed])
    for (const { series, chunk } of members) {
      if (counts(series)) noteChunk(chunk, note);
      seen += 1;
      if (seen % chunksPerLook !== 0 || slices.clock() < turnEnds) continue;
      // oxlint-disable-next-line no-await-in-loop -- others have their turn
      await slices.pause();
      turnEnds = slices.clock() + turnMs;
    }
  return { samples: Math.round(samples), bytes: Math.round(bytes) };
}

function noteChunk(chunk: Chunk, note: Note): void {
  const { origins, originRows, oldest, newest, length, rows } = chunk;
  for (const [i, origin] of origins.entries())
    note(origin, originRows[i] ?? 0, { oldest, newest, rowBytes: length / rows });
}

function noteUnsealed(series: Series, note: Note): void {
  for (const rows of unsealedRows(series)) {
    const { oldest, newest } = rows;
    for (const [origin, count] of rowsByOrigin(rows))
      note(origin, count, { oldest, newest, rowBytes: unsealedRowBytes });
  }
}

function noteTables(tables: ShapeTables, note: Note): void {
  for (const table of tables.all()) {
    for (const { reader, rows, bytes } of table.runs) {
      const { oldest, newest, rows: all } = reader.run.index.head;
      for (const [i, origin] of reader.origins.entries())
        note(origin, rows[i] ?? 0, { oldest, newest, rowBytes: bytes / all });
    }
    for (const memtable of table.memtables()) {
      const { oldest, newest } = memtable;
      for (const [origin, rows] of memtable.originRows)
        note(origin, rows, { oldest, newest, rowBytes: unsealedRowBytes });
    }
  }
}

/** The share of an even spread from `oldest` to `newest` that is before the time. */
function shareBefore(at: EpochMs, oldest: EpochMs, newest: EpochMs): number {
  if (at <= oldest) return 0;
  return at > newest ? 1 : (at - oldest) / (newest - oldest + 1);
}
