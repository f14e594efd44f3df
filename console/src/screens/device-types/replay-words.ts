// Words of the replay of stored uplinks.
import { grouped } from '../../words/formats.ts';
import { plural, wordSet } from '../../words/word-set.ts';

export const replayWords = wordSet(
  {
    title: 'Replay',
    edited: 'Uses your unsaved decoder. Nothing is stored.',
    stored: 'Uses the saved decoder. Nothing is stored.',
    howMany: 'Uplinks to replay',
    again: 'Replay again',
    summary: (same: string, different: string) => `${same} match, ${different} differ`,
    errors: (count: string, many: number) => `${count} ${plural(many, 'error', 'errors')}`,
    took: (uplinks: number, devices: number, ms: string) =>
      `${grouped(uplinks)} ${plural(uplinks, 'uplink', 'uplinks')} from ${grouped(devices)} ${plural(devices, 'device', 'devices')} in ${ms} ms`,
    incomplete: 'Incomplete: time limit reached',
    show: 'Show',
    verdicts: {
      SAME: 'Match',
      DIFFERENT: 'Different',
      ERROR: 'Error',
      UNKNOWN: 'Not comparable',
    },
    none: 'No matching uplinks',
    more: 'Show more',
    storedSamples: 'Stored',
    newSamples: 'This decoder',
    unknownNote: 'The stored samples were too large to keep with their uplink.',
    empty: 'No uplinks to replay',
    emptyNote: 'Replay uses recent uplinks from devices of this type.',
  },
  {
    title: 'Replay',
    edited: 'Verwendet Ihren nicht gespeicherten Decoder. Nichts wird gespeichert.',
    stored: 'Verwendet den gespeicherten Decoder. Nichts wird gespeichert.',
    howMany: 'Anzahl Uplinks',
    again: 'Replay wiederholen',
    summary: (same: string, different: string) => `${same} gleich, ${different} verschieden`,
    errors: (count: string, many: number) => `${count} ${plural(many, 'Fehler', 'Fehler')}`,
    took: (uplinks: number, devices: number, ms: string) =>
      `${grouped(uplinks)} ${plural(uplinks, 'Uplink', 'Uplinks')} von ${grouped(devices)} ${plural(devices, 'Gerät', 'Geräten')} in ${ms} ms`,
    incomplete: 'Unvollständig: Zeitlimit erreicht',
    show: 'Anzeigen',
    verdicts: {
      SAME: 'Gleich',
      DIFFERENT: 'Verschieden',
      ERROR: 'Fehler',
      UNKNOWN: 'Nicht vergleichbar',
    },
    none: 'Keine passenden Uplinks',
    more: 'Mehr anzeigen',
    storedSamples: 'Gespeichert',
    newSamples: 'Dieser Decoder',
    unknownNote: 'Die gespeicherten Messwerte waren zu groß, um sie beim Uplink aufzubewahren.',
    empty: 'Keine Uplinks für ein Replay',
    emptyNote: 'Ein Replay verwendet die letzten Uplinks von Geräten dieses Typs.',
  },
);
