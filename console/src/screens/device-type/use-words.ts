// Words of what uses a device type, and of its record.
import { plural, wordSet } from '../../words/word-set.ts';

export const usageWords = wordSet(
  {
    flows: 'Data flows',
    flowsNote: 'of this workspace',
    noFlow: 'No data flow of this workspace uses this type',
    noFlowNote: 'A data flow with this type decodes what its devices send.',
    devices: 'Devices',
    newest: (count: string, many: number) =>
      many > 20 ? `the 20 last seen of ${count}` : `${count} ${plural(many, 'device', 'devices')}`,
    noDevice: 'No device of this workspace has this type',
    noDeviceNote: 'A device gets its type from its data flow.',
    record: 'Record',
    id: 'Id',
    version: 'Version',
    manufacturer: 'Manufacturer',
    connectivity: 'Connectivity',
    libraryPath: 'Path in its library',
    copy: 'Create a copy',
    copyOf: (name: string) => `${name} (copy)`,
    copied: (name: string) => `${name} created`,
    remove: 'Delete type',
    removed: (name: string) => `${name} deleted`,
    removeTitle: (name: string) => `Delete ${name}?`,
    removeNote:
      'Its scripts, schemas and examples are deleted with it. A type that a data flow uses is not deleted.',
    cancel: 'Cancel',
  },
  {
    flows: 'Datenflüsse',
    flowsNote: 'dieses Arbeitsbereichs',
    noFlow: 'Kein Datenfluss dieses Arbeitsbereichs verwendet diesen Typ',
    noFlowNote: 'Ein Datenfluss mit diesem Typ decodiert, was seine Geräte senden.',
    devices: 'Geräte',
    newest: (count: string, many: number) =>
      many > 20
        ? `die 20 zuletzt gesehenen von ${count}`
        : `${count} ${plural(many, 'Gerät', 'Geräte')}`,
    noDevice: 'Kein Gerät dieses Arbeitsbereichs hat diesen Typ',
    noDeviceNote: 'Ein Gerät bekommt seinen Typ von seinem Datenfluss.',
    record: 'Eintrag',
    id: 'Kennung',
    version: 'Version',
    manufacturer: 'Hersteller',
    connectivity: 'Verbindung',
    libraryPath: 'Pfad in der Bibliothek',
    copy: 'Kopie anlegen',
    copyOf: (name: string) => `${name} (Kopie)`,
    copied: (name: string) => `${name} angelegt`,
    remove: 'Typ löschen',
    removed: (name: string) => `${name} gelöscht`,
    removeTitle: (name: string) => `${name} löschen?`,
    removeNote:
      'Seine Skripte, Schemas und Beispiele werden mit gelöscht. Ein Typ, den ein Datenfluss verwendet, wird nicht gelöscht.',
    cancel: 'Abbrechen',
  },
);
