// Words of the calculated keys of a device type, and of the recalculation of its samples.
import { counted, grouped } from '../../words/formats.ts';
import { plural, wordSet } from '../../words/word-set.ts';

export const calculatedWords = wordSet(
  {
    title: 'Calculated keys',
    note: 'computed when a sample arrives',
    empty: 'No calculated keys yet',
    emptyNote:
      'A calculated key is a formula over the data of a sample. Rules, charts, and outputs use it like any other key.',
    key: 'Key',
    keyHint: 'Letters, digits, and _, such as dewPoint',
    topic: 'Topic',
    formula: 'Formula',
    unit: 'Unit',
    label: 'Title',
    description: 'Description',
    actions: 'Actions',
    add: 'Add key',
    edit: (key: string) => `Edit ${key}`,
    remove: (key: string) => `Remove ${key}`,
    up: (key: string) => `Move ${key} up`,
    down: (key: string) => `Move ${key} down`,
    apply: 'Apply',
    exists: (key: string) => `The topic has a calculated key ${key} already`,
    unsaved: 'Unsaved changes',
    discard: 'Discard changes',
    save: 'Save keys',
    saved: 'Calculated keys saved. New samples have them.',
    undone: 'Previous calculated keys restored',
    history: 'History',
    historyNote: 'Samples that are stored already keep what was computed when they arrived',
    source: 'Source',
    sources: { SAMPLES: 'Stored samples', UPLINKS: 'Raw uplinks, decoded again' },
    preview: 'Preview',
    previewing: 'Computing…',
    changes: (changed: number, samples: number) =>
      `${grouped(changed)} of ${counted(samples, 'sample', 'samples')} would change`,
    nothing: 'No stored samples',
    incomplete: 'Incomplete: time limit reached',
    fifty: 'A preview computes up to 50 devices.',
    examples: 'Examples',
    recalculate: 'Recalculate…',
    saveFirst: 'Save the keys first',
    recalculateTitle: 'Recalculate samples',
    recalculateNote:
      "Replaces stored samples of all devices of this type in this workspace. Hourly values follow; rules and outputs don't process the result. This can't be undone.",
    uplinksNote:
      'Runs the saved decoder on all raw uplinks that are kept. Corrected samples stay; deleted samples come back.',
    submit: 'Recalculate',
    progress: 'Recalculation',
    running: (done: number, total: number) =>
      `${grouped(done)} of ${counted(total, 'device', 'devices')} done`,
    cancel: 'Cancel',
    canceled: (done: number, total: number) =>
      `Canceled after ${grouped(done)} of ${counted(total, 'device', 'devices')}`,
    done: (samples: number, devices: number) =>
      `${counted(samples, 'sample', 'samples')} of ${counted(devices, 'device', 'devices')} changed`,
    doneMore: (samples: number, devices: number) =>
      `More than ${counted(samples, 'sample', 'samples')} of ${counted(devices, 'device', 'devices')} changed`,
    failed: (many: number) => `${grouped(many)} ${plural(many, 'device', 'devices')} failed`,
  },
  {
    title: 'Berechnete Schlüssel',
    note: 'berechnet, wenn ein Messwert eintrifft',
    empty: 'Noch keine berechneten Schlüssel',
    emptyNote:
      'Ein berechneter Schlüssel ist eine Formel über die Daten eines Messwerts. Regeln, Diagramme und Ausgänge verwenden ihn wie jeden anderen Schlüssel.',
    key: 'Schlüssel',
    keyHint: 'Buchstaben, Ziffern und _, etwa dewPoint',
    topic: 'Topic',
    formula: 'Formel',
    unit: 'Einheit',
    label: 'Titel',
    description: 'Beschreibung',
    actions: 'Aktionen',
    add: 'Schlüssel hinzufügen',
    edit: (key: string) => `${key} bearbeiten`,
    remove: (key: string) => `${key} entfernen`,
    up: (key: string) => `${key} nach oben`,
    down: (key: string) => `${key} nach unten`,
    apply: 'Übernehmen',
    exists: (key: string) => `Das Topic hat bereits einen berechneten Schlüssel ${key}`,
    unsaved: 'Nicht gespeicherte Änderungen',
    discard: 'Änderungen verwerfen',
    save: 'Schlüssel speichern',
    saved: 'Berechnete Schlüssel gespeichert. Neue Messwerte haben sie.',
    undone: 'Vorige berechnete Schlüssel wiederhergestellt',
    history: 'Verlauf',
    historyNote: 'Gespeicherte Messwerte behalten, was bei ihrem Eintreffen berechnet wurde',
    source: 'Quelle',
    sources: { SAMPLES: 'Gespeicherte Messwerte', UPLINKS: 'Rohe Uplinks, erneut decodiert' },
    preview: 'Vorschau',
    previewing: 'Wird berechnet…',
    changes: (changed: number, samples: number) =>
      `${grouped(changed)} von ${counted(samples, 'Messwert', 'Messwerten')} würden sich ändern`,
    nothing: 'Keine gespeicherten Messwerte',
    incomplete: 'Unvollständig: Zeitlimit erreicht',
    fifty: 'Eine Vorschau berechnet bis zu 50 Geräte.',
    examples: 'Beispiele',
    recalculate: 'Neu berechnen…',
    saveFirst: 'Speichern Sie zuerst die Schlüssel',
    recalculateTitle: 'Messwerte neu berechnen',
    recalculateNote:
      'Ersetzt gespeicherte Messwerte aller Geräte dieses Typs in diesem Arbeitsbereich. Stundenwerte folgen; Regeln und Ausgänge verarbeiten das Ergebnis nicht. Das lässt sich nicht rückgängig machen.',
    uplinksNote:
      'Führt den gespeicherten Decoder auf allen aufbewahrten rohen Uplinks aus. Korrigierte Messwerte bleiben; gelöschte kommen zurück.',
    submit: 'Neu berechnen',
    progress: 'Neuberechnung',
    running: (done: number, total: number) =>
      `${grouped(done)} von ${counted(total, 'Gerät', 'Geräten')} fertig`,
    cancel: 'Abbrechen',
    canceled: (done: number, total: number) =>
      `Abgebrochen nach ${grouped(done)} von ${counted(total, 'Gerät', 'Geräten')}`,
    done: (samples: number, devices: number) =>
      `${counted(samples, 'Messwert', 'Messwerte')} von ${counted(devices, 'Gerät', 'Geräten')} geändert`,
    doneMore: (samples: number, devices: number) =>
      `Mehr als ${counted(samples, 'Messwert', 'Messwerte')} von ${counted(devices, 'Gerät', 'Geräten')} geändert`,
    failed: (many: number) => `${grouped(many)} ${plural(many, 'Gerät', 'Geräte')} fehlgeschlagen`,
  },
);
