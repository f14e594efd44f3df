// Words of the export of samples.
import { wordSet } from '../../words/word-set.ts';

export const sampleExportWords = wordSet(
  {
    title: 'Samples as a file',
    begin: 'Write the file',
    format: 'Format',
    from: 'From',
    fromHint: 'All samples when empty.',
    to: 'To',
    toHint: 'Until now when empty.',
    progress: (done: string, total: string, samples: string) =>
      `${done} of ${total} devices, ${samples} samples`,
    goesOn: 'The export continues when this dialog is closed.',
    kept: 'The file is deleted after some days.',
    incomplete: 'Some samples could not be read and are not in the file.',
    download: (megabytes: string) => `Download (${megabytes} MB)`,
    cancel: 'Stop',
    remove: 'Delete the file',
    close: 'Close',
  },
  {
    title: 'Messwerte als Datei',
    begin: 'Datei schreiben',
    format: 'Format',
    from: 'Von',
    fromHint: 'Leer: alle Messwerte.',
    to: 'Bis',
    toHint: 'Leer: bis jetzt.',
    progress: (done: string, total: string, samples: string) =>
      `${done} von ${total} Geräten, ${samples} Messwerte`,
    goesOn: 'Der Export läuft weiter, wenn dieser Dialog geschlossen wird.',
    kept: 'Die Datei wird nach einigen Tagen gelöscht.',
    incomplete: 'Einige Messwerte konnten nicht gelesen werden und fehlen in der Datei.',
    download: (megabytes: string) => `Herunterladen (${megabytes} MB)`,
    cancel: 'Anhalten',
    remove: 'Datei löschen',
    close: 'Schließen',
  },
);
