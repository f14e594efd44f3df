// Mutes: create, read, list, update and delete, and the mute of a single alarm (contract 39.4).
import type { MuteDraft, MuteUpdate, WhatDraft } from '../../contract/alarms.ts';
import { type Alarm, alarmLimits, type AlarmMute } from '../../model/alarm.ts';
import {
  type EpochMs,
  formatInstant,
  formatInstantOrNull,
  parseInstant,
} from '../../model/instant.ts';
import { fixedDurationMs } from '../../model/iso-duration.ts';
import { isLocalTime, openTimeZones, weekdays } from '../../model/time-zone.ts';
import {
  type Mute,
  type MutedWhat,
  muteLimits,
  muteWindowAt,
  nextMuteStart,
  type WeeklyMute,
} from '../../model/mute.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { alarmRows } from '../../storage/records/rows/alarms.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { muteRows } from '../../storage/records/rows/mutes.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { ruleRows } from '../../storage/records/rows/rules.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { auditView, change, Crud, placeIn, type Step } from '../record-crud.ts';

const crud = new Crud<Mute>('mute', 'mute', () => muteRows, check);
const zoneOf = openTimeZones();

function muteView(mute: Mute, now: EpochMs) {
  const { description, once, nextAt: _, ...shown } = mute;
  return {
    ...shown,
    reason: description,
    once: once && { from: formatInstant(once.from), to: formatInstant(once.to) },
    mutesUntil: formatInstantOrNull(muteWindowAt(mute, zoneOf, now)?.to ?? null),
    nextStart: formatInstantOrNull(nextMuteStart(mute, zoneOf, now)),
    ...auditView(mute),
  };
}

/** Mutes as callers make and read them (contract 39.4). */
export class Mutes {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(draft: MuteDraft) {
    const record = await crud.create(this.#records, async (step, fields) => {
      const place = await placeIn(step, draft.workspaceId);
      return { ...fields, ...place, ...drafted(draft), nextAt: step.now() };
    });
    return muteView(record, this.#records.now());
  }

  async read(id: string) {
    return muteView(await crud.read(this.#records, id), this.#records.now());
  }

  async list(
    principal: Principal,
    filter: ListScope & {
      readonly search?: string | undefined;
      readonly active?: boolean | undefined;
    },
    page: PageRequest,
  ) {
    const reach = await listReach(this.#records, principal, filter);
    const { search, active } = filter;
    const { rows, total } = await muteRows.list(
      this.#records.db,
      { ...reach, search, active },
      page,
    );
    const now = this.#records.now();
    return pageOf(
      rows.map((row) => muteView(row, now)),
      total,
      page,
    );
  }

  /** Open alarms are looked at again, because it may mute others now. */
  async update(id: string, sent: MuteUpdate) {
    const record = await crud.update(this.#records, id, sent, (current) => {
      const kept = {
        reason: current.description,
        what: current.what,
        severityBelow: current.severityBelow,
        once: current.once && {
          from: formatInstant(current.once.from),
          to: formatInstant(current.once.to),
        },
        weekly: current.weekly,
        active: current.active,
      };
      const { version: _, name = current.name, ...changed } = sent;
      // A sent schedule replaces the other kind.
      const schedule = sent.once ? { weekly: null } : sent.weekly ? { once: null } : {};
      const given = Object.fromEntries(
        Object.entries(changed).filter(([, value]) => value !== undefined),
      );
      const draft = { ...kept, ...schedule, ...given, name, workspaceId: current.workspaceId };
      return { ...drafted(draft), nextAt: this.#records.now() };
    });
    return muteView(record, this.#records.now());
  }

  /** Its alarms are told at once, unless another mute keeps them quiet. */
  async remove(id: string): Promise<void> {
    await change(this.#records, async (step) => {
      await crud.remove(step, id);
      await alarmRows.endMute(step.db, id, step.now());
    });
  }

  /** Mutes one alarm by its key, in the open transaction. Throws 400, or 409 for a cleared alarm. */
  async muteAlarm(
    { id, state, workspaceId, key, name }: Alarm,
    sent: {
      readonly for?: string | null | undefined;
      readonly until?: string | null | undefined;
      readonly reason?: string | null | undefined;
    },
  ): Promise<AlarmMute> {
    if (state === 'CLEARED') throw problem('alarmCleared', { id });
    const now = this.#records.now();
    const until = endOf(sent, now);
    const { id: muteId } = await this.create({
      name: name.slice(0, nameCharactersMax) || key.slice(0, nameCharactersMax),
      workspaceId,
      what: { alarmKeys: [key] },
      reason: sent.reason ?? null,
      once: { from: formatInstant(now), to: formatInstant(until) },
    });
    return { muteId, until };
  }
}

const nameCharactersMax = 200;

function endOf(
  sent: { readonly for?: string | null | undefined; readonly until?: string | null | undefined },
  now: EpochMs,
): EpochMs {
  if (Boolean(sent.for) === Boolean(sent.until))
    throw problem('invalidRequest', { reason: 'body: set exactly one of for and until' });
  if (sent.for) {
    const ms = fixedDurationMs(sent.for, { min: 'PT1M', max: 'P366D' });
    if (typeof ms === 'string') throw invalid('for', ms);
    return now + ms;
  }
  const until = parseInstant(sent.until ?? '');
  if (until === undefined) throw invalid('until', 'is not a valid ISO-8601 date-time');
  if (until <= now) throw invalid('until', 'must be in the future');
  if (until - now > muteLimits.onceMsMax) throw invalid('until', 'must be at most 366 days ahead');
  return until;
}

// Drafts.

const invalid = (field: string, reason: string) =>
  problem('invalidRequest', { reason: `body ${field}: ${reason}` });

/** Checked as far as no other record is needed. Throws 400 naming the field. */
function drafted(draft: MuteDraft) {
  const { once, weekly } = draft;
  if (Boolean(once) === Boolean(weekly))
    throw invalid('once', 'set exactly one of once and weekly');
  return {
    name: draft.name,
    description: draft.reason ?? null,
    what: whatFrom(draft.what),
    severityBelow: draft.severityBelow ?? null,
    once: once ? onceFrom(once) : null,
    weekly: weekly ? weeklyFrom(weekly) : null,
    active: draft.active ?? true,
  };
}

const lists = ['ruleIds', 'deviceIds', 'tagIds', 'placeIds', 'alarmKeys'] as const;

function whatFrom(sent: WhatDraft): MutedWhat {
  const named = lists.flatMap((list) => {
    const ids = sent[list] ?? [];
    if (ids.length > muteLimits.idsMax)
      throw invalid(`what.${list}`, `must have at most ${muteLimits.idsMax} items`);
    return ids.length === 0 ? [] : [[list, [...new Set(ids)]] as const];
  });
  const isAll = sent.all === true;
  if (isAll === named.length > 0)
    throw invalid('what', 'set either all or at least one of ' + lists.join(', '));
  const tooLong = sent.alarmKeys?.findIndex((key) => key.length > alarmLimits.keyCharactersMax);
  if (tooLong !== undefined && tooLong >= 0)
    throw invalid(
      `what.alarmKeys.${tooLong}`,
      `must have at most ${alarmLimits.keyCharactersMax} characters`,
    );
  return isAll ? { all: true } : Object.fromEntries(named);
}

function onceFrom(sent: NonNullable<MuteDraft['once']>): NonNullable<Mute['once']> {
  const [from, to] = [parseInstant(sent.from), parseInstant(sent.to)];
  if (from === undefined) throw invalid('once.from', 'is not a valid ISO-8601 date-time');
  if (to === undefined) throw invalid('once.to', 'is not a valid ISO-8601 date-time');
  if (to <= from) throw invalid('once.to', 'must be after once.from');
  if (to - from > muteLimits.onceMsMax)
    throw invalid('once.to', 'must be at most 366 days after once.from');
  return { from, to };
}

function weeklyFrom(sent: NonNullable<MuteDraft['weekly']>): WeeklyMute {
  const days = weekdays.filter((day) => sent.days.includes(day));
  if (days.length === 0) throw invalid('weekly.days', 'must have at least one day');
  for (const field of ['from', 'to'] as const)
    if (!isLocalTime(sent[field])) throw invalid(`weekly.${field}`, 'must be a local time, HH:mm');
  const zone = zoneOf(sent.timeZone);
  if (zone === undefined)
    throw problem('unknownTimeZone', { timeZone: sent.timeZone.slice(0, 100) });
  return { days, from: sent.from, to: sent.to, timeZone: zone.id };
}

/** Throws 400 for a record that is not in the workspace, and 409 for a mute too many. */
async function check(step: Step, mute: Mute, current: Mute | undefined): Promise<void> {
  await checkWhat(step, mute, current);
  if (current !== undefined) return;
  const { perWorkspaceMax } = muteLimits;
  if ((await muteRows.count(step.db, mute.workspaceId, step.now())) >= perWorkspaceMax)
    throw problem('mutesFull', { max: perWorkspaceMax });
}

/** What the stored mute names is not checked again, because it may have been deleted since. */
async function checkWhat(
  step: Step,
  { what, workspaceId }: Mute,
  current: Mute | undefined,
): Promise<void> {
  if ('all' in what) return;
  const before = current === undefined || 'all' in current.what ? {} : current.what;
  const added = (list: Exclude<(typeof lists)[number], 'alarmKeys'>) => {
    const known = new Set(before[list]);
    return (what[list] ?? []).filter((id) => !known.has(id));
  };
  const here = (records: readonly { readonly id: string; readonly workspaceId: string }[]) =>
    new Set(records.filter((one) => one.workspaceId === workspaceId).map(({ id }) => id));
  const devices = await deviceRows.workspacesOf(step.db, added('deviceIds'));
  const found = {
    ruleIds: here(await ruleRows.findAll(step.db, added('ruleIds'))),
    deviceIds: here([...devices].map(([id, of]) => ({ id, workspaceId: of }))),
    tagIds: here(await tagRows.findAll(step.db, added('tagIds'))),
    placeIds: here(await placeRows.findAll(step.db, added('placeIds'))),
  };
  const nouns = { ruleIds: 'rule', deviceIds: 'device', tagIds: 'tag', placeIds: 'place' } as const;
  for (const list of ['ruleIds', 'deviceIds', 'tagIds', 'placeIds'] as const)
    for (const id of added(list))
      if (!found[list].has(id))
        throw problem('unknownReference', {
          field: `body what.${list}`,
          what: nouns[list],
          id,
          place: 'workspace',
        });
}
