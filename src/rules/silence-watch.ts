// Silence watch: finds devices that were not heard for longer than a rule of silence allows, and those that are heard again (contract 38).
// Devices are read in the order of their last uplinks, so that a pass costs what became silent, not the fleet.
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { ChangeFollower, RecordChange } from '../model/record.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { placeRows } from '../storage/records/rows/places.ts';
import { conditionStateRows } from '../storage/records/rows/rule-state.ts';
import {
  type HeardDevice,
  type TimedPlace,
  heardDeviceRows,
  deviceStatusRows,
} from '../storage/records/rows/device-status.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { CompiledLogic, CompiledRule } from './evaluation/compiled-rule.ts';
import { silenceVerdict } from './evaluation/evaluation.ts';
import { Reading } from './evaluation/rule-reading.ts';
import type { RuleBatch } from './rule-batch.ts';
import type { Origin } from './rule-effects.ts';

const passEveryMs = 1_000;
/** Devices that are looked at in one transaction. */
const devicesPerPage = 500;
/** Silent devices of a rule that a pass asks whether they were heard again. */
const silentPerPass = 5_000;
/** Changed devices that are looked at by their ids; beyond, all devices of a rule are. */
const changedMax = 10_000;

const start: TimedPlace = { at: -1, deviceId: '' };

/** How far the devices of a rule were looked at. */
interface Progress {
  readonly activation: number;
  heard: TimedPlace;
  created: TimedPlace;
  /** Silent devices up to this id were asked. */
  asked: string;
  /** Devices that were passed before they were silent long enough; with the time when they are. */
  readonly later: Map<string, EpochMs>;
  /** Before, no device can become silent unless it changes. */
  quietUntil: EpochMs;
  /** Whether a device may be silent. */
  hasSilent: boolean;
}

type Silence = Extract<CompiledLogic, { type: 'SILENCE' }>;

interface SilenceWatchParts {
  readonly db: RecordsDb;
  readonly rules: () => Iterable<CompiledRule>;
  readonly rule: (id: string) => CompiledRule | undefined;
  /** Runs the work alone, with the current rules, and writes what it adds. */
  readonly inBatch: (work: (batch: RuleBatch) => Promise<void>) => Promise<void>;
  /** Resolves when the records contain all uplinks until now. */
  readonly settled: () => Promise<void>;
  /** Whether this node evaluates the rules of the workspace. */
  readonly isOwn: (workspaceId: string) => boolean;
  /** When the platform started, by the wall clock as it is now: before, it heard nothing. */
  readonly platformStart: () => EpochMs;
  readonly now: () => EpochMs;
  readonly newId: () => string;
  readonly pause: () => Promise<unknown>;
  readonly setRepeatingTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

export class SilenceWatch implements ChangeFollower {
  readonly #parts: SilenceWatchParts;
  readonly #stop: () => void;
  readonly #progress = new Map<string, Progress>();
  #changed = new Set<string>();
  #running: Promise<void> | undefined;

  constructor(parts: SilenceWatchParts) {
    this.#parts = parts;
    this.#stop = parts.setRepeatingTimer(() => void this.look().catch(parts.failed), passEveryMs);
  }

  /** Does a pass now, as happens every second. */
  readonly look = (): Promise<void> => {
    this.#running ??= this.#pass().finally(() => (this.#running = undefined));
    return this.#running;
  };

  readonly close = async (): Promise<void> => {
    this.#stop();
    await this.#running?.catch(() => undefined);
  };

  /** A device that has another tag, workspace or timeout is looked at again. */
  readonly recordChanged = ({ kind, id }: RecordChange): void => {
    if (kind !== 'device') return;
    this.#changed.add(id);
    if (this.#changed.size > changedMax) this.changesMissed();
  };

  readonly changesMissed = (): void => {
    this.#changed.clear();
    this.#progress.clear();
  };

  async #pass(): Promise<void> {
    const { rules, isOwn, settled, inBatch } = this.#parts;
    // Without samples nobody else reads rules that are new.
    await inBatch(async () => undefined);
    const ids = [...rules()]
      .filter(({ logic, rule }) => logic.type === 'SILENCE' && isOwn(rule.workspaceId))
      .map(({ rule }) => rule.id);
    for (const id of this.#progress.keys()) if (!ids.includes(id)) this.#progress.delete(id);
    const changed = [...this.#changed];
    this.#changed = new Set();
    if (ids.length === 0) return;
    await settled();
    try {
      for (const id of ids) await this.#lookAt(id, changed);
    } catch (error) {
      for (const id of changed) this.#changed.add(id);
      throw error;
    }
  }

  async #lookAt(ruleId: string, changed: readonly string[]): Promise<void> {
    const compiled = this.#parts.rule(ruleId);
    if (compiled?.logic.type !== 'SILENCE') return;
    const { activation } = compiled.rule;
    let progress = this.#progress.get(ruleId);
    if (progress?.activation !== activation) {
      progress = {
        activation,
        heard: start,
        created: start,
        asked: '',
        later: new Map(),
        quietUntil: 0,
        hasSilent: true,
      };
      this.#progress.set(ruleId, progress);
    }
    const look = new SilenceLook(this.#parts, compiled, compiled.logic, progress);
    await (compiled.logic.mode === 'ALL' ? look.atAll(changed) : look.atEach(changed));
  }
}

/** One pass over the devices of one rule. */
class SilenceLook {
  readonly #parts: SilenceWatchParts;
  readonly #compiled: CompiledRule;
  readonly #logic: Silence;
  readonly #progress: Progress;
  readonly #now: EpochMs;
  /** Nobody was silent before. */
  readonly #since: EpochMs;

  constructor(
    parts: SilenceWatchParts,
    compiled: CompiledRule,
    logic: Silence,
    progress: Progress,
  ) {
    this.#parts = parts;
    this.#compiled = compiled;
    this.#logic = logic;
    this.#progress = progress;
    this.#now = parts.now();
    this.#since = Math.max(parts.platformStart(), compiled.rule.activatedAt);
  }

  async atEach(changed: readonly string[]): Promise<void> {
    const { db } = this.#parts;
    const { workspaceId } = this.#compiled.rule;
    const progress = this.#progress;
    if (progress.hasSilent) await this.#askSilent();
    if (this.#now < progress.quietUntil && changed.length === 0) return;
    const afterMs =
      this.#logic.afterMs ?? (await heardDeviceRows.shortestTimeoutMs(db, workspaceId));
    const to = this.#now - (afterMs ?? 0);
    if (afterMs === undefined || to < this.#since) {
      progress.quietUntil = this.#since + (afterMs ?? passEveryMs);
      return;
    }
    const due = [...progress.later].filter(([, at]) => at <= this.#now).map(([id]) => id);
    for (const id of due) progress.later.delete(id);
    const asked = [...new Set([...changed, ...due])];
    for (let from = 0; from < asked.length; from += devicesPerPage) {
      const ids = asked.slice(from, from + devicesPerPage);
      await this.#take(
        (await heardDeviceRows.find(db, ids)).filter((one) => one.workspaceId === workspaceId),
      );
    }
    const range = { to, max: devicesPerPage };
    for (let next: TimedPlace | undefined = progress.heard; next !== undefined; ) {
      const page = await heardDeviceRows.heardBy(db, workspaceId, { after: next, ...range });
      await this.#take(page.devices);
      next = page.next;
      progress.heard = next ?? behind(to);
    }
    for (let next: TimedPlace | undefined = progress.created; next !== undefined; ) {
      const page = await heardDeviceRows.createdBy(db, workspaceId, { after: next, ...range });
      await this.#take(page.devices.filter(({ lastUplinkAt }) => lastUplinkAt === null));
      next = page.next;
      progress.created = next ?? behind(to);
    }
    // The next one is the one that was heard first of the others, or one that is created now.
    const first = await deviceStatusRows.firstHeardBehind(db, workspaceId, to);
    progress.quietUntil = Math.min(this.#now, first ?? Infinity) + afterMs;
    for (const at of progress.later.values())
      progress.quietUntil = Math.min(progress.quietUntil, at);
  }

  /** The group is silent when none of its devices was heard, and it has one. */
  async atAll(changed: readonly string[]): Promise<void> {
    const { db } = this.#parts;
    const { rule } = this.#compiled;
    const { deviceIds, tagIds } = this.#logic.inputs;
    const { quietUntil, hasSilent } = this.#progress;
    if (!hasSilent && this.#now < quietUntil && changed.length === 0) return;
    let heard: HeardDevice | undefined;
    let newest: EpochMs | null = null;
    let count = 0;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: readonly HeardDevice[] = await heardDeviceRows.among(
        db,
        { deviceIds, tagIds },
        after,
        devicesPerPage,
      );
      const members = await this.#members(page);
      count += members.length;
      for (const { lastUplinkAt } of members) newest = maxOrNull(newest, lastUplinkAt);
      heard = members.find((device) => !this.#isSilent(device));
      const isLast = page.length < devicesPerPage || heard !== undefined;
      after = isLast ? undefined : page.at(-1)?.deviceId;
      await this.#parts.pause();
    }
    const isSilent = count > 0 && heard === undefined;
    this.#progress.hasSilent = isSilent;
    // The one that was heard keeps the group from being silent that long.
    this.#progress.quietUntil = heard === undefined ? 0 : this.#silentFrom(heard);
    const [state] = await conditionStateRows.find(db, [{ ruleId: rule.id, deviceId: '' }]);
    const wasSilent = state?.activation === rule.activation && state.holds === '1';
    if (isSilent === wasSilent) return;
    await this.#write([{ deviceId: '', lastUplinkAt: newest }], isSilent);
  }

  /** Asks devices that are silent whether they were heard again, each in its turn. */
  async #askSilent(): Promise<void> {
    const { db, pause } = this.#parts;
    const progress = this.#progress;
    for (let asked = 0; asked < silentPerPass; asked += devicesPerPage) {
      const ruleId = this.#compiled.rule.id;
      const ids = await heardDeviceRows.silent(db, ruleId, progress.asked, devicesPerPage);
      if (progress.asked === '') progress.hasSilent = ids.length > 0;
      const known = new Map(
        (await heardDeviceRows.find(db, ids)).map((one) => [one.deviceId, one]),
      );
      const heard = [...known.values()].filter(
        ({ lastUplinkAt, timeoutMs }) =>
          (lastUplinkAt ?? 0) + (this.#logic.afterMs ?? timeoutMs) > this.#now,
      );
      // Their alarms end with what made them (`alarm-ends.ts`).
      const gone = ids.filter((id) => !known.has(id));
      await this.#write(heard, false, gone);
      progress.asked = ids.length < devicesPerPage ? '' : (ids.at(-1) ?? '');
      if (progress.asked === '') return;
      await pause();
    }
  }

  /** Notes those of the devices that became silent. */
  async #take(devices: readonly HeardDevice[]): Promise<void> {
    const members = await this.#members(devices);
    const later = members.filter((device) => !this.#isSilent(device));
    for (const device of later) this.#progress.later.set(device.deviceId, this.#silentFrom(device));
    await this.#write(
      members.filter((device) => this.#isSilent(device)),
      true,
    );
    await this.#parts.pause();
  }

  /** The devices that are inputs of the rule. */
  async #members(devices: readonly HeardDevice[]): Promise<readonly HeardDevice[]> {
    const { inputs } = this.#logic;
    const { workspaceId } = this.#compiled.rule;
    const own = devices.filter((device) => device.workspaceId === workspaceId);
    const ids = own.map(({ deviceId }) => deviceId);
    const groups = inputs.byTag ? await placeRows.groupsOfDevices(this.#parts.db, ids) : undefined;
    return own.filter(
      ({ deviceId }) =>
        inputs.deviceIds.includes(deviceId) || inputs.hasTagged(groups?.get(deviceId) ?? new Set()),
    );
  }

  #silentFrom({ lastUplinkAt, created, timeoutMs }: HeardDevice): EpochMs {
    return Math.max(lastUplinkAt ?? created, this.#since) + (this.#logic.afterMs ?? timeoutMs);
  }

  #isSilent(device: HeardDevice): boolean {
    return this.#silentFrom(device) <= this.#now;
  }

  /** Changes the state of devices that have another one, with what follows from it. */
  async #write(
    devices: readonly { readonly deviceId: string; readonly lastUplinkAt: EpochMs | null }[],
    isSilent: boolean,
    gone: readonly string[] = [],
  ): Promise<void> {
    if (devices.length + gone.length === 0) return;
    const { db, inBatch, rule } = this.#parts;
    const { id: ruleId, activation } = this.#compiled.rule;
    if (isSilent) this.#progress.hasSilent = true;
    await inBatch(async (batch) => {
      const compiled = rule(ruleId);
      if (compiled?.rule.activation !== activation) return;
      const states = await conditionStateRows.find(
        db,
        devices.map(({ deviceId }) => ({ ruleId, deviceId })),
      );
      const silent = new Set(
        states
          .filter((state) => state.activation === activation && state.holds === '1')
          .map(({ deviceId }) => deviceId),
      );
      const holds = isSilent ? '1' : '0';
      const write = (deviceId: string, held: string) =>
        batch.write.holds.push({ ruleId, activation, deviceId, holds: held, waits: null });
      for (const deviceId of gone) write(deviceId, '0');
      for (const device of devices) {
        if (silent.has(device.deviceId) === isSilent) continue;
        write(device.deviceId, holds);
        this.#tell(compiled, device, isSilent, batch);
      }
    });
  }

  #tell(
    compiled: CompiledRule,
    {
      deviceId,
      lastUplinkAt,
    }: { readonly deviceId: string; readonly lastUplinkAt: EpochMs | null },
    isSilent: boolean,
    batch: RuleBatch,
  ): void {
    const at = this.#now;
    const lastUplink = lastUplinkAt === null ? null : formatInstant(lastUplinkAt);
    const silentSeconds = Math.round((at - (lastUplinkAt ?? this.#since)) / 1_000);
    const origin: Origin = {
      cause: 'TIMER',
      key: `silence ${deviceId} ${lastUplinkAt ?? compiled.rule.activatedAt} ${isSilent}`,
      deviceId,
      correlationId: this.#parts.newId(),
      hops: 0,
      at,
      // What templates and alarms show of the device.
      ...(deviceId !== '' && {
        sample: { deviceId, topic: 'silence', timestamp: at, data: { lastUplink, silentSeconds } },
      }),
    };
    const verdict = silenceVerdict(compiled, isSilent);
    batch.addJudged({ compiled, reading: new Reading([]), places: [], verdict }, origin);
  }
}

/** Behind all devices of the instant. */
function behind(at: EpochMs): TimedPlace {
  return { at, deviceId: '\uffff' };
}

function maxOrNull(a: EpochMs | null, b: EpochMs | null): EpochMs | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
