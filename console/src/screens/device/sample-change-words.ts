// Words of deletions and corrections of samples.
import { counted } from '../../words/formats.ts';
import { wordSet } from '../../words/word-set.ts';

interface Place {
  readonly topic: string;
  readonly from: string;
  readonly to: string;
}

interface Correction {
  readonly by: string;
  readonly at: string;
  readonly reason: string;
}

export const sampleChangeWords = wordSet(
  {
    deleteSamples: 'Delete samples…',
    title: 'Delete samples',
    counting: 'Counting samples…',
    note: (samples: number, { topic, from, to }: Place) =>
      `Deletes ${counted(samples, 'sample', 'samples')} of topic ${topic} between ${from} and ${to}. Hourly aggregates follow. This can't be undone.`,
    nothing: ({ topic, from, to }: Place) =>
      `No samples of topic ${topic} between ${from} and ${to}.`,
    exports: (count: number) =>
      `${counted(count, 'kept export', 'kept exports')} may contain these samples. Their files stay.`,
    reason: 'Reason',
    reasonHint: 'For the audit log',
    submit: (samples: number) => `Delete ${counted(samples, 'sample', 'samples')}`,
    deleting: 'Deleting samples…',
    deleted: (samples: number) => `${counted(samples, 'sample', 'samples')} deleted`,
    correct: 'Correct…',
    correctTitle: 'Correct sample',
    old: 'Stored',
    corrected: 'Corrected',
    data: 'Data (JSON)',
    badData: 'Enter a JSON object',
    save: 'Correct',
    done: 'Sample corrected',
    mark: ({ by, at, reason }: Correction) =>
      `Corrected by ${by}, ${at}${reason === '' ? '' : `: ${reason}`}`,
  },
  {
    deleteSamples: 'Messwerte löschen…',
    title: 'Messwerte löschen',
    counting: 'Messwerte werden gezählt…',
    note: (samples: number, { topic, from, to }: Place) =>
      `Löscht ${counted(samples, 'Messwert', 'Messwerte')} des Topics ${topic} zwischen ${from} und ${to}. Stundenaggregate folgen. Dies kann nicht rückgängig gemacht werden.`,
    nothing: ({ topic, from, to }: Place) =>
      `Keine Messwerte des Topics ${topic} zwischen ${from} und ${to}.`,
    exports: (count: number) =>
      `${counted(count, 'aufbewahrter Export kann', 'aufbewahrte Exporte können')} diese Messwerte enthalten. Ihre Dateien bleiben.`,
    reason: 'Grund',
    reasonHint: 'Für das Audit-Protokoll',
    submit: (samples: number) => `${counted(samples, 'Messwert', 'Messwerte')} löschen`,
    deleting: 'Messwerte werden gelöscht…',
    deleted: (samples: number) => `${counted(samples, 'Messwert', 'Messwerte')} gelöscht`,
    correct: 'Korrigieren…',
    correctTitle: 'Messwert korrigieren',
    old: 'Gespeichert',
    corrected: 'Korrigiert',
    data: 'Daten (JSON)',
    badData: 'Geben Sie ein JSON-Objekt ein',
    save: 'Korrigieren',
    done: 'Messwert korrigiert',
    mark: ({ by, at, reason }: Correction) =>
      `Korrigiert von ${by}, ${at}${reason === '' ? '' : `: ${reason}`}`,
  },
);
