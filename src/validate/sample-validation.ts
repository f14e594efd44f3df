// Sample validation: removes and notes invalid parts before a sample is stored.
import { exactIntegersNote } from '../model/exact-integers.ts';
import { type Json, type JsonObject, isJsonObject } from '../model/json.ts';
import type { Note } from '../model/processing-note.ts';
import { type Sample, defaultTopic } from '../model/sample.ts';
import {
  type CleanedData,
  cleanData,
  isClean,
  isShallow,
  type RemovedKey,
} from './data-cleaning.ts';
import { type SampleMetrics, sampleMetrics } from './sample-metrics.ts';
import { isTopic } from '../model/topic.ts';
import { cutName } from '../model/outside-name.ts';
import { validationLimits } from './validation-limits.ts';

export interface ValidatedSample<S extends Sample> {
  /** The very object that came in when everything was valid. */
  readonly sample: S;
  readonly notes: readonly Note[];
  readonly metrics: SampleMetrics;
}

const noNotes: readonly Note[] = Object.freeze([]);

/**
 * Checks topic and data keys (interface 2.3) and reads the uplink metrics. Never throws. An invalid
 * topic becomes `default`, an invalid key is removed; `meta.svcTopicValidation` and
 * `meta.svcDataKeyValidation` tell. Other `meta` stays; in those two properties the platform's
 * entries win over the script's of the same name.
 */
export function validateSample<S extends Sample>(sample: S): ValidatedSample<S> {
  const topicOk = sample.topic === defaultTopic || isTopic(sample.topic);
  const metaOk = sample.meta === undefined || isShallow(sample.meta);
  if (topicOk && metaOk && isClean(sample.data)) {
    const exact = exactIntegersNote(sample.data);
    const notes = exact === undefined ? noNotes : [exact];
    return { sample, notes, metrics: sampleMetrics(sample.data) };
  }
  const notes: Note[] = [];
  const exact = exactIntegersNote(sample.data);
  if (exact !== undefined) notes.push(exact);
  if (!metaOk)
    notes.push(
      warning(
        `meta exceeds the maximum nesting depth of ${validationLimits.depthMax} and was dropped`,
      ),
    );
  const meta: Record<string, Json> = { ...(metaOk && sample.meta) };
  if (!topicOk) {
    const message = `invalid topic ${cutName(sample.topic)}`;
    meta.svcTopicValidation = { message };
    notes.push(
      warning(`${message}; stored with topic ${defaultTopic}`, {
        topic: cutName(sample.topic),
      }),
    );
  }
  const cleaned = cleanData(sample.data);
  if (cleaned.removed.length > 0)
    meta.svcDataKeyValidation = removedKeysMeta(meta.svcDataKeyValidation, cleaned.removed);
  noteCleaning({ ...cleaned, what: 'invalid' }, notes);
  for (const path of cleaned.notFinite)
    notes.push(warning(`The number at ${path} is not finite and was stored as null`, { path }));
  const { meta: _, ...rest } = sample;
  const topic = topicOk ? sample.topic : defaultTopic;
  const checked = {
    ...rest,
    topic,
    data: cleaned.data,
    ...(Object.keys(meta).length > 0 && { meta }),
  };
  return { sample: checked as unknown as S, notes, metrics: sampleMetrics(cleaned.data) };
}

/**
 * `svcDataKeyValidation` with what was removed added to it. Entries are defined, not assigned: a
 * path can be `__proto__`.
 */
export function removedKeysMeta(
  given: Json | undefined,
  removed: readonly RemovedKey[],
): JsonObject {
  const entries = new Map<string, Json>(isJsonObject(given) ? Object.entries(given) : []);
  for (const { path, message, value } of removed) entries.set(path, { message, value });
  return Object.fromEntries(entries);
}

/** Notes the removed keys, the first ones singly; `what` says of what sort they are. */
export function noteCleaning(
  cleaned: Pick<CleanedData, 'removed' | 'removedMore'> & { readonly what: 'invalid' | 'new' },
  notes: Note[],
): void {
  const noted = cleaned.removed.slice(0, validationLimits.keyNotesMax);
  for (const { path, message } of noted)
    notes.push(warning(`${message} at ${path}; removed from the sample`, { path }));
  const more = cleaned.removed.length - noted.length + cleaned.removedMore;
  if (more > 0)
    notes.push(warning(`${more} more ${cleaned.what} data keys were removed from the sample`));
}

/** A note of the processing log. */
export function warning(message: string, details?: JsonObject): Note {
  return { level: 'WARN', source: 'UPLINK', message, ...(details && { details }) };
}
