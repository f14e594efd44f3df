// Open here: open rows of this node for the reads of others, as samples in the order of the journal.
import type { OpenHere, OpenRange, OpenSample } from '../open-elsewhere.ts';
import { dataOfRow, type OpenRow } from './open-row.ts';
import type { StoreParts } from './store-parts.ts';

/** The cursor is exclusive. */
export interface OpenHereRequest {
  readonly ranges: readonly OpenRange[];
  /** The place of the last sample that is known already. */
  readonly after?: Pick<OpenSample, 'position' | 'index'> | undefined;
}

/** Visible open rows of one moment. `movedAt` is the position at which devices moved last. */
export function openHere(
  { ranges, after }: OpenHereRequest,
  movedAt: number,
  { openRows, visible, file }: Pick<StoreParts, 'openRows' | 'visible' | 'file'>,
): OpenHere {
  const rows = new Set<OpenRow>();
  for (const { deviceIds, topics, from = -Infinity, to = Infinity } of ranges)
    for (const deviceId of deviceIds)
      for (const row of openRows.rowsOf(deviceId)) {
        const { topic, timestamp } = row;
        const isWanted = topics?.includes(topic) !== false && timestamp >= from && timestamp < to;
        if (isWanted && isAfter(row, after) && visible.isVisible(row)) rows.add(row);
      }
  const sorted = [...rows].sort((a, b) => a.position - b.position || a.index - b.index);
  return {
    journal: file.state.journal,
    shipped: openRows.from(),
    isClean: openRows.from() >= movedAt,
    samples: () => samplesOf(sorted),
  };
}

function isAfter(row: OpenRow, after: OpenHereRequest['after']): boolean {
  if (after === undefined || row.position > after.position) return true;
  return row.position === after.position && row.index > after.index;
}

function* samplesOf(rows: readonly OpenRow[]): Generator<OpenSample> {
  for (const row of rows) {
    const { deviceId, topic, timestamp, storedAt, position, index, workspaceId, dataFlowId } = row;
    const place = { storedAt, position, index, workspaceId, dataFlowId };
    const sample = { deviceId, topic, timestamp, data: dataOfRow(row), ...place };
    yield row.meta === undefined ? sample : { ...sample, meta: row.meta };
  }
}
