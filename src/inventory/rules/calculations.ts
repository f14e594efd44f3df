// Group calculations: create, read, list, update, delete, and their checks (contract 38.2).
import { isDeepStrictEqual } from 'node:util';
import type {
  CalculationDraft,
  CalculationUpdate,
  OutputDraft,
} from '../../contract/calculations.ts';
import {
  type Expression,
  ExpressionError,
  parseExpression,
} from '../../query/expressions/parse.ts';
import {
  type Calculation,
  calculationLimits,
  type CalculationOutput,
  type CalculationProgress,
  type EachDevice,
  periodMs,
} from '../../model/calculation.ts';
import { isTopic, newId } from '../../model/ids.ts';
import {
  dayMs,
  type EpochMs,
  formatInstant,
  formatInstantOrNull,
  parseInstant,
} from '../../model/instant.ts';
import { parseIsoDuration } from '../../model/iso-duration.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { openTimeZone } from '../../model/time-zone.ts';
import { accumulatorNamed } from '../../query/summaries/accumulators.ts';
import { foldNamed } from '../../query/summaries/folds.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import { calculationRows } from '../../storage/records/rows/calculations.ts';
import { findPlace } from '../../storage/records/rows/search.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { auditView, Crud, firstVersion, orCurrent, placeIn, type Step } from '../record-crud.ts';

const topicDefault = 'default';
/** How far ahead a calculation may begin. */
const aheadMs = 366 * dayMs;
/** The most outputs that a message names. */
const namedMax = 20;

const crud = new Crud<Calculation>('calculation', 'calculation', () => calculationRows, check);

/** The state of a calculation besides its record. */
interface Known {
  readonly progress: CalculationProgress | undefined;
  /** Hours with late samples. */
  readonly late: number;
}

function view(record: Calculation, { progress, late }: Known, now: EpochMs) {
  const { activation, from, ...shown } = record;
  const ofNow = progress?.activation === activation ? progress : undefined;
  const ms = periodMs(record.period);
  const nextEnd = (ofNow?.computedTo ?? from) + (typeof ms === 'number' ? ms : dayMs);
  return {
    ...shown,
    from: formatInstant(from),
    progress: {
      computedTo: formatInstantOrNull(ofNow?.computedTo ?? null),
      computedAt: formatInstantOrNull(ofNow?.computedAt ?? null),
      nextAt: record.active ? formatInstant(nextEnd) : null,
      lagSeconds: record.active ? Math.max(0, Math.round((now - nextEnd) / 1_000)) : 0,
      late,
      error: ofNow?.error ?? null,
      errorAt: formatInstantOrNull(ofNow?.errorAt ?? null),
    },
    ...auditView(record),
  };
}

async function viewsOf(records: Records, found: readonly Calculation[]) {
  const ids = found.map(({ id }) => id);
  const progress = await calculationRows.findProgress(records.db, ids);
  const marks = await calculationRows.countMarksOf(records.db, ids);
  return found.map((record) => {
    const known = { progress: progress.get(record.id), late: marks.get(record.id) ?? 0 };
    return view(record, known, records.now());
  });
}

async function viewOf(records: Records, record: Calculation) {
  const [shown] = await viewsOf(records, [record]);
  if (shown === undefined) throw new Error(`Calculation ${record.id} has no view`);
  return shown;
}

/** Calculations as callers make and read them. */
export class Calculations {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(draft: CalculationDraft) {
    const record = await crud.create(this.#records, async (step, fields) => {
      const place = await placeIn(step, draft.workspaceId);
      return { ...fields, ...place, ...drafted(draft, step.now()), activation: 0 };
    });
    return viewOf(this.#records, record);
  }

  async read(id: string) {
    return viewOf(this.#records, await crud.read(this.#records, id));
  }

  async list(
    principal: Principal,
    filter: ListScope & {
      readonly search?: string | undefined;
      readonly tagId?: string | undefined;
    },
    page: PageRequest,
  ) {
    const reach = await listReach(this.#records, principal, filter);
    const { search, tagId } = filter;
    const { rows, total } = await calculationRows.list(
      this.#records.db,
      { ...reach, search, tagId },
      page,
    );
    return pageOf(await viewsOf(this.#records, rows), total, page);
  }

  /** When what is computed changes, all periods since `from` are computed again. */
  async update(id: string, sent: CalculationUpdate) {
    const record = await crud.update(this.#records, id, sent, (current) => {
      const { name: _, description: __, active, version: ___, id: ____, ...changed } = sent;
      const { activation, ...kept } = current;
      const devices = sent.tagId || sent.deviceIds ? { tagId: null, deviceIds: null } : {};
      const given = Object.entries(changed).filter(([, value]) => value !== undefined);
      const merged = { ...kept, from: formatInstant(kept.from), ...devices };
      const draft = { ...merged, ...Object.fromEntries(given) } as CalculationDraft;
      const next = drafted(draft, this.#records.now());
      const computed = ({
        tagId,
        deviceIds,
        topic,
        period,
        timeZone,
        from,
        target,
        outputs,
      }: Parts) => [tagId, deviceIds, topic, period, timeZone, from, target, outputs] as const;
      const isOther = !isDeepStrictEqual(computed(next), computed(current));
      const { name: _name, description: _description, ...fields } = next;
      return {
        ...fields,
        active: orCurrent(active, current.active) ?? current.active,
        activation: activation + Number(isOther),
      };
    });
    return viewOf(this.#records, record);
  }

  /** Its samples stay. */
  async remove(id: string): Promise<void> {
    await crud.remove(this.#records, id);
  }
}

/** The calculation of a draft, checked and not stored. Throws 400 naming the field. */
export async function draftedCalculation(
  records: Records,
  draft: CalculationDraft,
): Promise<Calculation> {
  const record: Calculation = {
    id: newId('calculation'),
    ...firstVersion(records.now()),
    ...(await placeIn(records, draft.workspaceId)),
    ...drafted(draft, records.now()),
    activation: 0,
  };
  checkFrom(record, records.now());
  await checkReferences(records.db, record);
  return record;
}

// Drafts.

type Parts = Omit<
  Calculation,
  keyof ReturnType<typeof firstVersion> | 'activation' | 'id' | 'organizationId' | 'workspaceId'
>;

const invalid = (field: string, reason: string) => problem('calculationInvalid', { field, reason });

/** Checked as far as no other record is needed. Throws 400 naming the field. */
function drafted(draft: CalculationDraft, now: EpochMs): Parts {
  const { tagId = null, deviceIds = null, timeZone = null } = draft;
  if ((tagId === null) === (deviceIds === null))
    throw invalid('tagId', 'set exactly one of tagId and deviceIds');
  if (timeZone !== null && openTimeZone(timeZone) === undefined)
    throw problem('unknownTimeZone', { timeZone: timeZone.slice(0, 100) });
  if (draft.topic === '*') throw invalid('topic', 'must be a single topic');
  const ms = periodMs(draft.period);
  if (typeof ms === 'string') throw invalid('period', `${draft.period.slice(0, 40)} ${ms}`);
  return {
    name: draft.name,
    description: draft.description ?? null,
    active: draft.active ?? true,
    tagId,
    deviceIds: deviceIds && [...new Set(deviceIds)],
    topic: draft.topic,
    period: draft.period,
    timeZone,
    from: fromOf(draft.from, now),
    target: targetOf(draft.target),
    outputs: outputsOf(draft.outputs),
  };
}

function fromOf(sent: string | null | undefined, now: EpochMs): EpochMs {
  if (sent === undefined || sent === null) return now;
  const from = parseInstant(sent);
  if (from === undefined)
    throw invalid('from', `${sent.slice(0, 40)} is not an ISO-8601 date-time`);
  return from;
}

/** What is computed when the calculation begins has a bound. */
function checkFrom({ from, period }: Calculation, now: EpochMs): void {
  const ms = periodMs(period);
  const { periods: periodsMax } = calculationLimits;
  if (typeof ms === 'number' && (now - from) / ms > periodsMax)
    throw invalid('from', `must be at most ${periodsMax} periods ago`);
  if (from > now + aheadMs) throw invalid('from', 'must be at most a year ahead');
}

function targetOf({ deviceId, topic }: CalculationDraft['target']): Calculation['target'] {
  const name = topic ?? topicDefault;
  if (name === '*') throw invalid('target.topic', 'must be a single topic');
  // Samples of another name would go to the topic `default`, where no result replaces an earlier one.
  if (!isTopic(name)) throw invalid('target.topic', 'must be a valid topic');
  return { deviceId, topic: name };
}

function outputsOf(sent: readonly OutputDraft[]): CalculationOutput[] {
  const keys = new Set<string>();
  for (const [i, { key }] of sent.entries()) {
    if (keys.has(key)) throw invalid(`outputs.${i}.key`, `${key.slice(0, 100)} occurs twice`);
    keys.add(key);
  }
  const computed = new Set(sent.filter(({ expression }) => !expression).map(({ key }) => key));
  return sent.map((output, i) => outputOf(output, `outputs.${i}`, computed));
}

function outputOf(
  { key, each, across, count, expression }: OutputDraft,
  where: string,
  keys: ReadonlySet<string>,
): CalculationOutput {
  const set = [each, count, expression].filter((part) => part !== undefined && part !== null);
  if (set.length !== 1) throw invalid(where, 'set exactly one of each, count, and expression');
  if (each) {
    if (!across) throw invalid(`${where}.across`, 'is required with each');
    return { key, each: eachOf(each, `${where}.each`), across };
  }
  if (across) throw invalid(`${where}.across`, 'is only valid with each');
  if (count) return { key, count };
  const text = expression ?? '';
  checkOverKeys(readExpression(text, `${where}.expression`), keys, `${where}.expression`);
  return { key, expression: text };
}

function eachOf(sent: NonNullable<OutputDraft['each']>, where: string): EachDevice {
  const { dataKey = null, expression = null, maxGap = null, per = null } = sent;
  const accumulator = accumulatorNamed(sent.accumulator) ?? foldNamed(sent.accumulator);
  if (accumulator === undefined)
    throw invalid(`${where}.accumulator`, `unknown accumulator ${sent.accumulator.slice(0, 100)}`);
  if ((dataKey === null) === (expression === null))
    throw invalid(where, 'set exactly one of dataKey and expression');
  if (expression !== null)
    checkOwnValues(readExpression(expression, `${where}.expression`), `${where}.expression`);
  for (const [member, text] of Object.entries({ maxGap, per }))
    if (text !== null) checkDuration(text, `${where}.${member}`);
  const state = sent.state ?? null;
  if (accumulator === 'TIME_IN_STATE' && state === null)
    throw invalid(`${where}.state`, 'is required for TIME_IN_STATE');
  return { accumulator, dataKey, expression, maxGap, per, state, resets: sent.resets ?? null };
}

function checkDuration(text: string, field: string): void {
  const read = parseIsoDuration(text);
  if ('reason' in read) throw invalid(field, `${text.slice(0, 40)} ${read.reason}`);
  const { months, days, ms } = read.duration;
  if (months > 0) throw invalid(field, 'must not have months or years, whose length varies');
  if (days + ms === 0) throw invalid(field, 'must be longer than zero');
}

function readExpression(text: string, where: string): Expression {
  try {
    return parseExpression(text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message: reason, position } = error;
    throw problem('invalidExpression', { where, reason, position });
  }
}

/** Samples of other devices and topics would change results that nothing recomputes. */
function checkOwnValues({ inputs, positions }: Expression, where: string): void {
  for (const [i, input] of inputs.entries()) {
    if (!('source' in input)) continue;
    const { deviceId, topic } = input.source;
    if (deviceId === null && topic === null) continue;
    const reason = 'calculations read only the topic and the device that they are computed for';
    throw problem('invalidExpression', { where, reason, position: positions[i] ?? 0 });
  }
}

/** Results of one period have nothing before them. */
function checkOverKeys(
  { inputs, positions }: Expression,
  keys: ReadonlySet<string>,
  where: string,
): void {
  for (const [i, input] of inputs.entries()) {
    const position = positions[i] ?? 0;
    const refuse = (reason: string) => problem('invalidExpression', { where, reason, position });
    if (input.kind === 'timestamp') continue;
    if (input.kind !== 'key' || input.source.deviceId !== null || input.source.topic !== null)
      throw refuse('only keys of outputs and timestamp can be used here');
    const { key } = input.source;
    if (keys.has(key)) continue;
    const known = [...keys].slice(0, namedMax).join(', ');
    throw refuse(`${key.slice(0, 100)} is not a key of an output with each or count: ${known}`);
  }
}

// References.

async function check(
  step: Step,
  record: Calculation,
  current: Calculation | undefined,
): Promise<void> {
  const { perWorkspace } = calculationLimits;
  if (
    current === undefined &&
    (await calculationRows.count(step.db, record.workspaceId)) >= perWorkspace
  )
    throw problem('quotaReached', {
      limitName: 'calculations',
      limitMax: perWorkspace,
      per: 'workspace',
      what: 'calculations in a workspace',
    });
  // One that only gets another name must not fail because a device is gone, or because it is old.
  if (current !== undefined && current.activation === record.activation) return;
  checkFrom(record, step.now());
  await checkReferences(step.db, record);
}

async function checkReferences(db: RecordsDb, record: Calculation): Promise<void> {
  const { workspaceId, tagId, deviceIds, target } = record;
  const known = async (kind: 'device' | 'tag', id: string, field: string) => {
    const place = await findPlace(db, kind, id);
    if (place?.workspaceId === workspaceId) return;
    throw problem('unknownReference', {
      field: `body ${field}`,
      what: kind,
      id,
      place: 'workspace',
    });
  };
  if (tagId !== null) await known('tag', tagId, 'tagId');
  for (const [i, id] of (deviceIds ?? []).entries()) await known('device', id, `deviceIds.${i}`);
  await known('device', target.deviceId, 'target.deviceId');
  const others = await calculationRows.ofWorkspace(db, workspaceId);
  const loop = await findLoop(db, record, others);
  if (loop === undefined) return;
  throw invalid('target', loopText(loop));
}

/** See `loopOf`. */
export async function findLoop(
  db: RecordsDb,
  record: Calculation,
  others: readonly Calculation[],
): Promise<readonly Calculation[] | undefined> {
  const targets = [record, ...others].map(({ target }) => target.deviceId);
  const tags = await tagRows.ofDevices(db, [...new Set(targets)]);
  return loopOf(record, others, (id) => new Set(tags.get(id)?.map((tag) => tag.id)));
}

export function loopText(loop: readonly Calculation[]): string {
  const names = loop.slice(1).map(({ name }) => name.slice(0, 100));
  if (names.length === 0) return 'the target is one of the devices that are combined';
  return `the result comes back to the devices that are combined, through ${names.join(', ')}`;
}

/**
 * The calculations through which the results of one come back to its own devices, itself first;
 * undefined when they do not. `tagsOf` gives the tags of targets.
 */
function loopOf(
  start: Calculation,
  others: readonly Calculation[],
  tagsOf: (deviceId: string) => ReadonlySet<string>,
): readonly Calculation[] | undefined {
  const feeds = (one: Calculation, next: Calculation): boolean => {
    const { deviceId, topic } = one.target;
    if (topic !== next.topic) return false;
    if (next.deviceIds !== null) return next.deviceIds.includes(deviceId);
    return next.tagId !== null && tagsOf(deviceId).has(next.tagId);
  };
  const paths: (readonly Calculation[])[] = [[start]];
  const seen = new Set<string>();
  for (const path of paths) {
    const last = path.at(-1) ?? start;
    if (feeds(last, start)) return path;
    for (const next of others) {
      if (next.id === start.id || seen.has(next.id) || !feeds(last, next)) continue;
      seen.add(next.id);
      paths.push([...path, next]);
    }
  }
  return undefined;
}
