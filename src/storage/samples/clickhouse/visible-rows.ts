// Visible rows: which rows in ClickHouse and among the open ones a read sees, as conditions for both.
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import { arrayOf, int64, quoted } from '../../clickhouse/statement-values.ts';
import type { RetentionTimes } from '../sample-store.ts';
import type { OpenRow, OpenRows } from './open-rows.ts';
import {
  isRemoved,
  type Removal,
  type RemovalsByDevice,
  removedText,
  type StateFile,
} from './flusher.ts';

/** By journal. */
type JournalPositions = ReadonlyMap<number, number>;

const noPositions: JournalPositions = new Map();
const noRules: RetentionTimes = { workspaces: new Map(), dataFlows: new Map() };

export class VisibleRows {
  readonly #file: StateFile;
  readonly #openRows: OpenRows;
  readonly #dropped: Map<string, number>;
  readonly #removed: Map<string, readonly Removal[]>;
  #rules = noRules;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(file: StateFile, openRows: OpenRows) {
    this.#file = file;
    this.#openRows = openRows;
    this.#dropped = new Map(file.state.dropped);
    this.#removed = new Map(file.state.removed);
  }

  /** Deleted devices whose rows are in ClickHouse still, with the position that ends them. */
  get dropped(): Map<string, number> {
    return this.#dropped;
  }

  /** Ranges of devices that replacements removed and ClickHouse still has. */
  get removed(): Map<string, readonly Removal[]> {
    return this.#removed;
  }

  /** The same with what other nodes have removed. */
  including(others: RemovalsByDevice): VisibleRows {
    if (others.size === 0) return this;
    const all = new VisibleRows(this.#file, this.#openRows);
    all.#rules = this.#rules;
    all.#latest = this.#latest;
    all.#dropped.clear();
    for (const [deviceId, before] of this.#dropped) all.#dropped.set(deviceId, before);
    all.#removed.clear();
    for (const [deviceId, removals] of [...this.#removed, ...others])
      all.#removed.set(deviceId, [...(all.#removed.get(deviceId) ?? []), ...removals]);
    return all;
  }

  /** Whether rows may be hidden. */
  hasRules(): boolean {
    return this.#latest !== Number.NEGATIVE_INFINITY;
  }

  /** From now on hides what the rules do not keep. `looser` when they keep what was hidden before. */
  setRules(next: RetentionTimes): 'looser' | 'as strict' {
    const isLooser = keepMore(next, this.#rules);
    this.#rules = next;
    this.#latest = latestOf(next);
    return isLooser ? 'looser' : 'as strict';
  }

  isVisible(row: OpenRow): boolean {
    return (
      !isOpenExpired(row, this.#rules) &&
      row.position >= (this.#dropped.get(row.deviceId) ?? 0) &&
      !this.isRemoved(row)
    );
  }

  /**
   * A condition for rows of the devices at or after the time, beginning with `and`. Rows that are
   * not shipped do not meet it: the open rows of the same moment have them. `others` are positions
   * of other journals, behind which their open rows are known.
   */
  condition(
    deviceIds: readonly string[],
    from: EpochMs = Number.NEGATIVE_INFINITY,
    others: JournalPositions = noPositions,
  ): string {
    const keep = this.keepFrom(from);
    return `${this.storedCondition(deviceIds, others)}${keep === undefined ? '' : ` and ts >= ${keep}`}`;
  }

  /** Whether an open row of another journal, which that shows, is visible here too. */
  isVisibleOf(row: OpenRow, journal: number): boolean {
    return this.isKept(row) && !this.isRemoved(row, journal);
  }

  /** The same without rules of retention. */
  storedCondition(deviceIds: readonly string[], others: JournalPositions = noPositions): string {
    return `${this.deviceCondition(deviceIds, others)}${this.#removedCondition(deviceIds)}`;
  }

  /** The same for rows without times: those of removed ranges meet it. */
  deviceCondition(deviceIds: readonly string[], others: JournalPositions = noPositions): string {
    const ends = [[this.#file.state.journal, this.#openRows.from()], ...others];
    const isShipped = ends.map(
      ([journal, to]) => ` and (journal != ${journal} or position < ${to})`,
    );
    return `${isShipped.join('')}${this.droppedCondition(deviceIds)}`;
  }

  /** A condition for points that are in no hour because they are deleted, beginning with `and`. */
  hiddenPoints(): string {
    const removed = this.#removedCondition([...this.#removed.keys()]);
    return `${this.droppedCondition([...this.#dropped.keys()])}${removed}`;
  }

  #removedCondition(deviceIds: readonly string[]): string {
    if (this.#removed.size === 0) return '';
    return deviceIds
      .map((deviceId) => {
        const removals = this.#removed.get(deviceId);
        return removals === undefined ? '' : ` and not ${removedText(deviceId, removals)}`;
      })
      .join('');
  }

  /** Of this journal without one. */
  isRemoved(row: OpenRow, journal = this.#file.state.journal): boolean {
    const removals = this.#removed.size === 0 ? undefined : this.#removed.get(row.deviceId);
    return removals !== undefined && isRemoved(removals, row, journal);
  }

  /** A condition for rows of devices that were not deleted, beginning with `and`. */
  droppedCondition(deviceIds: readonly string[]): string {
    const gone = deviceIds.flatMap((deviceId) => {
      const before = this.#dropped.get(deviceId);
      return before === undefined ? [] : [` and not ${this.#droppedRows(deviceId, before)}`];
    });
    return gone.join('');
  }

  /** The time from which a row is kept, as an expression; undefined for times that are all kept. */
  keepFrom(from: EpochMs): string | undefined {
    return from >= this.#latest ? undefined : keepFromText(this.#rules);
  }

  /** Whether the rules keep all of the open rows of this origin and time. */
  isKept(origin: {
    readonly workspaceId: string;
    readonly dataFlowId: string | null;
    readonly timestamp: EpochMs;
  }): boolean {
    return !isOpenExpired(origin, this.#rules);
  }

  /** No rule hides what is newer. */
  latestKeepFrom(): EpochMs {
    return this.#latest;
  }

  /**
   * Whether the rules hide the whole hour of a row, which begins at what the expression says. Rows
   * are deleted by whole hours, so that hours and samples never differ.
   */
  hiddenCondition(hourAt: string): string {
    return `${hourAt} + ${hourMs} <= ${keepFromText(this.#rules)}`;
  }

  /** Rows of earlier data folders went with the device too. */
  #droppedRows(deviceId: string, before: number): string {
    const { journal } = this.#file.state;
    return `(device = ${quoted(deviceId)} and (journal != ${journal} or position < ${before}))`;
  }
}

function latestOf({ workspaces, dataFlows }: RetentionTimes): EpochMs {
  return Math.max(Number.NEGATIVE_INFINITY, ...workspaces.values(), ...dataFlows.values());
}

/** A rule of a data flow also ends that of its workspace. */
function keepMore(next: RetentionTimes, before: RetentionTimes): boolean {
  const isEarlier = (times: ReadonlyMap<string, EpochMs>, of: ReadonlyMap<string, EpochMs>) =>
    [...of].some(([id, keepFrom]) => (times.get(id) ?? Number.NEGATIVE_INFINITY) < keepFrom);
  const hasNewFlow = [...next.dataFlows.keys()].some((id) => !before.dataFlows.has(id));
  return (
    hasNewFlow ||
    isEarlier(next.workspaces, before.workspaces) ||
    isEarlier(next.dataFlows, before.dataFlows)
  );
}

/** The time from which rows of an origin are kept, as an expression. */
function keepFromText({ workspaces, dataFlows }: RetentionTimes): string {
  const ofWorkspace = transformed('workspace', workspaces, int64(Number.NEGATIVE_INFINITY));
  return transformed('flow', dataFlows, ofWorkspace);
}

function transformed(
  column: string,
  times: ReadonlyMap<string, EpochMs>,
  otherwise: string,
): string {
  if (times.size === 0) return otherwise;
  const keepFrom = [...times.values()].map(int64).join(',');
  return `transform(${column}, ${arrayOf([...times.keys()])}, [${keepFrom}], ${otherwise})`;
}

// Open expiry: whether rules of retention keep an open row.

type RowOrigin = {
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  readonly timestamp: EpochMs;
};

export function isOpenExpired(row: RowOrigin, rules: RetentionTimes): boolean {
  return row.timestamp < keepFromOf(row, rules);
}

function keepFromOf(
  { workspaceId, dataFlowId }: RowOrigin,
  { workspaces, dataFlows }: RetentionTimes,
): EpochMs {
  const ofFlow = dataFlowId === null ? undefined : dataFlows.get(dataFlowId);
  return ofFlow ?? workspaces.get(workspaceId) ?? Number.NEGATIVE_INFINITY;
}
