// Words of the export of samples.
import { wordSet } from '../../words/word-set.ts';

export const sampleExportWords = wordSet(
  {
    title: 'Export samples',
    begin: 'Start export',
    format: 'Format',
    from: 'From',
    fromHint: 'Leave empty to start with the oldest sample',
    to: 'To',
    toHint: 'Leave empty to export up to now',
    progress: (done: string, total: string, samples: string) =>
      `${done} of ${total} devices, ${samples} samples`,
    goesOn: 'You can close this dialog. The export continues in the background.',
    kept: 'The file is deleted automatically after a few days.',
    incomplete: "Some samples couldn't be read and are missing from the file.",
    download: (megabytes: string) => `Download (${megabytes} MB)`,
    cancel: 'Cancel export',
    remove: 'Delete file',
    close: 'Close',
  },
  {
    title: 'Messwerte exportieren',
    begin: 'Export starten',
    format: 'Format',
    from: 'Von',
    fromHint: 'Leer lassen, um mit dem ältesten Messwert zu beginnen',
    to: 'Bis',
    toHint: 'Leer lassen, um bis jetzt zu exportieren',
    progress: (done: string, total: string, samples: string) =>
      `${done} von ${total} Geräten, ${samples} Messwerte`,
    goesOn: 'Sie können diesen Dialog schließen. Der Export läuft im Hintergrund weiter.',
    kept: 'Die Datei wird nach einigen Tagen automatisch gelöscht.',
    incomplete: 'Einige Messwerte konnten nicht gelesen werden und fehlen in der Datei.',
    download: (megabytes: string) => `Herunterladen (${megabytes} MB)`,
    cancel: 'Export abbrechen',
    remove: 'Datei löschen',
    close: 'Schließen',
  },
);
