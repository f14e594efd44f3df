// Words of what uses a device type, and of its record.
import { plural, wordSet } from '../../words/word-set.ts';

export const usageWords = wordSet(
  {
    flows: 'Data flows',
    flowsNote: 'in this workspace',
    noFlow: 'No data flows use this type',
    noFlowNote: 'Select this type in a data flow to decode its uplinks.',
    devices: 'Devices',
    newest: (count: string, many: number) =>
      many > 20
        ? `20 most recently seen of ${count}`
        : `${count} ${plural(many, 'device', 'devices')}`,
    noDevice: 'No devices use this type',
    noDeviceNote: 'Devices get their type from their data flow.',
    record: 'Details',
    id: 'ID',
    version: 'Version',
    manufacturer: 'Manufacturer',
    connectivity: 'Connectivity',
    libraryPath: 'Library path',
    copy: 'Duplicate',
    copyOf: (name: string) => `${name} (copy)`,
    copied: (name: string) => `${name} created`,
    remove: 'Delete device type',
    removed: (name: string) => `${name} deleted`,
    removeTitle: (name: string) => `Delete ${name}?`,
    removeNote:
      "Deletes its scripts, schemas, and test cases. A type that is used by a data flow can't be deleted.",
    cancel: 'Cancel',
  },
  {
    flows: 'Datenflüsse',
    flowsNote: 'in diesem Arbeitsbereich',
    noFlow: 'Kein Datenfluss verwendet diesen Typ',
    noFlowNote: 'Wählen Sie diesen Typ in einem Datenfluss, um dessen Uplinks zu decodieren.',
    devices: 'Geräte',
    newest: (count: string, many: number) =>
      many > 20
        ? `die 20 zuletzt gesehenen von ${count}`
        : `${count} ${plural(many, 'Gerät', 'Geräte')}`,
    noDevice: 'Kein Gerät verwendet diesen Typ',
    noDeviceNote: 'Geräte erhalten ihren Typ vom Datenfluss.',
    record: 'Details',
    id: 'ID',
    version: 'Version',
    manufacturer: 'Hersteller',
    connectivity: 'Verbindung',
    libraryPath: 'Pfad in der Bibliothek',
    copy: 'Duplizieren',
    copyOf: (name: string) => `${name} (Kopie)`,
    copied: (name: string) => `${name} erstellt`,
    remove: 'Gerätetyp löschen',
    removed: (name: string) => `${name} gelöscht`,
    removeTitle: (name: string) => `${name} löschen?`,
    removeNote:
      'Löscht auch Skripte, Schemas und Testfälle. Ein Typ, den ein Datenfluss verwendet, kann nicht gelöscht werden.',
    cancel: 'Abbrechen',
  },
);
