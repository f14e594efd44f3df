// Words of the replay of stored uplinks.
import { plural, wordSet } from '../../words/word-set.ts';

export const replayWords = wordSet(
  {
    title: 'Replay',
    edited: 'with the edited decoder; nothing is stored',
    stored: 'with the decoder as it is saved; nothing is stored',
    howMany: 'Newest uplinks',
    again: 'Replay again',
    summary: (same: string, different: string) => `${same} same, ${different} differ`,
    errors: (count: string, many: number) => `${count} ${plural(many, 'error', 'errors')}`,
    took: (uplinks: string, devices: string, ms: string) =>
      `uplinks: ${uplinks}, devices: ${devices}, in ${ms} ms`,
    incomplete: 'not all: the time was over',
    show: 'Show',
    verdicts: {
      SAME: 'same',
      DIFFERENT: 'differs',
      ERROR: 'error',
      UNKNOWN: 'not comparable',
    },
    none: 'No such uplink.',
    more: 'Show more',
    storedSamples: 'As stored',
    newSamples: 'With this decoder',
    unknownNote: 'The stored samples were too large to be kept with their uplink.',
    empty: 'No stored uplink to replay',
    emptyNote: 'A replay takes the newest uplinks of devices that use this type.',
  },
  {
    title: 'Wiederholen',
    edited: 'mit dem geänderten Decoder; nichts wird gespeichert',
    stored: 'mit dem gespeicherten Decoder; nichts wird gespeichert',
    howMany: 'Neueste Uplinks',
    again: 'Noch einmal',
    summary: (same: string, different: string) => `${same} gleich, ${different} anders`,
    errors: (count: string, many: number) => `${count} ${plural(many, 'Fehler', 'Fehler')}`,
    took: (uplinks: string, devices: string, ms: string) =>
      `Uplinks: ${uplinks}, Geräte: ${devices}, in ${ms} ms`,
    incomplete: 'nicht alle: Die Zeit war um',
    show: 'Zeigen',
    verdicts: {
      SAME: 'gleich',
      DIFFERENT: 'anders',
      ERROR: 'Fehler',
      UNKNOWN: 'nicht vergleichbar',
    },
    none: 'Keiner davon.',
    more: 'Mehr zeigen',
    storedSamples: 'Wie gespeichert',
    newSamples: 'Mit diesem Decoder',
    unknownNote: 'Die gespeicherten Messwerte waren zu groß, um beim Uplink zu bleiben.',
    empty: 'Kein gespeicherter Uplink zum Wiederholen',
    emptyNote: 'Wiederholt werden die neuesten Uplinks von Geräten dieses Typs.',
  },
);
