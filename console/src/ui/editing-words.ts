// Words of editing any record, and of choosing a time range.
import { wordSet } from '../words/word-set.ts';

// Words of choosing a range of time.

export const rangeWords = wordSet(
  {
    range: 'Time range',
    custom: 'Custom',
    from: 'From',
    to: 'To',
    show: 'Apply',
    zoomBack: 'Reset zoom',
  },
  {
    range: 'Zeitraum',
    custom: 'Benutzerdefiniert',
    from: 'Von',
    to: 'Bis',
    show: 'Anwenden',
    zoomBack: 'Zoom zurücksetzen',
  },
);

export const editingWords = wordSet(
  {
    name: 'Name',
    description: 'Description',
    save: 'Save',
    saving: 'Saving…',
    saved: 'Saved',
    discard: 'Discard',
    unsaved: 'Unsaved changes (stored in this browser)',
    restored: 'Unsaved changes restored',
    notKept: 'Your browser storage is full. Save before you leave, or your changes are lost.',
    leaveTitle: 'Leave without saving?',
    leaveNote: 'Your changes stay in this browser and are here when you return.',
    stay: 'Keep editing',
    leave: 'Leave',
    staleTitle: 'Someone else changed this while you were editing',
    takeTheirs: 'Load their version',
    keepMine: 'Overwrite',
    readOnly: (need: string) =>
      `You have read-only access. Editing requires ${need}. Ask an organization owner.`,
    remove: 'Delete',
    cancel: 'Cancel',
    removeTitle: (name: string) => `Delete ${name}?`,
    removed: (name: string) => `${name} deleted`,
  },
  {
    name: 'Name',
    description: 'Beschreibung',
    save: 'Speichern',
    saving: 'Wird gespeichert…',
    saved: 'Gespeichert',
    discard: 'Verwerfen',
    unsaved: 'Nicht gespeicherte Änderungen (in diesem Browser aufbewahrt)',
    restored: 'Nicht gespeicherte Änderungen wiederhergestellt',
    notKept:
      'Der Browserspeicher ist voll. Speichern Sie, bevor Sie die Seite verlassen, sonst gehen Ihre Änderungen verloren.',
    leaveTitle: 'Ohne Speichern verlassen?',
    leaveNote: 'Ihre Änderungen bleiben in diesem Browser und sind da, wenn Sie zurückkehren.',
    stay: 'Weiter bearbeiten',
    leave: 'Verlassen',
    staleTitle: 'Jemand anderes hat dies geändert, während Sie es bearbeitet haben',
    takeTheirs: 'Andere Version laden',
    keepMine: 'Überschreiben',
    readOnly: (need: string) =>
      `Sie haben nur Lesezugriff. Zum Bearbeiten ist ${need} erforderlich. Wenden Sie sich an einen Eigentümer der Organisation.`,
    remove: 'Löschen',
    cancel: 'Abbrechen',
    removeTitle: (name: string) => `${name} löschen?`,
    removed: (name: string) => `${name} gelöscht`,
  },
);
