// Words of editing any record: kept, saved, left, changed by others, deleted.
import { wordSet } from '../words/word-set.ts';

export const editingWords = wordSet(
  {
    name: 'Name',
    description: 'Description',
    save: 'Save',
    saving: 'Saving…',
    saved: 'Saved',
    discard: 'Discard',
    unsaved: 'Not saved yet; your edits are kept in this browser.',
    restored: 'Your edits from before are back; they are not saved yet.',
    notKept: 'This browser has no room to keep your edits. Save them before you leave.',
    leaveTitle: 'Leave without saving?',
    leaveNote: 'Your edits stay in this browser and are here when you come back.',
    stay: 'Stay',
    leave: 'Leave',
    staleTitle: 'Someone else changed this since your edits began.',
    takeTheirs: 'Show what is saved',
    keepMine: 'Save over it',
    readOnly: (need: string) =>
      `You can look, but a change here needs ${need}. Ask an owner of the organization.`,
    remove: 'Delete',
    cancel: 'Cancel',
    removeTitle: (name: string) => `Delete ${name}?`,
    removed: (name: string) => `${name} is deleted`,
  },
  {
    name: 'Name',
    description: 'Beschreibung',
    save: 'Speichern',
    saving: 'Wird gespeichert…',
    saved: 'Gespeichert',
    discard: 'Verwerfen',
    unsaved: 'Noch nicht gespeichert; die Änderungen bleiben in diesem Browser.',
    restored: 'Ihre Änderungen von vorher sind wieder da, aber noch nicht gespeichert.',
    notKept:
      'Dieser Browser hat keinen Platz für Ihre Änderungen. Speichern Sie, bevor Sie weggehen.',
    leaveTitle: 'Ohne Speichern verlassen?',
    leaveNote: 'Ihre Änderungen bleiben in diesem Browser und sind da, wenn Sie zurückkommen.',
    stay: 'Bleiben',
    leave: 'Verlassen',
    staleTitle: 'Jemand anders hat das geändert, seit Ihre Änderungen begannen.',
    takeTheirs: 'Gespeichertes zeigen',
    keepMine: 'Überschreiben',
    readOnly: (need: string) =>
      `Sie dürfen sehen; eine Änderung hier braucht ${need}. Fragen Sie einen Eigentümer der Organisation.`,
    remove: 'Löschen',
    cancel: 'Abbrechen',
    removeTitle: (name: string) => `${name} löschen?`,
    removed: (name: string) => `${name} ist gelöscht`,
  },
);
