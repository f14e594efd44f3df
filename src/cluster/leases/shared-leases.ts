// Shared leases: one node's part in dividing the leases among all nodes, by their common table.
import type { NodeAddress } from '../../model/node-messages.ts';
import { problem } from '../../model/problem.ts';
import { createSerialQueue } from '../../structures/work-queues.ts';
import type { SetTimer } from '../../structures/timers.ts';
import { HeldLeases } from './held-leases.ts';
import type {
  Lease,
  LeaseName,
  Leases,
  LeasesChanged,
  LeaseTable,
  LeaseView,
  Owner,
  OwnerRow,
} from './leases.ts';

// Table session: steps on the lease table in order, through a session that is replaced when it fails.

class TableSession {
  readonly #node: NodeAddress;
  readonly #openTable: () => Promise<LeaseTable>;
  readonly #wanted: ReadonlySet<LeaseName>;
  readonly #hasLeft: () => boolean;
  readonly #isDraining: () => boolean;
  readonly #steps = createSerialQueue();
  #table: LeaseTable | undefined;
  #added = 0;
  #isClosed = false;

  constructor(parts: {
    readonly node: NodeAddress;
    readonly openTable: () => Promise<LeaseTable>;
    /** Leases that must be in the table; others can be added later. */
    readonly wanted: ReadonlySet<LeaseName>;
    /** Whether the node has given all away: then it only reads, and does not say that it is alive. */
    readonly hasLeft: () => boolean;
    /** Whether the node takes no leases. */
    readonly isDraining: () => boolean;
  }) {
    const { node, openTable, wanted, hasLeft, isDraining } = parts;
    this.#node = node;
    this.#openTable = openTable;
    this.#wanted = wanted;
    this.#hasLeft = hasLeft;
    this.#isDraining = isDraining;
  }

  readonly close = (): Promise<void> =>
    this.#steps.run(() => {
      this.#isClosed = true;
      return this.#end();
    });

  /**
   * Runs a step. Steps never interleave. A failure ends the session, because its outcome is
   * unknown; the next step opens another one.
   */
  run<T>(step: (table: LeaseTable) => Promise<T>): Promise<T> {
    return this.#steps.run(async () => {
      try {
        return await step(await this.#opened());
      } catch (error) {
        await this.#end();
        throw error;
      }
    });
  }

  async #opened(): Promise<LeaseTable> {
    if (this.#isClosed) throw new Error('The node has left');
    if (this.#table === undefined) {
      this.#table = await this.#openTable();
      this.#added = 0;
      if (!this.#hasLeft()) await this.#table.register(this.#node, this.#isDraining());
    }
    if (this.#added < this.#wanted.size) {
      const names = [...this.#wanted];
      await this.#table.add(names);
      this.#added = names.length;
    }
    return this.#table;
  }

  async #end(): Promise<void> {
    const ended = this.#table;
    this.#table = undefined;
    // A session that is lost already cannot be closed.
    await ended?.close().catch(() => undefined);
  }
}

const turnsPerLease = 10;

export class SharedLeases implements Leases {
  readonly #parts: MemberParts;
  readonly #wanted = new Set<LeaseName>();
  readonly #held: HeldLeases;
  readonly #session: TableSession;
  readonly #listeners: LeaseListeners;
  readonly #member: Member;
  #waiting: Promise<void> | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(parts: MemberParts) {
    this.#parts = parts;
    const { openTable } = parts;
    this.#held = new HeldLeases(this.#parts.now);
    this.#session = new TableSession({
      node: this.#parts.node,
      openTable,
      wanted: this.#wanted,
      hasLeft: () => this.#member.hasLeft,
      isDraining: () => this.#member.isDraining,
    });
    const failed = (error: unknown) => this.#parts.events.failed('changing leases', error);
    this.#listeners = new LeaseListeners(this.#held.use, failed);
    this.#member = {
      parts,
      wanted: this.#wanted,
      held: this.#held,
      session: this.#session,
      listeners: this.#listeners,
      owners: new Map(),
      renewedAt: Number.NEGATIVE_INFINITY,
      isFailing: false,
      giving: undefined,
      isDraining: parts.takesNone ?? false,
      hasLeft: false,
    };
  }

  /** See `HeldLeases`. */
  readonly continuity = (): number => this.#held.continuity();

  /**
   * Reads owners and leases again, such as after a node answered that it holds one no longer.
   * Without the table they stay as they were. Rejects with `recordsUnreachable` while this node is
   * cut off.
   */
  readonly refresh = async (): Promise<void> => {
    // The next turn of the timer finds out whether the table is back.
    if (!this.isCutOff()) await this.#takeTurn().catch(() => undefined);
    if (this.isCutOff()) throw problem('recordsUnreachable');
  };

  /** Releases what is still held. */
  readonly close = async (): Promise<void> => {
    this.#stopTimer?.();
    await drain(this.#member).catch((error) =>
      this.#parts.events.failed('releasing leases', error),
    );
    this.#member.hasLeft = true;
    await announceLeaving(this.#member, endAll(this.#held));
    await this.#session.close();
  };

  get node(): NodeAddress {
    return this.#parts.node;
  }

  /** The lease when this node holds it and accepts work for it. Asks no database. */
  held(name: LeaseName): Lease | undefined {
    return this.#held.held(name);
  }

  /** Adds leases that this node takes a share of. */
  want(names: readonly LeaseName[]): void {
    for (const name of names) this.#wanted.add(name);
  }

  onChange(listener: LeasesChanged): void {
    this.#listeners.add(listener);
  }

  /** Who holds what, as it was read last; a lease without an owner is missing. */
  owners(): ReadonlyMap<LeaseName, Owner> {
    return this.#member.owners;
  }

  /** Whether the table cannot be used for so long that this node holds nothing any longer. */
  isCutOff(): boolean {
    return (
      this.#member.isFailing &&
      this.#parts.now() - this.#member.renewedAt >= this.#parts.leaseMs * validPart
    );
  }

  /** Joins the other nodes. Rejects when the table cannot be used. */
  async start(): Promise<void> {
    await this.#takeTurn();
    await this.#listeners.idle();
    const inBackground = () =>
      void this.#takeTurn().catch((error) => this.#parts.events.failed('renewing leases', error));
    this.#stopTimer = this.#parts.setRepeatingTimer(
      inBackground,
      this.#parts.leaseMs / turnsPerLease,
    );
  }

  /** Resolves when the changes and moves begun so far are done. */
  async idle(): Promise<void> {
    await this.#listeners.idle();
    await this.#member.giving;
    await this.#listeners.idle();
  }

  /** Gives all leases to the other nodes and takes no more. Resolves when this node holds none. */
  drain(): Promise<void> {
    return drain(this.#member);
  }

  /** One turn at a time: callers share the one in progress. */
  #takeTurn(): Promise<void> {
    this.#waiting ??= runTurn(this.#member)
      .then(
        () => void (this.#member.isFailing = false),
        (error: unknown) => {
          this.#member.isFailing = true;
          throw error;
        },
      )
      .finally(() => {
        this.#waiting = undefined;
      });
    return this.#waiting;
  }
}

// Lease member: the turns of one node: it renews, takes what is missing, gives what is too much.

/** A fifth of the time is left for clocks that do not run alike, and for answers on their way. */
const validPart = 4 / 5;
const renewals = 5;
/** What was accepted has this part of the time to end, before its lease moves. */
const leavingPart = 1 / 2;

interface LeaseEvents {
  /** The table cannot be used, or a listener failed. It is tried again. */
  readonly failed: (what: string, error: unknown) => void;
  /** Another process runs with the id of this node: this one takes no leases any longer. */
  readonly superseded: () => void;
  readonly changed: (change: { readonly gained: number; readonly lost: number }) => void;
}

interface MemberParts {
  readonly node: NodeAddress;
  /** Opens a session of the table. */
  readonly openTable: () => Promise<LeaseTable>;
  /** Whether it never takes leases: it works on what it has, and others serve. */
  readonly takesNone?: boolean;
  /** How long the table keeps a lease for a node that is silent. */
  readonly leaseMs: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
  readonly setRepeatingTimer: SetTimer;
  readonly events: LeaseEvents;
}

interface Member {
  readonly parts: MemberParts;
  readonly wanted: ReadonlySet<LeaseName>;
  readonly held: HeldLeases;
  readonly session: TableSession;
  readonly listeners: LeaseListeners;
  owners: ReadonlyMap<LeaseName, Owner>;
  /** By the clock of the node, before the renewal was sent. */
  renewedAt: number;
  /** Whether the last turn could not use the table. */
  isFailing: boolean;
  /** Leases on their way to other nodes. */
  giving: Promise<void> | undefined;
  isDraining: boolean;
  /** Whether it takes and renews nothing any longer. */
  hasLeft: boolean;
}

/** One turn; leases that are too many are given in the background. */
async function runTurn(member: Member): Promise<void> {
  const plan = await member.session.run((table) => turn(member, table, false));
  if (plan === undefined || plan.gifts.length === 0) return;
  if (member.hasLeft || member.giving !== undefined) return;
  member.giving = giveAll(member, plan)
    .catch((error) => member.parts.events.failed('moving leases', error))
    .finally(() => {
      member.giving = undefined;
    });
}

async function turn(
  member: Member,
  table: LeaseTable,
  mustRenew: boolean,
): Promise<LeaseTurn | undefined> {
  const { parts, wanted, held } = member;
  const isDue = parts.now() - member.renewedAt >= parts.leaseMs / renewals;
  if (!member.hasLeft && (mustRenew || isDue)) await renew(member, table);
  const view = await table.view();
  member.owners = ownersOf(view);
  if (member.hasLeft) return undefined;
  const plan = planTurn({ view, wanted, nodeId: parts.node.id, leases: held.all() });
  if (plan.hasUnknown && !mustRenew) return turn(member, table, true);
  if (member.isDraining || plan.takes.length === 0) return plan;
  await take(member, table, plan);
  member.owners = ownersOf(await table.view());
  return plan;
}

async function renew(member: Member, table: LeaseTable): Promise<void> {
  const { parts, held } = member;
  const sentAt = parts.now();
  const rows = await table.renew(member.isDraining);
  if (rows === undefined) {
    member.hasLeft = true;
    parts.events.superseded();
    return announceAll(member, [], endAll(held));
  }
  member.renewedAt = sentAt;
  const { gained, lost } = held.renewed(rows, sentAt + parts.leaseMs * validPart);
  announceAll(member, gained, lost);
}

async function take(member: Member, table: LeaseTable, { takes }: LeaseTurn): Promise<void> {
  const { parts, held } = member;
  for (const { names, countMax } of takes) {
    const sentAt = parts.now();
    const rows = await table.take(names, countMax);
    announceAll(member, held.taken(rows, sentAt + parts.leaseMs * validPart), []);
  }
}

async function giveAll(member: Member, { gifts }: LeaseTurn): Promise<void> {
  const { held, session } = member;
  const moves = gifts.map(({ names, to }) => ({ leases: held.leave(names), to }));
  const leases = moves.flatMap((move) => move.leases);
  await announceLeaving(member, leases);
  await session
    .run(async (table) => {
      // Before another node can hold them.
      held.end(leases);
      for (const { leases: moved, to } of moves) await table.move(moved, to);
    })
    // Without a session they are not moved, and the next renewal finds them again.
    .finally(() => held.end(leases));
}

/** Gives everything to other nodes; without one, others can take it immediately. */
async function drain(member: Member): Promise<void> {
  if (member.hasLeft) return;
  member.isDraining = true;
  await member.giving;
  member.renewedAt = Number.NEGATIVE_INFINITY;
  await runTurn(member);
  await member.giving;
  const { held, session } = member;
  await announceLeaving(member, held.leave(held.all().map(({ name }) => name)));
  await session.run(async (table) => {
    member.hasLeft = true;
    endAll(held);
    await table.release();
  });
}

/** Ends all leases by the clock of this process only. */
function endAll(held: HeldLeases): readonly Lease[] {
  const ended = held.all();
  held.end(ended);
  return ended;
}

function announceAll(member: Member, gained: readonly Lease[], lost: readonly Lease[]): void {
  if (gained.length + lost.length === 0) return;
  member.parts.events.changed({ gained: gained.length, lost: lost.length });
  void member.listeners.announce(gained, lost);
}

/** Resolves when the listeners are ready, or the time for it is over. */
function announceLeaving({ parts, listeners }: Member, leases: readonly Lease[]): Promise<void> {
  if (leases.length > 0) parts.events.changed({ gained: 0, lost: leases.length });
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = parts.setTimer(resolve, parts.leaseMs * leavingPart);
  return Promise.race([listeners.announce([], leases), promise]).finally(cancel);
}

function ownersOf({ rows }: LeaseView): ReadonlyMap<LeaseName, Owner> {
  const owners = new Map<LeaseName, Owner>();
  for (const { name, epoch, node, isLive } of rows)
    if (isLive && node !== undefined) owners.set(name, { node, epoch });
  return owners;
}

// Lease plan: what a node takes and gives in one turn, from what the lease table shows.

interface LeaseTurn {
  /** Whether the table says that the node holds a lease of which it does not know. */
  readonly hasUnknown: boolean;
  readonly takes: readonly { readonly names: readonly LeaseName[]; readonly countMax: number }[];
  readonly gifts: readonly { readonly names: readonly LeaseName[]; readonly to: string }[];
}

function planTurn({
  view,
  wanted,
  nodeId,
  leases,
}: {
  readonly view: LeaseView;
  readonly wanted: ReadonlySet<LeaseName>;
  readonly nodeId: string;
  /** What the node holds. */
  readonly leases: readonly Lease[];
}): LeaseTurn {
  const epochs = new Map(leases.map(({ name, epoch }) => [name, epoch]));
  const isOwn = ({ node, isLive }: OwnerRow): boolean => isLive && node?.id === nodeId;
  const hasUnknown = view.rows.some((row) => isOwn(row) && epochs.get(row.name) !== row.epoch);
  const kinds = Map.groupBy(
    view.rows.filter(({ name }) => wanted.has(name)),
    ({ name }) => name.slice(0, name.indexOf('/') + 1),
  );
  const plans = [...kinds.values()].map((rows) => planKind(rows, view.nodes, nodeId, isOwn));
  return {
    hasUnknown,
    takes: plans.flatMap(({ takes }) => takes),
    gifts: plans.flatMap(({ gifts }) => gifts),
  };
}

function planKind(
  rows: readonly OwnerRow[],
  nodes: readonly string[],
  nodeId: string,
  isOwn: (row: OwnerRow) => boolean,
): Pick<LeaseTurn, 'takes' | 'gifts'> {
  const counts = new Map<string, number>();
  for (const { node, isLive } of rows)
    if (isLive && node !== undefined) counts.set(node.id, (counts.get(node.id) ?? 0) + 1);
  const free = rows.filter(({ isLive }) => !isLive).map(({ name }) => name);
  if (free.length > 0) {
    const share = sharesOf(rows.length, nodes, counts).get(nodeId) ?? 0;
    const countMax = share - (counts.get(nodeId) ?? 0);
    return { takes: countMax > 0 ? [{ names: free, countMax }] : [], gifts: [] };
  }
  const own = rows.filter(isOwn).map(({ name }) => name);
  const gifts = giftsOf(rows.length, nodes, counts)
    .filter(({ from }) => from === nodeId)
    .map(({ to, count }) => ({ to, names: own.splice(-count) }));
  return { takes: [], gifts };
}

// Lease listeners: are called one after the other with what a node gained and lost, in that order.

class LeaseListeners {
  readonly #ready: (gained: readonly Lease[]) => void;
  readonly #failed: (error: unknown) => void;
  readonly #listeners: LeasesChanged[] = [];
  readonly #announcements = createSerialQueue();

  constructor(
    /** Called when the listeners are ready for leases. */
    ready: (gained: readonly Lease[]) => void,
    failed: (error: unknown) => void,
  ) {
    this.#ready = ready;
    this.#failed = failed;
  }

  readonly add = (listener: LeasesChanged): void => void this.#listeners.push(listener);

  /** Resolves when every listener is ready. A failed one keeps no other from being called. */
  async announce(gained: readonly Lease[], lost: readonly Lease[]): Promise<void> {
    if (gained.length + lost.length === 0) return;
    await this.#announcements.run(async () => {
      for (const listener of this.#listeners)
        await Promise.try(listener, gained, lost).catch(this.#failed);
      this.#ready(gained);
    });
  }

  /** Resolves when everything announced so far is done. */
  idle(): Promise<void> {
    return this.#announcements.idle();
  }
}

// Lease shares: how many leases of a kind each node should hold, and which nodes give to which.

/** Leases that nodes hold, of one kind. */
type Counts = ReadonlyMap<string, number>;

interface Gift {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/**
 * How many each of the nodes should hold: the numbers differ by one at most. Those that hold more
 * keep the one more, so that nothing moves without need.
 */
export function sharesOf(total: number, nodes: readonly string[], counts: Counts): Counts {
  const ordered = nodes.toSorted(
    (a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || Number(a > b) - Number(a < b),
  );
  const least = Math.floor(total / ordered.length);
  const further = total % ordered.length;
  return new Map(ordered.map((node, place) => [node, least + Number(place < further)]));
}

/**
 * What holders with too many give to those with too few. All nodes that know the same counts find
 * the same gifts. A holder that is not one of the nodes gives all that it has.
 */
export function giftsOf(total: number, nodes: readonly string[], counts: Counts): readonly Gift[] {
  if (nodes.length === 0) return [];
  const shares = sharesOf(total, nodes, counts);
  const missing = [...shares].map(([to, share]) => ({ to, count: share - (counts.get(to) ?? 0) }));
  const gifts: Gift[] = [];
  for (const [from, held] of [...counts].toSorted(([a], [b]) => Number(a > b) - Number(a < b))) {
    let surplus = held - (shares.get(from) ?? 0);
    for (const place of missing) {
      const count = Math.min(surplus, place.count);
      if (count <= 0) continue;
      gifts.push({ from, to: place.to, count });
      surplus -= count;
      place.count -= count;
    }
  }
  return gifts;
}
