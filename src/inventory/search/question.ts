// Questions in English and German: their words, what the platform's own ones mean, and times by the clock of a zone (contract 39.5).
import { dayMs, type EpochMs, hourMs } from '../../model/instant.ts';
import { momentOfLocal, offsetAt, type TimeZone } from '../../model/time-zone.ts';

export type QuestionAccumulator =
  | 'AVG'
  | 'MIN'
  | 'MAX'
  | 'SUM'
  | 'COUNT'
  | 'MEDIAN'
  | 'LAST'
  | 'INCREASE';

interface QuestionInterval {
  readonly from: EpochMs;
  /** Exclusive. */
  readonly to: EpochMs;
  /** As it was written. */
  readonly words: string;
}

export interface Question {
  /** Lower case, at most `wordsMax`. */
  readonly words: readonly string[];
  /** Places of words that have a meaning of their own. */
  readonly known: ReadonlySet<number>;
  readonly accumulator: QuestionAccumulator | undefined;
  readonly interval: QuestionInterval | undefined;
  readonly about: 'SILENT' | 'LOW_BATTERY' | 'ALARMS' | undefined;
  readonly opens: boolean;
  readonly language: 'en' | 'de';
}

const wordsMax = 16;
const phraseMax = 3;

/** Phrases by meaning; several words are separated by a space. */
const accumulators: Readonly<Record<QuestionAccumulator, { en: string; de: string }>> = {
  AVG: {
    en: 'average|mean|avg',
    de: 'durchschnitt|durchschnittlich|durchschnittliche|mittel|mittelwert|mittlere',
  },
  MIN: {
    en: 'minimum|min|lowest|least|coldest',
    de: 'niedrigste|tiefste|kleinste|minimal|minimale',
  },
  MAX: {
    en: 'maximum|max|highest|peak|most',
    de: 'höchste|höchster|größte|grösste|maximal|maximale',
  },
  SUM: { en: 'sum|total', de: 'summe|gesamt' },
  COUNT: { en: 'count|number of|how many', de: 'anzahl|wie viele' },
  MEDIAN: { en: 'median', de: 'zentralwert' },
  LAST: {
    en: 'current|now|latest|last value|newest',
    de: 'aktuell|aktuelle|aktueller|jetzt|letzter wert|neueste',
  },
  INCREASE: { en: 'consumption|increase', de: 'verbrauch|zunahme' },
};
const subjects = {
  SILENT: {
    en: 'silent|silent devices|offline|offline devices|not reporting',
    de: 'stumm|stumme|stumme geräte|geräte offline|schweigt',
  },
  LOW_BATTERY: {
    en: 'low battery|low batteries|battery low',
    de: 'batterie schwach|schwache batterie|schwache batterien|batterie leer',
  },
  ALARMS: { en: 'alarms|open alarms|alarm', de: 'alarme|offene alarme|offene alarm' },
} as const;
const opening = { en: 'open|go to|show me', de: 'öffne|öffnen|gehe zu|zeige' };
const glue = {
  en: 'the|a|an|of|in|at|on|for|from|is|are|was|were|what|which|how|high|with|and|to|device|devices|value|show|chart|graph|did|do|have|has',
  de: 'der|die|das|den|dem|des|im|am|ein|eine|einem|von|vom|bei|beim|auf|für|ist|sind|war|waren|was|welche|welcher|wie|hoch|mit|und|zu|gerät|geräte|wert|verlauf|kurve|hat|haben|zum|zur',
};
const times = {
  en: 'today|yesterday|this week|last week|this month|last month|this year|last year',
  de: 'heute|gestern|diese woche|letzte woche|diesen monat|letzten monat|dieses jahr|letztes jahr',
};
const weekdays = {
  en: 'monday|tuesday|wednesday|thursday|friday|saturday|sunday',
  de: 'montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag',
};
const unitsOfTime: ReadonlyMap<string, number> = new Map(
  Object.entries({
    minute: 60_000,
    minutes: 60_000,
    minuten: 60_000,
    hour: hourMs,
    hours: hourMs,
    stunde: hourMs,
    stunden: hourMs,
    day: dayMs,
    days: dayMs,
    tag: dayMs,
    tage: dayMs,
    tagen: dayMs,
    week: 7 * dayMs,
    weeks: 7 * dayMs,
    woche: 7 * dayMs,
    wochen: 7 * dayMs,
    month: 30 * dayMs,
    months: 30 * dayMs,
    monate: 30 * dayMs,
    monaten: 30 * dayMs,
  }),
);
const countMax = 1_000;

interface Meaning {
  readonly language: 'en' | 'de';
  readonly is: (question: { -readonly [K in keyof Question]?: Question[K] }, at: Clock) => void;
}

/** By phrase. */
const meanings: ReadonlyMap<string, Meaning> = new Map(
  (['en', 'de'] as const).flatMap((language) => {
    const all = (phrases: string, is: (phrase: string) => Meaning['is']) =>
      phrases.split('|').map((phrase) => [phrase, { language, is: is(phrase) }] as const);
    return [
      ...all(glue[language], () => () => undefined),
      ...Object.entries(accumulators).flatMap(([name, phrases]) =>
        all(phrases[language], () => (question) => {
          question.accumulator ??= name as QuestionAccumulator;
        }),
      ),
      ...Object.entries(subjects).flatMap(([name, phrases]) =>
        all(phrases[language], () => (question) => {
          question.about ??= name as keyof typeof subjects;
        }),
      ),
      ...all(opening[language], () => (question) => {
        question.opens = true;
      }),
      ...times[language].split('|').map(
        (phrase, place) =>
          [
            phrase,
            {
              language,
              is: (question, clock) => {
                question.interval ??= { ...clock.named(place), words: phrase };
              },
            } satisfies Meaning,
          ] as const,
      ),
      ...weekdays[language].split('|').map(
        (phrase, place) =>
          [
            phrase,
            {
              language,
              is: (question, clock) => {
                question.interval ??= { ...clock.weekday(place), words: phrase };
              },
            } satisfies Meaning,
          ] as const,
      ),
    ];
  }),
);

/** The words and what is known of them; the others may be names. */
export function readQuestion(text: string, now: EpochMs, zone: TimeZone): Question {
  const words = text
    .toLowerCase()
    .split(/[^\p{L}\p{N}._°%-]+/u)
    .map((word) => word.replace(/^[.-]+|[.-]+$/g, ''))
    .filter((word) => word !== '')
    .slice(0, wordsMax);
  const clock = new Clock(now, zone);
  const known = new Set<number>();
  const question: { -readonly [K in keyof Question]?: Question[K] } = {};
  let german = 0;
  let english = 0;
  for (let at = 0; at < words.length; ) {
    const span = spanOfTime(words, at);
    if (span !== undefined) {
      question.interval ??= { from: now - span.ms, to: now, words: span.words };
      for (let n = 0; n < span.count; n++) known.add(at + n);
      if (/^(letzte|vergangene)/.test(words[at] ?? '')) german++;
      else english++;
      at += span.count;
      continue;
    }
    let length = Math.min(phraseMax, words.length - at);
    for (; length > 0; length--) {
      const meaning = meanings.get(words.slice(at, at + length).join(' '));
      if (meaning === undefined) continue;
      meaning.is(question, clock);
      if (meaning.language === 'de') german++;
      else english++;
      for (let n = 0; n < length; n++) known.add(at + n);
      break;
    }
    at += Math.max(1, length);
  }
  const { accumulator, interval, about, opens = false } = question;
  const language = german > english ? 'de' : 'en';
  return { words, known, accumulator, interval, about, opens, language };
}

/** `last 3 hours`, `past 2 days`, `letzten 30 minuten`, `last hour`. */
function spanOfTime(words: readonly string[], at: number) {
  if (!/^(last|past|letzte[nrs]?|vergangene[n]?)$/.test(words[at] ?? '')) return undefined;
  const next = words[at + 1] ?? '';
  const isCount = /^\d{1,4}$/.test(next);
  const unit = words[at + (isCount ? 2 : 1)] ?? '';
  const unitMs = unitsOfTime.get(unit);
  const count = isCount ? Number(next) : 1;
  // Without a count, `last week` is the week by the calendar.
  if (unitMs === undefined || count < 1 || count > countMax || (!isCount && unitMs >= 7 * dayMs))
    return undefined;
  const length = isCount ? 3 : 2;
  return { ms: count * unitMs, count: length, words: words.slice(at, at + length).join(' ') };
}

/** Days, weeks and months by the clock of the zone. */
class Clock {
  readonly #now: EpochMs;
  readonly #zone: TimeZone;
  /** The zone's clock, as if it were UTC. */
  readonly #local: Date;

  constructor(now: EpochMs, zone: TimeZone) {
    this.#now = now;
    this.#zone = zone;
    this.#local = new Date(now + offsetAt(zone, now));
  }

  /** By the place in `times`. */
  named(place: number): { readonly from: EpochMs; readonly to: EpochMs } {
    const today = this.#local.getUTCDate();
    const month = this.#local.getUTCMonth();
    const monday = today - ((this.#local.getUTCDay() + 6) % 7);
    const ranges: readonly (readonly [EpochMs, EpochMs])[] = [
      [this.#day(today), this.#now],
      [this.#day(today - 1), this.#day(today)],
      [this.#day(monday), this.#now],
      [this.#day(monday - 7), this.#day(monday)],
      [this.#day(1), this.#now],
      [this.#day(1, month - 1), this.#day(1)],
      [this.#day(1, 0), this.#now],
      [this.#day(1, -12), this.#day(1, 0)],
    ];
    const [from, to] = ranges[place] ?? [this.#now - dayMs, this.#now];
    return { from, to };
  }

  /** The last such day that has begun, today included; Monday is 0. */
  weekday(place: number): { readonly from: EpochMs; readonly to: EpochMs } {
    const today = this.#local.getUTCDate();
    const back = ((this.#local.getUTCDay() + 6) % 7) - place;
    const day = today - (back < 0 ? back + 7 : back);
    return { from: this.#day(day), to: Math.min(this.#day(day + 1), this.#now) };
  }

  #day(day: number, month = this.#local.getUTCMonth()): EpochMs {
    const local = Date.UTC(this.#local.getUTCFullYear(), month, day);
    const pieces = this.#zone.pieces(local - 2 * dayMs, local + 2 * dayMs);
    return momentOfLocal(pieces, local) ?? local;
  }
}
