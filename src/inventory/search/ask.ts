// Ask: readings of a question, each with what it would show and where (contract 39.5).
import { formatInstant, hourMs, type EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import type { TimeZone } from '../../model/time-zone.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  type FoundRow,
  type SearchedPlace,
  recordSearch,
} from '../../storage/records/rows/search.ts';
import { listReach } from '../list-scope.ts';
import { type Question, type QuestionAccumulator, readQuestion } from './question.ts';
import { search } from './search.ts';
import type { SearchKind } from '../../model/search.ts';

/** A data key that may be asked for. */
export interface AskedKey {
  readonly topic: string;
  readonly dataKey: string;
  readonly title: string | null;
  readonly unit: string | null;
}

export interface AskParts {
  readonly records: Records;
  readonly now: () => EpochMs;
  /** Declared by device types of the workspace. */
  readonly keysOfWorkspace: (workspaceId: string) => Promise<readonly AskedKey[]>;
  /** Declared by the type of the device, and measured. */
  readonly keysOfDevice: (deviceId: string) => Promise<readonly AskedKey[]>;
}

interface AskedSeries {
  readonly deviceId?: string;
  readonly tagId?: string;
  readonly placeId?: string;
  readonly topic: string;
  readonly dataKey: string;
  readonly label: string;
  readonly unit: string | null;
}

interface Reading {
  readonly kind: 'CHART' | 'VALUE' | 'DEVICES' | 'OPEN';
  /** What was understood, in the language of the question. */
  readonly sentence: string;
  readonly series: readonly AskedSeries[];
  readonly accumulator: QuestionAccumulator | null;
  readonly interval: { readonly from: string; readonly to: string } | null;
  /** A filter expression of devices. */
  readonly filter: JsonObject | null;
  /** Address in the console. */
  readonly link: string;
}

const readingsMax = 5;
/** Words of a name that is looked up in the index of names. */
const nameWordsMax = 5;
/** Records of a kind that begin with the same words. */
const hitsMax = 3;
const chartHours = 24;
const targetKinds = ['DEVICE', 'TAG', 'PLACE'] as const;

/** What the field calls the same in both languages. */
const synonyms: ReadonlyMap<string, string> = new Map(
  Object.entries({
    temperatur: 'temperature',
    feuchte: 'humidity',
    feuchtigkeit: 'humidity',
    temp: 'temperature',
    luftfeuchtigkeit: 'humidity',
    druck: 'pressure',
    luftdruck: 'pressure',
    batterie: 'battery',
    leistung: 'power',
    energie: 'energy',
    strom: 'current',
    spannung: 'voltage',
    helligkeit: 'light',
    lärm: 'noise',
    füllstand: 'level',
    wasser: 'water',
    gewicht: 'weight',
    bewegung: 'motion',
    belegung: 'occupancy',
    geschwindigkeit: 'speed',
    regen: 'rain',
  }),
);

/**
 * The best readings first, at most 5, and the words that mean nothing here. The work is bounded by
 * the words: names come from an index, but for one reading of all names for what is left. Throws 403
 * or 404 for the workspace.
 */
export async function ask(
  parts: AskParts,
  principal: Principal,
  {
    q,
    workspaceId,
    zone,
  }: {
    readonly q: string;
    readonly workspaceId: string;
    readonly zone: () => Promise<TimeZone>;
  },
): Promise<{ readonly readings: readonly Reading[]; readonly ignored: readonly string[] }> {
  const { records, now } = parts;
  const reach = { workspaceIds: [workspaceId] };
  await listReach(records, principal, reach, ['asset', 'read']);
  const question = readQuestion(q, now(), await zone());
  if (question.opens) return opened(records, principal, workspaceId, question);
  const asking = new Asking(parts, principal, workspaceId, question);
  await asking.findNames();
  return { readings: asking.readings().slice(0, readingsMax), ignored: asking.ignored() };
}

/** `open NAME`: records of any kind. */
async function opened(
  records: Records,
  principal: Principal,
  workspaceId: string,
  { words, known, language }: Question,
) {
  const name = words.filter((_, place) => !known.has(place)).join(' ');
  const wanted = { q: name, workspaceIds: [workspaceId], limit: readingsMax };
  const { hits } = await search(records, principal, wanted);
  const verb = language === 'de' ? 'Öffnen' : 'Open';
  return {
    readings: hits.map((hit) => ({
      ...nothing,
      kind: 'OPEN' as const,
      sentence: `${verb}: ${hit.name}`,
      link: linkOf(hit, workspaceId),
    })),
    ignored: hits.length === 0 && name !== '' ? name.split(' ') : [],
  };
}

const nothing = { series: [], accumulator: null, interval: null, filter: null } as const;

const pages: Readonly<Record<string, string>> = {
  DEVICE: 'devices',
  DEVICE_TYPE: 'types',
  DATA_FLOW: 'flows',
  OUTPUT_CONNECTOR: 'outputs',
  RULE: 'rules',
  DASHBOARD: 'dashboards',
};

function linkOf(
  { kind, id }: { readonly kind: SearchKind; readonly id: string },
  workspaceId: string,
): string {
  const base = `/w/${workspaceId}`;
  if (kind === 'TAG' || kind === 'PLACE')
    return `${base}/devices?filter=${filterText(within(kind, id))}`;
  const page = pages[kind];
  return page === undefined ? base : `${base}/${page}/${id}`;
}

const within = (kind: string, id: string): JsonObject => ({
  field: kind === 'TAG' ? 'tags.id' : 'places.id',
  predicate: 'CONTAINS_ANY',
  values: [id],
});

/** As the console has it in an address. */
const filterText = (filter: JsonObject) =>
  Buffer.from(JSON.stringify(filter)).toString('base64url');

class Asking {
  readonly #parts: AskParts;
  readonly #principal: Principal;
  readonly #workspaceId: string;
  readonly #question: Question;
  readonly #understood: Set<number>;
  readonly #named: {
    readonly hits: readonly FoundRow[];
  }[] = [];
  #keys: readonly AskedKey[] = [];

  constructor(parts: AskParts, principal: Principal, workspaceId: string, question: Question) {
    this.#parts = parts;
    this.#principal = principal;
    this.#workspaceId = workspaceId;
    this.#question = question;
    this.#understood = new Set(question.known);
  }

  /** Finds data keys and records among the words without a meaning, the longest names first. */
  async findNames(): Promise<void> {
    const declared = await this.#parts.keysOfWorkspace(this.#workspaceId);
    const { words } = this.#question;
    for (let length = nameWordsMax; length > 0; length--)
      for (let at = 0; at + length <= words.length; at++) {
        if (!this.#isFree(at, length)) continue;
        const phrase = words.slice(at, at + length).join(' ');
        const keys = this.#keys.length === 0 ? matching(declared, phrase) : [];
        if (keys.length > 0) this.#keys = keys;
        else if (this.#named.length > 0 || !(await this.#findRecords(phrase))) continue;
        this.#understand(at, length);
      }
    if (this.#named.length === 0) await this.#findByWords();
    const device = this.#named[0]?.hits.find(({ kind }) => kind === 'DEVICE');
    if (device === undefined) return;
    const own = await this.#parts.keysOfDevice(device.id);
    if (this.#keys.length > 0) {
      // What the device measures itself counts more than what types declare.
      const names = new Set(this.#keys.map(({ dataKey }) => dataKey));
      const measured = own.filter(({ dataKey }) => names.has(dataKey));
      if (measured.length > 0) this.#keys = measured;
      return;
    }
    for (let length = nameWordsMax; length > 0; length--)
      for (let at = 0; at + length <= words.length; at++) {
        if (!this.#isFree(at, length)) continue;
        const keys = matching(own, words.slice(at, at + length).join(' '));
        if (keys.length === 0) continue;
        this.#keys = keys;
        this.#understand(at, length);
        return;
      }
  }

  ignored(): string[] {
    return this.#question.words.filter((_, place) => !this.#understood.has(place));
  }

  readings(): Reading[] {
    const { about } = this.#question;
    const targets = this.#named.flatMap(({ hits }) => hits);
    if (about === 'ALARMS') return this.#alarms(targets);
    if (about !== undefined) return this.#devices(about, targets);
    const readings = targets.flatMap((target) => this.#values(target));
    // The best of every target before the second best of the first.
    const best = readings.filter((_, place) => place % 2 === 0);
    const others = readings.filter((_, place) => place % 2 === 1);
    return this.#keys.length > 0
      ? [...best, ...others]
      : targets.map((target) => this.#open(target));
  }

  #isFree(at: number, length: number): boolean {
    for (let n = at; n < at + length; n++) if (this.#understood.has(n)) return false;
    return true;
  }

  #understand(at: number, length: number): void {
    for (let n = at; n < at + length; n++) this.#understood.add(n);
  }

  #places(): SearchedPlace[] {
    const { organizationId, id: viewerId } = this.#principal;
    const workspaceIds = [this.#workspaceId];
    return targetKinds.map((kind) => ({ kind, organizationId, viewerId, workspaceIds }));
  }

  /** By the start of the name, the same names first. */
  async #findRecords(phrase: string): Promise<boolean> {
    const found = await recordSearch.byNameStart(
      this.#parts.records.db,
      this.#places(),
      phrase,
      hitsMax,
    );
    const same = found.filter(({ name }) => name.toLowerCase() === phrase);
    const hits = same.length > 0 ? same : found.slice(0, hitsMax);
    if (hits.length > 0) this.#named.push({ hits });
    return hits.length > 0;
  }

  /** Once, by all words that are left: reads through the names. */
  async #findByWords(): Promise<void> {
    const { words } = this.#question;
    const left = words.flatMap((word, place) =>
      this.#understood.has(place) ? [] : [{ word, place }],
    );
    if (left.length === 0) return;
    const db = this.#parts.records.elsewhere(this.#principal.organizationId);
    const sought = left.map(({ word }) => word);
    const hits = await recordSearch.byWords(db, this.#places(), sought, hitsMax);
    if (hits.length === 0) return;
    this.#named.push({ hits: hits.slice(0, hitsMax) });
    for (const { place } of left) this.#understood.add(place);
  }

  // Readings.

  #alarms(targets: readonly FoundRow[]): Reading[] {
    const { language } = this.#question;
    const device = targets.find(({ kind }) => kind === 'DEVICE');
    const what = language === 'de' ? 'Offene Alarme' : 'Open alarms';
    const of = device === undefined ? '' : `?device=${device.id}`;
    return [
      {
        ...nothing,
        kind: 'OPEN',
        sentence: sentenceOf([what, device?.name]),
        link: `/w/${this.#workspaceId}/alarms${of}`,
      },
    ];
  }

  #devices(about: 'SILENT' | 'LOW_BATTERY', targets: readonly FoundRow[]): Reading[] {
    const { language } = this.#question;
    const condition: JsonObject =
      about === 'SILENT'
        ? { field: 'onlineState', predicate: 'EQUALS', values: ['OFFLINE'] }
        : { field: 'uplinkMetrics.batteryLevelStatus', predicate: 'EQUALS', values: ['LOW'] };
    const what = {
      SILENT: { en: 'Silent devices', de: 'Stumme Geräte' },
      LOW_BATTERY: { en: 'Devices with a low battery', de: 'Geräte mit schwacher Batterie' },
    }[about][language];
    const groups = targets.filter(({ kind }) => kind !== 'DEVICE');
    return (groups.length > 0 ? groups : [undefined]).map((group) => {
      const filter: JsonObject =
        group === undefined
          ? condition
          : { operator: 'AND', expressions: [condition, within(group.kind, group.id)] };
      return {
        ...nothing,
        kind: 'DEVICES',
        sentence: sentenceOf([what, group?.name]),
        filter,
        link: `/w/${this.#workspaceId}/devices?filter=${filterText(filter)}`,
      };
    });
  }

  #open(target: FoundRow): Reading {
    const verb = this.#question.language === 'de' ? 'Öffnen' : 'Open';
    return {
      ...nothing,
      kind: 'OPEN',
      sentence: `${verb}: ${target.name}`,
      link: linkOf(target, this.#workspaceId),
    };
  }

  /** Of each key a number and a chart, first the one that was rather asked for. */
  #values(target: FoundRow): Reading[] {
    const { accumulator, interval, language } = this.#question;
    const now = this.#parts.now();
    const hours = language === 'de' ? `letzte ${chartHours} Stunden` : `last ${chartHours} hours`;
    const range = interval ?? { from: now - chartHours * hourMs, to: now, words: hours };
    return this.#keys.slice(0, 2).flatMap((key) => {
      const series = [seriesOf(target, key)];
      const name = key.title ?? key.dataKey;
      const of = (kind: 'CHART' | 'VALUE', by: QuestionAccumulator | undefined): Reading => {
        const isNewest = by === 'LAST' && interval === undefined;
        const summed = by === undefined ? undefined : namesOf[by][language];
        return {
          kind,
          sentence: sentenceOf([summed, name, target.name, isNewest ? undefined : range.words]),
          series,
          accumulator: by ?? null,
          interval: isNewest
            ? null
            : { from: formatInstant(range.from), to: formatInstant(range.to) },
          filter: target.kind === 'DEVICE' ? null : within(target.kind, target.id),
          link: this.#linkOfValues(target, key, isNewest ? undefined : range),
        };
      };
      const value = of('VALUE', accumulator ?? 'LAST');
      const chart = of('CHART', accumulator === 'LAST' ? undefined : accumulator);
      return accumulator === undefined ? [chart, value] : [value, chart];
    });
  }

  #linkOfValues(
    target: FoundRow,
    { topic, dataKey }: AskedKey,
    range: { readonly from: EpochMs; readonly to: EpochMs } | undefined,
  ): string {
    const link = linkOf(target, this.#workspaceId);
    if (target.kind !== 'DEVICE') return link;
    const parameters = new URLSearchParams({ topic, key: dataKey });
    if (range !== undefined) {
      parameters.set('from', formatInstant(range.from));
      parameters.set('to', formatInstant(range.to));
    }
    return `${link}?${parameters.toString()}`;
  }
}

const namesOf: Readonly<Record<QuestionAccumulator, Readonly<Record<'en' | 'de', string>>>> = {
  AVG: { en: 'Average', de: 'Durchschnitt' },
  MIN: { en: 'Minimum', de: 'Minimum' },
  MAX: { en: 'Maximum', de: 'Maximum' },
  SUM: { en: 'Sum', de: 'Summe' },
  COUNT: { en: 'Number of values', de: 'Anzahl der Werte' },
  MEDIAN: { en: 'Median', de: 'Median' },
  LAST: { en: 'Latest value', de: 'Neuester Wert' },
  INCREASE: { en: 'Increase', de: 'Zunahme' },
};

function sentenceOf(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(', ');
}

function seriesOf({ kind, id, name }: FoundRow, { topic, dataKey, unit }: AskedKey): AskedSeries {
  const source =
    kind === 'TAG' ? { tagId: id } : kind === 'PLACE' ? { placeId: id } : { deviceId: id };
  return { ...source, topic, dataKey, label: name, unit };
}

/** The keys with the name or title, else those that have it as a word, else those that begin so. */
function matching(keys: readonly AskedKey[], phrase: string): AskedKey[] {
  const wanted = new Set([plain(phrase), plain(synonyms.get(phrase) ?? phrase)]);
  const names = ({ dataKey, title }: AskedKey) => [plain(dataKey), plain(title ?? '')];
  const same = keys.filter((key) => names(key).some((name) => wanted.has(name)));
  if (same.length > 0) return same;
  const withWord = keys.filter(({ dataKey, title }) =>
    [...wordsOf(dataKey), ...wordsOf(title ?? '')].some((word) => wanted.has(word)),
  );
  if (withWord.length > 0) return withWord;
  const isLong = phrase.length > 3;
  return keys.filter((key) =>
    names(key).some((name) => isLong && [...wanted].some((one) => name.startsWith(one))),
  );
}

/** `air` and `temperature` of `airTemperature` and `air_temperature`. */
const wordsOf = (name: string) =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);

/** `airTemperature`, `air_temperature` and `Air temperature` are the same. */
const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
