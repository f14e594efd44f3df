// Word sets: every word is in German too; what is the same in both languages is named here.
import { expect, test } from 'vitest';
import type { WordSet } from './word-set.ts';

/** Names of products and protocols, and terms that German has too. */
const sameInBoth: ReadonlySet<string> = new Set([
  'AMQP',
  'Azure Event Hubs',
  'CoAP',
  'HTTP',
  'InfluxDB',
  'Browser',
  'Kafka',
  'LoRaWAN',
  'MQTT',
  'Microsoft Teams',
  'Passkey',
  'Passkeys',
  'NATS',
  'OpenStreetMap',
  'SMS',
  'Slack',
  'Webhook',
  'JSON',
  'Bytes',
  'CBOR',
  'UTC',
  'Alarm',
  'Code',
  'Cron',
  'Decoder',
  'Encoder',
  'Export',
  'Filter',
  'Format',
  'Import',
  'Kiosk',
  'Link',
  'Live',
  'Name',
  'Offline',
  'offline',
  'Maximum',
  'Minimum',
  'Minute',
  'Median',
  'Online',
  'online',
  'Payload',
  'Plan',
  'Port',
  'Problem',
  'Position',
  'Schema',
  'Scope',
  'Status',
  'Tag',
  'Tags',
  'Aggregation',
  'Auto',
  'Basic',
  'Dashboard',
  'Dashboards',
  'Details',
  'Global',
  'Hex',
  'ID',
  'Limit',
  'Linear',
  'Links',
  'Operator',
  'Optional',
  'QoS',
  'Region',
  'Replay',
  'Secret',
  'Standard',
  'System',
  'Test',
  'Topic',
  'URL',
  'null',
  'Amazon Kinesis Data Streams',
  'Google Cloud Pub/Sub',
  'Payload (JSON)',
  'Text',
  'Token',
  'Uplinks',
  'Variable',
  'Version',
  '24 h',
  'auto',
  'in 24 h',
]);

const modules = import.meta.glob<Readonly<Record<string, WordSet<object>>>>('../**/*-words.ts', {
  eager: true,
});

/** Words by their place, such as `homeWords.title`; functions are skipped. */
function textsOf(words: object, place: string): [string, string][] {
  return Object.entries(words).flatMap(([key, word]): [string, string][] => {
    const at = `${place}.${key}`;
    if (typeof word === 'string') return [[at, word]];
    if (typeof word === 'object' && word !== null) return textsOf(word as object, at);
    return [];
  });
}

const sets = Object.values(modules)
  .flatMap((module) => Object.entries(module))
  // Files of words also export functions on them.
  .filter(([, exported]) => 'de' in exported);
const same = sets.flatMap(([name, { en, de }]) => {
  const german = new Map(textsOf(de, name));
  return textsOf(en, name).filter(([place, text]) => german.get(place) === text);
});

test('what is the same in both languages is meant', () => {
  expect(sets.length).toBeGreaterThan(15);
  const isWord = (text: string) => /\p{L}/u.test(text);
  expect(same.filter(([, text]) => isWord(text) && !sameInBoth.has(text))).toEqual([]);
});

/** What a count of one stands before, in both languages, beginning as a sentence or not. */
const manyOf =
  /(?<![\d.,])1 (?:of 1 |von 1 |more |weitere )?(actions|alarms|bytes|columns|conditions|days|deliveries|devices|files|hours|keys|matches|rows|runs|samples|times|types|uplinks|values|aktionen|alarme|bytes|spalten|bedingungen|tage|tagen|zustellungen|geräte|geräten|dateien|stunden|schlüsseln|treffern|zeilen|läufe|messpunkte|typen|gerätetypen|uplinks|werte|werten)\b/iu;

/** What each function of words says with 1 for all of its parameters: a word with a count takes the number. */
function sentencesOfOne(words: unknown): string[] {
  if (typeof words === 'function')
    return [1].flatMap((one) => {
      try {
        return [String(words(...new Array(words.length).fill(one)))];
      } catch {
        // It needs another kind of value.
        return [];
      }
    });
  return words !== null && typeof words === 'object'
    ? Object.values(words).flatMap(sentencesOfOne)
    : [];
}

test('review console: one of something is not said as many', () => {
  const sentences = sets.flatMap(([, words]) => sentencesOfOne(words));
  expect(sentences.length).toBeGreaterThan(200);
  // The last one names a connectivity, such as `MQTT devices`.
  const many = sentences.filter((one) => manyOf.test(one));
  expect(many.filter((one) => !one.endsWith("devices can't receive commands"))).toEqual([]);
});
