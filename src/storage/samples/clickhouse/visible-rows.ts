// Visible rows: which rows in ClickHouse and among the open ones a read sees, as conditions for both.
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import { arrayOf, int64, quoted } from '../../clickhouse/statement-values.ts';
import type { RetentionTimes } from '../sample-store.ts';
import type { OpenRow } from './open-row.ts';
import type { OpenRows } from './open-rows.ts';
import type { StateFile } from './shipping-state.ts';

/** By journal. */
export type JournalPositions = ReadonlyMap<number, number>;

const noPositions: JournalPositions = new Map();
const noRules: RetentionTimes = { workspaces: new Map(), dataFlows: new Map() };

export class VisibleRows {
  readonly #file: StateFile;
  readonly #openRows: OpenRows;
  readonly #dropped: Map<string, number>;
  #rules = noRules;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(file: StateFile, openRows: OpenRows) {
    this.#file = file;
    this.#openRows = openRows;
    this.#dropped = new Map(file.state.dropped);
  }

  /** Deleted devices whose rows are in ClickHouse still, with the position that ends them. */
  get dropped(): Map<string, number> {
    return this.#dropped;
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
      !isOpenExpired(row, this.#rules) && row.position >= (this.#dropped.get(row.deviceId) ?? 0)
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

  /** The same without rules of retention. */
  storedCondition(deviceIds: readonly string[], others: JournalPositions = noPositions): string {
    const ends = [[this.#file.state.journal, this.#openRows.from()], ...others];
    const isShipped = ends.map(
      ([journal, to]) => ` and (journal != ${journal} or position < ${to})`,
    );
    return `${isShipped.join('')}${this.droppedCondition(deviceIds)}`;
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
  isKept(origin: Pick<OpenRow, 'workspaceId' | 'dataFlowId' | 'timestamp'>): boolean {
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

type RowOrigin = Pick<OpenRow, 'workspaceId' | 'dataFlowId' | 'timestamp'>;

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
